//! Bars of many engines, and lines by threads.

use super::{axis, columns, conditions, finding, line, quartiles, section, spread, text};
use crate::model::{Bar, BarGroup, Bars, Cell, Chart, Figure, Lines, Section, Table};

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

pub(super) fn engines() -> Section {
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

pub(super) fn threads() -> Section {
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
