//! The read side of live tables.

use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;

use super::reclaim::ReaderSlot;
use super::shared::Shared;
use crate::fib::LiveFib;
use crate::net::Family;

/// Looks up addresses in a table while a [`Writer`](super::Writer) updates it.
///
/// Each reading thread has its own reader; a clone is another reader.
pub struct Reader<F: Family> {
    slot: ReaderSlot<Shared<LiveFib<F>>>,
}

impl<F: Family> Reader<F> {
    pub(super) fn new(shared: Arc<Shared<LiveFib<F>>>) -> Self {
        Self { slot: ReaderSlot::new(shared) }
    }

    /// Pins the current table for some lookups: a batch, or a handful.
    ///
    /// Costs a fence, some nanoseconds. Memory that the writer retires is not reused before the
    /// guard is dropped, so do not hold it for long.
    #[inline]
    pub fn pin(&mut self) -> Guard<'_, F> {
        self.slot.enter();
        // SAFETY: entered; the guard borrows the reader, and leaves when it is dropped.
        let fib = unsafe { self.slot.shared().current() };
        Guard { slot: &self.slot, fib }
    }

    /// Goes online for many batches, without a fence per batch.
    ///
    /// For threads that do little but look up: they call [`OnlineReader::quiescent`] between
    /// batches.
    pub fn online(&mut self) -> OnlineReader<'_, F> {
        self.slot.enter();
        OnlineReader { slot: &self.slot }
    }
}

impl<F: Family> Clone for Reader<F> {
    fn clone(&self) -> Self {
        Self::new(self.slot.shared().clone())
    }
}

impl<F: Family> fmt::Debug for Reader<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

/// A pinned table; see [`Reader::pin`].
///
/// With an engine that is compiled again for each commit, the guard shows one version. With a
/// patched engine, each address is answered by a version that is current during the lookup, and
/// later lookups of the address by that version or a later one.
///
/// A guard that is leaked (see [`core::mem::forget`]) remains in force until its reader pins again or
/// is dropped.
#[must_use = "a guard that is dropped at once pins the table for no lookup"]
pub struct Guard<'r, F: Family> {
    slot: &'r ReaderSlot<Shared<LiveFib<F>>>,
    fib: &'r LiveFib<F>,
}

impl<F: Family> Deref for Guard<'_, F> {
    type Target = LiveFib<F>;

    #[inline]
    fn deref(&self) -> &LiveFib<F> {
        self.fib
    }
}

impl<F: Family> Drop for Guard<'_, F> {
    #[inline]
    fn drop(&mut self) {
        self.slot.leave();
    }
}

/// A reader that is online across batches; see [`Reader::online`].
///
/// Until [`OnlineReader::quiescent`] or its drop, no memory that the writer retires is reused.
#[must_use = "a reader that is dropped at once goes offline again"]
pub struct OnlineReader<'r, F: Family> {
    slot: &'r ReaderSlot<Shared<LiveFib<F>>>,
}

impl<F: Family> OnlineReader<'_, F> {
    /// The current table.
    #[must_use]
    #[inline]
    pub fn table(&self) -> &LiveFib<F> {
        // SAFETY: the reader is online; the result borrows `self`, so neither `quiescent` nor
        // the drop comes before its end.
        unsafe { self.slot.shared().current() }
    }

    /// Announces a quiescent state, in which no part of the table is held. A load and a store.
    ///
    /// Call it between batches.
    #[inline]
    pub fn quiescent(&mut self) {
        self.slot.quiescent();
    }
}

impl<F: Family> Drop for OnlineReader<'_, F> {
    #[inline]
    fn drop(&mut self) {
        self.slot.leave();
    }
}
