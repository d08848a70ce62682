//! Gathers several vectors of entries in flight, with `tbl24` prefetched.
//!
//! The vectors of a group go through each level together, so that their gathers overlap. IPv4 is
//! best with two vectors: the gathers of `tbl24` are independent and few addresses continue, so
//! more vectors only take more registers. IPv6 has chains of gathers and is best with six.
//! Prefetching for a whole group at once instead of vector by vector was 10-15 % slower; 256
//! addresses ahead were as good as 192, 512 were 10 % slower.

use super::super::layout::{Entry, FIRST_BITS, GROUP_BITS, GROUP_SLOTS, View};
use super::prefetch_direct;
use crate::engine::kit::in_flight::InVectors;
use crate::mem::Items;
use crate::net::{Family, NextHopId};
use crate::simd::lanes::Lanes;

/// Prefetch distance of entries of `tbl24`, in addresses.
const AHEAD: usize = 192;

/// Tables for this kernel, in vectors of the kind `L`. Indices into `tbl8` fit an `i32`.
#[derive(Clone, Copy)]
pub(super) struct Gather<'a, L, F, E: Entry>(L, &'a View<'a, F, E>);

impl<'a, L, F, E: Entry> Gather<'a, L, F, E> {
    /// Returns `None` where an index into `tbl8` may exceed the signed 32 bits of a gather.
    #[inline(always)]
    pub(super) fn new(l: L, tables: &'a View<'a, F, E>) -> Option<Self> {
        i32::try_from(tables.tbl8_capacity).ok().map(|_| Self(l, tables))
    }
}

impl<L: Lanes, F: Family, E: Entry> InVectors for Gather<'_, L, F, E> {
    type Addr = F::Bits;
    const LANES: usize = L::COUNT;

    #[inline(always)]
    fn one(self, key: F::Bits) -> Option<NextHopId> {
        self.1.lookup(key)
    }

    #[inline(always)]
    fn group<const N: usize>(self, keys: &[F::Bits], out: &mut [Option<NextHopId>]) {
        let Self(l, &tables) = self;
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
                // an `i32`, as this type promises.
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
