//! The cycles of single lookups, counted.

use longmatch::simd::Simd;

use crate::context::SEED;
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::model::{Point, Series};
use longmatch_bench::BenchFamily;
use longmatch_bench::Iteration;
use longmatch_bench::pin;
use longmatch_bench::ticks::Counter;

/// Lookups before those that count.
const RUN_UP: usize = 1 << 16;

/// How many ticks the lookups of one engine took, in order of the addresses.
pub(crate) struct Timed {
    /// The engine.
    pub engine: EngineUnderTest,
    /// What is timed as one.
    pub iteration: Iteration,
    /// The ticks of each, in order of the addresses.
    pub ticks: Vec<u16>,
}

/// How many ticks how many lookups took.
pub(crate) struct Ticks {
    counter: Counter,
    /// By ticks, the overhead in them.
    counts: Vec<u64>,
    total: u64,
}

/// Times `count` iterations of each engine of a field with the same random addresses; those that
/// cannot hold the table are left out. `done` is called after each.
pub(crate) fn time<F: BenchFamily>(
    field: &EngineSet<'_, F>,
    iterations: &dyn Fn(&EngineUnderTest) -> Iteration,
    count: usize,
    done: &mut dyn FnMut(),
) -> (Counter, Vec<Timed>) {
    pin::to(0);
    let counter = Counter::here();
    let mut all = Vec::new();
    for (member, engine) in field.targets() {
        let Some(engine) = engine else { continue };
        let iteration = iterations(member);
        engine.ticks(Simd::best(), iteration, !SEED, &mut vec![0; RUN_UP.min(count)]);
        let mut ticks = vec![0; count];
        engine.ticks(Simd::best(), iteration, SEED, &mut ticks);
        all.push(Timed { engine: member.clone(), iteration, ticks });
        done();
    }
    pin::free();
    (counter, all)
}

impl Ticks {
    /// Counts.
    pub fn count(counter: Counter, ticks: impl IntoIterator<Item = u16>) -> Self {
        let mut it = Self { counter, counts: vec![0; 1 << 16], total: 0 };
        for ticks in ticks {
            it.note(ticks);
        }
        it
    }

    /// Counts one.
    pub fn note(&mut self, ticks: u16) {
        self.counts[usize::from(ticks)] += 1;
        self.total += 1;
    }

    /// How many were counted.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// The cycles that this share of the lookups did not exceed; 0 of none.
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

    /// The mean of the cycles; 0 of none.
    pub fn mean(&self) -> f64 {
        let ticks = self.counts.iter().enumerate();
        let sum: f64 =
            ticks.map(|(ticks, count)| self.counter.cycles(ticks as u64) * *count as f64).sum();
        sum / self.total.max(1) as f64
    }

    /// The distribution function up to so many cycles.
    pub fn distribution(&self, name: &str, up_to: f64) -> Series {
        let mut points: Vec<Point> = Vec::new();
        let mut seen = 0;
        for (ticks, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            seen += count;
            let x = self.counter.cycles(ticks as u64);
            if x > up_to {
                break;
            }
            let y = seen as f64 / self.total as f64;
            match points.last_mut() {
                // Below the overhead all is zero.
                Some(last) if last.x == x => last.y = y,
                _ => points.push(Point { x, y, spread: None }),
            }
        }
        Series { name: name.into(), dashed: false, points }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTER: Counter = Counter { cycles_per_tick: 2.0, overhead: 10, step: 1 };

    #[test]
    fn percentiles_by_hand() {
        // 0, 0, 2, 4, 6, 8, 10, 12, 14 and 180 cycles.
        let ticks = Ticks::count(COUNTER, [5, 10, 11, 12, 13, 14, 15, 16, 17, 100]);
        assert_eq!((ticks.len(), ticks.mean()), (10, 23.6));
        assert_eq!((ticks.percentile(0.5), ticks.percentile(0.9)), (6.0, 14.0));
        assert_eq!((ticks.percentile(0.0), ticks.percentile(1.0)), (0.0, 180.0));
        assert_eq!(Ticks::count(COUNTER, []).percentile(0.5), 0.0);
    }

    #[test]
    fn distributions_rise_to_one() {
        let line = Ticks::count(COUNTER, [5, 10, 11, 12]).distribution("x", 1e9);
        let points: Vec<_> = line.points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(points, [(0.0, 0.5), (2.0, 0.75), (4.0, 1.0)]);
        let cut = Ticks::count(COUNTER, [11, 100]).distribution("x", 50.0);
        assert_eq!(cut.points.len(), 1);
    }
}
