//! What `auto` assumes about the engine: its variants, costs and reads.

use crate::engine::kit::cost::{Costs, TypicalLookup, power};
use crate::engine::kit::{Candidate, Summary};

pub(super) const CANDIDATES: &[Candidate] =
    &[Candidate { options: &[], costs: &COSTS, lookup: typical_lookup }];

const COSTS: Costs =
    Costs { scalar: (3.0, 2.0), avx2: (2.0, 1.0), avx512: (1.5, 0.5), one: (20.0, 20.0) };

/// BCN16, then BN24 with C24 beside it, which only routes below /24 need, then N32.
fn typical_lookup(table: &Summary, lookup: &mut TypicalLookup) {
    lookup.reads(1.0, power(16) * 2.0);
    lookup.reads(table.share_deeper(16), table.inner(16) * 256.0 * 2.0);
    lookup.reads(table.share_deeper(24), table.inner(16) * 256.0 * 4.0);
    lookup.reads(table.share_deeper(24), table.inner(24) * 256.0 * 2.0);
}
