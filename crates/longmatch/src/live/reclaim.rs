//! When memory that readers may have seen can be used again: epochs, kept by the readers and
//! compared by the writer.
//!
//! The writer counts an epoch up each time that it has taken something out of the table. A reader
//! has a slot; while it reads, the slot holds an epoch that the reader saw before it began. What was
//! taken out in epoch `e` is out of every reader's reach once no slot holds `e` or less:
//!
//! - A slot with a later epoch: the reader loaded that epoch (`Acquire`) from the writer's store
//!   (`Release`), which came after the taking out. So whatever it loads next is what came after.
//! - A slot with none: either the reader is not reading, or its slot's store is not visible yet. The
//!   reader has a sequentially consistent fence between that store and its first load from the
//!   table, the writer one between taking out and looking at the slots; one of the two fences is
//!   first. If the reader's is, the writer sees the slot; if the writer's is, the reader loads what
//!   came after.
//! - That the reader has ended its reads before the memory is written again follows from its
//!   `Release` store to the slot and the writer's `Acquire` load of it.
//!
//! A reader that reports from time to time, instead of entering and leaving, stays present: it
//! needs no fence, as a slot with an old epoch only makes the writer wait.

use alloc::boxed::Box;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use crate::mem::sync::{Arc, AtomicBool, AtomicPtr, AtomicU64, fence};

/// In a slot: its reader is not reading.
const AWAY: u64 = 0;

/// A reader's slot. Two cache lines apart from the next, as CPUs fetch them in pairs.
#[repr(align(128))]
struct Slot {
    /// The epoch that the reader saw before it began to read, or [`AWAY`].
    epoch: AtomicU64,
    /// Whether a reader has it.
    taken: AtomicBool,
    /// The slot that was registered before. Never changed after the slot is in the list.
    next: *const Slot,
}

/// The epochs of one writer and its readers.
pub(crate) struct Domain {
    epoch: AtomicU64,
    /// The slots, the one that was registered last first. Slots are never taken out of the list:
    /// their number is the greatest number of readers that there were at a time.
    slots: AtomicPtr<Slot>,
}

// SAFETY: slots are only reached through atomics, but for `next`, which is not changed after its
// slot was published.
unsafe impl Send for Domain {}
// SAFETY: as above.
unsafe impl Sync for Domain {}

impl Domain {
    pub fn new() -> Self {
        Self { epoch: AtomicU64::new(AWAY + 1), slots: AtomicPtr::new(ptr::null_mut()) }
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        // SAFETY: a slot that was in the list stays allocated as long as the domain.
        let first = unsafe { self.slots.load(Acquire).as_ref() };
        // SAFETY: as above; `next` was in the list before.
        core::iter::successors(first, |slot| unsafe { slot.next.as_ref() })
    }

    /// How many slots there are.
    #[cfg(test)]
    pub fn slot_count(&self) -> usize {
        self.slots().count()
    }

    /// A free slot, or a new one.
    fn take_slot(&self) -> NonNull<Slot> {
        for slot in self.slots() {
            let free = !slot.taken.load(Relaxed);
            if free && slot.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
                return slot.into();
            }
        }
        let slot =
            Slot { epoch: AtomicU64::new(AWAY), taken: AtomicBool::new(true), next: ptr::null() };
        let slot = Box::into_raw(Box::new(slot));
        let mut first = self.slots.load(Acquire);
        loop {
            // SAFETY: just allocated, and not in the list yet.
            unsafe { (*slot).next = first };
            match self.slots.compare_exchange_weak(first, slot, AcqRel, Acquire) {
                // SAFETY: from a box.
                Ok(_) => return unsafe { NonNull::new_unchecked(slot) },
                Err(other) => first = other,
            }
        }
    }

    /// Ends an epoch, after something was taken out of the table. What was taken out belongs to the
    /// epoch that is returned.
    ///
    /// Only the writer calls it.
    pub fn advance(&self) -> u64 {
        let ended = self.epoch.load(Relaxed);
        self.epoch.store(ended + 1, Release);
        fence(SeqCst);
        ended
    }

    /// What was taken out in an epoch before this one is out of all readers' reach.
    ///
    /// Only the writer calls it, after [`Domain::advance`].
    pub fn oldest(&self) -> u64 {
        let mut oldest = self.epoch.load(Relaxed);
        for slot in self.slots() {
            match slot.epoch.load(Acquire) {
                AWAY => {}
                epoch => oldest = oldest.min(epoch),
            }
        }
        oldest
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        let mut slot = self.slots.load(Acquire);
        while !slot.is_null() {
            // SAFETY: from a box, and no presence is left, as these keep the domain.
            let boxed = unsafe { Box::from_raw(slot) };
            slot = boxed.next.cast_mut();
        }
    }
}

/// Something with a domain.
pub(crate) trait HasDomain {
    fn domain(&self) -> &Domain;
}

/// A reader's slot in the domain of what it shares with the writer.
pub(crate) struct Presence<S: HasDomain> {
    shared: Arc<S>,
    slot: NonNull<Slot>,
}

// SAFETY: the slot is this presence's alone, and lives as long as the domain, which is kept.
unsafe impl<S: HasDomain + Send + Sync> Send for Presence<S> {}

impl<S: HasDomain> Presence<S> {
    pub fn new(shared: Arc<S>) -> Self {
        let slot = shared.domain().take_slot();
        Self { shared, slot }
    }

    pub fn shared(&self) -> &Arc<S> {
        &self.shared
    }

    #[inline]
    fn slot(&self) -> &Slot {
        // SAFETY: slots live as long as their domain, which is kept.
        unsafe { self.slot.as_ref() }
    }

    /// From now on nothing that can be reached is used again. A load and a store, and a fence.
    #[inline]
    pub fn enter(&self) {
        let epoch = self.shared.domain().epoch.load(Acquire);
        // `Release`, so that whoever sees the reader here sees what it read before as ended.
        self.slot().epoch.store(epoch, Release);
        fence(SeqCst);
    }

    /// Nothing that was reached before is used any more; what is reached from now on is safe. A
    /// load and a store. Between [`Presence::enter`] and [`Presence::leave`].
    #[inline]
    pub fn report(&self) {
        let epoch = self.shared.domain().epoch.load(Acquire);
        self.slot().epoch.store(epoch, Release);
    }

    /// Nothing that was reached is used any more.
    #[inline]
    pub fn leave(&self) {
        self.slot().epoch.store(AWAY, Release);
    }
}

impl<S: HasDomain> Drop for Presence<S> {
    fn drop(&mut self) {
        self.leave();
        self.slot().taken.store(false, Release);
    }
}
