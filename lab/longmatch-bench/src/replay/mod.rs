//! Replay of updates of a live table, which times updates and concurrent readers.

mod checks;
mod histogram;
mod reader_cost;
mod readers;
mod record;
#[cfg(test)]
mod tests;

use std::thread;
use std::time::{Duration, Instant};

use longmatch::live::{Commit, Replaced, Writer};
use longmatch::simd::{Microarch, Simd};
use longmatch::{Change, CompileError, EngineSpec, Fib, Rib, UpdateError};

use crate::family::TrafficFamily;
use crate::passes::span;
use crate::random::Xorshift;
use crate::threads::ThreadError;
use crate::traffic::Traffic;
use checks::Checks;
use histogram::Histogram;
use readers::{Phase, PhaseSignal, PhaseTimes, ReaderThreads, ReaderTimes};

pub use reader_cost::READER_COST_BATCH;
pub use readers::READER_BATCH;
pub use record::{ReplayRecord, UpdateCounts};

/// Number of addresses that the readers look up over and over.
const READER_KEYS: usize = 1 << 20;
/// Updates between two calls of the progress callback without a recompilation.
const STEP_UPDATES: u64 = 4096;
/// Maximum delay of the end of a sleep.
const SLEEP_DELAY: Duration = Duration::from_micros(200);

/// A sequence of updates and the settings of its replay.
#[derive(Clone, Debug)]
pub struct Replay<'a, F: TrafficFamily> {
    /// The routes before the first update.
    pub rib: &'a Rib<F>,
    /// The updates, in their order.
    pub changes: &'a [Change<F>],
    /// Updates per commit, at least 1. The last commit may have fewer.
    pub batch: usize,
    /// Time between the starts of two batches; `None` for no pause.
    pub pace: Option<Duration>,
    /// Number of reader threads.
    pub readers: usize,
    /// Addresses that the readers look up; not empty if there are readers.
    pub keys: &'a [F::Bits],
    /// Time for which the readers look up without updates.
    pub idle: Duration,
    /// Whether the idle phase follows the updates, as for an initially empty table.
    pub idle_after: bool,
    /// Number of updates between two comparisons of the table with its routes.
    ///
    /// A comparison follows the next commit. The last commit is always followed by one.
    pub verify_every: Option<usize>,
    /// Whether comparisons include every IPv4 address, and addresses inside of IPv6 ranges.
    ///
    /// Otherwise they include the ends of ranges.
    pub full: bool,
}

/// Progress of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayStep {
    /// Number of updates so far.
    pub done: u64,
    /// Number of all updates.
    pub total: u64,
    /// Number of commits so far that recompiled the table.
    pub recompiled: u64,
}

/// Error of a replay.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The engine cannot hold the routes before the first update.
    #[error(transparent)]
    Compile(CompileError),
    /// The engine rejected an update.
    #[error("update {number}: {error}")]
    Update {
        /// Number of the update, counted from 1; for a commit, its last update.
        number: u64,
        /// The reason.
        error: UpdateError,
    },
    /// The engine cannot be compiled from the routes after the last update.
    #[error("the routes after the last update: {0}")]
    Fresh(CompileError),
    /// The system did not start all threads.
    #[error(transparent)]
    Threads(#[from] ThreadError),
}

/// Announcements of all routes of a table in random order. O(routes).
pub fn in_random_order<F: TrafficFamily>(rib: &Rib<F>, seed: u64) -> Vec<Change<F>> {
    let mut changes: Vec<_> = rib.iter().map(Change::Announce).collect();
    let mut random = Xorshift::new(seed);
    for i in (1..changes.len()).rev() {
        changes.swap(i, random.below(i + 1));
    }
    changes
}

/// Addresses for the readers of a table: 2^20 random addresses that have a route.
pub fn reader_keys<F: TrafficFamily>(rib: &Rib<F>, seed: u64) -> Vec<F::Bits> {
    Traffic::Routed.keys(rib, READER_KEYS, seed)
}

impl<'a, F: TrafficFamily> Replay<'a, F> {
    /// A replay without readers, of commits of one update each, compared after the last one.
    pub fn new(rib: &'a Rib<F>, changes: &'a [Change<F>]) -> Self {
        Self {
            rib,
            changes,
            batch: 1,
            pace: None,
            readers: 0,
            keys: &[],
            idle: Duration::ZERO,
            idle_after: false,
            verify_every: None,
            full: false,
        }
    }

    /// Compiles the table and replays all updates.
    ///
    /// It takes the time of the updates, the comparisons, the idle phase and two compilations. Its
    /// memory for times does not grow with the number of updates.
    ///
    /// # Errors
    /// If the engine does not exist with these options or cannot hold the table, if it rejects an
    /// update, or if the system does not start all threads.
    pub fn run(
        &self,
        spec: &EngineSpec,
        on_step: &mut dyn FnMut(ReplayStep),
    ) -> Result<ReplayRecord, ReplayError> {
        let writer = Writer::new(self.rib.clone(), spec.clone()).map_err(ReplayError::Compile)?;
        self.run_with(writer, spec, on_step)
    }

    fn run_with(
        &self,
        writer: Writer<F>,
        spec: &EngineSpec,
        on_step: &mut dyn FnMut(ReplayStep),
    ) -> Result<ReplayRecord, ReplayError> {
        let bytes_before = writer.memory_usage().bytes();
        let signal = PhaseSignal::new();
        thread::scope(|scope| {
            let readers = (0..self.readers).map(|_| writer.reader()).collect();
            let threads = ReaderThreads::start(scope, &signal, readers, self.keys)?;
            let (totals, checks) = (UpdateTotals::default(), Checks::new());
            let mut run = ReplayRun { replay: self, writer, totals, checks };
            let mut reader_cost = None;
            let mut idle = |writer: &Writer<F>| {
                if self.readers > 0 {
                    reader_cost = Some(reader_cost::measure(writer.reader(), self.keys));
                    threads.idle(self.idle);
                }
            };
            if !self.idle_after {
                idle(&run.writer);
            }
            run.apply_all(&threads, on_step)?;
            if self.idle_after {
                idle(&run.writer);
            }
            let reader_times = threads.join();
            run.writer.reclaim();
            run.checks.checkpoint(&run.writer, self.full)?;
            run.record(spec, bytes_before, reader_cost, &reader_times)
        })
    }
}

/// Effects and times of the updates so far.
#[derive(Default)]
struct UpdateTotals {
    counts: UpdateCounts,
    times: Histogram,
    /// Nanoseconds of the updates that changed something or committed a change.
    effective_ns: u64,
    replaced: Replaced,
    recompiled: u64,
}

/// A replay in progress.
struct ReplayRun<'r, 'a, F: TrafficFamily> {
    replay: &'r Replay<'a, F>,
    writer: Writer<F>,
    totals: UpdateTotals,
    checks: Checks<F>,
}

impl<F: TrafficFamily> ReplayRun<'_, '_, F> {
    /// Applies all updates. Their times exclude comparisons and progress callbacks.
    fn apply_all(
        &mut self,
        threads: &ReaderThreads<'_>,
        on_step: &mut dyn FnMut(ReplayStep),
    ) -> Result<(), ReplayError> {
        let Replay { changes, batch, verify_every, pace, full, .. } = *self.replay;
        let total = changes.len() as u64;
        let (mut done, mut unchecked) = (0, 0);
        threads.switch_to(Phase::Churn);
        let mut due = Instant::now();
        for batch in changes.chunks(batch.max(1)) {
            if let Some(pace) = pace {
                wait_until(due);
                due += pace;
            }
            let recompiled = self.totals.recompiled;
            self.apply_batch(batch, done)?;
            let before = done;
            done += batch.len() as u64;
            unchecked += batch.len();
            let step = done / STEP_UPDATES > before / STEP_UPDATES;
            if step || self.totals.recompiled > recompiled {
                on_step(ReplayStep { done, total, recompiled: self.totals.recompiled });
            }
            if verify_every.is_some_and(|every| unchecked >= every) && done < total {
                threads.switch_to(Phase::Pause);
                self.checks.checkpoint(&self.writer, full)?;
                unchecked = 0;
                threads.switch_to(Phase::Churn);
            }
        }
        threads.switch_to(Phase::Pause);
        Ok(())
    }

    /// Applies and commits one batch, after `done` earlier updates.
    ///
    /// The time of an update begins at the end of the previous one. The last update's time includes
    /// the commit.
    fn apply_batch(&mut self, changes: &[Change<F>], done: u64) -> Result<(), ReplayError> {
        let Self { writer, totals, .. } = self;
        let failed = |i: usize| {
            let number = done + 1 + i as u64;
            move |error| ReplayError::Update { number, error }
        };
        let mut began = Instant::now();
        let mut pending = false;
        for (i, change) in changes.iter().enumerate() {
            let outcome = writer.apply(*change).map_err(failed(i))?;
            let commit = match i + 1 == changes.len() {
                true => Some(writer.commit().map_err(failed(i))?),
                false => None,
            };
            let ended = Instant::now();
            let took = ended - began;
            began = ended;
            totals.times.record(took);
            let effective = totals.counts.count(outcome);
            pending |= effective;
            if effective || pending && commit.is_some() {
                totals.effective_ns += took.as_nanos() as u64;
            }
            if let Some(Commit { replaced, recompiled, .. }) = commit {
                totals.replaced.entries += replaced.entries;
                totals.replaced.nodes += replaced.nodes;
                totals.replaced.leaves += replaced.leaves;
                totals.recompiled += u64::from(recompiled);
            }
        }
        Ok(())
    }

    fn record(
        self,
        spec: &EngineSpec,
        bytes_before: usize,
        reader_cost: Option<[f64; 2]>,
        readers: &[ReaderTimes],
    ) -> Result<ReplayRecord, ReplayError> {
        let Self { replay, writer, totals, checks } = self;
        let fresh = Fib::compile(writer.rib(), spec.clone()).map_err(ReplayError::Fresh)?;
        let updates = totals.counts.updates();
        let each = |count: u64| count as f64 / updates.max(1) as f64;
        let quantile = |share| totals.times.quantile(share) as f64 / 1e3;
        let mut reader = writer.reader();
        let table = reader.pin();
        let idle = || readers.iter().map(|times| &times.idle);
        let churn = || readers.iter().map(|times| &times.churn);
        Ok(ReplayRecord {
            engine: table.name(),
            variant: table.variant(),
            family: F::NAME,
            routes: replay.rib.len(),
            routes_after: writer.rib().len(),
            updates,
            counts: totals.counts,
            batch: replay.batch,
            mean_us: each(totals.times.sum) / 1e3,
            mean_effective_us: ratio(
                totals.effective_ns as f64 / 1e3,
                totals.counts.effective() as f64,
            ),
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
            max_us: totals.times.max as f64 / 1e3,
            entries_replaced: each(totals.replaced.entries),
            nodes_replaced: each(totals.replaced.nodes),
            leaves_replaced: each(totals.replaced.leaves),
            recompiled: totals.recompiled,
            bytes_before,
            bytes_after: writer.memory_usage().bytes(),
            bytes_fresh: fresh.memory_usage().bytes(),
            readers: replay.readers,
            reader_batch: READER_BATCH,
            simd: Simd::best().level().name(),
            microarch: Microarch::here().name(),
            reader_mlps_idle: mlps(idle()),
            reader_mlps_churn: mlps(churn()),
            reader_p50_ns_idle: batch_ns(idle(), 0.5),
            reader_p50_ns_churn: batch_ns(churn(), 0.5),
            reader_p9999_ns_idle: batch_ns(idle(), 0.9999),
            reader_p9999_ns_churn: batch_ns(churn(), 0.9999),
            guard_ns: reader_cost.map(|[guard, _]| guard),
            report_ns: reader_cost.map(|[_, report]| report),
            checkpoints: checks.checkpoints,
            checked: checks.counts.addresses,
            mismatches: checks.counts.mismatches,
            check: checks.structure(),
            examples: checks.counts.examples(),
        })
    }
}

/// Sleeps for most of the time and then spins, because a sleep may end late.
fn wait_until(due: Instant) {
    loop {
        match due.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return,
            long if long > SLEEP_DELAY => thread::sleep(long - SLEEP_DELAY),
            _ => std::hint::spin_loop(),
        }
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Million lookups a second of all readers, without the time between phases; see [`span`].
fn mlps<'h>(all: impl Iterator<Item = &'h PhaseTimes> + Clone) -> Option<f64> {
    let phases = all.clone().map(|times| times.spans.len()).max().unwrap_or(0);
    let spans = |phase: usize| all.clone().filter_map(move |times| times.spans.get(phase).copied());
    let took: Duration = (0..phases).map(|phase| span(spans(phase))).sum();
    let batches: u64 = all.map(|times| times.batches.count).sum();
    let rate = ratio((batches * READER_BATCH as u64) as f64 / 1e6, took.as_secs_f64());
    rate.filter(|rate| *rate > 0.0)
}

/// The nanoseconds that this share of all readers' batches did not exceed.
fn batch_ns<'h>(times: impl Iterator<Item = &'h PhaseTimes>, share: f64) -> Option<u64> {
    let mut all = Histogram::default();
    times.for_each(|times| all.add(&times.batches));
    (all.count > 0).then(|| all.quantile(share))
}
