//! Distributions of the cycles of single lookups.

use longmatch::simd::Simd;
use longmatch_bench::ticks::Counter;
use longmatch_bench::{BenchFamily, Iteration, pin};

use crate::context::{ExperimentContext, FigureCell};
use crate::declaration::CalledEngine;
use crate::engine_set::EngineSet;
use crate::inputs::{Named, SEED};
use crate::record::{Spread, Value};

/// Number of warm-up lookups, which are not counted.
const WARM_UP: usize = 1 << 16;

/// The ticks of one engine's lookups.
pub(crate) struct Timed {
    pub engine: CalledEngine,
    /// The ticks of each lookup, in the order of the addresses.
    pub ticks: Vec<u16>,
}

/// The ticks of lookups or batches, including the overhead of the clock, in ascending order.
pub(crate) struct Ticks<T> {
    counter: Counter,
    sorted: Vec<T>,
}

/// Times `count` iterations of each engine with the same random addresses, and calls `done` after each engine. An
/// iteration is a lookup or a batch of the engine.
///
/// Engines that cannot hold the table are left out.
pub(crate) fn time<F: BenchFamily>(
    set: &EngineSet<'_, F>,
    count: usize,
    done: &mut dyn FnMut(),
) -> (Counter, Vec<Timed>) {
    pin::to(0);
    let counter = Counter::here();
    let mut all = Vec::new();
    for (member, engine) in set.targets() {
        let Some(engine) = engine else { continue };
        let iteration = member.batch.map_or(Iteration::One, Iteration::Batch);
        engine.ticks(Simd::best(), iteration, !SEED, &mut vec![0; WARM_UP.min(count)]);
        let mut ticks = vec![0; count];
        engine.ticks(Simd::best(), iteration, SEED, &mut ticks);
        all.push(Timed { engine: member.clone(), ticks });
        done();
    }
    pin::free();
    (counter, all)
}

impl<T: Copy + Ord + Into<u64>> Ticks<T> {
    /// Sorts the ticks. O(n log n).
    pub fn new(counter: Counter, mut ticks: Vec<T>) -> Self {
        ticks.sort_unstable();
        Self { counter, sorted: ticks }
    }

    /// Returns the number of lookups.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Returns the least ticks that this share of the lookups did not exceed; 0 without lookups.
    fn quantile(&self, share: f64) -> u64 {
        let rank = (share * self.len() as f64).ceil() as usize;
        self.sorted.get(rank.saturating_sub(1)).map_or(0, |ticks| (*ticks).into())
    }

    /// Returns the cycles that this share of the lookups did not exceed; 0 without lookups.
    pub fn percentile(&self, share: f64) -> f64 {
        self.counter.cycles(self.quantile(share))
    }

    /// Returns the nanoseconds that this share of the lookups did not exceed; 0 without lookups.
    pub fn nanoseconds(&self, share: f64) -> f64 {
        self.counter.nanoseconds(self.quantile(share)).round()
    }

    /// Returns the mean cycles; 0 without lookups.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.sorted.iter().map(|ticks| self.counter.cycles((*ticks).into())).sum();
        sum / self.len().max(1) as f64
    }

    /// Returns the mean nanoseconds; 0 without lookups.
    pub fn mean_ns(&self) -> f64 {
        self.mean() / self.counter.cycles_per_tick * self.counter.ns_per_tick
    }

    /// Returns the median with the quartiles, the 5th and the 95th percentile.
    pub fn value(&self, engine: &CalledEngine) -> Value {
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
            metric: CYCLES.0.into(),
            unit: CYCLES.1.into(),
            value: share(0.5),
            spread,
            ..Value::default()
        }
    }

    /// Returns the distribution function up to a number of cycles, as pairs of cycles and share.
    pub fn distribution(&self, up_to: f64) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (ticks, seen) in self.sorted.iter().zip(1u32..) {
            let x = self.counter.cycles((*ticks).into());
            if x > up_to {
                break;
            }
            let y = f64::from(seen) / self.len() as f64;
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

/// The quantity, with its unit.
pub(crate) const CYCLES: (&str, &str) = ("cycles", "cycles");

/// Right end of the charts of distributions, in cycles per lookup.
const UP_TO: f64 = 400.0;

/// Records the mean, the percentiles and the distribution of an engine, each as a separate run configuration.
pub(crate) fn cycles<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    cell: FigureCell<'_>,
    named: Named<'_, F>,
    engine: &CalledEngine,
    ticks: &Ticks<u16>,
) {
    let mut note = |run, x, name, value| {
        context.quantity(FigureCell { run, x, ..cell }, named, engine, name, Ok(value));
    };
    note("mean", None, CYCLES, ticks.mean());
    for (name, share) in SHARES {
        note(name, None, CYCLES, ticks.percentile(share));
    }
    for (x, share) in ticks.distribution(UP_TO) {
        note("", Some(x), ("share of lookups", ""), share);
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
        let ticks = Ticks::<u16>::new(COUNTER, vec![100, 5, 10, 11, 12, 13, 14, 15, 16, 17]);
        assert_eq!((ticks.len(), ticks.mean(), ticks.mean_ns()), (10, 23.6, 5.9));
        assert_eq!((ticks.percentile(0.5), ticks.percentile(0.9)), (6.0, 14.0));
        assert_eq!((ticks.percentile(0.0), ticks.percentile(1.0)), (0.0, 180.0));
        assert_eq!(Ticks::<u16>::new(COUNTER, Vec::new()).percentile(0.5), 0.0);
        let ticks = Ticks::<u64>::new(COUNTER, (11..=1010).collect());
        assert_eq!([0.5, 0.9, 0.99, 0.999].map(|it| ticks.quantile(it)), [510, 910, 1000, 1009]);
        assert_eq!(ticks.nanoseconds(0.5), 250.0);
    }

    #[test]
    fn distributions_rise_to_one() {
        let points = Ticks::<u16>::new(COUNTER, vec![5, 10, 11, 12]).distribution(1e9);
        assert_eq!(points, [(0.0, 0.5), (2.0, 0.75), (4.0, 1.0)]);
        assert_eq!(Ticks::<u16>::new(COUNTER, vec![11, 100]).distribution(50.0).len(), 1);
    }
}
