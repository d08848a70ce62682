//! What `auto` assumes about the engine: its variants, costs and reads.

use crate::engine::kit::cost::{Costs, TypicalLookup};
use crate::engine::kit::{Candidate, Summary};

pub(super) const CANDIDATES: &[Candidate] =
    &[Candidate { options: &[], costs: &COSTS, lookup: typical_lookup }];

const COSTS: Costs =
    Costs { scalar: (0.0, 16.0), avx2: (0.0, 16.0), avx512: (0.0, 16.0), one: (0.0, 14.0) };

/// Nodes of 24 bytes that each consume 6 bits, and a result for each route.
fn typical_lookup(table: &Summary, lookup: &mut TypicalLookup) {
    for cut in table.cuts(0, 6) {
        lookup.reads(table.share_deeper(cut), table.inner(cut) * 24.0);
    }
    lookup.reads(1.0, table.routes as f64 * table.hop_bytes(0xffff));
}
