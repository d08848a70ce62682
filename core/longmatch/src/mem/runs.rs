//! The free runs of an array. A run is a group of adjacent items that one entry leads to, such as
//! the children of a node or the ranges of a chunk.
//!
//! A run has exactly the requested size, where a buddy allocator rounds up to a power of two. A
//! longer free run is split. Free neighbours are joined only when a request finds no free run that
//! is long enough.

use alloc::vec::Vec;
use core::mem::take;

use crate::mem::{Owner, Plain};

/// Thresholds for joining neighbours, counted since the last join.
///
/// Either `FREED` freed runs plus one per `FREED_RUNS_PART` items of the array, or `FREED` freed
/// items plus one per `FREED_ITEMS_PART`.
const FREED: usize = 256;
const FREED_RUNS_PART: usize = 128;
const FREED_ITEMS_PART: usize = 16;

/// Adjacent items of an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Run {
    pub start: u32,
    pub count: u32,
}

impl Run {
    pub fn end(self) -> u64 {
        u64::from(self.start) + u64::from(self.count)
    }
}

/// The free runs of an array.
#[derive(Debug)]
pub(crate) struct FreeRuns {
    /// Starts of the free runs of one item, of two items, and so on.
    by_count: Vec<Vec<u32>>,
    /// Bit `n % 64` of word `n / 64` is set if there are free runs of `n + 1` items.
    some: Vec<u64>,
    /// Number of free items.
    items: usize,
    /// Runs freed since neighbours were last joined.
    freed: usize,
    /// Items in these runs.
    freed_items: usize,
}

impl FreeRuns {
    /// Makes an empty set for runs of at most `longest` items.
    pub fn new(longest: usize) -> Self {
        let some = alloc::vec![0; longest.div_ceil(64)];
        Self {
            by_count: alloc::vec![Vec::new(); longest],
            some,
            items: 0,
            freed: 0,
            freed_items: 0,
        }
    }

    /// Number of free items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Takes a run, free or unused before.
    ///
    /// `None` when the array's capacity is exhausted.
    ///
    /// O(longest / 64), except when neighbours are joined.
    ///
    /// # Panics
    /// When `count` is 0 or greater than the longest run.
    pub fn take<T: Plain>(&mut self, array: &mut Owner<T>, count: usize) -> Option<u32> {
        assert!((1..=self.by_count.len()).contains(&count), "a run of {count} items");
        if let Some(start) = self.take_free(count) {
            return Some(start);
        }
        let few = self.freed <= FREED + array.len() / FREED_RUNS_PART
            && self.freed_items <= FREED + array.len() / FREED_ITEMS_PART;
        if few && let Some(start) = array.extend(count) {
            return u32::try_from(start).ok();
        }
        self.join();
        self.take_free(count).or_else(|| u32::try_from(array.extend(count)?).ok())
    }

    /// Takes a run and writes items into it; `None` when the capacity is exhausted.
    ///
    /// # Panics
    /// As [`FreeRuns::take`].
    pub fn place<T: Plain>(&mut self, array: &mut Owner<T>, items: &[T]) -> Option<Run> {
        let start = self.take(array, items.len())?;
        // SAFETY: no reader reaches a free run or items that were never used.
        unsafe { array.write(start as usize, items) };
        Some(Run { start, count: items.len() as u32 })
    }

    /// Takes the shortest free run that is long enough, or its front.
    fn take_free(&mut self, count: usize) -> Option<u32> {
        let have = self.shortest(count)?;
        let start = self.by_count[have - 1].pop()?;
        if self.by_count[have - 1].is_empty() {
            self.some[(have - 1) / 64] &= !(1 << ((have - 1) % 64));
        }
        if have > count {
            self.put(start + count as u32, have - count);
        }
        self.items -= count;
        Some(start)
    }

    /// The length of the shortest free runs with at least `count` items.
    fn shortest(&self, count: usize) -> Option<usize> {
        let first = (count - 1) / 64;
        let enough = self.some[first] & u64::MAX << ((count - 1) % 64);
        let rest = self.some[first + 1..].iter().copied();
        let words = core::iter::once(enough).chain(rest).zip(first..);
        let (word, at) = words.into_iter().find(|(word, _)| *word != 0)?;
        Some(64 * at + word.trailing_zeros() as usize + 1)
    }

    fn put(&mut self, start: u32, count: usize) {
        self.by_count[count - 1].push(start);
        self.some[(count - 1) / 64] |= 1 << ((count - 1) % 64);
    }

    /// Frees a run that no reader can reach any more.
    ///
    /// It may be longer than the longest run that can be taken.
    pub fn free(&mut self, run: Run) {
        self.put_all(run.start, run.count as usize);
        self.items += run.count as usize;
        self.freed += 1;
        self.freed_items += run.count as usize;
    }

    fn put_all(&mut self, mut start: u32, mut count: usize) {
        while count > 0 {
            let some = count.min(self.by_count.len());
            self.put(start, some);
            start += some as u32;
            count -= some;
        }
    }

    /// Joins neighbours into one run. O(n log n) for `n` free runs.
    fn join(&mut self) {
        let mut runs: Vec<Run> = self.iter().collect();
        runs.sort_unstable();
        self.by_count.iter_mut().for_each(Vec::clear);
        self.some.fill(0);
        (self.freed, self.freed_items) = (0, 0);
        for neighbours in runs.chunk_by(|a, b| a.end() == u64::from(b.start)) {
            let count = neighbours.iter().map(|run| run.count as usize).sum();
            self.put_all(neighbours[0].start, count);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Run> {
        self.by_count.iter().zip(1..).flat_map(|(starts, count)| {
            starts.iter().map(move |start| Run { start: *start, count })
        })
    }
}

/// Checks that runs cover an array's items up to `end` once each.
///
/// Else returns an item that fails.
pub(crate) fn tile(mut runs: Vec<Run>, end: usize) -> Result<(), u64> {
    runs.retain(|run| run.count > 0);
    runs.sort_unstable();
    let mut at = 0;
    for run in take(&mut runs) {
        if u64::from(run.start) != at {
            return Err(at.min(run.start.into()));
        }
        at = run.end();
    }
    if at == end as u64 { Ok(()) } else { Err(at) }
}
