//! Durations, counted in buckets whose number is fixed and whose width grows with the duration.

use core::time::Duration;

/// Buckets for each doubling: 2^6. A bucket is at most 1/64 of its durations wide.
const PRECISION: u32 = 6;
const HALF: usize = 1 << PRECISION;
/// Enough for every number of 64 bits.
const BUCKETS: usize = (u64::BITS - PRECISION + 1) as usize * HALF;

/// How often each duration occurred, in nanoseconds. Noting one is a few instructions, and takes no
/// memory beyond the 30 KiB that it begins with.
#[derive(Clone)]
pub(crate) struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    sum: u64,
    max: u64,
}

impl Histogram {
    pub fn new() -> Self {
        Self { counts: vec![0; BUCKETS].into(), count: 0, sum: 0, max: 0 }
    }

    #[inline]
    pub fn note(&mut self, duration: Duration) {
        let ns = duration.as_nanos() as u64;
        self.counts[bucket(ns)] += 1;
        self.count += 1;
        self.sum += ns;
        self.max = self.max.max(ns);
    }

    /// Adds what another one has noted.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(to, from)| *to += from);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Nanoseconds of all durations together.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The longest duration in nanoseconds, exactly.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The nanoseconds that at least this share of the durations does not exceed: exact below 128,
    /// otherwise too much by at most 1/64. 0 if there are none.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return highest(bucket).min(self.max);
            }
        }
        self.max
    }
}

/// Numbers below 128 have a bucket of their own. Of a larger one the first bit says which group of
/// buckets, and the 6 bits behind it which of these.
#[inline]
fn bucket(ns: u64) -> usize {
    let shift = ns.max(1).ilog2().saturating_sub(PRECISION);
    let group = (shift as usize) << PRECISION;
    // The first bit makes the group one more, once there is one.
    group + (ns >> shift) as usize
}

/// The greatest number in a bucket.
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
        let mut histogram = Histogram::new();
        all.into_iter().for_each(|ns| histogram.note(Duration::from_nanos(ns)));
        histogram
    }

    #[test]
    fn buckets_leave_no_gap_and_do_not_overlap() {
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
    fn small_numbers_are_exact() {
        let histogram = of(1..=100);
        let quantiles = [0.0, 0.01, 0.5, 0.501, 0.99, 0.999, 1.0];
        let wanted = [1, 1, 50, 51, 99, 100, 100];
        assert_eq!(quantiles.map(|share| histogram.quantile(share)), wanted);
        assert_eq!((histogram.count(), histogram.sum(), histogram.max()), (100, 5050, 100));
    }

    #[test]
    fn large_numbers_are_nearly_exact() {
        let histogram = of((1..=10_000).map(|i| i * 1_000));
        for (share, exact) in [(0.5, 5_000_000), (0.99, 9_900_000), (0.9999, 9_999_000)] {
            let got = histogram.quantile(share);
            assert!((exact..=exact + exact / 64).contains(&got), "{share}: {got}");
        }
        assert_eq!(histogram.quantile(1.0), 10_000_000, "the longest is exact");
    }

    #[test]
    fn nothing_has_no_quantiles_and_adds_nothing() {
        assert_eq!(Histogram::new().quantile(0.5), 0);
        let (mut all, some) = (of([3, 900]), of([70_000]));
        all.add(&some);
        all.add(&Histogram::new());
        assert_eq!((all.count(), all.sum(), all.max()), (3, 70_903, 70_000));
        assert_eq!((all.quantile(0.3), all.quantile(1.0)), (3, 70_000));
    }
}
