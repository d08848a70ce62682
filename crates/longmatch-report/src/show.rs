//! Figures from what was measured.

use super::desk::{Measured, SEED, rate_cell};
use super::model::{
    Axis, Bar, BarGroup, Bars, Cell, Chart, Column, Condition, Finding, Lines, Point, Series, Table,
};
use longmatch_bench::BenchFamily;
use longmatch_bench::KeySource;
use longmatch_bench::Mode;
use longmatch_bench::Workload;
use longmatch_bench::{Comparison, RunConfig};

/// Bytes in a MiB.
pub(crate) const MIB: f64 = (1 << 20) as f64;

/// An axis that begins at zero.
pub(crate) fn axis(name: &str, unit: &str) -> Axis {
    Axis { name: name.into(), unit: unit.into(), log: false }
}

/// An axis each step of which multiplies.
pub(crate) fn log_axis(name: &str, unit: &str) -> Axis {
    Axis { log: true, ..axis(name, unit) }
}

/// The axis of rates.
pub(crate) fn rate_axis() -> Axis {
    axis("lookup rate", "Mlps")
}

/// A column of our values.
pub(crate) fn column(name: &str, unit: &str) -> Column {
    Column { name: name.into(), unit: unit.into(), paper: false }
}

/// A column of the paper's values.
pub(crate) fn paper_column(name: &str, unit: &str) -> Column {
    Column { paper: true, ..column(name, unit) }
}

/// Words as a cell.
pub(crate) fn text(words: impl Into<String>) -> Cell {
    Cell::Text(words.into())
}

/// A number that may be missing.
pub(crate) fn number(value: Option<f64>, decimals: u8) -> Cell {
    value.map_or(Cell::Empty, |value| Cell::Number(value, decimals))
}

/// A table of columns and rows.
pub(crate) fn table(columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Table {
    debug_assert!(rows.iter().all(|row| row.len() == columns.len()), "a cell for each column");
    Table { columns, rows }
}

/// One condition.
pub(crate) fn condition(name: &str, value: impl Into<String>) -> Condition {
    Condition { name: name.into(), value: value.into() }
}

/// A sentence that is no claim of a paper.
pub(crate) fn remark(text: impl Into<String>) -> Finding {
    Finding { holds: None, text: text.into() }
}

/// Whether a claim of a paper holds.
pub(crate) fn claim(holds: bool, text: impl Into<String>) -> Finding {
    Finding { holds: Some(holds), text: text.into() }
}

/// `1,042,325 routes`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {word}{s}", thousands(count as u64))
}

/// `1,042,325`.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The table that engines were compiled from.
pub(crate) fn about_table<F: BenchFamily>(name: &str, race: &Comparison<'_, F>) -> Condition {
    let routes = plural(race.rib().len(), "route");
    let next_hops = plural(race.next_hops(), "next hop");
    condition("table", format!("{name}: {routes}, {next_hops}"))
}

/// How rates were measured.
pub(crate) fn about_rates<F: BenchFamily>(
    table: &str,
    race: &Comparison<'_, F>,
    heat: &Workload<F>,
    setup: &RunConfig,
) -> Vec<Condition> {
    let keys = match setup.key_source(heat.traffic()) {
        KeySource::Array => format!("array of {}", thousands(heat.keys().len() as u64)),
        KeySource::Xorshift => "made just before each lookup, by xorshift".to_owned(),
    };
    let mode = match setup.mode {
        Mode::One => "one after the other, the CPU may overlap them".to_owned(),
        Mode::Batch => format!("in batches of {}", setup.batch),
        Mode::Dependent => "each address depends on the answer before".to_owned(),
    };
    let routed = format!("{}, {:.0} % with a route", heat.traffic(), heat.routed() * 100.0);
    vec![
        about_table(table, race),
        condition("traffic", format!("{routed}, seed {SEED}")),
        condition("keys", keys),
        condition("lookups", mode),
        condition("threads", setup.threads.to_string()),
        condition("instructions", setup.simd.level().name()),
        condition("passes", format!("{} of {:.0} ms, interleaved", setup.passes, pass_ms(setup))),
        condition("answers checked", thousands(heat.checked() as u64)),
    ]
}

fn pass_ms(setup: &RunConfig) -> f64 {
    setup.seconds * 1e3 / (setup.passes + 1) as f64
}

/// A bar for a rate.
pub(crate) fn rate_bar(measured: &Measured) -> Bar {
    let record = measured.record();
    let spread = record.and_then(|it| Some([it.mlps_q1?, it.mlps_q3?]));
    let note = match rate_cell(measured) {
        Cell::Refused(why) => why,
        _ => String::new(),
    };
    Bar {
        name: measured.entrant.spec.clone(),
        value: measured.rate(),
        spread,
        paper: measured.entrant.paper,
        note,
    }
}

/// Bars of rates, in groups with names.
pub(crate) fn rate_bars<'m>(groups: impl IntoIterator<Item = (String, &'m [Measured])>) -> Chart {
    let group = |(name, all): (String, &[Measured])| BarGroup {
        name,
        bars: all.iter().map(rate_bar).collect(),
    };
    let groups = groups.into_iter().map(group).collect();
    Chart::Bars(Bars { value: rate_axis(), groups })
}

/// A point of a line of rates; nothing where there is no rate.
pub(crate) fn rate_point(x: f64, measured: &Measured) -> Option<Point> {
    let record = measured.record()?;
    let spread = record.mlps_q1.zip(record.mlps_q3).map(|(q1, q3)| [q1, q3]);
    Some(Point { x, y: record.mlps?, spread })
}

/// Lines of rates, one for each engine: what was measured at each x.
pub(crate) fn rate_lines(series: &[(f64, Vec<Measured>)]) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for (x, all) in series {
        for measured in all {
            let name = &measured.entrant.spec;
            let Some(point) = rate_point(*x, measured) else { continue };
            match lines.iter_mut().find(|line| line.name == *name) {
                Some(line) => line.points.push(point),
                None => {
                    let (name, points) = (name.clone(), vec![point]);
                    lines.push(Series { name, dashed: false, points });
                }
            }
        }
    }
    lines
}

/// How many times faster the first is; nothing where one has no rate.
pub(crate) fn ratio(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    first.zip(second).map(|(first, second)| first / second)
}

/// The entrant with that spec.
pub(crate) fn of<'m>(all: &'m [Measured], spec: &str) -> Option<&'m Measured> {
    all.iter().find(|it| it.entrant.spec == spec)
}

/// A dashed line at one height: something that was not varied beside what was.
pub(crate) fn level(name: &str, y: f64, [from, to]: [f64; 2]) -> Series {
    let point = |x| Point { x, y, spread: None };
    Series { name: name.into(), dashed: true, points: vec![point(from), point(to)] }
}

/// Lines through points.
pub(crate) fn lines(x: Axis, y: Axis, series: Vec<Series>) -> Chart {
    Chart::Lines(Lines { x, y, series, steps: false })
}

/// A table of rates: a row for each engine, a column for each of what was varied. An engine that
/// did not take part somewhere has an empty cell there.
pub(crate) fn rate_table(varied: &str, series: &[(String, &[Measured])]) -> Table {
    let mut specs: Vec<&str> = Vec::new();
    for measured in series.iter().flat_map(|(_, all)| all.iter()) {
        if !specs.contains(&measured.entrant.spec.as_str()) {
            specs.push(&measured.entrant.spec);
        }
    }
    let mut columns = vec![column(&format!("engine, by {varied}"), "")];
    columns.extend(series.iter().map(|(name, _)| column(name, "Mlps")));
    let row = |spec: &str| {
        let cell = |all: &[Measured]| of(all, spec).map_or(Cell::Empty, rate_cell);
        let cells = series.iter().map(|(_, all)| cell(all));
        core::iter::once(text(spec)).chain(cells).collect()
    };
    table(columns, specs.into_iter().map(row).collect())
}

/// The entrant with that spec, or the wider variant in its place, that was measured.
pub(crate) fn like<'m>(all: &'m [Measured], spec: &str) -> Option<&'m Measured> {
    let wider = format!("{spec}:");
    let is = |it: &&Measured| it.entrant.spec == spec || it.entrant.spec.starts_with(&wider);
    all.iter().filter(is).find(|it| it.rate().is_some())
}

/// The engine with the highest rate.
pub(crate) fn fastest(all: &[Measured]) -> Option<(&str, f64)> {
    let rates = all.iter().filter_map(|it| Some((it.entrant.spec.as_str(), it.rate()?)));
    rates.max_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// Which engine was the fastest where: neighbours with the same one are one sentence.
pub(crate) fn leaders(series: &[(String, &[Measured])]) -> Vec<Finding> {
    let lead = |(place, all): &(String, &[Measured])| {
        let (spec, rate) = fastest(all)?;
        Some((place.clone(), spec.to_owned(), rate))
    };
    let all: Vec<_> = series.iter().filter_map(lead).collect();
    let runs = all.chunk_by(|(_, a, _), (_, b, _)| a == b);
    let sentence = |run: &[(String, String, f64)]| {
        let [(first, spec, rate), .., (last, _, end)] = run else {
            let (place, spec, rate) = &run[0];
            return remark(format!("{place}: the fastest is {spec}, {rate:.0} Mlps."));
        };
        remark(format!("{first} to {last}: the fastest is {spec}, {rate:.0} to {end:.0} Mlps."))
    };
    runs.map(sentence).collect()
}
