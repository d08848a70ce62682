//! What a writer and its readers share: the current table, and those that outlive the writer.

use alloc::boxed::Box;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Release};

use super::limbo::Limbo;
use super::reclaim::{Domain, HasDomain};
use super::sync::{Arc, AtomicPtr};

pub(super) struct Shared<T: Send + Sync> {
    /// The current table, from a box.
    current: AtomicPtr<T>,
    domain: Domain,
    /// Tables in which readers were when the writer ended, from a box.
    left: AtomicPtr<Limbo<Retired<T>>>,
}

impl<T: Send + Sync> Shared<T> {
    pub fn new(table: Box<T>) -> Arc<Self> {
        Arc::new(Self {
            current: AtomicPtr::new(Box::into_raw(table)),
            domain: Domain::new(),
            left: AtomicPtr::new(ptr::null_mut()),
        })
    }

    /// The current table. It is there for who entered before, until he leaves or reports.
    #[inline]
    pub fn current(&self) -> *const T {
        self.current.load(Acquire)
    }

    /// Keeps tables that readers may be in until the last reader has ended. The writer calls it
    /// once, at its end.
    pub fn leave(&self, tables: Limbo<Retired<T>>) {
        self.left.store(Box::into_raw(Box::new(tables)), Release);
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
        let left = self.left.load(Acquire);
        if !left.is_null() {
            // SAFETY: from a box, which only the writer has stored, and once.
            drop(unsafe { Box::from_raw(left) });
        }
    }
}

/// A table that is not current any more. To be dropped when it is out of all readers' reach.
pub(super) struct Retired<T>(*mut T);

// SAFETY: it owns the table like a box.
unsafe impl<T: Send> Send for Retired<T> {}

impl<T> Drop for Retired<T> {
    fn drop(&mut self) {
        // SAFETY: from a box, and nobody else owns it since it is not current.
        drop(unsafe { Box::from_raw(self.0) });
    }
}
