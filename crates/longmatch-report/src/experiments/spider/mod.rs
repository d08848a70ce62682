//! Y. Ueno, R. Nakamura, Y. Kuga, H. Esaki, Spider (IEEE Access 2020), sections III and V.

mod batched;
mod common;
mod comparison;
mod cores;
mod cycles;
mod forwarding;
mod frequency;
mod memory;
mod ways;

use crate::experiment::Experiment;

/// The experiments, in the order of the paper.
pub(super) fn all() -> Vec<Experiment> {
    vec![
        frequency::frequency(),
        memory::memory(),
        ways::ways(),
        forwarding::forwarding(),
        comparison::comparison(),
        cycles::cycles_of_iterations(),
        cores::cores(),
        batched::batched_updates(),
    ]
}
