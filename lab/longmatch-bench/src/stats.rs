//! Summary statistics of repeated measurements.

/// Order statistics, mean and standard deviation of a sample.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stats {
    /// Minimum.
    pub min: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Maximum.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation; 0 for a single value.
    pub std_dev: f64,
}

impl Stats {
    /// Statistics of `values`; `None` if there are none. O(n log n).
    ///
    /// The median and the quartiles are interpolated linearly between two values.
    ///
    /// ```
    /// use longmatch_bench::Stats;
    /// let stats = Stats::of(&[4.0, 1.0, 2.0]).unwrap();
    /// assert_eq!((stats.min, stats.q1, stats.median, stats.max), (1.0, 1.5, 2.0, 4.0));
    /// ```
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        let std_dev = (squares / (count - 1.0).max(1.0)).sqrt();
        let at = |share: f64| {
            let place = share * (count - 1.0);
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        let (q1, median, q3) = (at(0.25), at(0.5), at(0.75));
        Some(Self { min, q1, median, q3, max, mean, std_dev })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_equal_those_computed_by_hand() {
        let stats = Stats::of(&[3.0, 1.0, 5.0, 2.0, 9.0]).unwrap();
        assert_eq!((stats.min, stats.q1, stats.median), (1.0, 2.0, 3.0));
        assert_eq!((stats.q3, stats.max, stats.mean), (5.0, 9.0, 4.0));
        // The deviations -1, -3, 1, -2, 5 have the sum of squares 40; 40 / (5 - 1) = 10.
        assert_eq!(stats.std_dev, 10.0f64.sqrt());
        let stats = Stats::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((stats.q1, stats.median, stats.q3), (1.75, 2.5, 3.25));
        let one = Stats::of(&[7.0]).unwrap();
        assert_eq!((one.min, one.q3, one.std_dev), (7.0, 7.0, 0.0));
        assert_eq!(Stats::of(&[]), None);
    }
}
