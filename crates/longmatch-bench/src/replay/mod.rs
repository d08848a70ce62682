//! Replays changes of a table that is looked up meanwhile: how long each takes, what it replaces,
//! and what readers notice.

mod checks;
mod entering;
mod histogram;
mod readers;
mod record;
#[cfg(test)]
mod tests;

use core::fmt;
use std::thread;
use std::time::{Duration, Instant};

use longmatch::live::{Commit, Replaced, Writer};
use longmatch::simd::Simd;
use longmatch::{Change, CompileError, EngineSpec, Fib, Rib, UpdateError};

use crate::family::BenchFamily;
use crate::random::Xorshift;
use crate::threads::ThreadError;
use crate::traffic::Traffic;
use checks::Checks;
use entering::Entering;
use histogram::Histogram;
use readers::{Crew, Latencies, Phase, Signal, Times};

pub use entering::ENTERING_BATCH;
pub use readers::READER_BATCH;
pub use record::{Kinds, ReplayRecord};

/// How many addresses readers go round in.
const READER_KEYS: usize = 1 << 20;
/// Updates between two steps, unless the table is compiled again.
const STEP: u64 = 4096;
/// How much later than asked for sleep may end.
const LATE: Duration = Duration::from_micros(200);

/// What is replayed, and how.
#[derive(Clone, Debug)]
pub struct Replay<'a, F: BenchFamily> {
    /// The routes at the beginning.
    pub rib: &'a Rib<F>,
    /// What happens to them, in order.
    pub changes: &'a [Change<F>],
    /// Updates for each commit, at least 1. The last commit may have fewer.
    pub batch: usize,
    /// The time from the beginning of a commit to that of the next, if they are not to come as fast
    /// as they can.
    pub pace: Option<Duration>,
    /// Threads that look up meanwhile.
    pub readers: usize,
    /// What they look up, over and over; at least one address if there are readers.
    pub keys: &'a [F::Bits],
    /// How long they do while nothing changes.
    pub idle: Duration,
    /// Whether that is after the replay instead of before it: for a table that begins empty.
    pub idle_after: bool,
    /// Compares the table with its routes at the first commit after so many updates, again and
    /// again; and in any case at the end.
    pub verify_every: Option<usize>,
    /// Whether all comparisons are of every IPv4 address, or of addresses inside of every IPv6
    /// range too.
    pub full: bool,
}

/// How far a replay is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayStep {
    /// Updates so far.
    pub done: u64,
    /// Updates that there are.
    pub total: u64,
    /// Commits so far for which the table was compiled again as a whole.
    pub recompiled: u64,
}

/// Why a replay has ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// The routes at the beginning do not fit the engine.
    Compile(CompileError),
    /// An update, counted from 1, could not be made.
    Update {
        /// Which one; of a batch the last.
        number: u64,
        /// Why.
        error: UpdateError,
    },
    /// The routes at the end do not fit the engine when it is compiled from them.
    Fresh(CompileError),
    /// The system did not start all threads.
    Threads(ThreadError),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compile(error) => error.fmt(f),
            Self::Update { number, error } => write!(f, "update {number}: {error}"),
            Self::Fresh(error) => write!(f, "the routes after the last update: {error}"),
            Self::Threads(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReplayError {}

impl From<ThreadError> for ReplayError {
    fn from(error: ThreadError) -> Self {
        Self::Threads(error)
    }
}

/// Announcements of all routes of a table in an order that the seed decides.
pub fn in_random_order<F: BenchFamily>(rib: &Rib<F>, seed: u64) -> Vec<Change<F>> {
    let mut changes: Vec<_> = rib.iter().map(Change::Announce).collect();
    let mut random = Xorshift::new(seed);
    for i in (1..changes.len()).rev() {
        changes.swap(i, random.below(i + 1));
    }
    changes
}

/// What readers look up in a table: random addresses that have a route.
pub fn reader_keys<F: BenchFamily>(rib: &Rib<F>, seed: u64) -> Vec<F::Bits> {
    Traffic::Routed.keys(rib, READER_KEYS, seed)
}

impl<F: BenchFamily> Replay<'_, F> {
    /// Compiles the routes at the beginning.
    ///
    /// # Errors
    /// When the engine cannot hold the table, or does not exist like this.
    pub fn writer(&self, spec: &EngineSpec) -> Result<Writer<F>, CompileError> {
        Writer::new(self.rib.clone(), spec.clone())
    }

    /// Replays all changes with a table from [`Replay::writer`]. Takes the time of the updates, of
    /// the comparisons, and of one compilation; memory for the readers' times and no more.
    ///
    /// # Errors
    /// When the engine cannot take an update in, or the system does not start all threads.
    pub fn run(
        &self,
        writer: Writer<F>,
        spec: &EngineSpec,
        on_step: &mut dyn FnMut(ReplayStep),
    ) -> Result<ReplayRecord, ReplayError> {
        let bytes_before = writer.memory_usage().bytes();
        let signal = Signal::new();
        thread::scope(|scope| {
            let readers = (0..self.readers).map(|_| writer.reader()).collect();
            let crew = Crew::start(scope, &signal, readers, self.keys)?;
            let mut run = Run { replay: self, writer, tally: Tally::new(), checks: Checks::new() };
            let mut entering = None;
            let mut idle = |writer: &Writer<F>| {
                if self.readers > 0 {
                    entering = Some(Entering::measure(writer.reader(), self.keys));
                    crew.idle(self.idle);
                }
            };
            if !self.idle_after {
                idle(&run.writer);
            }
            run.changes(&crew, on_step)?;
            if self.idle_after {
                idle(&run.writer);
            }
            let latencies = crew.end();
            run.end()?;
            run.record(spec, bytes_before, entering, &latencies)
        })
    }
}

/// What updates have done and taken so far.
struct Tally {
    kinds: Kinds,
    times: Histogram,
    /// Nanoseconds of the updates that changed something, or committed what did.
    effective: u64,
    replaced: Replaced,
    recompiled: u64,
}

impl Tally {
    fn new() -> Self {
        let (kinds, replaced) = (Kinds::default(), Replaced::default());
        Self { kinds, times: Histogram::new(), effective: 0, replaced, recompiled: 0 }
    }

    fn note_commit(&mut self, commit: &Commit) {
        let Replaced { entries, nodes, leaves } = commit.replaced;
        self.replaced.entries += entries;
        self.replaced.nodes += nodes;
        self.replaced.leaves += leaves;
        self.recompiled += u64::from(commit.recompiled);
    }
}

struct Run<'r, 'a, F: BenchFamily> {
    replay: &'r Replay<'a, F>,
    writer: Writer<F>,
    tally: Tally,
    checks: Checks<F>,
}

impl<F: BenchFamily> Run<'_, '_, F> {
    /// Makes all changes. Comparisons and steps are between the times that are taken.
    fn changes(
        &mut self,
        crew: &Crew<'_>,
        on_step: &mut dyn FnMut(ReplayStep),
    ) -> Result<(), ReplayError> {
        let Replay { changes, batch, verify_every, pace, .. } = *self.replay;
        let total = changes.len() as u64;
        let (mut done, mut unchecked) = (0, 0);
        crew.turn_to(Phase::Churn);
        let mut due = Instant::now();
        for batch in changes.chunks(batch.max(1)) {
            if let Some(pace) = pace {
                wait_until(due);
                due += pace;
            }
            let recompiled = self.tally.recompiled;
            self.batch(batch, done)?;
            let before = done;
            done += batch.len() as u64;
            unchecked += batch.len();
            if self.tally.recompiled > recompiled || done / STEP > before / STEP {
                on_step(ReplayStep { done, total, recompiled: self.tally.recompiled });
            }
            if verify_every.is_some_and(|every| unchecked >= every) && done < total {
                crew.turn_to(Phase::Rest);
                self.compare()?;
                unchecked = 0;
                crew.turn_to(Phase::Churn);
            }
        }
        crew.turn_to(Phase::Rest);
        Ok(())
    }

    /// Makes the changes of one commit, `done` having been made before. The time of an update is
    /// from the end of the one before; that of the commit is the last one's.
    fn batch(&mut self, changes: &[Change<F>], done: u64) -> Result<(), ReplayError> {
        let Self { writer, tally, .. } = self;
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
            tally.times.note(took);
            let effective = tally.kinds.note(outcome);
            pending |= effective;
            if effective || pending && commit.is_some() {
                tally.effective += took.as_nanos() as u64;
            }
            if let Some(commit) = &commit {
                tally.note_commit(commit);
            }
        }
        Ok(())
    }

    /// The last comparison.
    fn end(&mut self) -> Result<(), ThreadError> {
        self.writer.reclaim();
        self.compare()
    }

    fn compare(&mut self) -> Result<(), ThreadError> {
        self.checks.checkpoint(&self.writer);
        match self.replay.full {
            true => self.checks.everything(&self.writer),
            false => Ok(()),
        }
    }

    fn record(
        self,
        spec: &EngineSpec,
        bytes_before: usize,
        entering: Option<Entering>,
        readers: &[Latencies],
    ) -> Result<ReplayRecord, ReplayError> {
        let Self { replay, writer, tally, checks } = self;
        let fresh = Fib::compile(writer.rib(), spec.clone()).map_err(ReplayError::Fresh)?;
        let updates = tally.kinds.updates();
        let each = |count: u64| count as f64 / updates.max(1) as f64;
        let quantile = |share| tally.times.quantile(share) as f64 / 1e3;
        let mut reader = writer.reader();
        let table = reader.pin();
        let idle = || readers.iter().map(|it| &it.idle);
        let churn = || readers.iter().map(|it| &it.churn);
        Ok(ReplayRecord {
            engine: table.name(),
            variant: table.variant(),
            family: F::NAME,
            routes: replay.rib.len(),
            routes_after: writer.rib().len(),
            updates,
            kinds: tally.kinds,
            batch: replay.batch,
            mean_us: each(tally.times.sum()) / 1e3,
            mean_effective_us: ratio(tally.effective as f64 / 1e3, tally.kinds.effective() as f64),
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
            max_us: tally.times.max() as f64 / 1e3,
            entries_replaced: each(tally.replaced.entries),
            nodes_replaced: each(tally.replaced.nodes),
            leaves_replaced: each(tally.replaced.leaves),
            recompiled: tally.recompiled,
            bytes_before,
            bytes_after: writer.memory_usage().bytes(),
            bytes_fresh: fresh.memory_usage().bytes(),
            readers: replay.readers,
            reader_batch: READER_BATCH,
            simd: Simd::best().level().name(),
            reader_mlps_idle: mlps(idle()),
            reader_mlps_churn: mlps(churn()),
            reader_p50_ns_idle: batch_ns(idle(), 0.5),
            reader_p50_ns_churn: batch_ns(churn(), 0.5),
            reader_p9999_ns_idle: batch_ns(idle(), 0.9999),
            reader_p9999_ns_churn: batch_ns(churn(), 0.9999),
            guard_ns: entering.map(|it| it.guard_ns),
            report_ns: entering.map(|it| it.report_ns),
            checkpoints: checks.checkpoints,
            checked: checks.tally.addresses,
            mismatches: checks.tally.mismatches,
            check: checks.structure(),
            examples: checks.tally.examples(),
        })
    }
}

/// Waits, first asleep and then awake, as sleep ends late.
fn wait_until(due: Instant) {
    loop {
        match due.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return,
            long if long > LATE => thread::sleep(long - LATE),
            _ => std::hint::spin_loop(),
        }
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Million lookups a second of all readers, from the first one's beginning to the last one's end of
/// each phase. Rates of readers that ran at different times, as more readers than CPUs do, cannot be
/// added.
fn mlps<'h>(all: impl Iterator<Item = &'h Times> + Clone) -> Option<f64> {
    let phases = all.clone().map(|it| it.spans.len()).max().unwrap_or(0);
    let span = |phase: usize| {
        let spans = || all.clone().filter_map(|it| it.spans.get(phase));
        let began = spans().map(|(began, _)| *began).min();
        let ended = spans().map(|(_, ended)| *ended).max();
        began.zip(ended).map_or(Duration::ZERO, |(began, ended)| ended - began)
    };
    let took: Duration = (0..phases).map(span).sum();
    let batches: u64 = all.map(|it| it.batches.count()).sum();
    let rate = ratio((batches * READER_BATCH as u64) as f64 / 1e6, took.as_secs_f64());
    rate.filter(|rate| *rate > 0.0)
}

/// Nanoseconds that this share of all readers' batches did not exceed.
fn batch_ns<'h>(times: impl Iterator<Item = &'h Times>, share: f64) -> Option<u64> {
    let mut all = Histogram::new();
    times.for_each(|times| all.add(&times.batches));
    (all.count() > 0).then(|| all.quantile(share))
}
