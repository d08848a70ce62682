//! Readers of packets and destinations: captures and lists of addresses.
//!
//! The cost of lookups depends on the addresses and their order; these readers provide the
//! addresses of real traffic. The crate `pcap-parser` parses the headers of the capture formats;
//! [`link`] finds the destination in the outer IP header.

mod capture;
mod collect;
mod frames;
pub(crate) mod link;
mod list;
mod pcap;
mod pcapng;
mod report;

use std::io::Read;
use std::net::IpAddr;
use std::path::Path;

pub use self::frames::{Frame, Packet, frames, packets};
pub use self::report::{TraceFormat, TraceReport};

use crate::error::FeedError;
use crate::options::Options;
use crate::source::open_input;
use collect::Item;
use link::Found;

/// Reads the destinations of a packet capture or of a list of addresses.
///
/// A capture is pcap or pcapng; a list has one address per line. Either may be plain or compressed
/// with gzip, bzip2, zstd or xz. The content determines the format.
///
/// Only the options [`Options::lenient`] and [`Options::limits`] apply. More destinations than
/// [`crate::Limits::destinations`] are not an error: a trace of any length is a sample, so reading
/// stops at the limit and the report records it. In lists, IPv4-mapped IPv6 addresses become IPv4;
/// packets keep their addresses.
///
/// The supported link types are Ethernet with any number of VLAN tags or MPLS labels, or PPPoE,
/// before the IP header; raw IP; Linux cooked, both versions; BSD loopback. The time is linear in
/// the bytes of the file. The memory holds the destinations and the largest packet.
///
/// # Errors
/// If the file cannot be opened or read, is damaged (unless [`Options::lenient`] is set), is neither
/// a capture nor a list, or its packets have an unsupported link type.
pub fn destinations(path: impl AsRef<Path>, options: &Options) -> Result<Trace, FeedError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let file = open_input(path).map_err(|error| error.named(Some(&name)))?;
    destinations_from(file, Some(&name), options)
}

/// Reads the destinations of a stream, in one pass.
///
/// Error messages contain `name`.
///
/// ```
/// use longmatch_feed::{Options, destinations_from};
///
/// let list = b"# clients\n192.0.2.1\n2001:db8::1\n::ffff:192.0.2.2\n";
/// let trace = destinations_from(&list[..], Some("list"), &Options::default())?;
/// assert_eq!(trace.ipv4, [0xc000_0201, 0xc000_0202]);
/// assert_eq!(trace.ipv6.len(), 1);
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
///
/// # Errors
/// The same as [`destinations`].
pub fn destinations_from(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
) -> Result<Trace, FeedError> {
    let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
    let take = |item: Item<'_>, report: &mut TraceReport| {
        let is_packet = matches!(item, Item::Packet(_));
        let found = match item {
            Item::Packet(packet) => packet.link.addresses(packet.bytes),
            Item::Address(address) => Some(match address.to_canonical() {
                IpAddr::V4(address) => Found::Ipv4(0, address.to_bits()),
                IpAddr::V6(address) => Found::Ipv6(0, address.to_bits()),
            }),
        };
        let is_full = ipv4.len() + ipv6.len() >= options.limits.destinations;
        match found {
            None => report.truncated += 1,
            Some(Found::Other) => report.other_protocols += 1,
            Some(_) if is_full => {
                report.stopped = true;
                return Ok(());
            }
            Some(Found::Ipv4(_, address)) => ipv4.push(address),
            Some(Found::Ipv6(_, address)) => ipv6.push(address),
        }
        report.packets += u64::from(is_packet);
        Ok(())
    };
    let report = capture::read(reader, name, options, true, take)?;
    Ok(Trace { ipv4, ipv6, report })
}

/// Destinations of each family, in the order of their packets or lines.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Trace {
    /// IPv4 addresses in host order.
    pub ipv4: Vec<u32>,
    /// IPv6 addresses in host order.
    pub ipv6: Vec<u128>,
    /// Counts of packets, lines and damage.
    pub report: TraceReport,
}

impl Trace {
    /// Number of destinations.
    pub fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    /// Whether the trace has no destinations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
