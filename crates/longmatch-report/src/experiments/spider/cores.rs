//! Figure 12: the rate by cores.

use super::{ISP_A, PAPER_CPU, PAPER_TABLES};
use crate::desk::{Desk, Entrant, Field, Measured, SEED};
use crate::experiment::{Absence, Experiment};
use crate::inputs::Named;
use crate::model::{Figure, Finding, Point, Series};
use crate::show::{
    about_rates, axis, claim, condition, lines, rate_axis, rate_lines, rate_table, remark,
};
use crate::synthetic::spider_random;
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;
use longmatch_bench::RunConfig;

pub(super) const FIGURE_12: Experiment = Experiment {
    name: "spider-fig12",
    aliases: &["spider-cores"],
    source: "Spider paper, Figure 12",
    title: "Rates by cores",
    about: "How rates grow with the number of threads, each on a CPU of its own, that look up \
            random addresses in one structure. More threads than CPUs would say nothing.",
    peers: false,
    seconds: |inputs, effort| {
        let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
        tables as f64 * (threads().len() as f64 * effort.usual(5) + 1.5)
    },
    run,
};

const BATCHES: [(&str, &str); 2] = [("spider:lanes=16", "Spider 16w"), ("folio", "")];
const ONE_BY_ONE: [(&str, &str); 3] =
    [("poptrie:s=18", "Poptrie18"), ("dxr:d=18", "D18R"), ("dir24_8", "DIR-24-8")];

/// The paper's values with ISP-A that its text gives: an engine, threads, Mlps.
fn paper<F: BenchFamily>() -> &'static [(&'static str, u32, f64)] {
    match F::WIDTH {
        32 => &[
            ("spider:lanes=16", 1, 318.0),
            ("spider:lanes=16", 16, 5074.0),
            ("poptrie:s=18", 16, 2532.0),
            ("dxr:d=18", 16, 2325.0),
            ("dir24_8", 16, 1680.0),
        ],
        _ => &[
            ("spider:lanes=16", 1, 117.0),
            ("spider:lanes=16", 16, 1857.0),
            ("poptrie:s=18", 16, 496.0),
            ("dir24_8", 16, 823.0),
        ],
    }
}

/// All numbers of threads up to 8, then every power of two, and as many as there are CPUs.
fn threads() -> Vec<usize> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let shown = |count: &usize| *count <= 8 || count.is_power_of_two() || *count == cpus;
    (1..=cpus).filter(shown).collect()
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let (four, six) = (desk.inputs.ipv4(), desk.inputs.ipv6());
    let mut figures = Vec::new();
    figures.extend(four.first().map(|named| figure(desk, *named)));
    figures.extend(six.first().map(|named| figure(desk, *named)));
    if figures.is_empty() {
        return Err(Absence("needs a table of routes".into()));
    }
    desk.cite(&format!("{ISP_A}; {PAPER_CPU}"));
    Ok(figures)
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("spider-fig12-{}-{}", F::NAME, named.name);
    let of = |(spec, alias): &(&'static str, &'static str)| Entrant::new(*spec, *alias);
    let batches: Vec<_> = BATCHES.iter().map(of).collect();
    let one_by_one: Vec<_> = ONE_BY_ONE.iter().map(of).collect();
    let mut fields = [Field::apart(named, &batches), Field::apart(named, &one_by_one)];
    desk.step(1.5);
    let traffic = spider_random(named.rib, desk.keys::<F>(), SEED);
    let heat = desk.heat(&fields[0].race, &traffic).expect("as many keys as were made");
    let mut all: Vec<(f64, Vec<Measured>)> = Vec::new();
    let mut conditions = Vec::new();
    for count in threads() {
        let mut measured = Vec::new();
        for (field, mode) in fields.iter_mut().zip([Mode::Batch, Mode::One]) {
            let papers = paper::<F>().iter().filter(|it| it.1 as usize == count);
            field.set_papers(&papers.map(|it| (it.0, it.2)).collect::<Vec<_>>());
            let setup = RunConfig { threads: count, ..desk.setup(mode) };
            measured.extend(desk.measure(&id, field, &heat, &setup, &format!("threads={count}")));
            conditions = about_rates(named.name, &field.race, &heat, &setup);
        }
        all.push((count as f64, measured));
    }
    conditions.retain(|it| it.name != "lookups" && it.name != "threads");
    conditions.push(condition("lookups", "Spider and Folio in batches, the others one by one"));
    conditions.push(condition(
        "the paper's",
        format!("{PAPER_TABLES}; {PAPER_CPU}; turbo disabled; ISP-A"),
    ));
    let columns: Vec<_> =
        all.iter().map(|(count, all)| (format!("{count} threads"), &all[..])).collect();
    let mut series = rate_lines(&all);
    series.extend(paper_series::<F>());
    Figure {
        title: format!("Rates by threads, {}, {}", F::NAME, named.name),
        caption: "All threads look up the same random addresses, from an array, each from a place \
                  of its own; the rate is that of all together. As the papers have it, Spider \
                  looks up in batches and the others one address after the other. Dashed: what the \
                  paper's text gives."
            .into(),
        conditions,
        chart: Some(lines(axis("threads", ""), rate_axis(), series)),
        table: rate_table("threads", &columns),
        findings: findings(&all),
        id,
    }
}

fn paper_series<F: BenchFamily>() -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (spec, threads, mlps) in paper::<F>() {
        let name = format!("{spec}, paper");
        let point = Point { x: f64::from(*threads), y: *mlps, spread: None };
        match series.iter_mut().find(|it| it.name == name) {
            Some(line) => line.points.push(point),
            None => series.push(Series { name, dashed: true, points: vec![point] }),
        }
    }
    series
}

fn findings(all: &[(f64, Vec<Measured>)]) -> Vec<Finding> {
    let (Some((_, first)), Some((most, last))) = (all.first(), all.last()) else {
        return Vec::new();
    };
    if *most < 2.0 {
        return vec![remark("There is one CPU here, so that there is nothing to compare.")];
    }
    let scaling = first.iter().zip(last).filter_map(|(one, all)| {
        let times = all.rate()? / one.rate()?;
        let spec = &one.entrant.spec;
        let text = format!(
            "{spec} makes {times:.2} times the rate with {most} threads; the paper: all methods \
             scale with the number of cores."
        );
        Some(claim(times >= 0.75 * most, text))
    });
    scaling.collect()
}
