//! The block of tables of every kind: which engine is the best for which kind of table, and how far our default is from
//! it.

use crate::page::{count, rows, short};
use crate::record::Value;
use crate::records::family_name;
use crate::view::grouped;

use super::blocks::code;
use super::published::{Machine, circumstances};

/// The start of the ids of the experiment's figures; the rest is the mode.
const FIGURES: &str = "kinds-";
/// Our default engine, and an earlier form of it that records have in which the engine still had it.
const DEFAULT: &str = "folio";
const EARLIER: &str = "folio:pages";
/// The share of the best rate from which on the difference counts as small.
const CLOSE: f64 = 0.95;

/// The engine that chooses one of the others.
const AUTO: &str = "auto";
/// The traffic whose cells have a row of their own.
const TRAFFIC: &str = "routed";

/// The rates of a cell, in the order of the records. A cell is a table, a mode, and a run configuration, which is a kind of
/// traffic and perhaps a level of instructions.
type Cell<'a> = Vec<&'a Value>;

fn rate(cell: &[&Value], engine: &str) -> Option<f64> {
    cell.iter().find(|it| it.engine == engine)?.value
}

/// Returns the best engine with its rate; `auto` is none of its own.
fn best<'a>(cell: &[&'a Value]) -> Option<(&'a str, f64)> {
    let engines = cell.iter().filter(|it| it.engine != AUTO);
    let rates = engines.filter_map(|it| Some((it.engine.as_str(), it.value?)));
    rates.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns the share of an engine of the best rate; 0 if it has none.
fn share(cell: &[&Value], engine: &str) -> f64 {
    rate(cell, engine).unwrap_or(0.0) / best(cell).map_or(f64::INFINITY, |it| it.1)
}

fn slower_than_before(cell: &[&Value]) -> bool {
    let both = rate(cell, DEFAULT).zip(rate(cell, EARLIER));
    both.is_some_and(|(now, before)| now < before)
}

/// Returns the cells, in the order of the records.
fn cells(machine: &Machine) -> Vec<Cell<'_>> {
    let rates = values(machine).filter(|it| it.metric == "rate" && it.value.is_some());
    let cells = grouped(rates, |it| (&it.family, &it.table, &it.figure, &it.run));
    cells.into_iter().map(|(_, rates)| rates).collect()
}

fn values(machine: &Machine) -> impl Iterator<Item = &Value> {
    machine.records.values().filter(|it| it.figure.starts_with(FIGURES))
}

/// Returns the content of the block.
///
/// # Errors
/// If the run lacks a circumstance.
pub(super) fn content(machine: &Machine) -> Result<String, String> {
    let cells = cells(machine);
    if cells.is_empty() {
        return Ok(machine.why_absent("kinds"));
    }
    let run = machine.kinds.as_ref().unwrap_or(&machine.records.run);
    Ok(format!(
        "{}\n\nA cell is a table, a way to call the engine, a kind of traffic and a level of instructions. The counts are of \
         cells.\n\n{}\nThe best engine for {TRAFFIC} addresses:\n\n{}",
        circumstances(run)?,
        summary(&cells),
        engines(machine, &cells)
    ))
}

/// Counts the cells of each table, and of all, in which the default engine is far from the best one.
fn summary(cells: &[Cell<'_>]) -> String {
    let has_earlier = cells.iter().any(|cell| rate(cell, EARLIER).is_some());
    let row = |name: String, own: Vec<&Cell<'_>>| {
        let number = |of: &dyn Fn(&[&Value]) -> bool| {
            count(own.iter().filter(|cell| of(cell)).count() as u64)
        };
        let far = |engine| number(&|cell: &[&Value]| share(cell, engine) < CLOSE);
        let lowest = own.iter().map(|cell| share(cell, DEFAULT)).fold(f64::INFINITY, f64::min);
        let mut row = vec![name, count(own.len() as u64), far(DEFAULT), format!("{lowest:.2}")];
        row.extend(has_earlier.then(|| number(&slower_than_before)));
        row.push(far(AUTO));
        row
    };
    let tables = grouped(cells, |it| (&it[0].family, &it[0].table)).into_iter();
    let tables = tables.map(|((family, table), own)| {
        row(format!("{} ({})", code(table), family_name(family)), own)
    });
    let earlier = if has_earlier { "`folio` slower than `folio:pages` | " } else { "" };
    let heads = format!(
        "table | cells | `folio` below 0.95 of the best engine | its lowest share | {earlier}`auto` below 0.95"
    );
    rows(&heads, tables.chain([row("**all**".into(), cells.iter().collect())]))
}

/// Tabulates the best engine of each cell, with its memory and compile time beside those of the default engine.
fn engines(machine: &Machine, cells: &[Cell<'_>]) -> String {
    let mut table = Vec::new();
    for cell in cells.iter().filter(|it| it[0].run.starts_with(TRAFFIC)) {
        let (Some((best, rate)), first) = (best(cell), cell[0]) else { continue };
        let structure = |engine: &str, metric: &str| {
            let place = |it: &Value| it.table == first.table && it.family == first.family;
            let own = |it: &&Value| place(it) && it.engine == engine && it.metric == metric;
            let value = values(machine).find(own).and_then(|it| it.value);
            value.map_or_else(|| "–".to_owned(), short)
        };
        let lookups = format!("{}{}", &first.figure[FIGURES.len()..], &first.run[TRAFFIC.len()..]);
        let share = format!("{:.2}", share(cell, DEFAULT));
        let mut row = vec![code(&first.table), lookups, code(best), short(rate), share];
        for metric in ["memory", "compile"] {
            row.extend([best, DEFAULT].map(|engine| structure(engine, metric)));
        }
        table.push(row);
    }
    let heads = "table | lookups | the best engine | Mlps | share of `folio` | MiB, the best | \
                 MiB, `folio` | compile, ms, the best | compile, ms, `folio`";
    rows(heads, table)
}
