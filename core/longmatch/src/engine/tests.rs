//! Tests of the engines' descriptors and options.

use super::auto::{AutoGoal, Locality, Trial, Usage};
use super::{
    Batch, EngineKind, EngineSpec, Engines, dir24_8, dxr, folio, poptrie, radix, sail, spider,
    tree_bitmap,
};
use crate::Fib;
use crate::net::{Ipv4, Ipv6};
use crate::rib::Rib;
use crate::simd::Level;

/// The defaults of a config are those of the engine, and every option is understood.
#[test]
fn configs_are_specs() {
    let variant = |spec| Fib::compile(&Rib::<Ipv4>::new(), spec).unwrap().variant();
    for (config, text) in [
        (EngineSpec::from(poptrie::Config::default()), "poptrie"),
        (radix::Config::default().into(), "radix"),
        (dxr::Config::default().into(), "dxr"),
        (folio::v4::Config::default().into(), "folio"),
        (folio::v6::Config::default().into(), "folio"),
        (sail::Config::default().into(), "sail"),
        (spider::Config::default().into(), "spider"),
        (dir24_8::Config::default().into(), "dir24_8"),
        (tree_bitmap::Config::default().into(), "tree_bitmap"),
        (AutoGoal::default().into(), "auto"),
        (
            poptrie::Config { s: 9, aggregate: false, batch: Batch::Each }.into(),
            "poptrie:s=9:unaggregated:batch=each",
        ),
        (
            dxr::Config { d: 12, x: 5, hops_k: true, batch: Batch::Flight }.into(),
            "dxr:d=12:x=5:hops=k:batch=flight",
        ),
        (
            folio::v4::Config {
                code_bytes: Some(3),
                root_bits: Some(12),
                spare: Some(4096),
                lists: Some(4),
                entries: Some(1_000_000),
                flat: Some(true),
                ahead: Some(false),
            }
            .into(),
            "folio:codes=24:s=12:spare=4096:lists=4:entries=none:flat=yes:ahead=no",
        ),
        (
            tree_bitmap::Config { stride: 4, wide_results: true }.into(),
            "tree_bitmap:stride=4:result=32",
        ),
        (dir24_8::Config { entry: Some(16) }.into(), "dir24_8:entry=16"),
        (radix::Config { path_compressed: true }.into(), "radix:path-compressed"),
    ] {
        let spec: EngineSpec = text.parse().unwrap();
        assert_eq!(config, spec);
        assert_eq!(variant(config), variant(spec), "{text}");
    }
    let trial = Trial {
        time: core::time::Duration::from_millis(1500),
        usage: Usage::One,
        traffic: Locality::Few,
        level: Some(Level::Portable),
    };
    let trial = cfg!(feature = "std").then_some(trial);
    for goal in [AutoGoal { memory: Some(5), trial }, AutoGoal { memory: None, trial: None }] {
        assert_eq!(AutoGoal::of(&goal.into()), Ok(goal));
    }
}

/// Descriptors have all texts that documents and reports show, and the right families and variants.
#[test]
fn descriptors_are_complete() {
    for kind in EngineKind::ALL {
        let engine = kind.descriptor().unwrap();
        assert!(![engine.title, engine.summary].contains(&""), "{kind}");
        let colours = engine.hue.iter().filter(|hue| hue.len() == 7 && hue.starts_with('#'));
        assert_eq!(colours.count(), 2, "{kind}");
        let has =
            |family| engine.forms.iter().any(|form| ["both", family].contains(&form.families));
        let families = (has("IPv4"), has("IPv6"));
        assert_eq!(families, (Ipv4::has(kind), Ipv6::has(kind)), "{kind}");
        for form in engine.forms {
            assert!(![form.paper, form.reads, form.structure].contains(&""), "{kind}");
        }
        for variant in engine.variants.into_iter().flatten() {
            let text = alloc::format!("{kind}:{variant}");
            assert_eq!(text.parse::<EngineSpec>().unwrap().to_string(), text);
        }
    }
}
