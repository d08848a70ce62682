//! One address: Algorithm 1 with one lane.

use super::layout::{DIRECT, DIRECT_OCTETS, Entry, ROW, Spider};
use crate::net::{Bits, Family, NextHopId};

#[inline(always)]
pub(super) fn lookup<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    dst: F::Bits,
) -> Option<NextHopId> {
    let mut val = entry(spider, direct_index::<F>(dst));
    let mut res = val.next_hop_index();
    let mut octet = DIRECT_OCTETS;
    while val.next_row_index() != 0 {
        val = entry(spider, row_index::<F>(val.next_row_index(), dst, octet));
        if val.next_hop_index() != 0 {
            res = val.next_hop_index();
        }
        octet += 1;
    }
    NextHopId::new(res)
}

/// Returns the index of an address's entry in the direct pointing table.
#[inline(always)]
pub(super) fn direct_index<F: Family>(dst: F::Bits) -> usize {
    DIRECT + dst.extract(0, 8 * DIRECT_OCTETS)
}

/// Returns the index of an address's entry in a row for its octet number `octet`.
#[inline(always)]
pub(super) fn row_index<F: Family>(row: usize, dst: F::Bits, octet: u8) -> usize {
    row * ROW + dst.extract(8 * octet, 8)
}

/// Reads an entry that one of the two indices above names.
#[inline(always)]
pub(super) fn entry<F, E: Entry>(spider: &Spider<F, E>, index: usize) -> E {
    debug_assert!(index < spider.fib.len());
    // SAFETY: the direct pointing table covers two octets, and a row one octet (invariant 1); a
    // next-row index is the number of a row, or 0 for EoL (invariants 2 and 3).
    unsafe { *spider.fib.get_unchecked(index) }
}
