//! Table 1: the tables.

use std::collections::HashSet;

use longmatch::Prefix;

use crate::desk::Desk;
use crate::experiment::{Absence, Experiment};
use crate::inputs::Named;
use crate::model::{Cell, Figure};
use crate::show::{column, condition, remark, table, text};
use longmatch_bench::BenchFamily;

pub(super) const TABLE_1: Experiment = Experiment {
    name: "poptrie-table1",
    aliases: &[],
    source: "Poptrie paper, Table 1",
    title: "The tables",
    about: "How many prefixes and next hops the tables have that everything else is measured on, \
            and what the paper's two ways of splitting prefixes (4.1) make of those of IPv4.",
    peers: false,
    seconds: |inputs, _| 3.0 * inputs.tables.len() as f64,
    run,
};

const FIGURE: &str = "poptrie-table1";

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let inputs = desk.inputs;
    let mut rows = Vec::new();
    for named in inputs.ipv4() {
        rows.push(row(desk, named));
        let (syn1, syn2) = (longmatch_bench::syn1(named.rib), longmatch_bench::syn2(named.rib));
        for (kind, rib) in [("SYN1", &syn1), ("SYN2", &syn2)] {
            let name = format!("{kind} of {}", named.name);
            rows.push(row(desk, Named { name: &name, rib, memory: named.memory }));
        }
        desk.step(2.0);
    }
    for named in inputs.ipv6() {
        rows.push(row(desk, named));
        desk.step(1.0);
    }
    let columns = vec![
        column("table", ""),
        column("family", ""),
        column("prefixes", ""),
        column("next hops", ""),
        column("lengths", ""),
        column("beyond /24, /48", ""),
        column("default route", ""),
        column("ranges", ""),
    ];
    Ok(vec![Figure {
        id: FIGURE.into(),
        title: "Prefixes and next hops".into(),
        caption: "Counted, not measured. Beyond /24, /48: IPv4 prefixes longer than /24 and IPv6 \
                  prefixes longer than /48. Ranges: disjoint ranges of addresses, neighbours with \
                  the same next hop joined."
            .into(),
        conditions: vec![condition("counted", "every route")],
        chart: None,
        table: table(columns, rows),
        findings: vec![remark(
            "The paper's 35 tables of 2014 and 2015 have 508,700 to 532,637 prefixes and 9 to 530 \
             next hops, its four synthetic ones 756,406 to 885,645 prefixes and 19 to 87 next hops.",
        )],
    }])
}

fn row<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Vec<Cell> {
    let rib = named.rib;
    let (mut shortest, mut longest, mut beyond) = (F::WIDTH, 0, 0u64);
    let usual = if F::WIDTH == 32 { 24 } else { 48 };
    let mut next_hops = HashSet::new();
    for route in rib {
        let len = route.prefix.len();
        (shortest, longest) = (shortest.min(len), longest.max(len));
        beyond += u64::from(len > usual);
        next_hops.insert(route.next_hop);
    }
    let ranges = rib.ranges().coalesced().count() as u64;
    let counts = [
        ("prefixes", rib.len() as u64),
        ("next hops", next_hops.len() as u64),
        ("long prefixes", beyond),
        ("ranges", ranges),
    ];
    for (metric, count) in counts {
        desk.count(FIGURE, named, "", (metric, ""), count as f64, None);
    }
    let default = if rib.get(Prefix::DEFAULT).is_some() { "yes" } else { "no" };
    vec![
        text(named.name),
        text(F::NAME),
        Cell::Count(rib.len() as u64),
        Cell::Count(next_hops.len() as u64),
        text(format!("/{shortest} to /{longest}")),
        Cell::Count(beyond),
        text(default),
        Cell::Count(ranges),
    ]
}
