//! What `auto` assumes about the engine: its variants, costs and reads.

use crate::engine::kit::cost::{Costs, TypicalLookup, power};
use crate::engine::kit::{Candidate, Summary};

pub(super) const CANDIDATES: &[Candidate] =
    &[Candidate { options: &[], costs: &COSTS, lookup: typical_lookup }];

const COSTS: Costs =
    Costs { scalar: (1.0, 2.0), avx2: (0.5, 1.0), avx512: (0.5, 0.5), one: (0.0, 5.0) };

/// `tbl24`, then groups of 256 entries.
fn typical_lookup(table: &Summary, lookup: &mut TypicalLookup) {
    let groups: f64 = table.cuts(24, 8).map(|cut| table.inner(cut)).sum();
    let entry = if groups <= 32_768.0 { table.hop_bytes(32_767) } else { 4.0 };
    lookup.reads(1.0, power(24) * entry);
    for cut in table.cuts(24, 8) {
        lookup.reads(table.share_deeper(cut), table.inner(cut) * 256.0 * entry);
    }
}
