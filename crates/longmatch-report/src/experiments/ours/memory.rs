//! Memory against routes, of every engine.

use longmatch::{EngineKind, EngineSpec, Fib};

use crate::desk::{Desk, SEED};
use crate::experiment::{Absence, Experiment};
use crate::inputs::Named;
use crate::model::{Cell, Figure, Finding, Point, Series};
use crate::scaled::thinned;
use crate::show::{MIB, column, condition, lines, log_axis, plural, remark, table, text};
use longmatch_bench::BenchFamily;

pub(super) const MEMORY: Experiment = Experiment {
    name: "memory",
    aliases: &["memory-by-routes"],
    source: "ours",
    title: "Memory by routes",
    about: "Bytes of every engine's structure for each table and for random parts of it, counted.",
    peers: false,
    seconds: |inputs, _| {
        let four = inputs.ipv4().iter().map(|it| it.rib.len()).sum::<usize>();
        let six = inputs.ipv6().iter().map(|it| it.rib.len()).sum::<usize>();
        PER_ROUTE * (four + six) as f64
    },
    run,
};

/// Parts of each table.
const PARTS: [f64; 4] = [0.125, 0.25, 0.5, 1.0];
/// Seconds for each route of a table, all parts and engines together.
const PER_ROUTE: f64 = 2.0e-6;

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let (four, six) = (desk.inputs.ipv4(), desk.inputs.ipv6());
    let mut figures: Vec<_> = four.into_iter().map(|named| figure(desk, named)).collect();
    figures.extend(six.into_iter().map(|named| figure(desk, named)));
    if figures.is_empty() {
        return Err(Absence("needs a table of routes".into()));
    }
    Ok(figures)
}

/// An engine's bytes for a part of the table, or why it refuses it.
struct Taken {
    spec: String,
    routes: usize,
    bytes: Result<usize, String>,
}

/// Every engine that is no oracle. Behind one that refuses the table stands its narrowest wider
/// variant that holds it.
fn all<F: BenchFamily>(named: Named<'_, F>) -> Vec<Taken> {
    let routes = named.rib.len();
    let bytes = |spec: &EngineSpec| {
        let fib = Fib::compile(named.rib, spec.clone()).map_err(|why| why.to_string())?;
        Ok(fib.memory_usage().bytes())
    };
    let mut taken = Vec::new();
    let kinds = EngineKind::ALL.into_iter().filter(|kind| !kind.is_oracle() && F::has(*kind));
    for spec in kinds.map(EngineSpec::from) {
        let own = bytes(&spec);
        let wider = if own.is_err() { spec.wider() } else { Vec::new() };
        taken.push(Taken { spec: spec.to_string(), routes, bytes: own });
        let found = wider.iter().find_map(|spec| Some((spec.to_string(), bytes(spec).ok()?)));
        taken.extend(found.map(|(spec, bytes)| Taken { spec, routes, bytes: Ok(bytes) }));
    }
    taken
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("memory-{}-{}", F::NAME, named.name);
    let mut taken = Vec::new();
    for part in PARTS {
        let thin = (part < 1.0)
            .then(|| thinned(named.rib, (named.rib.len() as f64 * part).round() as usize, SEED));
        let named = Named { rib: thin.as_ref().unwrap_or(named.rib), ..named };
        let own = all(named);
        for it in &own {
            if let Ok(bytes) = it.bytes {
                desk.count(&id, named, &it.spec, ("bytes", "B"), bytes as f64, None);
            }
        }
        taken.extend(own);
        desk.step(PER_ROUTE * named.rib.len() as f64 / PARTS.iter().sum::<f64>());
    }
    let columns = vec![
        column("routes", ""),
        column("engine", ""),
        column("memory", "B"),
        column("a route", "B"),
    ];
    let rows = taken.iter().map(|it| {
        let mut row = vec![Cell::Count(it.routes as u64), text(&it.spec)];
        row.extend(match &it.bytes {
            Err(why) => [Cell::Refused(why.clone()), Cell::Empty],
            Ok(bytes) => {
                let a_route = *bytes as f64 / it.routes.max(1) as f64;
                [Cell::Count(*bytes as u64), Cell::Number(a_route, 2)]
            }
        });
        row
    });
    Figure {
        title: format!("Memory by routes, {}, {}", F::NAME, named.name),
        caption: "Counted in the compiled structures, with each engine's default options. Smaller \
                  tables are random parts of the table."
            .into(),
        conditions: vec![condition("table", named.name)],
        table: table(columns, rows.collect()),
        chart: Some(lines(log_axis("routes", ""), log_axis("memory", "MiB"), series(&taken))),
        findings: findings(named.rib.len(), &taken),
        id,
    }
}

fn series(taken: &[Taken]) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (it, bytes) in taken.iter().filter_map(|it| Some((it, *it.bytes.as_ref().ok()?))) {
        let point = Point { x: it.routes as f64, y: bytes as f64 / MIB, spread: None };
        match series.iter_mut().find(|line| line.name == it.spec) {
            Some(line) => line.points.push(point),
            None => {
                let (name, points) = (it.spec.clone(), vec![point]);
                series.push(Series { name, dashed: false, points });
            }
        }
    }
    series
}

fn findings(routes: usize, taken: &[Taken]) -> Vec<Finding> {
    let held = taken.iter().filter(|it| it.routes == routes);
    let mut held: Vec<_> =
        held.filter_map(|it| Some((*it.bytes.as_ref().ok()?, &it.spec))).collect();
    held.sort_unstable();
    let text = |(bytes, spec): &(usize, &String)| {
        format!("{spec} {:.2} bytes", *bytes as f64 / routes.max(1) as f64)
    };
    let all: Vec<_> = held.iter().map(text).collect();
    let routes = plural(routes, "route");
    vec![remark(format!("A route of {routes} takes, smallest first: {}.", all.join(", ")))]
}
