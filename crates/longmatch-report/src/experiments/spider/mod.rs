//! Y. Ueno, R. Nakamura, Y. Kuga, H. Esaki, Spider (IEEE Access 2020), section V: its tables and
//! figures.

mod comparison;
mod cores;
mod cycles;
mod memory;
mod parallelism;

use crate::experiment::Experiment;

/// In the order of the paper.
pub(super) const ALL: &[Experiment] = &[
    memory::TABLE_1,
    parallelism::FIGURE_6,
    comparison::FIGURE_9,
    cycles::FIGURE_10,
    cores::FIGURE_12,
];

/// The paper's tables.
const PAPER_TABLES: &str = "BGP full routes of two ISPs, ISP-A and ISP-B: IPv4 773,822 and \
                            776,684 routes, IPv6 77,674 and 78,156";
/// The one whose values stand beside ours.
const ISP_A: &str = "BGP full route of ISP-A: IPv4 773,822 routes, IPv6 77,674";
/// Its CPU.
const PAPER_CPU: &str = "Intel Xeon Gold 6130, 16 cores, 2.1 GHz (3.7 with turbo), 22 MiB of L3";
