//! Counts of tables and structures: Table 1, Figure 7 and Table 2.

use std::collections::HashSet;

use longmatch::Ipv4;
use longmatch_bench::{BenchFamily, syn1, syn2};

use super::common::{J, JUST_IN_TIME, PARTS, POPTRIE18, SETTING, claim, papers};
use crate::claim::{Claim, Judge, Needs, Q, of, rate};
use crate::context::{ExperimentContext, Place, at};
use crate::declaration::{Absence, ChartKind, Figure, Rates, Rows, Tables};
use crate::depths::{Depths, blocks};
use crate::experiment::{Experiment, Work};
use crate::inputs::Named;
use crate::record::Value;

pub(super) fn datasets() -> Experiment {
    let figure = "poptrie-table1";
    let times = |split| {
        let prefixes =
            |run| Q::Of(crate::claim::Pick { engine: "", run, metric: "prefixes", x: None });
        prefixes(split) / prefixes("the table")
    };
    let full = || vec![Needs::Routes(300_000, u64::MAX)];
    Experiment {
        name: figure,
        aliases: &[],
        source: "Poptrie paper, Table 1",
        title: "The tables",
        about: "Prefixes and next hops of this report's tables, and of its IPv4 tables with shorter prefixes split in \
                the paper's two ways (4.1).",
        setting: "35 tables of 508,700 to 532,637 prefixes and 9 to 530 next hops; four split tables of 756,406 to \
                  885,645 prefixes and 19 to 87 next hops",
        work: Work::Own(count_tables, |inputs, _| 3.0 * inputs.tables.len() as f64),
        figures: vec![Figure {
            id: figure,
            title: "Prefixes and next hops",
            caption: "Long prefixes are longer than /24 (IPv4) or /48 (IPv6). Ranges of addresses are disjoint; \
                      neighbours with the same next hop are joined.",
            chart: ChartKind::None,
            rows: Rows::Runs,
        }],
        papers: Vec::new(),
        claims: vec![
            Claim {
                needs: full(),
                ..claim(
                    "P1.1",
                    "4.1",
                    "SYN1 has 1.44 times the prefixes of a full table.",
                    times("SYN1").within(1.3, 1.6),
                )
            },
            Claim {
                needs: full(),
                ..claim(
                    "P1.2",
                    "4.1",
                    "SYN2 has 1.67 times the prefixes of a full table.",
                    times("SYN2").within(1.4, 1.85),
                )
            },
        ],
    }
}

fn count_tables(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    for named in context.inputs.ipv4() {
        count_table(context, named, "the table");
        for (run, rib) in [("SYN1", syn1(named.rib)), ("SYN2", syn2(named.rib))] {
            count_table(context, Named { rib: &rib, ..named }, run);
        }
        context.step(2.0);
    }
    for named in context.inputs.ipv6() {
        count_table(context, named, "the table");
        context.step(1.0);
    }
    Ok(())
}

fn count_table<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
    run: &str,
) {
    let usual = if F::WIDTH == 32 { 24 } else { 48 };
    let long = named.rib.iter().filter(|route| route.prefix.len() > usual).count();
    let next_hops: HashSet<_> = named.rib.iter().map(|route| route.next_hop).collect();
    let counts = [
        ("prefixes", named.rib.len()),
        ("next hops", next_hops.len()),
        ("long prefixes", long),
        ("ranges", named.rib.ranges().coalesced().count()),
    ];
    let place = Place { figure: "poptrie-table1", run, ..Place::default() };
    for (metric, count) in counts {
        context.count(place, named, "", (metric, ""), count as f64);
    }
}

pub(super) fn depths() -> Experiment {
    let figure = "poptrie-fig7";
    let full = || vec![Needs::Routes(300_000, u64::MAX)];
    let share = |metric| of("", metric);
    Experiment {
        name: figure,
        aliases: &[],
        source: "Poptrie paper, Figure 7",
        title: "Prefix length and binary radix depth",
        about: "For each of the 2^32 addresses: the length of the matching route, and the depth of the last node that a \
                lookup in a binary radix tree visits (binary radix depth, 4.1).",
        setting: "REAL-Tier1-A; the shares are those of REAL-RENET",
        work: Work::Own(count_depths, |inputs, _| inputs.ipv4().len() as f64),
        figures: vec![Figure {
            id: figure,
            title: "Addresses by matching length and depth",
            caption: "Counted over all 2^32 addresses. With routes 0.0.0.0/0 and 64.0.0.0/3, the address 96.0.0.0 has \
                      depth 2: the tree has nodes for 0.0.0.0/1 and 64.0.0.0/2, none for 96.0.0.0/3.",
            chart: ChartKind::HeatMap(
                "addresses",
                ["length of the matching route", "binary radix depth"],
            ),
            rows: Rows::Runs,
        }],
        papers: vec![
            papers(figure, "", "deeper than 18", &[("", 22.1)]),
            papers(figure, "", "deeper than 24", &[("", 1.66)]),
            papers(figure, "", "packets deeper than 18", &[("", 32.5)]),
            papers(figure, "", "packets deeper than 24", &[("", 21.8)]),
        ],
        claims: vec![
            claim(
                "P7.1",
                "4.1",
                "Many matches of a /8 are decided only at depth 24 (no number; here: at least 65,536 addresses).",
                of("", "/8 at depth 24").at_least(65_536.0),
            ),
            Claim {
                needs: full(),
                ..claim(
                    "P7.2",
                    "4.7",
                    "22.1 % of the addresses have a depth above 18.",
                    share("deeper than 18").within(15.0, 33.0),
                )
            },
            Claim {
                needs: vec![Needs::Fact("ipv4 packets", 1e6, "needs a trace of a million packets")],
                ..claim(
                    "P12.7",
                    "4.7",
                    "More packets (32.5 %) than addresses (22.1 %) have a depth above 18: 1.47 times.",
                    (share("packets deeper than 18") / share("deeper than 18")).within(1.0, 2.2),
                )
            },
            Claim {
                needs: vec![Needs::Least(
                    of("", "longer than /24"),
                    1.0,
                    "fewer than 1 % of the prefixes are longer than /24",
                )],
                ..claim(
                    "P7.3",
                    "4.7",
                    "1.66 % of the addresses have a depth above 24, because of routes longer than /24.",
                    share("deeper than 24").within(0.8, 3.3),
                )
            },
        ],
    }
}

fn count_depths(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    for named in context.inputs.some_ipv4()? {
        depths_of(context, named);
        context.step(1.0);
    }
    Ok(())
}

/// Columns of the map: no route, then the lengths 0 to 32.
const COLUMNS: usize = 34;
const DEPTHS: usize = 33;

fn depths_of(context: &mut ExperimentContext<'_>, named: Named<'_, Ipv4>) {
    let mut counts = [[0u64; DEPTHS]; COLUMNS];
    blocks(named.rib, &mut |block| {
        let column = block.matched.map_or(0, |len| usize::from(len) + 1);
        counts[column][usize::from(block.depth)] += 1 << (32 - block.prefix.len());
    });
    let place = Place { figure: "poptrie-fig7", ..Place::default() };
    for (column, depths) in counts.iter().enumerate() {
        let name = if column == 0 { "none".to_owned() } else { format!("/{}", column - 1) };
        for (depth, count) in depths.iter().enumerate().filter(|(_, count)| **count > 0) {
            let value = Value {
                x: Some(depth as f64),
                at: name.clone(),
                metric: "addresses".into(),
                value: Some(*count as f64),
                ..Value::default()
            };
            context.note(at(place, named, value));
        }
    }
    let deeper = |than: usize| counts.iter().flat_map(|depths| &depths[than + 1..]).sum::<u64>();
    let percent = |count: u64| count as f64 * 100.0 / 2f64.powi(32);
    let long = named.rib.iter().filter(|route| route.prefix.len() > 24).count();
    for (metric, unit, value) in [
        ("deeper than 18", "%", percent(deeper(18))),
        ("deeper than 24", "%", percent(deeper(24))),
        ("longer than /24", "%", long as f64 * 100.0 / named.rib.len() as f64),
        ("/8 at depth 24", "", counts[9][24] as f64),
    ] {
        context.count(place, named, "", (metric, unit), value);
    }
    let Some(trace) = &context.inputs.trace else { return };
    let depths = Depths::new(named.rib);
    let packets: Vec<u8> = trace.ipv4.iter().map(|address| depths.of(*address)).collect();
    for (metric, than) in [("packets deeper than 18", 18), ("packets deeper than 24", 24)] {
        let deeper = packets.iter().filter(|depth| **depth > than).count();
        let percent = deeper as f64 * 100.0 / packets.len().max(1) as f64;
        context.count(place, named, "", (metric, "%"), percent);
    }
}

/// Nodes, leaves, MiB, milliseconds and Mlps (Table 2).
const TABLE_2: [(&str, &str, [f64; 5]); 9] = [
    ("poptrie:s=0:basic:unaggregated", "basic, s = 0", [64_009.0, 4_032_568.0, 8.67, 31.07, 87.71]),
    (
        "poptrie:s=16:basic:unaggregated",
        "basic, s = 16",
        [172_101.0, 10_862_901.0, 23.60, 64.18, 130.72],
    ),
    (
        "poptrie:s=18:basic:unaggregated",
        "basic, s = 18",
        [61_282.0, 3_911_422.0, 9.40, 36.06, 170.69],
    ),
    ("poptrie:s=0:unaggregated", "leafvec, s = 0", [64_009.0, 280_673.0, 2.00, 32.60, 89.15]),
    ("poptrie:s=16:unaggregated", "leafvec, s = 16", [172_101.0, 347_449.0, 4.85, 62.97, 154.33]),
    ("poptrie:s=18:unaggregated", "leafvec, s = 18", [61_282.0, 265_320.0, 2.91, 33.37, 191.95]),
    ("poptrie:s=0", "Poptrie0", [43_191.0, 263_381.0, 1.49, 32.84, 96.27]),
    ("poptrie:s=16", "Poptrie16", [86_171.0, 274_145.0, 2.75, 65.91, 198.28]),
    (POPTRIE18, "Poptrie18", [40_760.0, 245_034.0, 2.40, 33.24, 240.52]),
];

const BASIC: [&str; 3] = [TABLE_2[0].0, TABLE_2[1].0, TABLE_2[2].0];
const LEAFVEC: [&str; 3] = [TABLE_2[3].0, TABLE_2[4].0, TABLE_2[5].0];
const WHOLE: [&str; 3] = [TABLE_2[6].0, TABLE_2[7].0, TABLE_2[8].0];

/// Judges the share of a quantity that each engine of `after` saves compared with `before`.
fn saved(
    metric: &'static str,
    before: [&'static str; 3],
    after: [&'static str; 3],
    low: f64,
    high: f64,
) -> Judge {
    let pairs = before.into_iter().zip(after);
    Judge::Within(
        pairs.map(|(a, b)| ((of(a, metric) - of(b, metric)) / of(a, metric), low, high)).collect(),
    )
}

/// Returns the bytes of a structure without its nodes and leaves: those of its direct entries.
fn bytes(engine: &'static str, node: f64) -> Q {
    2f64.powi(20) * of(engine, "memory") - node * of(engine, "nodes") - 2.0 * of(engine, "leaves")
}

pub(super) fn extensions() -> Experiment {
    let figure = "poptrie-table2";
    let column = |i: usize| TABLE_2.map(|(engine, _, values)| (engine, values[i])).to_vec();
    let mut engines = vec![("radix", "Radix")];
    engines.extend(TABLE_2.map(|(engine, alias, _)| (engine, alias)));
    let (mut mib, mut mlps) = (column(2), column(4));
    mib.push(("radix", 30.48));
    mlps.push(("radix", 8.82));
    Experiment {
        name: figure,
        aliases: &[],
        source: "Poptrie paper, Table 2",
        title: "The extensions of Poptrie",
        about: "The effect of compressed leaves (leafvec, 3.3), route aggregation (3) and direct pointing with s bits \
                (3.4) on the numbers of nodes and leaves, memory, compile time and the rate of random lookups.",
        setting: SETTING,
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Ipv4,
            engines,
            runs: vec![JUST_IN_TIME],
            parts: PARTS,
        }]),
        figures: vec![Figure {
            id: figure,
            title: "Nodes, leaves, memory, compile time and rate",
            caption: "Nodes, leaves and bytes are counted in the compiled structure; memory includes the direct \
                      entries. Compilation starts from the RIB, the paper's from its radix tree; it includes route \
                      aggregation. Radix nodes here have 12 bytes.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
        papers: vec![
            papers(figure, "", "nodes", &column(0)),
            papers(figure, "", "leaves", &column(1)),
            papers(figure, "", "memory", &mib),
            papers(figure, "", "compile", &column(3)),
            papers(figure, J, "rate", &mlps),
        ],
        claims: extension_claims(),
    }
}

fn extension_claims() -> Vec<Claim> {
    let full = || vec![Needs::Routes(300_000, u64::MAX)];
    let narrow = || {
        let words = "the next hops of this table need 32-bit leaves";
        vec![Needs::Without(WHOLE[2], "leaf=32", words), Needs::Routes(300_000, u64::MAX)]
    };
    // Without direct pointing there is one entry, the root.
    let direct = [4.0, 4.0 * 65_536.0, 4.0 * 262_144.0];
    let sizes =
        [(BASIC, 16.0), (LEAFVEC, 24.0), (WHOLE, 24.0)].into_iter().flat_map(|(engines, node)| {
            engines
                .into_iter()
                .zip(direct)
                .map(move |(engine, direct)| (bytes(engine, node), direct, 0))
        });
    let faster =
        WHOLE.into_iter().zip(BASIC).map(|(whole, basic)| (rate(whole, J), rate(basic, J)));
    vec![
        Claim {
            needs: narrow(),
            ..claim(
                "P2.1",
                "3 and 5",
                "A node has 24 bytes (16 without leafvec), a leaf 2, a direct entry 4.",
                Judge::Exact(sizes.collect()),
            )
        },
        Claim {
            needs: narrow(),
            ..claim(
                "P2.2",
                "4.3",
                "leafvec saves 69 to 79 % of the memory.",
                saved("memory", BASIC, LEAFVEC, 0.6, 0.85),
            )
        },
        Claim {
            needs: narrow(),
            ..claim(
                "P2.3",
                "4.3",
                "leafvec and route aggregation together save 74 to 88 % of the memory.",
                saved("memory", BASIC, WHOLE, 0.64, 0.93),
            )
        },
        Claim {
            needs: full(),
            ..claim(
                "P2.4",
                "3.3",
                "leafvec removes more than 90 % of the leaves.",
                saved("leaves", BASIC, LEAFVEC, 0.9, 1.0),
            )
        },
        claim(
            "P2.5",
            "4.3",
            "Poptrie18 is 2.5 times as fast as Poptrie0.",
            (rate(WHOLE[2], J) / rate(WHOLE[0], J)).within(1.57, 3.75),
        ),
        claim(
            "P2.6",
            "4.3",
            "Poptrie18 takes less than 1 MiB more memory than Poptrie0 (0.91 MiB).",
            (of(WHOLE[2], "memory") - of(WHOLE[0], "memory")).at_most(1.0),
        ),
        Claim {
            needs: vec![Needs::Least(
                of(WHOLE[0], "compile"),
                5.0,
                "compiling takes less than 5 ms",
            )],
            ..claim(
                "P2.7",
                "4.3",
                "Compiling Poptrie18 takes no longer than compiling Poptrie0 (1.01 times).",
                (of(WHOLE[2], "compile") / of(WHOLE[0], "compile")).within(0.67, 1.15),
            )
        },
        Claim {
            needs: vec![Needs::Routes(450_000, 600_000)],
            ..claim(
                "P2.8",
                "3.5",
                "Compiling takes less than 70 ms.",
                Q::Max(WHOLE.map(|engine| of(engine, "compile")).to_vec()).at_most(70.0),
            )
        },
        claim(
            "P2.9",
            "4.3",
            "Less memory leads to a higher rate: leafvec and aggregation speed up each Poptrie (1.10, 1.52 and 1.41 \
             times).",
            Judge::Greater(faster.collect()),
        ),
    ]
}
