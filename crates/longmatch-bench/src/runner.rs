//! The passes of one engine or roofline.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::family::TrafficFamily;
use crate::key_stream::KeyStream;
use crate::noise::NoiseReport;
use crate::pin;
use crate::run_config::RunConfig;
use crate::target::Pass;
use crate::threads::{ArriveOnDrop, ThreadError, together};
use crate::traffic::Traffic;
use crate::workload::Workload;

/// Minimum number of lookups in a pass, and the number in the first warm-up pass.
const MIN_LOOKUPS: usize = 1 << 16;
/// Maximum number of repetitions of a disturbed pass.
const REPEATS: usize = 2;

/// Results of the passes of one engine.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassResults {
    /// Rates of the passes that count, in million lookups a second of all threads.
    pub rates: Vec<f64>,
    /// The CPU's frequency in each of them, in GHz.
    pub ghz: Vec<f64>,
    /// Number of discarded passes.
    pub repeated: usize,
    /// Number of passes that count although every attempt was disturbed.
    pub disturbed: usize,
}

/// An engine or a roofline during its measurement.
pub(crate) struct Runner<'e, F: TrafficFamily> {
    target: &'e dyn Pass<F>,
    /// Lookups of each thread in a pass.
    lookups: usize,
    /// Highest frequency measured so far, in GHz.
    best_ghz: f64,
    results: PassResults,
}

impl<'e, F: TrafficFamily> Runner<'e, F> {
    /// A runner whose number of lookups fills the time of a pass.
    ///
    /// Two warm-up passes determine that number; their rates do not count.
    ///
    /// # Errors
    /// If the system does not start all threads.
    pub fn warmed_up(
        target: &'e dyn Pass<F>,
        workload: &Workload<F>,
        config: &RunConfig,
    ) -> Result<Self, ThreadError> {
        let pass_us = config.seconds * 1e6 / (config.passes.max(1) + 1) as f64;
        // A part of a sequential stream would cover only a part of the address space.
        let min_lookups = match workload.traffic() {
            Traffic::Sequential => workload.keys().len(),
            _ => MIN_LOOKUPS,
        };
        let results = PassResults::default();
        let mut runner = Self { target, lookups: MIN_LOOKUPS, best_ghz: 0.0, results };
        for _ in 0..2 {
            let (rate, _) = runner.try_pass(workload, config, 0)?;
            runner.lookups = ((rate / config.threads as f64 * pass_us) as usize).max(min_lookups);
        }
        Ok(runner)
    }

    /// Highest frequency measured so far, in GHz.
    pub fn best_ghz(&self) -> f64 {
        self.best_ghz
    }

    /// Runs one pass on all threads and keeps its rate.
    ///
    /// A pass is repeated if the noise probe, with `best_ghz` as the CPU's full frequency, finds it
    /// disturbed.
    ///
    /// # Errors
    /// If the system does not start all threads.
    pub fn pass(
        &mut self,
        workload: &Workload<F>,
        config: &RunConfig,
        pass: usize,
        best_ghz: f64,
    ) -> Result<(), ThreadError> {
        for left in (0..=REPEATS).rev() {
            let (rate, noise) = self.try_pass(workload, config, pass)?;
            let disturbed = noise.is_disturbed(best_ghz.max(self.best_ghz));
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
        workload: &Workload<F>,
        config: &RunConfig,
        pass: usize,
    ) -> Result<(f64, NoiseReport), ThreadError> {
        let barrier = Barrier::new(config.threads);
        let all = together(config.threads, |thread| {
            let stream = self.stream(workload, config, pass, thread);
            run_thread(self.target, config, stream, &barrier, thread)
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

    /// The results of all passes.
    pub fn into_results(self) -> PassResults {
        self.results
    }

    /// The keys of one thread in one pass.
    ///
    /// Each begins at a different position, which is the same for every engine.
    fn stream<'w>(
        &self,
        workload: &'w Workload<F>,
        config: &RunConfig,
        pass: usize,
        thread: usize,
    ) -> KeyStream<'w, F> {
        let lookups = self.lookups;
        let (part, parts) = (pass * config.threads + thread, config.passes.max(1) * config.threads);
        let generated = if config.generate { workload.generated(part, lookups) } else { None };
        generated.unwrap_or_else(|| {
            let start = workload.keys().len() / parts * part;
            workload.stream(config.mode, start, lookups)
        })
    }
}

/// Times and noise of one thread in a pass.
#[derive(Clone, Copy, Debug)]
struct ThreadResult {
    lookups: usize,
    began: Instant,
    ended: Instant,
    noise: NoiseReport,
}

/// Million lookups a second of all threads, from the first start to the last end.
///
/// The threads' own rates cannot be added, because threads that share a CPU run at different times.
fn rate(all: &[ThreadResult]) -> f64 {
    let began = all.iter().map(|it| it.began).min();
    let ended = all.iter().map(|it| it.ended).max();
    let took = began.zip(ended).map_or(Duration::ZERO, |(began, ended)| ended - began);
    let lookups: usize = all.iter().map(|it| it.lookups).sum();
    lookups as f64 / (took.as_secs_f64() * 1e6).max(1e-3)
}

/// Runs the warm-up and the pass of one thread.
fn run_thread<F: TrafficFamily>(
    target: &dyn Pass<F>,
    config: &RunConfig,
    stream: KeyStream<'_, F>,
    barrier: &Barrier,
    thread: usize,
) -> ThreadResult {
    if config.pin {
        pin::to(thread);
    }
    let pass = |stream| target.time_pass(config.mode, config.simd, config.batch, stream);
    let arrival = ArriveOnDrop(barrier);
    // Brings the structure back into the caches, which the passes of other engines have changed.
    pass(stream.warm_up());
    drop(arrival);
    let mut ended = Instant::now();
    let (took, mut noise) = NoiseReport::during(|| {
        let took = pass(stream);
        ended = Instant::now();
        took
    });
    if !target.runs_in_process() {
        noise.running = 1.0;
    }
    // A peer measures its own time, which excludes the exchange of messages with it.
    let began = ended.checked_sub(took).unwrap_or(ended);
    ThreadResult { lookups: stream.lookups(), began, ended, noise }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;
    use crate::comparison::Comparison;
    use crate::testing::table4;
    use crate::threads::testing::refusing;
    use crate::workload::CHECKED;
    use longmatch::simd::Simd;
    use longmatch::{EngineKind, Ipv4};
    use std::sync::Mutex;

    fn at(start: Instant, from_ms: u64, to_ms: u64) -> ThreadResult {
        let at = |ms| start + Duration::from_millis(ms);
        let noise = NoiseReport { ghz: 1.0, running: 1.0 };
        ThreadResult { lookups: 1_000_000, began: at(from_ms), ended: at(to_ms), noise }
    }

    #[test]
    fn rates_span_the_first_start_to_the_last_end() {
        let start = Instant::now();
        assert_eq!(rate(&[at(start, 0, 10)]), 100.0);
        assert_eq!(rate(&[at(start, 0, 10), at(start, 0, 10)]), 200.0);
        // One thread after the other: the same lookups take twice the time.
        assert_eq!(rate(&[at(start, 0, 10), at(start, 10, 20)]), 100.0);
        assert_eq!(rate(&[at(start, 5, 15), at(start, 0, 20)]), 100.0);
    }

    /// A loop whose threads take turns, so that more threads are not faster.
    struct Serialized(Mutex<()>);

    impl Pass<Ipv4> for Serialized {
        fn pass(&self, _: Mode, _: Simd, _: usize, _: KeyStream<'_, Ipv4>) -> u32 {
            let _turn = self.0.lock().unwrap();
            std::thread::sleep(Duration::from_millis(2));
            0
        }
    }

    /// The sum of the threads' own rates would be eight times the rate of one.
    #[test]
    fn threads_that_take_turns_are_not_faster_than_one() {
        let rib = table4();
        let workload =
            Comparison::new(&rib).workload_of(&Traffic::Random, 1, 1000, CHECKED).unwrap();
        let target = Serialized(Mutex::new(()));
        let config = RunConfig { threads: 8, ..RunConfig::new(Mode::One) };
        let mut runner = Runner::<Ipv4> {
            target: &target,
            lookups: 1000,
            best_ghz: 0.0,
            results: PassResults::default(),
        };
        let (rate, _) = runner.try_pass(&workload, &config, 0).unwrap();
        assert!(rate <= 1000.0 / 2000.0, "{rate} million lookups a second");
    }

    #[test]
    fn a_refused_thread_ends_the_measurement() {
        let rib = table4();
        let mut comparison = Comparison::new(&rib);
        comparison.add(&EngineKind::Radix.into()).unwrap();
        let workload = comparison.workload_of(&Traffic::Random, 1, 1000, CHECKED).unwrap();
        let config = RunConfig { threads: 3, seconds: 0.01, ..RunConfig::new(Mode::One) };
        let error = refusing(2, || comparison.run(&workload, &config)).unwrap_err();
        assert_eq!((error.started, error.wanted), (2, 3));
        assert_eq!(comparison.run(&workload, &config).unwrap().len(), 1, "the next run works");
    }
}
