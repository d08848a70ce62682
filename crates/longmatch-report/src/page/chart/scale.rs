//! Mapping of values to coordinates.

/// Returns whether a value can be drawn: finite, and small enough that arithmetic does not overflow.
pub(super) fn drawable(value: f64) -> bool {
    value.is_finite() && value.abs() < 1e300
}

/// A scale: the values at its ends, and their coordinates.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// The labelled values.
    pub ticks: Vec<f64>,
}

impl Scale {
    /// Creates a linear scale of about `about` steps that includes all values; 0 to 1 without values.
    ///
    /// It includes zero, unless `near` is set and the lowest value is far from zero.
    pub fn linear(values: impl Iterator<Item = f64>, near: bool, about: usize) -> Self {
        let (mut low, mut high) = extent(values.filter(|value| drawable(*value)))
            .map_or((0.0, 1.0), |(low, high)| (low, high));
        if !near || (low > 0.0 && low < high / 4.0) {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if low == high {
            // Equal values: in the middle with `near`, otherwise at the end of a scale from zero.
            let by = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
            (low, high) = if near { (low - by, high + by) } else { (low, high + by) };
        }
        let step = nice_step((high - low) / about.max(1) as f64);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        // If the next tick is far above the highest value, the scale ends before it.
        let wasted = last - high / step;
        let (last, end) = match wasted > 0.4 && last - first > 2.0 {
            true => (last - 1.0, high + 0.1 * step),
            false => (last, last * step),
        };
        // Multiplied, because rounding errors of a sum accumulate.
        let ticks: Vec<f64> = (0..=(last - first) as u32)
            .map(|at| rounded((first + f64::from(at)) * step, step))
            .collect();
        Self { log: false, low: first * step, high: end, from: 0.0, to: 1.0, ticks }
    }

    /// Creates a logarithmic scale; only positive values have a coordinate.
    ///
    /// With `below`, it begins below the lowest value, so that the shortest bar is visible.
    pub fn log(values: impl Iterator<Item = f64>, below: bool, about: usize) -> Self {
        let positive = values.filter(|value| drawable(*value) && *value > 1e-300);
        let (least, most) = extent(positive).unwrap_or((1.0, 10.0));
        let mut low = step_down(least);
        let mut high = step_up(most);
        if below && low >= least * 0.999 {
            low = step_down(low * 0.99);
        }
        if low >= high {
            (low, high) = (step_down(low * 0.99), step_up(high * 1.01));
        }
        let ticks = log_ticks(low, high, about);
        Self { log: true, low, high, from: 0.0, to: 1.0, ticks }
    }

    /// Creates a scale from `low` to a greater `high`, without ticks; with `log`, both are positive.
    pub fn exact(log: bool, low: f64, high: f64) -> Self {
        Self { log, low, high, from: 0.0, to: 1.0, ticks: Vec::new() }
    }

    /// Sets the coordinates of the ends.
    #[must_use]
    pub fn between(mut self, from: f64, to: f64) -> Self {
        (self.from, self.to) = (from, to);
        self
    }

    /// Replaces the ticks.
    #[must_use]
    pub fn with_ticks(mut self, ticks: Vec<f64>) -> Self {
        self.ticks = ticks;
        self
    }

    /// Returns the coordinate of a value; `None` outside of the scale.
    pub fn at(&self, value: f64) -> Option<f64> {
        if !drawable(value) || (self.log && value <= 0.0) {
            return None;
        }
        let part = match self.log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        // Rounding may move a value at the end slightly beyond it.
        let fits = (-1e-6..=1.0 + 1e-6).contains(&part);
        fits.then(|| self.from + part.clamp(0.0, 1.0) * (self.to - self.from))
    }

    /// Returns the coordinate at which bars begin: zero, or the low end if the scale has no zero.
    pub fn base(&self) -> f64 {
        if self.log { self.from } else { self.at(0.0).unwrap_or(self.from) }
    }
}

/// Returns the lowest and the highest value.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn nice_step(least: f64) -> f64 {
    let step = step_up(least);
    if step > 0.0 { step } else { f64::MIN_POSITIVE }
}

/// Returns the steps (1, 2 or 5 times a power of ten) around a value, in ascending order.
fn steps_near(value: f64) -> impl DoubleEndedIterator<Item = f64> {
    let power = value.log10().floor() as i32;
    [(power - 1, 5), (power, 1), (power, 2), (power, 5), (power + 1, 1), (power + 1, 2)]
        .into_iter()
        .map(|(power, times)| format!("{times}e{power}").parse().expect("a number"))
}

fn step_up(value: f64) -> f64 {
    steps_near(value).find(|step| *step >= value * (1.0 - 1e-9)).unwrap_or(value)
}

fn step_down(value: f64) -> f64 {
    steps_near(value).rev().find(|step| *step <= value * (1.0 + 1e-9)).unwrap_or(value)
}

/// Rounds a multiple of a step to the digits of the step.
fn rounded(value: f64, step: f64) -> f64 {
    let decimals = -step.log10().floor();
    if !(0.0..=12.0).contains(&decimals) {
        return value;
    }
    let by = 10f64.powi(decimals as i32);
    // Adding zero turns negative zero into zero.
    (value * by).round() / by + 0.0
}

/// Returns ticks at 1, 2 and 5 times powers of ten; at every power, or every nth, if these are too many.
fn log_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let powers = || (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let within = |tick: &f64| *tick >= low * 0.999 && *tick <= high * 1.001;
    let of = |times: &[u8], every: i32| -> Vec<f64> {
        powers()
            .filter(|power| power.rem_euclid(every) == 0)
            .flat_map(|power| times.iter().map(move |by| format!("{by}e{power}")))
            .map(|text| text.parse::<f64>().expect("a number"))
            .filter(within)
            .collect()
    };
    let fine = of(&[1, 2, 5], 1);
    if fine.len() <= about + 2 {
        return fine;
    }
    (1..).map(|every| of(&[1], every)).find(|ticks| ticks.len() <= about + 1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(values: &[f64], near: bool) -> Scale {
        Scale::linear(values.iter().copied(), near, 5)
    }

    fn log(values: &[f64], below: bool) -> Scale {
        Scale::log(values.iter().copied(), below, 6)
    }

    #[test]
    fn linear_steps_are_round_and_begin_at_zero() {
        assert_eq!(linear(&[3.0, 97.0], false).ticks, [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(linear(&[0.3], false).ticks, [0.0, 0.1, 0.2, 0.3]);
        assert_eq!(linear(&[-4.0, 4.0], false).ticks, [-4.0, -2.0, 0.0, 2.0, 4.0]);
        assert_eq!(
            linear(&[1000.0, 1024.0], true).ticks,
            [1000.0, 1005.0, 1010.0, 1015.0, 1020.0, 1025.0]
        );
        assert_eq!(linear(&[1.0, 16.0], true).ticks, [0.0, 5.0, 10.0, 15.0]);
        assert_eq!(linear(&[113.0], false).ticks, [0.0, 50.0, 100.0]);
    }

    #[test]
    fn few_and_extreme_values_make_a_scale() {
        assert_eq!(linear(&[], false).ticks.first(), Some(&0.0));
        assert_eq!(linear(&[0.0, 0.0], false).ticks.last(), Some(&1.0));
        for values in [&[7.0, 7.0][..], &[f64::NAN, 7.0], &[f64::INFINITY, 7.0, f64::MAX]] {
            for near in [false, true] {
                let scale = linear(values, near).between(10.0, 20.0);
                let place = scale.at(7.0).expect("it is on the scale");
                assert!((10.0..=20.0).contains(&place), "{scale:?}");
                assert!(scale.ticks.len() >= 2 && scale.ticks.len() < 20, "{scale:?}");
            }
            let scale = log(values, true).between(10.0, 20.0);
            assert!(scale.at(7.0).is_some_and(|at| at > 10.0 && at <= 20.0), "{scale:?}");
        }
        assert_eq!(linear(&[1.0], false).at(f64::NAN), None);
        assert_eq!(log(&[1.0], false).at(0.0), None);
        for value in [1e-299, 1e-12, 1e12, 1e299] {
            assert!(linear(&[value], false).at(value).is_some(), "{value}");
            assert!(log(&[value], false).at(value).is_some(), "{value}");
        }
    }

    #[test]
    fn log_steps_are_1_2_5_or_powers() {
        assert_eq!(log(&[3.0, 40.0], false).ticks, [2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(log(&[1.0, 100_000.0], false).ticks, [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        assert_eq!(log(&[1.0, 4e9], false).ticks, [1.0, 100.0, 1e4, 1e6, 1e8]);
        assert_eq!(log(&[10.0, 10.0], true).ticks, [5.0, 10.0]);
    }

    #[test]
    fn coordinates_are_proportional() {
        let scale = linear(&[0.0, 100.0], false).between(50.0, 250.0);
        assert_eq!(scale.at(25.0), Some(100.0));
        assert_eq!(scale.base(), 50.0);
        let scale = log(&[1.0, 100.0], false).between(0.0, 200.0);
        assert!((scale.at(10.0).expect("on the scale") - 100.0).abs() < 1e-9);
        assert_eq!(linear(&[-4.0, 4.0], false).between(0.0, 100.0).base(), 50.0);
        let down = linear(&[10.0], false).between(100.0, 0.0);
        assert_eq!(down.at(10.0), Some(0.0));
    }
}
