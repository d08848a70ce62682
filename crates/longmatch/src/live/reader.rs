//! The read side.

use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;

use super::reclaim::Presence;
use super::shared::Shared;
use crate::fib::LiveFib;
use crate::net::Family;

/// Looks up addresses in a table that a [`Writer`](super::Writer) changes meanwhile. Each thread
/// that reads has its own; a clone is another.
pub struct Reader<F: Family> {
    presence: Presence<Shared<LiveFib<F>>>,
}

impl<F: Family> Reader<F> {
    pub(super) fn new(shared: Arc<Shared<LiveFib<F>>>) -> Self {
        Self { presence: Presence::new(shared) }
    }

    /// Holds on to the current table for some lookups: a batch, or a handful.
    ///
    /// Costs a fence, some nanoseconds. Memory that the writer takes out of the table is not used
    /// again before the guard is dropped, so it should not be held for long.
    #[inline]
    pub fn pin(&mut self) -> Guard<'_, F> {
        self.presence.enter();
        // SAFETY: entered; the guard leaves when it is dropped.
        let fib = unsafe { self.presence.shared().current() };
        Guard { presence: &self.presence, fib }
    }

    /// For a thread that does little else than look up: it stays with the table, and says between
    /// its batches that it holds nothing of it. That costs no fence.
    pub fn stay(&mut self) -> Resident<'_, F> {
        self.presence.enter();
        Resident { presence: &self.presence }
    }
}

impl<F: Family> Clone for Reader<F> {
    fn clone(&self) -> Self {
        Self::new(self.presence.shared().clone())
    }
}

impl<F: Family> fmt::Debug for Reader<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

/// A table that stays: see [`Reader::pin`].
///
/// Of an engine that is compiled again for each commit it is one version. Of one that is patched,
/// each address is answered by a version that is current during the lookup, and later lookups of
/// the address by that version or a later one.
///
/// A guard that is never dropped (see [`core::mem::forget`]) counts until its reader pins again or
/// is dropped.
pub struct Guard<'r, F: Family> {
    presence: &'r Presence<Shared<LiveFib<F>>>,
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
        self.presence.leave();
    }
}

/// A reader that stays with the table: see [`Reader::stay`].
///
/// As long as it neither reports nor is dropped, nothing that the writer takes out of the table is
/// used again.
pub struct Resident<'r, F: Family> {
    presence: &'r Presence<Shared<LiveFib<F>>>,
}

impl<F: Family> Resident<'_, F> {
    /// The current table.
    #[inline]
    pub fn table(&self) -> &LiveFib<F> {
        // SAFETY: entered; whoever has the result cannot report or drop this.
        unsafe { self.presence.shared().current() }
    }

    /// Says that nothing of the table is held. To be called between batches; a load and a store.
    #[inline]
    pub fn report(&mut self) {
        self.presence.report();
    }
}

impl<F: Family> Drop for Resident<'_, F> {
    #[inline]
    fn drop(&mut self) {
        self.presence.leave();
    }
}
