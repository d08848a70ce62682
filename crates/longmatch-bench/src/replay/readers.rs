//! Threads that look up while the table rests, and while it changes.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use longmatch::NextHopId;
use longmatch::live::{OnlineReader, Reader};

use crate::aligned::Aligned;
use crate::family::BenchFamily;
use crate::replay::histogram::Histogram;
use crate::threads::{ThreadError, joined, spawn};

/// Addresses that a reader looks up in one call.
pub const READER_BATCH: usize = 256;
/// Batches before each phase whose times are not kept.
const RUN_UP: usize = 64;
/// How often a resting reader looks whether it is to do something.
const NAP: Duration = Duration::from_micros(100);

/// What readers are to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing; they are out of the table.
    Rest,
    /// Look up in a table that does not change.
    Idle,
    /// Look up in a table that changes.
    Churn,
    /// End.
    Stop,
}

const PHASES: [Phase; 4] = [Phase::Rest, Phase::Idle, Phase::Churn, Phase::Stop];

/// What is between the one who says what to do and the readers.
pub(crate) struct Signal {
    /// The phase's place in [`PHASES`].
    phase: AtomicU32,
    /// Readers that have come to the phase.
    arrived: AtomicUsize,
}

impl Signal {
    /// Everyone rests.
    pub fn new() -> Self {
        Self { phase: AtomicU32::new(Phase::Rest as u32), arrived: AtomicUsize::new(0) }
    }

    fn phase(&self) -> Phase {
        PHASES[self.phase.load(SeqCst) as usize]
    }

    /// Waits for an end of a phase; the next one.
    fn after(&self, phase: Phase) -> Phase {
        loop {
            match self.phase() {
                same if same == phase => thread::sleep(NAP),
                next => return next,
            }
        }
    }

    fn arrive(&self) {
        self.arrived.fetch_add(1, SeqCst);
    }
}

/// What a reader did in all phases of one kind.
pub(crate) struct Times {
    /// How long each batch took.
    pub batches: Histogram,
    /// When it began and ended in each phase.
    pub spans: Vec<(Instant, Instant)>,
}

impl Times {
    pub fn new() -> Self {
        Self { batches: Histogram::new(), spans: Vec::new() }
    }
}

/// How long batches took.
pub(crate) struct Latencies {
    pub idle: Times,
    pub churn: Times,
}

impl Latencies {
    fn new() -> Self {
        Self { idle: Times::new(), churn: Times::new() }
    }
}

/// The readers, at work until the value is dropped.
pub(crate) struct Crew<'s> {
    signal: &'s Signal,
    readers: Vec<ScopedJoinHandle<'s, (Latencies, u32)>>,
}

impl<'s> Crew<'s> {
    /// Starts a thread for each reader, which rests. Each goes round and round through the keys
    /// and begins at a place of its own.
    ///
    /// # Errors
    /// When the system does not start all of them. Those that were started end.
    pub fn start<'e, F: BenchFamily>(
        scope: &'s Scope<'s, 'e>,
        signal: &'s Signal,
        readers: Vec<Reader<F>>,
        keys: &'s [F::Bits],
    ) -> Result<Self, ThreadError> {
        let wanted = readers.len();
        let batches = keys.len() / READER_BATCH / wanted.max(1);
        let mut crew = Self { signal, readers: Vec::with_capacity(wanted) };
        for (number, reader) in readers.into_iter().enumerate() {
            let work = move || work(reader, signal, keys, number * batches);
            // Dropping the crew on an error stops those that rest already.
            crew.readers.push(spawn(scope, number, wanted, work)?);
        }
        Ok(crew)
    }

    /// Has all readers do something else, and waits until they have begun.
    pub fn turn_to(&self, phase: Phase) {
        self.signal.arrived.store(0, SeqCst);
        self.signal.phase.store(phase as u32, SeqCst);
        while self.signal.arrived.load(SeqCst) < self.readers.len() {
            // Whoever has ended has panicked, which joining it tells.
            if self.readers.iter().any(ScopedJoinHandle::is_finished) {
                break;
            }
            thread::yield_now();
        }
    }

    /// Has readers look up in a table that does not change, for so long.
    pub fn idle(&self, duration: Duration) {
        if !self.readers.is_empty() {
            self.turn_to(Phase::Idle);
            thread::sleep(duration);
            self.turn_to(Phase::Rest);
        }
    }

    /// Ends all readers; the times of each.
    ///
    /// # Panics
    /// When a reader has.
    pub fn end(mut self) -> Vec<Latencies> {
        self.turn_to(Phase::Stop);
        let readers = std::mem::take(&mut self.readers);
        readers.into_iter().map(|it| joined(it).0).collect()
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        self.signal.phase.store(Phase::Stop as u32, SeqCst);
    }
}

/// A reader's life. Beside the times it returns a sum over answers, so that none may be left out.
fn work<F: BenchFamily>(
    mut reader: Reader<F>,
    signal: &Signal,
    keys: &[F::Bits],
    start: usize,
) -> (Latencies, u32) {
    let mut latencies = Latencies::new();
    let mut out = Aligned::new(READER_BATCH);
    let mut batches = keys.chunks(READER_BATCH).cycle().skip(start);
    let mut sum = 0;
    let mut answer = |online: &mut OnlineReader<'_, F>| {
        let keys = batches.next().unwrap_or_default();
        let out: &mut [Option<NextHopId>] = &mut out[..keys.len()];
        online.table().lookup_batch(keys, out);
        online.quiescent();
        sum ^= NextHopId::to_raw(*black_box(&*out).last().unwrap_or(&None));
    };
    let mut phase = Phase::Rest;
    loop {
        phase = signal.after(phase);
        let times = match phase {
            Phase::Rest => {
                signal.arrive();
                continue;
            }
            Phase::Stop => break,
            Phase::Idle => &mut latencies.idle,
            Phase::Churn => &mut latencies.churn,
        };
        let mut online = reader.online();
        (0..RUN_UP).for_each(|_| answer(&mut online));
        signal.arrive();
        let first = Instant::now();
        let mut began = first;
        while signal.phase() == phase || times.batches.count() == 0 {
            answer(&mut online);
            let ended = Instant::now();
            times.batches.note(ended - began);
            began = ended;
        }
        times.spans.push((first, began));
    }
    signal.arrive();
    (latencies, sum)
}
