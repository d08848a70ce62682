//! The experiments: a file for each paper and one for our own questions.

mod dxr;
mod ours;
mod poptrie;
mod spider;
#[cfg(test)]
mod tests;
mod updates;

use crate::experiment::Experiment;

/// All experiments, in the order of the report.
pub(crate) fn all() -> Vec<Experiment> {
    [ours::all(), poptrie::all(), dxr::all(), spider::all()].into_iter().flatten().collect()
}
