//! One address: SAIL_L's lookup, at most three levels.

use super::layout::{CHUNK, LONGER, PADDING, Sail};
use crate::net::NextHopId;

#[inline(always)]
pub(super) fn lookup(sail: &Sail, addr: u32) -> Option<NextHopId> {
    let bcn = bcn16(sail, addr);
    if bcn & LONGER == 0 {
        return NextHopId::new(bcn.into());
    }
    let index = index24(bcn, addr);
    let bn = bn24(sail, index);
    if bn & LONGER == 0 {
        return NextHopId::new(bn.into());
    }
    NextHopId::new(n32(sail, index32(c24(sail, index), addr)).into())
}

/// Reads the entry of BCN16 for an address.
#[inline(always)]
pub(super) fn bcn16(sail: &Sail, addr: u32) -> u16 {
    let index = (addr >> 16) as usize;
    debug_assert!(index < sail.bcn16.len() - PADDING);
    // SAFETY: the index has 16 bits, and there are 2^16 entries (invariant 1).
    unsafe { *sail.bcn16.get_unchecked(index) }
}

/// The index in BN24 and C24 that an entry of BCN16 with a C16 leads to.
#[inline(always)]
pub(super) fn index24(bcn: u16, addr: u32) -> usize {
    usize::from(bcn & !LONGER) * CHUNK + (addr >> 8) as usize % CHUNK
}

/// Reads an entry of BN24.
#[inline(always)]
pub(super) fn bn24(sail: &Sail, index: usize) -> u16 {
    debug_assert!(index < sail.bn24.len() - PADDING);
    // SAFETY: the index is in a chunk that BCN16 refers to (invariant 2).
    unsafe { *sail.bn24.get_unchecked(index) }
}

/// Reads an entry of C24.
#[inline(always)]
pub(super) fn c24(sail: &Sail, index: usize) -> u32 {
    debug_assert!(index < sail.c24.len());
    // SAFETY: the index is in a chunk that BCN16 refers to (invariant 2).
    unsafe { *sail.c24.get_unchecked(index) }
}

/// The index in N32 that an entry of C24 leads to.
#[inline(always)]
pub(super) fn index32(c24: u32, addr: u32) -> usize {
    c24 as usize * CHUNK + addr as usize % CHUNK
}

/// Reads an entry of N32.
#[inline(always)]
pub(super) fn n32(sail: &Sail, index: usize) -> u16 {
    debug_assert!(index < sail.n32.len() - PADDING);
    // SAFETY: the index is in a chunk that C24 refers to (invariant 3).
    unsafe { *sail.n32.get_unchecked(index) }
}
