//! Which runs of an array are free: a node's children lie side by side, and so do its leaves, 1 to
//! 64 of them.
//!
//! Runs have exactly the size that is asked for, where the paper's buddy allocator rounds it up to
//! a power of two. A free run that is longer than needed is split. Free neighbours become one from
//! time to time, when a run is asked for that no free one is long enough for.

use alloc::vec::Vec;
use core::mem::take;

use super::array::Array;
use super::layout::{SLOTS, sealed::Plain};

/// Neighbours are put together when this many runs, or one in so many of the array's items, have
/// become free since that was done last.
const FREED_RUNS: usize = 256;
const FREED_PART: usize = 128;

/// Items of an array that lie side by side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Run {
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
pub(super) struct FreeRuns {
    /// Where free runs of one item begin, of two, and so on.
    by_count: Vec<Vec<u32>>,
    /// Bit `n` is set where there are free runs of `n + 1` items.
    some: u64,
    /// Items in them.
    items: usize,
    /// Runs that became free since neighbours were put together.
    freed: usize,
}

impl FreeRuns {
    pub fn new() -> Self {
        Self { by_count: alloc::vec![Vec::new(); SLOTS], some: 0, items: 0, freed: 0 }
    }

    /// Items that are free.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Takes a run of 1 to 64 items, from the free ones or from behind what has been used. `None`
    /// when there is no room. O(1), but for putting neighbours together.
    pub fn take<T: Plain>(&mut self, array: &Array<T>, count: usize) -> Option<u32> {
        debug_assert!((1..=SLOTS).contains(&count));
        if let Some(start) = self.take_free(count) {
            return Some(start);
        }
        let few = self.freed <= FREED_RUNS + array.len() / FREED_PART;
        if few && let Some(start) = array.extend(count) {
            return Some(start);
        }
        self.join();
        self.take_free(count).or_else(|| array.extend(count))
    }

    /// Takes the shortest free run that is long enough, or its front.
    fn take_free(&mut self, count: usize) -> Option<u32> {
        let enough = self.some >> (count - 1);
        if enough == 0 {
            return None;
        }
        let have = count + enough.trailing_zeros() as usize;
        let list = &mut self.by_count[have - 1];
        let start = list.pop()?;
        if list.is_empty() {
            self.some &= !(1 << (have - 1));
        }
        if have > count {
            self.put(start + count as u32, have - count);
        }
        self.items -= count;
        Some(start)
    }

    fn put(&mut self, start: u32, count: usize) {
        self.by_count[count - 1].push(start);
        self.some |= 1 << (count - 1);
    }

    /// Has a run to be used again, into which no reader can come any more.
    pub fn free(&mut self, run: Run) {
        self.put(run.start, run.count as usize);
        self.items += run.count as usize;
        self.freed += 1;
    }

    /// Makes one run of neighbours. O(n log n) for `n` free runs.
    fn join(&mut self) {
        let mut runs: Vec<Run> = self.iter().collect();
        runs.sort_unstable();
        self.by_count.iter_mut().for_each(Vec::clear);
        (self.some, self.freed) = (0, 0);
        for neighbours in runs.chunk_by(|a, b| a.end() == b.start.into()) {
            let mut start = neighbours[0].start;
            let mut left: usize = neighbours.iter().map(|run| run.count as usize).sum();
            while left > 0 {
                let count = left.min(SLOTS);
                self.put(start, count);
                start += count as u32;
                left -= count;
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Run> {
        self.by_count.iter().zip(1..).flat_map(|(starts, count)| {
            starts.iter().map(move |start| Run { start: *start, count })
        })
    }
}

/// Whether runs are all of an array's items up to `end`, each once; else an item that is not.
pub(super) fn tile(mut runs: Vec<Run>, end: usize) -> Result<(), u64> {
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
