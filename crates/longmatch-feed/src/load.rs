//! Loading of routes: open the input, find its format, parse it into a sink.
//!
//! Most formats take more than one pass. An input that cannot be opened twice, such as standard
//! input, is kept in memory as it came, still compressed.

use std::io::Read;
use std::path::Path;

use crate::decompress::StreamError;
use crate::error::{FeedError, Place, Problem};
use crate::options::{Format, Options};
use crate::report::Report;
use crate::sink::Sink;
use crate::source::{Job, Opened, Source, open_file};
use crate::text::BOM;
use crate::{data, mrt, routes};

/// Loads the routes of a file.
///
/// The content determines the format, that of routes or of prefix data, and the compression (gzip,
/// bzip2, zstd or xz). See [the formats](crate#formats). To load several files into one table, call this
/// function once per file: later routes replace earlier ones.
///
/// # Errors
/// If the file cannot be opened or read, or is damaged. The sink then has the routes before the
/// damage: drop it, or set [`Options::lenient`] to keep those routes.
pub fn load_path(
    path: impl AsRef<Path>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Report, FeedError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let open = |error| FeedError::at(Place::Whole, Problem::Open(error)).named(Some(&name));
    let file = open_file(path).map_err(|error| error.named(Some(&name)))?;
    // The bytes of a pipe can be read only once.
    if !file.metadata().map_err(open)?.is_file() {
        return load_reader(file, Some(&name), options, sink);
    }
    run(&Job { source: Source::Path(path), options }, Some(&name), sink)
}

/// Loads the routes of a stream, such as standard input.
///
/// Reads the stream to its end first, up to [`crate::Limits::spool`] bytes in memory. Error
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
    let limit = options.limits.spool;
    let mut bytes = Vec::new();
    let result = reader.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    if bytes.len() as u64 > limit {
        return Err(FeedError::at(Place::Whole, Problem::TooLarge { limit }).named(name));
    }
    let failure = result
        .err()
        .map(|error| FeedError::stream(bytes.len() as u64, StreamError::Read(error)).named(name));
    match failure {
        None => load_bytes(&bytes, name, options, sink),
        Some(error) if options.lenient => {
            let mut report = load_bytes(&bytes, name, options, sink)?;
            report.cut_off = true;
            report.note_damage(error);
            report.refuse_damage_without_routes()?;
            Ok(report)
        }
        Some(error) => Err(error),
    }
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
    run(&Job { source: Source::Bytes(bytes), options }, name, sink)
}

/// Loads the input of a job. Returns the report.
fn run(job: &Job<'_>, name: Option<&str>, sink: &mut dyn Sink) -> Result<Report, FeedError> {
    routes::reported(job, name, |report| load(job, sink, report))
}

/// Loads a job's input with the parser of its format.
fn load(job: &Job<'_>, sink: &mut dyn Sink, report: &mut Report) -> Result<(), FeedError> {
    let mut opened = job.open()?;
    report.codec = opened.codec;
    report.format = match job.options.format {
        Format::Auto => find_format(job, &mut opened)?,
        format => format,
    };
    if report.format == Format::Data {
        drop(opened);
        return data::announce(job, sink, report);
    }
    routes::load(job, opened, sink, report)
}

/// Detects the format: text, JSON, MRT or prefix data.
fn find_format<'a>(job: &Job<'a>, opened: &mut Opened<'a>) -> Result<Format, FeedError> {
    let limits = job.options.limits;
    if mrt::begins(&mut opened.input, limits.record) {
        return Ok(Format::Mrt);
    }
    let have = opened.input.fill(data::LOOKAHEAD);
    let window = opened.input.window();
    let head = &window[..window.len().min(mrt::HEADER_LEN)];
    // MRT whose first records are damaged looks like it still.
    let is_mrt = mrt::looks_like(head);
    if is_mrt || head.contains(&0) || head.starts_with(b"\x89") {
        let is_data = data::is_binary(opened, limits.spool);
        *opened = job.open()?;
        return match (is_data, is_mrt) {
            (true, _) => Ok(Format::Data),
            (_, true) => Ok(Format::Mrt),
            _ => Err(FeedError::at(Place::Byte(0), Problem::UnknownFormat)),
        };
    }
    let lines = &window[..window.len().min(data::LOOKAHEAD)];
    if data::is_data(lines, have < data::LOOKAHEAD) {
        return Ok(Format::Data);
    }
    // No valid line of text begins with a bracket.
    let head = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    Ok(if head.starts_with(b"[") { Format::Json } else { Format::Text })
}
