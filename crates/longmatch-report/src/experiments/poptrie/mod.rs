//! H. Asai, Y. Ohara, Poptrie (SIGCOMM 2015), section 4: its tables and figures.

mod comparison;
pub(super) mod cycles;
mod datasets;
mod extensions;
mod heat_map;
mod ipv6;
mod synthetic;
mod threads;
mod trace;
mod updates;

use crate::experiment::Experiment;

/// In the order of the paper.
pub(super) const ALL: &[Experiment] = &[
    datasets::TABLE_1,
    heat_map::FIGURE_7,
    extensions::TABLE_2,
    threads::FIGURE_8,
    comparison::TABLE_3,
    comparison::LOCALITY,
    cycles::FIGURE_10,
    trace::FIGURE_12,
    synthetic::TABLE_5,
    updates::UPDATES,
    ipv6::TABLE_6,
];

/// The CPU of the paper's figures.
const PAPER_CPU: &str = "Intel Core i7-4770K, 3.9 GHz, 8 MiB of L3";
/// The table of the paper's figures, unless they say another.
const PAPER_TABLE: &str = "REAL-Tier1-A: 531,489 prefixes, 13 next hops";
