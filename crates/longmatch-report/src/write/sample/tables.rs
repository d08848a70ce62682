//! Tables, a map and groups of bars.

use super::{axis, columns, conditions, finding, quartiles, section, spread, text};
use crate::model::{Bar, BarGroup, Bars, Cell, Chart, Figure, Heat, Section, Table};

pub(super) fn datasets() -> Section {
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

pub(super) fn depths() -> Section {
    let mut cells = Vec::new();
    for length in 8..=32usize {
        for depth in length..=32 {
            let (far, off) = (depth - length, length.abs_diff(19));
            let count =
                (1_000_000_000 >> (off * off / 11 + far * 4 / 3)) * (70 + depth as u64) / 100;
            if count > 0 {
                cells.push((depth, length, count));
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

pub(super) fn variants() -> Section {
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
