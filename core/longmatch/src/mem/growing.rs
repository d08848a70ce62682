//! A vector for recursive code that reports only at the end that memory ran out.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use super::OutOfMemory;

/// Items as a compiler adds them.
///
/// When the system has no memory for more, additions are dropped and [`FallibleVec::finish`] fails: the
/// recursion of a compiler needs no error path, and the process does not abort.
pub(crate) struct FallibleVec<T> {
    items: Vec<T>,
    /// Bytes of the allocation that failed.
    failed: Option<u64>,
}

impl<T: Copy> FallibleVec<T> {
    pub fn new() -> Self {
        Self { items: Vec::new(), failed: None }
    }

    /// Appends items and returns the index of the first.
    pub fn extend(&mut self, items: &[T]) -> usize {
        let start = self.items.len();
        if self.reserve(items.len()) {
            self.items.extend_from_slice(items);
        }
        start
    }

    /// Appends `count` copies of an item.
    pub fn fill(&mut self, item: T, count: usize) {
        if self.reserve(count) {
            self.items.resize(self.items.len() + count, item);
        }
    }

    fn reserve(&mut self, count: usize) -> bool {
        if self.failed.is_none() && self.items.try_reserve(count).is_err() {
            self.failed = Some(((self.items.len() + count) * size_of::<T>()) as u64);
        }
        self.failed.is_none()
    }

    /// Returns the items.
    ///
    /// # Errors
    /// When memory ran out for some of them.
    pub fn finish(self) -> Result<Vec<T>, OutOfMemory> {
        match self.failed {
            None => Ok(self.items),
            Some(bytes) => Err(OutOfMemory { bytes }),
        }
    }
}

impl<T> Deref for FallibleVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> DerefMut for FallibleVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_kept_until_memory_runs_out() {
        let mut growing = FallibleVec::new();
        assert_eq!((growing.extend(&[1u64, 2]), growing.extend(&[3])), (0, 2));
        growing.fill(9, 2);
        growing[0] = 7;
        assert_eq!(growing[..], [7, 2, 3, 9, 9]);
        // More than an address space, so every system refuses.
        growing.fill(0, usize::MAX / 16);
        growing.fill(1, 1);
        assert_eq!(growing.len(), 5);
        let bytes = ((usize::MAX / 16 + 5) * 8) as u64;
        assert_eq!(growing.finish(), Err(OutOfMemory { bytes }));
    }

    #[test]
    fn items_that_fit_are_returned() {
        let mut growing = FallibleVec::new();
        growing.extend(&[1u8, 2, 3]);
        assert_eq!(growing.finish(), Ok(alloc::vec![1, 2, 3]));
    }
}
