//! A capture in memory; its frames are forwarded into sinks that count bytes.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use longmatch_forward::io::pcap::{CaptureIo, CaptureWriter, Captured, Frames};
use longmatch_forward::io::{Generated, GeneratedFrames, Null, PacketIo};

use super::table::PORTS;
use super::work::FrameSource;

/// Bytes of the header of a capture, and of that of each of its records.
const HEADER: usize = 24;
const RECORD: usize = 16;

/// Generated packets as a capture in memory, which is read again and again.
pub(crate) struct CapturedFrames {
    /// The capture, in the format of files.
    bytes: Arc<[u8]>,
    /// Bytes of a frame: all are equally long.
    frame_len: usize,
}

impl CapturedFrames {
    /// Writes all packets of the list into a capture; the first port receives them.
    ///
    /// # Errors
    /// If the packet I/O fails.
    pub fn new(frames: &GeneratedFrames) -> io::Result<Self> {
        let frame_len = frames.frame_len();
        let mut source = Generated::new(Null::new(1, frame_len as u16), frames.clone());
        let mut capture = CaptureWriter::new(Vec::new())?;
        for number in 0..frames.destinations() {
            source.receive(1)?;
            // The fastest possible arrival on 40 Gbit/s, as in the paper.
            capture.write(Duration::from_nanos(number as u64 * 17), source.frame(0))?;
        }
        Ok(Self { bytes: capture.finish()?.into(), frame_len })
    }
}

impl FrameSource for CapturedFrames {
    type Io = CaptureIo<CountedBytes>;

    fn frames(&self, start: usize) -> io::Result<Self::Io> {
        let record = RECORD + self.frame_len;
        let records = (self.bytes.len() - HEADER) / record;
        let next = HEADER + start % records * record;
        let reader = Reader { bytes: self.bytes.clone(), next };
        let others = (1..PORTS).map(|_| Box::new(std::iter::empty()) as Frames);
        let inputs = std::iter::once(Box::new(reader) as Frames).chain(others).collect();
        CaptureIo::new(inputs, (0..PORTS).map(|_| CountedBytes::default()).collect(), None)
    }

    fn destinations(&self) -> usize {
        (self.bytes.len() - HEADER) / (RECORD + self.frame_len)
    }
}

/// Reads the records of a capture in memory; after the last comes the first.
struct Reader {
    bytes: Arc<[u8]>,
    next: usize,
}

impl Iterator for Reader {
    type Item = io::Result<Captured>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.bytes.len() {
            self.next = HEADER;
        }
        let (header, rest) = self.bytes[self.next..].split_first_chunk::<RECORD>()?;
        let word = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let (seconds, nanos, len) = (word(0), word(4), word(8) as usize);
        self.next += RECORD + len;
        let time = Duration::new(seconds.into(), nanos);
        Some(Ok(Captured { time, bytes: rest.get(..len)?.to_vec() }))
    }
}

/// A sink that counts bytes.
#[derive(Default)]
pub(crate) struct CountedBytes(pub u64);

impl Write for CountedBytes {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Hidden from the compiler, so that the bytes are made.
        self.0 += std::hint::black_box(bytes).len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
