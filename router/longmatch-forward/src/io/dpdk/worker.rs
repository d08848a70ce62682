//! A worker's queues of all ports.

use std::io;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

use super::devices::Devices;
use super::ffi::{self, Mbuf, Mempool};
use super::thread;
use crate::cause::{Cause, Disposition, Fate, PacketCounts};
use crate::io::{PacketIo, Received};
use crate::target::PortId;

/// Frames in a batch, at most.
const MAX_BATCH: u16 = 512;

/// Batches from one look for the kernel's packets to the next, while there are packets: a look may
/// be a system call.
const RELAY: u32 = 64;

/// The kernel's packets of one look, at most.
const RELAY_BATCH: u16 = 64;

/// One worker's queues of all ports; made by [`Dpdk::workers`](super::Dpdk::workers).
///
/// A batch has at most 512 frames. A frame is at most 2048 bytes: longer ones, which drivers
/// receive in several buffers, are dropped and counted by [`oversized`](Self::oversized).
///
/// Packets for the kernel go to it if [`DpdkOptions::kernel`](super::DpdkOptions::kernel) says how,
/// and the kernel's own packets leave by the port. Otherwise they are dropped, and stay counted by
/// their causes.
pub struct DpdkIo {
    devices: Arc<Devices>,
    /// The queue of each port that is this worker's.
    queue: u16,
    pool: NonNull<Mempool>,
    /// The port that is asked first.
    next_port: usize,
    /// Batches until the kernel's packets are looked for.
    until_relay: u32,
    /// The port of the batch.
    port: usize,
    /// The batch: `held` frames. All three have `MAX_BATCH` places.
    held: usize,
    buffers: Box<[*mut Mbuf]>,
    bytes: Box<[*mut u8]>,
    lengths: Box<[u16]>,
    /// Frames of the batch to send, by place in the list of devices.
    transmit: Box<[Staged]>,
    /// The causes of the batch's frames for the kernel.
    causes: Vec<Cause>,
    /// Buffers of the batch to free.
    free: Vec<*mut Mbuf>,
    oversized: u64,
}

/// Frames of a batch for one device.
struct Staged {
    buffers: Vec<*mut Mbuf>,
    /// As many as `buffers`.
    lengths: Vec<u16>,
}

impl Staged {
    fn push(&mut self, buffer: *mut Mbuf, len: u16) {
        self.buffers.push(buffer);
        self.lengths.push(len);
    }
}

// SAFETY: buffers may be used by any thread, one at a time, and `DpdkIo` owns those that it points
// to; queues too, and each belongs to one `DpdkIo`.
unsafe impl Send for DpdkIo {}

impl DpdkIo {
    /// The worker of this queue, which must be no other's, with the queue's pool.
    pub(super) fn new(devices: Arc<Devices>, queue: u16, pool: NonNull<Mempool>) -> Self {
        let max = usize::from(MAX_BATCH);
        let staged =
            || Staged { buffers: Vec::with_capacity(max), lengths: Vec::with_capacity(max) };
        Self {
            transmit: devices.list.iter().map(|_| staged()).collect(),
            devices,
            queue,
            pool,
            next_port: 0,
            until_relay: 0,
            port: 0,
            held: 0,
            buffers: vec![ptr::null_mut(); max].into(),
            bytes: vec![ptr::null_mut(); max].into(),
            lengths: vec![0; max].into(),
            causes: Vec::with_capacity(max),
            free: Vec::with_capacity(max),
            oversized: 0,
        }
    }

    /// Received frames that were dropped since they did not fit into one buffer.
    pub fn oversized(&self) -> u64 {
        self.oversized
    }

    /// Receives frames of the device at this place of the list.
    fn receive_from(&mut self, place: usize, max: u16) -> usize {
        let device = &self.devices.list[place];
        if self.queue >= device.rx_queues {
            return 0;
        }
        // SAFETY: the port is started and has this queue, which only this worker reads, under
        // `&mut self`; the pool lives as long as `devices`; the arrays have `MAX_BATCH >= max`
        // places and hold no buffer (`held` is 0).
        let received = unsafe {
            ffi::lm_dpdk_receive(
                device.id,
                self.queue,
                self.pool.as_ptr(),
                self.buffers.as_mut_ptr(),
                self.bytes.as_mut_ptr(),
                self.lengths.as_mut_ptr(),
                max,
                &mut self.oversized,
            )
        };
        usize::from(received)
    }

    /// Sends the frames staged for the device at this place of the list; returns how many frames, the
    /// first ones, found a place in its queue. The caller removes the lengths.
    fn transmit(&mut self, place: usize) -> usize {
        let (device, staged) = (&self.devices.list[place], &mut self.transmit[place]);
        // At most `MAX_BATCH`, since each received frame is staged once.
        let count = staged.buffers.len().min(staged.lengths.len()) as u16;
        // SAFETY: the port is started and has this queue, which only this worker writes; `count`
        // buffers and lengths are staged, each buffer once and of the worker's pool, and no length is
        // above the received one.
        let sent = unsafe {
            ffi::lm_dpdk_transmit(
                device.id,
                self.queue,
                staged.buffers.as_mut_ptr(),
                staged.lengths.as_ptr(),
                count,
            )
        };
        // The shim has freed the others.
        staged.buffers.clear();
        sent.min(count).into()
    }

    /// Sends the kernel's packets, if any, by the ports to which they belong.
    #[cold]
    fn relay(&mut self) {
        self.until_relay = RELAY;
        for place in self.devices.ports..self.devices.list.len() {
            let len = self.receive_from(place, RELAY_BATCH);
            let staged = &mut self.transmit[place - self.devices.ports];
            staged.buffers.extend_from_slice(&self.buffers[..len]);
            staged.lengths.extend_from_slice(&self.lengths[..len]);
            // Packets that find no place are lost, as the kernel expects of an interface.
            self.transmit(place - self.devices.ports);
            self.transmit[place - self.devices.ports].lengths.clear();
        }
    }

    /// Sends the frames staged for the kernel, of the batch's port.
    fn transmit_to_kernel(&mut self, tally: &mut PacketCounts) {
        let place = self.devices.ports + self.port;
        let sent = self.transmit(place);
        let staged = self.causes.drain(..).zip(self.transmit[place].lengths.drain(..));
        for (cause, len) in staged.skip(sent) {
            tally.recount(Fate::Stop(cause), len.into(), Cause::KernelFull);
        }
    }

    /// Frees the frames staged for it.
    fn free(&mut self) {
        if !self.free.is_empty() {
            // SAFETY: the worker owns these buffers, each is there once, and they are at most
            // `MAX_BATCH`, since each frame of the batch is staged once.
            unsafe { ffi::lm_dpdk_free(self.free.as_mut_ptr(), self.free.len() as u16) };
            self.free.clear();
        }
    }

    /// Frees the frames of a batch that was not dispatched.
    fn release(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.free.extend_from_slice(&self.buffers[..held]);
        self.free();
    }
}

impl PacketIo for DpdkIo {
    #[inline]
    fn receive(&mut self, max: usize) -> io::Result<Received> {
        thread::register();
        self.release();
        if self.until_relay == 0 {
            self.relay();
        }
        self.until_relay -= 1;
        let max = max.min(usize::from(MAX_BATCH)) as u16;
        let ports = self.devices.ports;
        let mut place = self.next_port;
        for _ in 0..ports {
            place = self.next_port;
            self.next_port = if place + 1 < ports { place + 1 } else { 0 };
            self.held = self.receive_from(place, max);
            if self.held > 0 {
                break;
            }
        }
        if self.held == 0 {
            // There is time to look for the kernel's packets.
            self.until_relay = 0;
        }
        self.port = place;
        Ok(Received { port: PortId(place as u16), len: self.held })
    }

    #[inline]
    fn frame(&mut self, place: usize) -> &mut [u8] {
        let bytes = self.bytes[..self.held][place];
        let len = usize::from(self.lengths[place]);
        // SAFETY: `place < held`, so that the shim wrote `bytes` and `len`: the initialised bytes of
        // one buffer (its pool is memory that the kernel filled with zeros) that nothing else refers
        // to, and that this worker owns until `held` is 0. The borrow of `self` lasts as long.
        unsafe { std::slice::from_raw_parts_mut(bytes, len) }
    }

    #[inline]
    fn dispatch(&mut self, fates: &[Fate], tally: &mut PacketCounts) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let (ports, kernel) = self.transmit.split_at_mut(self.devices.ports);
        let mut kernel = kernel.get_mut(self.port);
        for (place, (&buffer, &received)) in
            self.buffers[..held].iter().zip(&self.lengths[..held]).enumerate()
        {
            match fates.get(place) {
                Some(&fate @ Fate::Transmit { port, len }) => {
                    if let Some(staged) = ports.get_mut(port.index()) {
                        staged.push(buffer, len.min(received));
                    } else {
                        tally.recount(fate, received.into(), Cause::TransmitFull);
                        self.free.push(buffer);
                    }
                }
                Some(Fate::Stop(cause)) if cause.outcome() == Disposition::Kernel => {
                    if let Some(staged) = &mut kernel {
                        staged.push(buffer, received);
                        self.causes.push(*cause);
                    } else {
                        self.free.push(buffer);
                    }
                }
                Some(Fate::Stop(_)) | None => self.free.push(buffer),
            }
        }
        self.free();
        if !self.causes.is_empty() {
            self.transmit_to_kernel(tally);
        }
        for place in 0..self.devices.ports {
            if self.transmit[place].buffers.is_empty() {
                continue;
            }
            let (port, sent) = (PortId(place as u16), self.transmit(place));
            for len in self.transmit[place].lengths.drain(..).skip(sent) {
                tally.recount(Fate::Transmit { port, len }, 0, Cause::TransmitFull);
            }
        }
        Ok(())
    }

    /// Lets other threads run, and returns: DPDK polls.
    ///
    /// Most of its drivers have no means to wait, and a queue can be full before a sleeping thread
    /// wakes up.
    fn wait(&mut self, _: Duration) -> io::Result<()> {
        std::thread::yield_now();
        Ok(())
    }
}

impl Drop for DpdkIo {
    fn drop(&mut self) {
        self.release();
    }
}

impl std::fmt::Debug for DpdkIo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DpdkIo")
            .field("queue", &self.queue)
            .field("held", &self.held)
            .field("oversized", &self.oversized)
            .finish_non_exhaustive()
    }
}
