//! The Ethernet frames of a packet capture, and the addresses of its packets.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use super::capture::{HEAD_LEN, find_format, read_capture};
use super::collect::{Captured, PacketSink};
use super::error::TraceError;
use super::link::{Found, Link};
use super::not_a;
use super::report::{TraceFormat, TraceReport};
use crate::error::{FeedError, Problem};
use crate::options::Options;
use crate::source::{Opened, open, open_input};

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
    take: impl FnMut(Frame<'_>) -> ControlFlow<()>,
) -> Result<TraceReport, FeedError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let file = open_input(path).map_err(|error| error.named(Some(&name)))?;
    let mut sink = FrameSink { take, report: TraceReport::default(), lenient: options.lenient };
    read(file, Some(&name), options, &mut sink)?;
    Ok(sink.report)
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
/// addresses is no capture. Packets without an IP header are counted in the report. The memory holds the
/// largest packet; the time is linear in the bytes of the stream.
///
/// # Errors
/// If the stream cannot be read, is damaged (unless [`Options::lenient`] is set), is not a capture, or its
/// packets have an unsupported link type.
pub fn packets(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
    take: impl FnMut(Packet) -> ControlFlow<()>,
) -> Result<TraceReport, FeedError> {
    let mut sink = AddressSink { take, report: TraceReport::default(), lenient: options.lenient };
    read(reader, name, options, &mut sink)?;
    Ok(sink.report)
}

/// Reads a capture; a lenient load ends at its damage.
fn read(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
    sink: &mut impl PacketSink,
) -> Result<(), FeedError> {
    match read_all(reader, options, sink) {
        Err(error) if options.lenient && error.is_damage() => {
            sink.report().cut_off = true;
            sink.report().note_damage(error);
        }
        read => read.map_err(|error| error.named(name))?,
    }
    let report = sink.report();
    report.first_damage = report.first_damage.take().map(|error| error.named(name));
    Ok(())
}

fn read_all(
    reader: impl Read,
    options: &Options,
    sink: &mut impl PacketSink,
) -> Result<(), FeedError> {
    let Opened { mut input, codec, taken } = open(Box::new(reader), options.limits)?;
    sink.report().codec = codec;
    input.fill(HEAD_LEN);
    let format = match find_format(input.window()) {
        Some(TraceFormat::List) | None => {
            return Err(not_a(Problem::NoCapture, input.window()));
        }
        Some(format) => format,
    };
    let end = read_capture(&mut input, format, codec, options.limits.record, sink);
    sink.report().input_bytes = taken.get();
    end
}

struct FrameSink<T> {
    take: T,
    report: TraceReport,
    lenient: bool,
}

impl<T: FnMut(Frame<'_>) -> ControlFlow<()>> PacketSink for FrameSink<T> {
    fn packet(&mut self, packet: Captured<'_>) -> Result<(), TraceError> {
        let Captured { link, time, original_len, bytes } = packet;
        if link != Link::Ethernet {
            return Err(TraceError::NotEthernet);
        }
        self.report.packets += 1;
        self.report.stopped |= (self.take)(Frame { time, original_len, bytes }).is_break();
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.report.stopped
    }

    fn report(&mut self) -> &mut TraceReport {
        &mut self.report
    }

    fn is_lenient(&self) -> bool {
        self.lenient
    }
}

struct AddressSink<T> {
    take: T,
    report: TraceReport,
    lenient: bool,
}

impl<T: FnMut(Packet) -> ControlFlow<()>> PacketSink for AddressSink<T> {
    fn packet(&mut self, packet: Captured<'_>) -> Result<(), TraceError> {
        let time = packet.time;
        let (source, destination) = match packet.link.addresses(packet.bytes) {
            Some(Found::Ipv4(source, destination)) => {
                (Ipv4Addr::from(source).into(), Ipv4Addr::from(destination).into())
            }
            Some(Found::Ipv6(source, destination)) => {
                (Ipv6Addr::from(source).into(), Ipv6Addr::from(destination).into())
            }
            found => {
                let count = match found {
                    None => &mut self.report.truncated,
                    Some(_) => &mut self.report.other_protocols,
                };
                *count += 1;
                self.report.packets += 1;
                return Ok(());
            }
        };
        self.report.packets += 1;
        self.report.stopped |= (self.take)(Packet { time, source, destination }).is_break();
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.report.stopped
    }

    fn report(&mut self) -> &mut TraceReport {
        &mut self.report
    }

    fn is_lenient(&self) -> bool {
        self.lenient
    }
}
