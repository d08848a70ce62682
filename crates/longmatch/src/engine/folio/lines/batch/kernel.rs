//! The kernel: a group of addresses, first in lanes, then line by line.

use core::ops::Range;

use super::super::super::batch::front::{self, HOST, NETWORK, PAIRS};
use super::super::super::layout::Code;
use super::super::layout::{Entry, LINE_BITS, MAX_DEPTH, STAGES, Trees, View};
use super::super::lookup;
use crate::engine::kit::{KeyLayout, Keys};
use crate::net::{Ipv6, NextHopId};
use crate::simd::Work;
use crate::simd::lanes::Lanes;

/// The lookups of groups of up to `N` addresses.
///
/// The arrays are behind a reference, so that the other fields stay in registers.
pub(super) struct Kernel<'a, L: Lanes, C: Code, const N: usize, const S: usize> {
    lanes: L,
    table: &'a View<'a, C>,
    keys: &'a Keys<'a, Ipv6>,
    arrays: &'a mut Arrays<N, S>,
}

/// What a kernel knows of each address of a group. Arrays of sorted addresses have `S` words: space
/// for a vector after the last address.
pub(super) struct Arrays<const N: usize, const S: usize> {
    /// The root's entry of each address.
    entry: [u32; N],
    /// The word of each address in the first stage.
    word: [u32; N],
    /// The addresses in a tree, by depth: positions in the group.
    position: [u32; S],
    /// The words of these addresses.
    sorted_word: [u32; S],
    /// The numbers of the lines that they have reached; at last their entries.
    reached: [u32; S],
}

impl<const N: usize, const S: usize> Arrays<N, S> {
    #[inline(always)]
    pub fn new() -> Self {
        Self { entry: [0; N], word: [0; N], position: [0; S], sorted_word: [0; S], reached: [0; S] }
    }
}

/// The positions of a group.
static POSITIONS: [u32; 128] = {
    let mut positions = [0; 128];
    let mut i = 0;
    while i < 128 {
        positions[i] = i as u32;
        i += 1;
    }
    positions
};

impl<'a, L: Lanes, C: Code, const N: usize, const S: usize> Kernel<'a, L, C, N, S> {
    #[inline(always)]
    pub fn new(
        lanes: L,
        table: &'a View<'a, C>,
        keys: &'a Keys<'a, Ipv6>,
        arrays: &'a mut Arrays<N, S>,
    ) -> Self {
        const { assert!(L::COUNT <= N && N <= POSITIONS.len() && N + L::COUNT <= S) };
        Self { lanes, table, keys, arrays }
    }

    /// Answers the addresses from `start` on: whole vectors, at most `N` addresses.
    ///
    /// # Panics
    /// When there are fewer addresses than answers.
    #[inline(always)]
    pub fn group(&mut self, start: usize, out: &mut [Option<NextHopId>]) {
        let vectors = out.len() / L::COUNT;
        assert!(vectors <= N / L::COUNT && self.keys.len() - start >= out.len());
        let from = self.keys.as_ptr().wrapping_add(start * size_of::<u128>());
        match self.keys.layout() {
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Host => unsafe { self.roots::<HOST>(from, out) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::U64Pairs => unsafe { self.roots::<PAIRS>(from, out) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Network => unsafe { self.roots::<NETWORK>(from, out) },
        }
        let starts = self.sort(vectors);
        let count = starts[MAX_DEPTH as usize + 1];
        for depth in (2..=MAX_DEPTH as usize).rev() {
            self.inner_lines(starts[depth]..count);
        }
        if self.leaves(count, out) {
            let Self { lanes, table, keys, .. } = *self;
            let Arrays { reached, position, .. } = &mut *self.arrays;
            let (reached, position) = (&mut reached[..count], &mut position[..count]);
            let trees = table.trees;
            later_stages(Later { lanes, trees, keys, start, reached, position, out });
        }
    }

    /// Reads the root's entries and the words of the first stage. Writes the answers of addresses
    /// that are in no tree, and an entry for the others.
    ///
    /// # Safety
    /// `from` has as many readable addresses as there are answers, in the layout `IN`.
    #[inline(always)]
    unsafe fn roots<const IN: u8>(&mut self, from: *const u8, out: &mut [Option<NextHopId>]) {
        let l = self.lanes;
        for (v, out) in out.chunks_exact_mut(L::COUNT).enumerate() {
            front::prefetch_keys::<L, Ipv6>(from, v);
            // SAFETY: vector `v` is one of those that the caller promises.
            let [first, second] = unsafe { front::half::<L, Ipv6, IN>(l, from, v, 0) };
            let word = l.or(l.shl(first, l.splat(16)), l.shr(second, l.splat(16)));
            let mut entry = [first];
            front::replace_words(l, &self.table.trees.fixed.root, &mut entry, |index| {
                self.root_entry(index)
            });
            let at = v * L::COUNT;
            let entry = l.in_order(entry[0]);
            l.answer(entry, out);
            self.store(|arrays| &mut arrays.entry, at, entry);
            self.store(|arrays| &mut arrays.word, at, l.in_order(word));
        }
    }

    /// Stores a vector in one of the arrays.
    #[inline(always)]
    fn store(
        &mut self,
        array: impl Fn(&mut Arrays<N, S>) -> &mut [u32; N],
        at: usize,
        vector: L::V,
    ) {
        let l = self.lanes;
        let words = &mut array(self.arrays)[at..][..L::COUNT];
        // SAFETY: the slice has a vector's words.
        unsafe { l.store(words.as_mut_ptr(), vector) };
    }

    #[inline(always)]
    fn root_entry(&self, index: L::V) -> L::V {
        let entries = self.table.entries.as_ptr();
        // SAFETY: the index is at most the last one, which is below 2^31 (invariant 1).
        unsafe { self.lanes.gather_published(entries, index) }
    }

    /// Sorts the addresses in a tree by depth; returns where those of each depth start, and last
    /// their number.
    #[inline(always)]
    fn sort(&mut self, vectors: usize) -> [usize; MAX_DEPTH as usize + 2] {
        let l = self.lanes;
        let mut count = 0;
        for v in 0..vectors {
            let depth = self.depths(v);
            let more = &mut self.arrays.position[count..];
            count += l.store_chosen(l.less(l.splat(0), depth), depth, more);
        }
        let mut starts = [0; MAX_DEPTH as usize + 2];
        let mut sorted = 0;
        for depth in 1..=MAX_DEPTH {
            starts[depth as usize] = sorted;
            // Deeper ones have no addresses.
            if sorted == count {
                continue;
            }
            for v in 0..vectors {
                let at = v * L::COUNT;
                let chosen = l.equal(self.depths(v), l.splat(depth));
                let load = |words: &[u32]| {
                    // SAFETY: the slice has a vector's words.
                    unsafe { l.load(words[at..][..L::COUNT].as_ptr().cast()) }
                };
                let (positions, words) = (load(&POSITIONS), load(&self.arrays.word));
                let numbers = l.and(load(&self.arrays.entry), l.splat((1 << LINE_BITS) - 1));
                l.store_chosen(chosen, words, &mut self.arrays.sorted_word[sorted..]);
                l.store_chosen(chosen, numbers, &mut self.arrays.reached[sorted..]);
                sorted += l.store_chosen(chosen, positions, &mut self.arrays.position[sorted..]);
            }
        }
        starts[MAX_DEPTH as usize + 1] = count;
        starts
    }

    /// The depths of the entries of vector `v`.
    #[inline(always)]
    fn depths(&self, v: usize) -> L::V {
        let l = self.lanes;
        let entries = &self.arrays.entry[v * L::COUNT..][..L::COUNT];
        // SAFETY: the slice has a vector's words.
        let entries = unsafe { l.load(entries.as_ptr().cast()) };
        l.shr(entries, l.splat(LINE_BITS))
    }

    /// Descends one inner line with each of some sorted addresses.
    ///
    /// The result of a comparison takes long, so the more addresses are in flight the better:
    /// descending to the leaf with each before the next one was a fifth slower. So was a loop that
    /// also lists the addresses with more inner lines.
    #[inline(always)]
    fn inner_lines(&mut self, sorted: Range<usize>) {
        let words = &self.arrays.sorted_word[sorted.clone()];
        for (reached, word) in self.arrays.reached[sorted].iter_mut().zip(words) {
            *reached = lookup::inner(self.lanes, self.table.trees, *reached, *word);
        }
    }

    /// Reads the leaves of the sorted addresses; returns whether any has another stage.
    #[inline(always)]
    fn leaves(&mut self, count: usize, out: &mut [Option<NextHopId>]) -> bool {
        let (lanes, trees) = (self.lanes, self.table.trees);
        let mut all = 0;
        let (words, positions) =
            (&self.arrays.sorted_word[..count], &self.arrays.position[..count]);
        let sorted = self.arrays.reached[..count].iter_mut().zip(words).zip(positions);
        for ((reached, word), position) in sorted {
            let entry = lookup::leaf(lanes, trees, *reached, *word);
            *reached = entry.0;
            out[*position as usize] = NextHopId::new(entry.raw());
            all |= entry.0;
        }
        Entry(all).depth() > 0
    }
}

/// Addresses that have reached entries, some of which lead to trees of the second stage.
struct Later<'a, L, C> {
    lanes: L,
    trees: Trees<'a, C>,
    keys: &'a Keys<'a, Ipv6>,
    /// The first address of the group.
    start: usize,
    reached: &'a mut [u32],
    position: &'a mut [u32],
    out: &'a mut [Option<NextHopId>],
}

/// Answers those that are in a tree, stage by stage. Not inlined, as in `lookup.rs`.
#[inline(never)]
fn later_stages<L: Lanes, C: Code>(later: Later<'_, L, C>) {
    later.lanes.run(later);
}

impl<L: Lanes, C: Code> Work for Later<'_, L, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { lanes, trees, keys, start, reached, position, out } = self;
        let mut left = reached.len();
        for below in &STAGES[1..] {
            let all = left;
            left = 0;
            for i in 0..all {
                (reached[left], position[left]) = (reached[i], position[i]);
                left += usize::from(Entry(reached[i]).depth() > 0);
            }
            // Long tables exceed the caches, so all lines are on their way before the first is read.
            for entry in &reached[..left] {
                trees.lines.prefetch(Entry(*entry).number() as usize);
            }
            for (reached, position) in reached[..left].iter_mut().zip(&*position) {
                let addr = keys.get(start + *position as usize);
                let entry = lookup::stage(lanes, trees, Entry(*reached), addr, *below);
                *reached = entry.0;
                out[*position as usize] = NextHopId::new(entry.raw());
            }
        }
    }
}
