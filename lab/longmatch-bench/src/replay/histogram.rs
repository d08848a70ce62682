//! Histogram of durations with fixed buckets and a bounded relative error.

use core::time::Duration;

/// Bits of a duration after the leading one that select its bucket.
///
/// The relative error is at most 1/64.
const PRECISION: u32 = 6;
const HALF: usize = 1 << PRECISION;
/// Number of buckets for all durations of 64 bits.
const BUCKETS: usize = (u64::BITS - PRECISION + 1) as usize * HALF;

/// Counts of durations in nanoseconds.
///
/// It takes 30 KiB. Recording a duration takes a few instructions and does not allocate.
#[derive(Clone)]
pub(crate) struct Histogram {
    counts: Box<[u64]>,
    pub count: u64,
    pub sum: u64,
    pub max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS].into(), count: 0, sum: 0, max: 0 }
    }
}

impl Histogram {
    #[inline]
    pub fn record(&mut self, duration: Duration) {
        let ns = duration.as_nanos() as u64;
        self.counts[bucket(ns)] += 1;
        self.count += 1;
        self.sum += ns;
        self.max = self.max.max(ns);
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(to, from)| *to += from);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// The nanoseconds that at least this share of the durations does not exceed.
    ///
    /// The result is exact below 128, otherwise too high by at most 1/64; 0 for no durations.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                return highest(bucket).min(self.max);
            }
        }
        self.max
    }
}

/// The bucket of a duration.
///
/// Durations below 128 have their own buckets. For longer ones, the position of the leading bit
/// selects a group of 64 buckets, and the 6 bits after it the bucket in that group.
#[inline]
fn bucket(ns: u64) -> usize {
    let shift = ns.max(1).ilog2().saturating_sub(PRECISION);
    let group = (shift as usize) << PRECISION;
    // `ns >> shift` includes the leading bit, which adds one group.
    group + (ns >> shift) as usize
}

/// The longest duration of a bucket.
fn highest(bucket: usize) -> u64 {
    if bucket < 2 * HALF {
        return bucket as u64;
    }
    let shift = (bucket >> PRECISION) - 1;
    let leading = (HALF + bucket % HALF) as u64;
    leading << shift | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        all.into_iter().for_each(|ns| histogram.record(Duration::from_nanos(ns)));
        histogram
    }

    #[test]
    fn buckets_are_adjacent() {
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(highest(BUCKETS - 1), u64::MAX);
        assert_eq!((bucket(0), bucket(1), bucket(127)), (0, 1, 127));
        for number in 0..BUCKETS - 1 {
            let last = highest(number);
            assert_eq!((bucket(last), bucket(last + 1)), (number, number + 1));
            let width = highest(number + 1) - last;
            assert!(width == 1 || width <= last / (HALF as u64 - 1), "{number}");
        }
    }

    #[test]
    fn short_durations_are_exact() {
        let histogram = of(1..=100);
        let quantiles = [0.0, 0.01, 0.5, 0.501, 0.99, 0.999, 1.0];
        let wanted = [1, 1, 50, 51, 99, 100, 100];
        assert_eq!(quantiles.map(|share| histogram.quantile(share)), wanted);
        assert_eq!((histogram.count, histogram.sum, histogram.max), (100, 5050, 100));
    }

    #[test]
    fn long_durations_have_a_bounded_error() {
        let histogram = of((1..=10_000).map(|i| i * 1_000));
        for (share, exact) in [(0.5, 5_000_000), (0.99, 9_900_000), (0.9999, 9_999_000)] {
            let got = histogram.quantile(share);
            assert!((exact..=exact + exact / 64).contains(&got), "{share}: {got}");
        }
        assert_eq!(histogram.quantile(1.0), 10_000_000, "the maximum is exact");
    }

    #[test]
    fn histograms_add_up_and_may_be_empty() {
        assert_eq!(Histogram::default().quantile(0.5), 0);
        let (mut all, some) = (of([3, 900]), of([70_000]));
        all.add(&some);
        all.add(&Histogram::default());
        assert_eq!((all.count, all.sum, all.max), (3, 70_903, 70_000));
        assert_eq!((all.quantile(0.3), all.quantile(1.0)), (3, 70_000));
    }
}
