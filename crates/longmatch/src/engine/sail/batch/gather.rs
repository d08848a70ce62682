//! Looks up several vectors in flight, with one gather a level. Level 32 is rarely needed; a well
//! predicted branch skips it.

use super::super::layout::{LONGER, Sail};
use crate::engine::kit::in_flight::in_groups;
use crate::net::{Ipv4, NextHopId};
use crate::simd::lanes::Lanes;

/// Vectors in flight.
const VECTORS: usize = 4;

#[inline(always)]
pub(super) fn lookup_batch<L: Lanes>(
    l: L,
    sail: &Sail,
    addrs: &[u32],
    out: &mut [Option<NextHopId>],
) {
    let groups = addrs.chunks_exact(VECTORS * L::COUNT);
    let mut out_groups = out.chunks_exact_mut(VECTORS * L::COUNT);
    let rest = groups.remainder();
    for (keys, out) in groups.zip(&mut out_groups) {
        group(l, sail, keys, out);
    }
    in_groups(sail, rest, out_groups.into_remainder());
}

#[inline(always)]
fn group<L: Lanes>(l: L, sail: &Sail, keys: &[u32], out: &mut [Option<NextHopId>]) {
    // One length check instead of one a vector.
    let (keys, out) = (&keys[..VECTORS * L::COUNT], &mut out[..VECTORS * L::COUNT]);
    let mut key = [l.splat(0); VECTORS];
    let mut hop = [l.splat(0); VECTORS];
    let mut index = [l.splat(0); VECTORS];
    let mut deep = [l.all(); VECTORS];
    for i in 0..VECTORS {
        key[i] = l.word::<Ipv4>(&keys[i * L::COUNT..], 0);
        hop[i] = bcn16(l, sail, key[i]);
    }
    for i in 0..VECTORS {
        let longer = continues(l, hop[i]);
        index[i] = index24(l, hop[i], key[i]);
        hop[i] = bn24(l, sail, hop[i], longer, index[i]);
        deep[i] = continues(l, hop[i]);
    }
    if deep.iter().any(|lanes| l.any(*lanes)) {
        for i in 0..VECTORS {
            hop[i] = n32(l, sail, hop[i], deep[i], index[i], key[i]);
        }
    }
    for i in 0..VECTORS {
        l.answer(hop[i], &mut out[i * L::COUNT..]);
    }
}

/// The lanes whose entry refers to the next level.
#[inline(always)]
fn continues<L: Lanes>(l: L, hop: L::V) -> L::M {
    l.with_bit(hop, LONGER.trailing_zeros())
}

/// The lower halves of gathered 32 bits.
#[inline(always)]
fn entry<L: Lanes>(l: L, gathered: L::V) -> L::V {
    l.and(gathered, l.splat(0xffff))
}

/// Level 16.
#[inline(always)]
fn bcn16<L: Lanes>(l: L, sail: &Sail, key: L::V) -> L::V {
    let index = l.shr(key, l.splat(16));
    // SAFETY: an index has 16 bits, so its entry exists (invariant 1); padding follows the last
    // entry.
    entry(l, unsafe { l.gather::<2>(sail.bcn16.as_ptr().cast(), index) })
}

/// The indices in BN24 and C24.
#[inline(always)]
fn index24<L: Lanes>(l: L, bcn: L::V, key: L::V) -> L::V {
    let chunk = l.shl(l.without(bcn, l.splat(LONGER.into())), l.splat(8));
    l.or(chunk, l.and(l.shr(key, l.splat(8)), l.splat(0xff)))
}

/// Level 24, for the lanes that continue there.
#[inline(always)]
fn bn24<L: Lanes>(l: L, sail: &Sail, hop: L::V, lanes: L::M, index: L::V) -> L::V {
    // SAFETY: the lanes have a C16, so their index is in BN24 (invariant 2); padding follows the
    // last entry.
    entry(l, unsafe { l.gather_where::<2>(lanes, sail.bn24.as_ptr().cast(), index, hop) })
}

/// Level 32, for the lanes that continue there.
#[inline(always)]
fn n32<L: Lanes>(l: L, sail: &Sail, hop: L::V, lanes: L::M, index: L::V, key: L::V) -> L::V {
    // SAFETY: the lanes have a C16, so their index is in C24 (invariant 2).
    let c24 = unsafe { l.gather_where::<4>(lanes, sail.c24.as_ptr().cast(), index, l.splat(0)) };
    let index = l.or(l.shl(c24, l.splat(8)), l.and(key, l.splat(0xff)));
    // SAFETY: the lanes have a C24, so their index is in N32 (invariant 3) and has 31 bits
    // (`MAX_CHUNKS_32`); padding follows the last entry.
    entry(l, unsafe { l.gather_where::<2>(lanes, sail.n32.as_ptr().cast(), index, hop) })
}
