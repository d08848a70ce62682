//! Mapping of values to coordinates.

use core::ops::RangeInclusive;

use crate::model::Axis;

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
    /// Creates a scale of about `about` steps that includes all values.
    ///
    /// A linear scale includes zero, unless `near` is set and the lowest value is far from zero. A logarithmic scale
    /// begins below the lowest value unless `near` is set, so that no line lies on the axis.
    pub fn of(axis: &Axis, values: impl Iterator<Item = f64>, near: bool, about: usize) -> Self {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (value.min(low), value.max(high))
        });
        match axis.log {
            true => Self::log(low, high, near, about),
            false => Self::linear(low, high, near, about),
        }
    }

    fn linear(mut low: f64, mut high: f64, near: bool, about: usize) -> Self {
        if !near || (low > 0.0 && low < high / 4.0) {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if low == high {
            // Equal values: in the middle with `near`, otherwise at the end of a scale from zero.
            let by = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
            (low, high) = if near { (low - by, high + by) } else { (low, high + by) };
        }
        let step = step_up((high - low) / about as f64);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        // If the next tick is far above the highest value, the scale ends before it.
        let wasted = last - high / step;
        let (last, end) = match wasted > 0.4 && last - first > 2.0 {
            true => (last - 1.0, high + 0.1 * step),
            false => (last, last * step),
        };
        // Multiplied, because rounding errors of a sum accumulate.
        let ticks = (0..=(last - first) as u32).map(|at| (first + f64::from(at)) * step).collect();
        Self { log: false, low: first * step, high: end, from: 0.0, to: 1.0, ticks }
    }

    fn log(least: f64, most: f64, near: bool, about: usize) -> Self {
        let (mut low, mut high) = (step_down(least), step_up(most));
        if !near && low >= least * 0.999 {
            low = step_down(low * 0.99);
        }
        if low >= high {
            (low, high) = (step_down(low * 0.99), step_up(high * 1.01));
        }
        Self { log: true, low, high, from: 0.0, to: 1.0, ticks: log_ticks(low, high, about) }
    }

    /// Creates a scale from the first to the last of several places, with a tick at each.
    pub fn of_places(axis: &Axis, places: Vec<f64>) -> Self {
        let (low, high) = (places[0], places[places.len() - 1]);
        Self { log: axis.log, low, high, from: 0.0, to: 1.0, ticks: places }
    }

    /// Sets the coordinates of the ends.
    #[must_use]
    pub fn between(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// Returns the coordinate of a value; `None` outside of the scale.
    pub fn at(&self, value: f64) -> Option<f64> {
        let part = match self.log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        // Rounding may move a value at the end slightly beyond it.
        let fits = (-1e-6..=1.0 + 1e-6).contains(&part);
        fits.then(|| self.from + part.clamp(0.0, 1.0) * (self.to - self.from))
    }
}

/// Returns a number of times a power of ten, which a product would not round correctly.
fn step(times: u8, power: i32) -> f64 {
    format!("{times}e{power}").parse().expect("a number")
}

/// Returns the steps, 1, 2 and 5 times powers of ten, in ascending order.
fn steps(powers: RangeInclusive<i32>) -> impl DoubleEndedIterator<Item = f64> {
    powers.flat_map(|power| [1, 2, 5].map(|times| step(times, power)))
}

/// Returns the steps around a value.
fn steps_near(value: f64) -> impl DoubleEndedIterator<Item = f64> {
    let power = value.log10().floor() as i32;
    steps(power - 1..=power + 1)
}

fn step_up(value: f64) -> f64 {
    steps_near(value).find(|step| *step >= value * (1.0 - 1e-9)).unwrap_or(value)
}

fn step_down(value: f64) -> f64 {
    steps_near(value).rev().find(|step| *step <= value * (1.0 + 1e-9)).unwrap_or(value)
}

/// Returns ticks at every step; at every power, or every nth, if these are too many.
fn log_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let powers = || (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let within = |tick: &f64| *tick >= low * 0.999 && *tick <= high * 1.001;
    let fine: Vec<f64> = steps(powers()).filter(within).collect();
    if fine.len() <= about + 2 {
        return fine;
    }
    let coarse = |every: i32| -> Vec<f64> {
        let powers = powers().filter(|power| power.rem_euclid(every) == 0);
        powers.map(|power| step(1, power)).filter(within).collect()
    };
    (1..).map(coarse).find(|ticks| ticks.len() <= about + 1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::number::tick;

    fn scale(log: bool, near: bool, values: &[f64]) -> Scale {
        let axis = Axis { name: String::new(), unit: String::new(), log };
        Scale::of(&axis, values.iter().copied(), near, if log { 6 } else { 5 })
    }

    #[test]
    fn steps_are_round() {
        for (log, near, values, wanted) in [
            (false, false, &[3.0, 97.0][..], "0; 20; 40; 60; 80; 100"),
            (false, false, &[0.3], "0; 0.1; 0.2; 0.3"),
            (false, false, &[-4.0, 4.0], "-4; -2; 0; 2; 4"),
            (false, true, &[1000.0, 1024.0], "1,000; 1,005; 1,010; 1,015; 1,020; 1,025"),
            (false, true, &[1.0, 16.0], "0; 5; 10; 15"),
            (false, false, &[113.0], "0; 50; 100"),
            (false, false, &[0.0, 0.0], "0; 0.2; 0.4; 0.6; 0.8; 1"),
            (true, true, &[3.0, 40.0], "2; 5; 10; 20; 50"),
            (true, true, &[1.0, 100_000.0], "1; 10; 100; 1,000; 10,000; 100,000"),
            (true, true, &[1.0, 4e9], "1; 100; 10,000; 1 M; 100 M"),
            (true, false, &[10.0, 10.0], "5; 10"),
        ] {
            let ticks = scale(log, near, values).ticks;
            assert_eq!(ticks.into_iter().map(tick).collect::<Vec<_>>().join("; "), wanted);
        }
    }

    #[test]
    fn equal_and_extreme_values_make_a_scale() {
        for (log, near) in [(false, false), (false, true), (true, false)] {
            let scale = scale(log, near, &[7.0, 7.0]).between(10.0, 20.0);
            assert!(scale.at(7.0).is_some_and(|at| at > 10.0 && at <= 20.0), "{scale:?}");
            assert!(scale.ticks.len() >= 2 && scale.ticks.len() < 20, "{scale:?}");
        }
        assert_eq!(scale(false, false, &[1.0]).at(f64::NAN), None);
        assert_eq!(scale(true, true, &[1.0]).at(0.0), None);
        for value in [1e-299, 1e-12, 1e12, 1e299] {
            assert!(
                [false, true].iter().all(|log| scale(*log, *log, &[value]).at(value).is_some())
            );
        }
    }

    #[test]
    fn coordinates_are_proportional() {
        let hundred = scale(false, false, &[0.0, 100.0]).between(50.0, 250.0);
        assert_eq!((hundred.at(0.0), hundred.at(25.0)), (Some(50.0), Some(100.0)));
        let powers = scale(true, true, &[1.0, 100.0]).between(0.0, 200.0);
        assert!((powers.at(10.0).expect("on the scale") - 100.0).abs() < 1e-9);
        assert_eq!(scale(false, false, &[-4.0, 4.0]).between(0.0, 100.0).at(0.0), Some(50.0));
        assert_eq!(scale(false, false, &[10.0]).between(100.0, 0.0).at(10.0), Some(0.0));
    }
}
