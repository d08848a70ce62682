//! Destinations in: packet captures, and lists of addresses.
//!
//! What a lookup costs depends on which addresses come in which order; here they come from real
//! traffic. The containers' headers are read by the crate `pcap-parser`; [`link`] walks from there
//! to the outer IP header, of which nothing but the destination is looked at.

mod collect;
pub(crate) mod error;
mod link;
mod list;
mod pcap;
mod pcapng;
mod report;

use std::io::Read;
use std::path::Path;

pub use self::collect::Trace;
pub use self::report::{TraceFormat, TraceReport};

use crate::decompress::explain;
use crate::error::{FeedError, Place, Problem};
use crate::options::Options;
use crate::source::{Opened, open, open_file};
use collect::Collector;

/// Bytes by which the formats are told apart.
const HEAD_LEN: usize = 12;

/// Reads the destinations of a packet capture (pcap or pcapng) or of a list of addresses, one a
/// line; plain or compressed with gzip, bzip2 or zstd. Which of these it is, is seen from the
/// content.
///
/// Of the options, [`Options::lenient`] and [`Options::limits`] count. More destinations than
/// [`crate::Limits::destinations`] are not an error: a trace is a sample however long it is, so
/// reading stops there, and the report says so. In lists, IPv4-mapped IPv6 addresses become IPv4;
/// packets are taken as they are.
///
/// Of captures these link types are read: Ethernet with any number of VLAN tags or MPLS labels, or
/// PPPoE, in front of the IP header; raw IP; Linux cooked, both versions; BSD loopback. O(bytes of
/// the file) time, and memory for the destinations and the largest packet.
///
/// # Errors
/// When the file cannot be opened or read, is damaged (unless [`Options::lenient`] is set), is
/// neither a capture nor a list, or its packets have another link type.
pub fn destinations(path: impl AsRef<Path>, options: &Options) -> Result<Trace, FeedError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let file = open_file(path).map_err(|error| error.named(Some(&name)))?;
    destinations_from(file, Some(&name), options)
}

/// As [`destinations`], from a stream, which is read once. `name` is for error messages.
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
/// As [`destinations`].
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

fn read(reader: impl Read, options: &Options, trace: &mut Trace) -> Result<(), FeedError> {
    let Opened { mut input, codec, taken } = open(Box::new(reader), options.limits)?;
    trace.report.codec = codec;
    input.fill(HEAD_LEN);
    let format = find_format(input.window());
    if let Some(format) = format {
        trace.report.format = format;
    }
    let limits = options.limits;
    let collector = &mut Collector::new(trace, options);
    let end = match format {
        Some(TraceFormat::List) => {
            let end = list::read(input, limits.line, codec, collector);
            trace.report.input_bytes = taken.get();
            return end;
        }
        Some(TraceFormat::Pcap) => pcap::read(&mut input, limits.record, collector),
        Some(TraceFormat::PcapNg) => pcapng::read(&mut input, limits.record, collector),
        None => Err(FeedError::at(Place::Byte(0), Problem::UnknownTrace)),
    };
    let report = &mut trace.report;
    report.bytes = input.received();
    report.input_bytes = taken.get();
    // A failure of the stream says more than that something is cut off by it. It is met only by
    // who needs more than the stream has.
    match input.take_error() {
        Some(error) => Err(FeedError::stream(report.bytes, explain(error, codec))),
        None => end,
    }
}

/// What an input is that starts so.
fn find_format(window: &[u8]) -> Option<TraceFormat> {
    let head = &window[..window.len().min(HEAD_LEN)];
    if pcap::looks_like(head) {
        Some(TraceFormat::Pcap)
    } else if pcapng::looks_like(head) {
        Some(TraceFormat::PcapNg)
    } else {
        (!head.contains(&0)).then_some(TraceFormat::List)
    }
}
