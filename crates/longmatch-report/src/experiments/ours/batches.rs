//! The sources of keys, and the variants of each engine.

use super::common::{BATCH, DEFAULTS, engine, ours};
use crate::declaration::{ChartKind, Figure, Rates, Rows, RunSpec, Tables, TrafficKind};
use crate::experiment::{Experiment, Work};

/// Batches of keys from an array, and batches that the timed loop fills.
pub(super) fn sources() -> Experiment {
    let id = "key-sources";
    let array = RunSpec { name: "from an array".into(), traffic: TrafficKind::Random, ..BATCH };
    let made = RunSpec { name: "just in time".into(), just_in_time: true, ..array.clone() };
    let sixteen = RunSpec { name: "just in time, 16 a batch".into(), batch: 16, ..made.clone() };
    ours(
        id,
        "The source of the keys",
        "Batches of random addresses from an array, and batches that a generator fills just before each call, as in \
         the Spider paper. An array costs memory bandwidth, a generator costs instructions.",
        Work::Rates(vec![Rates {
            figure: id.into(),
            tables: Tables::First,
            engines: DEFAULTS.map(engine).to_vec(),
            runs: vec![array, made, sixteen],
            parts: Vec::new(),
        }]),
        vec![Figure {
            id: id.into(),
            title: "Rates by the source of the keys".into(),
            caption: "Batches of 256 random addresses (IPv6: of 2000::/3), or of 16. The rate includes the time of the \
                      generator, xorshift.".into(),
            chart: ChartKind::Bars("rate".into()),
            rows: Rows::Engines,
            words: Vec::new(),
        }],
    )
}

/// Variants that users can choose, with the default of each engine.
const VARIANTS: [&str; 20] = [
    "folio",
    "poptrie",
    "poptrie:batch=each",
    "poptrie:batch=flight",
    "poptrie:s=16",
    "dxr",
    "dxr:d=16",
    "dxr:d=20",
    "dxr:d=21",
    "dxr:d=15:x=5",
    "spider",
    "spider:flight=4",
    "spider:lanes=16",
    "sail",
    "dir24_8",
    "dir24_8:entry=32",
    "tree_bitmap",
    "tree_bitmap:stride=4",
    "radix",
    "radix:path-compressed",
];

/// The variants of the engines.
pub(super) fn variants() -> Experiment {
    let id = "variants";
    let kinds = [
        ("random", TrafficKind::Random),
        ("routed", TrafficKind::Routed),
        ("zipf", TrafficKind::Zipf),
    ];
    ours(
        id,
        "Variants of the engines",
        "Each engine with its default options and with others, in batches of 256.",
        Work::FullRates(vec![Rates {
            figure: id.into(),
            tables: Tables::First,
            engines: VARIANTS.map(engine).to_vec(),
            runs: kinds
                .map(|(name, traffic)| RunSpec { name: name.into(), traffic, ..BATCH })
                .to_vec(),
            parts: Vec::new(),
        }]),
        vec![Figure {
            id: id.into(),
            title: "Rates of variants".into(),
            caption: "Keys come from an array. The first figure explains the traffic.".into(),
            chart: ChartKind::None,
            rows: Rows::Engines,
            words: Vec::new(),
        }],
    )
}
