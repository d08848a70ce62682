//! Arrays that begin at a cache line, for keys and answers.
//!
//! Vector loads and stores that straddle cache lines cost up to a fifth of a fast kernel's rate,
//! and the alignment that the allocator happens to choose varies from run to run.

use core::ops::{Deref, DerefMut};

/// Bytes in a cache line.
const LINE: usize = 64;

/// A slice that begins at a cache line.
pub(crate) struct Aligned<T> {
    items: Vec<T>,
    /// Items before the first cache line.
    skipped: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// An array of `len` default values.
    pub fn new(len: usize) -> Self {
        let items = vec![T::default(); len + LINE / size_of::<T>()];
        let skipped = items.as_ptr().align_offset(LINE);
        Self { items, skipped, len }
    }

    /// A copy of `items`.
    pub fn copy_of(items: &[T]) -> Self {
        let mut copy = Self::new(items.len());
        copy.copy_from_slice(items);
        copy
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items[self.skipped..][..self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.skipped..][..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_at_a_cache_line() {
        for len in [0, 1, 5, 1000] {
            let keys = Aligned::copy_of(&vec![7u128; len]);
            assert_eq!((&*keys, keys.as_ptr() as usize % LINE), (&vec![7; len][..], 0));
            assert_eq!(Aligned::<u8>::new(len).as_ptr() as usize % LINE, 0);
        }
    }
}
