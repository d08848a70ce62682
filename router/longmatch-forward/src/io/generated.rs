//! Packets with chosen destinations, written into the frames of any packet I/O.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use crate::cause::{Fate, PacketCounts};
use crate::io::{PacketIo, Received};
use crate::packet::mix;
use crate::target::{Mac, Port};

/// The source of generated IPv4 packets: an address of benchmarks (RFC 2544).
pub const SOURCE_V4: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// The source of generated IPv6 packets: an address of benchmarks (RFC 5180).
pub const SOURCE_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1);

/// The source and destination port of generated packets: the discard protocol.
const UDP_PORT: [u8; 2] = 9_u16.to_be_bytes();

const ETHERNET: usize = 14;
const UDP: u8 = 17;
const TTL: u8 = 64;

/// Bytes of an IPv4 frame: the least of Ethernet, 64 with the frame check sequence.
const LEN_V4: usize = 60;
/// Bytes of an IPv6 frame: its headers alone are more than the least of Ethernet.
const LEN_V6: usize = ETHERNET + 40 + 8;

/// The fields that differ in each IPv4 packet. The UDP checksum is 0, which means none.
#[derive(Clone, Copy, Debug)]
struct Variable4 {
    /// The checksum of the IPv4 header.
    checksum: [u8; 2],
    destination: [u8; 4],
}

/// The fields that differ in each IPv6 packet.
#[derive(Clone, Copy, Debug)]
struct Variable6 {
    destination: [u8; 16],
    /// The UDP checksum, which is mandatory.
    checksum: [u8; 2],
}

/// The packets of [`Generated`]: UDP packets of minimal size to a list of destinations in turn.
///
/// Headers and checksums are computed when the list is made, so that a packet costs one copy of a
/// template and one of its destination and checksum. Clones share the list.
///
/// | | IPv4 | IPv6 |
/// |---|---|---|
/// | frame, without frame check sequence | 60 bytes | 62 bytes |
/// | IP packet | 46 bytes | 48 bytes |
/// | UDP payload | 18 bytes, zero | empty |
/// | source | [`SOURCE_V4`] | [`SOURCE_V6`] |
/// | TTL or hop limit | 64 | 64 |
/// | UDP checksum | none | right |
///
/// The destination MAC address is that of the receiving port. Nothing is written after these bytes:
/// the rest of a longer frame is Ethernet padding.
#[derive(Clone, Debug)]
pub struct GeneratedFrames {
    family: Family,
    /// The place of the next destination.
    next: usize,
}

#[derive(Clone, Debug)]
enum Family {
    V4(FrameTemplates<LEN_V4, Variable4>),
    V6(FrameTemplates<LEN_V6, Variable6>),
}

/// Frames of `LEN` bytes.
#[derive(Clone, Debug)]
struct FrameTemplates<const LEN: usize, V> {
    /// The frame without what varies, by receiving port.
    templates: Box<[[u8; LEN]]>,
    variables: Arc<[V]>,
}

impl GeneratedFrames {
    /// IPv4 packets to these destinations, received by these ports; `None` without any destination.
    pub fn ipv4(
        ports: &[Arc<Port>],
        destinations: impl IntoIterator<Item = Ipv4Addr>,
    ) -> Option<Self> {
        let variable = |destination: Ipv4Addr| {
            let destination = destination.octets();
            Variable4 { checksum: checksum(&header_v4(destination)), destination }
        };
        let templates = ports.iter().map(|port| {
            let mut frame = [0; LEN_V4];
            write_ethernet(&mut frame, port.mac(), [0x08, 0x00]);
            frame[14..34].copy_from_slice(&header_v4([0; 4]));
            frame[34..42].copy_from_slice(&header_udp(LEN_V4 - 34));
            frame
        });
        let templates = templates.collect();
        let variables: Arc<[_]> = destinations.into_iter().map(variable).collect();
        let some = !variables.is_empty();
        some.then_some(Self {
            family: Family::V4(FrameTemplates { templates, variables }),
            next: 0,
        })
    }

    /// IPv6 packets to these destinations, received by these ports; `None` without any destination.
    pub fn ipv6(
        ports: &[Arc<Port>],
        destinations: impl IntoIterator<Item = Ipv6Addr>,
    ) -> Option<Self> {
        let variable = |destination: Ipv6Addr| {
            let destination = destination.octets();
            Variable6 { destination, checksum: checksum_udp_v6(destination) }
        };
        let templates = ports.iter().map(|port| {
            let mut frame = [0; LEN_V6];
            write_ethernet(&mut frame, port.mac(), [0x86, 0xdd]);
            frame[14] = 0x60;
            frame[18..20].copy_from_slice(&length(LEN_V6 - 54));
            frame[20..22].copy_from_slice(&[UDP, TTL]);
            frame[22..38].copy_from_slice(&SOURCE_V6.octets());
            frame[54..62].copy_from_slice(&header_udp(LEN_V6 - 54));
            frame
        });
        let templates = templates.collect();
        let variables: Arc<[_]> = destinations.into_iter().map(variable).collect();
        let some = !variables.is_empty();
        some.then_some(Self {
            family: Family::V6(FrameTemplates { templates, variables }),
            next: 0,
        })
    }

    /// IPv4 packets to this many random destinations, of all that a router forwards to; `None` for 0.
    ///
    /// A seed gives the same destinations on every machine.
    pub fn random_ipv4(ports: &[Arc<Port>], count: usize, seed: u64) -> Option<Self> {
        let forwarded = |it: &Ipv4Addr| {
            !(it.is_multicast() || it.is_broadcast() || it.is_loopback() || it.is_unspecified())
        };
        let destinations = random(seed).map(|bits| Ipv4Addr::from_bits((bits >> 32) as u32));
        Self::ipv4(ports, destinations.filter(forwarded).take(count))
    }

    /// IPv6 packets to this many random destinations in 2000::/3; `None` for 0.
    ///
    /// A seed gives the same destinations on every machine.
    pub fn random_ipv6(ports: &[Arc<Port>], count: usize, seed: u64) -> Option<Self> {
        const GLOBAL: u128 = 0x2000 << 112;
        let mut random = random(seed);
        let mut word = move || u128::from(random.next().unwrap_or(0));
        let destination = move || Ipv6Addr::from_bits(GLOBAL | (word() << 64 | word()) >> 3);
        Self::ipv6(ports, std::iter::repeat_with(destination).take(count))
    }

    /// The same packets from this place of the list on, so that threads send different ones.
    ///
    /// A place after the end of the list counts on from its start.
    #[must_use]
    pub fn starting_at(mut self, place: usize) -> Self {
        self.next = place % self.destinations();
        self
    }

    /// Destinations in the list.
    pub fn destinations(&self) -> usize {
        match &self.family {
            Family::V4(series) => series.variables.len(),
            Family::V6(series) => series.variables.len(),
        }
    }

    /// Bytes of a frame. The packet I/O must receive frames of at least this length.
    pub fn frame_len(&self) -> usize {
        match self.family {
            Family::V4(_) => LEN_V4,
            Family::V6(_) => LEN_V6,
        }
    }
}

/// Random words.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |number| mix(mix(0, seed), number))
}

/// Packet I/O whose received frames are overwritten with generated packets.
///
/// With [`Null`](crate::io::Null), or with DPDK's `net_null`, that is a source of packets as fast
/// as memory, as in the experiment of the Spider paper (Figure 8).
///
/// ```
/// use std::net::Ipv4Addr;
/// use longmatch_forward::io::{Generated, GeneratedFrames, Null, PacketIo};
///
/// let destinations = [Ipv4Addr::new(8, 8, 8, 8), Ipv4Addr::new(9, 9, 9, 9)];
/// let frames = GeneratedFrames::ipv4(&Null::ports(1), destinations).unwrap();
/// let mut io = Generated::new(Null::new(1, 60), frames);
/// assert_eq!(io.receive(32)?.len, 32);
/// assert_eq!(io.frame(1)[30..34], [9, 9, 9, 9]);
/// assert_eq!(io.frame(2)[30..34], [8, 8, 8, 8]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Generated<I> {
    inner: I,
    frames: GeneratedFrames,
}

impl<I: PacketIo> Generated<I> {
    /// Packet I/O that writes `frames` into what `inner` receives.
    pub fn new(inner: I, frames: GeneratedFrames) -> Self {
        Self { inner, frames }
    }

    /// The packet I/O below.
    pub fn inner(&self) -> &I {
        &self.inner
    }
}

impl<I: PacketIo> PacketIo for Generated<I> {
    /// Receives frames and overwrites them.
    ///
    /// # Errors
    /// Those of the packet I/O below; and if a frame is shorter than a generated one, or comes from
    /// a port that the frames were not made for.
    #[inline]
    fn receive(&mut self, max: usize) -> io::Result<Received> {
        let batch = self.inner.receive(max)?;
        let next = &mut self.frames.next;
        match &self.frames.family {
            Family::V4(series) => {
                series.write(&mut self.inner, batch, next, |frame, variable| {
                    frame[24..26].copy_from_slice(&variable.checksum);
                    frame[30..34].copy_from_slice(&variable.destination);
                })?;
            }
            Family::V6(series) => {
                series.write(&mut self.inner, batch, next, |frame, variable| {
                    frame[38..54].copy_from_slice(&variable.destination);
                    frame[60..62].copy_from_slice(&variable.checksum);
                })?;
            }
        }
        Ok(batch)
    }

    #[inline]
    fn frame(&mut self, place: usize) -> &mut [u8] {
        self.inner.frame(place)
    }

    #[inline]
    fn dispatch(&mut self, fates: &[Fate], tally: &mut PacketCounts) -> io::Result<()> {
        self.inner.dispatch(fates, tally)
    }

    fn wait(&mut self, timeout: Duration) -> io::Result<()> {
        self.inner.wait(timeout)
    }

    fn missed(&self, port: crate::PortId) -> u64 {
        self.inner.missed(port)
    }

    fn is_ended(&self) -> bool {
        self.inner.is_ended()
    }
}

impl<const LEN: usize, V> FrameTemplates<LEN, V> {
    /// Writes the next packets of the series into the frames of a batch.
    #[inline(always)]
    fn write(
        &self,
        io: &mut impl PacketIo,
        batch: Received,
        next: &mut usize,
        vary: impl Fn(&mut [u8; LEN], &V),
    ) -> io::Result<()> {
        let template = self.templates.get(batch.port.index()).ok_or_else(|| {
            let message = format!("no frames are generated for port {}", batch.port.0);
            io::Error::new(io::ErrorKind::InvalidInput, message)
        })?;
        for place in 0..batch.len {
            let frame = io.frame(place);
            let len = frame.len();
            let Some(frame) = frame.first_chunk_mut::<LEN>() else {
                let message = format!("a frame of {len} bytes is shorter than a generated {LEN}");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            };
            *frame = *template;
            // A comparison is cheaper than a remainder.
            vary(frame, &self.variables[*next]);
            *next = if *next + 1 < self.variables.len() { *next + 1 } else { 0 };
        }
        Ok(())
    }
}

fn write_ethernet(frame: &mut [u8], mac: Mac, ethertype: [u8; 2]) {
    frame[..6].copy_from_slice(&mac.0);
    // A locally administered address, of no port.
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0xff, 0xff]);
    frame[12..14].copy_from_slice(&ethertype);
}

/// An IPv4 header with the checksum 0.
fn header_v4(destination: [u8; 4]) -> [u8; 20] {
    let mut header = [0; 20];
    header[0] = 0x45;
    header[2..4].copy_from_slice(&length(LEN_V4 - ETHERNET));
    header[8..10].copy_from_slice(&[TTL, UDP]);
    header[12..16].copy_from_slice(&SOURCE_V4.octets());
    header[16..20].copy_from_slice(&destination);
    header
}

/// A UDP header with the checksum 0, for a datagram of this length with its header.
fn header_udp(len: usize) -> [u8; 8] {
    let ([a, b], [c, d]) = (UDP_PORT, length(len));
    [a, b, a, b, c, d, 0, 0]
}

/// The checksum of an empty UDP datagram in IPv6 (RFC 8200, section 8.1).
fn checksum_udp_v6(destination: [u8; 16]) -> [u8; 2] {
    let mut covered = [0; 48];
    covered[..16].copy_from_slice(&SOURCE_V6.octets());
    covered[16..32].copy_from_slice(&destination);
    covered[34..36].copy_from_slice(&length(LEN_V6 - 54));
    covered[39] = UDP;
    covered[40..].copy_from_slice(&header_udp(LEN_V6 - 54));
    match checksum(&covered) {
        // 0 means none, which IPv6 does not allow; both are zero in ones' complement.
        [0, 0] => [0xff, 0xff],
        checksum => checksum,
    }
}

/// The Internet checksum of an even number of bytes, at most 128 KiB (RFC 1071).
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let (words, _) = bytes.as_chunks::<2>();
    let mut sum: u32 = words.iter().map(|&word| u32::from(u16::from_be_bytes(word))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

/// A length below 64 KiB in network byte order.
fn length(len: usize) -> [u8; 2] {
    (len as u16).to_be_bytes()
}

#[cfg(test)]
mod tests;
