//! What `auto` assumes about the engine: its variants, costs and reads.

use crate::engine::kit::cost::{Costs, TypicalLookup, power};
use crate::engine::kit::{Candidate, Summary};

use super::MAX_K;

pub(super) const CANDIDATES: &[Candidate] = &[
    Candidate { options: &["d=16"], costs: &COSTS, lookup: typical_lookup::<16> },
    Candidate { options: &[], costs: &COSTS, lookup: typical_lookup::<18> },
    Candidate { options: &["d=20"], costs: &COSTS, lookup: typical_lookup::<20> },
];

const COSTS: Costs =
    Costs { scalar: (4.0, 4.0), avx2: (1.0, 2.0), avx512: (1.0, 1.2), one: (25.0, 9.0) };

/// The direct table, then the binary search of a chunk of typical length. Once one cache line is
/// left, the steps read that line only.
fn typical_lookup<const D: u8>(table: &Summary, lookup: &mut TypicalLookup) {
    // `d=22:hops=k:wide` is the form that holds such next hops.
    let d = if table.width == 32 && table.max_next_hop > K18_HOPS { MAX_K } else { D };
    lookup.reads(1.0, power(d) * 4.0);
    let range = match (table.width, table.max_next_hop) {
        (32, 0..=SHORT_HOPS) => 2.0,
        (32, _) => 4.0,
        _ => 16.0,
    };
    let (ranges, chunks) = (f64::from(table.deeper(d)), table.inner(d));
    let usual = ranges / chunks.max(1.0);
    let lines = halvings(usual * range / LINE);
    let share = table.share_deeper(d);
    lookup.reads((lines + 1.0) * share, (ranges + chunks) * range);
    lookup.steps((halvings(usual) - lines) * share);
}

/// The greatest next hop of `hops=k` with K = 18.
const K18_HOPS: u32 = (1 << 18) - 1;
/// Up to this next hop most chunks are short, with none above 255.
const SHORT_HOPS: u32 = 511;
/// Bytes of a cache line.
const LINE: f64 = 64.0;

/// Number of halvings until one is left.
fn halvings(of: f64) -> f64 {
    f64::from((of as u32).max(1).ilog2())
}
