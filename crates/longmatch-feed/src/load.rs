//! The way from an input to a sink: open, decompress, find the format, parse.
//!
//! Which peer to take is known only after the whole input has been read once, and an MRT dump is
//! too large to keep. So an input is something that can be opened again; what cannot be, such as
//! standard input, is kept in memory as it came, still compressed.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use crate::decompress::{self, Codec};
use crate::error::{FeedError, Place, Problem};
use crate::input::Input;
use crate::options::{Format, Limits, Options};
use crate::report::Report;
use crate::sink::Sink;
use crate::text::BOM;
use crate::{mrt, text};

/// Loads the routes of a file.
///
/// Text, JSON and MRT are told apart by their first bytes, as are gzip, bzip2 and zstd. To load several
/// files into one table, call this once for each: later routes replace earlier ones.
///
/// # Errors
/// When the file cannot be opened or read, or is damaged. The sink then has the routes that came
/// before the damage; drop it, or set [`Options::lenient`] and keep it.
pub fn load_path(
    path: impl AsRef<Path>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Report, FeedError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let open = |error| FeedError::at(Place::Whole, Problem::Open(error)).named(Some(&name));
    let file = open_file(path).map_err(|error| error.named(Some(&name)))?;
    // A pipe gives its bytes only once.
    if !file.metadata().map_err(open)?.is_file() {
        return load_reader(file, Some(&name), options, sink);
    }
    Job { source: Source::Path(path), options }.run(Some(&name), sink)
}

/// Loads the routes of a stream, such as standard input. The stream is read to its end first, and
/// kept in memory up to [`crate::Limits::spool`] bytes. `name` is for error messages.
///
/// # Errors
/// As [`load_path`].
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
    let failure = result.err().map(|error| {
        FeedError::at(Place::Byte(bytes.len() as u64), Problem::Read(error)).named(name)
    });
    match failure {
        None => load_bytes(&bytes, name, options, sink),
        Some(error) if options.lenient => {
            let mut report = load_bytes(&bytes, name, options, sink)?;
            report.cut_off = true;
            report.note_damage(error);
            report.refuse_nothing_but_damage()?;
            Ok(report)
        }
        Some(error) => Err(error),
    }
}

/// Loads the routes of a file that is in memory, compressed or not. `name` is for error messages.
///
/// # Errors
/// As [`load_path`].
pub fn load_bytes(
    bytes: &[u8],
    name: Option<&str>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Report, FeedError> {
    Job { source: Source::Bytes(bytes), options }.run(name, sink)
}

/// Bytes that can be read from the start more than once.
#[derive(Clone, Copy)]
enum Source<'a> {
    Path(&'a Path),
    Bytes(&'a [u8]),
}

/// One input and how to read it.
pub(crate) struct Job<'a> {
    source: Source<'a>,
    pub(crate) options: &'a Options,
}

/// A decompressed input at its first byte.
pub(crate) struct Opened<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) codec: Option<Codec>,
    /// Bytes taken from the compressed input so far.
    pub(crate) taken: Rc<Cell<u64>>,
}

impl<'a> Job<'a> {
    fn run(&self, name: Option<&str>, sink: &mut dyn Sink) -> Result<Report, FeedError> {
        let mut report = Report::default();
        match self.load(sink, &mut report) {
            Ok(()) => {}
            Err(error) if self.options.lenient && error.is_damage() => {
                report.cut_off = true;
                report.note_damage(error.named(name));
            }
            Err(error) => return Err(error.named(name)),
        }
        report.first_damage = report.first_damage.map(|error| error.named(name));
        report.refuse_nothing_but_damage()?;
        Ok(report)
    }

    fn load(&self, sink: &mut dyn Sink, report: &mut Report) -> Result<(), FeedError> {
        let mut opened = self.open()?;
        report.codec = opened.codec;
        report.format = match self.options.format {
            Format::Auto => find_format(&mut opened.input)?,
            format => format,
        };
        match report.format {
            Format::Mrt => mrt::load(self, opened, sink, report),
            Format::Json => text::load_json(self, opened, sink, report),
            _ => text::load(self, opened, sink, report),
        }
    }

    /// Opens the input at its first byte.
    pub(crate) fn open(&self) -> Result<Opened<'a>, FeedError> {
        let raw: Box<dyn Read + 'a> = match self.source {
            Source::Bytes(bytes) => Box::new(bytes),
            Source::Path(path) => Box::new(open_file(path)?),
        };
        open(raw, self.options.limits)
    }
}

/// Opens a stream that may be compressed.
pub(crate) fn open<'a>(raw: Box<dyn Read + 'a>, limits: Limits) -> Result<Opened<'a>, FeedError> {
    let decoded = decompress::decode(raw, limits)?;
    let mut input = Input::new(decoded.reader);
    if let Some(codec) = decoded.codec {
        input.fill(mrt::HEADER_LEN);
        decompress::refuse_nested(codec, input.window())?;
    }
    Ok(Opened { input, codec: decoded.codec, taken: decoded.taken })
}

/// Tells text, JSON and MRT apart.
fn find_format(input: &mut Input<'_>) -> Result<Format, FeedError> {
    input.fill(mrt::HEADER_LEN);
    let head = input.window();
    let head = &head[..head.len().min(mrt::HEADER_LEN)];
    if mrt::looks_like(head) {
        Ok(Format::Mrt)
    } else if !head.contains(&0) {
        // No line of text begins with a bracket.
        let head = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
        Ok(if head.starts_with(b"[") { Format::Json } else { Format::Text })
    } else {
        Err(FeedError::at(Place::Byte(0), Problem::UnknownFormat))
    }
}

/// Opens a file, and no directory: opening one succeeds, and only reading it does not.
pub(crate) fn open_file(path: &Path) -> Result<File, FeedError> {
    let open = |error: io::Error| FeedError::at(Place::Whole, Problem::Open(error));
    let file = File::open(path).map_err(open)?;
    if file.metadata().map_err(open)?.is_dir() {
        let error = "it is a directory: name a file in it";
        return Err(open(io::Error::new(io::ErrorKind::IsADirectory, error)));
    }
    Ok(file)
}
