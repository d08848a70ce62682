//! The concurrent parts of live tables in a model checker: every interleaving of a writer with
//! readers, and every value that a load may return.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

extern crate alloc;

mod models;

/// The model checker's atomics instead of the real ones.
mod sync {
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, fence};
    pub use loom::thread;

    /// Memory for which the checker detects writes during reads.
    #[derive(Debug)]
    pub struct Cell<T>(loom::cell::UnsafeCell<T>);

    // SAFETY: the checker runs one thread at a time.
    unsafe impl<T: Send> Sync for Cell<T> {}

    impl<T: Copy> Cell<T> {
        pub fn new(value: T) -> Self {
            Self(loom::cell::UnsafeCell::new(value))
        }

        pub fn get(&self) -> T {
            // SAFETY: the checker fails if another thread writes the value.
            self.0.with(|value| unsafe { *value })
        }

        pub fn set(&self, value: T) {
            // SAFETY: the checker fails if another thread reads or writes the value.
            self.0.with_mut(|place| unsafe { *place = value });
        }
    }
}

use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicU32 as StdAtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use models::engine::folio::v4;
use models::{Size, engine, mem, net, rib, simd, slots, trie, values, whole};

/// Checks every interleaving with at most `changes` preemptions.
///
/// At least one of them must reuse memory.
fn every(changes: usize, run: impl Fn() -> u32 + Send + Sync + 'static) {
    let most = StdArc::new(StdAtomicU32::new(0));
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(changes);
    let greatest = most.clone();
    model.check(move || _ = greatest.fetch_max(run(), Relaxed));
    assert!(most.load(Relaxed) > 0, "no interleaving reused memory");
}

const PINS: Size = Size { pinning: 1, online: 0, calls: 2, commits: 3 };
const ONLINE: Size = Size { pinning: 0, online: 1, calls: 2, commits: 3 };
const BOTH: Size = Size { pinning: 1, online: 1, calls: 1, commits: 3 };

#[test]
fn a_trie_is_patched_under_guards() {
    every(3, || trie::patched(PINS));
}

#[test]
fn a_trie_is_patched_under_online_readers() {
    every(3, || trie::patched(ONLINE));
}

#[test]
fn a_trie_is_patched_under_two() {
    every(2, || trie::patched(BOTH));
}

#[test]
fn ids_are_reused_under_guards() {
    every(3, || values::reused(PINS));
}

#[test]
fn ids_are_reused_under_online_readers() {
    every(3, || values::reused(ONLINE));
}

#[test]
fn tables_are_swapped_under_guards() {
    every(3, || whole::swapped(PINS));
}

#[test]
fn tables_are_swapped_under_online_readers() {
    every(3, || whole::swapped(Size { commits: 2, ..ONLINE }));
}

#[test]
fn pages_of_codes_change_under_guards() {
    every(2, || v4::patched(PINS));
}

#[test]
fn pages_of_codes_change_under_online_readers() {
    every(2, || v4::patched(ONLINE));
}

#[test]
fn readers_register_at_once() {
    every(4, || slots::registered(2));
}
