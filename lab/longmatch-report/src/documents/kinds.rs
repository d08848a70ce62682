//! The block of tables of every kind: how far our default engine is from the best one, and where another is faster.

use crate::page::{count, rows, short};
use crate::record::Value;
use crate::records::family_name;
use crate::view::{distinct, grouped};

use super::published::{PublishedRun, circumstances, code};

/// The start of the ids of the experiment's figures; the rest is the mode.
const FIGURES: &str = "kinds-";
/// Our default engine.
const DEFAULT: &str = "folio";
/// The shares of the best rate below which cells are counted.
const CLOSE: f64 = 0.95;
const FAR: f64 = 0.75;
/// The ratio to the default engine's rate above which a faster engine is named.
const FASTER: f64 = 1.05;
/// The engine that chooses one of the others.
const AUTO: &str = "auto";

/// The rates of a cell, in the order of the records. A cell is a table, a mode, and a run configuration, which is a kind of
/// traffic and perhaps a level of instructions.
type KindValues<'a> = Vec<&'a Value>;

fn rate(cell: &[&Value], engine: &str) -> Option<f64> {
    cell.iter().find(|it| it.engine == engine)?.value
}

/// Returns the best engine with its rate; `auto` does not count.
fn best<'a>(cell: &[&'a Value]) -> Option<(&'a str, f64)> {
    let engines = cell.iter().filter(|it| it.engine != AUTO);
    let rates = engines.filter_map(|it| Some((it.engine.as_str(), it.value?)));
    rates.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns the share of an engine of the best rate; 0 if it has none.
fn share(cell: &[&Value], engine: &str) -> f64 {
    rate(cell, engine).unwrap_or(0.0) / best(cell).map_or(f64::INFINITY, |it| it.1)
}

/// Returns the cells, in the order of the records.
fn cells(machine: &PublishedRun) -> Vec<KindValues<'_>> {
    let rates = values(machine).filter(|it| it.metric == "rate" && it.value.is_some());
    let cells = grouped(rates, |it| (&it.family, &it.table, &it.figure, &it.run));
    cells.into_iter().map(|(_, rates)| rates).collect()
}

fn values(machine: &PublishedRun) -> impl Iterator<Item = &Value> {
    machine.records.values().filter(|it| it.figure.starts_with(FIGURES))
}

/// Returns the content of the block.
///
/// # Errors
/// If the run lacks a circumstance.
pub(super) fn content(machine: &PublishedRun) -> Result<String, String> {
    let cells = cells(machine);
    if cells.is_empty() {
        return Ok(machine.why_absent("kinds"));
    }
    Ok(format!(
        "{}\n\nA cell is a table, a way to call the engine, a kind of traffic and a level of instructions. The counts are of \
         cells.\n\n{}\nThe fastest engine of each cell in which it is more than {FASTER} times as fast as `{DEFAULT}`, with the ratio. Cells with – are not measured:\n\n{}\n\
         Memory and compile time of `{DEFAULT}`, and the least of all engines:\n\n{}",
        circumstances(machine.run_of("kinds"))?,
        summary(&cells),
        faster(&cells),
        structures(machine, &cells)
    ))
}

/// Counts the cells of each table, and of all, by the share of the default engine of the best rate.
fn summary(cells: &[KindValues<'_>]) -> String {
    let row = |name: String, own: Vec<&KindValues<'_>>| {
        let shares: Vec<f64> = own.iter().map(|cell| share(cell, DEFAULT)).collect();
        let number =
            |is: &dyn Fn(f64) -> bool| count(shares.iter().filter(|it| is(**it)).count() as u64);
        let lowest = shares.iter().copied().fold(f64::INFINITY, f64::min);
        vec![
            name,
            count(own.len() as u64),
            number(&|share| share >= 1.0),
            number(&|share| share < CLOSE),
            number(&|share| share < FAR),
            format!("{lowest:.2}"),
        ]
    };
    let tables = by_table(cells).into_iter();
    let tables = tables.map(|(first, own)| row(name(first), own));
    let heads = format!(
        "table | cells | `{DEFAULT}` is the fastest | below {CLOSE} of the fastest | below {FAR} | lowest share"
    );
    rows(&heads, tables.chain([row("**all**".into(), cells.iter().collect())]))
}

/// Groups the cells of each table, with the first value of each group.
fn by_table<'a, 'b>(cells: &'a [KindValues<'b>]) -> Vec<(&'b Value, Vec<&'a KindValues<'b>>)> {
    let tables = grouped(cells, |it| (&it[0].family, &it[0].table)).into_iter();
    tables.map(|(_, own)| (own[0][0], own)).collect()
}

fn name(value: &Value) -> String {
    format!("{} ({})", code(&value.table), family_name(&value.family))
}

/// Returns the kind of traffic of a cell, and its way to call the engine with the level of instructions.
fn traffic_and_call(cell: &[&Value]) -> (String, String) {
    let first = cell[0];
    let (traffic, level) = first.run.split_once(", ").unwrap_or((&first.run, ""));
    let call = &first.figure[FIGURES.len()..];
    let call = if level.is_empty() { call.into() } else { format!("{call}, {level}") };
    (traffic.into(), call)
}

/// Tabulates the engines that are faster than the default: a row for each table and kind of traffic with such an engine, a
/// column for each way to call the engines.
fn faster(cells: &[KindValues<'_>]) -> String {
    let calls: Vec<String> = distinct(cells.iter().map(|cell| traffic_and_call(cell).1));
    let of = |cell: &&KindValues<'_>| match best(cell).zip(rate(cell, DEFAULT)) {
        Some(((best, rate), own)) if rate > FASTER * own => {
            format!("{} {}", code(best), short(rate / own))
        }
        _ => String::new(),
    };
    let mut table = Vec::new();
    for (first, own) in by_table(cells) {
        for (traffic, own) in grouped(own, |cell| traffic_and_call(cell).0) {
            let at = |call: &String| own.iter().find(|cell| traffic_and_call(cell).1 == *call);
            let row: Vec<String> =
                calls.iter().map(|call| at(call).map_or_else(|| "–".into(), &of)).collect();
            if row.iter().any(|it| it.len() > "–".len()) {
                table.push([vec![name(first), traffic], row].concat());
            }
        }
    }
    rows(&format!("table | traffic | {}", calls.join(" | ")), table)
}

/// Tabulates the memory and the compile time of the default engine, and the least of all engines.
fn structures(machine: &PublishedRun, cells: &[KindValues<'_>]) -> String {
    let mut table = Vec::new();
    for (first, _) in by_table(cells) {
        let mut row = vec![name(first)];
        for metric in ["memory", "compile"] {
            let own = |it: &&Value| {
                let is_there = it.table == first.table && it.family == first.family;
                is_there && it.metric == metric && it.engine != AUTO
            };
            let found = values(machine).filter(own);
            let found: Vec<_> = found.filter_map(|it| Some((&it.engine, it.value?))).collect();
            let default = found.iter().find(|(engine, _)| *engine == DEFAULT);
            row.push(default.map_or_else(|| "–".into(), |(_, value)| short(*value)));
            let least = found.iter().min_by(|a, b| a.1.total_cmp(&b.1));
            let least = least.map(|(engine, value)| format!("{} {}", code(engine), short(*value)));
            row.push(least.unwrap_or_else(|| "–".into()));
        }
        table.push(row);
    }
    let heads =
        format!("table | `{DEFAULT}`, MiB | least, MiB | `{DEFAULT}`, compile, ms | least, ms");
    rows(&heads, table)
}
