//! Output in a separate thread: a reader that does not read delays neither packets nor routes, nor the end.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use longmatch_cli::error::CliError;
use longmatch_cli::output::warn;

use super::counts::Sample;
use super::print::Printer;
use crate::args::ForwardArgs;

/// Items that wait to be written.
const WAITING: usize = 4;
/// The time that the last item has.
const PATIENCE: Duration = Duration::from_millis(500);

enum Item {
    Interval(Box<Sample>),
    End(Box<Sample>),
    Warning(String),
}

/// Standard output and standard error of the forwarder.
pub(super) struct Output {
    sender: SyncSender<Item>,
    thread: JoinHandle<Result<(), CliError>>,
    interval: Duration,
    last: Instant,
    left_out: u64,
}

impl Output {
    /// # Errors
    /// If the system has no thread left.
    pub(super) fn new(args: &ForwardArgs) -> Result<Self, CliError> {
        let (sender, items) = sync_channel(WAITING);
        let (json, interval) = (args.json, Duration::from_secs_f64(args.interval));
        let write = move || write(Printer::new(json), &items);
        let thread = thread::Builder::new().name("output".to_owned()).spawn(write);
        let thread = thread.map_err(|error| CliError::input("a thread for the output", error))?;
        Ok(Self { sender, thread, interval, last: Instant::now(), left_out: 0 })
    }

    /// Writes a warning, unless earlier lines are not read.
    pub(super) fn warn(&self, text: String) {
        let _ = self.sender.try_send(Item::Warning(text));
    }

    /// Time of the next line.
    pub(super) fn next(&self) -> Instant {
        self.last + self.interval
    }

    /// Whether standard output cannot be written any more.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Lines that were not written, because earlier ones were not read.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Writes the rates since the last line, or counts the line as left out.
    pub(super) fn interval(&mut self, sample: Sample) {
        self.last = Instant::now();
        if let Err(TrySendError::Full(_)) = self.sender.try_send(Item::Interval(sample.into())) {
            self.left_out += 1;
        }
    }

    /// Writes the counts of all packets, if they are read soon.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub(super) fn end(self, sample: Sample) -> Result<(), CliError> {
        let mut item = Item::End(sample.into());
        let until = Instant::now() + PATIENCE;
        while let Err(TrySendError::Full(full)) = self.sender.try_send(item) {
            item = full;
            if !pause(until) {
                return Ok(());
            }
        }
        while !self.thread.is_finished() {
            if !pause(until) {
                return Ok(());
            }
        }
        self.thread.join().unwrap_or(Ok(()))
    }
}

/// Waits a moment. False after the given time.
fn pause(until: Instant) -> bool {
    thread::sleep(Duration::from_millis(5));
    Instant::now() < until
}

/// Writes items until the last one.
fn write(mut printer: Printer, items: &Receiver<Item>) -> Result<(), CliError> {
    for item in items {
        match item {
            Item::Interval(sample) => printer.interval(&sample)?,
            Item::End(sample) => return printer.end(&sample),
            Item::Warning(text) => warn(text),
        }
    }
    Ok(())
}
