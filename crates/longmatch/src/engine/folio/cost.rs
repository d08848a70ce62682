//! What `auto` assumes about the engine: its variants, costs and reads.

use crate::engine::kit::cost::{Costs, KIB, MIB, TypicalLookup, power};
use crate::engine::kit::{Candidate, Summary};

pub(super) const CANDIDATES: &[Candidate] =
    &[Candidate { options: &[], costs: &COSTS, lookup: typical_lookup }];

const COSTS: Costs =
    Costs { scalar: (1.0, 3.5), avx2: (0.3, 0.5), avx512: (0.3, 0.2), one: (15.0, 14.0) };

/// A root, then pages down to /24 in IPv4; in IPv6 branch pages before them. The cuts are those
/// that Folio chose for tables of such sizes; its grain saves half of a page's slots.
fn typical_lookup(table: &Summary, lookup: &mut TypicalLookup) {
    let code = match table.max_next_hop {
        0..=255 => 1.0,
        256..=0xffff => 2.0,
        _ => 4.0,
    };
    let page = |cut: u8, end: u8| table.inner(cut) * power(end - cut) * code / 2.0;
    let branches = |cut: u8, end: u8| table.inner(cut) * power(end - cut) * 4.0;
    if table.width == 32 {
        let root = 12 + table.routes.max(1).ilog10().min(5) as u8;
        lookup.reads(1.0, power(root) * 4.0);
        lookup.reads(table.share_deeper(root), page(root, 24));
        lookup.reads(table.share_deeper(24), branches(24, 32));
    } else {
        let (first, others): (u8, &[u8]) = match table.starts {
            0..100 => (22, &[34]),
            100..20_000 => (30, &[38]),
            _ => (29, &[34, 39]),
        };
        lookup.reads(1.0, (table.inner(18) * 16.0 * KIB).min(2.0 * MIB));
        let mut cut = first;
        for end in others {
            lookup.reads(table.share_deeper(cut), branches(cut, *end));
            cut = *end;
        }
        lookup.reads(table.share_deeper(cut), page(cut, 48));
        for cut in table.cuts(48, 8) {
            lookup.reads(table.share_deeper(cut), branches(cut, cut + 8));
        }
    }
}
