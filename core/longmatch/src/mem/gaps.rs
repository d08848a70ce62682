//! The free runs of an array, neighbours joined at once.
//!
//! Runs of very different sizes leave gaps that fit none of them, so they need more care than
//! [`FreeRuns`](super::FreeRuns) takes: there a run is taken and freed in a few instructions, here
//! in a few searches of a tree. At the end of the array a free run is given up.

use alloc::collections::{BTreeMap, BTreeSet};
use core::ops::Range;

use crate::mem::{Owner, Plain, Run};

/// The free runs of an array; no two are adjacent, and none is at its end.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// Numbers of items, by first item.
    by_start: BTreeMap<u32, u32>,
    /// Numbers of items and first items.
    by_count: BTreeSet<(u32, u32)>,
    /// Number of free items.
    items: usize,
}

impl Gaps {
    /// Number of free items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Number of items of the longest run.
    pub fn longest(&self) -> usize {
        self.by_count.last().map_or(0, |(count, _)| *count as usize)
    }

    /// Takes the front of the shortest run that is long enough, or else unused items.
    ///
    /// `None` when the array's capacity is exhausted.
    ///
    /// O(log n) for `n` free runs.
    pub fn take<T: Plain>(&mut self, array: &mut Owner<T>, count: usize) -> Option<u32> {
        let free = self.by_count.range((u32::try_from(count).ok()?, 0)..).next();
        match free.copied() {
            Some(free) => Some(self.split(free, count)),
            None => u32::try_from(array.extend(count)?).ok(),
        }
    }

    /// Takes the front of the shortest run that is long enough, outside a window and from items
    /// before `reach`. O(n) for `n` free runs.
    pub fn take_outside(
        &mut self,
        count: usize,
        window: &Range<usize>,
        reach: usize,
    ) -> Option<u32> {
        let mut long = self.by_count.range((u32::try_from(count).ok()?, 0)..).copied();
        let free = long.find(|(_, start)| {
            let start = *start as usize;
            start + count <= window.start || (window.end..reach).contains(&start)
        })?;
        Some(self.split(free, count))
    }

    /// Takes the first items of a free run.
    fn split(&mut self, (free, start): (u32, u32), count: usize) -> u32 {
        let count = count as u32;
        self.remove(start, free);
        if free > count {
            self.insert(start + count, free - count);
        }
        start
    }

    /// Frees a run that no reader can reach any more.
    pub fn free<T: Plain>(&mut self, array: &mut Owner<T>, run: Run) {
        let Run { mut start, mut count } = run;
        if let Some((before, items)) = self.by_start.range(..start).next_back()
            && before + items == start
        {
            let (before, items) = (*before, *items);
            self.remove(before, items);
            (start, count) = (before, items + count);
        }
        if let Some(items) = self.by_start.get(&(start + count)).copied() {
            self.remove(start + count, items);
            count += items;
        }
        if (start + count) as usize == array.len() {
            array.truncate(start as usize);
        } else {
            self.insert(start, count);
        }
    }

    fn insert(&mut self, start: u32, count: u32) {
        self.by_start.insert(start, count);
        self.by_count.insert((count, start));
        self.items += count as usize;
    }

    fn remove(&mut self, start: u32, count: u32) {
        self.by_start.remove(&start);
        self.by_count.remove(&(count, start));
        self.items -= count as usize;
    }

    pub fn iter(&self) -> impl Iterator<Item = Run> {
        self.by_start.iter().map(|(start, count)| Run { start: *start, count: *count })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::mem::Live;

    /// Neighbours join; the shortest run that suffices is taken; the end is given up.
    #[test]
    fn gaps_join_and_shrink_the_array() {
        let (_live, mut array) = Live::with_capacity(&[0u16; 100], 110).unwrap();
        let mut gaps = Gaps::default();
        for (start, count) in [(0, 10), (20, 5), (25, 5), (40, 5), (15, 5), (80, 10)] {
            gaps.free(&mut array, Run { start, count });
        }
        let runs = |gaps: &Gaps| gaps.iter().map(|run| (run.start, run.count)).collect::<Vec<_>>();
        assert_eq!(runs(&gaps), [(0, 10), (15, 15), (40, 5), (80, 10)]);
        assert_eq!((gaps.items(), gaps.longest()), (40, 15));
        assert_eq!(gaps.take(&mut array, 11), Some(15));
        assert_eq!(gaps.take(&mut array, 4), Some(26));
        assert_eq!(gaps.take_outside(4, &(0..50), 90), Some(80));
        assert_eq!(gaps.take_outside(4, &(0..50), 84), None);
        assert_eq!(gaps.take_outside(4, &(8..100), 100), Some(0));
        assert_eq!(runs(&gaps), [(4, 6), (40, 5), (84, 6)]);
        assert_eq!((gaps.take(&mut array, 10), gaps.take(&mut array, 1)), (Some(100), Some(40)));
        assert_eq!(gaps.take(&mut array, 7), None);
        gaps.free(&mut array, Run { start: 100, count: 10 });
        assert_eq!(array.len(), 100);
        gaps.free(&mut array, Run { start: 90, count: 10 });
        assert_eq!((array.len(), gaps.items()), (84, 6 + 4));
    }
}
