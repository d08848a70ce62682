//! Passes: repeated timings of work, interleaved with those of other work.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::noise::NoiseReport;
use crate::pin;
use crate::record::{Spread, Value};
use crate::run_config::RunConfig;
use crate::stats::Stats;
use crate::threads::{ArriveOnDrop, ThreadError, together};

/// Minimum number of units in a pass, unless the work has another. The rates of a debug build are not meaningful: few units
/// suffice there, and no pass is repeated.
pub(crate) const LEAST: usize = if cfg!(debug_assertions) { 1 << 10 } else { 1 << 16 };
/// Maximum number of repetitions of a disturbed pass.
const REPEATS: usize = 2;
/// Maximum number of repetitions of a measurement whose passes were all disturbed.
const REPEATED_MEASUREMENTS: usize = 3;

/// Work whose rate is measured, in units such as lookups.
pub trait TimedWork: Sync {
    /// The least number of units that each thread does in a pass.
    fn least_units(&self) -> usize {
        LEAST
    }

    /// Brings memory back into the caches, which the passes of other work have changed.
    fn warm_up(&self, part: Part);

    /// Does a part of a pass and times it.
    fn time(&self, part: Part) -> Done;

    /// Whether the work runs in the calling thread, not in another process.
    fn runs_in_process(&self) -> bool {
        true
    }
}

/// The part of a pass that one thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The number of the pass, from 0; warm-up passes have 0 too.
    pub pass: usize,
    /// The number of the thread, from 0.
    pub thread: usize,
    /// The units to do.
    pub units: usize,
}

/// The part of a pass that a thread has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The units, which may be more than there were to do.
    pub units: usize,
    /// The time up to the last of them.
    pub took: Duration,
}

/// Results of the passes of one work.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PassResults {
    /// Rates of the passes that count, in million units a second of all threads.
    pub rates: Vec<f64>,
    /// The CPU's frequency in each of them, in GHz.
    pub ghz: Vec<f64>,
    /// Number of discarded passes, those of discarded measurements included.
    pub repeated: usize,
    /// Number of passes that count although every attempt was disturbed.
    pub disturbed: usize,
}

impl PassResults {
    /// Statistics of the rates; `None` without passes.
    pub fn stats(&self) -> Option<Stats> {
        Stats::of(&self.rates)
    }

    /// Returns a value with the median of the rates, its spread and its passes.
    pub fn rate(&self, about: Value) -> Value {
        let stats = self.stats();
        Value {
            value: stats.map(|stats| stats.median),
            spread: stats.map(Spread::from).unwrap_or_default(),
            passes: self.rates.len() as u64,
            repeated: self.repeated as u64,
            disturbed: self.disturbed as u64,
            ghz: Stats::of(&self.ghz).map(|stats| stats.median),
            ..about
        }
    }
}

/// Measures all works in turn: the first pass of each, then the second pass of each, and so on.
///
/// Of the settings it reads the duration, the passes, the threads and their pinning.
/// Works whose passes were all disturbed are measured again, in turn, at most three times.
///
/// # Errors
/// If the system does not start all threads.
pub fn measure(
    works: &[&dyn TimedWork],
    config: &RunConfig,
) -> Result<Vec<PassResults>, ThreadError> {
    measure_judged(works, config, &|_, noise, best_ghz| {
        !cfg!(debug_assertions) && noise.is_disturbed(best_ghz)
    })
}

/// Decides whether a pass of the work with this index was disturbed, by its noise and the CPU's full
/// frequency.
type NoiseJudge<'j> = &'j dyn Fn(usize, NoiseReport, f64) -> bool;

fn measure_judged(
    works: &[&dyn TimedWork],
    config: &RunConfig,
    is_disturbed: NoiseJudge<'_>,
) -> Result<Vec<PassResults>, ThreadError> {
    let runners = works.iter().map(|work| Runner::warmed_up(*work, config));
    let mut runners = runners.collect::<Result<Vec<_>, _>>()?;
    let mut turns: Vec<usize> = (0..runners.len()).collect();
    for _ in 0..=REPEATED_MEASUREMENTS {
        for i in &turns {
            let PassResults { rates, repeated, .. } = &runners[*i].results;
            let repeated = repeated + rates.len();
            runners[*i].results = PassResults { repeated, ..PassResults::default() };
        }
        for pass in 0..config.passes.max(1) {
            for &i in &turns {
                let best = runners.iter().map(|it| it.best_ghz).fold(0.0, f64::max);
                runners[i]
                    .pass(config, pass, |noise, own| is_disturbed(i, noise, best.max(own)))?;
            }
        }
        turns.retain(|i| runners[*i].results.disturbed == config.passes.max(1));
    }
    Ok(runners.into_iter().map(|it| it.results).collect())
}

/// Work during its measurement.
struct Runner<'w> {
    work: &'w dyn TimedWork,
    /// Units of each thread in a pass.
    units: usize,
    /// Highest frequency measured so far, in GHz.
    best_ghz: f64,
    results: PassResults,
}

impl<'w> Runner<'w> {
    /// A runner whose number of units fills the time of a pass.
    ///
    /// Two warm-up passes determine that number; their rates do not count.
    fn warmed_up(work: &'w dyn TimedWork, config: &RunConfig) -> Result<Self, ThreadError> {
        let pass_us = config.seconds * 1e6 / (config.passes.max(1) + 1) as f64;
        let least = work.least_units();
        let results = PassResults::default();
        let mut runner = Self { work, units: least.min(LEAST), best_ghz: 0.0, results };
        for _ in 0..2 {
            let (rate, _) = runner.try_pass(config, 0)?;
            runner.units = ((rate / config.threads as f64 * pass_us) as usize).max(least);
        }
        Ok(runner)
    }

    /// Runs one pass on all threads and keeps its rate.
    ///
    /// A pass is repeated if it was disturbed, by its noise and the highest frequency of this work.
    fn pass(
        &mut self,
        config: &RunConfig,
        pass: usize,
        is_disturbed: impl Fn(NoiseReport, f64) -> bool,
    ) -> Result<(), ThreadError> {
        for left in (0..=REPEATS).rev() {
            let (rate, noise) = self.try_pass(config, pass)?;
            let disturbed = is_disturbed(noise, self.best_ghz);
            if disturbed && left > 0 {
                self.results.repeated += 1;
                continue;
            }
            self.results.disturbed += usize::from(disturbed);
            self.results.rates.push(rate);
            self.results.ghz.push(noise.ghz);
            break;
        }
        Ok(())
    }

    /// Runs one pass on all threads; returns its rate and the greatest noise.
    fn try_pass(
        &mut self,
        config: &RunConfig,
        pass: usize,
    ) -> Result<(f64, NoiseReport), ThreadError> {
        let barrier = Barrier::new(config.threads);
        let all = together(config.threads, |thread| {
            if config.pin {
                pin::to(thread);
            }
            run_thread(self.work, Part { pass, thread, units: self.units }, &barrier)
        });
        if config.pin {
            pin::free();
        }
        let all = all?;
        let lowest =
            |of: fn(&NoiseReport) -> f64| all.iter().map(|it| of(&it.noise)).reduce(f64::min);
        let noise = NoiseReport {
            ghz: lowest(|noise| noise.ghz).unwrap_or_default(),
            running: lowest(|noise| noise.running).unwrap_or_default(),
        };
        self.best_ghz = self.best_ghz.max(noise.ghz);
        Ok((rate(&all), noise))
    }
}

/// Times and noise of one thread in a pass.
#[derive(Clone, Copy, Debug)]
struct ThreadResult {
    units: usize,
    began: Instant,
    ended: Instant,
    noise: NoiseReport,
}

/// The time from the first start to the last end: the divisor of the work of several threads.
///
/// The threads' own rates cannot be added, because threads that share a CPU run at different times.
pub(crate) fn span(times: impl Iterator<Item = (Instant, Instant)> + Clone) -> Duration {
    let (began, ended) = (times.clone().map(|it| it.0).min(), times.map(|it| it.1).max());
    began.zip(ended).map_or(Duration::ZERO, |(began, ended)| ended - began)
}

/// Million units a second of all threads.
fn rate(all: &[ThreadResult]) -> f64 {
    let took = span(all.iter().map(|it| (it.began, it.ended)));
    let units: usize = all.iter().map(|it| it.units).sum();
    units as f64 / (took.as_secs_f64() * 1e6).max(1e-3)
}

/// Runs the warm-up and the pass of one thread.
fn run_thread(work: &dyn TimedWork, part: Part, barrier: &Barrier) -> ThreadResult {
    let arrival = ArriveOnDrop(barrier);
    work.warm_up(part);
    drop(arrival);
    let (done, mut noise) = NoiseReport::during(|| (work.time(part), Instant::now()));
    let (Done { units, took }, ended) = done;
    if !work.runs_in_process() {
        noise.running = 1.0;
    }
    // The time of a peer excludes the exchange of messages with it.
    let began = ended.checked_sub(took).unwrap_or(ended);
    ThreadResult { units, began, ended, noise }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::Mode;
    use crate::threads::testing::refusing;
    use std::sync::Mutex;

    fn at(start: Instant, from_ms: u64, to_ms: u64) -> ThreadResult {
        let at = |ms| start + Duration::from_millis(ms);
        let noise = NoiseReport { ghz: 1.0, running: 1.0 };
        ThreadResult { units: 1_000_000, began: at(from_ms), ended: at(to_ms), noise }
    }

    #[test]
    fn rates_span_the_first_start_to_the_last_end() {
        let start = Instant::now();
        assert_eq!(rate(&[at(start, 0, 10)]), 100.0);
        assert_eq!(rate(&[at(start, 0, 10), at(start, 0, 10)]), 200.0);
        // One thread after the other: the same units take twice the time.
        assert_eq!(rate(&[at(start, 0, 10), at(start, 10, 20)]), 100.0);
        assert_eq!(rate(&[at(start, 5, 15), at(start, 0, 20)]), 100.0);
    }

    /// Work whose threads take turns, so that more threads are not faster.
    struct Serialized(Mutex<Vec<Part>>);

    impl TimedWork for Serialized {
        fn least_units(&self) -> usize {
            1000
        }

        fn warm_up(&self, _: Part) {}

        fn time(&self, part: Part) -> Done {
            let start = Instant::now();
            let mut turn = self.0.lock().unwrap();
            std::thread::sleep(Duration::from_millis(2));
            turn.push(part);
            Done { units: part.units, took: start.elapsed() }
        }
    }

    fn config(passes: usize, threads: usize) -> RunConfig {
        RunConfig { seconds: 1e-6, passes, threads, ..RunConfig::new(Mode::One) }
    }

    /// The sum of the threads' own rates would be eight times the rate of one.
    #[test]
    fn threads_that_take_turns_are_not_faster_than_one() {
        let work = Serialized(Mutex::default());
        let results = measure(&[&work], &config(2, 8)).unwrap();
        let stats = results[0].stats().unwrap();
        assert!(stats.max <= 1000.0 / 2000.0, "{stats:?} million units a second");
    }

    #[test]
    fn every_work_has_its_passes() {
        let works = [Serialized(Mutex::default()), Serialized(Mutex::default())];
        let config = config(3, 2);
        let results = measure(&[&works[0], &works[1]], &config).unwrap();
        for (work, results) in works.iter().zip(&results) {
            let parts = work.0.lock().unwrap();
            assert_eq!((results.rates.len(), results.ghz.len()), (3, 3));
            // Two warm-up passes come first; disturbed passes and measurements are repeated.
            assert_eq!(parts.len(), 2 * (2 + 3 + results.repeated));
            assert!(parts.iter().all(|part| part.units == 1000));
            assert!((0..3).all(|pass| parts.iter().any(|part| part.pass == pass)));
        }
        assert!(measure(&[], &config).unwrap().is_empty());
        assert!(PassResults::default().stats().is_none());
    }

    /// Of three works, the first is disturbed always, the second in its first nine passes, which are all
    /// attempts of a measurement, and the third in its first two.
    #[test]
    fn a_wholly_disturbed_measurement_is_repeated() {
        let works = [(); 3].map(|()| Serialized(Mutex::default()));
        let works = works.each_ref().map(|work| work as &dyn TimedWork);
        let judged = Mutex::new(Vec::new());
        let results = measure_judged(&works, &config(3, 1), &|i, _, _| {
            let mut judged = judged.lock().unwrap();
            judged.push(i);
            judged.iter().filter(|it| **it == i).count() <= [usize::MAX, 9, 2][i]
        });
        let counts = |it: &PassResults| (it.rates.len(), it.ghz.len(), it.disturbed, it.repeated);
        let counts: Vec<_> = results.unwrap().iter().map(counts).collect();
        // Four measurements of three passes of three attempts; only the last attempts of the last
        // measurement count.
        assert_eq!(counts, [(3, 3, 3, 4 * 9 - 3), (3, 3, 0, 9), (3, 3, 0, 2)]);
        let judged = judged.into_inner().unwrap();
        assert_eq!(judged[..9], [0, 0, 0, 1, 1, 1, 2, 2, 2]);
        let again = [0, 0, 0, 1].repeat(3);
        assert_eq!(judged[9 + 7 + 7..][..12], again, "the disturbed works take turns again");
        assert_eq!(judged[9 + 7 + 7 + 12..], [0; 18]);
    }

    #[test]
    fn a_refused_thread_ends_the_measurement() {
        let work = Serialized(Mutex::default());
        let error = refusing(2, || measure(&[&work], &config(2, 8))).unwrap_err();
        assert_eq!((error.started, error.wanted), (2, 8));
        assert!(work.0.lock().unwrap().is_empty(), "no thread has begun");
        assert_eq!(measure(&[&work], &config(2, 8)).unwrap().len(), 1, "the next one works");
    }
}
