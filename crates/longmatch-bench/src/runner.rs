//! One engine, or its roofline, while it is measured: how long a pass is, and how fast.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::comparison::Setup;
use crate::family::BenchFamily;
use crate::key_stream::KeyStream;
use crate::noise::NoiseReport;
use crate::pin;
use crate::record::KeySource;
use crate::target::Pass;
use crate::threads::{Arrival, ThreadError, together};
use crate::traffic::Traffic;
use crate::workload::Workload;

/// The fewest lookups in a pass; also those that find out how many there should be.
const FEWEST: usize = 1 << 16;
/// How often a pass is repeated at most because the machine was disturbed.
const REPEATS: usize = 2;

/// What the passes of an engine have shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passes {
    /// The rates of those that count, in million lookups a second of all threads.
    pub rates: Vec<f64>,
    /// The CPU's frequency in each of them, in GHz.
    pub ghz: Vec<f64>,
    /// Passes that were thrown away.
    pub repeated: usize,
    /// Passes that count although the machine was disturbed each time.
    pub disturbed: usize,
}

/// An engine while it is measured.
pub(crate) struct Runner<'e, F: BenchFamily> {
    engine: &'e dyn Pass<F>,
    /// Lookups of each thread in a pass.
    lookups: usize,
    /// The highest frequency that was seen, in GHz.
    best_ghz: f64,
    passes: Passes,
}

impl<'e, F: BenchFamily> Runner<'e, F> {
    /// Finds out how many lookups make a pass of the right length, with a first pass whose rate is
    /// not kept.
    ///
    /// # Errors
    /// When the system does not start all threads.
    pub fn warmed_up(
        engine: &'e dyn Pass<F>,
        workload: &Workload<F>,
        setup: &Setup,
    ) -> Result<Self, ThreadError> {
        let pass_us = setup.seconds * 1e6 / (setup.passes.max(1) + 1) as f64;
        // An ascending stream is only itself as a whole.
        let fewest =
            if *workload.traffic() == Traffic::Sequential { workload.keys().len() } else { FEWEST };
        let mut it = Self { engine, lookups: FEWEST, best_ghz: 0.0, passes: Passes::default() };
        for _ in 0..2 {
            let (rate, _) = it.try_pass(workload, setup, 0)?;
            it.lookups = ((rate / setup.threads as f64 * pass_us) as usize).max(fewest);
        }
        Ok(it)
    }

    /// The highest frequency that was seen so far, in GHz.
    pub fn best_ghz(&self) -> f64 {
        self.best_ghz
    }

    /// One pass of all threads; its rate is kept. It is repeated if the machine was disturbed,
    /// `best_ghz` being what it can do.
    ///
    /// # Errors
    /// When the system does not start all threads.
    pub fn pass(
        &mut self,
        workload: &Workload<F>,
        setup: &Setup,
        pass: usize,
        best_ghz: f64,
    ) -> Result<(), ThreadError> {
        for left in (0..=REPEATS).rev() {
            let (rate, calm) = self.try_pass(workload, setup, pass)?;
            let disturbed = calm.is_disturbed(best_ghz.max(self.best_ghz));
            if disturbed && left > 0 {
                self.passes.repeated += 1;
                continue;
            }
            self.passes.disturbed += usize::from(disturbed);
            self.passes.rates.push(rate);
            self.passes.ghz.push(calm.ghz);
            break;
        }
        Ok(())
    }

    /// One pass of all threads: its rate, and what the most disturbed one met.
    fn try_pass(
        &mut self,
        workload: &Workload<F>,
        setup: &Setup,
        pass: usize,
    ) -> Result<(f64, NoiseReport), ThreadError> {
        let barrier = Barrier::new(setup.threads);
        let all = together(setup.threads, |thread| {
            timed(self.engine, setup, self.stream(workload, setup, pass, thread), &barrier, thread)
        });
        if setup.pin {
            pin::free();
        }
        let all = all?;
        let lowest =
            |of: fn(&NoiseReport) -> f64| all.iter().map(|it| of(&it.calm)).reduce(f64::min);
        let calm = NoiseReport {
            ghz: lowest(|calm| calm.ghz).unwrap_or_default(),
            ran: lowest(|calm| calm.ran).unwrap_or_default(),
        };
        self.best_ghz = self.best_ghz.max(calm.ghz);
        Ok((rate(&all), calm))
    }

    /// What the passes have shown.
    pub fn end(self) -> Passes {
        self.passes
    }

    /// Passes and threads begin at places of their own, the same for every engine.
    fn stream<'h>(
        &self,
        workload: &'h Workload<F>,
        setup: &Setup,
        pass: usize,
        thread: usize,
    ) -> KeyStream<'h, F> {
        let lookups = self.lookups;
        let (part, parts) = (pass * setup.threads + thread, setup.passes.max(1) * setup.threads);
        match setup.key_source(workload.traffic()) {
            KeySource::Xorshift => {
                KeyStream::Generated { seed: workload.seed() + part as u64, lookups }
            }
            KeySource::Array => {
                let start = workload.keys().len() / parts * part;
                workload.stream(setup.mode, start, lookups)
            }
        }
    }
}

/// What one thread did in a pass.
#[derive(Clone, Copy, Debug)]
struct Timed {
    lookups: usize,
    began: Instant,
    ended: Instant,
    calm: NoiseReport,
}

/// Million lookups a second of all threads together, from the first one's beginning to the last
/// one's end. Rates of threads that ran at different times, as more threads than CPUs do, cannot be
/// added.
fn rate(all: &[Timed]) -> f64 {
    let began = all.iter().map(|it| it.began).min();
    let ended = all.iter().map(|it| it.ended).max();
    let took = began.zip(ended).map_or(Duration::ZERO, |(began, ended)| ended - began);
    let lookups: usize = all.iter().map(|it| it.lookups).sum();
    lookups as f64 / (took.as_secs_f64() * 1e6).max(1e-3)
}

/// One thread in a pass, once its structure is in the caches again.
fn timed<F: BenchFamily>(
    engine: &dyn Pass<F>,
    setup: &Setup,
    stream: KeyStream<'_, F>,
    barrier: &Barrier,
    thread: usize,
) -> Timed {
    if setup.pin {
        pin::to(thread);
    }
    let pass = |stream| engine.timed(setup.mode, setup.simd, setup.batch, stream);
    let arrival = Arrival(barrier);
    // The others have left the caches to this one's disadvantage, or advantage.
    pass(stream.lead_in());
    drop(arrival);
    let mut ended = Instant::now();
    let (took, mut calm) = NoiseReport::during(|| {
        let took = pass(stream);
        ended = Instant::now();
        took
    });
    if !engine.runs_here() {
        calm.ran = 1.0;
    }
    // A peer takes its time itself: what it takes to ask it and to hear from it does not count.
    let began = ended.checked_sub(took).unwrap_or(ended);
    Timed { lookups: stream.lookups(), began, ended, calm }
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

    fn at(start: Instant, from_ms: u64, to_ms: u64) -> Timed {
        let at = |ms| start + Duration::from_millis(ms);
        let calm = NoiseReport { ghz: 1.0, ran: 1.0 };
        Timed { lookups: 1_000_000, began: at(from_ms), ended: at(to_ms), calm }
    }

    #[test]
    fn rates_are_from_the_first_beginning_to_the_last_end() {
        let start = Instant::now();
        assert_eq!(rate(&[at(start, 0, 10)]), 100.0);
        assert_eq!(rate(&[at(start, 0, 10), at(start, 0, 10)]), 200.0);
        // One after the other: the same lookups in twice the time.
        assert_eq!(rate(&[at(start, 0, 10), at(start, 10, 20)]), 100.0);
        assert_eq!(rate(&[at(start, 5, 15), at(start, 0, 20)]), 100.0);
    }

    /// As much work as a CPU does alone, whatever the number of threads: they take turns.
    struct OneAtATime(Mutex<()>);

    impl Pass<Ipv4> for OneAtATime {
        fn pass(&self, _: Mode, _: Simd, _: usize, _: KeyStream<'_, Ipv4>) -> u32 {
            let _turn = self.0.lock().unwrap();
            std::thread::sleep(Duration::from_millis(2));
            0
        }
    }

    /// The sum of the threads' own rates would be eight times as much.
    #[test]
    fn threads_that_take_turns_are_not_faster_than_one() {
        let rib = table4();
        let workload =
            Comparison::new(&rib).workload_of(&Traffic::Random, 1, 1000, CHECKED).unwrap();
        let engine = OneAtATime(Mutex::new(()));
        let setup = Setup { threads: 8, ..Setup::new(Mode::One) };
        let mut runner = Runner::<Ipv4> {
            engine: &engine,
            lookups: 1000,
            best_ghz: 0.0,
            passes: Passes::default(),
        };
        let (rate, _) = runner.try_pass(&workload, &setup, 0).unwrap();
        assert!(rate <= 1000.0 / 2000.0, "{rate} million a second");
    }

    #[test]
    fn a_refused_thread_ends_the_measurement() {
        let rib = table4();
        let mut comparison = Comparison::new(&rib);
        comparison.add(&EngineKind::Radix.into()).unwrap();
        let workload = comparison.workload_of(&Traffic::Random, 1, 1000, CHECKED).unwrap();
        let setup = Setup { threads: 3, seconds: 0.01, ..Setup::new(Mode::One) };
        let error = refusing(2, || comparison.run(&workload, &setup)).unwrap_err();
        assert_eq!((error.started, error.wanted), (2, 3));
        assert_eq!(comparison.run(&workload, &setup).unwrap().len(), 1, "nothing is left of it");
    }
}
