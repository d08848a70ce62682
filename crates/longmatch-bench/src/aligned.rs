//! Arrays that begin at a cache line.
//!
//! Where the allocator happens to put an array decides whether vector loads and stores straddle
//! lines: worth up to a fifth of a fast kernel's rate, and another fifth from run to run. So all
//! engines read keys from, and write answers to, arrays that begin at a line.

use core::ops::{Deref, DerefMut};

/// Bytes in a cache line.
const LINE: usize = 64;

/// A slice that begins at a cache line.
pub(crate) struct Aligned<T> {
    items: Vec<T>,
    /// Items before the first one.
    skipped: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// `len` times the default.
    pub fn new(len: usize) -> Self {
        let items = vec![T::default(); len + LINE / size_of::<T>()];
        let skipped = items.as_ptr().align_offset(LINE);
        Self { items, skipped, len }
    }

    /// A copy.
    pub fn copied(items: &[T]) -> Self {
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
    fn begins_at_a_line() {
        for len in [0, 1, 5, 1000] {
            let keys = Aligned::copied(&vec![7u128; len]);
            assert_eq!((&*keys, keys.as_ptr() as usize % LINE), (&vec![7; len][..], 0));
            assert_eq!(Aligned::<u8>::new(len).as_ptr() as usize % LINE, 0);
        }
    }
}
