//! Figure 7: how much deeper than its route an address has to be looked at.

use longmatch::Ipv4;

use crate::depths;
use crate::desk::{Desk, row_about};
use crate::experiment::{Absence, Experiment};
use crate::inputs::Named;
use crate::model::{Cell, Chart, Figure, Heat, Row};
use crate::show::{axis, claim, column, condition, remark, table, text};

pub(super) const FIGURE_7: Experiment = Experiment {
    name: "poptrie-fig7",
    aliases: &[],
    source: "Poptrie paper, Figure 7",
    title: "Prefix length and binary radix depth",
    about: "For each of the 2^32 addresses: the length of the route that matches, and how many \
            bits have to be looked at until no longer route can match (binary radix depth, 4.1).",
    peers: false,
    seconds: |inputs, _| inputs.ipv4().len() as f64,
    run,
};

/// Columns: no route, then the lengths 0 to 32.
const COLUMNS: usize = 34;
const DEPTHS: usize = 33;

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    Ok(tables.into_iter().map(|named| figure(desk, named)).collect())
}

/// Addresses by the length of the matching route (column 0: none; then its length and one) and by
/// depth.
fn count(named: Named<'_, Ipv4>) -> [[u64; DEPTHS]; COLUMNS] {
    let mut counts = [[0; DEPTHS]; COLUMNS];
    depths::blocks(named.rib, &mut |block| {
        let column = block.matched.map_or(0, |len| usize::from(len) + 1);
        let depth = block.prefix.len();
        counts[column][usize::from(depth)] += 1 << (32 - depth);
    });
    counts
}

fn figure(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("poptrie-fig7-{}", named.name);
    let counts = count(named);
    desk.step(1.0);
    let fields = || (0..COLUMNS).flat_map(|column| (0..DEPTHS).map(move |depth| (column, depth)));
    let cells: Vec<_> = fields()
        .map(|(column, depth)| (column, depth, counts[column][depth]))
        .filter(|(.., count)| *count > 0)
        .collect();
    let columns: Vec<_> =
        core::iter::once("none".to_owned()).chain((0..33).map(|len| format!("/{len}"))).collect();
    for (column, depth, count) in &cells {
        desk.note(Row {
            figure: id.clone(),
            at: format!("matched={} depth={depth}", columns[*column]),
            metric: "addresses".into(),
            value: Some(*count as f64),
            ..row_about(named.name, named.rib)
        });
    }
    let by_depth: Vec<u64> =
        (0..DEPTHS).map(|depth| counts.iter().map(|column| column[depth]).sum()).collect();
    let deeper = |than: usize| by_depth[than + 1..].iter().sum::<u64>();
    let percent = |count: u64| count as f64 * 100.0 / 2f64.powi(32);
    let rows = (0..DEPTHS).filter(|depth| by_depth[*depth] > 0).map(|depth| {
        let exact = if depth + 1 < COLUMNS { counts[depth + 1][depth] } else { 0 };
        vec![
            text(depth.to_string()),
            Cell::Count(by_depth[depth]),
            Cell::Number(percent(by_depth[depth]), 3),
            Cell::Count(by_depth[depth] - exact),
        ]
    });
    let slash8_to_24 = counts[9][24];
    Figure {
        title: format!("Addresses by matching length and depth, {}", named.name),
        caption: "Counted over all 2^32 addresses. Left to right the length of the longest \
                  matching route, upwards the binary radix depth; the scale of colours is \
                  logarithmic. Addresses above the diagonal need more bits than their route has."
            .into(),
        conditions: vec![condition("table", named.name)],
        chart: Some(Chart::Heat(Heat {
            x: axis("length of the matching route", ""),
            y: axis("binary radix depth", "bits"),
            columns,
            rows: (0..DEPTHS).map(|depth| depth.to_string()).collect(),
            unit: "addresses".into(),
            cells,
        })),
        table: table(
            vec![
                column("depth", "bits"),
                column("addresses", ""),
                column("share", "%"),
                column("deeper than their route", ""),
            ],
            rows.collect(),
        ),
        findings: vec![
            claim(
                slash8_to_24 > 0,
                format!(
                    "For {slash8_to_24} addresses that a /8 matches the search goes down to the \
                     24th level; the paper saw many such cases (4.1)."
                ),
            ),
            remark(format!(
                "{:.2} % of all addresses are deeper than 18 and {:.2} % deeper than 24; on \
                 REAL-RENET it was 22.1 % and 1.66 % (4.7).",
                percent(deeper(18)),
                percent(deeper(24))
            )),
        ],
        id,
    }
}
