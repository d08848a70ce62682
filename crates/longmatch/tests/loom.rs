//! The concurrent parts of live tables in a model checker: every interleaving of a writer with
//! readers, and every value that a load may see.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

extern crate alloc;

#[path = "../src/live/limbo.rs"]
#[allow(dead_code, reason = "the models use a part of it")]
mod limbo;
mod models;
#[path = "../src/live/reclaim.rs"]
#[allow(dead_code, reason = "the models use a part of it")]
mod reclaim;
#[path = "../src/live/shared.rs"]
mod shared;
#[path = "../src/live/word.rs"]
mod word;

/// The model checker's atomics in the place of the real ones.
mod sync {
    use core::sync::atomic::Ordering;

    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, fence};
    pub use loom::thread;

    /// A word that leads to others. The checker does not know that an address that is made of a
    /// word orders the read there after that of the word, as `word.rs` has it: so it is told that
    /// the load acquires. Nothing else in the models is a word like this.
    #[derive(Debug)]
    pub struct AtomicU32(loom::sync::atomic::AtomicU32);

    impl AtomicU32 {
        pub fn new(value: u32) -> Self {
            Self(loom::sync::atomic::AtomicU32::new(value))
        }

        pub fn load(&self, _: Ordering) -> u32 {
            self.0.load(Ordering::Acquire)
        }

        pub fn store(&self, value: u32, order: Ordering) {
            self.0.store(value, order);
        }
    }

    /// Memory of which the checker sees when it is written while it is read.
    #[derive(Debug)]
    pub struct Cell<T>(loom::cell::UnsafeCell<T>);

    // SAFETY: the checker runs one thread at a time.
    unsafe impl<T: Send> Sync for Cell<T> {}

    impl<T: Copy> Cell<T> {
        pub fn new(value: T) -> Self {
            Self(loom::cell::UnsafeCell::new(value))
        }

        pub fn get(&self) -> T {
            // SAFETY: the checker fails when another thread writes it.
            self.0.with(|value| unsafe { *value })
        }

        pub fn set(&self, value: T) {
            // SAFETY: the checker fails when another thread reads or writes it.
            self.0.with_mut(|place| unsafe { *place = value });
        }
    }
}

use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicU32 as StdAtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use models::{Size, slots, trie, values, whole};

/// Every interleaving with at most so many changes of thread where the thread could go on. In some
/// of them the model has used something again.
fn every(changes: usize, run: impl Fn() -> u32 + Send + Sync + 'static) {
    let most = StdArc::new(StdAtomicU32::new(0));
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(changes);
    let seen = most.clone();
    model.check(move || _ = seen.fetch_max(run(), Relaxed));
    assert!(most.load(Relaxed) > 0, "nothing was used again");
}

const PINS: Size = Size { pinning: 1, staying: 0, calls: 2, commits: 3 };
const STAYS: Size = Size { pinning: 0, staying: 1, calls: 2, commits: 3 };
const BOTH: Size = Size { pinning: 1, staying: 1, calls: 1, commits: 3 };

#[test]
fn a_trie_is_patched_under_guards() {
    every(3, || trie::patched(PINS));
}

#[test]
fn a_trie_is_patched_under_reports() {
    every(3, || trie::patched(STAYS));
}

#[test]
fn a_trie_is_patched_under_two() {
    every(2, || trie::patched(BOTH));
}

#[test]
fn ids_are_used_again_under_guards() {
    every(3, || values::reused(PINS));
}

#[test]
fn ids_are_used_again_under_reports() {
    every(3, || values::reused(STAYS));
}

#[test]
fn tables_are_swapped_under_guards() {
    every(3, || whole::swapped(PINS));
}

#[test]
fn tables_are_swapped_under_reports() {
    every(3, || whole::swapped(Size { commits: 2, ..STAYS }));
}

#[test]
fn readers_register_at_once() {
    every(4, || slots::registered(2));
}
