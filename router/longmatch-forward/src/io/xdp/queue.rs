//! One queue of one interface: an AF_XDP socket with its four rings.
//!
//! The frames of a thread are in one memory area, and so are those of all its queues. A frame has one
//! owner at any time:
//!
//! ```text
//! free list (Umem) -> fill ring -> kernel -> receive ring -> batch -> transmit ring -> kernel
//!         ^                                                    |                         |
//!         +-------------------- dropped, or for the kernel ----+      completion ring ---+
//! ```
//!
//! A queue never has more than `ring` frames on the way to the receive ring, and never more than
//! `ring` on the way to the completion ring, where `ring` is the size of these rings. So no ring is
//! ever too full for the kernel, and the free list never runs out with as many frames as
//! [`Queue::FRAMES_PER_SLOT`] asks for and one batch more.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::sockopt::{xdp_mmap_offsets, xdp_options, xdp_statistics};
use rustix::net::xdp::XdpOptionsFlags;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use xdp::nic::NicIndex;
use xdp::slab::{HeapSlab, Slab};
use xdp::socket::{SocketError, XdpSocket, XdpSocketBuilder};
use xdp::{
    CompletionRing, Packet, RingConfigBuilder, RxRing, Umem, WakableFillRing, WakableTxRing,
};

/// Frames that one system call transmits at most, in copy mode (`TX_BATCH_SIZE` of the kernel).
const FRAMES_PER_CALL: usize = 32;

/// The socket of a queue.
pub(super) struct Queue {
    fill: WakableFillRing,
    arrivals: RxRing,
    transmit: WakableTxRing,
    completions: CompletionRing,
    /// Frames for the transmit ring.
    pending: HeapSlab,
    /// `None` in copy mode, where the kernel fills frames by itself and transmits on request.
    wakeup: Option<Wakeup>,
    /// After the rings, which are mappings of it.
    socket: XdpSocket,
    /// Entries of each ring.
    ring: usize,
    /// Frames in the fill ring, the kernel and the receive ring.
    filled: usize,
    /// Frames in the transmit ring, the kernel and the completion ring.
    sending: usize,
    /// Whether the kernel may have left frames in the transmit ring.
    unsent: bool,
}

impl Queue {
    /// Frames of memory for each slot of a ring: one to receive and one to transmit.
    pub(super) const FRAMES_PER_SLOT: usize = 2;

    /// Opens a socket whose frames are in `umem`, and binds it to a queue of an interface.
    pub(super) fn open(
        umem: &Umem,
        (interface, queue): (u32, u32),
        ring: u32,
        zero_copy: bool,
    ) -> io::Result<Self> {
        let mut builder = XdpSocketBuilder::new().map_err(os_error)?;
        let config = RingConfigBuilder {
            rx_count: ring,
            tx_count: ring,
            fill_count: ring,
            completion_count: ring,
        };
        let config = config.build().map_err(io::Error::other)?;
        // Every socket registers the memory again. The kernel pins the pages again, and has a
        // table of them for each socket; an address means the same frame in each.
        let (rings, mut flags) = builder.build_wakable_rings(umem, config).map_err(os_error)?;
        if !zero_copy {
            flags.force_copy();
        }
        let socket = builder.bind(NicIndex(interface), queue, flags).map_err(os_error)?;
        let (Some(arrivals), Some(transmit)) = (rings.rx_ring, rings.tx_ring) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let ring = ring as usize;
        let mut queue = Self {
            fill: rings.fill_ring,
            arrivals,
            transmit,
            completions: rings.completion_ring,
            pending: HeapSlab::with_capacity(ring),
            wakeup: None,
            socket,
            ring,
            filled: 0,
            sending: 0,
            unsent: false,
        };
        if xdp_options(queue.descriptor())?.contains(XdpOptionsFlags::XDP_OPTIONS_ZEROCOPY) {
            queue.wakeup = Some(Wakeup::map(queue.descriptor())?);
        }
        Ok(queue)
    }

    /// Whether the device reads and writes the frames itself.
    pub(super) fn is_zero_copy(&self) -> bool {
        self.wakeup.is_some()
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        // SAFETY: the socket owns the descriptor, and is borrowed as long as the result.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }

    /// Frames that the kernel had for the queue and dropped, as the receive ring was full.
    pub(super) fn missed(&self) -> io::Result<u64> {
        let statistics = xdp_statistics(self.descriptor())?;
        Ok(statistics.rx_dropped.saturating_add(statistics.rx_ring_full.unwrap_or(0)))
    }

    /// Takes back transmitted frames, and gives the kernel frames to receive into.
    ///
    /// # Safety
    /// `umem` is the one that the socket was opened with, and lives as long as the socket is used.
    pub(super) unsafe fn refill(&mut self, umem: &mut Umem) -> io::Result<()> {
        self.reap(umem);
        let missing = self.ring - self.filled;
        if missing == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        self.filled += unsafe { self.fill.enqueue(umem, missing, false) }?;
        if self.wakeup.as_ref().is_some_and(|wakeup| wakeup.fill.is_set()) {
            let mut nothing = [0_u8; 0];
            match recv(self.descriptor(), &mut nothing[..], RecvFlags::DONTWAIT) {
                Err(error) if !is_temporary(error) => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes back the memory of frames that were transmitted. `umem` is the one that the socket was
    /// opened with.
    pub(super) fn reap(&mut self, umem: &mut Umem) {
        if self.sending > 0 {
            self.sending -= self.completions.dequeue(umem, self.sending);
        }
    }

    /// Receives as many frames as the batch has room for.
    ///
    /// # Safety
    /// `umem` is the one that the socket was opened with, and lives as long as the batch has frames.
    pub(super) unsafe fn receive(&mut self, umem: &Umem, batch: &mut impl Slab) -> usize {
        // SAFETY: the caller's promise.
        let received = unsafe { self.arrivals.recv(umem, batch) };
        self.filled -= received;
        received
    }

    /// Queues a frame for [`flush`](Self::flush), or returns it if the transmit ring is full.
    pub(super) fn push(&mut self, packet: Packet) -> Option<Packet> {
        if self.sending + self.pending.len() >= self.ring {
            // There may be nothing new to flush, but the device may be able to go on.
            self.unsent = true;
            return Some(packet);
        }
        self.pending.push_front(packet)
    }

    /// Moves the queued frames to the transmit ring, and has the kernel transmit them.
    ///
    /// # Safety
    /// The frames are of the memory that the socket was opened with, which lives as long as the
    /// socket is used.
    pub(super) unsafe fn flush(&mut self) -> io::Result<()> {
        let new = self.pending.len();
        if new == 0 && !self.unsent {
            return Ok(());
        }
        // There is room for all: `push` leaves at most `ring` frames without their completion.
        // SAFETY: the caller's promise.
        self.sending += unsafe { self.transmit.send(&mut self.pending, false) }?;
        self.unsent = true;
        // Once more than these need, so that a backlog shrinks.
        self.kick(new.div_ceil(FRAMES_PER_CALL) + 1)
    }

    /// Has the kernel transmit all that is in the transmit ring.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        self.kick(self.sending.div_ceil(FRAMES_PER_CALL))
    }

    /// Calls the kernel to transmit, until the ring is empty or `calls` are made; not at all if it
    /// has nothing to do.
    fn kick(&mut self, calls: usize) -> io::Result<()> {
        if !self.wakeup.as_ref().map_or(self.unsent, |wakeup| wakeup.transmit.is_set()) {
            return Ok(());
        }
        for _ in 0..calls {
            match send(self.descriptor(), &[], SendFlags::DONTWAIT) {
                // In copy mode, the ring is empty.
                Ok(_) => {
                    self.unsent = false;
                    break;
                }
                // More frames than one call transmits, a full queue of the device, or a frame that
                // it dropped.
                Err(Errno::AGAIN | Errno::BUSY | Errno::INTR) => {}
                // No memory, or the interface is down: the frames wait for a later call.
                Err(error) if is_temporary(error) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Whether a call may succeed later.
fn is_temporary(error: Errno) -> bool {
    matches!(
        error,
        Errno::AGAIN | Errno::BUSY | Errno::INTR | Errno::NOBUFS | Errno::NOMEM | Errno::NETDOWN
    )
}

/// The kernel's error.
fn os_error(error: SocketError) -> io::Error {
    match error {
        SocketError::SocketCreation(inner) | SocketError::Bind(inner) => inner,
        SocketError::SetSockOpt { inner, .. }
        | SocketError::GetSockOpt { inner, .. }
        | SocketError::RingMap { inner, .. } => inner,
    }
}

/// Whether the kernel wants to be called, for each ring that we write.
///
/// The crate `xdp` does not show the flags of rings, so their first pages are mapped once more.
struct Wakeup {
    fill: Flags,
    transmit: Flags,
}

impl Wakeup {
    fn map(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let offsets = xdp_mmap_offsets(socket)?;
        let fill = Flags::map(socket, libc::XDP_UMEM_PGOFF_FILL_RING, offsets.fr.flags)?;
        let transmit = Flags::map(socket, libc::XDP_PGOFF_TX_RING as u64, offsets.tx.flags)?;
        Ok(Self { fill, transmit })
    }
}

/// The flags of a ring.
struct Flags {
    /// A mapping of `BYTES` bytes.
    page: NonNull<u8>,
    /// A multiple of 4, at most `BYTES - 4`.
    offset: usize,
}

impl Flags {
    /// Less than a page, which is the least that a mapping has.
    const BYTES: usize = 4096;

    fn map(socket: BorrowedFd<'_>, ring: u64, offset: Option<u64>) -> io::Result<Self> {
        let offset = offset.and_then(|offset| usize::try_from(offset).ok());
        let Some(offset) = offset.filter(|offset| offset % 4 == 0 && *offset <= Self::BYTES - 4)
        else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let anywhere = std::ptr::null_mut();
        let (protection, flags) = (ProtFlags::READ, MapFlags::SHARED);
        // SAFETY: the kernel chooses the address, so the mapping replaces no other.
        let page = unsafe { mmap(anywhere, Self::BYTES, protection, flags, socket, ring) }?;
        let page = NonNull::new(page.cast()).ok_or(io::ErrorKind::Unsupported)?;
        Ok(Self { page, offset })
    }

    fn is_set(&self) -> bool {
        // The kernel sets the flag, then looks once more for entries. So the entries must be stored
        // before the flag is read, or both sides wait for the other.
        fence(Ordering::SeqCst);
        // SAFETY: `offset` is less than `BYTES`, the length of the mapping.
        let flags = unsafe { self.page.add(self.offset) };
        // SAFETY: the mapping lives as long as `self`, the offset is a multiple of 4 and the page of
        // more, and the kernel changes the word in one piece.
        let flags = unsafe { AtomicU32::from_ptr(flags.as_ptr().cast()) };
        flags.load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

impl Drop for Flags {
    fn drop(&mut self) {
        // SAFETY: the mapping is `self`'s own, and nothing refers to it any more.
        let unmapped = unsafe { munmap(self.page.as_ptr().cast(), Self::BYTES) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A queue of the loopback device of a separate namespace, which is down; `None` without the right.
    fn loopback() -> Option<(Umem, Queue)> {
        // SAFETY: a system call without pointers.
        let unshared = unsafe { libc::unshare(libc::CLONE_NEWNET) };
        if unshared != 0 {
            let error = io::Error::last_os_error();
            let _ = writeln!(io::stderr(), "skipped: AF_XDP socket of a loopback: {error}");
            return None;
        }
        let configuration = xdp::umem::UmemCfgBuilder { frame_count: 96, ..Default::default() };
        let umem = Umem::map(configuration.build().unwrap()).unwrap();
        // A new namespace has one interface.
        let queue = Queue::open(&umem, (1, 0), 32, true).unwrap();
        Some((umem, queue))
    }

    /// The flags are in the mappings where the kernel says: in copy mode, it wants to be called for
    /// each transmission, and never for the fill ring.
    #[test]
    fn flags_of_rings_are_found() {
        let Some((mut umem, mut queue)) = loopback() else { return };
        assert!(!queue.is_zero_copy());
        // SAFETY: the queue was opened with this memory, which is dropped after it.
        unsafe { queue.refill(&mut umem) }.unwrap();
        assert_eq!((queue.filled, umem.allocatable()), (32, 64));
        let wakeup = Wakeup::map(queue.descriptor()).unwrap();
        assert!(wakeup.transmit.is_set());
        assert!(!wakeup.fill.is_set());
    }

    /// Frames that the kernel left in the ring are transmitted by a later call.
    #[test]
    fn frames_wait_for_the_interface() {
        let Some((mut umem, mut queue)) = loopback() else { return };
        // SAFETY: the frame goes to the queue, which is dropped before the memory.
        let mut frame = unsafe { umem.alloc() }.unwrap();
        frame.insert(0, &[0; 60]).unwrap();
        assert!(queue.push(frame).is_none());
        // SAFETY: as before.
        unsafe { queue.flush() }.unwrap();
        queue.reap(&mut umem);
        assert_eq!((queue.unsent, queue.sending), (true, 1));
        let up = std::process::Command::new("ip").args(["link", "set", "lo", "up"]).status();
        if !up.is_ok_and(|status| status.success()) {
            let _ = writeln!(io::stderr(), "skipped: AF_XDP frames that wait: no command ip");
            return;
        }
        queue.drain().unwrap();
        queue.reap(&mut umem);
        assert_eq!((queue.unsent, queue.sending, umem.allocatable()), (false, 0, 96));
    }
}
