//! H. Asai, Y. Ohara, Poptrie (SIGCOMM 2015), section 4.

mod common;
mod cycles;
mod rates;
mod structure;
mod tables;
mod updates;

use crate::experiment::Experiment;

/// The experiments, in the order of the paper.
pub(super) fn all() -> Vec<Experiment> {
    vec![
        structure::datasets(),
        structure::depths(),
        structure::extensions(),
        rates::threads(),
        rates::comparison(),
        rates::locality(),
        cycles::cycles_of_lookups(),
        rates::trace(),
        tables::split(),
        updates::updates(),
        tables::ipv6(),
    ]
}
