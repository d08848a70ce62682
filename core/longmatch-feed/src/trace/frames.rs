//! The Ethernet frames of a packet capture, and the addresses of its packets.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use super::capture::read;
use super::collect::{Captured, Item};
use super::link::{Found, Link};
use super::report::TraceReport;
use crate::error::{FeedError, Problem};
use crate::options::Options;
use crate::source::open_input;

/// An Ethernet frame of a packet capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Frame<'a> {
    /// Time of its capture, since 1970.
    pub time: Duration,
    /// Bytes of the frame before the snap length cut it.
    pub original_len: u32,
    /// The captured bytes, from the Ethernet header on.
    pub bytes: &'a [u8],
}

/// Passes each Ethernet frame of a packet capture to `take`, until that breaks off.
///
/// The formats, compression and options are those of [`destinations`](super::destinations). The
/// memory holds the largest packet; the time is linear in the bytes of the file.
///
/// # Errors
/// If the file cannot be opened or read, is damaged (unless [`Options::lenient`] is set), is not a
/// capture, or its packets have no Ethernet header.
///
/// ```no_run
/// use std::ops::ControlFlow;
/// use longmatch_feed::{Options, frames};
///
/// let mut bytes = 0;
/// let report = frames("packets.pcap.gz", &Options::default(), |frame| {
///     bytes += frame.bytes.len();
///     ControlFlow::Continue(())
/// })?;
/// println!("{} frames of {bytes} bytes", report.packets);
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
pub fn frames(
    path: impl AsRef<Path>,
    options: &Options,
    mut take: impl FnMut(Frame<'_>) -> ControlFlow<()>,
) -> Result<TraceReport, FeedError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let file = open_input(path).map_err(|error| error.named(Some(&name)))?;
    let packet = |item: Item<'_>, report: &mut TraceReport| {
        let Item::Packet(Captured { link, time, original_len, bytes }) = item else {
            return Ok(());
        };
        if link != Link::Ethernet {
            return Err(Problem::NotEthernet);
        }
        report.packets += 1;
        report.stopped |= take(Frame { time, original_len, bytes }).is_break();
        Ok(())
    };
    read(file, Some(&name), options, false, packet)
}

/// The addresses of a packet of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Packet {
    /// Time of its capture, since 1970.
    pub time: Duration,
    /// The source in the outer IP header.
    pub source: IpAddr,
    /// The destination in the outer IP header.
    pub destination: IpAddr,
}

/// Passes the addresses of each packet of a capture to `take`, until that breaks off.
///
/// The formats, link types and options are those of [`destinations`](super::destinations), but a list of
/// addresses is not a capture. Packets without an IP header are counted in the report. The memory holds the
/// largest packet; the time is linear in the bytes of the stream.
///
/// # Errors
/// If the stream cannot be read, is damaged (unless [`Options::lenient`] is set), is not a capture, or its
/// packets have an unsupported link type.
pub fn packets(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
    mut take: impl FnMut(Packet) -> ControlFlow<()>,
) -> Result<TraceReport, FeedError> {
    let addresses = |item: Item<'_>, report: &mut TraceReport| {
        let Item::Packet(packet) = item else { return Ok(()) };
        report.packets += 1;
        let (source, destination): (IpAddr, IpAddr) = match packet.link.addresses(packet.bytes) {
            None => {
                report.truncated += 1;
                return Ok(());
            }
            Some(Found::Other) => {
                report.other_protocols += 1;
                return Ok(());
            }
            Some(Found::Ipv4(source, destination)) => {
                (Ipv4Addr::from(source).into(), Ipv4Addr::from(destination).into())
            }
            Some(Found::Ipv6(source, destination)) => {
                (Ipv6Addr::from(source).into(), Ipv6Addr::from(destination).into())
            }
        };
        let time = packet.time;
        report.stopped |= take(Packet { time, source, destination }).is_break();
        Ok(())
    };
    read(reader, name, options, false, addresses)
}
