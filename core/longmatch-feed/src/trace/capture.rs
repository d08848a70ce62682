//! Traces of every format.

use std::io::Read;

use super::collect::{Receiver, Take};
use super::report::{TraceFormat, TraceReport};
use super::{list, pcap, pcapng};
use crate::codec::other_encoding;
use crate::decompress::explain;
use crate::error::{FeedError, Problem};
use crate::options::Options;
use crate::source::{Opened, open};
use crate::text::Lines;

/// Bytes that determine the format.
const HEAD_LEN: usize = 12;

/// Reads a capture or, if lists are wanted, a list. A lenient load ends at the damage.
pub(super) fn read(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
    lists: bool,
    take: impl Take,
) -> Result<TraceReport, FeedError> {
    let report = TraceReport::default();
    let mut receiver = Receiver { take, report, lenient: options.lenient };
    let end = read_all(reader, options, lists, &mut receiver);
    let mut report = receiver.report;
    match end {
        Err(error) if options.lenient && error.is_damage() => {
            report.cut_off = true;
            report.note_damage(error);
        }
        end => end.map_err(|error| error.named(name))?,
    }
    report.first_damage = report.first_damage.map(|error| error.named(name));
    Ok(report)
}

fn read_all(
    reader: impl Read,
    options: &Options,
    lists: bool,
    receiver: &mut Receiver<impl Take>,
) -> Result<(), FeedError> {
    let Opened { mut input, codec, taken } = open(Box::new(reader), options.limits)?;
    let limits = options.limits;
    receiver.report.codec = codec;
    input.fill(HEAD_LEN);
    let other = other_encoding(input.window()).map(|name| Problem::OtherFormat { name });
    let end = match find_format(input.window()) {
        Some(TraceFormat::List) if lists && other.is_none() => {
            let mut lines = Lines::new(input, limits.line);
            let end = list::read(&mut lines, codec, receiver);
            receiver.report.lines = lines.number();
            receiver.report.bytes = lines.input().received();
            receiver.report.input_bytes = taken.get();
            return end;
        }
        Some(format @ TraceFormat::Pcap) => {
            receiver.report.format = format;
            pcap::read(&mut input, limits.record, receiver)
        }
        Some(format @ TraceFormat::PcapNg) => {
            receiver.report.format = format;
            pcapng::read(&mut input, limits.record, receiver)
        }
        _ if lists => return Err(FeedError::byte(0, other.unwrap_or(Problem::UnknownTrace))),
        _ => return Err(FeedError::byte(0, other.unwrap_or(Problem::NoCapture))),
    };
    receiver.report.bytes = input.received();
    receiver.report.input_bytes = taken.get();
    // An error of the stream explains more than a truncated packet or block. The input has one only
    // if the reader requested bytes after it.
    match input.take_error() {
        Some(error) => Err(FeedError::byte(input.received(), explain(error, codec))),
        None => end,
    }
}

/// Detects the format from the first bytes.
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
