//! The keys of one pass of a measurement.

use core::ops::Range;

use longmatch::{Family, Keys};

/// Where the keys of a pass come from, and how many there are.
#[derive(Clone, Copy, Debug)]
pub enum KeyStream<'k, F: Family> {
    /// From an array, from the beginning again when it ends.
    Array {
        /// The keys, at least one.
        keys: &'k [F::Bits],
        /// The first key of the pass.
        start: usize,
        /// The number of lookups.
        lookups: usize,
    },
    /// From an array that holds them in any form, to be looked up in batches.
    EncodedKeys {
        /// The keys, at least one.
        keys: Keys<'k, F>,
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

impl<'k, F: Family> KeyStream<'k, F> {
    /// The number of lookups.
    pub fn lookups(&self) -> usize {
        match self {
            Self::Array { lookups, .. }
            | Self::EncodedKeys { lookups, .. }
            | Self::Generated { lookups, .. } => *lookups,
        }
    }

    /// What comes before the stream, to run up: an eighth of it, over the keys before its first.
    pub fn lead_in(self) -> Self {
        let run_up = self.lookups() / 8 + 1;
        let before = |len: usize, start: usize| (start + len - run_up % len) % len;
        match self {
            Self::Array { keys, start, .. } => {
                Self::Array { keys, start: before(keys.len(), start), lookups: run_up }
            }
            Self::EncodedKeys { keys, start, .. } => {
                Self::EncodedKeys { keys, start: before(keys.len(), start), lookups: run_up }
            }
            Self::Generated { seed, .. } => Self::Generated { seed: !seed, lookups: run_up },
        }
    }
}

/// An array's keys as slices without a break: so many lookups, from `start` on, round and round.
pub(crate) fn segments<T>(keys: &[T], start: usize, lookups: usize) -> impl Iterator<Item = &[T]> {
    rounds(keys.len(), start, lookups).map(|range| &keys[range])
}

/// Keys of any form in batches that do not go past the array's end.
pub(crate) fn batches<F: Family>(
    keys: Keys<'_, F>,
    start: usize,
    lookups: usize,
    batch: usize,
) -> impl Iterator<Item = Keys<'_, F>> {
    rounds(keys.len(), start, lookups).flat_map(move |Range { start, end }| {
        (start..end).step_by(batch).map(move |at| keys.range(at..end.min(at + batch)))
    })
}

/// The ranges of an array of `len` that make so many lookups, from `start` on, round and round.
fn rounds(len: usize, start: usize, lookups: usize) -> impl Iterator<Item = Range<usize>> {
    let (mut at, mut left) = (start, lookups);
    core::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let range = at..at + left.min(len - at);
        left -= range.len();
        at = range.end % len;
        Some(range)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::Ipv4;

    #[test]
    fn walks_go_round() {
        let keys = [10, 11, 12, 13, 14];
        let stream = |start, lookups| segments(&keys, start, lookups).collect::<Vec<_>>().concat();
        assert_eq!(stream(0, 3), [10, 11, 12]);
        assert_eq!(stream(3, 4), [13, 14, 10, 11]);
        assert_eq!(stream(4, 11), [14, 10, 11, 12, 13, 14, 10, 11, 12, 13, 14]);
        assert!(stream(2, 0).is_empty());
    }

    #[test]
    fn batches_end_with_the_array() {
        let keys = [10u32, 11, 12, 13, 14];
        let batches = batches::<Ipv4>(Keys::from(&keys), 3, 9, 2)
            .map(|batch| (0..batch.len()).map(|i| batch.get(i)).collect::<Vec<_>>());
        let wanted: [&[u32]; 5] = [&[13, 14], &[10, 11], &[12, 13], &[14], &[10, 11]];
        assert_eq!(batches.collect::<Vec<_>>(), wanted);
    }
}
