//! Threads that work side by side, or an error where the system does not start them all.

use core::fmt;
use std::io;
use std::panic::resume_unwind;
use std::sync::{Barrier, OnceLock};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// The system did not start a thread. Those that were started have ended without any work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadError {
    /// Threads that ran.
    pub started: usize,
    /// Threads that were to run.
    pub wanted: usize,
    /// What the system says.
    pub reason: String,
}

impl fmt::Display for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { started, wanted, reason } = self;
        write!(f, "the system started only {started} of {wanted} threads: {reason}")
    }
}

impl std::error::Error for ThreadError {}

/// Starts the thread with this number, counted from 0, of `wanted` ones.
///
/// # Errors
/// When the system does not start it.
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

/// What starts the thread with this number.
#[cfg(not(any(test, feature = "testing")))]
pub fn builder(_: usize) -> Builder {
    Builder::new()
}

/// Tests choose a thread to get a stack that no address space has room for.
#[cfg(any(test, feature = "testing"))]
pub fn builder(number: usize) -> Builder {
    match testing::REFUSED.get() == Some(number) {
        true => Builder::new().stack_size(1 << (usize::BITS - 2)),
        false => Builder::new(),
    }
}

/// Does `work` in `count` threads, each with its number from 0 on; what each returns, in order.
/// Number 0 is the calling thread. None begins before all are started, so that an error costs no
/// time.
///
/// # Errors
/// When the system does not start all of them. Then none has begun.
///
/// # Panics
/// When one of them panics.
pub fn together<T: Send>(
    count: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, ThreadError> {
    let (begin, work) = (&OnceLock::<bool>::new(), &work);
    thread::scope(|scope| {
        let job = |number| move || begin.wait().then(|| work(number));
        let others: Result<Vec<_>, _> =
            (1..count).map(|number| spawn(scope, number, count, job(number))).collect();
        // Whether they are to work: without an answer they would wait for ever.
        let _ = begin.set(others.is_ok());
        let others = others?;
        let first = work(0);
        let joined = others.into_iter().filter_map(joined);
        Ok(core::iter::once(first).chain(joined).collect())
    })
}

/// What a thread returned; its panic goes on here.
pub fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Waits at a barrier when it is dropped, so that a thread that panics before does not keep the
/// others waiting.
pub struct Arrival<'b>(pub &'b Barrier);

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// A limit on the threads that can be started, for tests.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    use core::cell::Cell;

    thread_local! {
        /// The number of the thread that is not started, of those that this thread starts.
        pub(super) static REFUSED: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Does something while the system refuses the thread with this number.
    pub fn refusing<T>(number: usize, work: impl FnOnce() -> T) -> T {
        REFUSED.set(Some(number));
        let done = work();
        REFUSED.set(None);
        done
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

    /// Whichever thread is refused: the others end, and none has worked.
    #[test]
    fn a_refused_thread_is_an_error_and_none_works() {
        for refused in 1..4 {
            let began = AtomicUsize::new(0);
            let result = refusing(refused, || together(4, |_| began.fetch_add(1, Relaxed)));
            let error = result.unwrap_err();
            assert_eq!((error.started, error.wanted), (refused, 4));
            let said = error.to_string();
            assert!(said.starts_with(&format!("the system started only {refused} of 4 threads: ")));
            assert_eq!(began.into_inner(), 0);
        }
        assert!(refusing(4, || together(4, |_| ())).is_ok(), "there is no such thread");
    }

    #[test]
    fn a_panic_before_a_barrier_keeps_nobody_waiting() {
        for panicking in 0..2 {
            let barrier = Barrier::new(2);
            let work = |number| {
                let arrival = Arrival(&barrier);
                assert_ne!(number, panicking, "on purpose");
                drop(arrival);
            };
            assert!(catch_unwind(AssertUnwindSafe(|| together(2, work))).is_err());
        }
    }
}
