//! Groups of threads, with an error if the system does not start all of them.

use std::io;
use std::panic::resume_unwind;
use std::sync::{Barrier, OnceLock};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// Error: the system did not start all threads. Those that it started did no work.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the system started only {started} of {wanted} threads: {reason}")]
pub struct ThreadError {
    /// Number of threads that the system started.
    pub started: usize,
    /// Number of threads to start.
    pub wanted: usize,
    /// The error of the system.
    pub reason: String,
}

/// Starts thread `number`, counted from 0, of `wanted` threads.
///
/// # Errors
/// If the system does not start it.
pub fn spawn<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    number: usize,
    wanted: usize,
    work: impl FnOnce() -> T + Send + 's,
) -> Result<ScopedJoinHandle<'s, T>, ThreadError> {
    let started = builder(number).spawn_scoped(scope, work);
    started.map_err(|error: io::Error| ThreadError {
        started: number,
        wanted,
        reason: error.to_string(),
    })
}

/// The builder of thread `number`.
pub fn builder(
    #[allow(unused_variables, reason = "only tests refuse threads")] number: usize,
) -> Builder {
    #[cfg(any(test, feature = "testing"))]
    if testing::REFUSED.get() == Some(number) {
        // This stack is too large for any address space.
        return Builder::new().stack_size(1 << (usize::BITS - 2));
    }
    Builder::new()
}

/// Runs `work` on `count` threads, numbered from 0; returns the results in order.
///
/// Thread 0 is the calling thread. No thread begins before all are started.
///
/// # Errors
/// If the system does not start all of them. Then none has begun.
///
/// # Panics
/// If one of them panics.
///
/// ```
/// let squares = longmatch_bench::threads::together(3, |number| number * number)?;
/// assert_eq!(squares, [0, 1, 4]);
/// # Ok::<(), longmatch_bench::ThreadError>(())
/// ```
pub fn together<T: Send>(
    count: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, ThreadError> {
    let (begin, work) = (&OnceLock::<bool>::new(), &work);
    thread::scope(|scope| {
        let start = |number| move || begin.wait().then(|| work(number));
        let others: Result<Vec<_>, _> =
            (1..count).map(|number| spawn(scope, number, count, start(number))).collect();
        // This must be set after an error too: the started threads wait for it.
        let _ = begin.set(others.is_ok());
        let others = others?;
        let first = work(0);
        let joined = others.into_iter().filter_map(joined);
        Ok(core::iter::once(first).chain(joined).collect())
    })
}

/// Returns the result of a thread, or resumes its panic.
pub fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Waits at a barrier when dropped, so that a panic does not block other threads.
pub struct ArriveOnDrop<'b>(pub &'b Barrier);

impl Drop for ArriveOnDrop<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// Refused threads, for tests.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    use core::cell::Cell;

    thread_local! {
        /// Number of the thread that the current thread cannot start.
        pub(super) static REFUSED: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Runs `work` while the system refuses to start thread `number`.
    pub fn refusing<T>(number: usize, work: impl FnOnce() -> T) -> T {
        REFUSED.set(Some(number));
        let result = work();
        REFUSED.set(None);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::testing::refusing;
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn results_are_in_order() {
        for count in [1, 2, 7] {
            let numbers = together(count, |number| number).unwrap();
            assert_eq!(numbers, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_thread_works_if_one_is_refused() {
        for refused in 1..4 {
            let began = AtomicUsize::new(0);
            let result = refusing(refused, || together(4, |_| began.fetch_add(1, Relaxed)));
            let error = result.unwrap_err();
            assert_eq!((error.started, error.wanted), (refused, 4));
            let text = error.to_string();
            assert!(text.starts_with(&format!("the system started only {refused} of 4 threads: ")));
            assert_eq!(began.into_inner(), 0);
        }
        assert!(refusing(4, || together(4, |_| ())).is_ok(), "four threads have no number 4");
    }

    #[test]
    fn a_panic_before_a_barrier_does_not_block_the_others() {
        for panicking in 0..2 {
            let barrier = Barrier::new(2);
            let work = |number| {
                let arrival = ArriveOnDrop(&barrier);
                assert_ne!(number, panicking, "intended panic");
                drop(arrival);
            };
            assert!(catch_unwind(AssertUnwindSafe(|| together(2, work))).is_err());
        }
    }
}
