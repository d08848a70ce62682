//! Items that several of our experiments share.

use longmatch_bench::Mode;

use crate::declaration::{Axis, Figure, RunSpec, TrafficKind};
use crate::experiment::{Experiment, Work};

pub(super) const SOURCE: &str = "ours";

pub(super) const BATCH: RunSpec = RunSpec {
    name: "routed",
    traffic: TrafficKind::Routed,
    mode: Mode::Batch,
    batch: 256,
    just_in_time: false,
    axis: Axis::None,
    brief: false,
};

/// Returns an experiment of ours, without values or claims of a paper.
pub(super) fn ours(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    work: Work,
    figures: Vec<Figure>,
) -> Experiment {
    Experiment {
        name,
        aliases: &[],
        source: SOURCE,
        title,
        about,
        setting: "",
        work,
        figures,
        papers: Vec::new(),
        claims: Vec::new(),
    }
}

/// Engines in their default variants.
pub(super) const DEFAULTS: [(&str, &str); 8] = [
    ("folio", ""),
    ("poptrie", ""),
    ("dxr", ""),
    ("spider", ""),
    ("sail", ""),
    ("dir24_8", ""),
    ("tree_bitmap", ""),
    ("radix", ""),
];
