//! Table 2: what leafvec, route aggregation and direct pointing bring.

use longmatch::Ipv4;

use super::{PAPER_CPU, PAPER_TABLE};
use crate::desk::{Desk, Entrant, Field, Measured, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::inputs::Named;
use crate::model::{Column, Figure, Finding};
use crate::show::{
    MIB, about_rates, claim, column, condition, number, of, paper_column, rate_bars, ratio, table,
    text,
};
use longmatch_bench::Traffic;

pub(super) const TABLE_2: Experiment = Experiment {
    name: "poptrie-table2",
    aliases: &[],
    source: "Poptrie paper, Table 2",
    title: "The extensions of Poptrie",
    about: "What compressing leaves (leafvec, 3.3), aggregating routes (3) and direct pointing \
            with s bits (3.4) do to the number of nodes and leaves, to memory, to the time of \
            compiling and to the rate of random lookups.",
    peers: false,
    seconds: |inputs, effort| inputs.ipv4().len() as f64 * (11.0 * effort.seconds * 1.4 + 6.0),
    run,
};

/// A line of the paper's table.
struct Line {
    spec: &'static str,
    alias: &'static str,
    /// Nodes, leaves, MiB, milliseconds, Mlps.
    paper: [Option<f64>; 5],
}

const fn line(spec: &'static str, alias: &'static str, paper: [f64; 5]) -> Line {
    let [nodes, leaves, mib, ms, mlps] = paper;
    let paper = [Some(nodes), Some(leaves), Some(mib), Some(ms), Some(mlps)];
    Line { spec, alias, paper }
}

const LINES: [Line; 10] = [
    Line { spec: "radix", alias: "Radix", paper: [None, None, Some(30.48), None, Some(8.82)] },
    line(
        "poptrie:s=0:basic:unaggregated",
        "basic, s = 0",
        [64_009.0, 4_032_568.0, 8.67, 31.07, 87.71],
    ),
    line(
        "poptrie:s=16:basic:unaggregated",
        "basic, s = 16",
        [172_101.0, 10_862_901.0, 23.60, 64.18, 130.72],
    ),
    line(
        "poptrie:s=18:basic:unaggregated",
        "basic, s = 18",
        [61_282.0, 3_911_422.0, 9.40, 36.06, 170.69],
    ),
    line("poptrie:s=0:unaggregated", "leafvec, s = 0", [64_009.0, 280_673.0, 2.00, 32.60, 89.15]),
    line(
        "poptrie:s=16:unaggregated",
        "leafvec, s = 16",
        [172_101.0, 347_449.0, 4.85, 62.97, 154.33],
    ),
    line(
        "poptrie:s=18:unaggregated",
        "leafvec, s = 18",
        [61_282.0, 265_320.0, 2.91, 33.37, 191.95],
    ),
    line("poptrie:s=0", "Poptrie0", [43_191.0, 263_381.0, 1.49, 32.84, 96.27]),
    line("poptrie:s=16", "Poptrie16", [86_171.0, 274_145.0, 2.75, 65.91, 198.28]),
    line("poptrie:s=18", "Poptrie18", [40_760.0, 245_034.0, 2.40, 33.24, 240.52]),
];

/// What is counted or measured: the name of the metric, its unit, the decimals that are shown.
const METRICS: [(&str, &str, u8); 5] = [
    ("nodes", "", 0),
    ("leaves", "", 0),
    ("memory", "MiB", 2),
    ("compile", "ms", 1),
    ("rate", "Mlps", 1),
];

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let figures = tables.into_iter().map(|named| figure(desk, named)).collect();
    desk.cite(&format!("REAL-Tier1-A; {PAPER_CPU}"));
    Ok(figures)
}

fn figure(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("poptrie-table2-{}", named.name);
    let entrant =
        |line: &Line| Entrant { paper: line.paper[4], ..Entrant::new(line.spec, line.alias) };
    let field = Field::new(named, &LINES.each_ref().map(entrant));
    desk.step(2.0);
    let setup = desk.just_in_time();
    let heat = desk.heat(&field.race, &Traffic::Random).expect("random traffic has keys");
    let measured = desk.measure(&id, &field, &heat, &setup, "");
    let counted = counted(desk, &id, named, &field, &measured);
    let rows = LINES.iter().zip(&measured).zip(&counted).map(|((line, measured), counted)| {
        let mut row = vec![text(line.spec), text(line.alias)];
        for (i, (_, _, decimals)) in METRICS.iter().enumerate() {
            row.push(match i {
                4 => rate_cell(measured),
                _ => number(counted[i], *decimals),
            });
            row.push(number(line.paper[i], *decimals));
        }
        row
    });
    let mut conditions = about_rates(named.name, &field.race, &heat, &setup);
    conditions.push(condition("the paper's", format!("{PAPER_TABLE}; {PAPER_CPU}")));
    Figure {
        title: format!("Nodes, leaves, memory, compilation and rate, {}", named.name),
        caption: "Nodes, leaves and bytes are counted in the compiled structure; direct pointing \
                  entries are in the memory. Compiling starts from the RIB, where the paper's \
                  starts from its radix tree, and includes route aggregation."
            .into(),
        conditions,
        chart: Some(rate_bars([(String::new(), &measured[..])])),
        table: table(columns(), rows.collect()),
        findings: findings(&measured, &counted),
        id,
    }
}

fn columns() -> Vec<Column> {
    let mut columns = vec![column("engine", ""), column("the paper's name", "")];
    for (name, unit, _) in METRICS {
        columns.push(column(name, unit));
        columns.push(paper_column(&format!("{name}, paper"), unit));
    }
    columns
}

/// Nodes, leaves, MiB and milliseconds of each engine; noted as well.
fn counted(
    desk: &mut Desk<'_>,
    figure: &str,
    named: Named<'_, Ipv4>,
    field: &Field<'_, Ipv4>,
    measured: &[Measured],
) -> Vec<[Option<f64>; 4]> {
    let mut all = Vec::new();
    for (((entrant, engine), measured), line) in field.engines().zip(measured).zip(&LINES) {
        let memory = engine.map(|engine| engine.memory());
        let part = |name| Some(memory.as_ref()?.part(name)?.count as f64);
        let counted = [
            part("internal nodes"),
            part("leaves"),
            memory.as_ref().map(|memory| memory.bytes() as f64 / MIB),
            measured.record().map(|record| record.build_ms),
        ];
        for ((value, paper), (metric, unit, _)) in counted.iter().zip(line.paper).zip(METRICS) {
            if let Some(value) = value {
                desk.count(figure, named, &entrant.spec, (metric, unit), *value, paper);
            }
        }
        all.push(counted);
    }
    all
}

fn findings(measured: &[Measured], counted: &[[Option<f64>; 4]]) -> Vec<Finding> {
    let rate = |spec| of(measured, spec).and_then(Measured::rate);
    let mut findings = Vec::new();
    if let Some(times) = ratio(rate("poptrie:s=18"), rate("poptrie:s=0")) {
        let text = format!(
            "Poptrie18 looks up {times:.1} times as fast as Poptrie0; the paper has it double the \
             rate (4.3): 2.5 times."
        );
        findings.push(claim(times >= 2.0, text));
    }
    // From basic (lines 1 to 3) to leafvec (4 to 6) and to all extensions (7 to 9).
    let saved = |from: usize, to: usize| {
        let shares = (0..3)
            .filter_map(|i| Some(100.0 * (1.0 - counted[to + i][2]? / counted[from + i][2]?)));
        let shares: Vec<f64> = shares.collect();
        let lowest = shares.iter().copied().fold(f64::INFINITY, f64::min);
        (lowest, shares.iter().copied().fold(0.0, f64::max))
    };
    let ((low, high), (lower, higher)) = (saved(1, 4), saved(1, 7));
    let text = format!(
        "leafvec reduces memory by {low:.0} to {high:.0} % (paper: 69 to 79 %), with route \
         aggregation by {lower:.0} to {higher:.0} % (paper: 74 to 88 %)."
    );
    findings.push(claim(low >= 60.0, text));
    findings
}
