//! pcap files: a header, then packets in sequence.

use std::time::Duration;

use pcap_parser::nom;
use pcap_parser::{PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};

use super::collect::{Captured, Receiver, Take};
use super::link::Link;
use crate::error::{FeedError, Problem};
use crate::input::Input;

/// Bytes of the file header.
const HEADER_LEN: usize = 24;

/// Bytes of the header of each packet.
const PACKET_HEADER_LEN: usize = 16;

/// Whether an input with these first bytes is pcap. The magic number has two byte orders, and
/// variants for times in microseconds and in nanoseconds.
pub(super) fn looks_like(head: &[u8]) -> bool {
    matches!(
        head,
        [0xa1, 0xb2, 0xc3, 0xd4, ..]
            | [0xd4, 0xc3, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0x3c, 0x4d, ..]
            | [0x4d, 0x3c, 0xb2, 0xa1, ..]
    )
}

/// Reads all packets; `limit` is the greatest length of a packet.
pub(super) fn read(
    input: &mut Input<'_>,
    limit: usize,
    receiver: &mut Receiver<impl Take>,
) -> Result<(), FeedError> {
    let header = header(input)?;
    let link = link(&header).map_err(|error| FeedError::byte(0, error))?;
    let fraction = if header.is_nanosecond_precision() { 1 } else { 1_000 };
    let parse = if header.is_bigendian() { parse_pcap_frame_be } else { parse_pcap_frame };
    while !receiver.report.stopped {
        let window = input.window();
        match parse(window) {
            Ok((rest, packet)) => {
                let nanoseconds = u64::from(packet.ts_usec) * fraction;
                let time =
                    Duration::from_secs(packet.ts_sec.into()) + Duration::from_nanos(nanoseconds);
                let (original_len, bytes) = (packet.origlen, packet.data);
                let taken = receiver.packet(Captured { link, time, original_len, bytes });
                let used = window.len() - rest.len();
                taken.map_err(|error| FeedError::byte(input.offset(), error))?;
                input.consume(used);
            }
            Err(nom::Err::Incomplete(nom::Needed::Size(missing))) => {
                if !refill(input, missing.get(), limit)? {
                    break;
                }
            }
            // Unreachable: the parser reports no other error for a packet.
            Err(_) => {
                return Err(FeedError::byte(input.offset(), Problem::UnknownTrace));
            }
        }
    }
    Ok(())
}

fn header(input: &mut Input<'_>) -> Result<PcapHeader, FeedError> {
    let have = input.fill(HEADER_LEN);
    if have < HEADER_LEN {
        return Err(cut_off(input, HEADER_LEN));
    }
    let Ok((_, header)) = parse_pcap_header(input.window()) else {
        return Err(FeedError::byte(0, Problem::UnknownTrace));
    };
    input.consume(HEADER_LEN);
    Ok(header)
}

fn link(header: &PcapHeader) -> Result<Link, Problem> {
    /// The higher bits state the length of the frame check sequence at the end of packets.
    const LINK_TYPE: u32 = 0x03ff_ffff;
    let (major, minor) = (header.version_major, header.version_minor);
    if major != 2 {
        return Err(Problem::Version { format: "pcap", major, minor });
    }
    let number = header.network.0 as u32 & LINK_TYPE;
    Link::from_number(number).ok_or(Problem::LinkType { number })
}

/// Adds `missing` bytes to the window. Returns false at the end of the file.
fn refill(input: &mut Input<'_>, missing: usize, limit: usize) -> Result<bool, FeedError> {
    let have = input.window().len();
    let needed = have.saturating_add(missing);
    let len = needed.saturating_sub(PACKET_HEADER_LEN);
    if len > limit {
        return Err(FeedError::byte(input.offset(), Problem::PacketTooLong { len, limit }));
    }
    match input.fill(needed) {
        0 => Ok(false),
        have if have < needed => Err(cut_off(input, needed)),
        _ => Ok(true),
    }
}

/// The error for a window that cannot be filled.
pub(super) fn cut_off(input: &Input<'_>, needed: usize) -> FeedError {
    let have = input.window().len();
    FeedError::byte(input.offset(), Problem::CaptureCutOff { needed, have })
}
