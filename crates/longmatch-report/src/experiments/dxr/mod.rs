//! M. Zec, L. Rizzo, M. Mikuc, the page of DXR (2014 and later): its tables.

mod chunks;
mod throughput;

use crate::experiment::Experiment;

/// In the order of the page.
pub(super) const ALL: &[Experiment] = &[chunks::CHUNKS, throughput::THROUGHPUT];

/// The table of the page's figures.
const PAPER_TABLE: &str = "LINX, 22 April 2014: 513,644 prefixes, 239 next hops";
