//! The inputs of `annotate`: opened, decompressed and counted.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use longmatch_feed::{Stream, open_file};

use super::capture::Rows;
use super::signals::Signals;
use crate::args::AnnotateArgs;
use crate::error::CliError;
use crate::lines::{Blocks, MAX_LINE};
use crate::paths::{display_name, is_stdin};
use crate::stdin;

/// An input and its properties.
pub struct Input {
    /// The blocks of its lines.
    pub blocks: Blocks<Stream>,
    /// Its path, or `-`.
    pub path: PathBuf,
    /// Its name in messages.
    pub name: String,
    /// The size of the file, for the time left.
    pub size: Option<u64>,
    /// Bytes read from the file.
    pub read: Arc<AtomicU64>,
    /// Whether lines are passed on as they come.
    live: bool,
}

impl Input {
    /// Opens an input.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(args: &AnnotateArgs, path: &Path, signals: &Signals) -> Result<Self, CliError> {
        let name = display_name(path);
        let read = Arc::new(AtomicU64::new(0));
        let failed = |error: &dyn std::fmt::Display| CliError::input(&name, error);
        let (raw, size): (Box<dyn Read + Send>, _) = if is_stdin(path) {
            let (stdin, size) = (stdin::open().map_err(|error| failed(&error))?, stdin::size());
            (Box::new(signals.reader(stdin, size.is_none())), size)
        } else {
            let file = open_file(path).map_err(|error| failed(&error))?;
            let size = file.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
            (Box::new(signals.reader(file, size.is_none())), size)
        };
        let counted = Counted { inner: raw, count: read.clone() };
        let stream = Stream::new(Box::new(counted)).map_err(|error| failed(&error))?;
        // Only lines of live, uncompressed input are passed on at once.
        let live = size.is_none() && stream.codec().is_none() && args.codec().is_none();
        let blocks = Blocks::with(stream, args.block.max(1), MAX_LINE, !live);
        Ok(Self { blocks, path: path.into(), name, size, read, live })
    }

    /// The rows of a capture, as an input of CSV.
    ///
    /// # Errors
    /// If the system does not start a thread.
    pub fn capture(self, args: &AnnotateArgs) -> Result<Self, CliError> {
        let Self { blocks, path, name, size, read, live } = self;
        let (first, rest) = blocks.into_parts();
        let rows = Rows::of(Cursor::new(first).chain(rest), name.clone(), live);
        let rows = rows.map_err(|error| CliError::input(&name, error))?;
        let stream = Stream::new(Box::new(rows)).map_err(|error| CliError::input(&name, error))?;
        let blocks = Blocks::with(stream, args.block.max(1), MAX_LINE, !live);
        Ok(Self { blocks, path, name, size, read, live })
    }

    /// The error of reading.
    pub fn failed(&self, error: io::Error) -> CliError {
        CliError::input(&self.name, self.blocks.reader().explain(error))
    }
}

/// A reader that counts its bytes.
pub struct Counted<R> {
    /// The reader.
    pub inner: R,
    /// The number of bytes.
    pub count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
