//! Frames from captures, into captures.

use std::io::{self, Write};
use std::iter::Peekable;
use std::time::Duration;

use super::{PacketIo, Received};
use crate::cause::{Disposition, Fate, PacketCounts};
use crate::target::PortId;

/// A frame of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captured {
    /// Time of its capture, since 1970.
    pub time: Duration,
    /// The captured bytes, from the Ethernet header on.
    pub bytes: Vec<u8>,
}

/// The frames that a port receives; an error ends the forwarding.
pub type Frames = Box<dyn Iterator<Item = io::Result<Captured>> + Send>;

/// Forwards captures: each port receives the frames of one and sends into another.
///
/// Frames are taken in the order of their times over all ports, and keep their times.
pub struct CaptureIo<W> {
    inputs: Vec<Peekable<Frames>>,
    outputs: Vec<CaptureWriter<W>>,
    kernel: Option<CaptureWriter<W>>,
    batch: Vec<Captured>,
    ended: bool,
}

impl<W: Write> CaptureIo<W> {
    /// Ports with these inputs and outputs, in the order of their ids; `kernel` receives the frames
    /// that the kernel would have to handle.
    ///
    /// # Errors
    /// If a capture's header cannot be written.
    ///
    /// # Panics
    /// If there are not as many inputs as outputs.
    pub fn new(inputs: Vec<Frames>, outputs: Vec<W>, kernel: Option<W>) -> io::Result<Self> {
        assert_eq!(inputs.len(), outputs.len(), "each port has an input and an output");
        Ok(Self {
            inputs: inputs.into_iter().map(Iterator::peekable).collect(),
            outputs: outputs.into_iter().map(CaptureWriter::new).collect::<io::Result<_>>()?,
            kernel: kernel.map(CaptureWriter::new).transpose()?,
            batch: Vec::new(),
            ended: false,
        })
    }

    /// Writes the buffered frames, and returns the outputs in the order of their ports.
    ///
    /// # Errors
    /// If an output cannot be written.
    pub fn finish(self) -> io::Result<Vec<W>> {
        if let Some(kernel) = self.kernel {
            kernel.finish()?;
        }
        self.outputs.into_iter().map(CaptureWriter::finish).collect()
    }

    /// The port whose next frame is the earliest. An error comes before all frames.
    fn next_port(&mut self) -> Option<usize> {
        let mut next: Option<(Duration, usize)> = None;
        for (port, input) in self.inputs.iter_mut().enumerate() {
            match input.peek() {
                None => {}
                Some(Err(_)) => return Some(port),
                Some(Ok(frame)) if next.is_none_or(|(time, _)| frame.time < time) => {
                    next = Some((frame.time, port));
                }
                Some(Ok(_)) => {}
            }
        }
        next.map(|(_, port)| port)
    }
}

impl<W: Write> PacketIo for CaptureIo<W> {
    fn receive(&mut self, max: usize) -> io::Result<Received> {
        self.batch.clear();
        let first = self.next_port();
        let Some(port) = first else {
            self.ended = true;
            return Ok(Received { port: PortId(0), len: 0 });
        };
        while self.batch.len() < max && self.next_port() == first {
            // An error is for the next call if there are frames before it.
            let is_first = self.batch.is_empty();
            let next = self.inputs[port].next_if(|frame| is_first || frame.is_ok());
            let Some(frame) = next else { break };
            self.batch.push(frame?);
        }
        // There are fewer ports than 2^16.
        Ok(Received { port: PortId(port as u16), len: self.batch.len() })
    }

    fn frame(&mut self, place: usize) -> &mut [u8] {
        &mut self.batch[place].bytes
    }

    fn dispatch(&mut self, fates: &[Fate], _: &mut PacketCounts) -> io::Result<()> {
        for (frame, fate) in self.batch.iter().zip(fates) {
            match *fate {
                Fate::Transmit { port, len } => {
                    let bytes = &frame.bytes[..frame.bytes.len().min(len.into())];
                    self.outputs[port.index()].write(frame.time, bytes)?;
                }
                Fate::Stop(cause) if cause.outcome() == Disposition::Kernel => {
                    if let Some(kernel) = &mut self.kernel {
                        kernel.write(frame.time, &frame.bytes)?;
                    }
                }
                Fate::Stop(_) => {}
            }
        }
        Ok(())
    }

    fn wait(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }

    fn is_ended(&self) -> bool {
        self.ended
    }
}

/// Writes a pcap file of Ethernet frames, with times in nanoseconds.
pub struct CaptureWriter<W> {
    to: W,
}

impl<W: Write> CaptureWriter<W> {
    /// Writes the header of the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut to: W) -> io::Result<Self> {
        const MAGIC: u32 = 0xa1b2_3c4d;
        const VERSION: [u16; 2] = [2, 4];
        const SNAP_LEN: u32 = 262_144;
        const ETHERNET: u32 = 1;
        to.write_all(&MAGIC.to_le_bytes())?;
        for number in VERSION {
            to.write_all(&number.to_le_bytes())?;
        }
        for number in [0, 0, SNAP_LEN, ETHERNET] {
            to.write_all(&number.to_le_bytes())?;
        }
        Ok(Self { to })
    }

    /// Writes a frame. Its time ends in the year 2106, where the format's does.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, time: Duration, frame: &[u8]) -> io::Result<()> {
        let seconds = u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        let len = u32::try_from(frame.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        for number in [seconds, time.subsec_nanos(), len, len] {
            self.to.write_all(&number.to_le_bytes())?;
        }
        self.to.write_all(frame)
    }

    /// Writes the buffered frames.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        Ok(self.to)
    }
}
