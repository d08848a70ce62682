//! Looks up several vectors in flight, with one gather a level. Level 32 is rarely needed; a well
//! predicted branch skips it.

use super::super::layout::{LONGER, Sail};
use super::super::lookup;
use crate::engine::kit::in_flight::InVectors;
use crate::net::{Ipv4, NextHopId};
use crate::simd::lanes::Lanes;

/// A table for this kernel, in vectors of the kind `L`.
#[derive(Clone, Copy)]
pub(super) struct Gather<'a, L>(pub L, pub &'a Sail);

impl<L: Lanes> InVectors for Gather<'_, L> {
    type Addr = u32;
    const LANES: usize = L::COUNT;

    #[inline(always)]
    fn one(self, key: u32) -> Option<NextHopId> {
        lookup::lookup(self.1, key)
    }

    #[inline(always)]
    fn group<const N: usize>(self, keys: &[u32], out: &mut [Option<NextHopId>]) {
        let Self(l, sail) = self;
        // One length check instead of one a vector.
        let (keys, out) = (&keys[..N * L::COUNT], &mut out[..N * L::COUNT]);
        let mut key = [l.splat(0); N];
        let mut hop = [l.splat(0); N];
        let mut index = [l.splat(0); N];
        let mut deep = [l.all(); N];
        for i in 0..N {
            key[i] = l.word::<Ipv4>(&keys[i * L::COUNT..], 0);
            hop[i] = bcn16(l, sail, key[i]);
        }
        for i in 0..N {
            let longer = continues(l, hop[i]);
            index[i] = index24(l, hop[i], key[i]);
            hop[i] = bn24(l, sail, hop[i], longer, index[i]);
            deep[i] = continues(l, hop[i]);
        }
        if deep.iter().any(|lanes| l.any(*lanes)) {
            for i in 0..N {
                hop[i] = n32(l, sail, hop[i], deep[i], index[i], key[i]);
            }
        }
        for i in 0..N {
            l.answer(hop[i], &mut out[i * L::COUNT..]);
        }
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
