//! Rates by traffic and by batch size.

use longmatch_bench::Mode;

use super::common::{BATCH, DEFAULTS, engine, ours};
use crate::declaration::{Axis, ChartKind, Figure, Rates, Rows, RunSpec, Tables, TrafficKind};
use crate::experiment::{Experiment, Work};

pub(super) fn traffic() -> Experiment {
    let kinds = [
        ("random", TrafficKind::Random),
        ("routed", TrafficKind::Routed),
        ("zipf", TrafficKind::Zipf),
        ("sequential", TrafficKind::Sequential),
        ("repeated", TrafficKind::Repeated),
        ("trace", TrafficKind::Trace),
    ];
    let run = |mode| {
        kinds.map(|(name, traffic)| RunSpec { name: name.into(), traffic, mode, ..BATCH }).to_vec()
    };
    let of = |figure: &str, mode| Rates {
        figure: figure.into(),
        tables: Tables::All,
        engines: DEFAULTS.map(engine).to_vec(),
        runs: run(mode),
        parts: Vec::new(),
    };
    let figure = |id: &str, title: &str| {
        Figure {
        id: id.into(),
        title: title.into(),
        caption: "Keys come from an array. random: uniform over IPv4, or over 2000::/3, where most addresses have no \
                  route. routed: inside a random route. zipf: routed, by Zipf's law. sequential: ascending. repeated: \
                  random, sixteen times each. trace: destinations of real packets.".into(),
        chart: ChartKind::Bars("rate".into()),
        rows: Rows::Engines,
        words: Vec::new(),
    }
    };
    ours(
        "traffic",
        "Which engine is the fastest",
        "Every engine in its default variant under every kind of traffic, in batches of 256 and one address after the \
         other.",
        Work::Rates(vec![of("traffic-batch", Mode::Batch), of("traffic-one", Mode::One)]),
        vec![
            figure("traffic-batch", "Rates in batches of 256"),
            figure("traffic-one", "Rates one by one"),
        ],
    )
}

pub(super) fn batch_size() -> Experiment {
    let id = "batch-size";
    ours(
        id,
        "Batch size",
        "The rate by the number of addresses in a batch. A batch of one is a call for each address.",
        Work::Rates(vec![Rates {
            figure: id.into(),
            tables: Tables::First,
            engines: ["folio", "poptrie", "dxr", "spider", "dir24_8"].map(engine).to_vec(),
            runs: vec![RunSpec {
                axis: Axis::Batch(vec![1, 4, 16, 64, 256, 1024, 4096]),
                brief: true,
                ..BATCH
            }],
            parts: Vec::new(),
        }]),
        vec![Figure {
            id: id.into(),
            title: "Rates by batch size".into(),
            caption:
                "Routed addresses from an array. Answers go to an array of the size of a batch."
                    .into(),
            chart: ChartKind::Lines(
                "rate".into(),
                ("addresses in a batch".into(), "".into()),
                [true, false],
            ),
            rows: Rows::Places,
            words: Vec::new(),
        }],
    )
}
