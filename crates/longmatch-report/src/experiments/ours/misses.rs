//! What addresses without a route do to rates.

use crate::desk::{Desk, Entrant, Field, Measured, SEED, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::inputs::{Effort, Named};
use crate::model::{Cell, Figure, Finding};
use crate::show::{
    about_rates, axis, condition, leaders, lines, rate_axis, rate_lines, rate_table, remark,
};
use crate::synthetic::missing;
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;

pub(super) const MISSES: Experiment = Experiment {
    name: "misses",
    aliases: &["miss-rate"],
    source: "ours",
    title: "Addresses without a route",
    about: "Rates with no, some and only addresses that have no route. Routed ones are a random \
            route and random bits below it; the others are random among all addresses outside of \
            all routes.",
    peers: false,
    seconds: |inputs, effort| {
        let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
        let rates = shares(effort).len() * ENGINES.len();
        tables as f64 * (effort.brief(rates) + 0.3 * shares(effort).len() as f64 + 0.6)
    },
    run,
};

const ENGINES: [&str; 6] = ["folio", "poptrie:s=18", "dxr", "dir24_8", "tree_bitmap", "radix"];

/// Percent of addresses without a route.
fn shares(effort: &Effort) -> &'static [usize] {
    if effort.full { &[0, 25, 50, 75, 100] } else { &[0, 50, 100] }
}

/// The first table that leaves random addresses without a route.
fn first<'a, F: BenchFamily>(all: Vec<Named<'a, F>>) -> Option<Named<'a, F>> {
    all.into_iter().find(|named| missing(named.rib, 100, 1, SEED).is_some())
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let (four, six) = (first(desk.inputs.ipv4()), first(desk.inputs.ipv6()));
    let mut figures = Vec::new();
    figures.extend(four.map(|named| figure(desk, named)));
    figures.extend(six.map(|named| figure(desk, named)));
    if figures.is_empty() {
        let why = "needs a table without a route for every address, such as a default route";
        return Err(Absence(why.into()));
    }
    Ok(figures)
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("misses-{}-{}", F::NAME, named.name);
    let field = Field::apart(named, &Entrant::all(&ENGINES));
    desk.step(0.6);
    let setup = desk.brief(Mode::Batch);
    let mut all: Vec<(f64, Vec<Measured>)> = Vec::new();
    let mut conditions = Vec::new();
    for percent in shares(&desk.effort) {
        let traffic = missing(named.rib, *percent, desk.keys::<F>(), SEED);
        let traffic = traffic.expect("this table leaves addresses without a route");
        let heat = desk.heat(&field.race, &traffic).expect("as many keys as were made");
        desk.step(0.3);
        let at = format!("missing={percent}");
        all.push((*percent as f64, desk.measure(&id, &field, &heat, &setup, &at)));
        conditions = about_rates(named.name, &field.race, &heat, &setup);
    }
    conditions.retain(|it| it.name != "traffic");
    conditions.push(condition("traffic", format!("mixed as the axis says, seed {SEED}")));
    let columns: Vec<_> =
        all.iter().map(|(percent, all)| (format!("{percent} % without"), &all[..])).collect();
    let series = rate_lines(&all);
    Figure {
        title: format!("Rates by the share of misses, {}, {}", F::NAME, named.name),
        caption: "Batches; which address is without a route is random, so that branches on it \
                  cannot be predicted in between. Random addresses are all of IPv4, or 2000::/3."
            .into(),
        conditions,
        chart: Some(lines(axis("addresses without a route", "%"), rate_axis(), series)),
        table: rate_table("share of misses", &columns),
        findings: findings(&all),
        id,
    }
}

fn findings(all: &[(f64, Vec<Measured>)]) -> Vec<Finding> {
    let (Some((_, none)), Some((_, only))) = (all.first(), all.last()) else { return Vec::new() };
    let mut findings: Vec<_> = none
        .iter()
        .zip(only)
        .filter(|(none, _)| !matches!(rate_cell(none), Cell::Refused(_)))
        .filter_map(|(none, only)| {
            let times = only.rate()? / none.rate()?;
            let spec = &none.entrant.spec;
            Some(remark(format!(
                "{spec}: {times:.2} times the rate with misses alone as with none."
            )))
        })
        .collect();
    let shares = all.iter().map(|(percent, all)| (format!("{percent} % misses"), &all[..]));
    findings.extend(leaders(&shares.collect::<Vec<_>>()));
    findings
}
