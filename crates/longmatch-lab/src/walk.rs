//! The keys of one pass of a measurement.

use longmatch::Family;

/// Where the keys of a pass come from, and how many there are.
#[derive(Clone, Copy, Debug)]
pub enum Walk<'k, F: Family> {
    /// From an array, from the beginning again when it ends.
    Array {
        /// The keys, at least one.
        keys: &'k [F::Bits],
        /// The first key of the pass.
        start: usize,
        /// The number of lookups.
        lookups: usize,
    },
    /// Random addresses, each made by xorshift just before its lookup. The time that takes is
    /// measured with it, as in the Poptrie paper.
    Generated {
        /// The seed of the generator.
        seed: u64,
        /// The number of lookups.
        lookups: usize,
    },
}

impl<'k, F: Family> Walk<'k, F> {
    /// The number of lookups.
    pub fn lookups(&self) -> usize {
        match self {
            Self::Array { lookups, .. } | Self::Generated { lookups, .. } => *lookups,
        }
    }
}

/// An array's keys as slices without a break: so many lookups, from `start` on, round and round.
pub(crate) fn segments<T>(keys: &[T], start: usize, lookups: usize) -> impl Iterator<Item = &[T]> {
    let (mut at, mut left) = (start, lookups);
    core::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let n = left.min(keys.len() - at);
        let segment = &keys[at..at + n];
        left -= n;
        at = (at + n) % keys.len();
        Some(segment)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_go_round() {
        let keys = [10, 11, 12, 13, 14];
        let walk = |start, lookups| segments(&keys, start, lookups).collect::<Vec<_>>().concat();
        assert_eq!(walk(0, 3), [10, 11, 12]);
        assert_eq!(walk(3, 4), [13, 14, 10, 11]);
        assert_eq!(walk(4, 11), [14, 10, 11, 12, 13, 14, 10, 11, 12, 13, 14]);
        assert!(walk(2, 0).is_empty());
    }
}
