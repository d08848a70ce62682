//! Figure 6: the rate by parallelism.

use super::{ISP_A, PAPER_CPU, PAPER_TABLES};
use crate::desk::{Desk, Entrant, Field, Measured, SEED, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::inputs::Named;
use crate::model::{Cell, Figure, Finding, Point, Series};
use crate::show::{
    about_rates, claim, column, condition, level, like, lines, log_axis, number, paper_column,
    rate_axis, rate_point, ratio, table, text,
};
use crate::synthetic::spider_random;
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;

pub(super) const FIGURE_6: Experiment = Experiment {
    name: "spider-fig6",
    aliases: &["spider-parallelism"],
    source: "Spider paper, Figure 6",
    title: "Spider's rate by parallelism",
    about: "How the rate of Spider grows with the addresses that are looked up at the same time in \
            the lanes of vectors, from 1 to 16, with random traffic.",
    peers: false,
    seconds: |inputs, effort| {
        let tables = inputs.ipv4().len() + inputs.ipv6().len();
        tables as f64 * (effort.usual(7) + 0.5)
    },
    run,
};

/// The numbers of lanes that Spider's kernels have here.
const LANES: [u32; 5] = [1, 2, 4, 8, 16];
/// Engines that stand beside it.
const OTHERS: [&str; 2] = ["poptrie:s=18", "folio"];

/// What the paper's text says of ISP-A: Mlps with 16 lanes, times the rate with one.
fn paper<F: BenchFamily>() -> (f64, f64) {
    if F::WIDTH == 32 { (516.0, 6.9) } else { (188.0, 8.2) }
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let (four, six) = (desk.inputs.ipv4(), desk.inputs.ipv6());
    let mut figures: Vec<_> = four.into_iter().map(|named| figure(desk, named)).collect();
    figures.extend(six.into_iter().map(|named| figure(desk, named)));
    if figures.is_empty() {
        return Err(Absence("needs a table of routes".into()));
    }
    desk.cite(&format!("{ISP_A}; {PAPER_CPU}"));
    Ok(figures)
}

fn lanes(count: u32) -> String {
    format!("spider:lanes={count}")
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("spider-fig6-{}-{}", F::NAME, named.name);
    let paper = |count: u32| (count == 16).then_some(paper::<F>().0);
    let spider = |count: &u32| Entrant { paper: paper(*count), ..Entrant::new(lanes(*count), "") };
    let mut entrants: Vec<_> = LANES.iter().map(spider).collect();
    entrants.extend(OTHERS.map(|spec| Entrant::new(spec, "")));
    let field = Field::apart(named, &entrants);
    desk.step(0.5);
    let traffic = spider_random(named.rib, desk.keys::<F>(), SEED);
    let heat = desk.heat(&field.race, &traffic).expect("as many keys as were made");
    let setup = desk.setup(Mode::Batch);
    let measured = desk.measure(&id, &field, &heat, &setup, "");
    let mut conditions = about_rates(named.name, &field.race, &heat, &setup);
    conditions.push(condition("the paper's", format!("{PAPER_TABLES}; {PAPER_CPU}")));
    let rows = measured.iter().map(|it| {
        let paper = match it.entrant.paper {
            Some(mlps) => number(Some(mlps), 0),
            None => Cell::Empty,
        };
        vec![text(&it.entrant.spec), rate_cell(it), paper]
    });
    let columns =
        vec![column("engine", ""), column("rate", "Mlps"), paper_column("ISP-A, paper", "Mlps")];
    Figure {
        title: format!("Rate by lanes, {}, {}", F::NAME, named.name),
        caption: "Keys come from an array, as batches have none made just before a lookup; the \
                  paper makes them just in time, and that is in its rates. IPv4 addresses are \
                  uniformly random; those of IPv6 are the paper's: the first 32 bits of a random \
                  route, 32 random bits, ::1. Dashed: Poptrie and Folio in batches of the same \
                  size, which have no such lanes to vary; and the paper's Spider with 16 lanes, the \
                  one point that its text gives."
            .into(),
        conditions,
        chart: Some(lines(log_axis("lanes", ""), rate_axis(), series::<F>(&measured))),
        table: table(columns, rows.collect()),
        findings: findings::<F>(&measured),
        id,
    }
}

fn series<F: BenchFamily>(measured: &[Measured]) -> Vec<Series> {
    let points = LANES
        .iter()
        .filter_map(|count| rate_point(f64::from(*count), like(measured, &lanes(*count))?));
    let spider = Series { name: "spider".into(), dashed: false, points: points.collect() };
    let others = OTHERS
        .iter()
        .filter_map(|spec| Some(level(spec, like(measured, spec)?.rate()?, [1.0, 16.0])));
    let paper = Series {
        name: "spider:lanes=16, paper".into(),
        dashed: true,
        points: vec![Point { x: 16.0, y: paper::<F>().0, spread: None }],
    };
    core::iter::once(spider).chain(others).chain([paper]).collect()
}

fn findings<F: BenchFamily>(measured: &[Measured]) -> Vec<Finding> {
    let rate = |spec: &str| like(measured, spec).and_then(Measured::rate);
    let (_, paper_times) = paper::<F>();
    let mut findings = Vec::new();
    if let Some(times) = ratio(rate("spider:lanes=16"), rate("spider:lanes=1")) {
        let text = format!(
            "16 lanes look up {times:.1} times as fast as one; in the paper {paper_times} times \
             (ISP-A)."
        );
        findings.push(claim(times >= 2.0, text));
    }
    if let Some(times) = ratio(rate("spider:lanes=16"), rate("poptrie:s=18")) {
        let text = format!(
            "Spider with 16 lanes is {times:.2} times as fast as Poptrie18 in batches; the paper: \
             with 8 lanes or more it outperforms the others, which it measures one by one."
        );
        findings.push(claim(times > 1.0, text));
    }
    findings
}
