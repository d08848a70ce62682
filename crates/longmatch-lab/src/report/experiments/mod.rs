//! The experiments, a room for each paper and one for our own.

mod engines;
mod poptrie;

use super::experiment::Experiment;

/// All of them, in the order of the report.
pub(super) const ALL: &[&[Experiment]] = &[poptrie::ALL];
