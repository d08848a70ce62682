//! The keys of one pass of a measurement.

use core::ops::Range;

use longmatch::{Family, Keys, NextHopId};

use crate::aligned::Aligned;
use crate::family::TrafficFamily;
use crate::generator::{KeyGenerator, KeyRule};
use crate::mode::Mode;

/// The source of the keys of a pass, and their number.
#[derive(Clone, Copy, Debug)]
pub enum KeyStream<'k, F: Family> {
    /// Keys of an array, which starts again at its end.
    ///
    /// Keys in another layout than integers are looked up in batches, in every mode.
    Array {
        /// The keys, at least one.
        keys: Keys<'k, F>,
        /// The first key of the pass.
        start: usize,
        /// The number of lookups.
        lookups: usize,
    },
    /// Keys computed in the timed loop, as in the papers: see [`KeyRule`].
    ///
    /// A batch is computed just before it is looked up, and keys that are looked up one by one in
    /// blocks of sixteen. Iterations of Spider's kernels (`lanes=N` in batches of N) take the keys
    /// of [`KeyRule::Spider`] from registers.
    Generated {
        /// The rule.
        rule: KeyRule<'k>,
        /// The seed of the generator.
        seed: u64,
        /// The number of lookups.
        lookups: usize,
    },
}

impl<'k, F: Family> KeyStream<'k, F> {
    /// The number of lookups.
    pub fn lookups(&self) -> usize {
        let (Self::Array { lookups, .. } | Self::Generated { lookups, .. }) = self;
        *lookups
    }

    /// The stream that warms up the caches for this one.
    ///
    /// It has an eighth of the lookups, of the keys just before the first key.
    pub fn warm_up(self) -> Self {
        let lookups = self.lookups() / 8 + 1;
        match self {
            Self::Array { keys, start, .. } => {
                let start = (start + keys.len() - lookups % keys.len()) % keys.len();
                Self::Array { keys, start, lookups }
            }
            Self::Generated { rule, seed, .. } => Self::Generated { rule, seed: !seed, lookups },
        }
    }
}

/// The keys of a stream in slices, of an array or of a generator.
pub(crate) struct KeyBlocks<'k, F: Family> {
    source: BlockSource<'k, F>,
    /// Keys in a slice, at most.
    block: usize,
    left: usize,
}

enum BlockSource<'k, F: Family> {
    Array { keys: &'k [F::Bits], at: usize },
    Generator { generator: KeyGenerator<'k>, keys: Aligned<F::Bits> },
}

impl<'k, F: TrafficFamily> KeyBlocks<'k, F> {
    /// Slices of an array with `lookups` keys in total, from `start` on, wrapping.
    ///
    /// No slice crosses the end of the array.
    pub fn of_array(keys: &'k [F::Bits], start: usize, lookups: usize, block: usize) -> Self {
        Self { source: BlockSource::Array { keys, at: start }, block, left: lookups }
    }

    /// Slices of generated keys.
    pub fn generated(rule: KeyRule<'k>, seed: u64, lookups: usize, block: usize) -> Self {
        let generator = KeyGenerator::new(rule, seed, lookups);
        let source = BlockSource::Generator { generator, keys: Aligned::new(block) };
        Self { source, block, left: lookups }
    }

    /// The length of the longest slice.
    pub fn longest(&self) -> usize {
        match &self.source {
            BlockSource::Array { keys, .. } => keys.len().min(self.block),
            BlockSource::Generator { keys, .. } => keys.len(),
        }
    }

    /// All keys.
    pub fn collect(mut self) -> Vec<F::Bits> {
        let mut all = Vec::with_capacity(self.left);
        while let Some(keys) = self.next() {
            all.extend_from_slice(keys);
        }
        all
    }

    /// The next slice, which is not empty.
    #[inline]
    pub fn next(&mut self) -> Option<&[F::Bits]> {
        if self.left == 0 {
            return None;
        }
        let len = self.block.min(self.left);
        let block = match &mut self.source {
            BlockSource::Array { keys, at } => {
                let block = &keys[*at..keys.len().min(*at + len)];
                *at += block.len();
                if *at == keys.len() {
                    *at = 0;
                }
                block
            }
            BlockSource::Generator { generator, keys } => {
                generator.fill::<F>(&mut keys[..len]);
                &keys[..len]
            }
        };
        self.left -= block.len();
        Some(block)
    }
}

/// Batches with `lookups` keys in total, from `start` on, wrapping around.
///
/// No batch crosses the end of the array.
pub(crate) fn batches<F: Family>(
    keys: Keys<'_, F>,
    start: usize,
    lookups: usize,
    batch: usize,
) -> impl Iterator<Item = Keys<'_, F>> {
    wrapping_ranges(keys.len(), start, lookups).flat_map(move |Range { start, end }| {
        (start..end).step_by(batch).map(move |at| keys.range(at..end.min(at + batch)))
    })
}

/// Ranges of `0..len` with `lookups` items in total, from `start` on, wrapping.
fn wrapping_ranges(len: usize, start: usize, lookups: usize) -> impl Iterator<Item = Range<usize>> {
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

/// The right value of [`Timed::sum`](crate::Timed::sum): the exclusive or of the answers.
///
/// In batches it includes only the last answer of each. No batch crosses the end of the keys.
/// O(lookups).
///
/// # Panics
/// If `start` is not below the number of answers, unless `lookups` is 0.
pub fn pass_sum(
    answers: &[Option<NextHopId>],
    mode: Mode,
    batch: usize,
    start: usize,
    lookups: usize,
) -> u32 {
    let parts = wrapping_ranges(answers.len(), start, lookups).map(|range| &answers[range]);
    let read = parts.flat_map(|part| part.chunks(mode.batch(batch))).filter_map(|it| it.last());
    read.fold(0, |sum, answer| sum ^ NextHopId::to_raw(*answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::Ipv4;

    fn slices(mut blocks: KeyBlocks<'_, Ipv4>) -> Vec<Vec<u32>> {
        core::iter::from_fn(|| blocks.next().map(<[u32]>::to_vec)).collect()
    }

    #[test]
    fn slices_of_an_array_wrap_around() {
        let keys = [10, 11, 12, 13, 14];
        let stream =
            |start, lookups| slices(KeyBlocks::of_array(&keys, start, lookups, 100)).concat();
        assert_eq!(stream(0, 3), [10, 11, 12]);
        assert_eq!(stream(3, 4), [13, 14, 10, 11]);
        assert_eq!(stream(4, 11), [14, 10, 11, 12, 13, 14, 10, 11, 12, 13, 14]);
        assert!(stream(2, 0).is_empty());
        let longest = |block| KeyBlocks::<Ipv4>::of_array(&keys, 3, 9, block).longest();
        assert_eq!((longest(2), longest(100)), (2, 5));
    }

    #[test]
    fn generated_slices_have_the_keys_of_the_rule() {
        let all = KeyGenerator::new(KeyRule::Random, 5, 20).all::<Ipv4>();
        let slices = slices(KeyBlocks::generated(KeyRule::Random, 5, 20, 8));
        assert_eq!(slices.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 4]);
        assert_eq!(slices.concat(), all);
        let blocks = || KeyBlocks::<Ipv4>::generated(KeyRule::Random, 5, 20, 8);
        assert_eq!((blocks().longest(), blocks().collect()), (8, all));
    }

    #[test]
    fn no_slice_or_batch_crosses_the_end_of_the_array() {
        let keys = [10u32, 11, 12, 13, 14];
        let batches = batches::<Ipv4>(Keys::from(&keys), 3, 9, 2)
            .map(|batch| (0..batch.len()).map(|i| batch.get(i)).collect::<Vec<_>>());
        let wanted: [&[u32]; 5] = [&[13, 14], &[10, 11], &[12, 13], &[14], &[10, 11]];
        assert_eq!(batches.collect::<Vec<_>>(), wanted);
        assert_eq!(slices(KeyBlocks::of_array(&keys, 3, 9, 2)), wanted);
    }

    #[test]
    fn sums_include_the_answers_that_are_read() {
        let answers: Vec<_> = [1, 2, 4, 8, 16].map(NextHopId::new).into();
        assert_eq!(pass_sum(&answers, Mode::One, 9, 0, 5), 31);
        assert_eq!(pass_sum(&answers, Mode::One, 9, 3, 4), 8 ^ 16 ^ 1 ^ 2);
        assert_eq!(pass_sum(&answers, Mode::Batch, 2, 0, 5), 2 ^ 8 ^ 16);
        assert_eq!(pass_sum(&answers, Mode::Batch, 2, 4, 4), 16 ^ 2 ^ 4);
        assert_eq!(pass_sum(&[], Mode::One, 1, 0, 0), 0);
    }
}
