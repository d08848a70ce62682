//! Items that several experiments of the paper share.

use longmatch_bench::Mode;

use crate::claim::{Claim, Judge};
use crate::declaration::{Axis, Papers, RunSpec, TrafficKind};

pub(super) const SETTING: &str = "Intel Core i7-4770K, 3.9 GHz, 8 MiB of L3; REAL-Tier1-A: 531,489 prefixes, 13 next \
                       hops, and REAL-Tier1-B: 524,170 prefixes, 9 next hops";

/// Random addresses one after the other, each generated just before its lookup (4.2).
pub(super) const JUST_IN_TIME: RunSpec = RunSpec {
    name: "just in time",
    traffic: TrafficKind::Random,
    mode: Mode::One,
    batch: 256,
    just_in_time: true,
    axis: Axis::None,
    brief: false,
};
pub(super) const ARRAY: RunSpec =
    RunSpec { name: "from an array", just_in_time: false, ..JUST_IN_TIME };
pub(super) const BATCH: RunSpec = RunSpec { name: "batches of 256", mode: Mode::Batch, ..ARRAY };
pub(super) const J: &str = JUST_IN_TIME.name;

pub(super) const POPTRIE18: &str = "poptrie:s=18";

pub(super) fn claim(
    id: &'static str,
    section: &'static str,
    text: &'static str,
    judge: Judge,
) -> Claim {
    Claim { id, section, text, family: "ipv4", needs: Vec::new(), judge }
}

pub(super) fn papers(
    figure: &'static str,
    run: &'static str,
    metric: &'static str,
    values: &[(&'static str, f64)],
) -> Papers {
    Papers { figure, family: "ipv4", run, metric, x: None, values: values.to_vec() }
}

pub(super) const ENGINES: [(&str, &str); 12] = [
    ("radix", "Radix"),
    ("tree_bitmap:stride=4", "Tree BitMap"),
    ("tree_bitmap:stride=6", "Tree BitMap (64-ary)"),
    ("dir24_8", ""),
    ("sail", "SAIL"),
    ("dxr:d=16", "D16R"),
    ("dxr:d=18", "D18R"),
    ("poptrie:s=0", "Poptrie0"),
    ("poptrie:s=16", "Poptrie16"),
    (POPTRIE18, "Poptrie18"),
    ("spider:lanes=16", ""),
    ("folio", ""),
];

/// The parts of Poptrie that the paper counts.
pub(super) const PARTS: &[(&str, &str)] = &[("internal nodes", "nodes"), ("leaves", "leaves")];
