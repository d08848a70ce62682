//! The kernel in vectors. The root's entries decide: where few are answers, the addresses go on to their leaves at once,
//! in registers; elsewhere the addresses without an answer are listed, and go on together. Addresses at lines and at
//! rare entries wait, with their targets prefetched, until the next group has made these steps.

use core::mem::MaybeUninit;

use super::super::layout::{
    CODES, Entry, FORK, LINE, LOWER, MAX_NEXT_HOP, MINI, PAGE, PLACE, RUN, View, home,
    word as half_of_addr,
};
use super::super::leaf::{LINE_WORDS, MINI_WORDS, all_ones};
use super::super::lookup::{self, EntryCursor, Step};
use super::front::{self, HOST, NETWORK, PAIRS};
use super::{GROUP, Group, SPACE};
use crate::engine::kit::{KeyLayout, Keys};
use crate::mem::LiveMemory;
use crate::net::{Ipv6, NextHopId};
use crate::simd::lanes::Lanes;
use crate::simd::{Work, prefetch_bytes};

/// The lookups of groups, with `D` groups in flight.
///
/// The arrays are behind a reference, so that the other fields stay in registers.
pub(super) struct Kernel<'a, L: Lanes, const D: usize> {
    lanes: L,
    table: &'a View<'a, LiveMemory>,
    keys: &'a Keys<'a, Ipv6>,
    arrays: &'a mut Arrays<D>,
}

/// `K` lists of the same length. They are not cleared, which would take as long as some lookups.
struct Lists<const K: usize>([[MaybeUninit<u32>; SPACE]; K]);

impl<const K: usize> Lists<K> {
    const NEW: Self = Self([[MaybeUninit::uninit(); SPACE]; K]);

    /// Appends the chosen lanes of a vector to each list of `at` words, and returns their number. Overwrites up to a
    /// vector's words.
    #[inline(always)]
    fn push<L: Lanes>(&mut self, l: L, mask: L::M, vectors: [L::V; K], at: usize) -> usize {
        let mut count = 0;
        for (list, vector) in self.0.iter_mut().zip(vectors) {
            let to = list[at..][..L::COUNT].as_mut_ptr();
            // SAFETY: `to` has a vector's words, by the slicing above.
            count = unsafe { l.store_chosen_at(mask, vector, to.cast()) };
        }
        count
    }

    /// Writes a vector in one of the lists.
    #[inline(always)]
    fn store<L: Lanes>(&mut self, l: L, list: usize, vector: L::V, at: usize) {
        let to = self.0[list][at..][..L::COUNT].as_mut_ptr();
        // SAFETY: `to` has a vector's words, by the slicing above.
        unsafe { l.store(to.cast(), vector) };
    }

    /// Reads a vector of each list.
    ///
    /// # Safety
    /// Their words have been written.
    #[inline(always)]
    unsafe fn load<L: Lanes>(&self, l: L, at: usize) -> [L::V; K] {
        let mut vectors = [l.splat(0); K];
        for (list, vector) in self.0.iter().zip(&mut vectors) {
            // SAFETY: a vector's words, by the slicing, which the caller guarantees to be written.
            *vector = unsafe { l.load(list[at..][..L::COUNT].as_ptr().cast()) };
        }
        vectors
    }

    /// The first words of each list.
    ///
    /// # Safety
    /// They have been written.
    #[inline(always)]
    unsafe fn first(&mut self, count: usize) -> [&mut [u32]; K] {
        self.0.each_mut().map(|list| {
            let words = list[..count].as_mut_ptr();
            // SAFETY: words of the list, which the caller guarantees to be written.
            unsafe { core::slice::from_raw_parts_mut(words.cast(), count) }
        })
    }
}

/// The addresses of a group that the root does not answer, and those that wait. There is space for a vector after the
/// last one.
pub(super) struct Arrays<const D: usize> {
    /// Their positions in the group, the two words of their upper halves, and the entries that they have reached.
    others: Lists<4>,
    waiting: [Waiting; D],
    /// The number of the group, modulo `D`.
    now: usize,
}

/// Addresses of a group that wait for lines and for the targets of rare entries.
struct Waiting {
    /// The first address of the group.
    start: usize,
    /// At lines: their number; positions, entries, and the upper halves that the lines compare.
    lines: usize,
    line: Lists<3>,
    /// At rare entries: their number; positions and entries.
    rare: usize,
    entry: Lists<2>,
}

impl Waiting {
    const NONE: Self = Self { start: 0, lines: 0, line: Lists::NEW, rare: 0, entry: Lists::NEW };
}

impl<const D: usize> Arrays<D> {
    #[inline(always)]
    pub fn new() -> Self {
        Self { others: Lists::NEW, waiting: [const { Waiting::NONE }; D], now: 0 }
    }
}

/// The positions of a group.
pub(super) static POSITIONS: [u32; GROUP] = {
    let mut positions = [0; GROUP];
    let mut i = 0;
    while i < GROUP {
        positions[i] = i as u32;
        i += 1;
    }
    positions
};

/// The two words of the upper halves of some addresses, and the entries reached.
#[derive(Clone, Copy)]
struct Lane<V> {
    words: [V; 2],
    entry: V,
}

impl<L: Lanes, const D: usize> Group for Kernel<'_, L, D> {
    const VECTOR: usize = L::COUNT;

    #[inline(always)]
    fn group(&mut self, start: usize, count: usize, out: &mut [Option<NextHopId>]) {
        assert!(count <= GROUP && start + count <= self.keys.len() && start + count <= out.len());
        let count = match self.keys.layout() {
            // SAFETY: there are as many addresses as answers from `start` on (checked above).
            KeyLayout::Host => unsafe { self.roots::<HOST>(start, count, out) },
            // SAFETY: there are as many addresses as answers from `start` on (checked above).
            KeyLayout::U64Pairs => unsafe { self.roots::<PAIRS>(start, count, out) },
            // SAFETY: there are as many addresses as answers from `start` on (checked above).
            KeyLayout::Network => unsafe { self.roots::<NETWORK>(start, count, out) },
        };
        if count > 0 {
            self.others(count, &mut out[start..]);
        }
        let now = self.arrays.now;
        self.arrays.waiting[now].start = start;
        self.prefetch();
        self.arrays.now = (now + 1) % D;
        self.finish(self.arrays.now, out);
    }

    #[inline(always)]
    fn end(&mut self, out: &mut [Option<NextHopId>]) {
        for which in 0..D {
            self.finish(which, out);
        }
    }
}

impl<'a, L: Lanes, const D: usize> Kernel<'a, L, D> {
    #[inline(always)]
    pub fn new(
        lanes: L,
        table: &'a View<'a, LiveMemory>,
        keys: &'a Keys<'a, Ipv6>,
        arrays: &'a mut Arrays<D>,
    ) -> Self {
        const { assert!(L::COUNT <= GROUP && GROUP + L::COUNT <= SPACE) };
        Self { lanes, table, keys, arrays }
    }

    /// Reads the root's entries of a group. Stores answers, and lists the addresses at other entries; returns their
    /// number.
    ///
    /// # Safety
    /// There are `count` addresses from `start` on, in the layout `IN`.
    #[inline(always)]
    unsafe fn roots<const IN: u8>(
        &mut self,
        start: usize,
        count: usize,
        out: &mut [Option<NextHopId>],
    ) -> usize {
        let (mut others, mut first) = (0, 0);
        while first < count {
            let left = (count - first) / L::COUNT;
            first += L::COUNT
                * match (left, L::COUNT) {
                    // SAFETY: the caller promises these addresses; four vectors of them are left.
                    (4.., _) => unsafe { self.steps::<IN, 4>(start, first, &mut others, out) },
                    // SAFETY: as above, of two vectors.
                    (2.., 8) => unsafe { self.steps::<IN, 2>(start, first, &mut others, out) },
                    // SAFETY: as above, of one vector.
                    _ => unsafe { self.steps::<IN, 1>(start, first, &mut others, out) },
                };
        }
        others
    }

    /// Reads the root's entries of `V` vectors of a group, from its address `first` on; returns `V`. Where most entries
    /// are no answers, the addresses go on to their leaves at once.
    ///
    /// # Safety
    /// The group has these addresses, in the layout `IN`.
    #[inline(always)]
    unsafe fn steps<const IN: u8, const V: usize>(
        &mut self,
        start: usize,
        first: usize,
        others: &mut usize,
        out: &mut [Option<NextHopId>],
    ) -> usize {
        let l = self.lanes;
        let from = self.keys.as_ptr().wrapping_add((start + first) * size_of::<u128>());
        let mut lanes = [Lane { words: [l.splat(0); 2], entry: l.splat(0) }; V];
        let mut more = 0;
        for (v, lane) in lanes.iter_mut().enumerate() {
            front::prefetch_keys::<L>(from, v);
            // SAFETY: vector `v` is one of those that the caller promises.
            lane.words = unsafe { front::upper::<L, IN>(l, from, v) };
            lane.entry = root(l, *self.table, lane.words);
            more += l.bits(self.is_other(lane.entry)).count_ones() as usize;
        }
        let at_once = 4 * more >= 3 * V * L::COUNT;
        if at_once {
            self.leaves(&mut lanes);
        }
        for (v, lane) in lanes.iter_mut().enumerate() {
            lane.entry = l.in_order(lane.entry);
            l.answer(lane.entry, &mut out[start + first + v * L::COUNT..]);
        }
        if at_once {
            self.list::<V, false>(&lanes, &self.positions(first));
        } else if more > 0 {
            let positions = self.positions::<V>(first);
            for (lane, at) in lanes.iter().zip(positions) {
                let (is_other, count) = (self.is_other(lane.entry), *others);
                let words = [l.in_order(lane.words[0]), l.in_order(lane.words[1])];
                let other = [at, words[0], words[1], lane.entry];
                *others += self.arrays.others.push(l, is_other, other, count);
            }
        }
        V
    }

    /// The positions of some vectors of a group.
    #[inline(always)]
    fn positions<const V: usize>(&self, first: usize) -> [L::V; V] {
        let l = self.lanes;
        let mut positions = [l.splat(0); V];
        for (v, position) in positions.iter_mut().enumerate() {
            let of_group = &POSITIONS[first + v * L::COUNT..][..L::COUNT];
            // SAFETY: the slice has a vector's words.
            *position = unsafe { l.load(of_group.as_ptr().cast()) };
        }
        positions
    }

    /// The lanes whose entries are not answers: the top bits of an answer are zero.
    #[inline(always)]
    fn is_other(&self, entry: L::V) -> L::M {
        let l = self.lanes;
        l.negative(l.or(entry, l.add(entry, entry)))
    }

    /// Takes the listed addresses of a group to their leaves.
    #[inline(always)]
    fn others(&mut self, count: usize, out: &mut [Option<NextHopId>]) {
        // The lanes of the last vector that have no address are at answers.
        for list in 0..4 {
            self.arrays.others.store(self.lanes, list, self.lanes.splat(0), count);
        }
        let mut at = 0;
        while at < count {
            let left = (count - at).div_ceil(L::COUNT);
            at += L::COUNT
                * match (left, L::COUNT) {
                    (4.., _) => self.block::<4>(at),
                    (2.., 8) => self.block::<2>(at),
                    _ => self.block::<1>(at),
                };
        }
        // SAFETY: this number of items has been written.
        let [positions, _, _, entries] = unsafe { self.arrays.others.first(count) };
        for (position, raw) in positions.iter().zip(entries) {
            out[*position as usize] = NextHopId::new(*raw);
        }
    }

    /// Replaces the entries of `V` vectors of listed addresses with next hops, or lists them again. Returns `V`.
    ///
    /// Loops, not closures: a closure that is not inlined is compiled without the vectors.
    #[inline(always)]
    fn block<const V: usize>(&mut self, first: usize) -> usize {
        let l = self.lanes;
        let mut lanes = [Lane { words: [l.splat(0); 2], entry: l.splat(0) }; V];
        let mut positions = [l.splat(0); V];
        for (v, (lane, position)) in lanes.iter_mut().zip(&mut positions).enumerate() {
            // SAFETY: addresses are listed so far, or zeros stored behind them.
            let other = unsafe { self.arrays.others.load(l, first + v * L::COUNT) };
            *position = other[0];
            *lane = Lane { words: [other[1], other[2]], entry: other[3] };
        }
        self.leaves(&mut lanes);
        self.list::<V, true>(&lanes, &positions);
        for (v, lane) in lanes.iter().enumerate() {
            self.arrays.others.store(l, 3, lane.entry, first + v * L::COUNT);
        }
        V
    }

    /// The low 32 bits of the upper half without the bits that the entries drop.
    #[inline(always)]
    fn word(&self, lane: &Lane<L::V>) -> L::V {
        let l = self.lanes;
        let drop = l.and(l.shr(lane.entry, l.splat(24)), l.splat(63));
        shifted(l, lane.words, drop)
    }

    /// Makes a step in the lanes whose entries are pages.
    #[inline(always)]
    fn page(&self, lane: &mut Lane<L::V>) {
        let l = self.lanes;
        let is_page = l.negative(l.and(lane.entry, l.add(lane.entry, lane.entry)));
        let index = l.and(l.add(lane.entry, self.word(lane)), l.splat(PLACE));
        let pages = self.table.pages.as_ptr().cast();
        // SAFETY: the index of a page's entry for an address that reaches it (invariant 2).
        lane.entry = unsafe { l.gather_where::<4>(is_page, pages, index, lane.entry) };
    }

    /// Makes the usual steps through pages, and replaces entries of codes and of minis with next hops.
    #[inline(always)]
    fn leaves<const V: usize>(&mut self, lanes: &mut [Lane<L::V>; V]) {
        let l = self.lanes;
        for _ in 0..self.table.fixed.steps {
            for lane in &mut *lanes {
                self.page(lane);
            }
        }
        let (log2, codes) = (self.table.fixed.log2, self.table.codes.as_ptr());
        let last_code = l.splat(MINI - 1);
        let mut minis = false;
        for lane in &mut *lanes {
            let of_codes =
                l.both(l.less(l.splat(CODES - 1), lane.entry), l.less(lane.entry, l.splat(MINI)));
            minis |= l.any(l.less(last_code, lane.entry));
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
            // No code of an image is taken for an entry.
            let code = l.and(code, l.splat(all_ones(log2).min(MAX_NEXT_HOP)));
            lane.entry = l.select(of_codes, self.hops(code, of_codes), lane.entry);
        }
        if minis {
            for lane in lanes {
                let chosen = l.less(last_code, lane.entry);
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
        let word = shifted(l, lane.words, shift);
        let place = l.select(chosen, l.and(lane.entry, l.splat(PLACE)), l.splat(0));
        const { assert!(MINI_WORDS == 4) };
        let minis = self.table.minis.as_ptr().cast();
        // SAFETY: the places are those of minis (invariant 2), or of the first one.
        let [first, second, low, high] = unsafe { l.gather_records(minis, place) };
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

    /// Lists the lanes that have no next hop yet, so that they wait. Their entries are in order, their words only if
    /// `IN_ORDER`.
    #[inline(always)]
    fn list<const V: usize, const IN_ORDER: bool>(
        &mut self,
        lanes: &[Lane<L::V>; V],
        positions: &[L::V; V],
    ) {
        let l = self.lanes;
        let mut union = l.splat(0);
        for lane in lanes {
            union = l.or(union, lane.entry);
        }
        if l.union(union) < LINE {
            return;
        }
        let waiting = &mut self.arrays.waiting[self.arrays.now];
        let Waiting { lines, line, rare, entry, .. } = waiting;
        for (lane, at) in lanes.iter().zip(positions) {
            let in_order = |word| if IN_ORDER { word } else { l.in_order(word) };
            let drop = l.and(l.shr(lane.entry, l.splat(24)), l.splat(63));
            let words = [in_order(lane.words[0]), in_order(lane.words[1])];
            let is_line = l.less(lane.entry, l.splat(RUN));
            let is_rare = l.both(l.negative(lane.entry), l.less(l.splat(RUN - 1), lane.entry));
            let word = shifted(l, words, drop);
            *lines += line.push(l, is_line, [*at, lane.entry, word], *lines);
            *rare += entry.push(l, is_rare, [*at, lane.entry], *rare);
        }
    }

    /// Prefetches the targets of the addresses of this group that wait.
    #[inline(always)]
    fn prefetch(&mut self) {
        let (table, keys) = (*self.table, self.keys);
        let Waiting { start, lines, line, rare, entry } = &mut self.arrays.waiting[self.arrays.now];
        // SAFETY: this number of items has been written.
        let [_, entries, _] = unsafe { line.first(*lines) };
        for entry in entries {
            let place = LINE_WORDS * Entry(*entry).place() as usize;
            prefetch_bytes(table.lines.as_ptr().wrapping_add(place).cast());
        }
        // SAFETY: this number of items has been written.
        let [positions, entries] = unsafe { entry.first(*rare) };
        for (position, entry) in positions.iter().zip(entries) {
            let at = EntryCursor { entry: Entry(*entry), is_lower: false };
            prefetch(table, at, keys.get(*start + *position as usize));
        }
    }

    /// Answers the addresses of a group that wait.
    #[inline(always)]
    fn finish(&mut self, which: usize, out: &mut [Option<NextHopId>]) {
        let (lanes, table, keys) = (self.lanes, *self.table, self.keys);
        let Waiting { start, lines, line, rare, entry } = &mut self.arrays.waiting[which];
        let (start, out) = (*start, &mut out[*start..]);
        let count = core::mem::take(lines);
        // SAFETY: this number of items has been written.
        let [positions, entries, words] = unsafe { line.first(count) };
        for ((position, entry), word) in positions.iter().zip(entries).zip(words) {
            let code = lookup::line_at(lanes, table, Entry(*entry).place(), *word as u16);
            out[*position as usize] = NextHopId::new(lookup::hop(table, code));
        }
        let count = core::mem::take(rare);
        if count > 0 {
            // SAFETY: this number of items has been written.
            let [position, entry] = unsafe { entry.first(count) };
            let mut rare = POSITIONS;
            let rare = &mut rare[..count];
            rounds(Rounds { lanes, table: self.table, keys, start, position, entry, rare, out });
        }
    }
}

/// Addresses of a group at rare entries.
pub(super) struct Rounds<'a, L> {
    pub lanes: L,
    pub table: &'a View<'a, LiveMemory>,
    pub keys: &'a Keys<'a, Ipv6>,
    /// The first address of the group.
    pub start: usize,
    /// The positions of addresses in the group, and their entries.
    pub position: &'a [u32],
    pub entry: &'a mut [u32],
    /// The indices of the rare ones among these.
    pub rare: &'a mut [u32],
    pub out: &'a mut [Option<NextHopId>],
}

/// Makes one step of every rare address after the other, and prefetches its next target, until all
/// have arrived. Not inlined, so that the usual kernel is small.
#[inline(never)]
pub(super) fn rounds<L: Lanes>(rounds: Rounds<'_, L>) {
    rounds.lanes.run(rounds);
}

impl<L: Lanes> Work for Rounds<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const IS_LOWER: u32 = 1 << 31;
        let Self { lanes, table, keys, start, position, entry, rare, out } = self;
        let table = *table;
        let addr = |i: usize| keys.get(start + position[i] as usize);
        for i in rare.iter() {
            let i = *i as usize;
            prefetch(table, EntryCursor { entry: Entry(entry[i]), is_lower: false }, addr(i));
        }
        let mut left = rare.len();
        while left > 0 {
            let all = left;
            left = 0;
            for listed in 0..all {
                let (i, is_lower) = ((rare[listed] & !IS_LOWER) as usize, rare[listed] >= IS_LOWER);
                let at = EntryCursor { entry: Entry(entry[i]), is_lower };
                match lookup::step(lanes, table, at, addr(i)) {
                    Step::Hop(hop) => out[position[i] as usize] = NextHopId::new(hop),
                    Step::Entry(next) => {
                        prefetch(table, next, addr(i));
                        entry[i] = next.entry.0;
                        rare[left] = i as u32 | if next.is_lower { IS_LOWER } else { 0 };
                        left += 1;
                    }
                }
            }
        }
    }
}

/// The low 32 bits of the upper halves without the bits that their entries drop.
#[inline(always)]
fn shifted<L: Lanes>(l: L, [high, low]: [L::V; 2], drop: L::V) -> L::V {
    let width = l.splat(32);
    // A shift by 32 or more, or by less than 0, makes zero.
    let of_low = l.or(l.shr(low, drop), l.shl(high, l.sub(width, drop)));
    l.or(of_low, l.shr(high, l.sub(drop, width)))
}

/// Reads the root's entries.
#[inline(always)]
pub(super) fn root<L: Lanes>(l: L, table: View<'_, LiveMemory>, [high, low]: [L::V; 2]) -> L::V {
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

/// Prefetches the target of an entry.
#[inline(always)]
fn prefetch(table: View<'_, LiveMemory>, at: EntryCursor, addr: u128) {
    let EntryCursor { entry, is_lower } = at;
    let word = half_of_addr(addr, is_lower);
    let line =
        |number: u32| table.lines.as_ptr().wrapping_add(LINE_WORDS * number as usize).cast::<u8>();
    prefetch_bytes(match entry.0 {
        PAGE.. => table.pages.as_ptr().wrapping_add(entry.index(word) as usize).cast(),
        FORK.. => line(entry.place()),
        LOWER.. => table.pages.as_ptr().wrapping_add(entry.place() as usize).cast(),
        RUN.. => line(entry.place() + home(entry.log2_lines(), addr as u64)),
        LINE.. => line(entry.place()),
        MINI.. => table.minis.as_ptr().wrapping_add(MINI_WORDS * entry.place() as usize).cast(),
        _ => {
            let at = (entry.index(word) as usize) << table.fixed.log2;
            table.codes.as_ptr().wrapping_add(at)
        }
    });
}
