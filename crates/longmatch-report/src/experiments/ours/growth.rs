//! What becomes of rates and memory when the table grows.

use crate::desk::{Desk, Entrant, Field, Measured, SEED};
use crate::experiment::{Absence, Experiment};
use crate::inputs::{Effort, Named};
use crate::model::{Cell, Condition, Figure, Finding, Point, Series, Table};
use crate::scaled::{Growth, thinned};
use crate::show::{
    MIB, about_rates, column, leaders, like, lines, log_axis, plural, rate_axis, rate_lines,
    rate_table, remark, table, text, thousands,
};
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;
use longmatch_bench::Traffic;

pub(super) const GROWTH: Experiment = Experiment {
    name: "growth",
    aliases: &["table-growth"],
    source: "ours",
    title: "Growing tables",
    about: "From an eighth of the routes to eight times as many: rates and memory. Smaller tables \
            have a random part of the routes. Larger ones have all of them and more specific ones \
            below them, as deaggregation makes them: lengths and the share of next hops like \
            that of the route above are those of the table.",
    peers: false,
    seconds: |inputs, effort| {
        let first = |four: Option<usize>, six: Option<usize>| four.unwrap_or(0) + six.unwrap_or(0);
        let routes = first(
            inputs.ipv4().first().map(|it| it.rib.len()),
            inputs.ipv6().first().map(|it| it.rib.len()),
        );
        let all: f64 = factors(effort).iter().sum();
        let families = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
        routes as f64 * all * PER_ROUTE
            + effort.brief(families * factors(effort).len() * ENGINES.len())
    },
    run,
};

const ENGINES: [&str; 7] =
    ["folio", "poptrie:s=18", "dxr", "dir24_8", "tree_bitmap", "radix", "spider"];
/// An engine that takes more memory than this with one size is left out of larger ones.
const TOO_MUCH: usize = 256 << 20;
/// Seconds for each route of each table: growing, compiling with all engines, the oracle.
const PER_ROUTE: f64 = 2.0e-6;

/// The sizes, as parts or multiples of the table.
fn factors(effort: &Effort) -> &'static [f64] {
    if effort.full { &[0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0] } else { &[0.25, 1.0, 4.0] }
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let (four, six) = (desk.inputs.ipv4(), desk.inputs.ipv6());
    let mut figures = Vec::new();
    if let Some(named) = four.first() {
        figures.extend(both(desk, *named));
    }
    if let Some(named) = six.first() {
        figures.extend(both(desk, *named));
    }
    if figures.is_empty() {
        return Err(Absence("needs a table of routes".into()));
    }
    Ok(figures)
}

/// What was measured of one size.
struct Size {
    factor: f64,
    routes: usize,
    measured: Vec<Measured>,
}

fn both<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> [Figure; 2] {
    let id = format!("growth-{}-{}", F::NAME, named.name);
    let mut growth = Growth::new(named.rib, SEED);
    let mut sizes: Vec<Size> = Vec::new();
    let mut conditions = Vec::new();
    let mut engines = ENGINES.to_vec();
    for factor in factors(&desk.effort) {
        let wanted = (named.rib.len() as f64 * factor).round() as usize;
        let thin = (*factor < 1.0).then(|| thinned(named.rib, wanted, SEED));
        let rib = thin.as_ref().unwrap_or_else(|| growth.to(wanted));
        let (size, about) = measure(desk, &id, Named { rib, ..named }, *factor, &engines);
        if *factor == 1.0 {
            conditions = about;
        }
        engines.retain(|spec| !is_too_much(&size, spec));
        sizes.push(size);
    }
    let findings = findings(named.rib.len(), &sizes);
    [
        rates(format!("{id}-rate"), named, &sizes, conditions.clone(), findings),
        memory(format!("{id}-memory"), named, &sizes, conditions),
    ]
}

fn is_too_much(size: &Size, spec: &str) -> bool {
    let record = like(&size.measured, spec).and_then(Measured::record);
    record.is_some_and(|record| record.bytes > TOO_MUCH)
}

fn measure<F: BenchFamily>(
    desk: &mut Desk<'_>,
    id: &str,
    named: Named<'_, F>,
    factor: f64,
    engines: &[&str],
) -> (Size, Vec<Condition>) {
    let field = Field::apart(named, &Entrant::all(engines));
    let heat = desk.heat(&field.race, &Traffic::Routed).expect("routed traffic has keys");
    desk.step(named.rib.len() as f64 * PER_ROUTE);
    let setup = desk.brief(Mode::Batch);
    let at = format!("size={factor}");
    let measured = desk.measure(&format!("{id}-rate"), &field, &heat, &setup, &at);
    for measured in &measured {
        if let Some(record) = measured.record() {
            let (spec, bytes) = (&measured.entrant.spec, record.bytes as f64);
            desk.count(&format!("{id}-memory"), named, spec, ("bytes", "B"), bytes, None);
        }
    }
    let about = about_rates(named.name, &field.race, &heat, &setup);
    (Size { factor, routes: named.rib.len(), measured }, about)
}

fn rates<F: BenchFamily>(
    id: String,
    named: Named<'_, F>,
    sizes: &[Size],
    conditions: Vec<Condition>,
    findings: Vec<Finding>,
) -> Figure {
    let series: Vec<_> = sizes.iter().map(|it| (it.routes as f64, it.measured.clone())).collect();
    let columns: Vec<_> =
        sizes.iter().map(|it| (plural(it.routes, "route"), &it.measured[..])).collect();
    Figure {
        title: format!("Rates by routes, {}, {}", F::NAME, named.name),
        caption: "Batches of routed addresses: each a random route of the table of that size and \
                  random bits below it. A wider variant stands in for an engine that refuses a \
                  size. Conditions are those of the table itself."
            .into(),
        conditions,
        chart: Some(lines(log_axis("routes", ""), rate_axis(), rate_lines(&series))),
        table: rate_table("routes", &columns),
        findings,
        id,
    }
}

fn memory<F: BenchFamily>(
    id: String,
    named: Named<'_, F>,
    sizes: &[Size],
    conditions: Vec<Condition>,
) -> Figure {
    let mut series: Vec<Series> = Vec::new();
    for size in sizes {
        for (measured, bytes) in
            size.measured.iter().filter_map(|it| Some((it, it.record()?.bytes)))
        {
            let name = &measured.entrant.spec;
            let point = Point { x: size.routes as f64, y: bytes as f64 / MIB, spread: None };
            match series.iter_mut().find(|line| line.name == *name) {
                Some(line) => line.points.push(point),
                None => {
                    let (name, points) = (name.clone(), vec![point]);
                    series.push(Series { name, dashed: false, points });
                }
            }
        }
    }
    Figure {
        title: format!("Memory by routes, {}, {}", F::NAME, named.name),
        caption: "Bytes of the compiled structures, of the same tables.".into(),
        conditions: conditions.into_iter().filter(|it| it.name == "table").collect(),
        chart: Some(lines(log_axis("routes", ""), log_axis("memory", "MiB"), series)),
        table: memory_table(sizes),
        findings: Vec::new(),
        id,
    }
}

/// A row for each engine and size.
fn memory_table(sizes: &[Size]) -> Table {
    let mut rows = Vec::new();
    for size in sizes {
        for measured in &size.measured {
            let mut row = vec![Cell::Count(size.routes as u64), text(&measured.entrant.spec)];
            row.extend(match &measured.result {
                Err(why) => [Cell::Refused(why.clone()), Cell::Empty],
                Ok(record) => {
                    let bytes = record.bytes as f64;
                    let per_route = bytes / size.routes.max(1) as f64;
                    [Cell::Number(bytes / MIB, 2), Cell::Number(per_route, 2)]
                }
            });
            rows.push(row);
        }
    }
    let columns = vec![
        column("routes", ""),
        column("engine", ""),
        column("memory", "MiB"),
        column("a route", "B"),
    ];
    table(columns, rows)
}

fn findings(routes: usize, sizes: &[Size]) -> Vec<Finding> {
    let largest = sizes.last().map_or(0.0, |it| it.factor);
    let mut findings = Vec::new();
    for size in sizes {
        let wanted = (routes as f64 * size.factor).round() as usize;
        if size.routes < wanted {
            findings.push(remark(format!(
                "Growing ended at {} of {}: there was no room left below the routes.",
                plural(size.routes, "route"),
                thousands(wanted as u64)
            )));
        }
        let left_out = ENGINES.iter().filter(|spec| is_too_much(size, spec));
        let left_out: Vec<_> = left_out.copied().collect();
        if !left_out.is_empty() && size.factor < largest {
            findings.push(remark(format!(
                "{} left out of tables of more than {}: more than {} MiB here.",
                left_out.join(", "),
                plural(size.routes, "route"),
                TOO_MUCH >> 20
            )));
        }
        for refused in size.measured.iter().filter(|it| it.record().is_none()) {
            let Err(why) = &refused.result else { continue };
            let spec = &refused.entrant.spec;
            let routes = plural(size.routes, "route");
            findings.push(remark(format!("{spec} refuses {routes}: {why}.")));
        }
    }
    let columns = sizes.iter().map(|it| (plural(it.routes, "route"), &it.measured[..]));
    findings.extend(leaders(&columns.collect::<Vec<_>>()));
    findings
}
