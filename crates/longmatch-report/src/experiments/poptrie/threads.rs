//! Figure 8: several threads in one table.

use longmatch::Ipv4;

use super::PAPER_CPU;
use crate::desk::{Desk, Field, Measured, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::entrant;
use crate::inputs::Named;
use crate::model::{Chart, Figure, Finding, Lines, Point, Series};
use crate::show::{
    about_rates, axis, claim, column, condition, of, rate_axis, rate_lines, ratio, remark, table,
    text,
};
use longmatch_bench::Traffic;

pub(super) const FIGURE_8: Experiment = Experiment {
    name: "poptrie-fig8",
    aliases: &[],
    source: "Poptrie paper, Figure 8",
    title: "Several threads in one table",
    about: "The rate of all threads together when each looks up random addresses of its own in \
            the same table.",
    peers: false,
    seconds: |inputs, effort| {
        inputs.ipv4().len() as f64 * (2.0 * cpus() as f64 * effort.seconds * 1.6 + 1.0)
    },
    run,
};

/// The paper says 914 Mlps with four threads on four cores (section 6).
const PAPER_FOUR: f64 = 914.0;
const PAPER_ONE: f64 = 240.52;

/// The CPUs that this process may use: more threads than these say nothing.
fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    Ok(tables.into_iter().map(|named| figure(desk, named)).collect())
}

fn figure(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("poptrie-fig8-{}", named.name);
    let engines = [("poptrie:s=18", "Poptrie18"), ("folio", "")];
    let field = Field::new(named, &engines.map(entrant));
    desk.step(1.0);
    let heat = desk.heat(&field.race, &Traffic::Random).expect("random traffic has keys");
    let setup = desk.just_in_time();
    let mut series = Vec::new();
    for threads in 1..=cpus() {
        let setup = longmatch_bench::RunConfig { threads, ..setup };
        let at = format!("threads={threads}");
        series.push((threads as f64, desk.measure(&id, &field, &heat, &setup, &at)));
    }
    let mut lines = rate_lines(&series);
    lines.push(paper_line());
    let mut conditions = about_rates(named.name, &field.race, &heat, &setup);
    conditions.retain(|it| it.name != "threads");
    conditions.push(condition("the paper's", format!("Poptrie18, REAL-Tier1-A; {PAPER_CPU}")));
    let rows = series.iter().map(|(threads, all)| {
        let mut row = vec![text(format!("{threads:.0}"))];
        row.extend(all.iter().map(rate_cell));
        row
    });
    let mut columns = vec![column("threads", "")];
    columns.extend(engines.map(|(spec, _)| column(spec, "Mlps")));
    Figure {
        title: format!("Rate by the number of threads, {}", named.name),
        caption: "Each thread stays on a CPU of its own. The paper plots one to four threads; its \
                  text gives the value of four, Table 2 that of one."
            .into(),
        conditions,
        chart: Some(Chart::Lines(Lines {
            x: axis("threads", ""),
            y: rate_axis(),
            series: lines,
            steps: false,
        })),
        table: table(columns, rows.collect()),
        findings: findings(&series),
        id,
    }
}

fn paper_line() -> Series {
    let point = |x, y| Point { x, y, spread: None };
    let points = vec![point(1.0, PAPER_ONE), point(4.0, PAPER_FOUR)];
    Series { name: "poptrie:s=18, paper".into(), dashed: true, points }
}

fn findings(series: &[(f64, Vec<Measured>)]) -> Vec<Finding> {
    let (Some((_, first)), Some((threads, last))) = (series.first(), series.last()) else {
        return Vec::new();
    };
    if *threads < 2.0 {
        return vec![remark("This process may use one CPU only: there is nothing to compare.")];
    }
    let rate = |all: &[Measured]| of(all, "poptrie:s=18").and_then(Measured::rate);
    let times = ratio(rate(last), rate(first)).unwrap_or(0.0);
    let text = format!(
        "The paper's rate grows linearly with the cores (4.4; 3.8 times with four); here {threads:.0} \
         threads are {times:.2} times as fast as one."
    );
    vec![claim(times > 0.85 * threads, text)]
}
