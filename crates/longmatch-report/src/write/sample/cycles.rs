//! Distributions, boxes, and lines with axes whose steps multiply.

use super::{axis, columns, conditions, finding, line, section, text};
use crate::model::{BoxSeries, Boxes, Cell, Chart, Figure, Lines, Point, Section, Series, Table};

/// Something between 0 and 1 that looks like chance.
fn chance(at: usize) -> f64 {
    ((at * 7919 + 13) % 1009) as f64 / 1009.0
}

pub(super) fn cycles() -> Section {
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
                let percentiles = [0.7, 0.88, 1.0, 1.2, 1.9].map(|times| times * middle);
                (at != 3).then_some(percentiles)
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

pub(super) fn growth() -> Section {
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

pub(super) fn chunks() -> Section {
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
