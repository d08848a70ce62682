//! The Ethernet frames of a packet capture.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use super::capture::{HEAD_LEN, find_format, read_capture};
use super::collect::{Captured, PacketSink};
use super::error::TraceError;
use super::link::Link;
use super::report::{TraceFormat, TraceReport};
use crate::error::{FeedError, Place, Problem};
use crate::options::Options;
use crate::source::{Opened, open, open_file};

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
    let mut sink = FrameSink { take, report: TraceReport::default(), lenient: options.lenient };
    let read = match read(path, options, &mut sink) {
        Err(error) if options.lenient && error.is_damage() => {
            sink.report.cut_off = true;
            sink.report.note_damage(error);
            Ok(())
        }
        read => read,
    };
    read.map_err(|error| error.named(Some(&name)))?;
    sink.report.first_damage = sink.report.first_damage.map(|error| error.named(Some(&name)));
    Ok(sink.report)
}

fn read(path: &Path, options: &Options, sink: &mut impl PacketSink) -> Result<(), FeedError> {
    let file = open_file(path)?;
    let Opened { mut input, codec, taken } = open(Box::new(file), options.limits)?;
    sink.report().codec = codec;
    input.fill(HEAD_LEN);
    let format = match find_format(input.window()) {
        Some(TraceFormat::List) | None => {
            return Err(FeedError::at(Place::Byte(0), Problem::NoCapture));
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
