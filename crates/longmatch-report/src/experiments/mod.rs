//! The experiments: a module for each paper and one for our own questions.

mod batcher;
mod dxr;
mod ours;
mod poptrie;
mod spider;
#[cfg(test)]
mod tests;
mod updates;

use std::sync::LazyLock;

use crate::experiment::Experiment;

impl Experiment {
    /// Iterates over all experiments in the order of the report.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        static ALL: LazyLock<Vec<Experiment>> = LazyLock::new(|| {
            [ours::all(), poptrie::all(), dxr::all(), spider::all()].into_iter().flatten().collect()
        });
        ALL.iter()
    }

    /// Returns the experiment with this name or alias.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|it| it.name == name || it.aliases.contains(&name))
    }
}
