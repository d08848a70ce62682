//! Loading of prefixes with their columns.

use std::io::Read;
use std::path::Path;

use longmatch::table::PrefixData;

use crate::data::{Store, types};
use crate::error::FeedError;
use crate::options::Options;
use crate::read::{self, To};
use crate::report::Report;
use crate::source::Source;

/// Loads the prefixes of a file and their columns.
///
/// The content determines the format and the compression (gzip, bzip2, zstd or xz); see
/// [the formats](crate#prefix-data). [`DataLoader`] merges several files.
///
/// ```no_run
/// use longmatch_feed::{Options, load_data_path};
/// let (data, report) = load_data_path("sites.csv.gz", &Options::default())?;
/// println!("{} prefixes from {}", data.table().len(), report.read_as);
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
///
/// # Errors
/// If the file cannot be opened or read, is damaged, or does not fit the options.
pub fn load_data_path(
    path: impl AsRef<Path>,
    options: &Options,
) -> Result<(PrefixData, Report), FeedError> {
    let mut loader = DataLoader::new(options.clone());
    let report = loader.path(path)?;
    Ok((loader.finish()?, report))
}

/// Loads the prefixes of a stream, such as standard input, and their columns.
///
/// Keeps up to [`crate::Limits::spool`] bytes of it in memory, unless it has rows of text. Error messages
/// contain `name`.
///
/// ```
/// use longmatch_feed::{Options, load_data_reader};
/// let stream = &b"192.0.2.0/24;office\n"[..];
/// let (data, _) = load_data_reader(stream, None, &Options::default())?;
/// assert_eq!(data.table().len(), 1);
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
///
/// # Errors
/// The same as [`load_data_path`].
pub fn load_data_reader(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
) -> Result<(PrefixData, Report), FeedError> {
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
/// use longmatch_feed::{Options, load_data_bytes};
/// let file = b"network,asn,site\n192.0.2.0/24,64500,office\n2001:db8::/32,64501,\n";
/// let (data, _) = load_data_bytes(file, Some("sites.csv"), &Options::default())?;
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
    options: &Options,
) -> Result<(PrefixData, Report), FeedError> {
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
/// [`Options::lenient`].
///
/// ```
/// use longmatch::table::Cell;
/// use longmatch_feed::{DataLoader, Options};
/// let mut loader = DataLoader::new(Options::default());
/// loader.bytes(b"network,asn\n192.0.2.0/24,64500\n", Some("a.csv"))?;
/// loader.bytes(b"network,site\n198.51.100.0/24,office\n", Some("b.csv"))?;
/// let data = loader.finish()?;
/// let row = data.table().lookup([198, 51, 100, 1]).unwrap();
/// assert_eq!((&row[0], row[1].borrowed()), (&Cell::Null, Cell::String("office")));
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
#[derive(Default)]
pub struct DataLoader {
    options: Options,
    store: Store,
}

impl DataLoader {
    /// A loader that has read nothing.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { store: Store::default(), options }
    }

    /// The options for the next input.
    ///
    /// Types of columns that an earlier input had stay as they were.
    pub fn options_mut(&mut self) -> &mut Options {
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
    pub fn path(&mut self, path: impl AsRef<Path>) -> Result<Report, FeedError> {
        read::path(path.as_ref(), &self.options, To::Store(&mut self.store))
    }

    /// Loads a stream.
    ///
    /// # Errors
    /// The same as [`load_data_reader`].
    pub fn reader(&mut self, reader: impl Read, name: Option<&str>) -> Result<Report, FeedError> {
        read::reader(reader, name, &self.options, To::Store(&mut self.store))
    }

    /// Loads a file in memory.
    ///
    /// # Errors
    /// The same as [`load_data_bytes`].
    pub fn bytes(&mut self, bytes: &[u8], name: Option<&str>) -> Result<Report, FeedError> {
        read::source(Source::Bytes(bytes), None, name, &self.options, To::Store(&mut self.store))
    }

    /// Returns the table.
    ///
    /// # Errors
    /// If the rows of different inputs do not fit the types of the columns, or a limit of the table is
    /// reached.
    pub fn finish(self) -> Result<PrefixData, FeedError> {
        types::finish(self.store).map_err(FeedError::whole)
    }
}
