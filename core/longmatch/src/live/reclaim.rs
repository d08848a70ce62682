//! Reclamation of memory that readers may still reach: readers record epochs, the writer compares
//! them.
//!
//! The writer increments the epoch each time it has removed an object from the table. A reader has
//! a slot; while the reader is online, the slot holds an epoch that the reader loaded before it
//! began to read. No reader can reach an object removed in epoch `e` once no slot holds `e` or
//! less:
//!
//! - A slot with a later epoch: the reader loaded that epoch (`Acquire`) from the writer's store
//!   (`Release`), which came after the removal. So its next loads see the table after the removal.
//! - An offline slot: either the reader is offline, or its slot's store is not visible yet. The
//!   reader has a sequentially consistent fence between that store and its first load from the
//!   table, the writer one between the removal and its loads of the slots; one of the two fences is
//!   first. If it is the reader's, the writer sees the slot; if it is the writer's, the reader sees
//!   the table after the removal.
//! - The reader has ended its reads before the memory is written again: this follows from its
//!   `Release` store to the slot and the writer's `Acquire` load of it.
//!
//! A reader may stay online and announce quiescent states in between. An announcement needs no fence,
//! because a slot with an old epoch only makes the writer wait.

use alloc::boxed::Box;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

#[cfg(target_has_atomic = "64")]
use crate::mem::sync::AtomicU64 as AtomicEpoch;
use crate::mem::sync::{Arc, AtomicBool, AtomicPtr, fence};

/// Slot value of an offline reader.
const OFFLINE: u64 = 0;
/// The epoch that never ends: memory removed in it stays allocated as long as its writer.
///
/// An epoch that wrapped around would seem to be after every slot. So the last one stays; where
/// atomics have 64 bits no writer reaches it, elsewhere one does after 4 billion removals.
const LAST_EPOCH: u64 = if cfg!(target_has_atomic = "64") { u64::MAX } else { u32::MAX as u64 };

/// A reader's slot, two cache lines long, because CPUs fetch lines in pairs.
#[repr(align(128))]
struct Slot {
    /// The epoch that the reader loaded before it began to read, or [`OFFLINE`].
    epoch: AtomicEpoch,
    /// Whether a reader owns the slot.
    taken: AtomicBool,
    /// The slot registered before this one. Constant once the slot is in the list.
    next: *const Slot,
}

/// The epochs of one writer and its readers.
pub(crate) struct Domain {
    epoch: AtomicEpoch,
    /// The slots, the last registered first.
    ///
    /// Slots are never removed from the list; their number is the greatest number of simultaneous
    /// readers so far.
    slots: AtomicPtr<Slot>,
}

// SAFETY: slots are accessed through atomics, except `next`, which is constant once its slot is in
// the list.
unsafe impl Send for Domain {}
// SAFETY: slots are accessed through atomics, except `next`, which is constant in the list.
unsafe impl Sync for Domain {}

impl Domain {
    pub fn new() -> Self {
        Self { epoch: AtomicEpoch::new(OFFLINE + 1), slots: AtomicPtr::new(ptr::null_mut()) }
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        // SAFETY: slots in the list remain allocated as long as the domain.
        let first = unsafe { self.slots.load(Acquire).as_ref() };
        // SAFETY: `next` was in the list first; slots in the list remain allocated as long as the
        // domain.
        core::iter::successors(first, |slot| unsafe { slot.next.as_ref() })
    }

    /// A domain whose next epoch but one is the last.
    #[cfg(test)]
    pub fn before_the_last() -> Self {
        let domain = Self::new();
        domain.epoch.store(LAST_EPOCH - 1, Relaxed);
        domain
    }

    /// Number of slots.
    #[cfg(test)]
    pub fn slot_count(&self) -> usize {
        self.slots().count()
    }

    /// Takes a free slot or registers a new one.
    fn take_slot(&self) -> NonNull<Slot> {
        for slot in self.slots() {
            let free = !slot.taken.load(Relaxed);
            if free && slot.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
                return slot.into();
            }
        }
        let slot = Slot {
            epoch: AtomicEpoch::new(OFFLINE),
            taken: AtomicBool::new(true),
            next: ptr::null(),
        };
        let slot = Box::into_raw(Box::new(slot));
        let mut first = self.slots.load(Acquire);
        loop {
            // SAFETY: `slot` was just allocated and is not in the list yet.
            unsafe { (*slot).next = first };
            match self.slots.compare_exchange_weak(first, slot, AcqRel, Acquire) {
                // SAFETY: `slot` comes from a box, so it is not null.
                Ok(_) => return unsafe { NonNull::new_unchecked(slot) },
                Err(other) => first = other,
            }
        }
    }

    /// Ends an epoch after objects were removed from the table; returns their epoch.
    ///
    /// Only the writer calls it.
    pub fn advance(&self) -> u64 {
        let ended = self.epoch.load(Relaxed);
        let next = ended + u64::from(ended < LAST_EPOCH);
        self.epoch.store(next, Release);
        fence(SeqCst);
        ended
    }

    /// The epoch before which no reader can reach a removed object.
    ///
    /// Only the writer calls it, after [`Domain::advance`].
    pub fn oldest(&self) -> u64 {
        let mut oldest = self.epoch.load(Relaxed);
        for slot in self.slots() {
            match slot.epoch.load(Acquire) {
                OFFLINE => {}
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
            // SAFETY: slots come from boxes, and no `ReaderSlot` is left, because each keeps the
            // domain.
            let boxed = unsafe { Box::from_raw(slot) };
            slot = boxed.next.cast_mut();
        }
    }
}

/// A type with a domain.
pub(crate) trait HasDomain {
    fn domain(&self) -> &Domain;
}

/// A reader's ownership of a slot in the domain that it shares with the writer.
pub(crate) struct ReaderSlot<S: HasDomain> {
    shared: Arc<S>,
    slot: NonNull<Slot>,
}

// SAFETY: the slot has one owner and lives as long as the domain, which `shared` keeps alive.
unsafe impl<S: HasDomain + Send + Sync> Send for ReaderSlot<S> {}

impl<S: HasDomain> ReaderSlot<S> {
    pub fn new(shared: Arc<S>) -> Self {
        let slot = shared.domain().take_slot();
        Self { shared, slot }
    }

    pub fn shared(&self) -> &Arc<S> {
        &self.shared
    }

    #[inline]
    fn slot(&self) -> &Slot {
        // SAFETY: slots live as long as their domain, which `shared` keeps alive.
        unsafe { self.slot.as_ref() }
    }

    /// Goes online: memory reachable from now on is not reused.
    ///
    /// A load, a store and a fence.
    #[inline]
    pub fn enter(&self) {
        let epoch = self.shared.domain().epoch.load(Acquire);
        // `Release`, so that a writer that sees the new epoch sees earlier reads as ended.
        self.slot().epoch.store(epoch, Release);
        fence(SeqCst);
    }

    /// Announces a quiescent state: memory reached before may be reused, memory reached from now on
    /// is not.
    ///
    /// A load and a store. Valid between [`ReaderSlot::enter`] and [`ReaderSlot::leave`].
    #[inline]
    pub fn quiescent(&self) {
        let epoch = self.shared.domain().epoch.load(Acquire);
        self.slot().epoch.store(epoch, Release);
    }

    /// Goes offline: memory reached before may be reused.
    #[inline]
    pub fn leave(&self) {
        self.slot().epoch.store(OFFLINE, Release);
    }
}

impl<S: HasDomain> Drop for ReaderSlot<S> {
    fn drop(&mut self) {
        self.leave();
        self.slot().taken.store(false, Release);
    }
}

/// An epoch in 32 bits, for CPUs without 64-bit atomics, such as microcontrollers.
#[cfg(not(target_has_atomic = "64"))]
struct AtomicEpoch(crate::mem::sync::AtomicU32);

#[cfg(not(target_has_atomic = "64"))]
impl AtomicEpoch {
    fn new(epoch: u64) -> Self {
        Self(crate::mem::sync::AtomicU32::new(epoch as u32))
    }

    #[inline]
    fn load(&self, order: core::sync::atomic::Ordering) -> u64 {
        self.0.load(order).into()
    }

    /// No epoch is after [`LAST_EPOCH`].
    #[inline]
    fn store(&self, epoch: u64, order: core::sync::atomic::Ordering) {
        self.0.store(epoch as u32, order);
    }
}
