//! The loop of a forwarding thread.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longmatch::TableReader;

use crate::cause::Tally;
use crate::forwarder::Forwarder;
use crate::io::PacketIo;
use crate::target::{Port, Target};

/// Maximum wait for packets; a stop request is noticed within this time.
const WAIT: Duration = Duration::from_millis(50);

/// Batches after which a busy thread publishes its counts.
const PUBLISH: u32 = 64;

/// What forwarding threads share with the thread that watches them.
#[derive(Debug)]
pub struct Control {
    stop: AtomicBool,
    tallies: Box<[Mutex<Tally>]>,
}

impl Control {
    /// For so many threads.
    pub fn new(threads: usize) -> Self {
        let tallies = (0..threads).map(|_| Mutex::default()).collect();
        Self { stop: AtomicBool::new(false), tallies }
    }

    /// Ends all threads, each after its current batch.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the threads end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The counts of all threads together, some batches old.
    pub fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in &self.tallies {
            sum.add(&tally.lock().unwrap_or_else(PoisonError::into_inner));
        }
        sum
    }
}

/// Forwards until there is no more packet, `control` says stop, or the queues fail.
///
/// `thread` is the number of the calling thread, from 0. The counts of a thread that has returned
/// are exact.
///
/// # Errors
/// Those of the queues. All other threads are stopped too.
///
/// # Panics
/// If `control` is for fewer threads.
pub fn run<I: PacketIo>(
    io: &mut I,
    table: &mut TableReader<Target>,
    ports: &[Arc<Port>],
    batch: usize,
    control: &Control,
    thread: usize,
) -> io::Result<()> {
    let mut forwarder = Forwarder::new(table, ports, batch);
    let result = forward_all(&mut forwarder, io, control, thread);
    *control.tallies[thread].lock().unwrap_or_else(PoisonError::into_inner) =
        forwarder.tally().clone();
    if result.is_err() {
        control.stop();
    }
    result
}

fn forward_all<I: PacketIo>(
    forwarder: &mut Forwarder<'_>,
    io: &mut I,
    control: &Control,
    thread: usize,
) -> io::Result<()> {
    let mut batches = 0_u32;
    while !control.is_stopped() {
        let received = forwarder.forward(io)?;
        batches = batches.wrapping_add(1);
        if received == 0 || batches.is_multiple_of(PUBLISH) {
            // The watching thread holds the lock for a moment only, and the next time is soon.
            if let Ok(mut tally) = control.tallies[thread].try_lock() {
                tally.clone_from(forwarder.tally());
            }
        }
        if received == 0 {
            if io.is_ended() {
                break;
            }
            io.wait(WAIT)?;
        }
    }
    Ok(())
}
