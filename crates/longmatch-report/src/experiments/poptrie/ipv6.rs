//! Table 6 and section 4.10: IPv6.

use longmatch::Ipv6;

use super::PAPER_CPU;
use crate::compare::{Comparison, Trial, compare};
use crate::desk::{Desk, Field, Measured, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::all_ipv6;
use crate::inputs::Named;
use crate::model::{Cell, Figure, Table};
use crate::show::{claim, column, condition, like, number, of, paper_column, ratio, table, text};
use longmatch_bench::Mode;
use longmatch_bench::Traffic;

pub(super) const TABLE_6: Experiment = Experiment {
    name: "poptrie-table6",
    aliases: &["poptrie-4.10"],
    source: "Poptrie paper, Table 6 and section 4.10",
    title: "IPv6",
    about: "Size, time of compiling and rate of Poptrie on an IPv6 table, and the other engines \
            beside it.",
    peers: false,
    seconds: |inputs, effort| {
        inputs.ipv6().len() as f64 * (11.0 * 3.0 * (effort.seconds * 1.4 + 0.1) + 3.0)
    },
    run,
};

/// Nodes, leaves, KiB, milliseconds, Mlps.
const PAPER: [(&str, [f64; 5]); 3] = [
    ("poptrie:s=0", [14_925.0, 32_586.0, 414.0, 7.22, 138.51]),
    ("poptrie:s=16", [16_554.0, 33_047.0, 709.0, 4.77, 209.84]),
    ("poptrie:s=18", [14_910.0, 32_569.0, 1437.0, 4.73, 211.32]),
];
/// Mlps; those of DXR are of the paper's own extension of it.
const RATES: [(&str, f64); 5] = [
    ("poptrie:s=0", 138.51),
    ("poptrie:s=16", 209.84),
    ("poptrie:s=18", 211.32),
    ("dxr:d=16", 163.07),
    ("dxr:d=18", 169.91),
];

const RANDOM: &str = "random, just in time";
const ROUTED: &str = "routed";
const BATCH: &str = "routed, batch of 256";

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv6()?;
    let figures = tables.into_iter().flat_map(|named| figures(desk, named)).collect();
    desk.cite(&format!("IPv6 of REAL-Tier1-A; {PAPER_CPU}"));
    Ok(figures)
}

fn figures(desk: &mut Desk<'_>, named: Named<'_, Ipv6>) -> [Figure; 2] {
    let id = format!("poptrie-table6-{}", named.name);
    let mut field = Field::new(named, &all_ipv6());
    desk.step(2.0);
    let trials = [
        Trial::new(RANDOM, Traffic::Random, desk.just_in_time()).papers(&RATES),
        Trial::new(ROUTED, Traffic::Routed, desk.setup(Mode::One)),
        Trial::new(BATCH, Traffic::Routed, desk.setup(Mode::Batch)),
    ];
    let all = compare(desk, &id, &mut field, &trials);
    let sizes = sizes(desk, &id, named, &field, &all);
    let mut conditions = all.conditions.clone();
    let paper = format!("REAL-Tier1-A's router: 20,440 prefixes, random in 2000::/8; {PAPER_CPU}");
    conditions.push(condition("the paper's", paper));
    let mut findings = Vec::new();
    // In its own form or, as in the paper, a widened one.
    let d18r = like(all.trial(RANDOM), "dxr:d=18").and_then(Measured::rate);
    if let Some(times) = ratio(all.rate(RANDOM, "poptrie:s=18"), d18r) {
        let text =
            format!("Poptrie18 is {times:.2} times as fast as D18R; in the paper 1.24 times.");
        findings.push(claim(times > 1.0, text));
    }
    if let Some(times) = ratio(all.rate(RANDOM, "poptrie:s=18"), all.rate(RANDOM, "poptrie:s=0")) {
        let text = format!(
            "Direct pointing makes Poptrie faster on IPv6 too: {times:.2} times; in the paper 1.53."
        );
        findings.push(claim(times > 1.0, text));
    }
    let rates = Figure {
        id: format!("poptrie-4-10-{}", named.name),
        title: format!("All engines on IPv6, {}", named.name),
        caption: "Most random addresses of 2000::/3 have no route, and end early; routed ones are \
                  inside of a random route each."
            .into(),
        conditions: conditions.clone(),
        chart: Some(all.chart()),
        table: all.table(),
        findings,
    };
    let sizes = Figure {
        id,
        title: format!("Poptrie on IPv6, {}", named.name),
        caption: "As in the paper's Table 6. Making a random address takes four steps of \
                  xorshift, which are in the rate."
            .into(),
        conditions,
        chart: None,
        table: sizes,
        findings: Vec::new(),
    };
    [sizes, rates]
}

fn sizes(
    desk: &mut Desk<'_>,
    id: &str,
    named: Named<'_, Ipv6>,
    field: &Field<'_, Ipv6>,
    all: &Comparison,
) -> Table {
    let metrics = [
        ("nodes", "", 0),
        ("leaves", "", 0),
        ("memory", "KiB", 0),
        ("compile", "ms", 2),
        ("rate", "Mlps", 1),
    ];
    let mut columns = vec![column("engine", "")];
    for (name, unit, _) in metrics {
        columns.push(column(name, unit));
        columns.push(paper_column(&format!("{name}, paper"), unit));
    }
    let mut rows = Vec::new();
    for (spec, paper) in PAPER {
        let engine = field.engines().find(|(entrant, _)| entrant.spec == spec);
        let memory = engine.and_then(|(_, engine)| engine).map(|engine| engine.memory());
        let part = |name| Some(memory.as_ref()?.part(name)?.count as f64);
        let measured = of(all.trial(RANDOM), spec);
        let values = [
            part("internal nodes"),
            part("leaves"),
            memory.as_ref().map(|memory| memory.bytes() as f64 / 1024.0),
            measured.and_then(|it| it.record()).map(|record| record.build_ms),
        ];
        let mut row = vec![text(spec)];
        for (i, (name, unit, decimals)) in metrics.into_iter().enumerate() {
            if let Some(Some(value)) = values.get(i) {
                desk.count(id, named, spec, (name, unit), *value, Some(paper[i]));
            }
            row.push(match values.get(i) {
                Some(value) => number(*value, decimals),
                None => measured.map_or(Cell::Empty, rate_cell),
            });
            row.push(Cell::Number(paper[i], if i < 3 { 0 } else { 2 }));
        }
        rows.push(row);
    }
    table(columns, rows)
}
