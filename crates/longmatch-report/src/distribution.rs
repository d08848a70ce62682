//! Distributions of the cycles of single lookups.

use longmatch::simd::Simd;

use crate::context::{ExperimentContext, Place, at};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::inputs::Named;
use crate::inputs::SEED;
use crate::record::{Spread, Value};
use longmatch_bench::BenchFamily;
use longmatch_bench::Iteration;
use longmatch_bench::pin;
use longmatch_bench::ticks::Counter;

/// Number of warm-up lookups, which are not counted.
const WARM_UP: usize = 1 << 16;

/// The ticks of one engine's lookups.
pub(crate) struct Timed {
    /// The engine.
    pub engine: EngineUnderTest,
    /// The ticks of each lookup, in the order of the addresses.
    pub ticks: Vec<u16>,
}

/// A histogram of the ticks of lookups.
pub(crate) struct Ticks {
    counter: Counter,
    /// Number of lookups by ticks, including the overhead of the clock.
    counts: Vec<u64>,
    total: u64,
}

/// Times `count` iterations of each engine with the same random addresses, and calls `done` after each engine.
///
/// Engines that cannot hold the table are left out.
pub(crate) fn time<F: BenchFamily>(
    set: &EngineSet<'_, F>,
    iterations: &dyn Fn(&EngineUnderTest) -> Iteration,
    count: usize,
    done: &mut dyn FnMut(),
) -> (Counter, Vec<Timed>) {
    pin::to(0);
    let counter = Counter::here();
    let mut all = Vec::new();
    for (member, engine) in set.targets() {
        let Some(engine) = engine else { continue };
        let iteration = iterations(member);
        engine.ticks(Simd::best(), iteration, !SEED, &mut vec![0; WARM_UP.min(count)]);
        let mut ticks = vec![0; count];
        engine.ticks(Simd::best(), iteration, SEED, &mut ticks);
        all.push(Timed { engine: member.clone(), ticks });
        done();
    }
    pin::free();
    (counter, all)
}

impl Ticks {
    /// Builds the histogram.
    pub fn count(counter: Counter, ticks: impl IntoIterator<Item = u16>) -> Self {
        let mut it = Self { counter, counts: vec![0; 1 << 16], total: 0 };
        for ticks in ticks {
            it.note(ticks);
        }
        it
    }

    /// Adds a lookup.
    pub fn note(&mut self, ticks: u16) {
        self.counts[usize::from(ticks)] += 1;
        self.total += 1;
    }

    /// Returns the number of lookups.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Returns the cycles that this share of the lookups did not exceed; 0 without lookups.
    pub fn percentile(&self, share: f64) -> f64 {
        let wanted = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (ticks, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return self.counter.cycles(ticks as u64);
            }
        }
        0.0
    }

    /// Returns the mean cycles; 0 without lookups.
    pub fn mean(&self) -> f64 {
        let ticks = self.counts.iter().enumerate();
        let sum: f64 =
            ticks.map(|(ticks, count)| self.counter.cycles(ticks as u64) * *count as f64).sum();
        sum / self.total.max(1) as f64
    }

    /// Returns the mean nanoseconds; 0 without lookups.
    pub fn mean_ns(&self) -> f64 {
        self.mean() / self.counter.cycles_per_tick * self.counter.ns_per_tick
    }

    /// Returns the median with the quartiles, the 5th and the 95th percentile.
    pub fn value(&self, engine: &EngineUnderTest) -> Value {
        let share = |share| Some(self.percentile(share));
        let spread = Spread {
            p5: share(0.05),
            q1: share(0.25),
            q3: share(0.75),
            p95: share(0.95),
            ..Spread::default()
        };
        Value {
            engine: engine.spec.clone(),
            alias: engine.alias.clone(),
            metric: "cycles".into(),
            unit: "cycles".into(),
            value: share(0.5),
            spread,
            ..Value::default()
        }
    }

    /// Returns the distribution function up to a number of cycles, as pairs of cycles and share.
    pub fn distribution(&self, up_to: f64) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut seen = 0;
        for (ticks, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            seen += count;
            let x = self.counter.cycles(ticks as u64);
            if x > up_to {
                break;
            }
            let y = seen as f64 / self.total as f64;
            match points.last_mut() {
                // Counts up to the overhead are all 0 cycles.
                Some(last) if last.0 == x => last.1 = y,
                _ => points.push((x, y)),
            }
        }
        points
    }
}

/// The percentiles in tables.
pub(crate) const SHARES: [(&str, f64); 5] =
    [("50th", 0.5), ("75th", 0.75), ("90th", 0.9), ("95th", 0.95), ("99th", 0.99)];

/// Right end of the charts of distributions, in cycles per lookup.
const UP_TO: f64 = 400.0;

/// Records the mean, the percentiles and the distribution of an engine, each as a separate run configuration.
pub(crate) fn cycles<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    place: Place<'_>,
    named: Named<'_, F>,
    engine: &EngineUnderTest,
    ticks: &Ticks,
) {
    let about =
        Value { engine: engine.spec.clone(), alias: engine.alias.clone(), ..Value::default() };
    let mut note = |run, x, metric: &str, unit: &str, value| {
        let value =
            Value { metric: metric.into(), unit: unit.into(), value: Some(value), ..about.clone() };
        context.note(at(Place { run, x, ..place }, named, value));
    };
    note("mean", None, "cycles", "cycles", ticks.mean());
    for (name, share) in SHARES {
        note(name, None, "cycles", "cycles", ticks.percentile(share));
    }
    for (x, share) in ticks.distribution(UP_TO) {
        note("", Some(x), "share of lookups", "", share);
    }
}

/// Records why engines cannot hold the table.
pub(crate) fn refusals<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    place: Place<'_>,
    named: Named<'_, F>,
    set: &EngineSet<'_, F>,
) {
    for (engine, result) in &set.members {
        let Err(reason) = result else { continue };
        let value = Value {
            engine: engine.spec.clone(),
            alias: engine.alias.clone(),
            metric: "cycles".into(),
            unit: "cycles".into(),
            refused: reason.clone(),
            ..Value::default()
        };
        context.note(at(Place { run: "mean", ..place }, named, value));
    }
}

/// Records how cycles were counted.
pub(crate) fn about_clock(
    context: &mut ExperimentContext<'_>,
    anchor: &str,
    counter: &Counter,
    count: usize,
) {
    let Counter { cycles_per_tick, overhead, step, .. } = *counter;
    let cycles = |ticks: u64| ticks as f64 * cycles_per_tick;
    context.condition(anchor, "traffic", format!("{count} random addresses, seed {SEED}"));
    context.condition(
        anchor,
        "keys",
        "generated by xorshift immediately before the lookup, outside the measured time",
    );
    let clock = format!(
        "time stamp counter between fences; one tick is {cycles_per_tick:.2} cycles, the smallest step is {:.0} cycles; \
         {:.0} cycles of overhead are subtracted",
        cycles(step),
        cycles(overhead)
    );
    context.condition(anchor, "clock", clock);
    context.condition(anchor, "threads", "1, pinned to a CPU");
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTER: Counter =
        Counter { cycles_per_tick: 2.0, ns_per_tick: 0.5, overhead: 10, step: 1 };

    #[test]
    fn percentiles_by_hand() {
        // 0, 0, 2, 4, 6, 8, 10, 12, 14 and 180 cycles.
        let ticks = Ticks::count(COUNTER, [5, 10, 11, 12, 13, 14, 15, 16, 17, 100]);
        assert_eq!((ticks.len(), ticks.mean(), ticks.mean_ns()), (10, 23.6, 5.9));
        assert_eq!((ticks.percentile(0.5), ticks.percentile(0.9)), (6.0, 14.0));
        assert_eq!((ticks.percentile(0.0), ticks.percentile(1.0)), (0.0, 180.0));
        assert_eq!(Ticks::count(COUNTER, []).percentile(0.5), 0.0);
    }

    #[test]
    fn distributions_rise_to_one() {
        let points = Ticks::count(COUNTER, [5, 10, 11, 12]).distribution(1e9);
        assert_eq!(points, [(0.0, 0.5), (2.0, 0.75), (4.0, 1.0)]);
        assert_eq!(Ticks::count(COUNTER, [11, 100]).distribution(50.0).len(), 1);
    }
}
