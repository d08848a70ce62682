//! What `auto` assumes about the engine: its variants, costs and reads.

use crate::engine::kit::cost::{Costs, TypicalLookup, power};
use crate::engine::kit::{Candidate, Summary};

pub(super) const CANDIDATES: &[Candidate] = &[
    Candidate { options: &[], costs: &COSTS, lookup: typical_lookup::<18> },
    Candidate { options: &["s=16"], costs: &COSTS, lookup: typical_lookup::<16> },
    Candidate { options: &["s=12"], costs: &COSTS, lookup: typical_lookup::<12> },
];

const COSTS: Costs =
    Costs { scalar: (0.0, 3.5), avx2: (0.0, 3.5), avx512: (0.0, 2.0), one: (20.0, 14.0) };

/// Direct pointing, internal nodes of 24 bytes, and a leaf for nearly every start.
fn typical_lookup<const S: u8>(table: &Summary, lookup: &mut TypicalLookup) {
    lookup.reads(1.0, power(S) * 4.0);
    for cut in table.cuts(S, 6) {
        lookup.reads(table.share_deeper(cut), table.inner(cut) * 24.0);
    }
    let leaves = f64::from(table.deeper(S)) * table.hop_bytes(0xffff);
    lookup.reads(table.share_deeper(S), leaves);
}
