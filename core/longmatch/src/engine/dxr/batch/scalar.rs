//! Several lookups in flight.
//!
//! The addresses of a group read the direct table together; those whose chunk has ranges then
//! search them together, one halving a pass, without a branch on the comparison. The reads of a
//! pass are independent.

use super::super::direct::DirectView;
use super::super::layout::{Chunk, Format, View, Word};
use super::super::lookup::{self, BranchFree, Ranges};
use crate::engine::kit::in_flight::InGroups;
use crate::net::NextHopId;

/// Addresses in a group.
const GROUP: usize = 64;

impl<E: Format, V: DirectView> InGroups<GROUP> for &View<'_, E, V> {
    type Addr = E::Word;

    #[inline(always)]
    fn one(self, key: E::Word) -> Option<NextHopId> {
        lookup::lookup::<_, _, BranchFree>(*self, key)
    }

    #[inline(always)]
    fn group(self, keys: &[E::Word; GROUP], out: &mut [Option<NextHopId>; GROUP]) {
        let dxr = *self;
        let entries = keys.map(|key| lookup::direct(dxr, key));
        let mut long = Searches::<E::Word>::new();
        let mut short = Searches::<u16>::new();
        let (words, halves) = (Ranges::long(dxr), Ranges::short(dxr));
        for i in 0..GROUP {
            let (key, entry) = (keys[i], entries[i]);
            out[i] = NextHopId::new(E::base(entry));
            let has_ranges = E::size_field(entry) != 0;
            if E::SHORT {
                let (first, size) = (E::base(entry) as usize, E::size_field(entry) as usize + 1);
                let is_short = has_ranges & E::is_short(entry);
                let chunk = Chunk { first: 2 * first, size, short: true };
                short.push(is_short, i, chunk, key.short_probe(dxr.k));
                let chunk = Chunk { first, size, short: false };
                let is_long = has_ranges & !E::is_short(entry);
                long.push(is_long, i, chunk, key.probe(dxr.k, dxr.hop_bits));
            } else {
                let has_ranges = E::size_field(entry) != 0;
                let chunk = if E::XL && !has_ranges {
                    Chunk { first: 0, size: 1, short: false }
                } else {
                    lookup::chunk(dxr, entry)
                };
                long.push(has_ranges, i, chunk, key.probe(dxr.k, dxr.hop_bits));
            }
        }
        for j in 0..short.count {
            halves.prefetch((short.lower[j % GROUP] + short.size[j % GROUP] / 2) as usize);
        }
        for j in 0..long.count {
            words.prefetch((long.lower[j % GROUP] + long.size[j % GROUP] / 2) as usize);
        }
        short.run(halves);
        long.run(words);
        for j in 0..short.count {
            let range = halves.at(short.lower[j % GROUP] as usize);
            out[usize::from(short.position[j % GROUP]) % GROUP] =
                NextHopId::new(u32::from(range & 0xff));
        }
        for j in 0..long.count {
            let range = words.at(long.lower[j % GROUP] as usize);
            out[usize::from(long.position[j % GROUP]) % GROUP] =
                NextHopId::new(range.hop(dxr.hop_bits));
        }
    }
}

/// Searches in chunks of one format, packed at the front of each array.
struct Searches<R> {
    /// Position of the address in the group.
    position: [u8; GROUP],
    /// Current range of the search.
    lower: [u32; GROUP],
    /// Number of ranges left from there on.
    size: [u32; GROUP],
    probe: [R; GROUP],
    count: usize,
    /// OR of all `size - 1`: the number of its bits is the number of passes.
    sizes: u32,
}

impl<R: Copy + Ord + Default> Searches<R> {
    #[inline(always)]
    fn new() -> Self {
        let (position, probe) = ([0; GROUP], [R::default(); GROUP]);
        Self { position, lower: [0; GROUP], size: [0; GROUP], probe, count: 0, sizes: 0 }
    }

    /// Writes a search behind the others; counts it only where `is_one`.
    #[inline(always)]
    fn push(&mut self, is_one: bool, position: usize, chunk: Chunk, probe: R) {
        let j = self.count % GROUP;
        self.position[j] = position as u8;
        self.lower[j] = chunk.first as u32;
        self.size[j] = chunk.size as u32;
        self.probe[j] = probe;
        self.count += usize::from(is_one);
        self.sizes |= if is_one { chunk.size as u32 - 1 } else { 0 };
    }

    /// Runs all searches to their end, where `lower` is the range.
    #[inline(always)]
    fn run(&mut self, ranges: Ranges<'_, R>) {
        for _ in 0..u32::BITS - self.sizes.leading_zeros() {
            for j in 0..self.count {
                let j = j % GROUP;
                let half = self.size[j] / 2;
                let middle = self.lower[j] + half;
                let after = self.probe[j] < ranges.at(middle as usize);
                self.lower[j] = core::hint::select_unpredictable(after, self.lower[j], middle);
                self.size[j] -= half;
            }
        }
    }
}
