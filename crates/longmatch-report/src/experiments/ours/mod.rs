//! Our own experiments: users' questions that the papers do not ask.

mod batches;
mod common;
mod live;
mod misses;
mod pages;
mod peers;
mod rates;
mod roofline;
mod sizes;

use crate::experiment::Experiment;

/// The experiments, the most informative first.
pub(super) fn all() -> Vec<Experiment> {
    vec![
        rates::traffic(),
        roofline::roofline(),
        peers::peers(),
        live::live(),
        sizes::growth(),
        rates::batch_size(),
        batches::sources(),
        batches::variants(),
        sizes::small_tables(),
        misses::misses(),
        sizes::memory(),
        pages::huge_pages(),
    ]
}
