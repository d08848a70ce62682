//! Binary searches in the lanes of vectors, for IPv4.
//!
//! One gather reads the middle of a search in each lane and costs the same when few lanes search.
//! Short and long ranges are searched together: a lane reads 32 bits at its range, and a short
//! range is shifted so that it compares like a long one.

use super::super::direct::{DirectView, Tables};
use super::super::layout::{Format, View};
use super::super::lookup::{self, BranchFree};
use crate::engine::kit::in_flight::InVectors;
use crate::net::{Ipv4, NextHopId};
use crate::simd::lanes::Lanes;

/// A table for this kernel, in vectors of the kind `L`.
#[derive(Clone, Copy)]
pub(super) struct Gather<'a, L, E: Format, V: DirectView>(pub L, pub &'a View<'a, E, V>);

impl<L: Lanes, E: Format<Word = u32>, V: DirectView> InVectors for Gather<'_, L, E, V> {
    type Addr = u32;
    const LANES: usize = L::COUNT;

    #[inline(always)]
    fn one(self, key: u32) -> Option<NextHopId> {
        lookup::lookup::<_, _, BranchFree>(*self.1, key)
    }

    #[inline(always)]
    fn group<const N: usize>(self, keys: &[u32], out: &mut [Option<NextHopId>]) {
        let Self(l, &dxr) = self;
        let [key, entry] = entries::<L, E, V, N>(l, dxr, keys);
        search(l, dxr, key, entry, out);
    }
}

/// Loads the addresses of a group, and gathers their entries of the direct table.
#[inline(always)]
pub(super) fn entries<L: Lanes, E: Format<Word = u32>, V: DirectView, const N: usize>(
    l: L,
    dxr: View<'_, E, V>,
    keys: &[u32],
) -> [[L::V; N]; 2] {
    let keys = &keys[..N * L::COUNT];
    let mut key = [l.splat(0); N];
    let mut entry = [l.splat(0); N];
    for v in 0..N {
        key[v] = l.word::<Ipv4>(&keys[v * L::COUNT..], 0);
        entry[v] = direct(l, dxr, key[v]);
    }
    [key, entry]
}

/// The entries of the direct table for a vector of addresses.
#[inline(always)]
fn direct<L: Lanes, E: Format<Word = u32>, V: DirectView>(
    l: L,
    dxr: View<'_, E, V>,
    key: L::V,
) -> L::V {
    let Tables { first, entries, x } = dxr.direct.tables();
    let mut index = l.shr(key, count(l, 32 - u32::from(dxr.k)));
    if x != 0 {
        let below = count(l, x.into());
        // SAFETY: an index without its x lower bits is below 2^d, so the element exists; `first`
        // has one element more, which covers the upper half of the last 32 bits gathered.
        let block = unsafe { l.gather::<2>(first.cast(), l.shr(index, below)) };
        let block = l.shl(l.and(block, l.splat(0xffff)), below);
        index = l.or(block, l.and(index, l.splat((1 << x) - 1)));
    }
    // SAFETY: an index of K bits (invariant 2), or an entry in a block that `first` names.
    unsafe { l.gather_published(entries, index) }
}

/// A count of bits to shift by, less than 32.
///
/// The mask shows this to the compiler; without it, results of counts from 32 on cost a selection each.
#[inline(always)]
fn count<L: Lanes>(l: L, bits: u32) -> L::V {
    l.splat(bits & 31)
}

/// `short` in the lanes whose chunk is in short format, `long` in the others.
#[inline(always)]
fn by_format<L: Lanes, E: Format>(l: L, entry: L::V, short: L::V, long: L::V) -> L::V {
    if E::SHORT { l.select(l.with_bit(entry, E::SIZE_BITS), short, long) } else { long }
}

/// The searches of a vector.
#[derive(Clone, Copy)]
struct Searches<L: Lanes> {
    /// Lanes that have a chunk.
    active: L::M,
    /// Current range of the search: its place in the range table, in half words.
    lower: L::V,
    /// Number of ranges left from there on.
    size: L::V,
    /// log2 of the half words in a range.
    long: L::V,
    /// Shift of a range to the upper half of a lane: 0 for a word, 16 for a half word.
    shift: L::V,
    probe: L::V,
}

impl<L: Lanes> Searches<L> {
    #[inline(always)]
    fn new<E: Format<Word = u32>, V: DirectView>(
        l: L,
        dxr: View<'_, E, V>,
        key: L::V,
        entry: L::V,
    ) -> Self {
        let (k, hop_bits) = (u32::from(dxr.k), u32::from(dxr.hop_bits));
        let (zero, one) = (l.splat(0), l.splat(1));
        let field = l.and(entry, l.splat(E::XL_MARK));
        let inside = l.shl(key, count(l, k));
        let probe = l.or(l.shr(inside, count(l, k - hop_bits)), l.splat((1 << hop_bits) - 1));
        let short_probe = l.or(l.shr(inside, count(l, k - 16)), l.splat(0x00ff_ffff));
        Self {
            active: l.less(zero, field),
            lower: l.shl(l.shr(entry, l.splat(32 - E::BASE_BITS)), one),
            size: l.add(field, one),
            long: by_format::<L, E>(l, entry, zero, one),
            shift: by_format::<L, E>(l, entry, l.splat(16), zero),
            probe: by_format::<L, E>(l, entry, short_probe, probe),
        }
    }

    /// Reads the range at a place in each lane's chunk, as 32 bits from its first byte.
    #[inline(always)]
    fn range<E: Format<Word = u32>, V: DirectView>(
        &self,
        l: L,
        dxr: View<'_, E, V>,
        place: L::V,
    ) -> L::V {
        // SAFETY: active lanes have a range of their chunk, and the two bytes after a short range
        // are readable (invariant 3). Inactive lanes do not read.
        unsafe { l.gather_where::<2>(self.active, dxr.ranges.as_ptr().cast(), place, l.splat(0)) }
    }

    /// One step of each search.
    #[inline(always)]
    fn halve<E: Format<Word = u32>, V: DirectView>(&mut self, l: L, dxr: View<'_, E, V>) {
        let half = l.shr(self.size, l.splat(1));
        let middle = l.add(self.lower, l.shl(half, self.long));
        let range = l.shl(self.range(l, dxr, middle), self.shift);
        // Unsigned: the range is at most the probe if the lesser of both is the range.
        let reached = l.equal(l.min(range, self.probe), range);
        self.lower = l.select(reached, middle, self.lower);
        self.size = l.sub(self.size, half);
    }
}

/// Answers a group of addresses, given their entries of the direct table.
#[inline(always)]
pub(super) fn search<L: Lanes, E: Format<Word = u32>, V: DirectView, const N: usize>(
    l: L,
    dxr: View<'_, E, V>,
    key: [L::V; N],
    entry: [L::V; N],
    out: &mut [Option<NextHopId>],
) {
    let mut searches = [Searches::new(l, dxr, key[0], entry[0]); N];
    let mut all = entry[0];
    for v in 1..N {
        searches[v] = Searches::new(l, dxr, key[v], entry[v]);
        all = l.or(all, entry[v]);
    }
    // As many passes as the greatest `size - 1` has bits.
    let mut sizes = l.union(all) & E::XL_MARK;
    while sizes != 0 {
        sizes >>= 1;
        for s in &mut searches {
            s.halve(l, dxr);
        }
    }
    for (v, s) in searches.iter().enumerate() {
        let long_mask = l.splat((1 << dxr.hop_bits) - 1);
        let mask = by_format::<L, E>(l, entry[v], l.splat(0xff), long_mask);
        let hop = l.shr(entry[v], l.splat(32 - E::BASE_BITS));
        let found = l.and(s.range(l, dxr, s.lower), mask);
        l.answer(l.select(s.active, found, hop), &mut out[v * L::COUNT..]);
    }
}
