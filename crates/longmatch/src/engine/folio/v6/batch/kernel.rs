//! The kernel: blocks of some vectors through root, pages and leaves; then lists of addresses.

use super::super::super::batch::front::{self, HOST, NETWORK, PAIRS};
use super::super::layout::{
    CODES, Entry, LINE, MINI, PAGE, PLACE, RUN, View, home, word as half_of_addr,
};
use super::super::leaf::{LINE_WORDS, MINI_WORDS, all_ones};
use super::super::lookup::{self, Place, Step};
use crate::engine::kit::{KeyLayout, Keys};
use crate::mem::LiveMemory;
use crate::net::{Ipv6, NextHopId};
use crate::simd::lanes::Lanes;
use crate::simd::prefetch_bytes;

/// The lookups of groups of up to `N` addresses.
pub(super) struct Kernel<'a, L: Lanes, const N: usize, const S: usize> {
    lanes: L,
    table: &'a View<'a, LiveMemory>,
    keys: &'a Keys<'a, Ipv6>,
    arrays: &'a mut Arrays<N, S>,
}

/// What a kernel knows of each address of a group. Lists have `S` words: space for a vector after the
/// last address.
pub(super) struct Arrays<const N: usize, const S: usize> {
    /// The entry that each address has reached.
    entry: [u32; N],
    /// The word of each address without the bits that its entry drops.
    word: [u32; N],
    /// The addresses in a line: positions in the group.
    lines: [u32; S],
    /// The addresses at rare entries.
    rare: [u32; S],
    counts: [usize; 2],
}

impl<const N: usize, const S: usize> Arrays<N, S> {
    #[inline(always)]
    pub fn new() -> Self {
        Self { entry: [0; N], word: [0; N], lines: [0; S], rare: [0; S], counts: [0; 2] }
    }
}

/// The positions of a group.
pub(super) static POSITIONS: [u32; 128] = {
    let mut positions = [0; 128];
    let mut i = 0;
    while i < 128 {
        positions[i] = i as u32;
        i += 1;
    }
    positions
};

/// The vectors of a block: the two words of the upper half, and the entries reached.
struct Lane<V> {
    words: [V; 2],
    entry: V,
}

impl<'a, L: Lanes, const N: usize, const S: usize> Kernel<'a, L, N, S> {
    #[inline(always)]
    pub fn new(
        lanes: L,
        table: &'a View<'a, LiveMemory>,
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
        self.arrays.counts = [0; 2];
        match self.keys.layout() {
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Host => unsafe { self.blocks::<HOST>(from, out) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::U64Pairs => unsafe { self.blocks::<PAIRS>(from, out) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Network => unsafe { self.blocks::<NETWORK>(from, out) },
        }
        self.lines(out);
        if self.arrays.counts[1] > 0 {
            self.rounds(start, out);
        }
    }

    /// # Safety
    /// `from` has as many readable addresses as there are answers, in the layout `IN`.
    #[inline(always)]
    unsafe fn blocks<const IN: u8>(&mut self, from: *const u8, out: &mut [Option<NextHopId>]) {
        const VECTORS: usize = 4;
        let vectors = out.len() / L::COUNT;
        let mut v = 0;
        while v + VECTORS <= vectors {
            // SAFETY: the vectors are some of those that the caller promises.
            unsafe { self.block::<IN, VECTORS>(from, v, out) };
            v += VECTORS;
        }
        while v < vectors {
            // SAFETY: the vector is one of those that the caller promises.
            unsafe { self.block::<IN, 1>(from, v, out) };
            v += 1;
        }
    }

    /// Answers `V` vectors of addresses, or adds them to the lists.
    ///
    /// # Safety
    /// The addresses of the vectors from `first` on are readable, in the layout `IN`.
    #[inline(always)]
    unsafe fn block<const IN: u8, const V: usize>(
        &mut self,
        from: *const u8,
        first: usize,
        out: &mut [Option<NextHopId>],
    ) {
        let l = self.lanes;
        let mut lanes: [Lane<L::V>; V] = core::array::from_fn(|v| {
            front::prefetch_keys::<L, Ipv6>(from, first + v);
            // SAFETY: the vector is one of those that the caller promises.
            let words = unsafe { front::half::<L, Ipv6, IN>(l, from, first + v, 0) };
            Lane { entry: self.root(words), words }
        });
        let mut union = l.splat(0);
        lanes.iter().for_each(|lane| union = l.or(union, lane.entry));
        if l.union(union) >= CODES {
            for _ in 0..self.table.fixed.steps {
                lanes.iter_mut().for_each(|lane| self.page(lane));
            }
            self.leaves(&mut lanes);
            self.list(&lanes, first);
        }
        for (v, lane) in lanes.iter().enumerate() {
            l.answer(l.in_order(lane.entry), &mut out[(first + v) * L::COUNT..]);
        }
    }

    /// Reads the root's entries.
    #[inline(always)]
    fn root(&self, words: [L::V; 2]) -> L::V {
        root(self.lanes, *self.table, words)
    }

    /// The low 32 bits of the upper half without the bits that an entry drops.
    #[inline(always)]
    fn shifted(&self, [high, low]: [L::V; 2], drop: L::V) -> L::V {
        let (l, width) = (self.lanes, self.lanes.splat(32));
        // A shift by 32 or more, or by less than 0, makes zero.
        let of_low = l.or(l.shr(low, drop), l.shl(high, l.sub(width, drop)));
        l.or(of_low, l.shr(high, l.sub(drop, width)))
    }

    /// The low 32 bits of the upper half without the bits that the entries drop.
    #[inline(always)]
    fn word(&self, lane: &Lane<L::V>) -> L::V {
        let l = self.lanes;
        let drop = l.and(l.shr(lane.entry, l.splat(24)), l.splat(63));
        self.shifted(lane.words, drop)
    }

    /// Makes a step in the lanes whose entries are pages.
    #[inline(always)]
    fn page(&self, lane: &mut Lane<L::V>) {
        let l = self.lanes;
        let is_page = l.negative(l.and(lane.entry, l.add(lane.entry, lane.entry)));
        let index = l.and(l.add(lane.entry, self.word(lane)), l.splat(PLACE));
        // Other lanes read the first entry: where a table has any entry but answers, it may have no
        // pages, but the array ends with a word of its own.
        let index = l.select(is_page, index, l.splat(0));
        // SAFETY: the index of a page's entry for an address that reaches it (invariant 2), or 0.
        let next = unsafe { l.gather_published(self.table.pages.as_ptr(), index) };
        lane.entry = l.select(is_page, next, lane.entry);
    }

    /// Replaces entries of codes and of minis with next hops; stores the others for the lists.
    #[inline(always)]
    fn leaves<const V: usize>(&mut self, lanes: &mut [Lane<L::V>; V]) {
        let l = self.lanes;
        let (log2, codes) = (self.table.fixed.log2, self.table.codes.as_ptr());
        let is_mini = |entry| l.less(l.splat(MINI - 1), entry);
        let mut minis = false;
        for lane in &mut *lanes {
            let of_codes = l.both(l.less(l.splat(CODES - 1), lane.entry), l.less(lane.entry, l.splat(MINI)));
            minis |= l.any(is_mini(lane.entry));
            if !l.any(of_codes) {
                continue;
            }
            let index = l.and(l.add(lane.entry, self.word(lane)), l.splat(PLACE));
            let none = l.splat(0);
            let code = match log2 {
                // SAFETY: the index of a code for an address that reaches it (invariant 2); the word
                // behind an array keeps its gather inside.
                0 => unsafe { l.gather_codes_where::<1>(of_codes, codes, index, none) },
                // SAFETY: as for 8 bits.
                1 => unsafe { l.gather_codes_where::<2>(of_codes, codes, index, none) },
                // SAFETY: as for 8 bits.
                _ => unsafe { l.gather_codes_where::<4>(of_codes, codes, index, none) },
            };
            let code = l.and(code, l.splat(all_ones(log2)));
            lane.entry = l.select(of_codes, self.hops(code, of_codes), lane.entry);
        }
        if minis {
            for lane in lanes {
                let chosen = is_mini(lane.entry);
                let code = self.mini(lane, chosen);
                lane.entry = l.select(chosen, self.hops(code, chosen), lane.entry);
            }
        }
    }

    /// The codes of minis.
    #[inline(always)]
    fn mini(&self, lane: &Lane<L::V>, chosen: L::M) -> L::V {
        let l = self.lanes;
        let drop = l.and(l.shr(lane.entry, l.splat(24)), l.splat(63));
        let shift = l.shl(l.sub(drop, l.splat(48)), l.splat(4));
        let word = self.shifted(lane.words, shift);
        let place = l.select(chosen, l.and(lane.entry, l.splat(PLACE)), l.splat(0));
        let (pair, base) = (l.add(place, place), self.table.minis.as_ptr().cast());
        const { assert!(MINI_WORDS == 4) };
        // SAFETY: the places are those of minis (invariant 2), or of the first one.
        let [first, second] = unsafe { l.gather_pairs(base, pair) };
        // SAFETY: the second halves of the same minis.
        let [low, high] = unsafe { l.gather_pairs(base, l.add(pair, l.splat(1))) };
        let top = l.splat(1 << 31);
        let word = l.sub(word, top);
        let low = l.select(l.less(l.sub(first, top), word), l.shr(low, l.splat(16)), low);
        l.and(l.select(l.less(l.sub(second, top), word), high, low), l.splat(0xffff))
    }

    /// The next hops of codes in the chosen lanes.
    #[inline(always)]
    fn hops(&self, code: L::V, chosen: L::M) -> L::V {
        let l = self.lanes;
        if !self.table.fixed.is_list {
            return code;
        }
        let code = l.select(chosen, code, l.splat(0));
        // SAFETY: the list has a next hop for every code (invariant 5).
        unsafe { l.gather_published(self.table.hops.as_ptr(), code) }
    }

    /// Adds the lanes that have no next hop yet to the lists.
    #[inline(always)]
    fn list<const V: usize>(&mut self, lanes: &[Lane<L::V>; V], first: usize) {
        let l = self.lanes;
        let mut union = l.splat(0);
        lanes.iter().for_each(|lane| union = l.or(union, lane.entry));
        if l.union(union) < LINE {
            return;
        }
        for (v, lane) in lanes.iter().enumerate() {
            let at = (first + v) * L::COUNT;
            let word = l.in_order(self.word(lane));
            let entry = l.in_order(lane.entry);
            let in_line = l.less(entry, l.splat(RUN));
            let is_rare = l.both(l.negative(entry), l.less(l.splat(RUN - 1), entry));
            // SAFETY: the slice has a vector's words.
            unsafe { l.store(self.arrays.word[at..][..L::COUNT].as_mut_ptr(), word) };
            // SAFETY: the slice has a vector's words.
            unsafe { l.store(self.arrays.entry[at..][..L::COUNT].as_mut_ptr(), entry) };
            // SAFETY: the slice has a vector's words.
            let positions = unsafe { l.load(POSITIONS[at..][..L::COUNT].as_ptr().cast()) };
            let Arrays { lines, rare, counts, .. } = &mut *self.arrays;
            counts[0] += l.store_chosen(in_line, positions, &mut lines[counts[0]..]);
            counts[1] += l.store_chosen(is_rare, positions, &mut rare[counts[1]..]);
        }
    }

    /// Reads the lines of the addresses in the list.
    #[inline(always)]
    fn lines(&mut self, out: &mut [Option<NextHopId>]) {
        let table = *self.table;
        let Arrays { entry, word, lines, counts, .. } = &*self.arrays;
        let lines = &lines[..counts[0]];
        for position in lines {
            let place = Entry(entry[*position as usize]).place();
            prefetch_bytes(table.lines.as_ptr().wrapping_add(LINE_WORDS * place as usize).cast());
        }
        for position in lines {
            let i = *position as usize;
            let code = lookup::line_at(self.lanes, table, Entry(entry[i]).place(), word[i] as u16);
            out[i] = NextHopId::new(lookup::hop(table, code));
        }
    }

    /// Makes one step of every rare address after the other, and prefetches its next target, until
    /// all have arrived.
    #[inline(always)]
    fn rounds(&mut self, start: usize, out: &mut [Option<NextHopId>]) {
        let (lanes, table, keys) = (self.lanes, *self.table, *self.keys);
        let Arrays { entry, rare, counts, .. } = &mut *self.arrays;
        let mut left = counts[1];
        for position in &rare[..left] {
            let at = Place { entry: Entry(entry[*position as usize]), is_lower: false };
            prefetch(table, at, keys.get(start + *position as usize));
        }
        while left > 0 {
            let all = left;
            left = 0;
            for i in 0..all {
                let position = rare[i] as usize;
                let i = position % N;
                let addr = keys.get(start + i);
                let at = Place { entry: Entry(entry[i]), is_lower: position >= N };
                match lookup::step(lanes, table, at, addr) {
                    Step::Hop(hop) => out[i] = NextHopId::new(hop),
                    Step::Entry(next) if next.entry.0 < CODES => {
                        out[i] = NextHopId::new(next.entry.0);
                    }
                    Step::Entry(next) => {
                        prefetch(table, next, addr);
                        entry[i] = next.entry.0;
                        rare[left] = (i + if next.is_lower { N } else { 0 }) as u32;
                        left += 1;
                    }
                }
            }
        }
    }
}

/// Reads the root's entries.
#[inline(always)]
pub(super) fn root<L: Lanes>(
    l: L,
    table: View<'_, LiveMemory>,
    [high, low]: [L::V; 2],
) -> L::V {
    let fixed = table.fixed;
    let (last, shift) = (l.splat(fixed.last), u32::from(fixed.shift));
    let from_base = l.sub(high, l.splat((fixed.base >> 32) as u32));
    let index = if shift < 32 {
        // Above the last block all addresses have one entry, so that no bit is lost.
        let end = (fixed.last >> (32 - shift)) + 1;
        let high = l.shl(l.min(from_base, l.splat(end)), l.splat(32 - shift));
        l.or(high, l.shr(low, l.splat(shift)))
    } else {
        l.shr(from_base, l.splat(shift - 32))
    };
    // SAFETY: the index is at most the last one, which is below 2^31 (invariant 1).
    unsafe { l.gather_published(table.root.as_ptr(), l.min(index, last)) }
}

/// Prefetches the target of an entry other than an answer.
#[inline(always)]
pub(super) fn prefetch(table: View<'_, LiveMemory>, at: Place, addr: u128) {
    let Place { entry, is_lower } = at;
    let word = half_of_addr(addr, is_lower);
    let line = |number: u32| {
        table.lines.as_ptr().wrapping_add(LINE_WORDS * number as usize).cast::<u8>()
    };
    prefetch_bytes(match entry.0 {
        PAGE.. => table.pages.as_ptr().wrapping_add(entry.index(word) as usize).cast(),
        super::super::layout::FORK.. => line(entry.place()),
        super::super::layout::LOWER.. => {
            table.pages.as_ptr().wrapping_add(entry.place() as usize).cast()
        }
        RUN.. => line(entry.place() + home(entry.log2_lines(), addr as u64)),
        LINE.. => line(entry.place()),
        MINI.. => table.minis.as_ptr().wrapping_add(MINI_WORDS * entry.place() as usize).cast(),
        _ => {
            let at = (entry.index(word) as usize) << table.fixed.log2;
            table.codes.as_ptr().wrapping_add(at)
        }
    });
}
