//! Reception and transmission of frames.

#[cfg(feature = "dpdk")]
pub mod dpdk;
mod generated;
mod null;
pub mod pcap;
// The crate `xdp`, which it uses, compiles for no other Linux.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub mod xdp;

use std::io;
use std::time::Duration;

pub use generated::{Generated, GeneratedFrames, SOURCE_V4, SOURCE_V6};
pub use null::Null;

use crate::cause::{Fate, PacketCounts};
use crate::target::PortId;

/// One thread's queues of all ports.
///
/// A batch is received from one port, its frames are read and rewritten in place, and then all leave
/// at once:
///
/// 1. [`receive`](Self::receive) takes up to `max` frames from the next port that has some.
/// 2. [`frame`](Self::frame) lends each of them.
/// 3. [`dispatch`](Self::dispatch) consumes them all, each by its fate.
pub trait PacketIo {
    /// Receives up to `max` frames of one port, without waiting. The number may be 0.
    ///
    /// # Errors
    /// If a queue cannot be read any more.
    fn receive(&mut self, max: usize) -> io::Result<Received>;

    /// The bytes of a received frame, from its Ethernet header on.
    ///
    /// # Panics
    /// If the last batch had no such frame.
    fn frame(&mut self, place: usize) -> &mut [u8];

    /// Transmits each frame of the batch, hands it to the kernel or drops it.
    ///
    /// There is a fate for each frame. A frame for which a queue has no space is dropped and counted
    /// again, by [`PacketCounts::recount`].
    ///
    /// # Errors
    /// If a queue cannot be written any more.
    fn dispatch(&mut self, fates: &[Fate], tally: &mut PacketCounts) -> io::Result<()>;

    /// Waits until a frame may be there, for `timeout` at most.
    ///
    /// # Errors
    /// If the queues cannot be waited for.
    fn wait(&mut self, timeout: Duration) -> io::Result<()>;

    /// Frames that arrived at a port and were dropped, since the thread did not receive them in time.
    fn missed(&self, _port: PortId) -> u64 {
        0
    }

    /// Whether the input is exhausted.
    fn is_ended(&self) -> bool {
        false
    }
}

/// A batch of received frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// The port that they came from.
    pub port: PortId,
    /// Their number.
    pub len: usize,
}
