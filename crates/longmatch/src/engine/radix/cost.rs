//! What `auto` assumes about the engine: its variants, costs and reads.

use crate::engine::kit::cost::{Costs, TypicalLookup};
use crate::engine::kit::{Candidate, Summary};

pub(super) const CANDIDATES: &[Candidate] =
    &[Candidate { options: &[], costs: &COSTS, lookup: typical_lookup }];

const COSTS: Costs =
    Costs { scalar: (0.0, 8.0), avx2: (0.0, 8.0), avx512: (0.0, 8.0), one: (0.0, 4.0) };

/// Nodes of 12 bytes: one for each bit of a path, all in one array.
fn typical_lookup(table: &Summary, lookup: &mut TypicalLookup) {
    let (mut nodes, mut depth) = (table.routes as f64, 1.0);
    for cut in table.cuts(0, 1) {
        nodes += table.inner(cut);
        depth += table.share_deeper(cut);
    }
    lookup.reads(depth, nodes * 12.0);
}
