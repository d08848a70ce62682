//! Which runs of an array are free: items that lie side by side because one thing leads to all of
//! them, as the children of a node or the ranges of a chunk do.
//!
//! Runs have exactly the size that is asked for, where a buddy allocator rounds it up to a power of
//! two. A free run that is longer than needed is split. Free neighbours become one from time to
//! time, when a run is asked for that no free one is long enough for.

use alloc::vec::Vec;
use core::mem::take;

use crate::mem::{Owner, Plain};

/// Neighbours are put together when so many runs, or runs of so many items in all, have become free
/// since that was done last: this many, and one in so many of the array's items beside.
const FREED: usize = 256;
const FREED_RUNS_PART: usize = 128;
const FREED_ITEMS_PART: usize = 16;

/// Items of an array that lie side by side.
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
    /// Where free runs of one item begin, of two, and so on.
    by_count: Vec<Vec<u32>>,
    /// Bit `n % 64` of word `n / 64` is set where there are free runs of `n + 1` items.
    some: Vec<u64>,
    /// Items in them.
    items: usize,
    /// Runs that became free since neighbours were put together.
    freed: usize,
    /// Items in these.
    freed_items: usize,
}

impl FreeRuns {
    /// For runs of `longest` items at most.
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

    /// Items that are free.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Takes a run, from the free ones or from behind what has been used. `None` when there is no
    /// room. O(longest / 64), but for putting neighbours together.
    ///
    /// # Panics
    /// When a run of no item is asked for, or of more than the longest.
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

    /// Takes a run and writes items into it. `None` when there is no room.
    ///
    /// # Panics
    /// As [`FreeRuns::take`].
    pub fn place<T: Plain>(&mut self, array: &mut Owner<T>, items: &[T]) -> Option<Run> {
        let start = self.take(array, items.len())?;
        // SAFETY: no reader comes into a run that was free or into items that were not used yet.
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

    /// The length of the shortest free runs of `count` items or more.
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

    /// Has a run to be used again, into which no reader can come any more. It may be longer than the
    /// longest that can be taken.
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

    /// Makes one run of neighbours. O(n log n) for `n` free runs.
    fn join(&mut self) {
        let mut runs: Vec<Run> = self.iter().collect();
        runs.sort_unstable();
        self.by_count.iter_mut().for_each(Vec::clear);
        self.some.fill(0);
        (self.freed, self.freed_items) = (0, 0);
        for neighbours in runs.chunk_by(|a, b| a.end() == b.start.into()) {
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

/// Whether runs are all of an array's items up to `end`, each once; else an item that is not.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::Live;

    /// Runs are found, split and joined by their lengths, in every word of the bits that say which
    /// there are.
    #[test]
    fn runs_are_taken_and_joined() {
        let (_live, mut array) = Live::with_capacity(&[0u16; 600], 600).unwrap();
        let mut free = FreeRuns::new(300);
        for (start, count) in [(0, 1), (1, 64), (65, 65), (130, 128), (258, 42), (300, 300)] {
            free.free(Run { start, count });
        }
        assert_eq!(free.take(&mut array, 64), Some(1));
        assert_eq!(free.take(&mut array, 64), Some(65));
        // What was left of the run of 65 items.
        assert_eq!(free.take(&mut array, 1), Some(129));
        assert_eq!(free.take(&mut array, 129), Some(300));
        assert_eq!(free.items(), 1 + 128 + 42 + 171);
        // Of neighbours.
        assert_eq!(free.take(&mut array, 172), None);
        free.free(Run { start: 300, count: 129 });
        assert_eq!(free.take(&mut array, 299), Some(130));
        assert_eq!(free.items(), 1 + 171);
        let mut runs: Vec<Run> = free.iter().collect();
        runs.extend([(1, 64), (65, 65), (130, 299)].map(|(start, count)| Run { start, count }));
        assert_eq!(tile(runs.clone(), 600), Ok(()));
        assert_eq!(tile(runs, 601), Err(600));
        // Longer than the longest that can be taken.
        free.free(Run { start: 1, count: 428 });
        assert_eq!(free.items(), 600);
        assert_eq!(tile(free.iter().collect(), 600), Ok(()));
    }
}
