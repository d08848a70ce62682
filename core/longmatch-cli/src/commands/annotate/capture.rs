//! A packet capture as rows of CSV.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use longmatch_feed::{Options, packets, printable};

use crate::output::warn;

/// The columns, and the one with the addresses unless `--column` names others.
const HEADER: &[u8] = b"time,source,destination\n";
pub const COLUMN: &str = "destination";

/// Bytes of rows that are passed on at once, and the number of these portions that may wait.
const PORTION: usize = 256 << 10;
const PORTIONS: usize = 4;

/// The rows, which a separate thread reads ahead.
pub struct Rows {
    portions: Receiver<io::Result<Vec<u8>>>,
    portion: io::Cursor<Vec<u8>>,
}

impl Rows {
    /// Starts to read a capture. Each row is passed on at once if the capture is `live`.
    ///
    /// # Errors
    /// If the system does not start a thread.
    pub fn of(capture: impl Read + Send + 'static, name: String, live: bool) -> io::Result<Self> {
        let (sender, portions) = sync_channel(PORTIONS);
        let full = if live { 0 } else { PORTION };
        let work = move || {
            let mut portion = HEADER.to_vec();
            let report = packets(capture, None, &Options::default(), |packet| {
                let (seconds, nanos) = (packet.time.as_secs(), packet.time.subsec_nanos());
                let (from, to) = (packet.source, packet.destination);
                // Writing to memory does not fail.
                let _ = writeln!(portion, "{seconds}.{nanos:09},{from},{to}");
                let sent =
                    portion.len() <= full || sender.send(Ok(std::mem::take(&mut portion))).is_ok();
                // Otherwise the command has ended.
                if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            // The rows before the damage come first.
            let _ = sender.send(Ok(portion));
            match report {
                Ok(report) => report
                    .warnings()
                    .iter()
                    .for_each(|warning| warn(format_args!("{}: {warning}", printable(&name)))),
                Err(error) => drop(sender.send(Err(io::Error::other(error.to_string())))),
            }
        };
        thread::Builder::new().name("capture".to_owned()).spawn(work)?;
        Ok(Self { portions, portion: io::Cursor::default() })
    }
}

impl Read for Rows {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.portion.read(buf)? {
                0 if !buf.is_empty() => match self.portions.recv() {
                    Ok(portion) => self.portion = io::Cursor::new(portion?),
                    Err(_) => return Ok(0),
                },
                count => return Ok(count),
            }
        }
    }
}
