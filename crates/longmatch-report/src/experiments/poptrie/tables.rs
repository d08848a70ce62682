//! Other tables: SYN1 and SYN2 (Table 5), IPv6 (Table 6).

use super::common::{BATCH, ENGINES, JUST_IN_TIME, PARTS, POPTRIE18, SETTING, claim, papers};
use crate::claim::{ABOVE, Claim, Judge, Needs, Pick, rate};
use crate::declaration::{ChartKind, Figure, Papers, Rates, Rows, RunSpec, Tables, TrafficKind};
use crate::experiment::{Experiment, Work};

/// Mlps on SYN1 and SYN2 of REAL-Tier1-A (Table 5). D18R is the modified one, whose base has one more bit.
const TABLE_5: [(&str, f64, Option<f64>); 3] = [
    ("sail", 102.86, None),
    ("dxr:d=18:wide", 115.45, Some(102.59)),
    (POPTRIE18, 188.02, Some(174.42)),
];

pub(super) fn split() -> Experiment {
    let figure = "poptrie-table5";
    let (syn1, syn2) = ("SYN1, just in time", "SYN2, just in time");
    let whole = "the table, just in time";
    let refuses =
        |engine, words| Judge::Refuses(Pick { engine, run: syn2, metric: "rate", x: None }, words);
    let ratio = |rival, run| rate(POPTRIE18, run) / rate(rival, run);
    let on_syn1 = TABLE_5.map(|(engine, mlps, _)| (engine, mlps));
    let on_syn2: Vec<_> = TABLE_5.iter().filter_map(|it| Some((it.0, it.2?))).collect();
    Experiment {
        name: figure,
        aliases: &[],
        source: "Poptrie paper, Table 5",
        title: "Larger tables",
        about: "Random lookups in a table, and in SYN1 and SYN2, which split its shorter prefixes (4.1).",
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
            Claim {
                needs: vec![Needs::Least(rate("sail", syn1), 0.0, "SAIL refuses SYN1 too")],
                ..claim(
                    "P5.4",
                    "4.8",
                    "SAIL cannot compile SYN2, because a level holds at most 2^15 chunks.",
                    refuses("sail", "chunks"),
                )
            },
            Claim {
                needs: vec![Needs::Least(
                    rate("dxr:d=18:wide", syn2),
                    0.0,
                    "the modified D18R refuses SYN2 too",
                )],
                ..claim(
                    "P5.5",
                    "4.8",
                    "D18R cannot compile SYN2, because the range table holds at most 2^19 ranges; the modified D18R \
                     can.",
                    refuses("dxr:d=18", "range table"),
                )
            },
            claim(
                "P5.7",
                "4.8",
                "From the table to SYN2 DXR loses more of its rate than Poptrie18 (1.27 and 1.29 times).",
                ((rate(POPTRIE18, syn2) / rate(POPTRIE18, whole))
                    / (rate("dxr:d=18:wide", syn2) / rate("dxr:d=18", whole)))
                .within(ABOVE, 1.95),
            ),
            Claim {
                needs: vec![Needs::Routes(0, 1_000_000)],
                ..claim(
                    "P5.6",
                    "4.8",
                    "In SYN1 and SYN2 Poptrie18 exceeds the wire rate of 100 Gbit/s, 148.8 million packets a second.",
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

pub(super) fn ipv6() -> Experiment {
    let figure = "poptrie-table6";
    let run = "2000::/8, just in time";
    let random = RunSpec { name: run, traffic: TrafficKind::RandomIn8, ..JUST_IN_TIME };
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
        about: "Random lookups within 2000::/8, as in the paper; and lookups within 2000::/3 and of routed addresses, \
                which are ours.",
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
        figures: vec![
            Figure {
                id: "poptrie-table6-tables",
                title: "IPv6 lookups by table",
                caption: "Random addresses of 2000::/8, generated just before each lookup. The paper has 13 public \
                          tables.",
                chart: ChartKind::Bars("rate"),
                rows: Rows::Tables { of: figure, run },
            },
            Figure {
                id: figure,
                title: "IPv6 lookups",
                caption: "Nodes, leaves and bytes are counted in the compiled structure.",
                chart: ChartKind::Bars("rate"),
                rows: Rows::Engines,
            },
        ],
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
                "P6.4",
                "With direct pointing Poptrie exceeds 148.8 million packets a second on each of 13 public tables.",
                vec![Needs::Routes(0, 30_000)],
                Judge::AllTables(
                    Box::new(Judge::Within(vec![
                        (rate("poptrie:s=16", run), 148.8, f64::INFINITY),
                        (rate(POPTRIE18, run), 148.8, f64::INFINITY),
                    ])),
                    3,
                ),
            ),
            on_six(
                "P6.3",
                "With direct pointing Poptrie exceeds the wire rate of 100 Gbit/s, 148.8 million packets a second.",
                vec![Needs::Routes(0, 30_000)],
                Judge::Within(vec![
                    (rate("poptrie:s=16", run), 148.8, f64::INFINITY),
                    (rate(POPTRIE18, run), 148.8, f64::INFINITY),
                ]),
            ),
        ],
    }
}
