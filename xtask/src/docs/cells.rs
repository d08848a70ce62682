//! Cells of the generated tables: values, or the reasons why there are none.

use super::markdown::{Notes, number};
use super::records::{Records, Table, Value};

/// The figure of rates in batches.
pub const BATCH: &str = "traffic-batch";
/// The figure of rates of single addresses.
pub const ONE: &str = "traffic-one";
/// The traffic of the short tables.
pub const SHORT: [&str; 3] = ["random", "routed", "zipf"];
/// The traffic of the complete tables.
pub const ALL: [&str; 5] = ["random", "routed", "zipf", "sequential", "repeated"];

/// Note for a value that the records lack.
const NOT_MEASURED: &str = "Not measured in this run.";

/// The values of a figure about one table.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The records.
    pub records: &'a Records,
    /// The figure.
    pub figure: &'a str,
    /// The table.
    pub table: &'a Table,
}

impl<'a> Shown<'a> {
    /// Returns the values, in the order of the records.
    pub fn values(self) -> impl Iterator<Item = &'a Value> {
        let own = move |it: &&Value| it.table == self.table.name && it.family == self.table.family;
        self.records.figure(self.figure).filter(own)
    }

    /// Returns the engines, in the order of the records.
    pub fn engines(self) -> Vec<&'a str> {
        let mut engines: Vec<&str> = Vec::new();
        for value in self.values() {
            if !engines.contains(&value.engine.as_str()) {
                engines.push(&value.engine);
            }
        }
        engines
    }

    /// Returns the value of an engine in a run configuration.
    pub fn value(self, engine: &str, run: &str, metric: &str) -> Option<&'a Value> {
        self.values().find(|it| it.engine == engine && it.run == run && it.metric == metric)
    }

    /// Formats the rate of an engine under a kind of traffic.
    pub fn rate(self, engine: &str, run: &str, notes: &mut Notes) -> String {
        cell(self.value(engine, run, "rate"), notes)
    }

    /// Formats the rates of an engine under several kinds of traffic in one cell.
    pub fn rates(self, engine: &str, runs: &[&str], notes: &mut Notes) -> String {
        let cells: Vec<_> = runs.iter().map(|run| self.rate(engine, run, notes)).collect();
        match cells.iter().all(|cell| *cell == cells[0] && cell.starts_with('–')) {
            true => cells[0].clone(),
            false => cells.join(" / "),
        }
    }

    /// Formats the memory of an engine in MiB; a note gives the reason if the engine refuses the table.
    pub fn memory(self, engine: &str, notes: &mut Notes) -> String {
        let refused = || self.values().find(|it| it.engine == engine && it.value.is_err());
        cell(self.value(engine, "", "memory").or_else(refused), notes)
    }

    /// Returns the reason why an engine has no values; `None` if it has one.
    pub fn refusal(self, engine: &str) -> Option<&'a str> {
        let mut own = self.values().filter(|it| it.engine == engine).map(|it| &it.value);
        let first = own.next()?.as_ref().err()?;
        own.all(Result::is_err).then_some(first.as_str())
    }

    /// Returns the variant that represents an engine: the first one with a value, or the first one.
    pub fn representative(self, base: &str) -> Option<&'a str> {
        let variants = self.engines().into_iter().filter(|engine| base_of(engine) == base);
        let variants: Vec<_> = variants.collect();
        let holds = variants.iter().find(|engine| self.refusal(engine).is_none());
        holds.or(variants.first()).copied()
    }

    /// Returns the share of the addresses with a route, such as `79 %`.
    pub fn routed(self, run: &str) -> Result<String, String> {
        let Table { name, family, .. } = self.table;
        let anchor = format!("{}-{family}-{name}", self.figure);
        let text = self.records.condition(&anchor, &format!("traffic, {run}"))?;
        let share = text.split(", ").find_map(|part| part.strip_suffix(" with a route"));
        // The percent sign stays on the line of its number.
        share
            .map(|share| share.replace(' ', "\u{a0}"))
            .ok_or_else(|| format!("`{text}` states no share with a route"))
    }
}

/// Returns the engine of a variant: `dxr` of `dxr:xl`.
pub fn base_of(engine: &str) -> &str {
    engine.split(':').next().unwrap_or(engine)
}

/// Formats a value, or a dash and a note with the reason why there is none.
pub fn cell(value: Option<&Value>, notes: &mut Notes) -> String {
    match value.map(|it| &it.value) {
        Some(Ok(value)) => number(*value),
        Some(Err(reason)) => format!("–{}", notes.mark(format!("No value. {reason}."))),
        None => format!("–{}", notes.mark(NOT_MEASURED.into())),
    }
}
