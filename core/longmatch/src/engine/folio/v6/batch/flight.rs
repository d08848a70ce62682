//! The kernel for levels without vectors: loops of independent loads.

use core::hint::select_unpredictable;

use super::super::layout::{CODES, Entry, LINE, MINI, PAGE, RUN, View, word};
use super::super::lookup;
use super::front::{self, HOST, NETWORK, PAIRS};
use super::kernel::{POSITIONS, Rounds, root, rounds};
use super::{GROUP, Group, SPACE};
use crate::engine::kit::{KeyLayout, Keys};
use crate::mem::LiveMemory;
use crate::net::{Ipv6, NextHopId};
use crate::simd::lanes::{Lanes, Portable};

/// The lookups of groups.
pub(super) struct Flight<'a> {
    table: &'a View<'a, LiveMemory>,
    keys: &'a Keys<'a, Ipv6>,
    /// The addresses that the root does not answer: positions in the group.
    position: [u32; SPACE],
    /// Their upper halves, and the entries that they have reached.
    upper: [u64; GROUP],
    entry: [u32; GROUP],
    /// Those at each kind of entry.
    lists: [[u32; GROUP]; KINDS],
}

/// Answers, codes, minis, lines, rare entries.
const KINDS: usize = 5;
const RARE: usize = KINDS - 1;

impl Group for Flight<'_> {
    const VECTOR: usize = Portable::COUNT;

    #[inline(always)]
    fn group(&mut self, start: usize, count: usize, out: &mut [Option<NextHopId>]) {
        let out = &mut out[start..][..count];
        assert!(count <= GROUP && start + count <= self.keys.len());
        let from = self.keys.as_ptr().wrapping_add(start * size_of::<u128>());
        let count = match self.keys.layout() {
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Host => unsafe { self.roots::<HOST>(from, out) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::U64Pairs => unsafe { self.roots::<PAIRS>(from, out) },
            // SAFETY: as many addresses as answers follow `from` (checked above).
            KeyLayout::Network => unsafe { self.roots::<NETWORK>(from, out) },
        };
        if count > 0 {
            self.pages(start, count, out);
            let counts = self.sort(count);
            self.leaves(counts, out);
            if counts[RARE] > 0 {
                self.rounds(start, counts[RARE], out);
            }
        }
    }

    #[inline(always)]
    fn end(&mut self, _out: &mut [Option<NextHopId>]) {}
}

impl<'a> Flight<'a> {
    #[inline(always)]
    pub fn new(table: &'a View<'a, LiveMemory>, keys: &'a Keys<'a, Ipv6>) -> Self {
        const { assert!(Portable::COUNT <= GROUP && GROUP + Portable::COUNT <= SPACE) };
        Self {
            table,
            keys,
            position: [0; SPACE],
            upper: [0; GROUP],
            entry: [0; GROUP],
            lists: [[0; GROUP]; KINDS],
        }
    }

    /// Reads the root's entries into the answers, and lists those that are none.
    ///
    /// # Safety
    /// `from` has as many readable addresses as there are answers, in the layout `IN`.
    #[inline(always)]
    unsafe fn roots<const IN: u8>(
        &mut self,
        from: *const u8,
        out: &mut [Option<NextHopId>],
    ) -> usize {
        let l = Portable;
        let mut count = 0;
        for (v, out) in out.chunks_exact_mut(Self::VECTOR).enumerate() {
            front::prefetch_keys::<Portable>(from, v);
            // SAFETY: vector `v` is one of those that the caller promises.
            let words = unsafe { front::upper::<Portable, IN>(l, from, v) };
            let entry = l.in_order(root(l, *self.table, words));
            l.answer(entry, out);
            // SAFETY: the slice has a vector's words.
            let at =
                unsafe { l.load(POSITIONS[v * Self::VECTOR..][..Self::VECTOR].as_ptr().cast()) };
            // The top bits of an answer are zero.
            let is_other = l.negative(l.or(entry, l.add(entry, entry)));
            count += l.store_chosen(is_other, at, &mut self.position[count..]);
        }
        count
    }

    /// Makes the usual steps through pages. A step from another entry reads the array's first word.
    #[inline(always)]
    fn pages(&mut self, start: usize, count: usize, out: &[Option<NextHopId>]) {
        let (table, keys) = (*self.table, *self.keys);
        let listed = self.position[..count].iter().zip(&mut self.upper).zip(&mut self.entry);
        for ((position, upper), entry) in listed {
            let i = *position as usize;
            *upper = word(keys.get(start + i), false);
            *entry = page(table, Entry(NextHopId::to_raw(out[i])), *upper).0;
        }
        for _ in 1..table.fixed.steps {
            for (upper, entry) in self.upper[..count].iter().zip(&mut self.entry) {
                *entry = page(table, Entry(*entry), *upper).0;
            }
        }
    }

    /// Lists the addresses at each kind of entry; returns their numbers.
    #[inline(always)]
    fn sort(&mut self, count: usize) -> [usize; KINDS] {
        let mut counts = [0; KINDS];
        for (i, entry) in self.entry[..count].iter().enumerate() {
            let is_rare = *entry >= RUN;
            let kind = usize::from(*entry >= CODES)
                + usize::from(*entry >= MINI)
                + usize::from(*entry >= LINE)
                + usize::from(is_rare);
            self.lists[kind][counts[kind]] = i as u32;
            counts[kind] += 1;
        }
        counts
    }

    /// Answers the addresses at all kinds but rare entries.
    #[inline(always)]
    fn leaves(&mut self, counts: [usize; KINDS], out: &mut [Option<NextHopId>]) {
        let table = *self.table;
        let Self { position, upper, entry, lists, .. } = self;
        macro_rules! each {
            ($kind:literal, $hop:expr) => {
                for i in &lists[$kind][..counts[$kind]] {
                    let i = *i as usize;
                    let hop = $hop(Entry(entry[i]), upper[i]);
                    out[position[i] as usize] = NextHopId::new(hop);
                }
            };
        }
        each!(0, |entry: Entry, _| entry.0);
        each!(1, |entry: Entry, word| lookup::hop(table, lookup::code(table, entry.index(word))));
        each!(2, |entry, word| lookup::hop(table, lookup::mini(table, entry, word)));
        each!(3, |entry, word| lookup::hop(table, lookup::line(Portable, table, entry, word)));
    }

    /// Takes the addresses at rare entries to their answers.
    #[inline(always)]
    fn rounds(&mut self, start: usize, count: usize, out: &mut [Option<NextHopId>]) {
        let (lanes, table, keys) = (Portable, self.table, self.keys);
        let Self { position, entry, lists, .. } = self;
        let rare = &mut lists[RARE][..count];
        rounds(Rounds { lanes, table, keys, start, position, entry, rare, out });
    }
}

/// Makes a step from a page; none from another entry.
#[inline(always)]
fn page(table: View<'_, LiveMemory>, entry: Entry, upper: u64) -> Entry {
    let is_page = entry.0 >= PAGE;
    let index = select_unpredictable(is_page, entry.index(upper), 0);
    // SAFETY: the index of a page's entry for an address that reaches it (invariant 2), or the first
    // word, which every array has.
    let next = Entry(unsafe { table.pages.load(index as usize) });
    select_unpredictable(is_page, next, entry)
}
