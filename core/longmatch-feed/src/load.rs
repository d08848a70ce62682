//! Loading of routes into a sink.

use std::io::Read;
use std::path::Path;

use crate::error::FeedError;
use crate::options::Options;
use crate::read::{self, To};
use crate::report::Report;
use crate::sink::Sink;
use crate::source::Source;

/// Loads the routes of a file.
///
/// The content determines the [format](crate#formats) and the compression (gzip, bzip2, zstd or xz); a path
/// `FILE:MEMBER` names a member of an archive. Of a format
/// other than routes, the next hop of a prefix is the text of its columns, separated by commas; without columns the
/// prefix itself. To load several files into one table, call this function once per file: later routes replace
/// earlier ones.
///
/// # Errors
/// If the file cannot be opened or read, or is damaged. The sink then has the routes before the
/// damage: drop it, or set [`Options::lenient`] to keep those routes.
pub fn load_path(
    path: impl AsRef<Path>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Report, FeedError> {
    read::path(path.as_ref(), options, To::Sink(sink))
}

/// Loads the routes of a stream, such as standard input.
///
/// Keeps up to [`crate::Limits::spool`] bytes of it in memory, unless it has rows of text. Error
/// messages contain `name`.
///
/// # Errors
/// The same as [`load_path`].
pub fn load_reader(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Report, FeedError> {
    read::reader(reader, name, options, To::Sink(sink))
}

/// Loads the routes of a file in memory, compressed or not.
///
/// Error messages contain `name`.
///
/// # Errors
/// The same as [`load_path`].
pub fn load_bytes(
    bytes: &[u8],
    name: Option<&str>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Report, FeedError> {
    read::source(Source::Bytes(bytes), None, name, options, To::Sink(sink))
}
