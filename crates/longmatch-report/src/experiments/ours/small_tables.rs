//! Small tables: where the simple engines stand.

use crate::desk::{Desk, Entrant, Field, Measured, SEED, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::inputs::{Effort, Named};
use crate::model::{Cell, Condition, Figure, Finding};
use crate::scaled::{renumbered, thinned};
use crate::show::{
    about_rates, column, condition, fastest, lines, log_axis, number, plural, rate_axis,
    rate_lines, remark, table, text,
};
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;
use longmatch_bench::Traffic;

pub(super) const SMALL_TABLES: Experiment = Experiment {
    name: "small-tables",
    aliases: &[],
    source: "ours",
    title: "Small tables",
    about: "Ten to a hundred thousand routes, a random part of the table: rates one by one and in \
            batches, the time of compiling, and memory. The papers' engines are made for full \
            tables; a simple trie has its place here.",
    peers: false,
    seconds: |inputs, effort| {
        let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
        let (sizes, engines) = (sizes(effort).len(), ENGINES.len());
        tables as f64 * (effort.brief(2 * sizes * engines) + 0.3 * sizes as f64)
    },
    run,
};

const ENGINES: [&str; 6] = ["radix", "tree_bitmap", "poptrie", "dxr", "folio", "dir24_8"];
/// Tries without tables that are indexed directly.
const SIMPLE: [&str; 2] = ["radix", "tree_bitmap"];

fn sizes(effort: &Effort) -> &'static [usize] {
    if effort.full { &[10, 100, 1000, 10_000, 100_000] } else { &[10, 1000, 100_000] }
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

/// What was measured of one size.
struct Size {
    routes: usize,
    one: Vec<Measured>,
    batch: Vec<Measured>,
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("small-tables-{}-{}", F::NAME, named.name);
    let mut all: Vec<Size> = Vec::new();
    let mut conditions = Vec::new();
    for routes in sizes(&desk.effort) {
        let rib = renumbered(&thinned(named.rib, *routes, SEED));
        if all.last().is_some_and(|it| it.routes == rib.len()) {
            break;
        }
        let (size, about) = measure(desk, &id, Named { rib: &rib, ..named });
        all.push(size);
        conditions = about;
    }
    conditions.retain(|it| it.name != "table" && it.name != "lookups");
    conditions.push(condition("table", format!("parts of {}", named.name)));
    let series: Vec<_> = all.iter().map(|it| (it.routes as f64, it.batch.clone())).collect();
    let columns = vec![
        column("routes", ""),
        column("engine", ""),
        column("one by one", "Mlps"),
        column("batches", "Mlps"),
        column("compile", "ms"),
        column("memory", "B"),
    ];
    let rows = all.iter().flat_map(rows).collect();
    Figure {
        title: format!("Small tables, {}, {}", F::NAME, named.name),
        caption: "Routed addresses from an array: each a random route of the small table and \
                  random bits below it. Next hops are numbered from 1 on, as in a table of that \
                  size. The lines are rates in batches."
            .into(),
        conditions,
        chart: Some(lines(log_axis("routes", ""), rate_axis(), rate_lines(&series))),
        table: table(columns, rows),
        findings: all.iter().flat_map(findings).collect(),
        id,
    }
}

fn measure<F: BenchFamily>(
    desk: &mut Desk<'_>,
    id: &str,
    named: Named<'_, F>,
) -> (Size, Vec<Condition>) {
    let field = Field::new(named, &Entrant::all(&ENGINES));
    let heat = desk.heat(&field.race, &Traffic::Routed).expect("routed traffic has keys");
    desk.step(0.3);
    let (setup, batches) = (desk.brief(Mode::One), desk.brief(Mode::Batch));
    let one = desk.measure(id, &field, &heat, &setup, "");
    let batch = desk.measure(id, &field, &heat, &batches, "");
    for (spec, record) in one.iter().filter_map(|it| Some((&it.entrant.spec, it.record()?))) {
        desk.count(id, named, spec, ("compile", "ms"), record.build_ms, None);
        desk.count(id, named, spec, ("bytes", "B"), record.bytes as f64, None);
    }
    let about = about_rates(named.name, &field.race, &heat, &batches);
    (Size { routes: named.rib.len(), one, batch }, about)
}

fn rows(size: &Size) -> Vec<Vec<Cell>> {
    let row = |(one, batch): (&Measured, &Measured)| {
        let record = one.record();
        vec![
            Cell::Count(size.routes as u64),
            text(&one.entrant.spec),
            rate_cell(one),
            rate_cell(batch),
            number(record.map(|it| it.build_ms), 3),
            record.map_or(Cell::Empty, |it| Cell::Count(it.bytes as u64)),
        ]
    };
    size.one.iter().zip(&size.batch).map(row).collect()
}

fn findings(size: &Size) -> Vec<Finding> {
    let routes = plural(size.routes, "route");
    let is_simple = |spec: &str| SIMPLE.contains(&spec);
    let mut findings = Vec::new();
    for (all, how) in [(&size.one, "one by one"), (&size.batch, "in batches")] {
        let Some((spec, rate)) = fastest(all) else { continue };
        let simple: Vec<_> = all.iter().filter(|it| is_simple(&it.entrant.spec)).cloned().collect();
        let simple = match fastest(&simple) {
            Some((best, own)) if !is_simple(spec) => {
                format!("; the best simple trie, {best}, makes {own:.0} Mlps")
            }
            _ => "; a simple trie wins".to_owned(),
        };
        let text = format!("{routes}, {how}: the fastest is {spec}, {rate:.0} Mlps{simple}.");
        findings.push(remark(text));
    }
    let least = |of: fn(&Measured) -> Option<f64>| {
        let values = size.one.iter().filter_map(|it| Some((&it.entrant.spec, of(it)?)));
        values.min_by(|(_, a), (_, b)| a.total_cmp(b))
    };
    let smallest = least(|it| Some(it.record()?.bytes as f64));
    let quickest = least(|it| Some(it.record()?.build_ms));
    if let (Some((small, bytes)), Some((quick, ms))) = (smallest, quickest) {
        findings.push(remark(format!(
            "{routes}: {small} is the smallest, {bytes} bytes, and {quick} compiles fastest, \
             {ms:.3} ms."
        )));
    }
    findings
}
