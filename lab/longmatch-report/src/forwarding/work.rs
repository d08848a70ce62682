//! Timed forwarding: passes of packets, and times of single batches.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use longmatch_bench::ticks::{Counter, ticks};
use longmatch_bench::{Done, Part, TimedWork, pin};
use longmatch_forward::io::{Generated, GeneratedFrames, Null, PacketIo};
use longmatch_forward::{Forwarder, Port};

use super::table::{Compiled, PORTS};
use crate::distribution::Ticks;

/// The least number of packets in a pass. Tests forward without optimisation, and need no rates.
const LEAST: usize = if cfg!(test) { 1 << 10 } else { 1 << 14 };
/// Packets that warm up the memory of frames before the clock starts.
const WARM_UP: usize = 1 << 10;

/// Packet I/O for each thread, with the same list of packets.
pub(crate) trait FrameSource: Sync {
    /// The packet I/O.
    type Io: PacketIo;

    /// Returns packet I/O that starts at this place of the list.
    ///
    /// # Errors
    /// If it cannot be made.
    fn frames(&self, start: usize) -> io::Result<Self::Io>;

    /// Returns the length of the list.
    fn destinations(&self) -> usize;
}

/// Packets that are generated just before they are forwarded, into nothing.
impl FrameSource for GeneratedFrames {
    type Io = Generated<Null>;

    fn frames(&self, start: usize) -> io::Result<Self::Io> {
        let frames = self.clone().starting_at(start);
        Ok(Generated::new(Null::new(PORTS, frames.frame_len() as u16), frames))
    }

    fn destinations(&self) -> usize {
        self.destinations()
    }
}

/// Batches of packets that are forwarded with one table.
pub(crate) struct Batches<'a, S> {
    /// The table.
    pub compiled: &'a Compiled,
    pub ports: &'a [Arc<Port>],
    /// The packets.
    pub source: &'a S,
    /// Packets in a batch.
    pub batch: usize,
}

impl<S: FrameSource> Batches<'_, S> {
    /// Returns the ticks of `count` batches, each from its reception to its dispatch.
    ///
    /// # Errors
    /// If the packet I/O fails.
    pub fn ticks(&self, count: usize) -> io::Result<Ticks<u64>> {
        pin::to(0);
        let counter = Counter::here();
        let timed = (|| {
            let mut io = self.source.frames(0)?;
            let mut reader = self.compiled.reader();
            let mut forwarder = Forwarder::new(&mut reader, self.ports, self.batch);
            let mut all = vec![0; count];
            // Brings the table into the caches.
            forward(&mut forwarder, &mut io, self.batch * count / 4)?;
            for took in &mut all {
                let mut result = Ok(0);
                *took = ticks((), |()| result = forwarder.forward(&mut io));
                result?;
            }
            Ok(all)
        })();
        pin::free();
        timed.map(|all| Ticks::new(counter, all))
    }
}

/// Passes of packets that are forwarded in batches.
pub(crate) struct ForwardedPackets<'a, S> {
    batches: Batches<'a, S>,
    /// Threads and passes, which share the list of packets.
    parts: (usize, usize),
    /// Packets of timed passes that were not forwarded.
    stopped: AtomicU64,
}

impl<'a, S: FrameSource> ForwardedPackets<'a, S> {
    /// Prepares batches for a number of threads and passes.
    pub fn new(batches: Batches<'a, S>, parts: (usize, usize)) -> Self {
        Self { batches, parts, stopped: AtomicU64::new(0) }
    }

    /// Returns the number of packets of all passes so far that were not forwarded.
    pub fn stopped(&self) -> u64 {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Forwards the packets of a part. Each part starts at a different place of the list.
    fn run(&self, part: Part) -> io::Result<Done> {
        let (threads, passes) = self.parts;
        let number = part.pass * threads + part.thread;
        let Batches { compiled, ports, source, batch } = &self.batches;
        let start = source.destinations() / (threads * passes).max(1) * number;
        let mut io = source.frames(start)?;
        let mut reader = compiled.reader();
        let mut forwarder = Forwarder::new(&mut reader, ports, *batch);
        forward(&mut forwarder, &mut io, WARM_UP)?;
        let begin = Instant::now();
        let units = forward(&mut forwarder, &mut io, part.units)?;
        let took = begin.elapsed();
        let tally = forwarder.tally();
        self.stopped.fetch_add(tally.received - tally.forwarded, Ordering::Relaxed);
        Ok(Done { units, took })
    }
}

/// Forwards at least this many packets and returns their number.
pub(super) fn forward(
    forwarder: &mut Forwarder<'_>,
    io: &mut impl PacketIo,
    packets: usize,
) -> io::Result<usize> {
    let mut units = 0;
    while units < packets {
        match forwarder.forward(io)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            some => units += some,
        }
    }
    Ok(units)
}

impl<S: FrameSource> TimedWork for ForwardedPackets<'_, S> {
    fn least_units(&self) -> usize {
        LEAST
    }

    fn warm_up(&self, part: Part) {
        self.time(Part { units: part.units / 8, ..part });
    }

    fn time(&self, part: Part) -> Done {
        self.run(part).unwrap_or_else(|_| {
            self.stopped.fetch_add(part.units as u64, Ordering::Relaxed);
            Done { units: 0, took: std::time::Duration::ZERO }
        })
    }
}
