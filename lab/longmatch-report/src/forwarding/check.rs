//! The check of forwarded packets.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use longmatch_bench::Oracle;
use longmatch_forward::io::{PacketIo, Received};
use longmatch_forward::packet::{ETHERNET_LEN, Parsed, parse};
use longmatch_forward::{Fate, Forwarder, PacketCounts, Port};

use super::family::ForwardFamily;
use super::work::{Batches, FrameSource, forward};

impl<S: FrameSource> Batches<'_, S> {
    /// Returns the number of packets, of at least `packets` from the start of the source, that are not forwarded as the
    /// routes say.
    ///
    /// # Errors
    /// If the packet I/O fails.
    pub fn wrong<F: ForwardFamily>(
        &self,
        destinations: &[F::Bits],
        oracle: &Oracle<F>,
        packets: usize,
    ) -> io::Result<u64> {
        let (inner, ports) = (self.source.frames(0)?, self.ports);
        let mut io = Checked::<F, _> { inner, oracle, ports, destinations, next: 0, right: 0 };
        let mut reader = self.compiled.reader();
        let mut forwarder = Forwarder::new(&mut reader, ports, self.batch);
        let received = forward(&mut forwarder, &mut io, packets)? as u64;
        let all_forwarded = forwarder.tally().forwarded == received;
        Ok(received - if all_forwarded { io.right } else { 0 })
    }
}

/// Packet I/O that compares each frame with the routes before it leaves.
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
        let len = match parsed {
            Parsed::Ipv4 { len, .. } | Parsed::Ipv6 { len, .. } => ETHERNET_LEN + usize::from(len),
            Parsed::Stop(_) => return false,
        };
        F::destination(parsed) == Some(destination)
            && matches!(fate, Fate::Transmit { port: id, len: sent }
                if id == port.id && usize::from(sent) == len)
            && frame[..6] == neighbour
            && frame[6..12] == port.mac().0
            && frame[F::TTL] == 63
    }
}

impl<F: ForwardFamily, I: PacketIo> PacketIo for Checked<'_, F, I> {
    fn receive(&mut self, max: usize) -> io::Result<Received> {
        self.inner.receive(max)
    }

    fn frame(&mut self, place: usize) -> &mut [u8] {
        self.inner.frame(place)
    }

    fn dispatch(&mut self, fates: &[Fate], tally: &mut PacketCounts) -> io::Result<()> {
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
