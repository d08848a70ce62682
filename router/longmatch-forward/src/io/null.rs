//! Packet I/O without packets: the cost of everything else.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::cause::{Fate, PacketCounts};
use crate::io::{PacketIo, Received};
use crate::target::{Mac, Port, PortId};

/// Frames in the pool: a batch is at most this long.
const POOL: usize = 512;

/// The alignment of a frame, so that no frame of up to 64 bytes lies in two cache lines.
const LINE: usize = 64;

/// Ports that always have frames and take every frame: the counterpart of DPDK's `net_null`.
///
/// The frames are a pool of 512 that is used again and again, at first filled with zeros; a frame
/// keeps what was written into it. A batch comes from each port in turn and is as long as it may
/// be. [`Generated`](crate::io::Generated) turns the frames into IP packets.
///
/// ```
/// use longmatch_forward::io::{Null, PacketIo};
/// use longmatch_forward::{Cause, Fate, PacketCounts};
///
/// let mut io = Null::new(2, 60);
/// let batch = io.receive(32)?;
/// assert_eq!((batch.len, io.frame(0).len()), (32, 60));
/// let (fates, mut tally) = ([Fate::Stop(Cause::NotIp); 32], PacketCounts::default());
/// fates.iter().for_each(|&fate| tally.count(batch.port, 60, fate));
/// io.dispatch(&fates, &mut tally)?;
/// assert_eq!(io.receive(32)?.port.index(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Null {
    ports: u16,
    /// The port of the next batch.
    next_port: u16,
    frame_len: usize,
    /// The pool, from `start` on.
    bytes: Box<[u8]>,
    /// The first byte at the start of a cache line.
    start: usize,
    /// Bytes from one frame to the next: whole cache lines.
    stride: usize,
    /// The place in the pool of the batch's first frame.
    first: usize,
    /// Frames of the batch.
    len: usize,
}

impl Null {
    /// Packet I/O of this many ports, with frames of `frame_len` bytes.
    pub fn new(ports: u16, frame_len: u16) -> Self {
        let frame_len = usize::from(frame_len);
        let stride = frame_len.next_multiple_of(LINE);
        let bytes: Box<[u8]> = vec![0; stride * POOL + LINE].into();
        // If the address were unknown, the frames would only be slower.
        let start = bytes.as_ptr().align_offset(LINE).min(LINE);
        Self { ports, next_port: 0, frame_len, bytes, start, stride, first: 0, len: 0 }
    }

    /// Descriptions of this many ports: `null0` and so on, with the MAC addresses 02:00:00:00:00:00
    /// and so on and an MTU of 1500 bytes.
    pub fn ports(ports: u16) -> Vec<Arc<Port>> {
        let port = |id: u16| {
            let [high, low] = id.to_be_bytes();
            let mac = Mac([2, 0, 0, 0, high, low]);
            Arc::new(Port::new(PortId(id), format!("null{id}"), 0, mac, 1500))
        };
        (0..ports).map(port).collect()
    }
}

impl PacketIo for Null {
    #[inline]
    fn receive(&mut self, max: usize) -> io::Result<Received> {
        // The batch does not wrap around the end of the pool, so that `frame` need not divide.
        let end = self.first + self.len;
        let len = if self.ports == 0 { 0 } else { max.min(POOL) };
        self.first = if end + len <= POOL { end } else { 0 };
        self.len = len;
        let port = PortId(self.next_port);
        self.next_port = if self.next_port + 1 < self.ports { self.next_port + 1 } else { 0 };
        Ok(Received { port, len })
    }

    #[inline]
    fn frame(&mut self, place: usize) -> &mut [u8] {
        assert!(place < self.len, "the batch has {} frames, not {place} and one more", self.len);
        let start = self.start + (self.first + place) * self.stride;
        &mut self.bytes[start..start + self.frame_len]
    }

    #[inline]
    fn dispatch(&mut self, _: &[Fate], _: &mut PacketCounts) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn wait(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_take_turns_among_ports_and_the_pool() {
        let mut io = Null::new(3, 100);
        let mut starts = Vec::new();
        for turn in 0..40 {
            let batch = io.receive(100).unwrap();
            assert_eq!(batch, Received { port: PortId(turn % 3), len: 100 });
            starts.push(io.frame(0).as_ptr() as usize);
            let (first, last) = (io.frame(0).as_ptr() as usize, io.frame(99).as_ptr() as usize);
            assert_eq!((first % 64, last - first), (0, 99 * 128));
            assert_eq!(io.frame(99).len(), 100);
        }
        starts.sort_unstable();
        starts.dedup();
        assert_eq!(starts.len(), 5, "five batches of 100 fit into 512 frames");
    }

    #[test]
    fn a_batch_is_never_longer_than_the_pool() {
        let mut io = Null::new(1, 60);
        assert_eq!(io.receive(usize::MAX).unwrap().len, POOL);
        assert_eq!(io.frame(POOL - 1).len(), 60);
        assert_eq!(io.receive(0).unwrap().len, 0);
        assert_eq!(io.receive(POOL).unwrap().len, POOL);
    }

    #[test]
    fn no_ports_and_empty_frames_are_harmless() {
        let mut io = Null::new(0, 60);
        assert_eq!(io.receive(32).unwrap().len, 0);
        assert!(Null::ports(0).is_empty());
        let mut io = Null::new(1, 0);
        assert_eq!(io.receive(32).unwrap().len, 32);
        assert!(io.frame(31).is_empty());
    }

    #[test]
    #[should_panic(expected = "the batch has 2 frames")]
    fn a_frame_after_the_batch_is_refused() {
        let mut io = Null::new(1, 60);
        io.receive(2).unwrap();
        io.frame(2);
    }
}
