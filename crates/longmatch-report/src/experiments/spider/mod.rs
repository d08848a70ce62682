//! Functions that measure for the Spider paper (IEEE Access 2020), sections III and V.

pub(super) mod batched;
pub(super) mod forwarding;
pub(super) mod frequency;

const SPIDER: &str = "spider:lanes=16";
const POPTRIE18: &str = "poptrie:s=18";
/// The paper's DIR-24-8 is that of DPDK, with 32-bit entries.
const DIR_24_8: &str = "dir24_8:entry=32";
const D18R: &str = "dxr:d=18:search=paper";
