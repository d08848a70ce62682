//! Work on the blocks of a stream in threads, with the results in the order of the blocks.
//!
//! A thread reads, others work, and the caller writes. Blocks in flight are bounded: the reader takes a
//! ticket for each, which the writer gives back. The threads are not joined: after an error the reader
//! may wait for input that never comes.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::error::CliError;

/// Interval at which signals are polled.
const STEP: Duration = Duration::from_millis(100);

/// The reason of a call of the writer.
pub enum Step<R> {
    /// The result of the next block.
    Result(R),
    /// No result is ready: time to flush.
    Waiting,
}

/// A result with the place of its block; `None` if the work panicked.
type Done<R> = (u64, Option<R>);

/// Returns the number of threads that work if the command line does not give it.
pub fn default_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Passes each block of `source` to `work` in one of some threads, and the results in order to `sink`,
/// until the source has no more or the sink returns false.
///
/// # Errors
/// Those of the sink; if the system does not start a thread, or a thread panics.
pub fn run<B: Send + 'static, R: Send + 'static>(
    command: &'static str,
    threads: usize,
    source: impl FnMut() -> Option<B> + Send + 'static,
    work: impl Fn(B) -> R + Send + Sync + 'static,
    mut sink: impl FnMut(Step<R>) -> Result<bool, CliError>,
) -> Result<(), CliError> {
    let in_flight = 4 * threads;
    let (ticket, tickets) = sync_channel(in_flight);
    let (jobs, queue) = sync_channel::<(u64, B)>(in_flight);
    let (done, results) = sync_channel::<Done<R>>(in_flight);
    let (queue, work) = (Arc::new(Mutex::new(queue)), Arc::new(work));
    for _ in 0..in_flight {
        // The receiver is still here.
        let _ = ticket.send(());
    }
    for _ in 0..threads {
        let (work, queue, done) = (work.clone(), queue.clone(), done.clone());
        start(command, move || each(&*work, &queue, &done))?;
    }
    // A reader that panics must not look like the end of the input.
    start(command, move || {
        if let Err(place) = read(source, &tickets, &jobs) {
            // The writer may have ended.
            let _ = done.send((place, None));
        }
    })?;
    let (mut next, mut early) = (0, BTreeMap::new());
    while let Some((place, result)) = receive(&results, &mut sink)? {
        let Some(result) = result else {
            return Err(CliError::input(command, "a thread failed, which is a bug: report it"));
        };
        early.insert(place, result);
        while let Some(result) = early.remove(&next) {
            next += 1;
            // The reader may have ended.
            let _ = ticket.try_send(());
            if !sink(Step::Result(result))? {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn start(command: &str, work: impl FnOnce() + Send + 'static) -> Result<(), CliError> {
    let failed = |error| CliError::input(command, format_args!("a thread did not start: {error}"));
    thread::Builder::new().spawn(work).map(drop).map_err(failed)
}

/// Hands out the blocks of the source, each for a ticket; an error is the place of a block at which the
/// source panics.
fn read<B>(
    mut source: impl FnMut() -> Option<B>,
    tickets: &Receiver<()>,
    jobs: &SyncSender<(u64, B)>,
) -> Result<(), u64> {
    for place in 0.. {
        if tickets.recv().is_err() {
            break;
        }
        match catch_unwind(AssertUnwindSafe(&mut source)) {
            Ok(None) => break,
            Ok(Some(block)) => {
                if jobs.send((place, block)).is_err() {
                    break;
                }
            }
            Err(_) => return Err(place),
        }
    }
    Ok(())
}

/// Works on blocks until there are no more.
fn each<B, R>(
    work: &impl Fn(B) -> R,
    queue: &Mutex<Receiver<(u64, B)>>,
    done: &SyncSender<Done<R>>,
) {
    loop {
        let job = match queue.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok((place, block)) = job else { return };
        let result = catch_unwind(AssertUnwindSafe(|| work(block))).ok();
        if done.send((place, result)).is_err() {
            return;
        }
    }
}

/// Returns the next result of any block; `None` at the end.
fn receive<R>(
    results: &Receiver<Done<R>>,
    sink: &mut impl FnMut(Step<R>) -> Result<bool, CliError>,
) -> Result<Option<Done<R>>, CliError> {
    match results.try_recv() {
        Ok(done) => return Ok(Some(done)),
        Err(TryRecvError::Disconnected) => return Ok(None),
        Err(TryRecvError::Empty) => {}
    }
    loop {
        if !sink(Step::Waiting)? {
            return Ok(None);
        }
        match results.recv_timeout(STEP) {
            Ok(done) => return Ok(Some(done)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_in_flight_blocks_are_bounded() {
        let mut left = 0..1000u64;
        let mut seen = Vec::new();
        let work = |n: u64| {
            if n.is_multiple_of(7) {
                thread::sleep(Duration::from_millis(1));
            }
            n * 2
        };
        let sink = |step| {
            if let Step::Result(n) = step {
                seen.push(n);
            }
            Ok(true)
        };
        run("test", 3, move || left.next(), work, sink).unwrap();
        assert_eq!(seen, (0..1000).map(|n| n * 2).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_is_an_error_and_a_sink_can_stop() {
        let mut left = 0..10;
        let work = |n: i32| assert!(n < 5, "expected by the test");
        assert!(run("test", 2, move || left.next(), work, |_| Ok(true)).is_err());
        let source = || panic!("expected by the test");
        assert!(run("test", 2, source, |n: i32| n, |_| Ok(true)).is_err());
        let mut left = 0..;
        let stop = |step| Ok(!matches!(step, Step::Result(20)));
        run("test", 2, move || left.next(), |n: i32| n, stop).unwrap();
    }
}
