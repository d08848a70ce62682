//! The models of `tests/loom.rs` with more readers and commits than an exhaustive check permits;
//! random schedules are checked instead. Here all atomics are sequentially consistent, so this
//! tests the protocol, not its orderings. The full forms are ignored by default; `cargo xtask
//! prove` runs them.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

extern crate alloc;

mod models;

/// The model checker's atomics instead of the real ones.
mod sync {
    use core::cell::UnsafeCell;
    use core::sync::atomic::Ordering::SeqCst;

    use shuttle::sync::atomic::AtomicUsize;

    pub use shuttle::sync::Arc;
    pub use shuttle::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, fence};
    pub use shuttle::thread;

    /// Memory that detects writes during reads.
    pub struct Cell<T> {
        value: UnsafeCell<T>,
        /// Two per reader, one per writer.
        users: AtomicUsize,
    }

    // SAFETY: the checker runs one thread at a time, and switches threads only where one uses an
    // atomic.
    unsafe impl<T: Send> Sync for Cell<T> {}

    impl<T: Copy> Cell<T> {
        pub fn new(value: T) -> Self {
            Self { value: UnsafeCell::new(value), users: AtomicUsize::new(0) }
        }

        pub fn get(&self) -> T {
            assert_eq!(self.users.fetch_add(2, SeqCst) % 2, 0, "read during a write");
            // SAFETY: `users` shows no writer, and no thread switch happens before the next atomic.
            let value = unsafe { *self.value.get() };
            self.users.fetch_sub(2, SeqCst);
            value
        }

        pub fn set(&self, value: T) {
            assert_eq!(self.users.fetch_add(1, SeqCst), 0, "written during a use");
            // SAFETY: `users` shows no other user, and no thread switch happens before the next
            // atomic.
            unsafe { *self.value.get() = value };
            self.users.fetch_sub(1, SeqCst);
        }
    }
}

use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicU32 as StdAtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use models::engine::folio::v4;
use models::{Size, engine, mem, net, rib, simd, slots, trie, values, whole};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// A fixed seed: the same schedules each time.
const SEED: u64 = 5;

/// Checks random schedules, and as many with thread priorities that seldom change.
///
/// At least one of them must reuse memory.
fn some(schedules: usize, run: impl Fn() -> u32 + Send + Sync + 'static) {
    let run = StdArc::new(run);
    again(RandomScheduler::new_from_seed(SEED, schedules), run.clone());
    again(PctScheduler::new_from_seed(SEED, 3, schedules), run);
}

fn again(
    scheduler: impl Scheduler + 'static,
    run: StdArc<impl Fn() -> u32 + Send + Sync + 'static>,
) {
    let most = StdArc::new(StdAtomicU32::new(0));
    let greatest = most.clone();
    let mut config = Config::new();
    // Silences warnings about weaker orderings, which `tests/loom.rs` checks.
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(move || _ = greatest.fetch_max(run(), Relaxed));
    assert!(most.load(Relaxed) > 0, "no schedule reused memory");
}

const CROWD: Size = Size { pinning: 3, online: 2, calls: 6, commits: 12 };

fn all(schedules: usize) {
    some(schedules, || trie::patched(CROWD));
    some(schedules, || values::reused(CROWD));
    some(schedules, || whole::swapped(CROWD));
    some(schedules, || v4::patched(CROWD));
    some(schedules, || slots::registered(5));
}

#[test]
fn models_hold_in_some_schedules() {
    all(5_000);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn models_hold_in_many_schedules() {
    all(500_000);
}
