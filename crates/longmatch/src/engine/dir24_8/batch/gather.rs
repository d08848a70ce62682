//! Gathers of a vector of entries, several vectors in flight, the entries of `tbl24` asked for ahead.
//!
//! The vectors of a group go through each level together, so that their gathers overlap. IPv4 is
//! best with two vectors, as more is only more registers: the gathers of `tbl24` do not depend on
//! each other, and few addresses go on. IPv6 has chains of gathers and is best with six. Asking
//! ahead for a whole group at once instead of vector by vector was 10-15 % slower; 256 addresses
//! ahead were as good as 192, 512 were 10 % slower.

use super::super::layout::{Dir24_8, Entry, FIRST_BITS, GROUP_BITS, GROUP_SLOTS};
use super::super::lookup;
use super::ask_for;
use crate::addr::Family;
use crate::next_hop::NextHopId;
use crate::simd::Lanes;

/// How many addresses ahead entries of `tbl24` are asked for.
const AHEAD: usize = 192;

/// Answers all addresses.
///
/// # Safety
/// An index into `tbl8` fits an `i32`.
#[inline(always)]
pub(super) unsafe fn lookup_batch<V: Lanes, F: Family, E: Entry>(
    v: V,
    tables: &Dir24_8<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    if F::WIDTH == 32 {
        // SAFETY: as the caller promises.
        unsafe { in_groups::<V, F, E, 2>(v, tables, addrs, out) }
    } else {
        // SAFETY: as the caller promises.
        unsafe { in_groups::<V, F, E, 6>(v, tables, addrs, out) }
    }
}

/// As [`lookup_batch`], in groups of `N` vectors, then of one, then address by address.
#[inline(always)]
unsafe fn in_groups<V: Lanes, F: Family, E: Entry, const N: usize>(
    v: V,
    tables: &Dir24_8<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let mut at = 0;
    while addrs.len() - at >= N * V::COUNT {
        // SAFETY: as the caller promises.
        unsafe { group::<V, F, E, N>(v, tables, &addrs[at..], &mut out[at..]) };
        at += N * V::COUNT;
    }
    while addrs.len() - at >= V::COUNT {
        // SAFETY: as the caller promises.
        unsafe { group::<V, F, E, 1>(v, tables, &addrs[at..], &mut out[at..]) };
        at += V::COUNT;
    }
    for (key, out) in addrs[at..].iter().zip(&mut out[at..]) {
        *out = lookup::lookup(tables, *key);
    }
}

/// Answers the first `N` vectors of the addresses.
///
/// # Safety
/// As [`lookup_batch`].
#[inline(always)]
unsafe fn group<V: Lanes, F: Family, E: Entry, const N: usize>(
    v: V,
    tables: &Dir24_8<F, E>,
    keys: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let mut word = [v.splat(0); N];
    let mut entry = [v.splat(0); N];
    let mut going_on = [v.all(); N];
    for i in 0..N {
        let first = i * V::COUNT;
        if let Some(later) = keys.get(first + AHEAD..first + AHEAD + V::COUNT) {
            ask_for(tables, later);
        }
        word[i] = v.word::<F>(&keys[first..], 0);
        let index = v.right(word[i], 32 - FIRST_BITS);
        // SAFETY: 24 bits index the table (invariant 1).
        entry[i] = unsafe { gather(v, &tables.tbl24, index, v.all(), entry[i]) };
        going_on[i] = v.with_bit(entry[i], E::BITS - 1);
    }
    let is_group = v.splat(1 << (E::BITS - 1));
    let mut depth = FIRST_BITS;
    while depth < F::WIDTH && going_on.iter().any(|lanes| v.any(*lanes)) {
        for i in 0..N {
            if !v.any(going_on[i]) {
                continue;
            }
            if depth.is_multiple_of(32) {
                word[i] = v.word::<F>(&keys[i * V::COUNT..], depth / 32);
            }
            let slot = v.and(v.right(word[i], 24 - depth % 32), v.splat(GROUP_SLOTS as u32 - 1));
            let index = v.or(v.left(v.without(entry[i], is_group), GROUP_BITS), slot);
            // SAFETY: the lanes that go on name groups inside `tbl8` (invariant 2), and its indices
            // fit, as the caller promises.
            entry[i] = unsafe { gather(v, &tables.tbl8, index, going_on[i], entry[i]) };
            going_on[i] = v.both(going_on[i], v.with_bit(entry[i], E::BITS - 1));
        }
        depth += GROUP_BITS;
    }
    for (i, entry) in entry.into_iter().enumerate() {
        // All entries answer, so their top bits are clear (invariant 3).
        v.store(entry, &mut out[i * V::COUNT..]);
    }
}

/// The entries at the indices of the lanes in the set; `other` in the other lanes.
///
/// # Safety
/// The indices of the lanes in the set are in range.
#[inline(always)]
unsafe fn gather<V: Lanes, E: Entry>(
    v: V,
    table: &[E],
    index: V::Vector,
    lanes: V::Mask,
    other: V::Vector,
) -> V::Vector {
    if E::BITS == 32 {
        // SAFETY: as the caller promises.
        return unsafe { v.gather(table, index, lanes, other) };
    }
    let one = v.splat(1);
    // SAFETY: as the caller promises; the array has an even length, so the whole pair is inside.
    let pair = unsafe { v.gather(table, v.without(index, one), lanes, other) };
    let entry = v.right_each(pair, v.left(v.and(index, one), 4));
    v.select(lanes, v.and(entry, v.splat(u16::MAX.into())), other)
}
