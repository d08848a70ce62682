//! Shared parts of the tests of all engines.
#![allow(dead_code, reason = "each test program uses a part of it")]

use longmatch::simd::Simd;
use longmatch::{
    Bits, CompileError, EngineKind, EngineSpec, Engines, Family, Fib, NextHopId, Prefix, Rib, Route,
};
use proptest::test_runner::Config as ProptestConfig;

/// Addresses with their answers.
pub type Answers<F> = Vec<(<F as Family>::Bits, Option<NextHopId>)>;

/// Whether the tests take their quick form. The environment requests it where instructions are many times slower, as in
/// an emulator.
pub fn quick() -> bool {
    std::env::var_os("LONGMATCH_QUICK").is_some()
}

/// Proptest with `full` cases, or fewer in the quick form.
pub fn cases(full: u32) -> ProptestConfig {
    ProptestConfig::with_cases(if quick() { full.div_ceil(32) } else { full })
}

/// Every engine of the family with its defaults, and variants of engines that have options.
#[allow(clippy::too_many_lines, reason = "a list of specs")]
pub fn specs<F: Engines>() -> Vec<EngineSpec> {
    let mut specs: Vec<EngineSpec> = EngineKind::ALL.map(EngineSpec::from).into();
    let variants = [
        "poptrie:s=0",
        "poptrie:s=0:basic:unaggregated",
        "poptrie:s=1:unaggregated",
        "poptrie:s=13:leaf=32",
        "poptrie:s=16:basic",
        "poptrie:s=16:unaggregated:leaf=32",
        "poptrie:s=18:basic:unaggregated:leaf=32",
        "poptrie:batch=each",
        "poptrie:s=17:batch=flight",
        "poptrie:s=7:basic:batch=gather",
        "radix:path-compressed",
        "tree_bitmap:stride=4",
        "tree_bitmap:stride=4:result=32",
        "tree_bitmap:result=32",
        "dir24_8:entry=32",
        "dxr:d=16:batch=each",
        "dxr:d=19:hops=k",
        "dxr:d=17:batch=flight",
        "dxr:d=10:x=6",
        "dxr:d=9:x=8:batch=gather",
        "dxr:d=17:hops=k:batch=gather",
        "dxr:d=16:batch=line",
        "dxr:d=17:search=paper",
        "sail:batch=each",
        "sail:batch=flight",
        "spider:ahead",
        "spider:flight=4:entry=64",
        "spider:lanes=5:entry=64",
        "spider:lanes=16:entry=64",
        "spider:ahead:entry=64",
        "auto",
        "folio:codes=32",
    ];
    specs.extend(variants.map(|text| text.parse::<EngineSpec>().unwrap()));
    specs
        .extend((1..=16).map(|ways| format!("spider:lanes={ways}").parse::<EngineSpec>().unwrap()));
    let of_family: &[&str] = match F::WIDTH {
        32 => &[
            "dxr:d=16:wide",
            "dxr:d=12:x=5:wide:hops=k",
            "dxr:wide:hops=k:search=paper",
            "folio:s=8:lists=0",
            "folio:s=12:codes=24:lists=none:entries=0:ahead=yes",
            "folio:s=16:lists=4:entries=4:flat=yes:ahead=yes",
            "folio:s=21:codes=32:lists=none:entries=none",
        ],
        _ => &[
            "dxr:d=16:xl",
            "dxr:d=12:x=5:xl:hops=k",
            "dxr:xl:hops=k:search=paper:batch=each",
            "folio:codes=8",
            "folio:codes=book:leaves=minis",
            "folio:codes=16:steps=1:leaves=minis",
            "folio:codes=list:steps=2:leaves=codes",
            "folio:codes=32:steps=3:leaves=lines",
        ],
    };
    specs.extend(of_family.iter().map(|text| text.parse::<EngineSpec>().unwrap()));
    let only = only_engine();
    specs.retain(|spec| F::has(spec.kind) && only.is_none_or(|only| only == spec.kind));
    specs
}

/// The one engine to test, if the environment names one: for work on an engine.
fn only_engine() -> Option<EngineKind> {
    let name = std::env::var("LONGMATCH_ENGINE").ok()?;
    Some(name.parse().unwrap_or_else(|error| panic!("LONGMATCH_ENGINE={name}: {error}")))
}

/// Every SIMD level of this CPU.
pub fn levels() -> impl Iterator<Item = Simd> {
    Simd::available()
}

/// Whether compiling and checking takes long for any table. The quick form then does so only in tests with one table.
fn is_large(spec: &EngineSpec) -> bool {
    matches!(spec.kind, EngineKind::Dir24_8 | EngineKind::Dxr)
}

/// Compiles the RIB with every engine, checks each structure and compares its answers.
///
/// The answers are looked up singly, one after the other and as a batch, at every level.
pub fn check_all<F: Engines>(name: &str, rib: &Rib<F>, answers: &[(F::Bits, Option<NextHopId>)]) {
    let (keys, expected): (Vec<F::Bits>, Vec<_>) = answers.iter().copied().unzip();
    for spec in specs::<F>().into_iter().filter(|spec| !quick() || !is_large(spec)) {
        let fib = match Fib::compile(rib, spec.clone()) {
            Ok(fib) => fib,
            // An error that names an exceeded limit is a proper answer, if next hops of 15 bits
            // fit.
            Err(CompileError::NextHopTooLarge { id, limit, .. }) if id > limit => {
                assert!(id == rib.max_next_hop() && limit >= 32_767, "{name}, {spec}: {limit}");
                continue;
            }
            Err(error) => panic!("{name}, {spec}: {error}"),
        };
        fib.check(rib).unwrap_or_else(|corrupt| panic!("{name}, {spec}: {corrupt}"));
        for (key, hop) in answers {
            let addr = F::addr(*key);
            assert_eq!(fib.lookup(addr), *hop, "{name}, {spec}: {addr}");
        }
        for simd in levels() {
            let mut out = vec![None; keys.len()];
            fib.lookup_each(simd, &keys, &mut out);
            assert!(out == expected, "{name}, {spec} one by one at {}", simd.level());
            out.fill(None);
            fib.lookup_batch_with(simd, &keys, &mut out);
            assert!(out == expected, "{name}, {spec} in a batch at {}", simd.level());
        }
    }
}

/// A table of about `count` routes of all lengths, spread over the address space.
pub fn spread<F: Family>(count: u32) -> Rib<F> {
    let route = |i: u32| {
        let high = u128::from(i.wrapping_mul(0x9e37_79b9)) << (F::WIDTH - 32);
        let low = u128::from(i.wrapping_mul(0x85eb_ca6b));
        let len = 1 + (i % u32::from(F::WIDTH)) as u8;
        let prefix = Prefix::from_bits_masked(F::Bits::from_u128(high | low), len);
        Route { prefix, next_hop: NextHopId::new(1 + i % 17).unwrap() }
    };
    (0..count).map(route).collect()
}
