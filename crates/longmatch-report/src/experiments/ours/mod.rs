//! What the papers do not ask, and users do.

mod batch_size;
mod growth;
mod huge_pages;
mod limit;
mod live;
mod memory;
mod misses;
mod peers;
mod small_tables;
mod traffics;

use crate::experiment::Experiment;

/// The most telling first.
pub(super) const ALL: &[Experiment] = &[
    traffics::TRAFFICS,
    limit::ROOFLINE,
    peers::PEERS,
    live::LIVE,
    growth::GROWTH,
    batch_size::BATCH_SIZE,
    small_tables::SMALL_TABLES,
    misses::MISSES,
    memory::MEMORY,
    huge_pages::HUGE_PAGES,
];
