//! What the papers do not ask, and users do.

mod limit;
mod live;
mod traffics;

use crate::report::experiment::Experiment;

/// The most telling first.
pub(super) const ALL: &[Experiment] = &[traffics::TRAFFICS, limit::LIMIT, live::LIVE];
