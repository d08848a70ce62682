//! The queues of one thread, as [`PacketIo`].

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::socket_error;
use xdp::slab::Slab;
use xdp::{Packet, Umem};

use super::alive::Alive;
use super::queue::Queue;
use super::tun::Tun;
use crate::cause::{Cause, Disposition, Fate, PacketCounts};
use crate::io::{PacketIo, Received};
use crate::target::PortId;

/// The bytes of an Ethernet header.
const ETHERNET_BYTES: usize = 14;

/// The longest wait for frames.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// Frames between two waits from which on more are about to come.
const DENSE: usize = 4;

/// Pause before the wait for dense packets in copy mode, where every wait costs the sender a wake-up
/// and the thread some calls. It adds up to the kernel's timer slack of 50 µs, as an interrupt
/// moderation does, and single packets do not meet it.
const PAUSE: Duration = Duration::from_micros(20);

/// One thread's queues: one AF_XDP socket for each interface, and one memory area for all of them.
///
/// A frame that leaves by another interface is not copied by this process. The kernel copies it
/// twice, unless the interfaces are in zero-copy mode.
pub struct XdpIo {
    /// By port.
    queues: Vec<Queue>,
    batch: Batch,
    /// The port that is asked first for the next batch.
    next: usize,
    /// Frames received since the last wait.
    burst: usize,
    tun: Arc<Tun>,
    alive: Alive,
    /// After `queues` and `batch`: it has their frames.
    umem: Umem,
}

// SAFETY: only the frames of `batch` and of the queues are not `Send`, since they are pointers. They
// point into `umem`, which goes to the other thread with them, and no other value points there.
unsafe impl Send for XdpIo {}

impl XdpIo {
    /// The thread's queues, in the order of the ports. `umem` is the memory that they were opened
    /// with, and has frames for all of them and a batch.
    pub(super) fn new(
        queues: Vec<Queue>,
        batch: usize,
        tun: Arc<Tun>,
        alive: Alive,
        umem: Umem,
    ) -> Self {
        let batch = Batch { frames: Vec::with_capacity(batch), limit: 0, capacity: batch };
        Self { queues, batch, next: 0, burst: 0, tun, alive, umem }
    }

    /// Gives the kernel frames to receive into.
    pub(super) fn refill(&mut self) -> io::Result<()> {
        for queue in &mut self.queues {
            // SAFETY: the queues were opened with this memory, which is dropped after them.
            unsafe { queue.refill(&mut self.umem) }?;
        }
        Ok(())
    }

    /// Receives from one port.
    fn receive_from(&mut self, port: usize) -> io::Result<usize> {
        let queue = &mut self.queues[port];
        // SAFETY: the queue was opened with this memory, which is dropped after it and the batch.
        let received = unsafe { queue.receive(&self.umem, &mut self.batch) };
        // At once, so that the kernel has memory for a full ring while the batch is handled.
        // SAFETY: as for the reception.
        unsafe { queue.refill(&mut self.umem) }?;
        Ok(received)
    }

    /// Sends a frame on its way, and returns the cause if it is stopped after all.
    fn consume(&mut self, mut frame: Packet, fate: Option<&Fate>) -> io::Result<Option<Cause>> {
        let mut changed = Ok(None);
        match fate {
            Some(&Fate::Transmit { port, len }) => match self.transmit(frame, port, len.into()) {
                Ok(()) => return Ok(None),
                Err((back, cause)) => {
                    frame = back;
                    changed = Ok(Some(cause));
                }
            },
            Some(Fate::Stop(cause)) if cause.outcome() == Disposition::Kernel => {
                changed = match frame.get(ETHERNET_BYTES..) {
                    Some(packet) if is_ip(&frame) => {
                        self.tun.send(packet).map(|sent| (!sent).then_some(Cause::KernelFull))
                    }
                    // The device takes nothing else.
                    _ => Ok(Some(Cause::KernelFull)),
                };
            }
            Some(Fate::Stop(_)) | None => {}
        }
        self.umem.free_packet(frame);
        changed
    }

    /// Queues the first `len` bytes of a frame for a port, or returns the frame and the reason.
    fn transmit(
        &mut self,
        mut frame: Packet,
        port: PortId,
        len: usize,
    ) -> Result<(), (Packet, Cause)> {
        // The kernel would keep a frame of no bytes for ever.
        if len < ETHERNET_BYTES || len > frame.len() {
            return Err((frame, Cause::Truncated));
        }
        // Both are less than 65,536.
        let excess = (frame.len() - len) as i32;
        if frame.adjust_tail(-excess).is_err() {
            return Err((frame, Cause::Truncated));
        }
        let Some(queue) = self.queues.get_mut(port.index()) else {
            return Err((frame, Cause::TransmitFull));
        };
        queue.push(frame).map_or(Ok(()), |frame| Err((frame, Cause::TransmitFull)))
    }
}

/// Whether a frame has an IP packet.
fn is_ip(frame: &[u8]) -> bool {
    matches!(frame.get(12..14), Some([0x08, 0x00] | [0x86, 0xdd]))
}

impl PacketIo for XdpIo {
    fn receive(&mut self, max: usize) -> io::Result<Received> {
        self.alive.renew();
        // Frames that the caller did not dispatch.
        for frame in self.batch.frames.drain(..) {
            self.umem.free_packet(frame);
        }
        self.batch.limit = max.min(self.batch.capacity);
        let ports = self.queues.len();
        for turn in 0..ports {
            let port = (self.next + turn) % ports;
            let len = self.receive_from(port)?;
            if len > 0 {
                self.next = (port + 1) % ports;
                self.burst += len;
                return Ok(Received { port: PortId(port as u16), len });
            }
        }
        // There is time for the frames that the devices did not take at first.
        self.queues.iter_mut().try_for_each(Queue::drain)?;
        Ok(Received { port: PortId(self.next as u16), len: 0 })
    }

    fn frame(&mut self, place: usize) -> &mut [u8] {
        &mut self.batch.frames[place]
    }

    fn dispatch(&mut self, fates: &[Fate], tally: &mut PacketCounts) -> io::Result<()> {
        for queue in &mut self.queues {
            queue.reap(&mut self.umem);
        }
        let mut result = Ok(());
        // Every frame is consumed, even after an error: a lost frame would never be received into
        // again.
        let mut frames = std::mem::take(&mut self.batch.frames);
        for (place, frame) in frames.drain(..).enumerate() {
            let (fate, bytes) = (fates.get(place), frame.len());
            match (self.consume(frame, fate), fate) {
                (Ok(Some(cause)), Some(&fate)) => tally.recount(fate, bytes, cause),
                (Ok(_), _) => {}
                (Err(error), _) => result = Err(error),
            }
        }
        self.batch.frames = frames;
        for queue in &mut self.queues {
            // SAFETY: the queues were opened with this memory, which is dropped after them, and the
            // frames came from the batch.
            let flushed = unsafe { queue.flush() };
            result = result.and(flushed);
        }
        result
    }

    fn missed(&self, port: PortId) -> u64 {
        self.queues.get(port.index()).and_then(|queue| queue.missed().ok()).unwrap_or(0)
    }

    fn wait(&mut self, timeout: Duration) -> io::Result<()> {
        self.queues.iter_mut().try_for_each(Queue::drain)?;
        self.refill()?;
        let dense = std::mem::take(&mut self.burst) >= DENSE;
        if dense && !self.queues.iter().any(Queue::is_zero_copy) {
            thread::sleep(PAUSE);
        }
        let new = |queue| PollFd::from_borrowed_fd(Queue::descriptor(queue), PollFlags::IN);
        let mut polled: Vec<_> = self.queues.iter().map(new).collect();
        // The next call of `receive` must come before the thread counts as dead.
        let timeout = Timespec::try_from(timeout.min(LONGEST_WAIT)).ok();
        match poll(&mut polled, timeout.as_ref()) {
            Err(error) if error != Errno::INTR => return Err(error.into()),
            _ => {}
        }
        for (polled, queue) in polled.iter().zip(&self.queues) {
            if polled.revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
                // Such as the end of the interface.
                socket_error(queue.descriptor())??;
            }
        }
        Ok(())
    }
}

/// Received frames.
struct Batch {
    frames: Vec<Packet>,
    /// Frames that the caller wants.
    limit: usize,
    /// Frames for which there is memory.
    capacity: usize,
}

/// For the receive ring, which pushes frames in the order of their arrival.
impl Slab for Batch {
    fn available(&self) -> usize {
        self.limit.saturating_sub(self.frames.len())
    }

    fn len(&self) -> usize {
        self.frames.len()
    }

    fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    fn push_front(&mut self, frame: Packet) -> Option<Packet> {
        self.frames.push(frame);
        None
    }

    fn pop_back(&mut self) -> Option<Packet> {
        self.frames.pop()
    }
}
