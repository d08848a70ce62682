//! How large a batch has to be.

use crate::desk::{Desk, Entrant, Field, Measured};
use crate::experiment::{Absence, Experiment};
use crate::inputs::{Effort, Named};
use crate::model::{Figure, Finding};
use crate::show::{
    about_rates, condition, leaders, lines, log_axis, rate_axis, rate_lines, rate_table, remark,
};
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;
use longmatch_bench::RunConfig;
use longmatch_bench::Traffic;

pub(super) const BATCH_SIZE: Experiment = Experiment {
    name: "batch-size",
    aliases: &["batches"],
    source: "ours",
    title: "Rates by batch size",
    about: "How many addresses have to be handed over at once until an engine looks up at its full \
            rate. A batch of one is a call for each address.",
    peers: false,
    seconds: |inputs, effort| {
        let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
        tables as f64 * (effort.brief(sizes(effort).len() * ENGINES.len()) + 0.7)
    },
    run,
};

const ENGINES: [&str; 5] = ["folio", "poptrie:s=18", "dxr", "spider", "dir24_8"];

fn sizes(effort: &Effort) -> &'static [usize] {
    match effort.full {
        true => &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096],
        false => &[1, 8, 32, 128, 512, 4096],
    }
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let (four, six) = (desk.inputs.ipv4(), desk.inputs.ipv6());
    let mut figures = Vec::new();
    figures.extend(four.first().map(|named| figure(desk, *named)));
    figures.extend(six.first().map(|named| figure(desk, *named)));
    if figures.is_empty() {
        return Err(Absence("needs a table of routes".into()));
    }
    Ok(figures)
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("batch-size-{}-{}", F::NAME, named.name);
    let field = Field::apart(named, &Entrant::all(&ENGINES));
    let heat = desk.heat(&field.race, &Traffic::Routed).expect("routed traffic has keys");
    desk.step(0.7);
    let mut all: Vec<(f64, Vec<Measured>)> = Vec::new();
    let mut conditions = Vec::new();
    for batch in sizes(&desk.effort) {
        let setup = RunConfig { batch: *batch, ..desk.brief(Mode::Batch) };
        all.push((*batch as f64, desk.measure(&id, &field, &heat, &setup, "")));
        conditions = about_rates(named.name, &field.race, &heat, &setup);
    }
    conditions.retain(|it| it.name != "lookups");
    conditions.push(condition("lookups", "in batches of the sizes that the axis says"));
    let columns: Vec<_> = all.iter().map(|(size, all)| (size.to_string(), &all[..])).collect();
    let series = rate_lines(&all);
    Figure {
        title: format!("Rates by batch size, {}, {}", F::NAME, named.name),
        caption:
            "Routed addresses from an array; answers are written to an array of the size of a \
                  batch, again and again."
                .into(),
        conditions,
        chart: Some(lines(log_axis("addresses in a batch", ""), rate_axis(), series)),
        table: rate_table("batch size", &columns),
        findings: findings(&all, &columns),
        id,
    }
}

fn findings(all: &[(f64, Vec<Measured>)], columns: &[(String, &[Measured])]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for line in rate_lines(all) {
        let best = line.points.iter().map(|it| it.y).fold(0.0, f64::max);
        if let Some(near) = line.points.iter().find(|it| it.y >= 0.9 * best) {
            findings.push(remark(format!(
                "{} is within 10 % of its best rate, {best:.0} Mlps, from batches of {} on.",
                line.name, near.x
            )));
        }
    }
    let sizes = columns.iter().map(|(size, all)| (format!("batches of {size}"), *all));
    findings.extend(leaders(&sizes.collect::<Vec<_>>()));
    findings
}
