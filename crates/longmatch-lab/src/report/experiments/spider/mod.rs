//! Y. Ueno, R. Nakamura, Y. Kuga, H. Esaki, Spider (IEEE Access 2020), section V: its tables and
//! figures.

mod cycles;

use crate::report::experiment::Experiment;

/// In the order of the paper.
pub(super) const ALL: &[Experiment] = &[cycles::FIGURE_10];
