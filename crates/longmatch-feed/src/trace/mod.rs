//! Readers of packets and destinations: captures and lists of addresses.
//!
//! The cost of lookups depends on the addresses and their order; these readers provide the
//! addresses of real traffic. The crate `pcap-parser` parses the headers of the capture formats;
//! [`link`] finds the destination in the outer IP header.

mod capture;
mod collect;
pub(crate) mod error;
mod frames;
mod link;
mod list;
mod pcap;
mod pcapng;
mod report;

use std::io::Read;
use std::path::Path;

pub use self::collect::Trace;
pub use self::frames::{Frame, Packet, frames, packets};
pub use self::report::{TraceFormat, TraceReport};

use crate::error::{FeedError, Place, Problem};
use crate::options::Options;
use crate::recognise::other_encoding;
use crate::source::{Opened, open, open_input};
use capture::{HEAD_LEN, find_format, read_capture};
use collect::Collector;

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
    let mut trace = Trace::default();
    match read(reader, options, &mut trace) {
        Ok(()) => {}
        Err(error) if options.lenient && error.is_damage() => {
            trace.report.cut_off = true;
            trace.report.note_damage(error);
        }
        Err(error) => return Err(error.named(name)),
    }
    trace.report.first_damage = trace.report.first_damage.map(|error| error.named(name));
    Ok(trace)
}

/// The error of an input that is no trace.
fn not_a(problem: Problem, head: &[u8]) -> FeedError {
    let other = other_encoding(head).map(|name| Problem::OtherFormat { name });
    FeedError::at(Place::Byte(0), other.unwrap_or(problem))
}

fn read(reader: impl Read, options: &Options, trace: &mut Trace) -> Result<(), FeedError> {
    let Opened { mut input, codec, taken } = open(Box::new(reader), options.limits)?;
    trace.report.codec = codec;
    input.fill(HEAD_LEN);
    let format = find_format(input.window());
    let limits = options.limits;
    let collector = &mut Collector::new(trace, options);
    let end = match format {
        Some(TraceFormat::List) if other_encoding(input.window()).is_none() => {
            let end = list::read(input, limits.line, codec, collector);
            trace.report.input_bytes = taken.get();
            return end;
        }
        Some(format) if format != TraceFormat::List => {
            read_capture(&mut input, format, codec, limits.record, collector)
        }
        _ => Err(not_a(Problem::UnknownTrace, input.window())),
    };
    trace.report.input_bytes = taken.get();
    end
}
