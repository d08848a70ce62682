//! A page with every kind of chart and of cell, for tests and for eyes: its numbers look like
//! those of a report, but are made up.

mod cycles;
mod rates;
mod tables;

use super::{Absent, Page};
use crate::disturbance::add_disturbances;
use crate::model::{Axis, Cell, Column, Condition, Figure, Finding, Point, Row, Section, Series};

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
            ("disturbed", "3 of 1,204 passes were repeated, 1 counts although disturbed"),
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
            tables::datasets(),
            tables::depths(),
            tables::variants(),
            rates::engines(),
            rates::threads(),
            cycles::cycles(),
            cycles::growth(),
            cycles::chunks(),
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
        repeated: 3,
        disturbed: 1,
        paper: Some(240.52),
        paper_of: "REAL-RENET, Core i7-4770K".into(),
        ..Row::default()
    };
    let records: Vec<Row> = figures.iter().map(record).collect();
    let mut figures = figures;
    add_disturbances(&mut figures, &records);
    Section {
        experiment: experiment.into(),
        source: source.into(),
        title: title.into(),
        about: about.into(),
        records,
        figures,
        seconds: 12.5,
        date: "2026-01-31 12:00 UTC".into(),
    }
}

fn line(name: &str, dashed: bool, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    let point = |(x, y)| Point { x, y, spread: (!dashed).then_some([y * 0.93, y * 1.03]) };
    Series { name: name.into(), dashed, points: points.into_iter().map(point).collect() }
}
