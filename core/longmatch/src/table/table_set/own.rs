//! The routes that tables have of their own: one hash from a table and a node to the id of a value.

use alloc::boxed::Box;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::simd::prefetch;

/// An entry: the table's number, or 0 for an empty entry; the node; the value's id, or 0 for no
/// route.
///
/// Table and node never change once they are stored, so that readers need no more than one load
/// that is ordered before the others.
type Entry = [AtomicU32; 3];

/// A hash with open addressing and linear probing, at most 4/5 full: 12 bytes an entry.
///
/// One writer changes it under readers. A removed route keeps its entry, without a value.
#[derive(Debug)]
pub(in crate::table) struct OwnRoutes {
    entries: Box<[Entry]>,
}

/// The effect of [`OwnRoutes::set`].
pub(in crate::table) struct Set {
    /// The value's id before, or 0.
    pub before: u32,
    /// Whether an empty entry was taken.
    pub taken: bool,
}

impl OwnRoutes {
    /// A hash for as many entries. O(capacity).
    pub fn new(capacity: usize) -> Self {
        Self { entries: (0..capacity + capacity / 4 + 8).map(|_| Entry::default()).collect() }
    }

    /// Entries that may be taken: beyond them probes become long.
    pub fn capacity(&self) -> usize {
        (self.entries.len() - 7) / 5 * 4
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }

    /// Where the search for a route begins.
    #[inline]
    fn first(&self, table: u32, node: u32) -> usize {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = (u64::from(table) << 32 | u64::from(node)).wrapping_mul(ODD);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(ODD);
        ((u128::from(mixed) * self.entries.len() as u128) >> 64) as usize
    }

    /// The entries from the first one on, around the end.
    #[inline]
    fn probe(&self, table: u32, node: u32) -> impl Iterator<Item = &Entry> {
        let (before, from) = self.entries.split_at(self.first(table, node));
        from.iter().chain(before)
    }

    #[inline]
    pub fn prefetch(&self, table: u32, node: u32) {
        prefetch(&self.entries, self.first(table, node));
    }

    /// The value's id of a table's own route, or 0. O(1) expected.
    #[inline]
    pub fn get(&self, table: u32, node: u32) -> u32 {
        for [own, of, value] in self.probe(table, node) {
            match own.load(Acquire) {
                0 => break,
                own if own == table && of.load(Relaxed) == node => return value.load(Acquire),
                _ => {}
            }
        }
        0
    }

    /// Sets the value's id of a table's own route; 0 removes it. O(1) expected.
    ///
    /// Only the writer calls it, and it has capacity.
    pub fn set(&self, table: u32, node: u32, id: u32) -> Set {
        for [own, of, value] in self.probe(table, node) {
            match own.load(Relaxed) {
                0 if id == 0 => break,
                0 => {
                    of.store(node, Relaxed);
                    value.store(id, Relaxed);
                    own.store(table, Release);
                    return Set { before: 0, taken: true };
                }
                own if own == table && of.load(Relaxed) == node => {
                    return Set { before: value.swap(id, Release), taken: false };
                }
                _ => {}
            }
        }
        debug_assert_eq!(id, 0, "the writer keeps a fifth of the entries empty");
        Set { before: 0, taken: false }
    }

    /// The same routes in a hash with capacity for half as many more, and their number.
    pub fn rebuilt(&self) -> (Self, usize) {
        let routes = || self.entries.iter().filter(|[.., id]| id.load(Relaxed) != 0);
        let count = routes().count();
        let new = Self::new(count + count / 2 + 8);
        for entry in routes() {
            let [table, node, id] = entry.each_ref().map(|word| word.load(Relaxed));
            new.set(table, node, id);
        }
        (new, count)
    }
}
