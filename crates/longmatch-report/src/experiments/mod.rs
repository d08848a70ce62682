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

use crate::experiment::{Experiment, Function};
use crate::experiment_file::experiments;

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
            let read = |(name, text)| {
                experiments(text, function).unwrap_or_else(|error| panic!("{name}: {error}"))
            };
            FILES.into_iter().flat_map(read).collect()
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
    match name {
        "live" => Some((live::run, live::seconds)),
        "huge pages" => Some((pages::run, pages::seconds)),
        _ => {
            let all = [cycles::function, poptrie::function, dxr::function, spider::function];
            all.into_iter().find_map(|of| of(name))
        }
    }
}
