//! Changes of a live table: those of one thread at a time, so that none are lost.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use longmatch::{IpPrefix, TableWriter};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use super::readers::Committed;
use crate::kinds::Kinds;
use crate::value::{PyValue, insert_error};

/// The writer of a live table, and whose changes it has.
pub struct Changes {
    pub table: TableWriter<PyValue>,
    /// The thread of the `with` block that is open, and the number of blocks inside of each other.
    block: Option<(ThreadId, u32)>,
    /// Number of `with` blocks that have ended.
    ended: u64,
    /// The threads whose changes are not committed.
    authors: Vec<ThreadId>,
    /// The kinds of the values that are not committed.
    kinds: Kinds,
}

/// The changes behind a lock, and the threads that wait for the end of a `with` block.
pub struct Writer {
    changes: Mutex<Changes>,
    ended: Condvar,
    committed: Committed,
}

/// How often a thread that waits for another looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// How long a thread waits for the end of one `with` block: two threads may wait for each other.
const PATIENCE: Duration = Duration::from_secs(10);

impl Writer {
    pub fn new(table: TableWriter<PyValue>, committed: Committed) -> Self {
        let (authors, kinds) = (Vec::new(), Kinds::default());
        let changes = Changes { table, block: None, ended: 0, authors, kinds };
        Self { changes: Mutex::new(changes), ended: Condvar::new(), committed }
    }

    /// The table with the changes that are not committed.
    pub fn read(&self, py: Python<'_>) -> MutexGuard<'_, Changes> {
        self.changes.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// The table for changes by this thread.
    fn write(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Changes>> {
        let changes = self.read(py);
        match changes.block {
            Some((owner, _)) if owner != thread::current().id() => Err(PyRuntimeError::new_err(
                "another thread changes the table in a `with` block: use one too, which waits for its end",
            )),
            _ => Ok(changes),
        }
    }

    pub fn insert(&self, py: Python<'_>, prefix: IpPrefix, value: PyValue) -> PyResult<()> {
        let kinds = Kinds::of(value.object().bind(py));
        let mut changes = self.write(py)?;
        changes.table.insert(prefix, value).map(drop).map_err(insert_error)?;
        changes.kinds = changes.kinds.join(kinds);
        changes.note();
        Ok(())
    }

    /// Removes a prefix; returns whether it was there.
    pub fn remove(&self, py: Python<'_>, prefix: IpPrefix) -> PyResult<bool> {
        let mut changes = self.write(py)?;
        let removed = changes.table.remove(prefix).is_some();
        if removed {
            changes.note();
        }
        Ok(removed)
    }

    pub fn commit(&self, py: Python<'_>) -> PyResult<()> {
        drop(self.write(py)?);
        let committed = py.detach(|| {
            let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
            // Before the values can be seen.
            self.committed.include(std::mem::take(&mut changes.kinds));
            changes.authors.clear();
            let committed = changes.table.commit();
            // Readers no longer use some values of earlier commits: these are dropped here, too.
            changes.table.reclaim();
            committed
        });
        committed.map_err(|refused| {
            PyValueError::new_err(format!("the changes cannot be committed: {refused}"))
        })
    }

    pub fn roll_back(&self, py: Python<'_>) -> PyResult<()> {
        let mut changes = self.write(py)?;
        if changes.of_others() {
            return Err(PyRuntimeError::new_err(
                "another thread has changes that are not committed, which a rollback would lose: commit them, or let each \
                 thread make its changes in a `with` block",
            ));
        }
        changes.table.roll_back();
        changes.kinds = Kinds::default();
        changes.authors.clear();
        Ok(())
    }

    /// Begins a `with` block: waits for the end of that of another thread.
    pub fn enter(&self, py: Python<'_>) -> PyResult<()> {
        let (mut begun, mut ended) = (Instant::now(), None);
        loop {
            match py.detach(|| self.try_enter())? {
                Ok(()) => return Ok(()),
                Err(now) if ended != Some(now) => (begun, ended) = (Instant::now(), Some(now)),
                Err(_) if begun.elapsed() > PATIENCE => {
                    return Err(PyRuntimeError::new_err(format!(
                        "another thread has been in its `with` block for {} s: try again when it has ended",
                        PATIENCE.as_secs()
                    )));
                }
                Err(_) => py.check_signals()?,
            }
        }
    }

    /// Begins a `with` block, if that of another thread ends soon; else returns how many have ended.
    fn try_enter(&self) -> PyResult<Result<(), u64>> {
        let own = thread::current().id();
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |changes: &mut Changes| changes.block.is_some_and(|(owner, _)| owner != own);
        let waited = self.ended.wait_timeout_while(changes, SIGNALS, waits);
        let (mut changes, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return Ok(Err(changes.ended));
        }
        if changes.block.is_none() && changes.of_others() {
            return Err(PyRuntimeError::new_err(
                "another thread has changes that are not committed, made outside of a `with` block: commit them first",
            ));
        }
        let depth = changes.block.map_or(0, |(_, depth)| depth);
        changes.block = Some((own, depth + 1));
        Ok(Ok(()))
    }

    /// Ends a `with` block.
    pub fn exit(&self, py: Python<'_>) {
        let mut changes = self.read(py);
        let depth = changes.block.map_or(0, |(_, depth)| depth);
        changes.block =
            if depth > 1 { changes.block.map(|(owner, _)| (owner, depth - 1)) } else { None };
        changes.ended += 1;
        self.ended.notify_all();
    }
}

impl Changes {
    /// Notes that this thread has changed the table.
    fn note(&mut self) {
        let own = thread::current().id();
        if !self.authors.contains(&own) {
            self.authors.push(own);
        }
    }

    /// Whether other threads have changes that are not committed.
    fn of_others(&self) -> bool {
        let own = thread::current().id();
        self.authors.iter().any(|author| *author != own)
    }
}
