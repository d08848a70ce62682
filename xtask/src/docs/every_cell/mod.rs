//! The blocks `cells` and `cells summary`: Folio, its earlier form and `auto` against every other engine, in each cell:
//! a table, a way to call the engine and a kind of traffic.
//!
//! - `records`: the records of `cargo xtask cells`, and the cells made of them.
//! - this file: the content of the blocks.

mod records;

use std::fmt::Write as _;

use super::blocks::{circumstances, in_words, spread};
use super::markdown::{Grid, Notes, code, count, number, wrap};
use super::records::Table;
pub use records::Cells;
use records::{Call, Cell, EARLIER, FEW, FOLIO};

/// A share of the best rate from which on the difference counts as small.
const CLOSE: f64 = 0.95;
/// A share of the best rate from which on a choice of `auto` counts as acceptable.
const ACCEPTABLE: f64 = 0.90;
/// The traffic of few destinations, of which `auto:traffic=few` is told.
const FEW_TRAFFIC: &str = "zipf";
/// Note for a value that the records lack.
const NOT_MEASURED: &str = "Not measured in this run.";

/// Returns the content of a block, or `None` if it is none of these two; `root` is the path from the block's file to the
/// root of the repository.
///
/// # Errors
/// If the records lack a value of the block.
pub fn content(cells: &Cells, name: &str, root: &str) -> Option<Result<String, String>> {
    match name {
        "cells" => Some(Ok(tables(cells, root))),
        "cells summary" => Some(summary(cells)),
        _ => None,
    }
}

/// Tabulates all cells: a Markdown table for each table of routes.
fn tables(cells: &Cells, root: &str) -> String {
    let mut out = String::new();
    for table in cells.tables() {
        let title = format!("### Every cell: `{}`\n", table.name);
        let refused = refused(cells, table);
        let about = wrap(&format!("{}.{refused}", in_words(table, root)), "");
        let mut notes = Notes::default();
        let heads =
            ["lookups", "traffic", "best other engine", "`folio`", "`folio:pages`", "`auto`"];
        let mut grid = Grid::new(&heads.into_iter().chain([&*code(FEW)]).collect::<Vec<_>>());
        for cell in cells.of(table) {
            grid.row(&row(cells, &cell, &mut notes));
        }
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{title}\n{about}\n{}{}", grid.finish(), notes.finish());
    }
    out
}

/// Names the other engines that refuse a table, with their reasons; empty if none does.
fn refused(cells: &Cells, table: &Table) -> String {
    let refused = cells.refused(table).filter(|(spec, _)| ![FOLIO, EARLIER].contains(spec));
    let reasons: Vec<_> = refused.map(|(spec, why)| format!("`{spec}` ({why})")).collect();
    match reasons.is_empty() {
        true => String::new(),
        false => format!(" Without a rate: {}.", reasons.join(", ")),
    }
}

/// Formats a cell: the best other engine, both forms of Folio, both uses of `auto`.
fn row(cells: &Cells, cell: &Cell<'_>, notes: &mut Notes) -> [String; 7] {
    let other = cell.best_other();
    let rate = |mlps: f64| match mlps >= cell.best() {
        true => format!("**{}**", number(mlps)),
        false => number(mlps),
    };
    let mut missing = |spec: &str| {
        let why = match cells.refused(cell.table).find(|it| it.0 == spec) {
            Some((_, why)) => format!("No value. {spec}: {why}."),
            None => NOT_MEASURED.into(),
        };
        format!("–{}", notes.mark(why))
    };
    let mut form = |spec: &str| match cell.form(spec) {
        None => missing(spec),
        Some(mlps) => match other {
            Some((_, other)) => format!("{}, {:.2}×", rate(mlps), mlps / other),
            None => rate(mlps),
        },
    };
    let [folio, earlier] = [FOLIO, EARLIER].map(&mut form);
    let mut choice = |few: bool| match cell.choice(few) {
        None => missing(if few { FEW } else { "auto" }),
        Some((chosen, share)) => format!("`{chosen}`, {share:.2}"),
    };
    let few = if cell.traffic == FEW_TRAFFIC { choice(true) } else { String::new() };
    let auto = choice(false);
    let other = match other {
        Some((engine, mlps)) => format!("`{engine}`, {}", rate(mlps)),
        None => missing("the other engines"),
    };
    [cell.call.to_string(), cell.traffic.into(), other, folio, earlier, auto, few]
}

/// Counts the cells in which Folio and `auto` are close to the best engine, for each table and in all.
fn summary(cells: &Cells) -> Result<String, String> {
    let mut out = provenance(cells)?;
    let at_least = |share: f64| format!("at least {share:.2}");
    let heads = [
        "table".into(),
        "`folio` the fastest".into(),
        format!("{} of the best other engine", at_least(CLOSE)),
        "lowest".into(),
        format!("`auto` {} of the best engine", at_least(CLOSE)),
        at_least(ACCEPTABLE),
        "lowest".into(),
    ];
    let mut grid = Grid::new(&heads);
    for table in cells.tables() {
        let counted = Counted::of(&cells.of(table));
        grid.row(&counted.row(&code(&table.name)));
    }
    let all: Vec<_> = cells.tables().iter().flat_map(|table| cells.of(table)).collect();
    let counted = Counted::of(&all);
    grid.row(&counted.row("**all**"));
    let few: Vec<_> = all.iter().filter(|cell| cell.traffic == FEW_TRAFFIC).collect();
    let close = |few_told: bool| {
        let share = |cell: &&&Cell<'_>| cell.choice(few_told).is_some_and(|it| it.1 >= CLOSE);
        few.iter().filter(share).count()
    };
    let sentence = format!(
        "Folio has {} of the best other engine's rate in {} of {} cells, and is the fastest in {}. `auto` chooses an \
         engine with {} of the best rate in {} cells, and with {} in {}. Of the {} cells with Zipf traffic it has {} in \
         {}, and told of it by `traffic=few` in {}.",
        at_least(CLOSE),
        counted.folio_close,
        counted.cells,
        counted.fastest,
        at_least(CLOSE),
        counted.auto_close,
        at_least(ACCEPTABLE),
        counted.auto_acceptable,
        few.len(),
        at_least(CLOSE),
        close(false),
        close(true),
    );
    // Writing to a String cannot fail.
    let _ = write!(out, "\n{}\n{}", wrap(&sentence, ""), grid.finish());
    Ok(out)
}

/// States the circumstances of each run; of several runs with their tables.
fn provenance(cells: &Cells) -> Result<String, String> {
    let mut parts = Vec::new();
    for (run, tables) in cells.runs() {
        let names: Vec<_> = tables.iter().map(|table| code(table)).collect();
        let of = match cells.runs().len() {
            1 => String::new(),
            _ => format!("{}: ", names.join(", ")),
        };
        parts.push(wrap(&format!("{of}{}", circumstances(run)?), ""));
    }
    parts.push(wrap(
        &format!("Half the distance of the quartiles is {}.", spread(&cells.spreads())),
        "",
    ));
    Ok(parts.join("\n"))
}

/// The least share of a set of cells, and its cell.
type Lowest = Option<(f64, String)>;

/// Counts about a set of cells.
#[derive(Debug, Default)]
struct Counted {
    cells: usize,
    fastest: usize,
    folio_close: usize,
    folio_lowest: Lowest,
    auto_close: usize,
    auto_acceptable: usize,
    auto_lowest: Lowest,
}

impl Counted {
    /// Counts. A cell without a value counts as not close.
    fn of(cells: &[Cell<'_>]) -> Self {
        let mut counted = Self { cells: cells.len(), ..Self::default() };
        for cell in cells {
            let folio = cell.form(FOLIO);
            if let Some((mlps, (_, other))) = folio.zip(cell.best_other()) {
                let ratio = mlps / other;
                counted.folio_close += usize::from(ratio >= CLOSE);
                lower(&mut counted.folio_lowest, ratio, cell);
            }
            counted.fastest += usize::from(folio.is_some_and(|mlps| mlps >= cell.best()));
            if let Some((_, share)) = cell.choice(false) {
                counted.auto_close += usize::from(share >= CLOSE);
                counted.auto_acceptable += usize::from(share >= ACCEPTABLE);
                lower(&mut counted.auto_lowest, share, cell);
            }
        }
        counted
    }

    fn row(&self, name: &str) -> [String; 7] {
        let of = |n: usize| format!("{} of {}", count(n as u64), count(self.cells as u64));
        let lowest = |lowest: &Lowest| match lowest {
            Some((share, cell)) => format!("{share:.2} ({cell})"),
            None => "–".into(),
        };
        [
            name.into(),
            of(self.fastest),
            of(self.folio_close),
            lowest(&self.folio_lowest),
            of(self.auto_close),
            of(self.auto_acceptable),
            lowest(&self.auto_lowest),
        ]
    }
}

/// Keeps the lower share; of equal ones the first.
fn lower(lowest: &mut Lowest, share: f64, cell: &Cell<'_>) {
    if lowest.as_ref().is_none_or(|(least, _)| share < *least) {
        let call = match cell.call {
            Call::One => "one".into(),
            Call::Batch(size) => count(size),
        };
        *lowest = Some((share, format!("{call}, {}", cell.traffic)));
    }
}
