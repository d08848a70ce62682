//! Items that several experiments of the paper share.

use longmatch_bench::Mode;

use crate::claim::{Claim, Judge, Needs};
use crate::declaration::{Axis, RunSpec, TrafficKind};

pub(super) const SETTING: &str = "Intel Xeon Gold 6130, 16 cores, 2.1 GHz (3.7 with turbo), 22 MiB of L3; full tables \
                       of two ISPs: IPv4 773,822 and 776,684 routes, IPv6 77,674 and 78,156; values of ISP-A where the \
                       paper names an ISP";

pub(super) const SPIDER: &str = "spider:lanes=16";
pub(super) const POPTRIE18: &str = "poptrie:s=18";
/// The paper's DIR-24-8 is that of DPDK, with 32-bit entries.
pub(super) const DIR_24_8: &str = "dir24_8:entry=32";

/// One lookup after the other, each key generated just before its lookup (V-A).
pub(super) const ONE: RunSpec = RunSpec {
    name: "random",
    traffic: TrafficKind::SpiderRandom,
    mode: Mode::One,
    batch: 1,
    just_in_time: true,
    axis: Axis::None,
    brief: false,
};
/// An iteration of Spider: sixteen keys, generated just before.
pub(super) const SIXTEEN: RunSpec = RunSpec { mode: Mode::Batch, batch: 16, ..ONE };

pub(super) fn claim(
    id: &'static str,
    section: &'static str,
    family: &'static str,
    text: &'static str,
    judge: Judge,
) -> Claim {
    Claim { id, section, text, family, needs: Vec::new(), judge }
}

/// Adds the need for AVX2 to a claim about the rate of Spider.
///
/// The paper measures lookups with vectors and gathers, which Spider lacks on other CPUs.
pub(super) fn with_vectors(mut claim: Claim) -> Claim {
    claim.needs.push(Needs::Fact(
        "AVX2",
        1.0,
        "the CPU has no AVX2, so Spider runs without gathers",
    ));
    claim
}
