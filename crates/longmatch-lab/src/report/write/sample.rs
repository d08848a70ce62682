//! A page with every kind of chart and of cell, for tests and for eyes: its numbers look like
//! those of a report, but are made up.

use super::{Absent, Page};
use crate::report::model::{
    Axis, Bar, BarGroup, Bars, BoxSeries, Boxes, Cell, Chart, Column, Condition, Figure, Finding,
    Heat, Lines, Point, Row, Section, Series, Table,
};

/// The page.
pub(super) fn page() -> Page {
    Page {
        title: "longmatch report: a sample".into(),
        lead: vec![
            "Every table and figure of the papers, measured on one machine, with the papers' own \
             values beside ours."
                .into(),
            "This page is a sample: it shows what a report looks like, and its numbers are made \
             up. `longmatch report` makes one of your machine, your table and your traffic."
                .into(),
        ],
        machine: conditions(&[
            ("CPU", "Example 9000 8-Core Processor (model 1, stepping 0)"),
            ("caches", "L1d 48 KiB, L2 1 MiB, L3 32 MiB shared"),
            ("instructions", "avx512 (sse4.2, avx2, bmi2, avx512f, avx512vl)"),
            ("frequency", "4.49 GHz estimated, 4.47 to 4.51 during the passes"),
            ("memory", "transparent huge pages: madvise"),
            ("system", "Linux 6.1, x86-64"),
            ("compiler", "rustc 1.89.0, release, plain x86-64"),
        ]),
        settings: conditions(&[
            ("tables", "ipv4-full (1,042,325 routes), ipv6-full (214,907 routes)"),
            ("passes", "9 after 1 that does not count, interleaved; medians and quartiles"),
            ("seed", "1"),
            ("disturbed", "3 of 1,204 passes were repeated"),
            ("date", "2026-01-31 12:00 UTC"),
            ("again", "`longmatch report --full --seed 1`"),
        ]),
        summary: vec![
            finding(
                Some(true),
                "Poptrie is 4.1 to 11 times as fast as the radix tree on random addresses.",
            ),
            finding(
                Some(false),
                "Poptrie is not faster than SAIL on this CPU: 325 to 389 Mlps one by one, as its caches hold SAIL's arrays.",
            ),
            finding(
                None,
                "Folio looks up 2,310 Mlps in batches, 78 % of what the machine can read at random from as many bytes.",
            ),
        ],
        sections: vec![
            datasets(),
            depths(),
            variants(),
            engines(),
            threads(),
            cycles(),
            growth(),
            chunks(),
        ],
        absent: vec![
            Absent {
                experiment: "poptrie-fig12".into(),
                source: "Poptrie paper, Figure 12".into(),
                title: "A packet trace".into(),
                why:
                    "No trace was given: `--trace FILE` takes pcap, pcapng or a list of addresses."
                        .into(),
            },
            Absent {
                experiment: "peers-dpdk".into(),
                source: "ours".into(),
                title: "DPDK's rte_lpm, rte_fib and rte_fib6".into(),
                why: "Not installed: `apt-get install dpdk-dev`, then run the report again.".into(),
            },
        ],
    }
}

pub(super) fn conditions(pairs: &[(&str, &str)]) -> Vec<Condition> {
    let condition =
        |(name, value): &(&str, &str)| Condition { name: (*name).into(), value: (*value).into() };
    pairs.iter().map(condition).collect()
}

pub(super) fn finding(holds: Option<bool>, text: &str) -> Finding {
    Finding { holds, text: text.into() }
}

pub(super) fn axis(name: &str, unit: &str, log: bool) -> Axis {
    Axis { name: name.into(), unit: unit.into(), log }
}

/// Columns of names with units; a name that begins with `paper` is what a paper gives.
fn columns(names: &[(&str, &str)]) -> Vec<Column> {
    let column = |(name, unit): &(&str, &str)| Column {
        name: (*name).into(),
        unit: (*unit).into(),
        paper: name.starts_with("paper"),
    };
    names.iter().map(column).collect()
}

fn text(text: &str) -> Cell {
    Cell::Text(text.into())
}

/// A cell of a median with quartiles one part in a hundred away.
fn spread(value: f64) -> Cell {
    Cell::Spread(value, quartiles(value), 1)
}

fn quartiles(value: f64) -> [f64; 2] {
    [value * 0.985, value * 1.012]
}

fn section(
    experiment: &str,
    source: &str,
    title: &str,
    about: &str,
    figures: Vec<Figure>,
) -> Section {
    let record = |figure: &Figure| Row {
        experiment: experiment.into(),
        figure: figure.id.clone(),
        table: "ipv4-full".into(),
        family: "ipv4".into(),
        routes: 1_042_325,
        engine: "poptrie s=18".into(),
        traffic: "random".into(),
        keys: "array".into(),
        mode: "one".into(),
        batch: 1,
        threads: 1,
        simd: "avx512".into(),
        metric: "rate".into(),
        unit: "Mlps".into(),
        value: Some(325.5),
        q1: Some(320.25),
        q3: Some(329.0),
        passes: 9,
        disturbed: 1,
        paper: Some(240.52),
        paper_of: "REAL-RENET, Core i7-4770K".into(),
        ..Row::default()
    };
    Section {
        experiment: experiment.into(),
        source: source.into(),
        title: title.into(),
        about: about.into(),
        records: figures.iter().map(record).collect(),
        figures,
        seconds: 12.5,
        date: "2026-01-31 12:00 UTC".into(),
    }
}

fn datasets() -> Section {
    let row = |name: &str, routes: u64, hops: u64, paper: Option<(u64, u64)>| {
        let given = |value: Option<u64>| value.map_or(Cell::Empty, Cell::Count);
        vec![
            text(name),
            Cell::Count(routes),
            Cell::Count(hops),
            given(paper.map(|paper| paper.0)),
            given(paper.map(|paper| paper.1)),
        ]
    };
    let figure = Figure {
        id: "poptrie-table1-tables".into(),
        title: "The tables".into(),
        caption: "Prefixes and different next hops of each table that was measured.".into(),
        conditions: Vec::new(),
        chart: None,
        table: Table {
            columns: columns(&[
                ("table", ""),
                ("prefixes", ""),
                ("next hops", ""),
                ("paper: prefixes", ""),
                ("paper: next hops", ""),
            ]),
            rows: vec![
                row("ipv4-full", 1_042_325, 256, None),
                row("pch2015", 531_489, 13, Some((531_489, 13))),
                row("SYN1 of pch2015", 764_847, 45, Some((764_847, 45))),
                row("ipv6-full", 214_907, 248, None),
            ],
        },
        findings: Vec::new(),
    };
    section(
        "poptrie-table1",
        "Poptrie paper, Table 1",
        "The tables",
        "What all that follows was measured with.",
        vec![figure],
    )
}

fn depths() -> Section {
    let mut cells = Vec::new();
    for length in 8..=32usize {
        for depth in length..=32 {
            let far = (depth - length) as f64;
            let weight = 1e9 * (-((length as f64 - 19.0) / 4.0).powi(2) - far * 0.9).exp();
            if weight >= 1.0 {
                cells.push((depth, length, weight as u64));
            }
        }
    }
    let names = || (0..=32).map(|at: usize| at.to_string()).collect();
    let rows = [(16, 214_220_032), (20, 601_234_432), (24, 1_203_400_100), (28, 71_204)];
    let figure = Figure {
        id: "poptrie-fig7-ipv4-full".into(),
        title: "Prefix length and binary radix depth of all addresses, ipv4-full".into(),
        caption: "How many of the 2^32 addresses match a prefix of a length, and how deep a \
                  binary radix tree is searched for it."
            .into(),
        conditions: conditions(&[("table", "ipv4-full"), ("addresses", "all 4,294,967,296")]),
        chart: Some(Chart::Heat(Heat {
            x: axis("binary radix depth", "", false),
            y: axis("prefix length", "", false),
            columns: names(),
            rows: names(),
            unit: "addresses".into(),
            cells,
        })),
        table: Table {
            columns: columns(&[("binary radix depth", ""), ("addresses", "")]),
            rows: rows.map(|(depth, count)| vec![Cell::Count(depth), Cell::Count(count)]).into(),
        },
        findings: vec![finding(
            Some(true),
            "Most addresses are searched deeper than their prefix is long: 61 %.",
        )],
    };
    section(
        "poptrie-fig7",
        "Poptrie paper, Figure 7",
        "Where the search ends",
        "A longer way through a tree is not only that to a longer prefix: more specific routes \
         that do not match have to be excluded.",
        vec![figure],
    )
}

fn variants() -> Section {
    let mut groups = Vec::new();
    let mut rows = Vec::new();
    for (kind, nodes, leaves, rate, paper) in [
        ("basic", 75_510, 4_833_000, 98.0, 87.2),
        ("leafvec", 75_510, 331_400, 104.0, 96.2),
        ("aggregated", 62_804, 274_900, 106.5, 96.8),
    ] {
        let mut bars = Vec::new();
        for (s, factor) in [(0u32, 1.0), (16, 1.9), (18, 2.4)] {
            let rate = rate * factor;
            let given = (s != 16).then_some(paper * factor * 1.05);
            bars.push(Bar {
                name: format!("poptrie s={s}"),
                value: Some(rate),
                spread: Some(quartiles(rate)),
                paper: given,
                note: String::new(),
            });
            rows.push(vec![
                text(&format!("{kind}, s = {s}")),
                Cell::Count(nodes),
                Cell::Count(leaves),
                Cell::Number(f64::from(s).mul_add(0.04, 2.4), 2),
                Cell::Number(f64::from(s).mul_add(-1.0, 70.0), 0),
                spread(rate),
                given.map_or(Cell::Empty, |given| Cell::Number(given, 2)),
            ]);
        }
        groups.push(BarGroup { name: kind.into(), bars });
    }
    let figure = Figure {
        id: "poptrie-table2-pch2015".into(),
        title: "Variants of Poptrie, pch2015".into(),
        caption: "Rate of single lookups with each variant. The paper measured REAL-RENET on a \
                  Core i7-4770K."
            .into(),
        conditions: conditions(&[
            ("table", "pch2015, 531,489 routes"),
            ("traffic", "random, xorshift seed 1, made just before each lookup"),
            ("mode", "one"),
            ("passes", "9"),
        ]),
        chart: Some(Chart::Bars(Bars { value: axis("lookup rate", "Mlps", false), groups })),
        table: Table {
            columns: columns(&[
                ("variant", ""),
                ("nodes", ""),
                ("leaves", ""),
                ("memory", "MiB"),
                ("compile time", "ms"),
                ("rate", "Mlps"),
                ("paper: rate", "Mlps"),
            ]),
            rows,
        },
        findings: vec![
            finding(
                Some(true),
                "The leafvec removes 93 % of the leaves; the paper says more than 90 %.",
            ),
            finding(Some(true), "Direct pointing with s = 18 is the fastest."),
        ],
    };
    section(
        "poptrie-table2",
        "Poptrie paper, Table 2",
        "What leafvec, aggregation and direct pointing bring",
        "Each is turned on after the other, and nodes and leaves are counted.",
        vec![figure],
    )
}

const RATES: [(&str, f64, f64, Option<f64>, f64); 10] = [
    ("folio", 1_010.0, 2_310.0, None, 5.9),
    ("sail", 389.0, 859.0, Some(159.2), 38.9),
    ("dxr d=18", 226.0, 691.0, Some(178.5), 2.06),
    ("dxr d=21", 475.0, 826.0, None, 8.72),
    ("poptrie s=16", 268.0, 402.0, Some(198.3), 2.75),
    ("poptrie s=18", 325.5, 469.0, Some(240.5), 3.37),
    ("dir24_8 entry=16", 225.0, 325.0, None, 32.0),
    ("spider lanes=16", 125.0, 255.0, None, 23.6),
    ("tree_bitmap stride=6", 46.0, 66.0, Some(40.0), 3.84),
    ("radix", 11.0, 18.2, Some(13.6), 26.3),
];

fn engines() -> Section {
    let group = |name: &str, which: fn(&(f64, f64)) -> f64, paper: bool| {
        let bar = |(name, one, batch, given, _): &(&str, f64, f64, Option<f64>, f64)| {
            let value = which(&(*one, *batch));
            Bar {
                name: (*name).into(),
                value: Some(value),
                spread: Some(quartiles(value)),
                paper: given.filter(|_| paper),
                note: if *name == "folio" { "fastest".into() } else { String::new() },
            }
        };
        let mut bars: Vec<Bar> = RATES.iter().map(bar).collect();
        bars.push(Bar {
            name: "sail next hops of 16 bits".into(),
            value: None,
            spread: None,
            paper: None,
            note: "refused: over 32,768 chunks".into(),
        });
        BarGroup { name: name.into(), bars }
    };
    let mut rows: Vec<Vec<Cell>> = RATES
        .iter()
        .map(|(name, one, batch, paper, mib)| {
            let given = paper.map_or(Cell::Empty, |paper| Cell::Number(paper, 1));
            vec![
                text(&format!("`{name}`")),
                spread(*one),
                given,
                spread(*batch),
                Cell::Number(*mib, 2),
                Cell::Number(mib * 14.0, 0),
            ]
        })
        .collect();
    let why = Cell::Refused("more than 32,768 chunks of level 24".into());
    rows.push(vec![
        text("`sail` next hops of 16 bits"),
        why.clone(),
        Cell::Empty,
        why,
        Cell::Empty,
        Cell::Empty,
    ]);
    let figure = Figure {
        id: "poptrie-table3-ipv4-full".into(),
        title: "All engines on random addresses, ipv4-full".into(),
        caption: "Rates one by one and in batches of 256, each engine's passes between those of \
                  the others. Every rate is that of answers which were checked before."
            .into(),
        conditions: conditions(&[
            ("table", "ipv4-full, 1,042,325 routes"),
            ("traffic", "random, seed 1, 2^24 addresses from an array"),
            ("threads", "1, pinned"),
            ("passes", "9, 1 of them repeated"),
            ("instructions", "avx512"),
        ]),
        chart: Some(Chart::Bars(Bars {
            value: axis("lookup rate", "Mlps", false),
            groups: vec![
                group("one by one", |rates| rates.0, true),
                group("in batches of 256", |rates| rates.1, false),
            ],
        })),
        table: Table {
            columns: columns(&[
                ("engine", ""),
                ("one", "Mlps"),
                ("paper: one", "Mlps"),
                ("batch", "Mlps"),
                ("memory", "MiB"),
                ("build", "ms"),
            ]),
            rows,
        },
        findings: vec![
            finding(
                Some(false),
                "Poptrie is the fastest of the paper's engines there; here SAIL is 1.2 times as fast.",
            ),
            finding(None, "The radix tree needs 5 times the memory of DXR and is 20 times slower."),
        ],
    };
    section(
        "poptrie-table3",
        "Poptrie paper, Table 3 and Figure 9",
        "All engines, side by side",
        "How fast every engine looks up random addresses, one after the other and many at once, \
         and how many bytes it reads them from.",
        vec![figure],
    )
}

fn line(name: &str, dashed: bool, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    let point = |(x, y)| Point { x, y, spread: (!dashed).then(|| [y * 0.93, y * 1.03]) };
    Series { name: name.into(), dashed, points: points.into_iter().map(point).collect() }
}

fn threads() -> Section {
    let with = |rate: f64, loss: f64| {
        [1.0, 2.0, 3.0, 4.0, 6.0, 8.0].map(move |n: f64| (n, rate * n * (1.0 - loss * (n - 1.0))))
    };
    let series = vec![
        line("folio", false, with(1010.0, 0.02)),
        line("sail", false, with(389.0, 0.05)),
        line("poptrie s=18", false, with(325.5, 0.004)),
        line("poptrie s=16", false, with(268.0, 0.004)),
        line("dxr d=18", false, with(226.0, 0.004)),
        line("tree_bitmap stride=6", false, with(46.0, 0.0)),
        line("radix", false, with(11.0, 0.03)),
        line("paper: Poptrie18", true, [(1.0, 240.5), (2.0, 470.0), (3.0, 702.0), (4.0, 914.0)]),
    ];
    let rows =
        series.iter().map(|series| {
            let mut row = vec![text(&series.name)];
            row.extend((0..6).map(|at| {
                series.points.get(at).map_or(Cell::Empty, |point| Cell::Number(point.y, 0))
            }));
            row
        });
    let figure = Figure {
        id: "poptrie-fig8-ipv4-full".into(),
        title: "Rate by threads, ipv4-full".into(),
        caption: "Each thread looks up addresses of its own, on a core of its own.".into(),
        conditions: conditions(&[("table", "ipv4-full"), ("traffic", "random"), ("mode", "one")]),
        table: Table {
            columns: columns(&[
                ("engine", ""),
                ("1", "Mlps"),
                ("2", "Mlps"),
                ("3", "Mlps"),
                ("4", "Mlps"),
                ("6", "Mlps"),
                ("8", "Mlps"),
            ]),
            rows: rows.collect(),
        },
        chart: Some(Chart::Lines(Lines {
            x: axis("threads", "", false),
            y: axis("lookup rate of all threads", "Mlps", false),
            series,
            steps: false,
        })),
        findings: vec![finding(
            Some(true),
            "Poptrie scales linearly: 7.8 times the rate with 8 threads.",
        )],
    };
    section(
        "poptrie-fig8",
        "Poptrie paper, Figure 8",
        "More threads",
        "Threads share the table and nothing else.",
        vec![figure],
    )
}

/// Something between 0 and 1 that looks like chance.
fn chance(at: usize) -> f64 {
    ((at * 7919 + 13) % 1009) as f64 / 1009.0
}

fn cycles() -> Section {
    let kinds = [
        ("folio", 12.0, 0.5),
        ("sail", 17.0, 1.6),
        ("poptrie s=18", 24.0, 0.8),
        ("dxr d=18", 25.0, 1.1),
    ];
    let distribution = |(name, from, tail): (&str, f64, f64)| {
        let at = |part: f64| from * (1.0 + tail * 0.5 * (1.0 / (1.02 - part)).ln());
        let points = (0..=100).map(|step| f64::from(step) / 100.0);
        let points = points.map(|part| Point { x: at(part).round(), y: part, spread: None });
        Series { name: name.into(), dashed: false, points: points.collect() }
    };
    let percentiles = kinds.map(|(name, from, tail)| {
        let at =
            |part: f64| Cell::Number(from * (1.0 + tail * 0.5 * (1.0 / (1.02 - part)).ln()), 0);
        vec![
            text(name),
            Cell::Number(from * (1.0 + tail / 2.1), 2),
            at(0.5),
            at(0.75),
            at(0.95),
            at(0.99),
        ]
    });
    let conditions = conditions(&[
        ("table", "ipv4-full"),
        ("addresses", "2^24, random, seed 1"),
        ("overhead", "26 cycles of rdtsc, subtracted"),
    ]);
    let cdf = Figure {
        id: "poptrie-fig10-ipv4-full".into(),
        title: "Distribution of cycles per lookup".into(),
        caption: "The share of lookups that take no more than so many cycles.".into(),
        conditions: conditions.clone(),
        chart: Some(Chart::Lines(Lines {
            x: axis("cycles", "", false),
            y: axis("share of lookups", "", false),
            series: kinds.map(distribution).into(),
            steps: true,
        })),
        table: Table {
            columns: columns(&[
                ("engine", ""),
                ("mean", "cycles"),
                ("50th", ""),
                ("75th", ""),
                ("95th", ""),
                ("99th", ""),
            ]),
            rows: percentiles.into(),
        },
        findings: Vec::new(),
    };
    let places: Vec<String> = (8..=32).map(|depth: usize| depth.to_string()).collect();
    let boxes = |(name, from, tail): (&str, f64, f64), salt: usize| BoxSeries {
        name: name.into(),
        boxes: (0..places.len())
            .map(|at| {
                let middle = from * (1.0 + tail * at as f64 / 20.0 + chance(at + salt) * 0.2);
                (at != 3).then(|| [middle * 0.7, middle * 0.88, middle, middle * 1.2, middle * 1.9])
            })
            .collect(),
    };
    let by_depth = Figure {
        id: "poptrie-fig11-ipv4-full".into(),
        title: "Cycles per lookup by binary radix depth".into(),
        caption: "The same lookups, apart by how deep a binary radix tree is searched.".into(),
        conditions,
        chart: Some(Chart::Boxes(Boxes {
            x: axis("binary radix depth", "", false),
            y: axis("cycles per lookup", "cycles", false),
            series: kinds.iter().enumerate().map(|(at, kind)| boxes(*kind, at * 31)).collect(),
            places,
        })),
        table: Table {
            columns: columns(&[
                ("engine", ""),
                ("median at depth 16", "cycles"),
                ("median at depth 24", "cycles"),
            ]),
            rows: kinds
                .map(|(name, from, _)| {
                    vec![text(name), Cell::Number(from, 1), Cell::Number(from * 1.4, 1)]
                })
                .into(),
        },
        findings: vec![finding(Some(true), "Poptrie's cycles hardly depend on the depth.")],
    };
    section(
        "poptrie-fig10",
        "Poptrie paper, Figures 10 and 11, Table 4",
        "Cycles of single lookups",
        "Each lookup is measured alone, with the counter of cycles before and after it.",
        vec![cdf, by_depth],
    )
}

fn growth() -> Section {
    let sizes = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0].map(|times| 1_042_325.0 * times);
    let falling =
        |rate: f64, by: f64| sizes.map(move |n: f64| (n, rate * (n / 130_000.0).powf(-by)));
    let series = vec![
        line("limit", true, falling(3100.0, 0.1)),
        line("folio", false, falling(2600.0, 0.14)),
        line("poptrie s=18", false, falling(620.0, 0.18)),
        line("dxr d=20", false, falling(1100.0, 0.22)),
        line("radix", false, falling(31.0, 0.3)),
    ];
    let rows = series.iter().map(|series| {
        let at = |at: usize| Cell::Number(series.points[at].y, 1);
        vec![text(&series.name), at(0), at(3), at(6)]
    });
    let figure = Figure {
        id: "growth-ipv4".into(),
        title: "Rate by routes, in batches".into(),
        caption: "Samples of the routes, and tables with more specific routes put in.".into(),
        conditions: conditions(&[
            ("table", "of ipv4-full"),
            ("traffic", "random"),
            ("mode", "batch of 256"),
        ]),
        table: Table {
            columns: columns(&[
                ("engine", ""),
                ("130,290 routes", "Mlps"),
                ("1,042,325 routes", "Mlps"),
                ("8,338,600 routes", "Mlps"),
            ]),
            rows: rows.collect(),
        },
        chart: Some(Chart::Lines(Lines {
            x: axis("routes", "", true),
            y: axis("lookup rate", "Mlps", true),
            series,
            steps: false,
        })),
        findings: vec![finding(
            None,
            "From an eighth of the routes to eight times as many, Folio loses 44 %.",
        )],
    };
    section("growth", "ours", "Growing tables", "Tables grow. What do lookups lose?", vec![figure])
}

fn chunks() -> Section {
    let series = (16..=22u32).map(|k| {
        let points = (1..=9u32).map(|power| {
            let ranges = f64::from(2u32.pow(power));
            let much = 40_000.0 * f64::from(2u32.pow(k - 16)).sqrt();
            Point { x: ranges, y: (much / ranges.powf(f64::from(k) / 9.0)).floor(), spread: None }
        });
        Series { name: format!("dxr d={k}"), dashed: false, points: points.collect() }
    });
    let series: Vec<Series> = series.collect();
    let rows = series.iter().map(|series| {
        vec![
            text(&series.name),
            Cell::Count(series.points[0].y as u64),
            Cell::Count(series.points[4].y as u64),
        ]
    });
    let figure = Figure {
        id: "dxr-chunks-ipv4-full".into(),
        title: "Chunks by their length".into(),
        caption: "How many chunks have so many ranges, rounded up to a power of two.".into(),
        conditions: conditions(&[("table", "ipv4-full")]),
        table: Table {
            columns: columns(&[("K", ""), ("chunks of 2 ranges", ""), ("of 17 to 32", "")]),
            rows: rows.collect(),
        },
        chart: Some(Chart::Lines(Lines {
            x: axis("ranges in a chunk", "", true),
            y: axis("chunks", "", true),
            series,
            steps: false,
        })),
        findings: Vec::new(),
    };
    section(
        "dxr-chunks",
        "DXR page, Figure 1",
        "How long chunks are",
        "The longer a chunk, the longer the binary search in it.",
        vec![figure],
    )
}
