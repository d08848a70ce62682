//! Memory in blocks: runs of items side by side, of a few sizes, taken and given back.
//!
//! A block that is given back waits in the list of its size for the next one of that size. Blocks
//! are never split or joined, so for each size there are at most as many blocks as were ever in use
//! at a time: adding and deleting for ever takes no more memory than that.

use alloc::vec::Vec;

/// Items that a `u32` can index.
const MAX_ITEMS: u64 = 1 << 32;

/// An array of items that is handed out in blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocks<T> {
    pub items: Vec<T>,
    /// Where free blocks begin: those of `n` items in list `n - 1`, the next one last.
    pub free: Vec<Vec<u32>>,
    /// More items than this are refused; a field so that tests can reach the limit.
    pub limit: u64,
}

impl<T: Copy> Blocks<T> {
    /// No items.
    pub fn new() -> Self {
        Self { items: Vec::new(), free: Vec::new(), limit: MAX_ITEMS }
    }

    /// Whether this many items more fit at the end, the free blocks left aside.
    pub fn has_room_for(&self, items: u64) -> bool {
        self.items.len() as u64 + items <= self.limit
    }

    /// A block of `count` items, whose content is `blank` or what was there before; the caller has
    /// made sure that there is room.
    pub fn take(&mut self, count: usize, blank: T) -> u32 {
        if count == 0 {
            return 0;
        }
        if let Some(at) = self.free.get_mut(count - 1).and_then(Vec::pop) {
            return at;
        }
        let at = self.items.len();
        debug_assert!(self.has_room_for(count as u64));
        self.items.resize(at + count, blank);
        at as u32
    }

    /// Gives a block of `count` items back.
    pub fn give_back(&mut self, at: u32, count: usize) {
        if count == 0 {
            return;
        }
        if self.free.len() < count {
            self.free.resize(count, Vec::new());
        }
        self.free[count - 1].push(at);
    }

    /// Moves a block of `count` items to one that has room for another one at `position`.
    pub fn insert(&mut self, at: u32, count: usize, position: usize, item: T) -> u32 {
        let to = self.take(count + 1, item);
        let (from, into) = (at as usize, to as usize);
        self.items.copy_within(from..from + position, into);
        self.items[into + position] = item;
        self.items.copy_within(from + position..from + count, into + position + 1);
        self.give_back(at, count);
        to
    }

    /// Moves a block of `count` items to a smaller one without the item at `position`.
    pub fn remove(&mut self, at: u32, count: usize, position: usize) -> u32 {
        let to = self.take(count - 1, self.items[at as usize]);
        let (from, into) = (at as usize, to as usize);
        self.items.copy_within(from..from + position, into);
        self.items.copy_within(from + position + 1..from + count, into + position);
        self.give_back(at, count);
        to
    }

    /// The items of a block.
    pub fn block(&mut self, at: u32, count: usize) -> &mut [T] {
        &mut self.items[at as usize..][..count]
    }

    /// Items in free blocks.
    pub fn free(&self) -> usize {
        let sizes = 1..;
        sizes.zip(&self.free).map(|(size, blocks): (usize, _)| size * blocks.len()).sum()
    }

    /// Items in blocks that are in use.
    pub fn in_use(&self) -> usize {
        self.items.len() - self.free()
    }

    /// Gives all memory back but for the first item, the only one in use.
    pub fn keep_first(&mut self) {
        debug_assert_eq!(self.in_use(), 1);
        self.items.truncate(1);
        self.items.shrink_to_fit();
        self.free = Vec::new();
    }
}
