//! Commits in a background thread, for engines that are compiled again, which takes long, and
//! callers that must not wait for it.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::writer::Writer;
use crate::engine::Engines;
use crate::live::UpdateError;
use crate::net::{Change, NextHopId, Prefix, Route};
use crate::rib::Rib;

/// Greatest number of prefixes with pending changes; a change to one more waits.
const MAX_PENDING: usize = 1 << 20;

/// Commits the changes of a [`Writer`] in batches, in its own thread.
///
/// A batch holds the changes queued since the last batch began, and begins at least an interval
/// after it: the batches of the Spider paper (section on updates), for SAIL, Spider and every other
/// engine that is compiled again and swapped. Changes queued while a batch is built go into the
/// next one; nothing is lost. Of several changes to one prefix only the last is kept.
///
/// A refused batch is kept and tried again together with the next changes. Readers are those of the
/// writer: make them before, or clone one.
pub struct Batcher<F: Engines> {
    queue: Arc<Queue<F>>,
    thread: Option<JoinHandle<Option<Writer<F>>>>,
}

/// The system did not start the thread of a [`Batcher`]. Keeps the writer, which is unchanged.
pub struct BatcherError<F: Engines> {
    writer: Box<Writer<F>>,
    error: io::Error,
}

impl<F: Engines> BatcherError<F> {
    /// Returns the writer, with all its routes.
    #[must_use]
    pub fn into_writer(self) -> Writer<F> {
        *self.writer
    }
}

impl<F: Engines> fmt::Display for BatcherError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the thread that commits was not started: {}", self.error)
    }
}

impl<F: Engines> fmt::Debug for BatcherError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatcherError").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<F: Engines> std::error::Error for BatcherError<F> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// The queue of changes for the thread.
struct Queue<F: Engines> {
    state: Mutex<BatcherState<F>>,
    /// Signals a queued change or an urgent batch.
    wanted: Condvar,
    /// Signals the begin or end of a batch.
    moved: Condvar,
}

struct BatcherState<F: Engines> {
    batch: Batch<F>,
    /// Number of batches begun, and of batches ended, refused or not.
    begun: u64,
    ended: u64,
    /// Whether a change was queued since the last batch began.
    fresh: bool,
    /// The reason why the last batch was refused.
    refused: Option<UpdateError>,
    /// Whether a caller waits for the next batch, regardless of the interval.
    hurry: bool,
    ending: bool,
    /// Whether the thread has ended.
    gone: bool,
}

/// Changes to be committed together.
struct Batch<F: Engines> {
    /// A table that replaces all routes.
    table: Option<Box<Rib<F>>>,
    /// The last change of each prefix: its next hop, or `None` to withdraw.
    changes: BTreeMap<Prefix<F>, Option<NextHopId>>,
}

impl<F: Engines> Default for Batch<F> {
    fn default() -> Self {
        Self { table: None, changes: BTreeMap::new() }
    }
}

impl<F: Engines> Batch<F> {
    fn is_empty(&self) -> bool {
        self.table.is_none() && self.changes.is_empty()
    }

    /// Merges a refused batch in front of the changes queued since.
    fn merge_after(&mut self, refused: Self) {
        if self.table.is_some() {
            return;
        }
        self.table = refused.table;
        for (prefix, change) in refused.changes {
            self.changes.entry(prefix).or_insert(change);
        }
    }

    /// The changes, withdrawals first because they free capacity.
    fn in_order(&self) -> impl Iterator<Item = Change<F>> {
        let change = |(prefix, next_hop): (&Prefix<F>, &Option<NextHopId>)| match *next_hop {
            Some(next_hop) => Change::Announce(Route { prefix: *prefix, next_hop }),
            None => Change::Withdraw(*prefix),
        };
        let withdrawn = self.changes.iter().filter(|(_, next_hop)| next_hop.is_none());
        let announced = self.changes.iter().filter(|(_, next_hop)| next_hop.is_some());
        withdrawn.chain(announced).map(change)
    }

    /// Commits the batch.
    ///
    /// On an error, a new table's routes may include some of the changes.
    fn commit(&mut self, writer: &mut Writer<F>) -> Result<(), UpdateError> {
        let Some(mut rib) = self.table.take() else {
            for change in self.in_order() {
                if let Err(error) = writer.apply(change) {
                    writer.roll_back();
                    return Err(error);
                }
            }
            return writer.commit().map(drop);
        };
        let built = self.in_order().try_for_each(|change| rib.apply(change).map(drop));
        match built.map_err(UpdateError::from).and_then(|()| writer.build(&rib)) {
            Ok(live) => {
                writer.install(*rib, live);
                Ok(())
            }
            Err(error) => {
                self.table = Some(rib);
                Err(error)
            }
        }
    }
}

impl<F: Engines> Queue<F> {
    fn lock(&self) -> MutexGuard<'_, BatcherState<F>> {
        // No panic can leave the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a batch and takes it.
    ///
    /// `None` when the batcher ends and nothing is left.
    fn take(&self, not_before: Instant) -> Option<Batch<F>> {
        let mut state = self.lock();
        loop {
            // A refused batch is tried again when it has changed or, if stalled readers were the
            // reason, at once.
            let again = matches!(state.refused, None | Some(UpdateError::Retired { .. }));
            let wanted = !state.batch.is_empty() && (again || state.fresh);
            if state.ending && !wanted {
                return None;
            }
            let wait = not_before.saturating_duration_since(Instant::now());
            if state.hurry || (wanted && (wait.is_zero() || state.ending)) {
                (state.hurry, state.fresh) = (false, false);
                state.begun += 1;
                self.moved.notify_all();
                return Some(core::mem::take(&mut state.batch));
            }
            state = if wanted {
                self.wanted.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0
            } else {
                self.wanted.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
        }
    }

    /// Runs the thread: commits batch after batch.
    fn run(&self, mut writer: Writer<F>, interval: Duration) -> Writer<F> {
        let _end = EndOnDrop(self);
        let mut not_before = Instant::now();
        while let Some(mut batch) = self.take(not_before) {
            not_before = Instant::now() + interval;
            let result = batch.commit(&mut writer);
            let mut state = self.lock();
            let failed = result.is_err();
            state.refused = result.err();
            state.ended += 1;
            if failed {
                state.batch.merge_after(batch);
                // An ending batcher makes only one more attempt.
                if state.ending {
                    self.moved.notify_all();
                    break;
                }
                not_before = not_before.max(Instant::now() + AFTER_REFUSAL);
            }
            self.moved.notify_all();
        }
        writer
    }
}

/// Least delay before the batch after a refused one, unless a caller waits for it.
const AFTER_REFUSAL: Duration = Duration::from_millis(10);

/// Records that the thread has ended, normally or by a panic.
struct EndOnDrop<'a, F: Engines>(&'a Queue<F>);

impl<F: Engines> Drop for EndOnDrop<'_, F> {
    fn drop(&mut self) {
        self.0.lock().gone = true;
        self.0.moved.notify_all();
    }
}

impl<F: Engines> Batcher<F> {
    /// Starts the thread.
    ///
    /// `interval` is the least time between the starts of two batches.
    ///
    /// # Errors
    /// When the system starts no thread. The error keeps the writer.
    pub fn new(writer: Writer<F>, interval: Duration) -> Result<Self, BatcherError<F>> {
        let thread = thread::Builder::new().name("longmatch batcher".into());
        Self::start(thread, writer, interval)
    }

    fn start(
        thread: thread::Builder,
        writer: Writer<F>,
        interval: Duration,
    ) -> Result<Self, BatcherError<F>> {
        let state = BatcherState {
            batch: Batch::default(),
            begun: 0,
            ended: 0,
            fresh: false,
            refused: None,
            hurry: false,
            ending: false,
            gone: false,
        };
        let queue =
            Queue { state: Mutex::new(state), wanted: Condvar::new(), moved: Condvar::new() };
        let queue = Arc::new(queue);
        let shared = queue.clone();
        // The writer follows once the thread runs: a closure that is never run would drop it.
        let (sender, receiver) = mpsc::sync_channel(1);
        let run = move || receiver.recv().ok().map(|writer| shared.run(writer, interval));
        let thread = match thread.spawn(run) {
            Ok(thread) => thread,
            Err(error) => return Err(BatcherError { writer: Box::new(writer), error }),
        };
        match sender.send(writer) {
            Ok(()) => Ok(Self { queue, thread: Some(thread) }),
            Err(mpsc::SendError(writer)) => {
                let error = io::Error::other("the thread has ended");
                Err(BatcherError { writer: Box::new(writer), error })
            }
        }
    }

    /// Queues a change. Waits only while changes of 2^20 prefixes are pending.
    ///
    /// # Errors
    /// When 2^20 prefixes are pending and the last batch was refused: its error. The change is then
    /// not queued.
    ///
    /// # Panics
    /// When the thread has panicked.
    pub fn apply(&self, change: Change<F>) -> Result<(), UpdateError> {
        let (prefix, next_hop) = match change {
            Change::Announce(Route { prefix, next_hop }) => (prefix, Some(next_hop)),
            Change::Withdraw(prefix) => (prefix, None),
        };
        let mut state = self.queue.lock();
        while state.batch.changes.len() >= MAX_PENDING && !state.batch.changes.contains_key(&prefix)
        {
            if let Some(refused) = &state.refused {
                return Err(refused.clone());
            }
            state = self.wait(state);
        }
        state.batch.changes.insert(prefix, next_hop);
        state.fresh = true;
        self.queue.wanted.notify_one();
        Ok(())
    }

    /// Queues a whole table, which replaces all routes and all pending changes.
    ///
    /// Changes queued later apply to this table.
    pub fn replace(&self, rib: Rib<F>) {
        let mut state = self.queue.lock();
        let before = core::mem::take(&mut state.batch);
        state.batch.table = Some(Box::new(rib));
        state.fresh = true;
        self.queue.wanted.notify_one();
        drop(state);
        // Dropped outside the lock, because freeing a table may take long.
        drop(before);
    }

    /// Commits all queued changes in a batch that begins at once; waits for its end.
    ///
    /// # Errors
    /// The error of that batch, or of a later one, if refused. The batch is kept and tried again.
    ///
    /// # Panics
    /// When the thread has panicked.
    pub fn flush(&self) -> Result<(), UpdateError> {
        let mut state = self.queue.lock();
        if state.batch.is_empty() && state.begun == state.ended {
            return Ok(());
        }
        let next = state.begun + 1;
        state.hurry = true;
        self.queue.wanted.notify_one();
        while state.ended < next {
            state = self.wait(state);
        }
        state.refused.clone().map_or(Ok(()), Err)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, BatcherState<F>>) -> MutexGuard<'s, BatcherState<F>> {
        assert!(!state.gone, "the batcher's thread has panicked");
        self.queue.moved.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits pending changes, ends the thread and returns the writer.
    ///
    /// A batch refused last is not in its routes; [`Batcher::flush`] before reports that.
    ///
    /// # Panics
    /// When the thread has panicked.
    pub fn end(mut self) -> Writer<F> {
        self.stop().expect("only `stop` ends the thread")
    }

    /// Ends the thread and returns its writer, if there still is a thread.
    fn stop(&mut self) -> Option<Writer<F>> {
        let thread = self.thread.take()?;
        self.queue.lock().ending = true;
        self.queue.wanted.notify_one();
        match thread.join() {
            Ok(writer) => writer,
            Err(panic) if !thread::panicking() => std::panic::resume_unwind(panic),
            Err(_) => None,
        }
    }
}

impl<F: Engines> Drop for Batcher<F> {
    /// Commits pending changes and ends the thread.
    fn drop(&mut self) {
        drop(self.stop());
    }
}

impl<F: Engines> fmt::Debug for Batcher<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.queue.lock();
        let waiting = state.batch.changes.len();
        let mut debug = f.debug_struct("Batcher");
        debug.field("waiting", &waiting).field("refused", &state.refused).finish()
    }
}

#[cfg(test)]
mod tests;
