//! The experiments. Files in `experiments/` declare those of the papers; a module for each paper has the functions that
//! measure more than rates.

mod batcher;
mod cycles;
mod dxr;
mod ours;
mod poptrie;
mod spider;
#[cfg(test)]
mod tests;
mod updates;

use std::sync::LazyLock;

use crate::experiment::{Experiment, Function};
use crate::experiment_file::experiments;

/// The files of the papers, each with its name.
const FILES: [(&str, &str); 3] = [
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
            let papers = FILES.into_iter().flat_map(|(name, text)| {
                experiments(text, function).unwrap_or_else(|error| panic!("{name}: {error}"))
            });
            ours::all().into_iter().chain(papers).collect()
        });
        ALL.iter()
    }

    /// Returns the experiment with this name or alias.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|it| it.name == name || it.aliases.iter().any(|alias| alias == name))
    }
}

/// Returns the function with which an experiment measures.
fn function(name: &str) -> Option<Function> {
    let all = [cycles::function, poptrie::function, dxr::function, spider::function];
    all.into_iter().find_map(|of| of(name))
}
