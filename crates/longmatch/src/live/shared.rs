//! What a writer and its readers share: the current table, and those that outlive the writer.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Release};

use super::reclaim::{Domain, HasDomain};
use crate::mem::RetireList;
use crate::mem::sync::{Arc, AtomicPtr};

pub(crate) struct Shared<T: Send + Sync> {
    /// The current table, from a box.
    current: AtomicPtr<T>,
    /// That of all tables that are read together.
    domain: Arc<Domain>,
    /// Tables in which readers were when the writer ended.
    pub left: Left<RetireList<Retired<T>>>,
}

impl<T: Send + Sync> Shared<T> {
    pub fn new(table: Box<T>, domain: Arc<Domain>) -> Arc<Self> {
        let current = AtomicPtr::new(Box::into_raw(table));
        Arc::new(Self { current, domain, left: Left::default() })
    }

    /// The current table.
    ///
    /// # Safety
    /// The caller is a reader who has entered the domain, and who has nothing of the table any more
    /// when it leaves or reports.
    #[inline]
    pub unsafe fn current(&self) -> &T {
        // SAFETY: it was current after the reader entered or last reported, so it is not dropped
        // before the reader leaves or reports again.
        unsafe { &*self.current.load(Acquire) }
    }

    /// Makes a table the current one; the one before, which readers may still be in. Only the
    /// writer calls it.
    pub fn replace(&self, table: Box<T>) -> Retired<T> {
        Retired(self.current.swap(Box::into_raw(table), Release))
    }
}

impl<T: Send + Sync> HasDomain for Shared<T> {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

impl<T: Send + Sync> Drop for Shared<T> {
    fn drop(&mut self) {
        drop(Retired(self.current.load(Acquire)));
    }
}

/// What a writer leaves to its readers when it ends, as they may be in it.
pub(crate) struct Left<T>(AtomicPtr<T>, PhantomData<T>);

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
        let left = self.0.load(Acquire);
        if !left.is_null() {
            // SAFETY: from a box, which only the writer has stored, and once.
            drop(unsafe { Box::from_raw(left) });
        }
    }
}

/// A table that is not current any more. To be dropped when it is out of all readers' reach.
pub(crate) struct Retired<T>(*mut T);

// SAFETY: it owns the table like a box.
unsafe impl<T: Send> Send for Retired<T> {}

impl<T> Drop for Retired<T> {
    fn drop(&mut self) {
        // SAFETY: from a box, and nobody else owns it since it is not current.
        drop(unsafe { Box::from_raw(self.0) });
    }
}
