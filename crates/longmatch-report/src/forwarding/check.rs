//! The check of forwarded packets.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use longmatch_bench::Oracle;
use longmatch_forward::io::{PacketIo, Received};
use longmatch_forward::packet::{ETHERNET_LEN, Parsed, parse};
use longmatch_forward::{Fate, Forwarder, Port, PortId, Tally};

use super::family::ForwardFamily;
use super::table::Compiled;
use super::work::FrameSource;

/// Returns the number of packets, of at least `packets` from the start of the source, that are not forwarded as the
/// routes say.
///
/// # Errors
/// If the packet I/O fails.
pub(crate) fn wrong<F: ForwardFamily, S: FrameSource>(
    compiled: &Compiled,
    ports: &[Arc<Port>],
    source: &S,
    destinations: &[F::Bits],
    oracle: &Oracle<F>,
    (batch, packets): (usize, usize),
) -> io::Result<u64> {
    let inner = source.frames(0)?;
    let mut io = Checked::<F, _> { inner, oracle, ports, destinations, next: 0, right: 0 };
    let mut reader = compiled.reader();
    let mut forwarder = Forwarder::new(&mut reader, ports, batch);
    let mut received = 0;
    while received < packets {
        match forwarder.forward(&mut io)? {
            0 => break,
            some => received += some,
        }
    }
    let all_forwarded = forwarder.tally().forwarded == received as u64;
    Ok(received.max(packets) as u64 - if all_forwarded { io.right } else { 0 })
}

/// Packet I/O that compares each frame with what the routes demand before it leaves.
struct Checked<'a, F: ForwardFamily, I> {
    inner: I,
    oracle: &'a Oracle<F>,
    ports: &'a [Arc<Port>],
    /// The destinations in the order of their packets, again and again.
    destinations: &'a [F::Bits],
    next: usize,
    /// Packets that left as the routes say.
    right: u64,
}

impl<F: ForwardFamily, I: PacketIo> Checked<'_, F, I> {
    fn is_right(&mut self, place: usize, fate: Fate, destination: F::Bits) -> bool {
        let Some(id) = self.oracle.lookup(destination) else { return false };
        // The neighbours of `spread`.
        let [a, b, c, d] = id.get().to_be_bytes();
        let neighbour = [2, 0, a, b, c, d];
        let port = &self.ports[(id.get() as usize - 1) % self.ports.len()];
        let frame = self.inner.frame(place);
        // This checks the checksum of an IPv4 header too.
        let parsed = parse(frame, None);
        F::destination(parsed) == Some(destination)
            && leaves(fate) == packet_len(parsed).map(|len| (port.id, len))
            && frame[..6] == neighbour
            && frame[6..12] == port.mac.0
            && frame[F::TTL] == 63
    }
}

/// Returns the port and the length of a frame that is sent.
fn leaves(fate: Fate) -> Option<(PortId, usize)> {
    match fate {
        Fate::Transmit { port, len } => Some((port, usize::from(len))),
        Fate::Stop(_) => None,
    }
}

/// Returns the length of a packet with its Ethernet header.
fn packet_len(parsed: Parsed) -> Option<usize> {
    match parsed {
        Parsed::Ipv4 { len, .. } | Parsed::Ipv6 { len, .. } => {
            Some(ETHERNET_LEN + usize::from(len))
        }
        Parsed::Stop(_) => None,
    }
}

impl<F: ForwardFamily, I: PacketIo> PacketIo for Checked<'_, F, I> {
    fn receive(&mut self, max: usize) -> io::Result<Received> {
        self.inner.receive(max)
    }

    fn frame(&mut self, place: usize) -> &mut [u8] {
        self.inner.frame(place)
    }

    fn dispatch(&mut self, fates: &[Fate], tally: &mut Tally) -> io::Result<()> {
        for (place, fate) in fates.iter().enumerate() {
            let destination = self.destinations[self.next];
            self.next = (self.next + 1) % self.destinations.len();
            self.right += u64::from(self.is_right(place, *fate, destination));
        }
        self.inner.dispatch(fates, tally)
    }

    fn wait(&mut self, timeout: Duration) -> io::Result<()> {
        self.inner.wait(timeout)
    }
}
