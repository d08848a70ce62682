//! Packet captures of either format.

use super::collect::PacketSink;
use super::report::TraceFormat;
use super::{pcap, pcapng};
use crate::codec::Codec;
use crate::decompress::explain;
use crate::error::{FeedError, Problem};
use crate::input::Input;

/// Bytes that determine the format.
pub(super) const HEAD_LEN: usize = 12;

/// Reads a packet capture.
pub(super) fn read_capture(
    input: &mut Input<'_>,
    format: TraceFormat,
    codec: Option<Codec>,
    limit: usize,
    sink: &mut impl PacketSink,
) -> Result<(), FeedError> {
    sink.report().format = format;
    let end = match format {
        TraceFormat::Pcap => pcap::read(input, limit, sink),
        TraceFormat::PcapNg => pcapng::read(input, limit, sink),
        TraceFormat::List => Err(FeedError::byte(0, Problem::NoCapture)),
    };
    sink.report().bytes = input.received();
    // An error of the stream explains more than a truncated packet or block. The input has one only
    // if the reader requested bytes after it.
    match input.take_error() {
        Some(error) => Err(FeedError::byte(input.received(), explain(error, codec))),
        None => end,
    }
}

/// Detects the format from the first bytes.
pub(super) fn find_format(window: &[u8]) -> Option<TraceFormat> {
    let head = &window[..window.len().min(HEAD_LEN)];
    if pcap::looks_like(head) {
        Some(TraceFormat::Pcap)
    } else if pcapng::looks_like(head) {
        Some(TraceFormat::PcapNg)
    } else {
        (!head.contains(&0)).then_some(TraceFormat::List)
    }
}
