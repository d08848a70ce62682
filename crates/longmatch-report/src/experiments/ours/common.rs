//! Items that several of our experiments share.

use longmatch_bench::Mode;

use crate::declaration::{Axis, DeclaredEngine, Figure, RunSpec, TrafficKind};
use crate::experiment::{Experiment, Work};

pub(super) const SOURCE: &str = "ours";

pub(super) const BATCH: RunSpec = RunSpec {
    name: String::new(),
    traffic: TrafficKind::Routed,
    mode: Mode::Batch,
    batch: 256,
    just_in_time: false,
    axis: Axis::None,
    brief: false,
    store: false,
};

/// Returns an experiment of ours, without values or claims of a paper.
pub(super) fn ours(
    name: &str,
    title: &str,
    about: &str,
    work: Work,
    figures: Vec<Figure>,
) -> Experiment {
    Experiment {
        name: name.into(),
        aliases: Vec::new(),
        source: SOURCE.into(),
        title: title.into(),
        about: about.into(),
        setting: String::new(),
        work,
        engines: Vec::new(),
        figures,
        papers: Vec::new(),
        claims: Vec::new(),
    }
}

/// Returns an engine by its options.
pub(super) fn engine(spec: &str) -> DeclaredEngine {
    DeclaredEngine {
        spec: spec.into(),
        alias: String::new(),
        name: spec.into(),
        batch: None,
        x: None,
    }
}

/// Engines in their default variants.
pub(super) const DEFAULTS: [&str; 8] =
    ["folio", "poptrie", "dxr", "spider", "sail", "dir24_8", "tree_bitmap", "radix"];
