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
use crate::declaration::Skipped;
use crate::declaration::TableChoice::{All, First, Ipv4};
use crate::experiment::Experiment;
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

    /// Measures the values.
    ///
    /// # Errors
    /// If the measurement is impossible with these inputs or on this machine.
    pub(crate) fn run(&self, context: &mut ExperimentContext<'_>) -> Result<(), Skipped> {
        if let Some(reason) = &self.absent {
            return Err(Skipped(reason.clone()));
        }
        let Some((tables, _, ipv4, ipv6)) = self.function() else {
            return rates::run(&self.rates, context);
        };
        let (four, six) = context.inputs.chosen(tables);
        if four.is_empty() && six.is_empty() {
            return Err(tables.missing());
        }
        four.into_iter().try_for_each(|named| ipv4(context, named))?;
        six.into_iter().try_for_each(|named| ipv6(context, named))
    }

    /// Returns the estimated seconds.
    pub(crate) fn seconds(&self, inputs: &Inputs, effort: &Effort) -> f64 {
        let Some((tables, seconds, ..)) = self.function() else {
            return rates::seconds(&self.rates, inputs, effort).max(0.1);
        };
        let (four, six) = inputs.chosen(tables);
        (four.len() + six.len()) as f64 * seconds(self.engines.len() as f64, effort)
    }

    fn function(&self) -> Option<Function> {
        self.measure.as_ref().map(|name| function(name).expect("a test asks for each"))
    }
}

/// Returns the function with which an experiment measures.
fn function(name: &str) -> Option<Function> {
    use poptrie::{structure, updates};
    use spider::{batched, forwarding, frequency};
    Some(match name {
        "batched updates" => (First, batched::seconds, batched::on_table, batched::on_table),
        "chunks" => (Ipv4, |_, _| 1.2, dxr::on_table, |_, _| Ok(())),
        "cycles" => (Ipv4, cycles::seconds, cycles::on_table, |_, _| Ok(())),
        "depths" => (Ipv4, |_, _| 1.0, structure::count_depths, |_, _| Ok(())),
        "forwarding" => (First, forwarding::seconds, forwarding::on_table, forwarding::on_table),
        "frequencies" => (First, frequency::seconds, frequency::on_table, frequency::on_table),
        "huge pages" => (First, pages::seconds, pages::on_table, pages::on_table),
        "live" => (First, live::seconds, live::on_table, live::on_table),
        "tables" => (All, |_, _| 2.0, structure::count_with_split, structure::count),
        "updates" => (First, updates::seconds, updates::on_table, updates::on_table),
        _ => return None,
    })
}
