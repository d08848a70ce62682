//! Rates: Figures 8, 9 and 12, Table 3 and section 4.5.

use super::common::{ARRAY, BATCH, ENGINES, J, JUST_IN_TIME, POPTRIE18, SETTING, claim, papers};
use crate::claim::{ABOVE, BELOW, Claim, Judge, Needs, Over, Q, of, rate};
use crate::declaration::{
    Axis, ChartKind, Figure, Papers, Rates, Rows, RunSpec, Tables, TrafficKind,
};
use crate::experiment::{Experiment, Work};

/// Returns the need for cores: with few cores, rates say little about scaling.
fn cores(least: f64) -> Needs {
    Needs::Fact("cores", least, "the machine has too few cores")
}

pub(super) fn threads() -> Experiment {
    let figure = "poptrie-fig8";
    let at = |x, mlps| Papers { x: Some(x), ..papers(figure, J, "rate", &[(POPTRIE18, mlps)]) };
    let over = Over { engine: POPTRIE18, run: J, metric: "rate" };
    Experiment {
        name: figure,
        aliases: &[],
        source: "Poptrie paper, Figure 8",
        title: "Several threads in one table",
        about: "The total rate of all threads. Each looks up its own random addresses in the same table.",
        setting: SETTING,
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Ipv4,
            engines: vec![(POPTRIE18, "Poptrie18"), ("folio", "")],
            runs: vec![RunSpec { axis: Axis::Threads, ..JUST_IN_TIME }],
            parts: &[],
        }]),
        figures: vec![Figure {
            id: figure,
            title: "Rate by threads",
            caption: "Each thread is pinned to its own CPU. The paper's text gives the rates of one and of four \
                      threads.",
            chart: ChartKind::Lines("rate", ("threads", ""), [false, false]),
            rows: Rows::Places,
        }],
        papers: vec![at(1.0, 240.52), at(4.0, 914.0)],
        claims: vec![
            Claim {
                needs: vec![cores(3.0)],
                ..claim(
                    "P8.1",
                    "4.4",
                    "The rate of Poptrie18 grows linearly up to the number of cores (3.8 times with four).",
                    Judge::Linear(vec![over], 0.8),
                )
            },
            Claim {
                needs: vec![cores(4.0), Needs::Routes(450_000, 600_000)],
                ..claim(
                    "P8.2",
                    "1 and 6",
                    "Four cores look up more than 900 million addresses a second (914).",
                    rate(POPTRIE18, J).at(4.0).at_least(600.0),
                )
            },
        ],
    }
}

/// MiB and Mlps on REAL-Tier1-A (Table 3).
const TABLE_3: [(&str, f64, f64); 9] = [
    ("radix", 30.48, 8.82),
    ("tree_bitmap:stride=4", 2.62, 56.24),
    ("tree_bitmap:stride=6", 3.10, 61.61),
    ("sail", 44.24, 158.22),
    ("dxr:d=16", 1.16, 116.63),
    ("dxr:d=18", 1.91, 179.92),
    ("poptrie:s=0", 1.49, 96.27),
    ("poptrie:s=16", 2.75, 198.28),
    (POPTRIE18, 2.40, 240.52),
];

pub(super) fn comparison() -> Experiment {
    let figure = "poptrie-fig9";
    let versus = |rival| rate(POPTRIE18, J) / rate(rival, J);
    let either = || Q::Max(vec![rate("poptrie:s=16", J), rate(POPTRIE18, J)]);
    let rivals = ["radix", "tree_bitmap:stride=4", "sail", "dxr:d=16", "dxr:d=18"];
    let fastest = Judge::Greater(rivals.map(|rival| (either(), rate(rival, J))).to_vec());
    let sail_exceeds_l3 = Needs::Least(
        of("sail", "memory") - 2f64.powi(-20) * Q::Fact("L3"),
        0.0,
        "SAIL fits the L3 here",
    );
    Experiment {
        name: figure,
        aliases: &["poptrie-table3"],
        source: "Poptrie paper, Table 3 and Figure 9",
        title: "All engines on all tables",
        about: "The rate of random lookups, one after the other, with keys generated just before each lookup, as in \
                the paper; with keys from an array; and in batches, which the paper does not have.",
        setting: SETTING,
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Ipv4,
            engines: ENGINES.to_vec(),
            runs: vec![JUST_IN_TIME, ARRAY, BATCH],
            parts: &[],
        }]),
        figures: vec![
            Figure {
                id: "poptrie-fig9-tables",
                title: "Random lookups by table",
                caption: "All tables of a family. Keys are generated just before each lookup, as in the paper's Figure \
                          9.",
                chart: ChartKind::Bars("rate"),
                rows: Rows::Tables { of: figure, run: J },
            },
            Figure {
                id: figure,
                title: "Random lookups",
                caption: "Medians with quartiles. The paper's values are those of REAL-Tier1-A. Tree BitMap (64-ary) \
                          and Poptrie use the popcount instruction.",
                chart: ChartKind::Bars("rate"),
                rows: Rows::Engines,
            },
        ],
        papers: vec![
            papers(figure, J, "rate", &TABLE_3.map(|(engine, _, mlps)| (engine, mlps))),
            papers(figure, "", "memory", &TABLE_3.map(|(engine, mib, _)| (engine, mib))),
        ],
        claims: vec![
            claim(
                "P9.1",
                "4.5",
                "Poptrie18 is 24.5 to 46.1 times as fast as the binary radix tree.",
                versus("radix").within(12.3, 92.0),
            ),
            claim(
                "P9.2",
                "4.5",
                "Poptrie18 is 3.52 to 6.78 times as fast as Tree BitMap.",
                versus("tree_bitmap:stride=4").within(2.35, 10.2),
            ),
            Claim {
                needs: vec![sail_exceeds_l3],
                ..claim(
                    "P9.3",
                    "4.5 and 5",
                    "Poptrie18 is 1.37 to 2.62 times as fast as SAIL (1.17 on a Xeon X3430).",
                    versus("sail").within(ABOVE, 5.2),
                )
            },
            claim(
                "P9.4",
                "4.5 and 5",
                "Poptrie18 is 1.04 to 1.34 times as fast as D18R (1.27 on a Xeon X3430).",
                versus("dxr:d=18").within(ABOVE, 2.0),
            ),
            claim(
                "P9.7",
                "4.5",
                "The 64-ary Tree BitMap is slightly faster than the 16-ary one (1.10 and 1.11 times).",
                (rate("tree_bitmap:stride=6", J) / rate("tree_bitmap:stride=4", J))
                    .within(ABOVE, 1.65),
            ),
            claim(
                "P9.8",
                "4.5",
                "Poptrie18 is 3.18 to 3.90 times as fast as the 64-ary Tree BitMap.",
                versus("tree_bitmap:stride=6").within(2.1, 5.9),
            ),
            claim(
                "P9.9",
                "4.5",
                "Poptrie18 takes more memory than D18R, and Poptrie16 more than D16R (1.3 and 2.0 to 2.4 times).",
                Judge::Within(vec![
                    (of(POPTRIE18, "memory") / of("dxr:d=18", "memory"), 1.0, 2.0),
                    (of("poptrie:s=16", "memory") / of("dxr:d=16", "memory"), 1.0, 3.6),
                ]),
            ),
            claim(
                "P9.10",
                "4.5",
                "SAIL takes 18 to 19 times the memory of Poptrie18.",
                (of("sail", "memory") / of(POPTRIE18, "memory")).within(6.0, 40.0),
            ),
            claim(
                "P9.5",
                "4.5",
                "On every table Poptrie16 or Poptrie18 is the fastest (35 of 35).",
                Judge::AllTables(Box::new(fastest), 3),
            ),
            claim(
                "P9.6",
                "4.5",
                "On few tables Poptrie16 is faster than Poptrie18 (5 of 35).",
                Judge::ShareOfTables(
                    Box::new(Judge::Greater(vec![(rate("poptrie:s=16", J), rate(POPTRIE18, J))])),
                    0.03,
                    0.4,
                    10,
                ),
            ),
        ],
    }
}

/// Mlps on REAL-Tier1-B, sequential and repeated (4.5).
const LOCALITY: [(&str, f64, f64); 5] = [
    ("sail", 1264.0, 492.0),
    ("dxr:d=16", 628.0, 382.0),
    ("dxr:d=18", 911.0, 454.0),
    ("poptrie:s=16", 955.0, 470.0),
    (POPTRIE18, 1122.0, 480.0),
];

pub(super) fn locality() -> Experiment {
    let figure = "poptrie-locality";
    let run = |name, traffic| RunSpec { name, traffic, ..JUST_IN_TIME };
    let ratio = |a, b, run| rate(a, run) / rate(b, run);
    let both = |traffic, band: [(f64, f64); 2]| {
        Judge::Within(vec![
            (ratio("poptrie:s=18", "dxr:d=18", traffic), band[0].0, band[0].1),
            (ratio("poptrie:s=16", "dxr:d=16", traffic), band[1].0, band[1].1),
        ])
    };
    let gain = |engine| rate(engine, "sequential") / rate(engine, J);
    Experiment {
        name: figure,
        aliases: &["poptrie-4.5"],
        source: "Poptrie paper, section 4.5",
        title: "Sequential and repeated traffic",
        about: "Rates under traffic of high locality: all addresses in ascending order, and random addresses that are \
                looked up sixteen times each.",
        setting: SETTING,
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Ipv4,
            engines: ENGINES.into_iter().filter(|(engine, _)| !SLOW.contains(engine)).collect(),
            runs: vec![
                run("sequential", TrafficKind::Sequential),
                run("repeated", TrafficKind::Repeated),
                JUST_IN_TIME,
            ],
            parts: &[],
        }]),
        figures: vec![Figure {
            id: figure,
            title: "Sequential and repeated lookups",
            caption: "One lookup after the other, keys generated in the loop: a counter, or one random address for \
                      sixteen lookups. The counter covers the whole space in runs of 4,096 addresses. The paper's \
                      values are those of REAL-Tier1-B.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
        papers: vec![
            papers(figure, "sequential", "rate", &LOCALITY.map(|(engine, mlps, _)| (engine, mlps))),
            papers(figure, "repeated", "rate", &LOCALITY.map(|(engine, _, mlps)| (engine, mlps))),
        ],
        claims: vec![
            claim(
                "PL.1",
                "4.5",
                "Under sequential traffic SAIL is faster than Poptrie18 (1.13 times).",
                ratio("sail", POPTRIE18, "sequential").within(ABOVE, 1.7),
            ),
            claim(
                "PL.2",
                "4.5",
                "Under repeated traffic SAIL is at least about as fast as Poptrie18 and Poptrie16 (1.03 and 1.05 \
                 times).",
                Judge::Within(vec![
                    (ratio("sail", POPTRIE18, "repeated"), 0.95, 1.55),
                    (ratio("sail", "poptrie:s=16", "repeated"), 0.95, 1.55),
                ]),
            ),
            claim(
                "PL.3",
                "4.5",
                "Under sequential traffic DXR is slower than Poptrie (1.23 and 1.52 times).",
                both("sequential", [(ABOVE, 1.85), (ABOVE, 2.3)]),
            ),
            claim(
                "PL.4",
                "4.5",
                "Under repeated traffic DXR is slower than Poptrie (1.06 and 1.23 times).",
                both("repeated", [(ABOVE, 1.6), (ABOVE, 1.85)]),
            ),
            claim(
                "PL.5",
                "4.5",
                "Poptrie is faster than DXR under every traffic and on every table.",
                Judge::AllTables(
                    Box::new(Judge::Greater(
                        ["sequential", "repeated", J]
                            .into_iter()
                            .flat_map(|run| {
                                [("poptrie:s=16", "dxr:d=16"), (POPTRIE18, "dxr:d=18")]
                                    .map(|(poptrie, dxr)| (rate(poptrie, run), rate(dxr, run)))
                            })
                            .collect(),
                    )),
                    1,
                ),
            ),
            claim(
                "PL.6",
                "4.5",
                "SAIL depends more on locality than Poptrie18: SAIL gains 1.55 times as much from sequential traffic.",
                (gain("sail") / gain(POPTRIE18)).within(ABOVE, 2.4),
            ),
        ],
    }
}

/// Engines that the paper leaves out under traffic of high locality.
const SLOW: [&str; 4] = ["radix", "tree_bitmap:stride=4", "tree_bitmap:stride=6", "poptrie:s=0"];

pub(super) fn trace() -> Experiment {
    let figure = "poptrie-fig12";
    let run = "trace";
    let versus = |rival| rate(POPTRIE18, run) / rate(rival, run);
    let needs = || vec![Needs::Fact("ipv4 packets", 1e6, "needs a trace of a million packets")];
    let on_trace = |id, text, judge| Claim { needs: needs(), ..claim(id, "4.7", text, judge) };
    Experiment {
        name: figure,
        aliases: &[],
        source: "Poptrie paper, Figure 12",
        title: "A trace of real packets",
        about: "Rates for the destinations of real packets, in order, from an array.",
        setting: "REAL-RENET: 516,100 prefixes, 32 next hops; 15 minutes of packets of the same router, 97,126,495 to \
                  644,790 destinations",
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Ipv4,
            engines: ENGINES
                .into_iter()
                .filter(|(engine, _)| !["radix", "poptrie:s=0"].contains(engine))
                .collect(),
            runs: vec![
                RunSpec { name: run, traffic: TrafficKind::Trace, ..ARRAY },
                RunSpec { name: "trace, batches of 256", traffic: TrafficKind::Trace, ..BATCH },
                JUST_IN_TIME,
            ],
            parts: &[],
        }]),
        figures: vec![Figure {
            id: figure,
            title: "Lookups of a trace",
            caption: "The paper's Figure 12 has no numbers; its text gives the ratios.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
        papers: Vec::new(),
        claims: vec![
            on_trace(
                "P12.1",
                "Poptrie18 is 3.02 times as fast as Tree BitMap (presumably the 16-ary one).",
                versus("tree_bitmap:stride=4").within(2.0, 4.5),
            ),
            on_trace(
                "P12.2",
                "Poptrie18 is 1.61 times as fast as D18R.",
                versus("dxr:d=18").within(1.07, 2.4),
            ),
            on_trace(
                "P12.3",
                "Poptrie18 is 1.22 times as fast as SAIL.",
                versus("sail").within(ABOVE, 2.4),
            ),
            on_trace(
                "P12.4",
                "With the trace Poptrie18 is the fastest on every table (34 of 34).",
                Judge::AllTables(
                    Box::new(Judge::Greater(
                        ["tree_bitmap:stride=4", "dxr:d=16", "dxr:d=18", "sail"]
                            .map(|rival| (rate(POPTRIE18, run), rate(rival, run)))
                            .to_vec(),
                    )),
                    3,
                ),
            ),
            on_trace(
                "P12.5",
                "Poptrie18 and D18R are slower with the trace than with random addresses.",
                Judge::Within(
                    [POPTRIE18, "dxr:d=18"]
                        .map(|it| (rate(it, run) / rate(it, J), 0.3, BELOW))
                        .to_vec(),
                ),
            ),
            on_trace(
                "P12.6",
                "SAIL is faster with the trace than with random addresses.",
                (rate("sail", run) / rate("sail", J)).within(ABOVE, 4.0),
            ),
        ],
    }
}
