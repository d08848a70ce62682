//! The records of `cargo xtask cells`, and the cells made of them.

use std::fmt;

use serde_json::Value as Json;

use crate::docs::cells::base_of;
use crate::docs::markdown::count;
use crate::docs::records::{Run, Table, half_spread, shortened, text_of};

/// The form of Folio that is the default.
pub const FOLIO: &str = "folio";
/// The form of Folio before the forms for each family.
pub const EARLIER: &str = "folio:pages";
/// `auto`, told that destinations repeat.
pub const FEW: &str = "auto:traffic=few";

/// A way to call an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// One address after the other.
    One,
    /// Batches of this size.
    Batch(u64),
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("one"),
            Self::Batch(size) => write!(f, "batches of {}", count(*size)),
        }
    }
}

/// The records of one or more runs.
#[derive(Debug, Default)]
pub struct Cells {
    /// The runs, each with the names of its tables.
    runs: Vec<(Run, Vec<String>)>,
    /// The tables, in the order of the file.
    tables: Vec<Table>,
    /// The rates, in the order of the file.
    rates: Vec<Rate>,
    /// Engines that refuse a table: its name, the engine with its options, the reason.
    refused: Vec<[String; 3]>,
}

/// The rate of an engine.
#[derive(Debug)]
struct Rate {
    table: String,
    call: Call,
    traffic: String,
    /// The engine with all of its options.
    engine: String,
    mlps: f64,
    quartiles: Option<[f64; 2]>,
    /// The choices of `auto` that led to this engine: the options of `auto`, the chosen engine.
    choices: Vec<[String; 2]>,
}

impl Cells {
    /// Parses the lines of the file.
    ///
    /// # Errors
    /// If a line is malformed or states wrong answers, a run lacks a circumstance, or a table's records are not those
    /// of one run.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut cells = Self::default();
        for (i, line) in text.lines().enumerate() {
            let at = |problem: String| format!("line {}: {problem}", i + 1);
            let json: Json = serde_json::from_str(line).map_err(|error| at(error.to_string()))?;
            if json["record"] == "run" {
                let names = json["tables"].as_array().into_iter().flatten();
                let names = names.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
                cells.runs.push((Run::new(&json), names));
            } else {
                cells.add(&json).map_err(at)?;
            }
        }
        cells.runs.iter().try_for_each(|(run, _)| run.check())?;
        for Table { name, .. } in &cells.tables {
            let runs = cells.runs.iter().flat_map(|(_, names)| names);
            match runs.filter(|own| *own == name).count() {
                1 => {}
                n => return Err(format!("{n} lines about a run name the table `{name}`, not one")),
            }
        }
        match cells.tables.is_empty() {
            true => Err("no rates; `cargo xtask cells` measures them".into()),
            false => Ok(cells),
        }
    }

    /// Adds a rate or a refusal.
    fn add(&mut self, json: &Json) -> Result<(), String> {
        let text = |field| text_of(json, field).to_owned();
        let whole = |field: &str| json[field].as_u64().unwrap_or(0);
        let (table, error) = (text("table"), text("error"));
        if table.is_empty() {
            return Err("no `table`".into());
        }
        if !error.is_empty() {
            // Behind the last colon the tool's advice follows, which is of no use to a reader.
            let cause = error.rsplit_once(": ").map_or(&*error, |(cause, _)| cause);
            self.refused.push([table, text("spec"), cause.into()]);
            return Ok(());
        }
        let mlps = json["mlps"].as_f64().ok_or("neither a rate nor an error")?;
        let call = match text_of(json, "mode") {
            "one" => Call::One,
            "batch" => Call::Batch(whole("batch")),
            other => return Err(format!("unknown mode `{other}`")),
        };
        let engine = format!("{}:{}", text_of(json, "engine"), text_of(json, "variant"));
        let choice = |it: &Json| [text_of(it, "spec"), text_of(it, "chosen")].map(str::to_owned);
        if !self.tables.iter().any(|known| known.name == table) {
            let [routes, next_hops] = ["routes", "next_hops"].map(whole);
            let (name, family) = (table.clone(), text("family"));
            self.tables.push(Table { name, family, routes, next_hops });
        }
        self.rates.push(Rate {
            table,
            call,
            traffic: text("traffic"),
            engine: shortened(engine.trim_end_matches(':')),
            mlps,
            quartiles: json["mlps_q1"].as_f64().zip(json["mlps_q3"].as_f64()).map(<[f64; 2]>::from),
            choices: json["auto"].as_array().into_iter().flatten().map(choice).collect(),
        });
        Ok(())
    }

    /// The runs, each with the names of its tables.
    pub fn runs(&self) -> &[(Run, Vec<String>)] {
        &self.runs
    }

    /// The tables with a rate, in the order of the file.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns the engines that refuse a table, with their options and reasons.
    pub fn refused(&self, table: &Table) -> impl Iterator<Item = (&str, &str)> {
        let own = self.refused.iter().filter(|it| it[0] == table.name);
        own.map(|[_, spec, why]| (&**spec, &**why))
    }

    /// Returns the cells of a table, in the order of the file.
    pub fn of<'a>(&'a self, table: &'a Table) -> Vec<Cell<'a>> {
        let mut cells: Vec<Cell<'_>> = Vec::new();
        for rate in self.rates.iter().filter(|rate| rate.table == table.name) {
            let same =
                |cell: &&mut Cell<'_>| cell.call == rate.call && cell.traffic == rate.traffic;
            match cells.iter_mut().find(same) {
                Some(cell) => cell.rates.push(rate),
                None => cells.push(Cell {
                    table,
                    call: rate.call,
                    traffic: &rate.traffic,
                    rates: vec![rate],
                }),
            }
        }
        cells
    }

    /// Returns half the interquartile ranges of the rates as shares of the medians, in ascending order.
    pub fn spreads(&self) -> Vec<f64> {
        let of = |rate: &Rate| Some(half_spread(rate.quartiles?, rate.mlps));
        let mut all: Vec<f64> = self.rates.iter().filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// The rates on a table, in one way to call the engines, under one kind of traffic.
#[derive(Debug)]
pub struct Cell<'a> {
    /// The table.
    pub table: &'a Table,
    /// The way to call the engines.
    pub call: Call,
    /// The kind of traffic.
    pub traffic: &'a str,
    rates: Vec<&'a Rate>,
}

impl Cell<'_> {
    /// Returns the best rate of all engines.
    pub fn best(&self) -> f64 {
        self.rates.iter().map(|rate| rate.mlps).fold(0.0, f64::max)
    }

    /// Returns the fastest engine that is no form of Folio, and its rate.
    pub fn best_other(&self) -> Option<(&str, f64)> {
        let others = self.rates.iter().filter(|rate| base_of(&rate.engine) != FOLIO);
        let best = others.max_by(|a, b| a.mlps.total_cmp(&b.mlps));
        best.map(|rate| (&*rate.engine, rate.mlps))
    }

    /// Returns the rate of [`FOLIO`] or of [`EARLIER`].
    pub fn form(&self, form: &str) -> Option<f64> {
        let is_earlier = |rate: &Rate| rate.engine.split(':').take(2).eq(EARLIER.split(':'));
        let own =
            |rate: &&&Rate| base_of(&rate.engine) == FOLIO && is_earlier(rate) == (form == EARLIER);
        self.rates.iter().find(own).map(|rate| rate.mlps)
    }

    /// Returns the engine that `auto` chose, told of few destinations or not, and its share of the best rate.
    pub fn choice(&self, few: bool) -> Option<(&str, f64)> {
        let told = |spec: &str| spec.split(':').any(|option| option == "traffic=few");
        self.rates.iter().find_map(|rate| {
            let [_, chosen] = rate.choices.iter().find(|[spec, _]| told(spec) == few)?;
            Some((&**chosen, rate.mlps / self.best()))
        })
    }
}
