//! The experiments, a room for each paper and one for our own.

mod dxr;
mod engines;
mod ours;
mod poptrie;
mod spider;
mod updates;

use super::experiment::Experiment;

/// All of them, in the order of the report.
pub(super) const ALL: &[&[Experiment]] = &[ours::ALL, poptrie::ALL, dxr::ALL, spider::ALL];
