//! The loop of a forwarding thread.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use longmatch::TableReader;

use crate::cause::PacketCounts;
use crate::forwarder::Forwarder;
use crate::io::PacketIo;
use crate::packet::FlowFields;
use crate::target::{Port, Target};

/// Maximum wait for packets; a stop request is noticed within this time.
const WAIT: Duration = Duration::from_millis(50);

/// Maximum time after a stop request for packets that have arrived.
const LAST: Duration = Duration::from_millis(100);

/// Batches after which a busy thread publishes its counts.
const PUBLISH: u64 = 64;

/// What forwarding threads share with the thread that watches them.
#[derive(Debug)]
pub struct Control {
    stop: AtomicBool,
    /// The flow fields: bit 0 for the ports of IPv4, bit 1 for those of IPv6.
    fields: AtomicU8,
    tallies: Box<[Mutex<PacketCounts>]>,
    /// The batches of each thread, empty ones included.
    batches: Box<[AtomicU64]>,
}

impl Control {
    /// For this number of threads.
    pub fn new(threads: usize) -> Self {
        let tallies = (0..threads).map(|_| Mutex::default()).collect();
        let batches = (0..threads).map(|_| AtomicU64::new(0)).collect();
        Self { stop: AtomicBool::new(false), fields: AtomicU8::new(0b11), tallies, batches }
    }

    /// Ends all threads, each after the packets that have arrived, and 100 ms later at the latest.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Sets the fields by which next hops divide the traffic; [`FlowFields::default`] at first.
    pub fn set_flow_fields(&self, FlowFields { ipv4_ports, ipv6_ports }: FlowFields) {
        let fields = u8::from(ipv4_ports) | u8::from(ipv6_ports) << 1;
        self.fields.store(fields, Ordering::Relaxed);
    }

    fn flow_fields(&self) -> FlowFields {
        let fields = self.fields.load(Ordering::Relaxed);
        FlowFields { ipv4_ports: fields & 1 != 0, ipv6_ports: fields & 2 != 0 }
    }

    /// Whether the threads end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The batches of each thread, some batches old; empty ones are included. A thread whose number stays the same for a
    /// second stands still.
    pub fn batches(&self) -> Vec<u64> {
        self.batches.iter().map(|batches| batches.load(Ordering::Relaxed)).collect()
    }

    /// The counts of all threads together, some batches old.
    pub fn tally(&self) -> PacketCounts {
        let mut sum = PacketCounts::default();
        for tally in &self.tallies {
            sum.add(&tally.lock().unwrap_or_else(PoisonError::into_inner));
        }
        sum
    }
}

/// Forwards until the input is exhausted, `control` says stop, or the queues fail.
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
    let mut forwarder = Forwarder::new(table, ports, batch).thread(thread);
    let result = forward_all(&mut forwarder, io, control, thread);
    forwarder.count_missed(io);
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
    let mut batches = 0_u64;
    let mut end = None;
    loop {
        let is_stopped = control.is_stopped();
        if is_stopped && Instant::now() > *end.get_or_insert_with(|| Instant::now() + LAST) {
            break;
        }
        forwarder.set_flow_fields(control.flow_fields());
        let received = forwarder.forward(io)?;
        batches += 1;
        if received == 0 || batches.is_multiple_of(PUBLISH) {
            control.batches[thread].store(batches, Ordering::Relaxed);
            forwarder.count_missed(io);
            // The watching thread holds the lock for a moment only, and the next time is soon.
            if let Ok(mut tally) = control.tallies[thread].try_lock() {
                tally.clone_from(forwarder.tally());
            }
        }
        if received == 0 {
            if is_stopped || io.is_ended() {
                break;
            }
            io.wait(WAIT)?;
        }
    }
    Ok(())
}
