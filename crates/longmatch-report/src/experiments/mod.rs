//! The experiments. Files in `experiments/` declare them; the modules have the functions that measure more than rates.

mod batcher;
mod cycles;
mod dxr;
mod live;
mod pages;
mod poptrie;
mod spider;
#[cfg(test)]
mod tests;
mod updates;

use std::sync::LazyLock;

use crate::context::{ExperimentContext, Function};
use crate::declaration::Absence;
use crate::experiment::{Experiment, Work};
use crate::experiment_file::experiments;
use crate::inputs::{Effort, Inputs};
use crate::rates;

/// The files, each with its name, in the order of the report.
const FILES: [(&str, &str); 4] = [
    ("ours.toml", include_str!("../../experiments/ours.toml")),
    ("poptrie.toml", include_str!("../../experiments/poptrie.toml")),
    ("dxr.toml", include_str!("../../experiments/dxr.toml")),
    ("spider.toml", include_str!("../../experiments/spider.toml")),
];

impl Experiment {
    /// Iterates over all experiments in the order of the report.
    ///
    /// # Panics
    /// If a file of experiments is malformed.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        static ALL: LazyLock<Vec<Experiment>> = LazyLock::new(|| {
            let read =
                |(name, text)| experiments(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            FILES.into_iter().flat_map(read).collect()
        });
        ALL.iter()
    }

    /// Returns the experiment with this name or alias.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|it| it.name == name || it.aliases.iter().any(|alias| alias == name))
    }
}

impl Work {
    /// Measures the values.
    ///
    /// # Errors
    /// If the measurement is impossible with these inputs or on this machine.
    pub fn run(&self, context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
        match self {
            Self::Rates(all) | Self::FullRates(all) => rates::run(all, context),
            Self::Function(name) => function(name).expect("a test asks for each").0(context),
            Self::Absent(reason) => Err(Absence(reason.clone())),
        }
    }

    /// Returns the estimated seconds.
    pub fn seconds(&self, inputs: &Inputs, effort: &Effort) -> f64 {
        match self {
            Self::Rates(all) | Self::FullRates(all) => rates::seconds(all, inputs, effort),
            Self::Function(name) => function(name).expect("a test asks for each").1(inputs, effort),
            Self::Absent(_) => 0.1,
        }
    }
}

/// Returns the function with which an experiment measures.
fn function(name: &str) -> Option<Function> {
    Some(match name {
        "batched updates" => (spider::batched::run, spider::batched::seconds),
        "chunks" => (dxr::run, dxr::seconds),
        "cycles" => (cycles::run, cycles::seconds),
        "depths" => (poptrie::structure::count_depths, |inputs, _| inputs.ipv4().len() as f64),
        "forwarding" => (spider::forwarding::run, spider::forwarding::seconds),
        "frequencies" => (spider::frequency::run, spider::frequency::seconds),
        "huge pages" => (pages::run, pages::seconds),
        "live" => (live::run, live::seconds),
        "tables" => {
            (poptrie::structure::count_tables, |inputs, _| 3.0 * inputs.tables.len() as f64)
        }
        "updates" => (poptrie::updates::run, poptrie::updates::seconds),
        _ => return None,
    })
}
