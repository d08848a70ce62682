//! What `auto` assumes about the engine: its variants, costs and reads.

use crate::engine::kit::cost::{Costs, TypicalLookup, power};
use crate::engine::kit::{Candidate, Summary};

pub(super) const CANDIDATES: &[Candidate] =
    &[Candidate { options: &[], costs: &COSTS, lookup: typical_lookup }];

const COSTS: Costs =
    Costs { scalar: (2.0, 5.0), avx2: (0.5, 0.3), avx512: (0.5, 0.3), one: (50.0, 25.0) };

/// Direct pointing, then a row of 256 entries for each octet.
fn typical_lookup(table: &Summary, lookup: &mut TypicalLookup) {
    let rows: f64 = table.cuts(16, 8).map(|cut| table.inner(cut)).sum();
    let entry = if table.max_next_hop <= 0xffff && rows <= 65_279.0 { 4.0 } else { 8.0 };
    lookup.reads(1.0, power(16) * entry);
    for cut in table.cuts(16, 8) {
        lookup.reads(table.share_deeper(cut), table.inner(cut) * 256.0 * entry);
    }
}
