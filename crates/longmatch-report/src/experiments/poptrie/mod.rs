//! H. Asai, Y. Ohara, Poptrie (SIGCOMM 2015), section 4.

mod cycles;
mod structure;
mod updates;

use longmatch_bench::Mode;

use crate::claim::{ABOVE, Claim, Judge, Needs, Over, Pick, Q, of, rate};
use crate::experiment::{
    Axis, ChartKind, Experiment, Figure, KeySource, Papers, Rates, Rows, RunSpec, Tables,
    TrafficKind, Work,
};

/// The experiments, in the order of the paper.
pub(super) fn all() -> Vec<Experiment> {
    vec![
        structure::datasets(),
        structure::depths(),
        structure::extensions(),
        threads(),
        comparison(),
        locality(),
        cycles::cycles_of_lookups(),
        trace(),
        split(),
        updates::updates(),
        ipv6(),
    ]
}

const SETTING: &str = "Intel Core i7-4770K, 3.9 GHz, 8 MiB of L3; REAL-Tier1-A: 531,489 prefixes, 13 next hops, and \
                       REAL-Tier1-B: 524,170 prefixes, 9 next hops";

/// Random addresses one after the other, each made just before its lookup (4.2).
const JUST_IN_TIME: RunSpec = RunSpec {
    name: "just in time",
    traffic: TrafficKind::Random,
    mode: Mode::One,
    batch: 256,
    keys: KeySource::JustInTime,
    axis: Axis::None,
    brief: false,
};
const ARRAY: RunSpec = RunSpec { name: "from an array", keys: KeySource::Array, ..JUST_IN_TIME };
const BATCH: RunSpec = RunSpec { name: "batches of 256", mode: Mode::Batch, ..ARRAY };
const J: &str = JUST_IN_TIME.name;

const POPTRIE18: &str = "poptrie:s=18";

/// Two cores or fewer say little about scaling.
fn cores(least: f64) -> Needs {
    Needs::Fact("cores", least, "the machine has too few cores")
}

fn claim(id: &'static str, section: &'static str, text: &'static str, judge: Judge) -> Claim {
    Claim { id, section, text, family: "ipv4", needs: Vec::new(), judge }
}

fn papers(
    figure: &'static str,
    run: &'static str,
    metric: &'static str,
    values: &[(&'static str, f64)],
) -> Papers {
    Papers { figure, family: "ipv4", run, metric, x: None, values: values.to_vec() }
}

fn threads() -> Experiment {
    let figure = "poptrie-fig8";
    let at = |x, mlps| Papers { x: Some(x), ..papers(figure, J, "rate", &[(POPTRIE18, mlps)]) };
    let over = Over { engine: POPTRIE18, run: J, metric: "rate" };
    Experiment {
        name: figure,
        aliases: &[],
        source: "Poptrie paper, Figure 8",
        title: "Several threads in one table",
        about: "The rate of all threads together, each of which looks up random addresses of its own in the same table.",
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
            caption: "Each thread stays on a CPU of its own. The paper's text gives the rates of one and of four threads.",
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

const ENGINES: [(&str, &str); 12] = [
    ("radix", "Radix"),
    ("tree_bitmap:stride=4", "Tree BitMap"),
    ("tree_bitmap:stride=6", "Tree BitMap (64-ary)"),
    ("dir24_8", ""),
    ("sail", "SAIL"),
    ("dxr:d=16", "D16R"),
    ("dxr:d=18", "D18R"),
    ("poptrie:s=0", "Poptrie0"),
    ("poptrie:s=16", "Poptrie16"),
    (POPTRIE18, "Poptrie18"),
    ("spider:lanes=16", ""),
    ("folio", ""),
];

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

fn comparison() -> Experiment {
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
        about: "The rate of random lookups one after the other, keys made just before as in the paper; the same with \
                keys from an array, and in batches, which the paper does not have.",
        setting: SETTING,
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Ipv4,
            engines: ENGINES.to_vec(),
            runs: vec![JUST_IN_TIME, ARRAY, BATCH],
            parts: &[],
        }]),
        figures: vec![Figure {
            id: figure,
            title: "Random lookups",
            caption: "Medians with quartiles. The paper's values are those of REAL-Tier1-A. Tree BitMap (64-ary) and \
                      Poptrie count bits with the CPU's instruction.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
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
                "P9.5",
                "4.5",
                "On every table a Poptrie is the fastest (35 of 35).",
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

fn locality() -> Experiment {
    let figure = "poptrie-locality";
    let run = |name, traffic| RunSpec { name, traffic, ..ARRAY };
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
        about: "Rates under traffic of high locality: a walk upwards through all addresses, and random addresses that \
                are looked up sixteen times each.",
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
            caption: "One after the other. The paper's values are those of REAL-Tier1-B.",
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
                "Under repeated traffic SAIL is about as fast as Poptrie18 and Poptrie16 or faster (1.03 and 1.05 times).",
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
                "PL.6",
                "4.5",
                "SAIL depends on locality more than Poptrie18: it gains 1.55 times as much from sequential traffic.",
                (gain("sail") / gain(POPTRIE18)).within(ABOVE, 2.4),
            ),
        ],
    }
}

/// Engines that the paper leaves out under traffic of high locality.
const SLOW: [&str; 4] = ["radix", "tree_bitmap:stride=4", "tree_bitmap:stride=6", "poptrie:s=0"];

fn trace() -> Experiment {
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
        about: "Rates for the destinations of real packets, in their order, from an array.",
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
                "Poptrie18 is 3.02 times as fast as Tree BitMap, which is thought to be the 16-ary one.",
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
                "P12.6",
                "SAIL is faster with the trace than with random addresses.",
                (rate("sail", run) / rate("sail", J)).within(ABOVE, 4.0),
            ),
        ],
    }
}

/// Mlps on SYN1 and SYN2 of REAL-Tier1-A (Table 5). D18R is the modified one, whose ranges have a bit more.
const TABLE_5: [(&str, f64, Option<f64>); 3] = [
    ("sail", 102.86, None),
    ("dxr:d=18:wide", 115.45, Some(102.59)),
    (POPTRIE18, 188.02, Some(174.42)),
];

fn split() -> Experiment {
    let figure = "poptrie-table5";
    let (syn1, syn2) = ("SYN1, just in time", "SYN2, just in time");
    let ratio = |rival, run| rate(POPTRIE18, run) / rate(rival, run);
    let on_syn1 = TABLE_5.map(|(engine, mlps, _)| (engine, mlps));
    let on_syn2: Vec<_> = TABLE_5.iter().filter_map(|it| Some((it.0, it.2?))).collect();
    Experiment {
        name: figure,
        aliases: &[],
        source: "Poptrie paper, Table 5",
        title: "Tables of the future",
        about: "Random lookups in SYN1 and SYN2, tables whose shorter prefixes are split (4.1).",
        setting: SETTING,
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Split,
            engines: vec![
                ("sail", "SAIL"),
                ("dxr:d=18", "D18R"),
                ("dxr:d=18:wide", "D18R, modified"),
                (POPTRIE18, "Poptrie18"),
                ("dir24_8", ""),
                ("spider:lanes=16", ""),
                ("folio", ""),
            ],
            runs: vec![JUST_IN_TIME],
            parts: &[],
        }]),
        figures: vec![Figure {
            id: figure,
            title: "Random lookups in split tables",
            caption: "The paper's values are those of the tables made from REAL-Tier1-A.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
        papers: vec![
            papers(figure, syn1, "rate", &on_syn1),
            papers(figure, syn2, "rate", &on_syn2),
        ],
        claims: vec![
            claim(
                "P5.1",
                "4.8",
                "In SYN1 Poptrie18 is 1.60 to 1.63 times as fast as the modified D18R.",
                ratio("dxr:d=18:wide", syn1).within(1.07, 2.45),
            ),
            claim(
                "P5.2",
                "4.8",
                "In SYN2 Poptrie18 is 1.68 to 1.70 times as fast as the modified D18R.",
                ratio("dxr:d=18:wide", syn2).within(1.12, 2.55),
            ),
            claim(
                "P5.3",
                "4.8",
                "In SYN1 Poptrie18 is 1.83 to 1.88 times as fast as SAIL.",
                ratio("sail", syn1).within(ABOVE, 3.8),
            ),
            claim(
                "P5.4",
                "4.8",
                "SAIL cannot compile SYN2, as it has room for 2^15 chunks only.",
                Judge::Refuses(
                    Pick { engine: "sail", run: syn2, metric: "rate", x: None },
                    "chunks",
                ),
            ),
            Claim {
                needs: vec![Needs::Routes(0, 1_000_000)],
                ..claim(
                    "P5.6",
                    "4.8",
                    "In all of them Poptrie18 exceeds the wire rate of 100 Gbit/s, 148.8 million packets a second.",
                    Judge::Within(vec![
                        (rate(POPTRIE18, syn1), 148.8, f64::INFINITY),
                        (rate(POPTRIE18, syn2), 148.8, f64::INFINITY),
                    ]),
                )
            },
        ],
    }
}

/// Nodes, leaves, KiB, milliseconds and Mlps (Table 6).
const TABLE_6: [(&str, [f64; 5]); 3] = [
    ("poptrie:s=0", [14_925.0, 32_586.0, 414.0, 7.22, 138.51]),
    ("poptrie:s=16", [16_554.0, 33_047.0, 709.0, 4.77, 209.84]),
    (POPTRIE18, [14_910.0, 32_569.0, 1437.0, 4.73, 211.32]),
];

fn ipv6() -> Experiment {
    let figure = "poptrie-table6";
    let run = "2000::/8";
    let random = RunSpec { name: run, traffic: TrafficKind::PoptrieIpv6, ..ARRAY };
    let six = |it: Papers| Papers { family: "ipv6", ..it };
    let on_six =
        |id, text, needs, judge| Claim { family: "ipv6", needs, ..claim(id, "4.10", text, judge) };
    let column =
        |i: usize, by: f64| TABLE_6.map(|(engine, values)| (engine, values[i] * by)).to_vec();
    let mut rates = column(4, 1.0);
    rates.extend([("dxr:d=16", 163.07), ("dxr:d=18", 169.91)]);
    let faster = |engine| (rate(engine, run) / rate("poptrie:s=0", run), ABOVE, 2.3);
    Experiment {
        name: figure,
        aliases: &["poptrie-4.10"],
        source: "Poptrie paper, Table 6 and section 4.10",
        title: "IPv6",
        about: "Random lookups within 2000::/8, as in the paper; within 2000::/3 and of routed addresses, which are ours.",
        setting: "IPv6 of the router of REAL-Tier1-A: 20,440 prefixes; Intel Core i7-4770K, 3.9 GHz, 8 MiB of L3",
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Ipv6,
            engines: ENGINES.into_iter().filter(|(engine, _)| *engine != "sail").collect(),
            runs: vec![
                random,
                RunSpec { name: "2000::/3, just in time", ..JUST_IN_TIME },
                RunSpec { name: "routed, batches of 256", traffic: TrafficKind::Routed, ..BATCH },
            ],
            parts: PARTS,
        }]),
        figures: vec![Figure {
            id: figure,
            title: "IPv6 lookups",
            caption: "Nodes, leaves and bytes are counted in the compiled structure.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
        papers: vec![
            six(papers(figure, run, "rate", &rates)),
            six(papers(figure, "", "nodes", &column(0, 1.0))),
            six(papers(figure, "", "leaves", &column(1, 1.0))),
            six(papers(figure, "", "memory", &column(2, 1.0 / 1024.0))),
            six(papers(figure, "", "compile", &column(3, 1.0))),
        ],
        claims: vec![
            on_six(
                "P6.1",
                "Poptrie18 is 1.24 times as fast as D18R.",
                Vec::new(),
                (rate(POPTRIE18, run) / rate("dxr:d=18", run)).within(ABOVE, 1.85),
            ),
            on_six(
                "P6.2",
                "Direct pointing makes Poptrie faster for IPv6 too (1.51 and 1.53 times).",
                Vec::new(),
                Judge::Within(vec![faster("poptrie:s=16"), faster(POPTRIE18)]),
            ),
            on_six(
                "P6.3",
                "With direct pointing it exceeds the wire rate of 100 Gbit/s, 148.8 million packets a second.",
                vec![Needs::Routes(0, 30_000)],
                Judge::Within(vec![
                    (rate("poptrie:s=16", run), 148.8, f64::INFINITY),
                    (rate(POPTRIE18, run), 148.8, f64::INFINITY),
                ]),
            ),
        ],
    }
}

/// The parts of Poptrie that the paper counts.
const PARTS: &[(&str, &str)] = &[("internal nodes", "nodes"), ("leaves", "leaves")];
