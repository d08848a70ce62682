//! Reader threads, which look up while the table is idle and while it changes.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use longmatch::NextHopId;
use longmatch::live::{OnlineReader, Reader};

use crate::aligned::Aligned;
use crate::family::TrafficFamily;
use crate::replay::histogram::Histogram;
use crate::threads::{ThreadError, joined, spawn};

/// Addresses that a reader looks up in one call.
pub const READER_BATCH: usize = 256;
/// Batches at the start of each phase whose times are not recorded.
const WARM_UP_BATCHES: usize = 64;
/// Interval at which a paused reader polls the phase.
const POLL_INTERVAL: Duration = Duration::from_micros(100);

/// The readers' task, as the writer's thread commands it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Wait, offline.
    Pause,
    /// Look up in a table that does not change.
    Idle,
    /// Look up in a table that changes.
    Churn,
    /// End.
    Stop,
}

const PHASES: [Phase; 4] = [Phase::Pause, Phase::Idle, Phase::Churn, Phase::Stop];

/// The current phase, and the number of readers that have begun it.
pub(crate) struct PhaseSignal {
    /// Index of the phase in [`PHASES`].
    phase: AtomicU32,
    /// Number of readers in the phase.
    arrived: AtomicUsize,
}

impl PhaseSignal {
    /// A signal with all readers paused.
    pub fn new() -> Self {
        Self { phase: AtomicU32::new(Phase::Pause as u32), arrived: AtomicUsize::new(0) }
    }

    fn phase(&self) -> Phase {
        PHASES[self.phase.load(SeqCst) as usize]
    }

    /// Waits for the end of `phase` and returns the next phase.
    fn after(&self, phase: Phase) -> Phase {
        loop {
            match self.phase() {
                same if same == phase => thread::sleep(POLL_INTERVAL),
                next => return next,
            }
        }
    }

    fn arrive(&self) {
        self.arrived.fetch_add(1, SeqCst);
    }
}

/// Times of a reader in all phases of one kind.
#[derive(Default)]
pub(crate) struct PhaseTimes {
    /// Time of each batch.
    pub batches: Histogram,
    /// Start and end of each phase.
    pub spans: Vec<(Instant, Instant)>,
}

/// Times of a reader.
#[derive(Default)]
pub(crate) struct ReaderTimes {
    pub idle: PhaseTimes,
    pub churn: PhaseTimes,
}

/// The running reader threads. Dropping it stops them.
pub(crate) struct ReaderThreads<'s> {
    signal: &'s PhaseSignal,
    handles: Vec<ScopedJoinHandle<'s, (ReaderTimes, u32)>>,
}

impl<'s> ReaderThreads<'s> {
    /// Starts a paused thread for each reader.
    ///
    /// All look up the same keys over and over, each from a different position on. After an error
    /// the started threads end.
    pub fn start<'e, F: TrafficFamily>(
        scope: &'s Scope<'s, 'e>,
        signal: &'s PhaseSignal,
        readers: Vec<Reader<F>>,
        keys: &'s [F::Bits],
    ) -> Result<Self, ThreadError> {
        let wanted = readers.len();
        let batches = keys.len() / READER_BATCH / wanted.max(1);
        let mut threads = Self { signal, handles: Vec::with_capacity(wanted) };
        for (number, reader) in readers.into_iter().enumerate() {
            let work = move || look_up(reader, signal, keys, number * batches);
            // On an error, dropping `threads` stops those that were started.
            threads.handles.push(spawn(scope, number, wanted, work)?);
        }
        Ok(threads)
    }

    /// Switches all readers to a phase and waits until they have begun it.
    pub fn switch_to(&self, phase: Phase) {
        self.signal.arrived.store(0, SeqCst);
        self.signal.phase.store(phase as u32, SeqCst);
        while self.signal.arrived.load(SeqCst) < self.handles.len() {
            // A thread that has ended here has panicked; joining it resumes the panic.
            if self.handles.iter().any(ScopedJoinHandle::is_finished) {
                break;
            }
            thread::yield_now();
        }
    }

    /// Runs the idle phase for `duration`.
    pub fn idle(&self, duration: Duration) {
        if !self.handles.is_empty() {
            self.switch_to(Phase::Idle);
            thread::sleep(duration);
            self.switch_to(Phase::Pause);
        }
    }

    /// Stops all readers and returns the times of each.
    pub fn join(mut self) -> Vec<ReaderTimes> {
        self.switch_to(Phase::Stop);
        let handles = std::mem::take(&mut self.handles);
        handles.into_iter().map(|handle| joined(handle).0).collect()
    }
}

impl Drop for ReaderThreads<'_> {
    fn drop(&mut self) {
        self.signal.phase.store(Phase::Stop as u32, SeqCst);
    }
}

/// The work of a reader thread.
///
/// It also returns a sum of answers, so that the compiler cannot remove lookups.
fn look_up<F: TrafficFamily>(
    mut reader: Reader<F>,
    signal: &PhaseSignal,
    keys: &[F::Bits],
    start: usize,
) -> (ReaderTimes, u32) {
    let mut reader_times = ReaderTimes::default();
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
    let mut phase = Phase::Pause;
    loop {
        phase = signal.after(phase);
        let times = match phase {
            Phase::Pause => {
                signal.arrive();
                continue;
            }
            Phase::Stop => break,
            Phase::Idle => &mut reader_times.idle,
            Phase::Churn => &mut reader_times.churn,
        };
        let mut online = reader.online();
        (0..WARM_UP_BATCHES).for_each(|_| answer(&mut online));
        signal.arrive();
        let first = Instant::now();
        let mut began = first;
        while signal.phase() == phase || times.batches.count == 0 {
            answer(&mut online);
            let ended = Instant::now();
            times.batches.record(ended - began);
            began = ended;
        }
        times.spans.push((first, began));
    }
    signal.arrive();
    (reader_times, sum)
}
