//! The read side.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};

use super::limbo::Limbo;
use super::reclaim::{Domain, HasDomain, Presence};
use crate::addr::Family;
use crate::fib::Fib;

/// What a writer and its readers share.
pub(super) struct Shared<F: Family> {
    /// The current table, from a box.
    current: AtomicPtr<Fib<F>>,
    /// That of all tables that are read together.
    domain: Arc<Domain>,
    /// Tables in which readers were when the writer ended.
    pub left: Left<Limbo<Retired<F>>>,
}

impl<F: Family> Shared<F> {
    pub fn new(fib: Box<Fib<F>>, domain: Arc<Domain>) -> Arc<Self> {
        let current = AtomicPtr::new(Box::into_raw(fib));
        Arc::new(Self { current, domain, left: Left::default() })
    }

    /// Makes a table the current one; the one before, which readers may still be in. Only the
    /// writer calls it.
    pub fn replace(&self, fib: Box<Fib<F>>) -> Retired<F> {
        Retired(self.current.swap(Box::into_raw(fib), Release))
    }

    /// The current table.
    ///
    /// # Safety
    /// The caller is a reader who has entered the domain, and who has nothing of the table any more
    /// when it leaves or reports.
    #[inline]
    pub unsafe fn current(&self) -> &Fib<F> {
        // SAFETY: it was current after the reader entered or last reported, so it is not dropped
        // before the reader leaves or reports again.
        unsafe { &*self.current.load(Acquire) }
    }
}

impl<F: Family> HasDomain for Shared<F> {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

impl<F: Family> Drop for Shared<F> {
    fn drop(&mut self) {
        drop(Retired(*self.current.get_mut()));
    }
}

/// What a writer leaves to its readers when it ends, as they may be in it.
pub(super) struct Left<T>(AtomicPtr<T>, PhantomData<T>);

// SAFETY: only who owns it reaches the thing again.
unsafe impl<T: Send> Sync for Left<T> {}

impl<T> Default for Left<T> {
    fn default() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()), PhantomData)
    }
}

impl<T> Left<T> {
    /// Keeps something until the last reader has ended. The writer calls it once, at its end.
    pub fn leave(&self, thing: T) {
        self.0.store(Box::into_raw(Box::new(thing)), Release);
    }
}

impl<T> Drop for Left<T> {
    fn drop(&mut self) {
        let left = *self.0.get_mut();
        if !left.is_null() {
            // SAFETY: from a box, which only the writer has stored, and once.
            drop(unsafe { Box::from_raw(left) });
        }
    }
}

/// A table that is not current any more. To be dropped when it is out of all readers' reach.
pub(super) struct Retired<F: Family>(*mut Fib<F>);

// SAFETY: it owns the table like a box, and tables can be sent.
unsafe impl<F: Family> Send for Retired<F> {}

impl<F: Family> Drop for Retired<F> {
    fn drop(&mut self) {
        // SAFETY: from a box, and nobody else owns it since it is not current.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// Looks up addresses in a table that a [`Writer`](super::Writer) changes meanwhile. Each thread
/// that reads has its own; a clone is another.
pub struct Reader<F: Family> {
    presence: Presence<Shared<F>>,
}

impl<F: Family> Reader<F> {
    pub(super) fn new(shared: Arc<Shared<F>>) -> Self {
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
    presence: &'r Presence<Shared<F>>,
    fib: &'r Fib<F>,
}

impl<F: Family> Deref for Guard<'_, F> {
    type Target = Fib<F>;

    #[inline]
    fn deref(&self) -> &Fib<F> {
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
    presence: &'r Presence<Shared<F>>,
}

impl<F: Family> Resident<'_, F> {
    /// The current table.
    #[inline]
    pub fn table(&self) -> &Fib<F> {
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
