//! Functions that measure for the Spider paper (IEEE Access 2020), sections III and V.

mod batched;
mod forwarding;
mod frequency;

use crate::declaration::{Axis, RunSpec, TrafficKind};
use crate::experiment::Function;

use longmatch_bench::Mode;

const SPIDER: &str = "spider:lanes=16";
const POPTRIE18: &str = "poptrie:s=18";
/// The paper's DIR-24-8 is that of DPDK, with 32-bit entries.
const DIR_24_8: &str = "dir24_8:entry=32";
const D18R: &str = "dxr:d=18:search=paper";

/// One lookup after the other, each key generated just before its lookup (V-A).
const ONE: RunSpec = calls(Mode::One, 1);
/// An iteration of Spider: sixteen keys, generated just before.
const SIXTEEN: RunSpec = calls(Mode::Batch, 16);

const fn calls(mode: Mode, batch: usize) -> RunSpec {
    RunSpec {
        name: String::new(),
        traffic: TrafficKind::SpiderRandom,
        mode,
        batch,
        just_in_time: true,
        axis: Axis::None,
        brief: true,
        store: false,
    }
}

/// Returns the function with this name.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "frequencies" => (frequency::run, |_, _| 0.1),
        "forwarding" => (forwarding::run, forwarding::seconds),
        "batched updates" => (batched::run, batched::seconds),
        _ => return None,
    })
}
