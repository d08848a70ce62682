//! A gather a level for a vector of addresses, several vectors in flight. Level 32 is rarely needed;
//! a well predicted branch skips it.

use super::super::layout::{LONGER, Sail};
use super::scalar;
use crate::addr::Ipv4;
use crate::next_hop::NextHopId;
use crate::simd::Lanes;

/// Vectors in flight.
const VECTORS: usize = 4;

#[inline(always)]
pub(super) fn lookup_batch<V: Lanes>(
    v: V,
    sail: &Sail,
    addrs: &[u32],
    out: &mut [Option<NextHopId>],
) {
    let groups = addrs.chunks_exact(VECTORS * V::COUNT);
    let mut out_groups = out.chunks_exact_mut(VECTORS * V::COUNT);
    let rest = groups.remainder();
    for (keys, out) in groups.zip(&mut out_groups) {
        group(v, sail, keys, out);
    }
    scalar::in_flight(sail, rest, out_groups.into_remainder());
}

#[inline(always)]
fn group<V: Lanes>(v: V, sail: &Sail, keys: &[u32], out: &mut [Option<NextHopId>]) {
    // One check of the lengths instead of one a vector.
    let (keys, out) = (&keys[..VECTORS * V::COUNT], &mut out[..VECTORS * V::COUNT]);
    let mut key = [v.splat(0); VECTORS];
    let mut hop = [v.splat(0); VECTORS];
    let mut index = [v.splat(0); VECTORS];
    let mut deep = [v.all(); VECTORS];
    for i in 0..VECTORS {
        key[i] = v.word::<Ipv4>(&keys[i * V::COUNT..], 0);
        hop[i] = bcn16(v, sail, key[i]);
    }
    for i in 0..VECTORS {
        let longer = goes_on(v, hop[i]);
        index[i] = index24(v, hop[i], key[i]);
        hop[i] = bn24(v, sail, hop[i], longer, index[i]);
        deep[i] = goes_on(v, hop[i]);
    }
    if deep.iter().any(|lanes| v.any(*lanes)) {
        for i in 0..VECTORS {
            hop[i] = n32(v, sail, hop[i], deep[i], index[i], key[i]);
        }
    }
    for i in 0..VECTORS {
        v.store(hop[i], &mut out[i * V::COUNT..]);
    }
}

/// The lanes whose entry refers to the next level.
#[inline(always)]
fn goes_on<V: Lanes>(v: V, hop: V::Vector) -> V::Mask {
    v.with_bit(hop, LONGER.trailing_zeros())
}

/// The lower halves of gathered 32 bits.
#[inline(always)]
fn entry<V: Lanes>(v: V, gathered: V::Vector) -> V::Vector {
    v.and(gathered, v.splat(0xffff))
}

/// Level 16.
#[inline(always)]
fn bcn16<V: Lanes>(v: V, sail: &Sail, key: V::Vector) -> V::Vector {
    let index = v.right(key, 16);
    // SAFETY: 16 bits (invariant 1); the last entry is followed by padding.
    entry(v, unsafe { v.gather(&sail.bcn16, index, v.all(), v.splat(0)) })
}

/// The indices in BN24 and C24.
#[inline(always)]
fn index24<V: Lanes>(v: V, bcn: V::Vector, key: V::Vector) -> V::Vector {
    let chunk = v.left(v.without(bcn, v.splat(LONGER.into())), 8);
    v.or(chunk, v.and(v.right(key, 8), v.splat(0xff)))
}

/// Level 24, for the lanes that go there.
#[inline(always)]
fn bn24<V: Lanes>(
    v: V,
    sail: &Sail,
    hop: V::Vector,
    lanes: V::Mask,
    index: V::Vector,
) -> V::Vector {
    // SAFETY: the lanes have a C16 (invariant 2); the last entry is followed by padding.
    entry(v, unsafe { v.gather(&sail.bn24, index, lanes, hop) })
}

/// Level 32, for the lanes that go there.
#[inline(always)]
fn n32<V: Lanes>(
    v: V,
    sail: &Sail,
    hop: V::Vector,
    lanes: V::Mask,
    index: V::Vector,
    key: V::Vector,
) -> V::Vector {
    // SAFETY: as for BN24 (invariant 2).
    let c24 = unsafe { v.gather(&sail.c24, index, lanes, v.splat(0)) };
    let index = v.or(v.left(c24, 8), v.and(key, v.splat(0xff)));
    // SAFETY: the lanes have a C24 (invariant 3), and chunks are few enough for 31 bits; the last
    // entry is followed by padding.
    entry(v, unsafe { v.gather(&sail.n32, index, lanes, hop) })
}
