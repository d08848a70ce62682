//! Gathers several vectors of entries in flight, with `tbl24` prefetched.
//!
//! The vectors of a group go through each level together, so that their gathers overlap. IPv4 is
//! best with two vectors: the gathers of `tbl24` are independent and few addresses continue, so
//! more vectors only take more registers. IPv6 has chains of gathers and is best with six.
//! Prefetching for a whole group at once instead of vector by vector was 10-15 % slower; 256
//! addresses ahead were as good as 192, 512 were 10 % slower.

use super::super::layout::{Entry, FIRST_BITS, GROUP_BITS, GROUP_SLOTS, View};
use super::prefetch_direct;
use crate::mem::Items;
use crate::net::{Family, NextHopId};
use crate::simd::lanes::Lanes;

/// Prefetch distance of entries of `tbl24`, in addresses.
const AHEAD: usize = 192;

/// Answers all addresses.
///
/// # Safety
/// An index into `tbl8` fits an `i32`.
#[inline(always)]
pub(super) unsafe fn lookup_batch<L: Lanes, F: Family, E: Entry>(
    l: L,
    tables: View<'_, F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    if F::WIDTH == 32 {
        // SAFETY: indices into `tbl8` fit an `i32`, as the caller promises.
        unsafe { in_groups::<L, F, E, 2>(l, tables, addrs, out) }
    } else {
        // SAFETY: indices into `tbl8` fit an `i32`, as the caller promises.
        unsafe { in_groups::<L, F, E, 6>(l, tables, addrs, out) }
    }
}

/// Answers all addresses in groups of `N` vectors, then of one, then one by one.
#[inline(always)]
unsafe fn in_groups<L: Lanes, F: Family, E: Entry, const N: usize>(
    l: L,
    tables: View<'_, F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let mut at = 0;
    while addrs.len() - at >= N * L::COUNT {
        // SAFETY: indices into `tbl8` fit an `i32`, as the caller promises.
        unsafe { group::<L, F, E, N>(l, tables, &addrs[at..], &mut out[at..]) };
        at += N * L::COUNT;
    }
    while addrs.len() - at >= L::COUNT {
        // SAFETY: indices into `tbl8` fit an `i32`, as the caller promises.
        unsafe { group::<L, F, E, 1>(l, tables, &addrs[at..], &mut out[at..]) };
        at += L::COUNT;
    }
    for (key, out) in addrs[at..].iter().zip(&mut out[at..]) {
        *out = tables.lookup(*key);
    }
}

/// Answers the first `N` vectors of the addresses.
///
/// # Safety
/// As [`lookup_batch`].
#[inline(always)]
unsafe fn group<L: Lanes, F: Family, E: Entry, const N: usize>(
    l: L,
    tables: View<'_, F, E>,
    keys: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let mut word = [l.splat(0); N];
    let mut entry = [l.splat(0); N];
    let mut continuing = [l.all(); N];
    for i in 0..N {
        let first = i * L::COUNT;
        if let Some(later) = keys.get(first + AHEAD..first + AHEAD + L::COUNT) {
            prefetch_direct(tables, later);
        }
        word[i] = l.word::<F>(&keys[first..], 0);
        let index = l.shr(word[i], l.splat(32 - u32::from(FIRST_BITS)));
        // SAFETY: an index has 24 bits, and the table has 2^24 entries (invariant 1).
        entry[i] = unsafe { gather(l, tables.tbl24, index, l.all(), entry[i]) };
        continuing[i] = l.with_bit(entry[i], E::BITS - 1);
    }
    let is_group = l.splat(1 << (E::BITS - 1));
    let mut depth = FIRST_BITS;
    while depth < F::WIDTH && continuing.iter().any(|lanes| l.any(*lanes)) {
        let below = l.splat(24 - u32::from(depth % 32));
        for i in 0..N {
            if !l.any(continuing[i]) {
                continue;
            }
            if depth.is_multiple_of(32) {
                word[i] = l.word::<F>(&keys[i * L::COUNT..], depth / 32);
            }
            let slot = l.and(l.shr(word[i], below), l.splat(GROUP_SLOTS as u32 - 1));
            let index =
                l.or(l.shl(l.without(entry[i], is_group), l.splat(GROUP_BITS.into())), slot);
            // SAFETY: the chosen lanes name groups inside `tbl8` (invariant 2), and its indices fit
            // an `i32`, as the caller promises.
            entry[i] = unsafe { gather(l, tables.tbl8, index, continuing[i], entry[i]) };
            continuing[i] = l.both(continuing[i], l.with_bit(entry[i], E::BITS - 1));
        }
        depth += GROUP_BITS;
    }
    for (i, entry) in entry.into_iter().enumerate() {
        // All entries answer, so their top bits are clear (invariant 3).
        l.answer(entry, &mut out[i * L::COUNT..]);
    }
}

/// Gathers the entries at the indices of the chosen lanes; the others take `other`.
///
/// Entries may be replaced meanwhile, as in [`Lanes::gather_published`].
///
/// # Safety
/// The indices of the chosen lanes are in range.
#[inline(always)]
unsafe fn gather<L: Lanes, E: Entry>(
    l: L,
    table: Items<'_, E>,
    index: L::V,
    lanes: L::M,
    other: L::V,
) -> L::V {
    let at = table.as_ptr().cast();
    if E::BITS == 32 {
        // SAFETY: the indices of the chosen lanes are in range, as the caller promises.
        return unsafe { l.gather_where::<4>(lanes, at, index, other) };
    }
    let one = l.splat(1);
    // SAFETY: the indices are in range, as the caller promises; the array has an even length, so
    // the whole pair is inside.
    let pair = unsafe { l.gather_where::<2>(lanes, at, l.without(index, one), other) };
    let entry = l.shr(pair, l.shl(l.and(index, one), l.splat(4)));
    l.select(lanes, l.and(entry, l.splat(u16::MAX.into())), other)
}
