//! The state that a writer shares with its readers: the current table and those that outlive it.

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
    /// The domain of all tables that are read together.
    domain: Arc<Domain>,
    /// Tables that readers may have been reading when the writer ended.
    pub orphaned: Orphaned<RetireList<Retired<T>>>,
}

impl<T: Send + Sync> Shared<T> {
    pub fn new(table: Box<T>, domain: Arc<Domain>) -> Arc<Self> {
        let current = AtomicPtr::new(Box::into_raw(table));
        Arc::new(Self { current, domain, orphaned: Orphaned::default() })
    }

    /// Loads the current table.
    ///
    /// # Safety
    /// The caller is a reader online in the domain, and holds no part of the table any more when it
    /// goes offline or announces a quiescent state.
    #[inline]
    pub unsafe fn current(&self) -> &T {
        // SAFETY: the table was current after the reader went online or announced its last
        // quiescent state, so it is not dropped before the reader goes offline or announces another.
        unsafe { &*self.current.load(Acquire) }
    }

    /// Makes a table current; returns the old one, which readers may still use.
    ///
    /// Only the writer calls it.
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

/// Objects that a writer leaves to its readers when it ends.
pub(crate) struct Orphaned<T>(AtomicPtr<T>, PhantomData<T>);

// SAFETY: after `keep` only the owner of `self` accesses the object, in `drop`.
unsafe impl<T: Send> Sync for Orphaned<T> {}

impl<T> Default for Orphaned<T> {
    fn default() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()), PhantomData)
    }
}

impl<T> Orphaned<T> {
    /// Keeps an object until the last reader has ended.
    ///
    /// The writer calls it once, when it ends.
    pub fn keep(&self, thing: T) {
        self.0.store(Box::into_raw(Box::new(thing)), Release);
    }
}

impl<T> Drop for Orphaned<T> {
    fn drop(&mut self) {
        let left = self.0.load(Acquire);
        if !left.is_null() {
            // SAFETY: the pointer comes from the box of the one `keep`, and is taken once.
            drop(unsafe { Box::from_raw(left) });
        }
    }
}

/// A table that is no longer current; to be dropped when no reader can reach it.
pub(crate) struct Retired<T>(*mut T);

// SAFETY: it owns the table as a box does.
unsafe impl<T: Send> Send for Retired<T> {}

impl<T> Drop for Retired<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from a box, and since `replace` this is its only owner.
        drop(unsafe { Box::from_raw(self.0) });
    }
}
