//! Several values of the same thing.

/// What several measurements of the same thing have come to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stats {
    /// The lowest.
    pub min: f64,
    /// A quarter of them is not above.
    pub q1: f64,
    /// The middle.
    pub median: f64,
    /// A quarter of them is not below.
    pub q3: f64,
    /// The highest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the sample; 0 of a single value.
    pub std_dev: f64,
}

impl Stats {
    /// Of these values; `None` when there are none. Quartiles between two values are interpolated.
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
    fn five_values_by_hand() {
        let spread = Stats::of(&[3.0, 1.0, 5.0, 2.0, 9.0]).unwrap();
        assert_eq!((spread.min, spread.q1, spread.median), (1.0, 2.0, 3.0));
        assert_eq!((spread.q3, spread.max, spread.mean), (5.0, 9.0, 4.0));
        // Deviations -1, -3, 1, -2, 5: squares 40, over 4.
        assert_eq!(spread.std_dev, 10.0f64.sqrt());
    }

    #[test]
    fn quartiles_lie_between_values() {
        let spread = Stats::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((spread.q1, spread.median, spread.q3), (1.75, 2.5, 3.25));
        let one = Stats::of(&[7.0]).unwrap();
        assert_eq!((one.min, one.q3, one.std_dev), (7.0, 7.0, 0.0));
        assert_eq!(Stats::of(&[]), None);
    }
}
