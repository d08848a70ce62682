//! Figure 10 and Table 2: cycles of an iteration.

use longmatch::Ipv4;

use super::{ISP_A, PAPER_CPU};
use crate::desk::{Desk, Entrant, Field, row_about};
use crate::distribution::{Ticks, time};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::entrant;
use crate::experiments::poptrie::cycles::about_cycles;
use crate::inputs::Named;
use crate::model::{Cell, Chart, Figure, Finding, Lines, Row};
use crate::show::{about_table, axis, claim, column, condition, number, paper_column, table, text};
use longmatch_bench::Iteration;

pub(super) const FIGURE_10: Experiment = Experiment {
    name: "spider-fig10",
    aliases: &["spider-table2"],
    source: "Spider paper, Figure 10 and Table 2",
    title: "Cycles of an iteration",
    about: "How long one iteration takes: one lookup of Poptrie and DXR, sixteen of Spider, which \
            looks them up together; and sixteen of ours.",
    peers: false,
    seconds: |inputs, effort| {
        inputs.ipv4().len() as f64 * (4.0 * effort.cycles as f64 * 160e-9 + 2.0)
    },
    run,
};

const ENGINES: [(&str, &str); 4] = [
    ("poptrie:s=18", "Poptrie18"),
    ("dxr:d=18", "D18R"),
    ("spider:lanes=16", "Spider 16w"),
    ("folio", ""),
];
/// Mean, 50th, 75th, 90th and 99th percentile.
const PAPER: [(&str, [f64; 5]); 3] = [
    ("poptrie:s=18", [60.69, 58.0, 58.0, 60.0, 172.0]),
    ("dxr:d=18", [54.24, 52.0, 52.0, 54.0, 186.0]),
    ("spider:lanes=16", [200.27, 192.0, 214.0, 238.0, 352.0]),
];
const SHARES: [(&str, f64); 4] = [("50th", 0.5), ("75th", 0.75), ("90th", 0.9), ("99th", 0.99)];
/// Addresses that are looked up together.
const TOGETHER: usize = 16;
/// Where the plot ends.
const UP_TO: f64 = 600.0;

fn iteration(entrant: &Entrant) -> Iteration {
    match &entrant.spec[..] {
        "spider:lanes=16" | "folio" => Iteration::Batch(TOGETHER),
        _ => Iteration::One,
    }
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let figures = tables.into_iter().map(|named| figure(desk, named)).collect();
    desk.cite(&format!("{ISP_A}; {PAPER_CPU}"));
    Ok(figures)
}

fn figure(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("spider-fig10-{}", named.name);
    let field = Field::new(named, &ENGINES.map(entrant));
    desk.step(2.0);
    let count = desk.effort.cycles;
    let seconds = count as f64 * 160e-9;
    let (counter, timed) = time(&field, &iteration, count, &mut || desk.step(seconds));
    let all: Vec<_> =
        timed.iter().map(|it| (it, Ticks::count(counter, it.ticks.iter().copied()))).collect();
    let mut rows = Vec::new();
    for (timed, ticks) in &all {
        let spec = &timed.entrant.spec[..];
        let paper = PAPER.iter().find(|it| it.0 == spec).map(|it| it.1);
        let addresses = match timed.iteration {
            Iteration::One => 1,
            Iteration::Batch(batch) => batch,
        };
        let mut row =
            vec![text(spec), text(&timed.entrant.alias[..]), Cell::Count(addresses as u64)];
        let shares = SHARES.map(|(name, share)| (name, ticks.percentile(share)));
        for (i, (name, value)) in [("mean", ticks.mean())].into_iter().chain(shares).enumerate() {
            let paper = paper.map(|values| values[i]);
            row.push(Cell::Number(value, u8::from(i == 0)));
            row.push(number(paper, if i == 0 { 2 } else { 0 }));
            desk.note(Row {
                figure: id.clone(),
                engine: spec.into(),
                traffic: "random".into(),
                mode: if addresses == 1 { "dependent" } else { "batch" }.into(),
                batch: addresses as u64,
                threads: 1,
                at: name.into(),
                metric: "cycles of an iteration".into(),
                unit: "cycles".into(),
                value: Some(value),
                paper,
                ..row_about(named.name, named.rib)
            });
        }
        row.push(Cell::Number(ticks.mean() / addresses as f64, 1));
        rows.push(row);
    }
    let mut columns =
        vec![column("engine", ""), column("the paper's name", ""), column("addresses", "")];
    for name in ["mean", "50th", "75th", "90th", "99th"] {
        columns.push(column(name, "cycles"));
        columns.push(paper_column(&format!("{name}, paper"), "cycles"));
    }
    columns.push(column("mean per address", "cycles"));
    let mut conditions = vec![about_table(named.name, &field.race)];
    conditions.extend(about_cycles(&counter, count));
    conditions.push(condition("the paper's", "an ISP's table of 2019; Intel Xeon Gold 6130"));
    let lines = all.iter().map(|(it, ticks)| ticks.distribution(&it.entrant.spec, UP_TO));
    Figure {
        title: format!("Distribution of cycles per iteration, {}", named.name),
        caption: "An iteration begins when everything before it has ended. Addresses: how many \
                  one iteration looks up."
            .into(),
        conditions,
        chart: Some(Chart::Lines(Lines {
            x: axis("cycles", ""),
            y: axis("share of iterations", ""),
            series: lines.collect(),
            steps: true,
        })),
        findings: findings(
            &all.iter().map(|(it, t)| (&it.entrant.spec[..], t)).collect::<Vec<_>>(),
        ),
        table: table(columns, rows),
        id,
    }
}

fn findings(all: &[(&str, &Ticks)]) -> Vec<Finding> {
    let mean = |spec| all.iter().find(|(name, _)| *name == spec).map(|(_, ticks)| ticks.mean());
    let (Some(spider), Some(poptrie)) = (mean("spider:lanes=16"), mean("poptrie:s=18")) else {
        return Vec::new();
    };
    let times = spider / poptrie;
    let text = format!(
        "An iteration of Spider takes {times:.1} times as long as one of Poptrie18, for sixteen \
         addresses; in the paper 3.3 times, and it says four or more."
    );
    vec![claim((1.0..16.0).contains(&times), text)]
}
