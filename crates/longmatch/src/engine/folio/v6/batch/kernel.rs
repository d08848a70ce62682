//! The kernel in vectors: the root; the addresses that it does not answer, one after the other, through
//! pages, codes and minis; then lists of addresses.

use super::super::super::batch::front::{self, HOST, NETWORK, PAIRS};
use super::super::layout::{
    CODES, Entry, FORK, LINE, LOWER, MAX_NEXT_HOP, MINI, PAGE, PLACE, RUN, View, home,
    word as half_of_addr,
};
use super::super::leaf::{LINE_WORDS, MINI_WORDS, all_ones};
use super::super::lookup::{self, Place, Step};
use super::Group;
use crate::engine::kit::{KeyLayout, Keys};
use crate::mem::LiveMemory;
use crate::net::{Ipv6, NextHopId};
use crate::simd::lanes::Lanes;
use crate::simd::{Work, prefetch_bytes};

/// The lookups of groups of up to `N` addresses.
///
/// The arrays are behind a reference, so that the other fields stay in registers.
pub(super) struct Kernel<'a, L: Lanes, const N: usize, const S: usize> {
    lanes: L,
    table: &'a View<'a, LiveMemory>,
    keys: &'a Keys<'a, Ipv6>,
    arrays: &'a mut Arrays<S>,
}

/// The addresses of a group that the root does not answer. There is space for some vectors after the
/// last one.
pub(super) struct Arrays<const S: usize> {
    /// Their positions in the group.
    position: [u32; S],
    /// The two words of their upper halves.
    high: [u32; S],
    low: [u32; S],
    /// The entries that they have reached.
    entry: [u32; S],
    /// Those in a line: their indices in these arrays, and the upper half that the line compares.
    lines: [u32; S],
    word: [u32; S],
    /// Those at rare entries: their indices.
    rare: [u32; S],
}

impl<const S: usize> Arrays<S> {
    #[inline(always)]
    pub fn new() -> Self {
        let none = [0; S];
        Self {
            position: none,
            high: none,
            low: none,
            entry: none,
            lines: none,
            word: none,
            rare: none,
        }
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

/// The two words of the upper halves of some addresses, and the entries reached.
#[derive(Clone, Copy)]
struct Lane<V> {
    words: [V; 2],
    entry: V,
}

impl<L: Lanes, const N: usize, const S: usize> Group for Kernel<'_, L, N, S> {
    #[inline(always)]
    fn group(&mut self, start: usize, out: &mut [Option<NextHopId>]) {
        let vectors = out.len() / L::COUNT;
        assert!(vectors <= N / L::COUNT && self.keys.len() - start >= out.len());
        let from = self.keys.as_ptr().wrapping_add(start * size_of::<u128>());
        let count = match self.keys.layout() {
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Host => unsafe { self.roots::<HOST>(from, out) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::U64Pairs => unsafe { self.roots::<PAIRS>(from, out) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Network => unsafe { self.roots::<NETWORK>(from, out) },
        };
        if count == 0 {
            return;
        }
        // The lanes of the last vector that have no address are at answers.
        let none = self.lanes.splat(0);
        store(self.lanes, &mut self.arrays.entry, count, none);
        let (mut in_lines, mut rare, mut at) = (0, 0, 0);
        while at < count {
            let left = (count - at).div_ceil(L::COUNT);
            match (left, L::COUNT) {
                (4.., _) => self.block::<4>(at, &mut in_lines, &mut rare),
                (2.., 8) => self.block::<2>(at, &mut in_lines, &mut rare),
                _ => self.block::<1>(at, &mut in_lines, &mut rare),
            }
            at += L::COUNT
                * match (left, L::COUNT) {
                    (4.., _) => 4,
                    (2.., 8) => 2,
                    _ => 1,
                };
        }
        let Arrays { position, entry, .. } = &*self.arrays;
        for (position, raw) in position[..count].iter().zip(entry) {
            out[*position as usize] = NextHopId::new(*raw);
        }
        self.lines(in_lines, out);
        if rare > 0 {
            self.rounds(start, rare, out);
        }
    }
}

impl<'a, L: Lanes, const N: usize, const S: usize> Kernel<'a, L, N, S> {
    #[inline(always)]
    pub fn new(
        lanes: L,
        table: &'a View<'a, LiveMemory>,
        keys: &'a Keys<'a, Ipv6>,
        arrays: &'a mut Arrays<S>,
    ) -> Self {
        const { assert!(L::COUNT <= N && N <= POSITIONS.len() && N + L::COUNT <= S) };
        Self { lanes, table, keys, arrays }
    }

    /// Reads the root's entries. Stores answers, and lists the addresses at other entries.
    ///
    /// # Safety
    /// `from` has as many readable addresses as there are answers, in the layout `IN`.
    #[inline(always)]
    unsafe fn roots<const IN: u8>(
        &mut self,
        from: *const u8,
        out: &mut [Option<NextHopId>],
    ) -> usize {
        let (mut count, mut first) = (0, 0);
        while first < out.len() {
            let left = (out.len() - first) / L::COUNT;
            first += L::COUNT
                * match (left, L::COUNT) {
                    // SAFETY: the caller promises as many addresses as answers, and four vectors are left.
                    (4.., _) => unsafe { self.first_steps::<IN, 4>(from, first, &mut count, out) },
                    // SAFETY: as above, of two vectors.
                    (2.., 8) => unsafe { self.first_steps::<IN, 2>(from, first, &mut count, out) },
                    // SAFETY: as above, of one vector.
                    _ => unsafe { self.first_steps::<IN, 1>(from, first, &mut count, out) },
                };
        }
        count
    }

    /// Does so for `V` vectors from the address `first` on, and returns their number. Where most addresses are
    /// at other entries than answers, these go on to their leaves at once: no list is needed for them.
    ///
    /// # Safety
    /// `from` has as many readable addresses as there are answers, in the layout `IN`; `V` vectors are left.
    #[inline(always)]
    unsafe fn first_steps<const IN: u8, const V: usize>(
        &mut self,
        from: *const u8,
        first: usize,
        count: &mut usize,
        out: &mut [Option<NextHopId>],
    ) -> usize {
        let l = self.lanes;
        let mut lanes = [Lane { words: [l.splat(0); 2], entry: l.splat(0) }; V];
        let mut others = 0;
        for (v, lane) in lanes.iter_mut().enumerate() {
            let v = first / L::COUNT + v;
            front::prefetch_keys::<L, Ipv6>(from, v);
            // SAFETY: vector `v` is one of those that the caller promises.
            lane.words = unsafe { front::half::<L, Ipv6, IN>(l, from, v, 0) };
            lane.entry = root(l, *self.table, lane.words);
            others += l.bits(self.is_other(lane.entry)).count_ones();
        }
        if 4 * others as usize >= 3 * V * L::COUNT {
            for _ in 0..self.table.fixed.steps {
                for lane in &mut lanes {
                    self.page(lane);
                }
            }
            self.leaves(&mut lanes);
        }
        for (v, lane) in lanes.iter().enumerate() {
            let at = first + v * L::COUNT;
            let entry = l.in_order(lane.entry);
            l.answer(entry, &mut out[at..]);
            let is_other = self.is_other(entry);
            if !l.any(is_other) {
                continue;
            }
            // SAFETY: the slice has a vector's words.
            let at = unsafe { l.load(POSITIONS[at..][..L::COUNT].as_ptr().cast()) };
            let Arrays { position, high, low, entry: entries, .. } = &mut *self.arrays;
            l.store_chosen(is_other, l.in_order(lane.words[0]), &mut high[*count..]);
            l.store_chosen(is_other, l.in_order(lane.words[1]), &mut low[*count..]);
            l.store_chosen(is_other, entry, &mut entries[*count..]);
            *count += l.store_chosen(is_other, at, &mut position[*count..]);
        }
        V
    }

    /// The lanes whose entries are no answers: the top bits of an answer are zero.
    #[inline(always)]
    fn is_other(&self, entry: L::V) -> L::M {
        let l = self.lanes;
        l.negative(l.or(entry, l.add(entry, entry)))
    }

    /// Replaces the entries of `V` vectors of listed addresses with next hops, or lists them again.
    ///
    /// Loops, not closures: a closure that is not inlined is compiled without the vectors.
    #[inline(always)]
    fn block<const V: usize>(&mut self, first: usize, in_lines: &mut usize, rare: &mut usize) {
        let l = self.lanes;
        let none = Lane { words: [l.splat(0); 2], entry: l.splat(0) };
        let mut lanes = [none; V];
        for (v, lane) in lanes.iter_mut().enumerate() {
            let at = first + v * L::COUNT;
            lane.words = [load(l, &self.arrays.high, at), load(l, &self.arrays.low, at)];
            lane.entry = load(l, &self.arrays.entry, at);
        }
        for _ in 0..self.table.fixed.steps {
            for lane in &mut lanes {
                self.page(lane);
            }
        }
        self.leaves(&mut lanes);
        self.list(&lanes, first, in_lines, rare);
        for (v, lane) in lanes.iter().enumerate() {
            store(l, &mut self.arrays.entry, first + v * L::COUNT, lane.entry);
        }
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
        let pages = self.table.pages.as_ptr().cast();
        // SAFETY: the index of a page's entry for an address that reaches it (invariant 2).
        lane.entry = unsafe { l.gather_where::<4>(is_page, pages, index, lane.entry) };
    }

    /// Replaces entries of codes and of minis with next hops; stores the others for the lists.
    #[inline(always)]
    fn leaves<const V: usize>(&mut self, lanes: &mut [Lane<L::V>; V]) {
        let l = self.lanes;
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
        let word = self.shifted(lane.words, shift);
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

    /// Lists the lanes that have no next hop yet.
    #[inline(always)]
    fn list<const V: usize>(
        &mut self,
        lanes: &[Lane<L::V>; V],
        first: usize,
        in_lines: &mut usize,
        rare: &mut usize,
    ) {
        let l = self.lanes;
        let mut union = l.splat(0);
        for lane in lanes {
            union = l.or(union, lane.entry);
        }
        if l.union(union) < LINE {
            return;
        }
        for (v, lane) in lanes.iter().enumerate() {
            let at = first + v * L::COUNT;
            let (entry, word) = (lane.entry, self.word(lane));
            // SAFETY: the slice has a vector's words.
            let indices = unsafe { l.load(POSITIONS[at..][..L::COUNT].as_ptr().cast()) };
            let is_line = l.less(entry, l.splat(RUN));
            let is_rare = l.both(l.negative(entry), l.less(l.splat(RUN - 1), entry));
            let arrays = &mut *self.arrays;
            l.store_chosen(is_line, word, &mut arrays.word[*in_lines..]);
            *in_lines += l.store_chosen(is_line, indices, &mut arrays.lines[*in_lines..]);
            *rare += l.store_chosen(is_rare, indices, &mut arrays.rare[*rare..]);
        }
    }

    /// Reads the lines of the addresses in the list.
    #[inline(always)]
    fn lines(&mut self, count: usize, out: &mut [Option<NextHopId>]) {
        let table = *self.table;
        let Arrays { position, entry, lines, word, .. } = &*self.arrays;
        for i in &lines[..count] {
            let place = Entry(entry[*i as usize]).place();
            prefetch_bytes(table.lines.as_ptr().wrapping_add(LINE_WORDS * place as usize).cast());
        }
        for (i, word) in lines[..count].iter().zip(word) {
            let i = *i as usize;
            let code = lookup::line_at(self.lanes, table, Entry(entry[i]).place(), *word as u16);
            out[position[i] as usize] = NextHopId::new(lookup::hop(table, code));
        }
    }

    /// Takes the addresses at rare entries to their answers.
    #[inline(always)]
    fn rounds(&mut self, start: usize, count: usize, out: &mut [Option<NextHopId>]) {
        let (lanes, table, keys) = (self.lanes, self.table, self.keys);
        let Arrays { position, entry, rare, .. } = &mut *self.arrays;
        rounds(Rounds {
            lanes,
            table,
            keys,
            start,
            position,
            entry,
            rare: &mut rare[..count],
            out,
        });
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
            prefetch(table, Place { entry: Entry(entry[i]), is_lower: false }, addr(i));
        }
        let mut left = rare.len();
        while left > 0 {
            let all = left;
            left = 0;
            for listed in 0..all {
                let (i, is_lower) = ((rare[listed] & !IS_LOWER) as usize, rare[listed] >= IS_LOWER);
                let at = Place { entry: Entry(entry[i]), is_lower };
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

/// Stores a vector in an array.
#[inline(always)]
fn store<L: Lanes, const S: usize>(l: L, array: &mut [u32; S], at: usize, vector: L::V) {
    let words = &mut array[at..][..L::COUNT];
    // SAFETY: the slice has a vector's words.
    unsafe { l.store(words.as_mut_ptr(), vector) };
}

/// Loads a vector of an array.
#[inline(always)]
fn load<L: Lanes, const S: usize>(l: L, array: &[u32; S], at: usize) -> L::V {
    // SAFETY: the slice has a vector's words.
    unsafe { l.load(array[at..][..L::COUNT].as_ptr().cast()) }
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
fn prefetch(table: View<'_, LiveMemory>, at: Place, addr: u128) {
    let Place { entry, is_lower } = at;
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
