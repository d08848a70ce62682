//! Writing of MaxMind DB files (`.mmdb`), which many programs read to find the values of an address.
//!
//! A file answers as the table of the [`PrefixData`] does for every address: the values of the longest prefix. Where
//! the format cannot, there is an error or an option:
//!
//! - IPv4 addresses are the IPv6 addresses of `::/96` in the format. IPv4 counts there: an IPv6 prefix that covers
//!   `::/96` does not answer for it, and one inside it is an error ([`MmdbOptions::drop_compatible`]).
//! - `::ffff:0:0/96` answers as IPv4, as tables do. [`MmdbOptions::aliases`] adds 6to4 and Teredo.
//! - Data without IPv6 prefixes make a file of IP version 4: readers refuse IPv6 addresses in it.
//!
//! The network that a reader reports is the largest block around the address in which all addresses have the same
//! values. It is never larger, and it may join prefixes, or be a part of one.
//!
//! A record is a map from the columns to the cells that are not null, with each dot of a column's name a step into an
//! inner map, as [`load_data_path`](crate::load_data_path) names the columns of such files. [`MmdbField`] states other
//! places and types.

mod fields;
mod records;
mod tree;

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use longmatch::file::{FileError, NewFile};
use longmatch::table::{PrefixData, Row};
use longmatch::{IpPrefix, NextHopId};

use fields::{Map, layout, types};
pub use fields::{MmdbField, MmdbType};
use records::{Meta, Records, Unfit};
use tree::{NOTHING, Tree, first_with};

/// The bytes between the search tree and the data.
const SEPARATOR: [u8; 16] = [0; 16];
/// The bytes before the metadata.
pub(crate) const MARKER: &[u8] = b"\xab\xcd\xefMaxMind.com";
/// The greatest metadata that readers find.
const MAX_METADATA: usize = 128 << 10;

/// Options of a MaxMind DB.
///
/// ```
/// let mut options = longmatch_feed::mmdb::MmdbOptions::default();
/// options.database_type = "GeoLite2-City".into();
/// options.fields = vec!["site=city.names.en".parse()?];
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MmdbOptions {
    /// The database's type, by which some programs choose the fields that they read. Default: `longmatch`.
    pub database_type: String,
    /// The languages of names. Default: none.
    pub languages: Vec<String>,
    /// Descriptions by their language. Default: one in `en`.
    pub descriptions: Vec<(String, String)>,
    /// Places and types of columns. Default: each column's name is its path.
    pub fields: Vec<MmdbField>,
    /// The time of the database in seconds since 1970. Default: the environment variable `SOURCE_DATE_EPOCH`, else now.
    pub build_time: Option<u64>,
    /// Whether 6to4 (`2002::/16`) and Teredo (`2001::/32`) addresses have the values of the IPv4 address in them, as in
    /// MaxMind's databases; of Teredo it is the server's. A prefix inside them is an error then. Default: no.
    pub aliases: bool,
    /// Leave out IPv6 prefixes inside `::/96`, which would answer for IPv4 addresses, instead of refusing them.
    pub drop_compatible: bool,
}

impl Default for MmdbOptions {
    fn default() -> Self {
        Self {
            database_type: "longmatch".to_owned(),
            languages: Vec::new(),
            descriptions: Vec::new(),
            fields: Vec::new(),
            build_time: None,
            aliases: false,
            drop_compatible: false,
        }
    }
}

/// The contents of a MaxMind DB.
///
/// ```
/// use longmatch_feed::mmdb::{MmdbOptions, write};
/// let report = write(&Default::default(), &MmdbOptions::default(), Vec::new())?;
/// assert_eq!((report.nodes, report.records, report.ip_version), (1, 0, 4));
/// # Ok::<(), longmatch_feed::mmdb::MmdbError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MmdbReport {
    /// 4 or 6.
    pub ip_version: u16,
    /// Nodes of the search tree.
    pub nodes: usize,
    /// Bits of a record of the search tree: 24, 28 or 32, the smallest that fits.
    pub record_size: u16,
    /// Distinct records.
    pub records: usize,
    /// Prefixes that [`MmdbOptions::drop_compatible`] left out.
    pub dropped: usize,
    /// Bytes of the file.
    pub bytes: u64,
}

/// The reason why a MaxMind DB is not written.
///
/// ```
/// use longmatch_feed::mmdb::{MmdbError, MmdbOptions, write};
/// let mut options = MmdbOptions::default();
/// options.fields = vec!["asn=traits.asn".parse()?];
/// let refused = write(&Default::default(), &options, Vec::new());
/// assert!(matches!(refused, Err(MmdbError::NoSuchColumn { .. })));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum MmdbError {
    /// A field names a column that the data do not have.
    NoSuchColumn {
        /// The name.
        name: String,
        /// The columns.
        columns: Vec<String>,
    },
    /// A path has an empty key, or exceeds 64 KiB.
    Path {
        /// The column.
        column: String,
        /// The path.
        path: String,
    },
    /// A path is that of another column, or begins with it.
    Collision {
        /// The column.
        column: String,
        /// The path.
        path: String,
    },
    /// A cell has no value of the type of its field.
    Cell {
        /// The column.
        column: String,
        /// The cell.
        text: String,
        /// The type.
        ty: MmdbType,
        /// A prefix with the cell.
        prefix: Option<IpPrefix>,
    },
    /// An IPv6 prefix is inside `::/96`.
    Compatible {
        /// The prefix.
        prefix: IpPrefix,
    },
    /// A prefix is inside a network that answers as IPv4.
    Aliased {
        /// The prefix.
        prefix: IpPrefix,
        /// The network.
        network: IpPrefix,
    },
    /// The metadata exceed the 128 KiB at the end of a file in which readers search for them.
    Metadata,
    /// `SOURCE_DATE_EPOCH` is not a number of seconds.
    BuildTime {
        /// The variable's text.
        text: String,
    },
    /// The nodes and the records exceed the 32 bits of the format.
    TooLarge,
    /// The output cannot be written.
    Write(io::Error),
    /// The file cannot be made or replaced.
    File(FileError),
}

impl fmt::Display for MmdbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchColumn { name, columns } => {
                let columns = columns.join(", ");
                write!(f, "no column is named '{name}': the columns are {columns}")
            }
            Self::Path { column, path } => {
                write!(
                    f,
                    "column '{column}': a key of the path '{path}' is empty or too long: name another path"
                )
            }
            Self::Collision { column, path } => write!(
                f,
                "column '{column}': the path '{path}' collides with that of another column: name \
                 another"
            ),
            Self::Cell { column, text, ty, prefix } => {
                if let Some(prefix) = prefix {
                    write!(f, "{prefix}: ")?;
                }
                write!(f, "column '{column}': '{text}' is not a value of the type {ty}")?;
                match ty {
                    MmdbType::Int32 => {
                        f.write_str(", the only signed integer: double or string may hold it")
                    }
                    _ => f.write_str(": name another type"),
                }
            }
            Self::Compatible { prefix } => write!(
                f,
                "{prefix}: a MaxMind DB has the IPv4 addresses at ::/96, so that this prefix would \
                 answer for some of them: leave it out"
            ),
            Self::Aliased { prefix, network } => write!(
                f,
                "{prefix}: addresses of {network} would have the values of the IPv4 addresses in \
                 them: leave out the prefix, or do without aliases"
            ),
            Self::Metadata => f.write_str("the metadata exceed 128 KiB: shorten the description"),
            Self::BuildTime { text } => {
                write!(f, "SOURCE_DATE_EPOCH is '{text}': expected seconds since 1970")
            }
            Self::TooLarge => f.write_str(
                "the nodes and records exceed 4 GiB, the limit of the format: keep fewer prefixes \
                 or columns",
            ),
            Self::Write(error) => write!(f, "cannot be written: {error}"),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MmdbError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write(error) => Some(error),
            Self::File(error) => Some(error),
            _ => None,
        }
    }
}

/// Writes prefixes and their columns as a MaxMind DB to a file, which it replaces at once, as [`NewFile`] does.
///
/// # Errors
/// As [`write()`], and if the file cannot be replaced; the old one stays then.
///
/// ```
/// use longmatch_feed::mmdb::{MmdbOptions, write_path};
/// use longmatch_feed::{Options, load_data_bytes, load_data_path};
/// let csv = b"network,asn\n192.0.2.0/24,64500\n2001:db8::/32,64501\n";
/// let (data, _) = load_data_bytes(csv, None, &Options::default())?;
/// let path = std::env::temp_dir().join(format!("longmatch-{}.mmdb", std::process::id()));
/// write_path(&data, &MmdbOptions::default(), &path)?;
/// let (read, _) = load_data_path(&path, &Options::default())?;
/// assert_eq!(read.table().lookup([192, 0, 2, 1]).unwrap()[0].to_string(), "64500");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_path(
    data: &PrefixData,
    options: &MmdbOptions,
    path: impl AsRef<Path>,
) -> Result<MmdbReport, MmdbError> {
    let mut file = NewFile::create(path).map_err(MmdbError::File)?;
    let report = write(data, options, &mut file)?;
    file.finish().map_err(MmdbError::File)?;
    Ok(report)
}

/// Writes prefixes and their columns as a MaxMind DB.
///
/// The bytes depend on the data, the options and the build time only. O(prefixes + nodes + cells); takes 8 bytes a
/// node, and the bytes of the data section.
///
/// # Errors
/// If a field does not fit the columns, a cell does not fit its type, a prefix has no place of its own in the format,
/// the file would be too large, or the output fails. Only in the last case has anything been written.
///
/// ```
/// use longmatch_feed::mmdb::{MmdbOptions, write};
/// use longmatch_feed::{Options, load_data_bytes};
/// let (data, _) = load_data_bytes(b"network,asn\n192.0.2.0/24,64500\n", None, &Options::default())?;
/// let mut file = Vec::new();
/// let report = write(&data, &MmdbOptions::default(), &mut file)?;
/// assert_eq!((report.records, report.bytes), (1, file.len() as u64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(
    data: &PrefixData,
    options: &MmdbOptions,
    out: impl Write,
) -> Result<MmdbReport, MmdbError> {
    let map = layout(data.columns(), &options.fields)?;
    let tree = Tree::new(data, options)?;
    let (records, offsets, count) = records(data, options, &map, &tree)?;
    let nodes = tree.nodes.len();
    let greatest = (nodes + SEPARATOR.len()) as u64 + records.len() as u64;
    let record_size = match greatest {
        0..0x100_0000 => 24,
        0x100_0000..0x1000_0000 => 28,
        0x1000_0000..0x1_0000_0000 => 32,
        _ => return Err(MmdbError::TooLarge),
    };
    let metadata = metadata(options, &tree, record_size)?;
    let mut out = BufWriter::with_capacity(64 << 10, out);
    let numbers = Numbers { tree: &tree, offsets: &offsets };
    let mut write = || {
        for [left, right] in &tree.nodes {
            let (node, len) = node(numbers.of(*left), numbers.of(*right), record_size);
            out.write_all(&node[..len])?;
        }
        for part in [&SEPARATOR, &*records, &metadata] {
            out.write_all(part)?;
        }
        out.flush()
    };
    write().map_err(MmdbError::Write)?;
    let tree_bytes = nodes * usize::from(record_size) / 4;
    let bytes = (tree_bytes + SEPARATOR.len() + records.len() + metadata.len()) as u64;
    let Tree { ip_version, dropped, .. } = tree;
    Ok(MmdbReport { ip_version, nodes, record_size, records: count, dropped, bytes })
}

/// The row of an id that a route has.
fn row(data: &PrefixData, id: u32) -> Option<&Row> {
    NextHopId::new(id).and_then(|id| data.table().next_hops().get(id))
}

/// The data section, the offsets of rows by their ids, and the number of records.
fn records(
    data: &PrefixData,
    options: &MmdbOptions,
    map: &Map,
    tree: &Tree,
) -> Result<(Vec<u8>, Vec<u32>, usize), MmdbError> {
    let mut offsets = vec![u32::MAX; tree.base as usize];
    // Records in the order of the addresses: neighbours of the tree are neighbours here.
    let mut ids = Vec::new();
    for id in tree.nodes.iter().flatten().filter(|code| (NOTHING + 1..tree.base).contains(code)) {
        let offset = &mut offsets[*id as usize];
        if *offset == u32::MAX {
            *offset = 0;
            ids.push(*id);
        }
    }
    let rows = ids.iter().filter_map(|id| row(data, *id));
    let types = types(data, &options.fields, rows);
    let mut records = Records::default();
    for id in &ids {
        let Some(row) = row(data, *id) else { continue };
        let offset = records.row(map, &types, row).map_err(|Unfit(at)| MmdbError::Cell {
            column: data.columns()[at].name.to_string(),
            text: row[at].to_string(),
            ty: types[at],
            prefix: first_with(data, *id),
        })?;
        offsets[*id as usize] = u32::try_from(offset).map_err(|_| MmdbError::TooLarge)?;
    }
    Ok((records.bytes, offsets, ids.len()))
}

/// The numbers of the children in the file.
struct Numbers<'t> {
    tree: &'t Tree,
    offsets: &'t [u32],
}

impl Numbers<'_> {
    fn of(&self, code: u32) -> u32 {
        let nodes = self.tree.nodes.len() as u32;
        match code {
            NOTHING => nodes,
            id if id < self.tree.base => nodes + SEPARATOR.len() as u32 + self.offsets[id as usize],
            node => node - self.tree.base,
        }
    }
}

/// The bytes of a node, and their number.
fn node(left: u32, right: u32, record_size: u16) -> ([u8; 8], usize) {
    let (l, r) = (left.to_be_bytes(), right.to_be_bytes());
    match record_size {
        24 => ([l[1], l[2], l[3], r[1], r[2], r[3], 0, 0], 6),
        28 => ([l[1], l[2], l[3], l[0] << 4 | r[0], r[1], r[2], r[3], 0], 7),
        _ => ([l[0], l[1], l[2], l[3], r[0], r[1], r[2], r[3]], 8),
    }
}

/// The metadata and the marker before them.
fn metadata(options: &MmdbOptions, tree: &Tree, record_size: u16) -> Result<Vec<u8>, MmdbError> {
    let default = [("en".to_owned(), "Compiled by longmatch".to_owned())];
    let descriptions = match &*options.descriptions {
        [] => &default[..],
        given => given,
    };
    let descriptions = descriptions.iter().map(|(lang, text)| (&**lang, Meta::Text(text)));
    let languages = options.languages.iter().map(|lang| Meta::Text(lang));
    let map = Meta::Map(vec![
        ("binary_format_major_version", Meta::Uint16(2)),
        ("binary_format_minor_version", Meta::Uint16(0)),
        ("build_epoch", Meta::Uint64(build_time(options)?)),
        ("database_type", Meta::Text(&options.database_type)),
        ("description", Meta::Map(descriptions.collect())),
        ("ip_version", Meta::Uint16(tree.ip_version)),
        ("languages", Meta::Array(languages.collect())),
        ("node_count", Meta::Uint32(tree.nodes.len() as u32)),
        ("record_size", Meta::Uint16(record_size)),
    ]);
    let mut bytes = MARKER.to_vec();
    map.write(&mut bytes);
    if bytes.len() > MAX_METADATA { Err(MmdbError::Metadata) } else { Ok(bytes) }
}

fn build_time(options: &MmdbOptions) -> Result<u64, MmdbError> {
    if let Some(seconds) = options.build_time {
        return Ok(seconds);
    }
    let Some(text) = std::env::var_os("SOURCE_DATE_EPOCH") else {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        return Ok(now.unwrap_or_default().as_secs());
    };
    let text = text.to_string_lossy();
    text.parse().map_err(|_| MmdbError::BuildTime { text: text.into_owned() })
}
