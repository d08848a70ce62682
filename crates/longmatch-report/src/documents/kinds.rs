//! The block of tables of every kind: which engine is the best for which kind of table, and how far our default is from
//! it.

use std::collections::BTreeMap;

use crate::page::{Notes, count, grid, short};
use crate::record::Value;

use super::blocks::{code, text_table};
use super::published::Machine;

/// The start of the ids of the experiment's figures; the rest is the mode.
const FIGURES: &str = "kinds-";
/// Our default engine, and its earlier form.
const DEFAULT: &str = "folio";
const EARLIER: &str = "folio:pages";
/// The share of the best rate from which on the difference counts as small.
const CLOSE: f64 = 0.95;

/// A cell: a table, a mode, and a run configuration such as a level. The engines are in the order of the records.
#[derive(Default)]
struct Cell<'a> {
    rates: Vec<(&'a str, f64)>,
}

impl<'a> Cell<'a> {
    fn rate(&self, engine: &str) -> Option<f64> {
        self.rates.iter().find(|it| it.0 == engine).map(|it| it.1)
    }

    fn best(&self) -> Option<(&'a str, f64)> {
        self.rates.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The share of the default engine of the best rate; 0 if it has none.
    fn share(&self) -> f64 {
        let best = self.best().map_or(f64::INFINITY, |it| it.1);
        self.rate(DEFAULT).unwrap_or(0.0) / best
    }

    fn slower_than_before(&self) -> bool {
        let both = self.rate(DEFAULT).zip(self.rate(EARLIER));
        both.is_some_and(|(now, before)| now < before)
    }
}

/// The cells by table, mode and run configuration, in the order of the records.
fn cells(machine: &Machine) -> Vec<([&str; 3], Cell<'_>)> {
    let mut cells: Vec<([&str; 3], Cell<'_>)> = Vec::new();
    let mut places = BTreeMap::new();
    for value in values(machine).filter(|it| it.metric == "rate") {
        let Some(rate) = value.value else { continue };
        let mode = value.figure.strip_prefix(FIGURES).unwrap_or_default();
        let key = [value.table.as_str(), mode, value.run.as_str()];
        let place = *places.entry(key).or_insert_with(|| {
            cells.push((key, Cell::default()));
            cells.len() - 1
        });
        cells[place].1.rates.push((&value.engine, rate));
    }
    cells
}

fn values(machine: &Machine) -> impl Iterator<Item = &Value> {
    let values = machine.records.experiments.iter().flat_map(|(_, values)| values);
    values.filter(|it| it.figure.starts_with(FIGURES))
}

/// Returns the content of the block.
pub(super) fn content(machine: &Machine) -> String {
    let cells = cells(machine);
    if cells.is_empty() {
        return machine.why_absent("kinds");
    }
    let structure = |table: &str, engine: &str, metric: &str| {
        let own = |it: &&Value| it.table == table && it.engine == engine && it.metric == metric;
        let value = values(machine).find(own).and_then(|it| it.value);
        value.map_or_else(|| "–".to_owned(), short)
    };
    let mut rows = Vec::new();
    for ([table, mode, run], cell) in &cells {
        let Some((best, rate)) = cell.best() else { continue };
        let mut row = vec![code(table), format!("{mode}, {run}"), code(best), short(rate)];
        row.push(format!("{:.2}", cell.share()));
        for metric in ["memory", "compile"] {
            row.extend([best, DEFAULT].map(|engine| structure(table, engine, metric)));
        }
        rows.push(row);
    }
    let below = cells.iter().filter(|(_, cell)| cell.share() < CLOSE).count();
    let slower = cells.iter().filter(|(_, cell)| cell.slower_than_before()).count();
    let [all, below, slower] = [cells.len(), below, slower].map(|it| count(it as u64));
    let heads = [
        "table",
        "lookups",
        "the best engine",
        "Mlps",
        "share of `folio`",
        "MiB, the best",
        "MiB, `folio`",
        "compile, ms, the best",
        "compile, ms, `folio`",
    ];
    format!(
        "`{DEFAULT}` is below {CLOSE} of the best engine in {below} of {all} cells, and slower than `{EARLIER}` in {slower}. A \
         cell is a table, a way to call the engine, and a level of instructions.\n\n{}",
        grid(&text_table(&heads, rows), false, &mut Notes::default())
    )
}
