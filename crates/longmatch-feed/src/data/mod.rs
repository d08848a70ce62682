//! Reading of prefix data: prefixes with any columns, from any format.
//!
//! [`detect`] recognises the format, [`shape`] the columns of text; [`text`], [`routes`], [`mmdb`] and
//! [`compiled`] read the rows into a [`store`], which has each distinct row once; [`types`] chooses
//! the columns' types and makes the table.

pub(crate) mod error;
pub(crate) mod options;
pub(crate) mod report;

mod announce;
mod compiled;
mod detect;
mod json;
mod key;
mod listing;
mod mmdb;
mod names;
mod routes;
mod rows;
mod shape;
mod split;
mod store;
mod text;
mod types;

pub(crate) use announce::announce;
pub(crate) use detect::{LOOKAHEAD, is_data};

use std::io::Read;
use std::path::Path;

use longmatch::table::PrefixData;

use crate::decompress::{StreamError, explain};
use crate::error::{FeedError, Place, Problem};
use crate::input::Input;
use crate::mrt;
use crate::options::Format;
use crate::source::{Job, Opened, Source, open_file};
use detect::Text;
use error::DataError;
use options::{DataFormat, DataOptions};
use report::DataReport;
use store::Store;

/// Loads the prefixes of a file and their columns.
///
/// The content determines the format and the compression (gzip, bzip2, zstd or xz); see
/// [the formats](crate#prefix-data). [`DataLoader`] merges several files.
///
/// ```no_run
/// use longmatch_feed::{DataOptions, load_data_path};
/// let (data, report) = load_data_path("sites.csv.gz", &DataOptions::default())?;
/// println!("{} prefixes from {}", data.table().len(), report.read_as);
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
///
/// # Errors
/// If the file cannot be opened or read, is damaged, or does not fit the options.
pub fn load_data_path(
    path: impl AsRef<Path>,
    options: &DataOptions,
) -> Result<(PrefixData, DataReport), FeedError> {
    let mut loader = DataLoader::new(options.clone());
    let report = loader.path(path)?;
    Ok((loader.finish()?, report))
}

/// Loads the prefixes of a stream, such as standard input, and their columns.
///
/// Reads the stream to its end first, up to [`crate::Limits::spool`] bytes in memory. Error messages
/// contain `name`.
///
/// ```
/// use longmatch_feed::{DataOptions, load_data_reader};
/// let stream = &b"192.0.2.0/24;office\n"[..];
/// let (data, _) = load_data_reader(stream, None, &DataOptions::default())?;
/// assert_eq!(data.table().len(), 1);
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
///
/// # Errors
/// The same as [`load_data_path`].
pub fn load_data_reader(
    reader: impl Read,
    name: Option<&str>,
    options: &DataOptions,
) -> Result<(PrefixData, DataReport), FeedError> {
    let mut loader = DataLoader::new(options.clone());
    let report = loader.reader(reader, name)?;
    Ok((loader.finish()?, report))
}

/// Loads the prefixes of a file in memory, compressed or not, and their columns.
///
/// Error messages contain `name`.
///
/// ```
/// use longmatch::table::Cell;
/// use longmatch_feed::{DataOptions, load_data_bytes};
/// let file = b"network,asn,site\n192.0.2.0/24,64500,office\n2001:db8::/32,64501,\n";
/// let (data, _) = load_data_bytes(file, Some("sites.csv"), &DataOptions::default())?;
/// let row = data.table().lookup([192, 0, 2, 1]).unwrap();
/// assert_eq!((&row[0], row[1].borrowed()), (&Cell::U64(64500), Cell::String("office")));
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
///
/// # Errors
/// The same as [`load_data_path`].
pub fn load_data_bytes(
    bytes: &[u8],
    name: Option<&str>,
    options: &DataOptions,
) -> Result<(PrefixData, DataReport), FeedError> {
    let mut loader = DataLoader::new(options.clone());
    let report = loader.bytes(bytes, name)?;
    Ok((loader.finish()?, report))
}

/// Loads several inputs into one table.
///
/// The table has the columns of all inputs, by name; a row of an input without a column has null there.
/// The rows of later inputs replace those of earlier ones for the same prefix. The types of columns
/// are inferred from all inputs together.
///
/// After an error the loader has a part of that input: drop it, or set
/// [`Options::lenient`](crate::Options::lenient).
///
/// ```
/// use longmatch::table::Cell;
/// use longmatch_feed::{DataLoader, DataOptions};
/// let mut loader = DataLoader::new(DataOptions::default());
/// loader.bytes(b"network,asn\n192.0.2.0/24,64500\n", Some("a.csv"))?;
/// loader.bytes(b"network,site\n198.51.100.0/24,office\n", Some("b.csv"))?;
/// let data = loader.finish()?;
/// let row = data.table().lookup([198, 51, 100, 1]).unwrap();
/// assert_eq!((&row[0], row[1].borrowed()), (&Cell::Null, Cell::String("office")));
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
#[derive(Default)]
pub struct DataLoader {
    options: DataOptions,
    store: Store,
}

impl DataLoader {
    /// A loader that has read nothing.
    #[must_use]
    pub fn new(options: DataOptions) -> Self {
        Self { options, store: Store::default() }
    }

    /// The options for the next input.
    ///
    /// Types of columns that an earlier input had stay as they were.
    pub fn options_mut(&mut self) -> &mut DataOptions {
        &mut self.options
    }

    /// The prefixes read so far.
    #[must_use]
    pub fn len(&self) -> usize {
        let (ipv4, ipv6) = self.store.lens();
        ipv4 + ipv6
    }

    /// Whether no prefix has been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Loads a file.
    ///
    /// # Errors
    /// The same as [`load_data_path`].
    pub fn path(&mut self, path: impl AsRef<Path>) -> Result<DataReport, FeedError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let open = |error| FeedError::at(Place::Whole, Problem::Open(error)).named(Some(&name));
        let file = open_file(path).map_err(|error| error.named(Some(&name)))?;
        // The bytes of a pipe can be read only once.
        if !file.metadata().map_err(open)?.is_file() {
            return self.reader(file, Some(&name));
        }
        self.source(Source::Path(path), Some(&name))
    }

    /// Loads a stream.
    ///
    /// # Errors
    /// The same as [`load_data_reader`].
    pub fn reader(
        &mut self,
        reader: impl Read,
        name: Option<&str>,
    ) -> Result<DataReport, FeedError> {
        let limit = self.options.input.limits.spool;
        let mut bytes = Vec::new();
        let result = reader.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        if bytes.len() as u64 > limit {
            return Err(FeedError::at(Place::Whole, Problem::TooLarge { limit }).named(name));
        }
        let Err(error) = result else { return self.bytes(&bytes, name) };
        let error = FeedError::stream(bytes.len() as u64, StreamError::Read(error)).named(name);
        if !self.options.input.lenient {
            return Err(error);
        }
        let mut report = self.bytes(&bytes, name)?;
        report.cut_off = true;
        report.note_damage(error);
        report.refuse_damage_without_rows()?;
        Ok(report)
    }

    /// Loads a file in memory.
    ///
    /// # Errors
    /// The same as [`load_data_bytes`].
    pub fn bytes(&mut self, bytes: &[u8], name: Option<&str>) -> Result<DataReport, FeedError> {
        self.source(Source::Bytes(bytes), name)
    }

    /// Returns the table.
    ///
    /// # Errors
    /// If the rows of different inputs do not fit the types of the columns, or a limit of the table is
    /// reached.
    pub fn finish(self) -> Result<PrefixData, FeedError> {
        types::finish(self.store).map_err(|error| FeedError::at(Place::Whole, Problem::data(error)))
    }

    /// Loads a source. Returns the report.
    pub(super) fn source(
        &mut self,
        source: Source<'_>,
        name: Option<&str>,
    ) -> Result<DataReport, FeedError> {
        let mut report = DataReport::default();
        let lenient = self.options.input.lenient;
        match self.load(source, &mut report) {
            Ok(()) => {}
            Err(error) if lenient && error.is_damage() => {
                report.cut_off = true;
                report.note_damage(error);
            }
            Err(error) => return Err(read_as(error, &report.read_as).named(name)),
        }
        let first = report.first_damage.take();
        report.first_damage = first.map(|error| read_as(error, &report.read_as).named(name));
        report.refuse_damage_without_rows()?;
        Ok(report)
    }

    fn load(&mut self, source: Source<'_>, report: &mut DataReport) -> Result<(), FeedError> {
        let mut opened = Job { source, options: &self.options.input }.open()?;
        report.codec = opened.codec;
        match recognise(&mut opened, &self.options)? {
            Recognised::Binary(format) => {
                report.format = format;
                let (options, store) = (&self.options, &mut self.store);
                binary(opened, (source, format), options, store, report)
            }
            Recognised::Routes(format, has_paths) => {
                report.format = DataFormat::Routes;
                report.read_as = format!("routes in {format}");
                drop(opened);
                routes::load(source, (format, has_paths), &self.options, &mut self.store, report)
            }
            Recognised::Text(shape) => {
                report.format = shape.format;
                report.read_as = shape.to_string();
                text::load(opened, &shape, &self.options, &mut self.store, report)
            }
        }
    }
}

/// Whether an input that is neither MRT nor text is a format of prefix data. Reads it whole, unless
/// its first bytes tell.
pub(crate) fn is_binary(opened: &mut Opened<'_>, limit: u64) -> bool {
    compiled::looks_like(opened.input.window())
        || whole(opened, limit).is_ok_and(|bytes| mmdb::looks_like(&bytes))
}

/// Loads a format that needs the whole input in memory.
fn binary(
    mut opened: Opened<'_>,
    (source, format): (Source<'_>, DataFormat),
    options: &DataOptions,
    store: &mut Store,
    report: &mut DataReport,
) -> Result<(), FeedError> {
    let bytes = whole(&mut opened, options.input.limits.spool)?;
    report.bytes = bytes.len() as u64;
    report.input_bytes = opened.taken.get();
    let result = match format {
        DataFormat::Compiled => compiled::load(bytes, options, store, report),
        DataFormat::Json => {
            report.read_as = "JSON".to_owned();
            return json::load(&bytes, options, store, report);
        }
        DataFormat::Mmdb | DataFormat::Auto if mmdb::looks_like(&bytes) => {
            report.format = DataFormat::Mmdb;
            mmdb::load(&bytes, options, store, report)
        }
        // MRT whose first records are damaged.
        DataFormat::Auto if mrt::looks_like(&bytes) => {
            report.format = DataFormat::Routes;
            return routes::load(source, (Format::Mrt, true), options, store, report);
        }
        _ => Err(DataError::UnknownFormat),
    };
    result.map_err(|error| FeedError::at(Place::Whole, Problem::data(error)))
}

/// Adds the recognised format to an error.
fn read_as(error: FeedError, format: &str) -> FeedError {
    match error {
        FeedError { input, place, problem: Problem::Data { error, read_as: None } }
            if !format.is_empty() =>
        {
            let problem = Problem::Data { error, read_as: Some(format.to_owned()) };
            FeedError { input, place, problem }
        }
        other => other,
    }
}

/// What an input is.
enum Recognised {
    /// JSON, an mmdb, or a compiled table; Auto if only the whole file can tell.
    Binary(DataFormat),
    /// The format, and whether its routes have AS paths.
    Routes(Format, bool),
    Text(shape::Shape),
}

/// Recognises the format of an input, if the options do not name it.
fn recognise(opened: &mut Opened<'_>, options: &DataOptions) -> Result<Recognised, FeedError> {
    let input = &mut opened.input;
    if matches!(options.format, DataFormat::Mmdb | DataFormat::Compiled) {
        return Ok(Recognised::Binary(options.format));
    }
    let have = input.fill(detect::LOOKAHEAD);
    if compiled::looks_like(input.window()) {
        return Ok(Recognised::Binary(DataFormat::Compiled));
    }
    if mrt::begins(input, options.input.limits.record) {
        return Ok(Recognised::Routes(Format::Mrt, true));
    }
    if have == 0
        && let Some(error) = input.take_error()
    {
        return Err(FeedError::stream(0, explain(error, opened.codec)));
    }
    let head = &input.window()[..input.window().len().min(detect::LOOKAHEAD)];
    let is_text = memchr::memchr(0, head).is_none();
    if !is_text && options.format == DataFormat::Auto {
        return Ok(Recognised::Binary(DataFormat::Auto));
    }
    let text = detect::text(head, have < detect::LOOKAHEAD, options);
    let text = text.map_err(|error| FeedError::at(Place::Whole, Problem::data(error)))?;
    Ok(match text {
        Text::Routes(format) => Recognised::Routes(format, detect::has_paths(head)),
        Text::Json => Recognised::Binary(DataFormat::Json),
        Text::Shape(shape) => Recognised::Text(shape),
    })
}

/// The whole input, in memory.
pub(crate) fn whole(opened: &mut Opened<'_>, limit: u64) -> Result<Vec<u8>, FeedError> {
    let input: &mut Input<'_> = &mut opened.input;
    let mut bytes = Vec::new();
    while input.fill(1) > 0 {
        let window = input.window();
        if (bytes.len() + window.len()) as u64 > limit {
            return Err(FeedError::at(Place::Whole, Problem::TooLarge { limit }));
        }
        bytes.extend_from_slice(window);
        let len = window.len();
        input.consume(len);
    }
    match input.take_error() {
        Some(error) => Err(FeedError::stream(bytes.len() as u64, explain(error, opened.codec))),
        None => Ok(bytes),
    }
}
