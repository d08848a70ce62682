//! The kernel: a group of addresses, first in lanes, then line by line.

use super::super::super::batch::front::{self, HOST, NETWORK, PAIRS};
use super::super::super::layout::Code;
use super::super::layout::{Entry, LINE_BITS, STAGES, View};
use super::super::lookup;
use crate::engine::kit::{KeyLayout, Keys};
use crate::net::{Ipv6, NextHopId};
use crate::simd::lanes::Lanes;

/// The lookups of groups of up to `N` addresses, a power of two.
pub(super) struct Kernel<'a, L: Lanes, C: Code, const N: usize> {
    lanes: L,
    lines: &'a View<'a, C>,
    keys: &'a Keys<'a, Ipv6>,
    /// The entry that each address has reached.
    entry: [u32; N],
    /// The word of each address in the current stage.
    word: [u32; N],
    /// Positions of the addresses at inner lines.
    inner: [u32; N],
    /// Positions of the addresses in a tree.
    tree: [u32; N],
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

impl<'a, L: Lanes, C: Code, const N: usize> Kernel<'a, L, C, N> {
    #[inline(always)]
    pub fn new(lanes: L, lines: &'a View<'a, C>, keys: &'a Keys<'a, Ipv6>) -> Self {
        const { assert!(N.is_power_of_two() && N <= POSITIONS.len() && N >= L::COUNT) };
        Self { lanes, lines, keys, entry: [0; N], word: [0; N], inner: [0; N], tree: [0; N] }
    }

    /// Answers the addresses from `start` on: whole vectors, at most `N` addresses.
    ///
    /// # Panics
    /// When there are fewer addresses than answers.
    #[inline(always)]
    pub fn group(&mut self, start: usize, out: &mut [Option<NextHopId>]) {
        let l = self.lanes;
        let vectors = out.len() / L::COUNT;
        assert!(vectors <= N / L::COUNT && self.keys.len() - start >= out.len());
        let from = self.keys.as_ptr().wrapping_add(start * size_of::<u128>());
        match self.keys.layout() {
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Host => unsafe { self.roots::<HOST>(from, vectors) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::U64Pairs => unsafe { self.roots::<PAIRS>(from, vectors) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Network => unsafe { self.roots::<NETWORK>(from, vectors) },
        }
        let (mut inner, mut tree) = self.lists(vectors);
        for stage in 1.. {
            self.inner_lines(inner);
            tree = self.leaves(tree);
            // The last stage has answers only (invariant 4).
            let Some(below) = STAGES.get(stage).filter(|_| tree > 0) else { break };
            inner = 0;
            for i in 0..tree {
                let position = self.tree[i] as usize % N;
                self.word[position] = (self.keys.get(start + position) >> below) as u32;
                self.inner[inner] = position as u32;
                inner += usize::from(Entry(self.entry[position]).depth() > 1);
            }
        }
        for (answers, entries) in out.chunks_exact_mut(L::COUNT).zip(self.entry.chunks(L::COUNT)) {
            // SAFETY: the chunk has a vector's words.
            let entries = unsafe { l.load(entries.as_ptr().cast()) };
            l.answer(entries, answers);
        }
    }

    /// Reads the root's entries and the words of the first stage.
    ///
    /// # Safety
    /// `from` has as many readable vectors of addresses, in the layout `IN`.
    #[inline(always)]
    unsafe fn roots<const IN: u8>(&mut self, from: *const u8, vectors: usize) {
        let l = self.lanes;
        for v in 0..vectors {
            front::prefetch_keys::<L, Ipv6>(from, v);
            // SAFETY: vector `v` is one of those that the caller promises.
            let [first, second] = unsafe { front::half::<L, Ipv6, IN>(l, from, v, 0) };
            let word = l.or(l.shl(first, l.splat(16)), l.shr(second, l.splat(16)));
            let mut entry = [first];
            front::replace_words(l, &self.lines.root, &mut entry, |index| self.root_entry(index));
            let at = v * L::COUNT;
            self.store(|it| &mut it.entry, at, l.in_order(entry[0]));
            self.store(|it| &mut it.word, at, l.in_order(word));
        }
    }

    /// Stores a vector in one of the arrays.
    #[inline(always)]
    fn store(&mut self, array: impl Fn(&mut Self) -> &mut [u32; N], at: usize, vector: L::V) {
        let l = self.lanes;
        let words = &mut array(self)[at..][..L::COUNT];
        // SAFETY: the slice has a vector's words.
        unsafe { l.store(words.as_mut_ptr(), vector) };
    }

    #[inline(always)]
    fn root_entry(&self, index: L::V) -> L::V {
        let entries = self.lines.entries.as_ptr();
        // SAFETY: the index is at most the last one, which is below 2^31 (invariant 1).
        unsafe { self.lanes.gather_published(entries, index) }
    }

    /// Lists the addresses at inner lines, and those in a tree; returns their numbers.
    #[inline(always)]
    fn lists(&mut self, vectors: usize) -> (usize, usize) {
        let l = self.lanes;
        let (mut inner, mut tree) = (0, 0);
        for at in (0..vectors * L::COUNT).step_by(L::COUNT) {
            let entries = &self.entry[at..][..L::COUNT];
            // SAFETY: the slice has a vector's words.
            let entries = unsafe { l.load(entries.as_ptr().cast()) };
            let positions = &POSITIONS[at..][..L::COUNT];
            // SAFETY: the slice has a vector's words.
            let positions = unsafe { l.load(positions.as_ptr().cast()) };
            let depth = l.shr(entries, l.splat(LINE_BITS));
            // No more positions than those up to this vector, so there is a vector's space.
            let more = &mut self.inner[inner..];
            inner += l.store_chosen(l.less(l.splat(1), depth), positions, more);
            let more = &mut self.tree[tree..];
            tree += l.store_chosen(l.less(l.splat(0), depth), positions, more);
        }
        (inner, tree)
    }

    /// Descends the listed addresses to their leaves.
    #[inline(always)]
    fn inner_lines(&mut self, mut count: usize) {
        while count > 0 {
            let mut rest = 0;
            for i in 0..count {
                let position = self.inner[i] as usize % N;
                let (entry, word) = (Entry(self.entry[position]), self.word[position]);
                let entry = lookup::inner(self.lanes, *self.lines, entry, word);
                self.entry[position] = entry.0;
                self.inner[rest] = position as u32;
                rest += usize::from(entry.depth() > 1);
            }
            count = rest;
        }
    }

    /// Reads the leaves of the listed addresses, and keeps those listed that have another stage;
    /// returns their number.
    #[inline(always)]
    fn leaves(&mut self, count: usize) -> usize {
        let mut rest = 0;
        for i in 0..count {
            let position = self.tree[i] as usize % N;
            let (entry, word) = (Entry(self.entry[position]), self.word[position]);
            let entry = lookup::leaf(self.lanes, *self.lines, entry, word);
            self.entry[position] = entry.0;
            self.tree[rest] = position as u32;
            rest += usize::from(entry.depth() > 0);
        }
        rest
    }
}
