//! The block of tables of every kind: which engine is the best for which kind of table, and how far our default is from
//! it.

use std::collections::BTreeMap;

use crate::page::{count, short};
use crate::record::Value;

use super::blocks::{code, links};
use super::published::{Machine, circumstances, family_name};

/// The start of the ids of the experiment's figures; the rest is the mode.
const FIGURES: &str = "kinds-";
/// Our default engine, and its earlier form.
const DEFAULT: &str = "folio";
const EARLIER: &str = "folio:pages";
/// The share of the best rate from which on the difference counts as small.
const CLOSE: f64 = 0.95;

/// The engine that chooses one of the others.
const AUTO: &str = "auto";
/// The traffic whose cells have a row of their own.
const TRAFFIC: &str = "routed";

/// A cell: a table, a mode, and a run configuration, which is a kind of traffic and perhaps a level of instructions.
struct Cell<'a> {
    family: &'a str,
    table: &'a str,
    mode: &'a str,
    run: &'a str,
    /// The engines with their rates, in the order of the records.
    rates: Vec<(&'a str, f64)>,
}

impl<'a> Cell<'a> {
    fn rate(&self, engine: &str) -> Option<f64> {
        self.rates.iter().find(|it| it.0 == engine).map(|it| it.1)
    }

    /// The best engine; `auto` is none of its own.
    fn best(&self) -> Option<(&'a str, f64)> {
        let engines = self.rates.iter().filter(|it| it.0 != AUTO).copied();
        engines.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The share of an engine of the best rate; 0 if it has none.
    fn share(&self, engine: &str) -> f64 {
        let best = self.best().map_or(f64::INFINITY, |it| it.1);
        self.rate(engine).unwrap_or(0.0) / best
    }

    fn slower_than_before(&self) -> bool {
        let both = self.rate(DEFAULT).zip(self.rate(EARLIER));
        both.is_some_and(|(now, before)| now < before)
    }
}

/// The cells, in the order of the records.
fn cells(machine: &Machine) -> Vec<Cell<'_>> {
    let mut cells: Vec<Cell<'_>> = Vec::new();
    let mut places = BTreeMap::new();
    for value in values(machine).filter(|it| it.metric == "rate") {
        let Some(rate) = value.value else { continue };
        let mode = value.figure.strip_prefix(FIGURES).unwrap_or_default();
        let (family, table, run) = (&value.family[..], &value.table[..], &value.run[..]);
        let place = *places.entry([family, table, mode, run]).or_insert_with(|| {
            cells.push(Cell { family, table, mode, run, rates: Vec::new() });
            cells.len() - 1
        });
        cells[place].rates.push((&value.engine, rate));
    }
    cells
}

fn values(machine: &Machine) -> impl Iterator<Item = &Value> {
    let values = machine.records.experiments.iter().flat_map(|(_, values)| values);
    values.filter(|it| it.figure.starts_with(FIGURES))
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
        rows(machine, &cells)
    ))
}

/// Counts the cells of each table, and of all, in which the default engine is far from the best one.
fn summary(cells: &[Cell<'_>]) -> String {
    let row = |name: String, own: &[&Cell<'_>]| {
        let number = |of: &dyn Fn(&Cell<'_>) -> bool| {
            count(own.iter().filter(|cell| of(cell)).count() as u64)
        };
        let far = |engine| number(&|cell: &Cell<'_>| cell.share(engine) < CLOSE);
        let lowest = own.iter().map(|cell| cell.share(DEFAULT)).fold(f64::INFINITY, f64::min);
        let slower = number(&|cell: &Cell<'_>| cell.slower_than_before());
        vec![name, count(own.len() as u64), far(DEFAULT), format!("{lowest:.2}"), slower, far(AUTO)]
    };
    let mut tables: Vec<(&str, &str)> = cells.iter().map(|it| (it.family, it.table)).collect();
    tables.dedup();
    let mut rows = Vec::new();
    for (family, table) in tables {
        let own: Vec<_> =
            cells.iter().filter(|it| (it.family, it.table) == (family, table)).collect();
        rows.push(row(format!("{} ({})", code(table), family_name(family)), &own));
    }
    rows.push(row("**all**".into(), &cells.iter().collect::<Vec<_>>()));
    let heads = [
        "table",
        "cells",
        "`folio` below 0.95 of the best engine",
        "its lowest share",
        "`folio` slower than `folio:pages`",
        "`auto` below 0.95",
    ];
    links(&heads, rows)
}

/// Tabulates the best engine of each cell, with its memory and compile time beside those of the default engine.
fn rows(machine: &Machine, cells: &[Cell<'_>]) -> String {
    let structure = |cell: &Cell<'_>, engine: &str, metric: &str| {
        let place = |it: &Value| it.table == cell.table && it.family == cell.family;
        let own = |it: &&Value| place(it) && it.engine == engine && it.metric == metric;
        let value = values(machine).find(own).and_then(|it| it.value);
        value.map_or_else(|| "–".to_owned(), short)
    };
    let mut rows = Vec::new();
    for cell in cells.iter().filter(|it| it.run.starts_with(TRAFFIC)) {
        let Some((best, rate)) = cell.best() else { continue };
        let lookups = format!("{}{}", cell.mode, &cell.run[TRAFFIC.len()..]);
        let share = format!("{:.2}", cell.share(DEFAULT));
        let mut row = vec![code(cell.table), lookups, code(best), short(rate), share];
        for metric in ["memory", "compile"] {
            row.extend([best, DEFAULT].map(|engine| structure(cell, engine, metric)));
        }
        rows.push(row);
    }
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
    links(&heads, rows)
}
