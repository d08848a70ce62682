//! Options of reading prefix data.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use longmatch::table::ColumnType;

use crate::options::Options;
use crate::route_value::RouteValue;

/// Options for reading prefix data.
///
/// ```
/// use longmatch_feed::{DataOptions, load_data_bytes};
/// let mut options = DataOptions::default();
/// options.columns = Some(vec!["asn".parse().unwrap()]);
/// let file = b"network,asn,site\n192.0.2.0/24,64500,office\n";
/// let (data, _) = load_data_bytes(file, Some("sites.csv"), &options)?;
/// assert_eq!(data.columns().len(), 1);
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DataOptions {
    /// The format of the input. Default: recognised from its content.
    pub format: DataFormat,
    /// What separates the cells of text. Default: recognised.
    pub delimiter: Option<Delimiter>,
    /// Whether the first row of text has the columns' names. Default: recognised.
    pub header: Option<bool>,
    /// The column of the prefixes, by name or by number from 1. Two columns are the first and the last
    /// address of ranges, or an address and a prefix length or netmask. Default: the first column
    /// whose cells are prefixes, addresses or ranges.
    pub prefix: Vec<String>,
    /// The columns to keep, in this order. Default: all.
    pub columns: Option<Vec<KeptColumn>>,
    /// Types of columns, by their names in the result. Default: the narrowest that holds all cells, of
    /// `u64`, `i64`, `f64` and string.
    pub types: Vec<(String, ColumnType)>,
    /// The value of a route in routing formats. Default: the origin AS of MRT and `bgpdump -m`, whose
    /// routes have AS paths, else the next hop.
    pub value: Option<RouteValue>,
    /// The options that prefix data share with routes: leniency, host bits, the peer, the limits, and
    /// those of `ip route`. [`Options::format`] and [`Options::value`] have
    /// no effect.
    pub input: Options,
}

impl DataOptions {
    /// The type that the options give a column.
    pub(crate) fn type_of(&self, name: &str) -> Option<ColumnType> {
        let found = self.types.iter().rev().find(|(column, _)| column == name);
        found.map(|(_, ty)| *ty)
    }
}

/// A column to keep, and its name in the result.
///
/// Parsed from the column's name or number, or from `column=new name`.
///
/// ```
/// use longmatch_feed::KeptColumn;
/// let column: KeptColumn = "3=asn".parse().unwrap();
/// assert_eq!((&*column.column, column.name.as_deref()), ("3", Some("asn")));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct KeptColumn {
    /// Name of the column in the input, or its number from 1.
    pub column: String,
    /// Name of the column in the result. Default: that in the input.
    pub name: Option<String>,
}

impl FromStr for KeptColumn {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.split_once('=') {
            Some((column, name)) => Self { column: column.into(), name: Some(name.into()) },
            None => Self { column: text.into(), name: None },
        })
    }
}

/// Format of prefix data.
///
/// ```
/// use longmatch_feed::DataFormat;
/// assert_eq!("csv".parse(), Ok(DataFormat::Delimited));
/// assert_eq!(DataFormat::Mmdb.to_string(), "mmdb");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum DataFormat {
    /// Recognised from the content.
    #[default]
    Auto,
    /// Rows of text with cells: CSV, TSV, and text separated by semicolons, bars or white space.
    Delimited,
    /// One prefix, address or range a line.
    List,
    /// `prefix asn`, as the Python package pyasn stores tables.
    PyAsn,
    /// `address length asn`: CAIDA's prefix to AS mappings.
    Pfx2As,
    /// A prefix and the rest of the line as its value, which may be several words.
    Texts,
    /// The output of a tool, recognised from its content: `netstat -rn`, `ipset save`, `ipset list`,
    /// `iptables-save`, `nft list`, or a RIS whois dump.
    Listing,
    /// JSON whose objects have a member with a prefix: an array of them, or one a line.
    Json,
    /// Routes in any format of [`crate::load_path`].
    Routes,
    /// MaxMind DB.
    Mmdb,
    /// A compiled table of this library.
    Compiled,
}

/// Names of the formats, as options have them.
const FORMATS: [(&str, DataFormat); 13] = [
    ("auto", DataFormat::Auto),
    ("delimited", DataFormat::Delimited),
    ("list", DataFormat::List),
    ("pyasn", DataFormat::PyAsn),
    ("pfx2as", DataFormat::Pfx2As),
    ("texts", DataFormat::Texts),
    ("listing", DataFormat::Listing),
    ("json", DataFormat::Json),
    ("routes", DataFormat::Routes),
    ("mmdb", DataFormat::Mmdb),
    ("lm", DataFormat::Compiled),
    ("csv", DataFormat::Delimited),
    ("tsv", DataFormat::Delimited),
];

impl fmt::Display for DataFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = FORMATS.iter().find(|(_, format)| format == self);
        f.write_str(known.map_or("unknown", |(name, _)| name))
    }
}

impl FromStr for DataFormat {
    type Err = ParseDataOptionError;

    fn from_str(text: &str) -> Result<Self, ParseDataOptionError> {
        let known = FORMATS.iter().find(|(name, _)| *name == text);
        known.map(|(_, format)| *format).ok_or_else(|| ParseDataOptionError {
            text: text.to_owned(),
            expected: "auto, csv, tsv, delimited, list, pyasn, pfx2as, texts, listing, json, routes, mmdb \
                       or lm",
        })
    }
}

/// What separates the cells of a row of text.
///
/// ```
/// use longmatch_feed::Delimiter;
/// assert_eq!("tab".parse(), Ok(Delimiter::Byte(b'\t')));
/// assert_eq!(";".parse(), Ok(Delimiter::Byte(b';')));
/// assert_eq!("space".parse(), Ok(Delimiter::Whitespace));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Delimiter {
    /// This ASCII character. Cells may be in double quotes.
    Byte(u8),
    /// Spaces and tabs, any number of them. A word that begins with `#` begins a comment.
    Whitespace,
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(b',') => f.write_str("comma"),
            Self::Byte(b'\t') => f.write_str("tab"),
            Self::Byte(b';') => f.write_str("semicolon"),
            Self::Byte(b'|') => f.write_str("bar"),
            Self::Byte(byte) => write!(f, "'{}'", char::from(*byte).escape_debug()),
            Self::Whitespace => f.write_str("white space"),
        }
    }
}

impl FromStr for Delimiter {
    type Err = ParseDataOptionError;

    /// Parses an ASCII character, or `comma`, `tab`, `semicolon`, `bar` or `space`.
    fn from_str(text: &str) -> Result<Self, ParseDataOptionError> {
        match (text, text.as_bytes()) {
            ("comma", _) => Ok(Self::Byte(b',')),
            ("tab" | "\\t", _) => Ok(Self::Byte(b'\t')),
            ("semicolon", _) => Ok(Self::Byte(b';')),
            ("bar", _) => Ok(Self::Byte(b'|')),
            ("space" | "whitespace", _) | (_, [b' ']) => Ok(Self::Whitespace),
            (_, [byte]) if !matches!(byte, b'"' | b'\n' | b'\r' | 0 | 128..) => {
                Ok(Self::Byte(*byte))
            }
            _ => Err(ParseDataOptionError {
                text: text.to_owned(),
                expected: "comma, tab, semicolon, bar, space, or one ASCII character",
            }),
        }
    }
}

/// Error of parsing an option's value.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ParseDataOptionError {
    /// The text.
    pub text: String,
    /// The values that are possible.
    pub expected: &'static str,
}

impl fmt::Display for ParseDataOptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not known: expected {}", self.text.escape_debug(), self.expected)
    }
}

impl std::error::Error for ParseDataOptionError {}
