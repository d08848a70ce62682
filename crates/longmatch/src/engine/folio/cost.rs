//! What `auto` assumes about the engine: its variants, costs and reads.

use crate::engine::kit::cost::{Costs, KIB, TypicalLookup, power};
use crate::engine::kit::{Candidate, Summary};

pub(super) const CANDIDATES: &[Candidate] =
    &[Candidate { options: &[], costs: &COSTS, lookup: typical_lookup }];

const COSTS: Costs =
    Costs { scalar: (1.0, 3.5), avx2: (0.3, 0.5), avx512: (0.3, 0.2), one: (4.0, 3.5) };

/// Codes in a leaf of ranked lines, by log2 of the bytes of a code; nine tenths are in use.
const IN_LEAF: [f64; 3] = [0.9 * 13.0, 0.9 * 11.0, 0.9 * 8.0];
/// Children of an inner line, most of which are in use.
const CHILDREN: f64 = 14.0;

/// IPv4: a root and a page of codes, whose grain saves half of the slots. IPv6: a root, inner lines
/// and leaves.
fn typical_lookup(table: &Summary, lookup: &mut TypicalLookup) {
    let log2 = match table.max_next_hop {
        0..=255 => 0,
        256..=0xffff => 1,
        _ => 2,
    };
    if table.width == 32 {
        let root = 12 + table.routes.max(1).ilog10().min(5) as u8;
        lookup.reads(1.0, power(root) * 4.0);
        lookup.reads(1.0, table.inner(root) * power(24 - root + log2 as u8) / 2.0);
        // A slot of the table of escapes, and an answer.
        let escapes = table.inner(24) * 64.0;
        lookup.reads(table.share_deeper(24), escapes);
        lookup.reads(table.share_deeper(24), escapes);
        return;
    }
    lookup.reads(1.0, (table.inner(12) * KIB).min(256.0 * KIB));
    for (cut, end) in [(20, 48), (48, 80), (80, 112), (112, 128)] {
        let (share, trees) = (table.share_deeper(cut), table.inner(cut));
        let starts = f64::from(table.deeper(cut) - table.deeper(end));
        let mut lines = (starts / IN_LEAF[log2]).max(trees);
        lookup.reads(share, lines * 64.0);
        while lines > trees {
            lines = (lines / CHILDREN).max(trees);
            lookup.reads(share, lines * 64.0);
        }
    }
}
