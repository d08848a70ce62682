//! Errors of prefix data.

use std::fmt;

use longmatch::ParsePrefixError;
use longmatch::table::{ColumnError, ColumnType};

use crate::route_value::RouteValue;

/// Greatest number of characters of a cell or name in a message.
const MAX_SHOWN: usize = 60;
/// Greatest number of columns in a message.
const MAX_NAMES: usize = 16;

/// Error of prefix data.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DataError {
    /// A row has another number of cells than the first.
    Width {
        /// Cells of the row.
        cells: usize,
        /// Cells of the first row.
        columns: usize,
    },
    /// A row is longer than the limit.
    RowTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// A cell in the place of a prefix is not one.
    Prefix {
        /// The column.
        column: String,
        /// The beginning of the cell.
        text: String,
        /// The reason, if the cell looks like a prefix.
        error: Option<ParsePrefixError>,
    },
    /// The addresses of a range are of different families, or the last is before the first.
    Range {
        /// The beginning of the range's text.
        text: String,
        /// The reason.
        reason: &'static str,
    },
    /// A cell in the place of a prefix length is neither that nor a netmask.
    Length {
        /// The column.
        column: String,
        /// The beginning of the cell.
        text: String,
    },
    /// A line is not of the format.
    Listing {
        /// The beginning of the line.
        text: String,
        /// What the format has instead.
        expected: &'static str,
    },
    /// A cell is not of the type that the options give its column.
    Type {
        /// The column.
        column: String,
        /// The beginning of the cell.
        text: String,
        /// The type.
        ty: ColumnType,
    },
    /// The input does not have the requested column.
    NoSuchColumn {
        /// The name or number.
        name: String,
        /// The columns of the input.
        columns: Vec<String>,
    },
    /// No column has prefixes, addresses or ranges.
    NoPrefixColumn {
        /// The columns of the input.
        columns: Vec<String>,
    },
    /// An option names more than two columns for the prefixes.
    PrefixColumns {
        /// The number of columns.
        columns: usize,
    },
    /// The format has prefixes of its own, not in a column of one's choice.
    FixedPrefix,
    /// The input has more columns than the limit.
    TooManyColumns {
        /// The limit.
        limit: usize,
    },
    /// The distinct rows take more memory than the limit.
    TooManyRows {
        /// The limit in bytes.
        limit: u64,
    },
    /// Two addresses without a third word are a range, or a host with its next hop.
    RangeOrNextHop {
        /// The first such line.
        text: String,
    },
    /// An address and a number are a prefix, or a host with its next hop.
    LengthOrNextHop {
        /// The first such line.
        text: String,
    },
    /// The lines end with carriage returns alone.
    CarriageReturns,
    /// A prefix has two rows, which the options forbid.
    Duplicate {
        /// The prefix.
        text: String,
    },
    /// A joined file has two rows with one key; the place is the second.
    JoinKey {
        /// The key.
        text: String,
        /// The line of the first row.
        first: u64,
    },
    /// The first row of a joined file does not name the column with the keys.
    NoJoinKey {
        /// The name.
        key: String,
        /// The names in the first row.
        columns: Vec<String>,
    },
    /// A set is read, and the input withdraws routes.
    Updates,
    /// The routes of the format have no AS paths.
    NoPaths {
        /// The requested value.
        value: RouteValue,
    },
    /// The JSON is damaged.
    Json {
        /// The message of its parser.
        text: String,
    },
    /// The MaxMind DB is damaged.
    Mmdb {
        /// The message of its reader.
        text: String,
    },
    /// The compiled table cannot be read.
    Compiled {
        /// The message of its reader.
        text: String,
    },
    /// The input is not of the format that the options name, or of none that is known.
    UnknownFormat,
    /// A column or prefix that the table refuses.
    Column(ColumnError),
}

impl DataError {
    /// Whether the rows after this one can still be read.
    pub(crate) fn is_local(&self) -> bool {
        matches!(
            self,
            Self::Width { .. }
                | Self::RowTooLong { .. }
                | Self::Prefix { .. }
                | Self::Range { .. }
                | Self::Length { .. }
                | Self::Listing { .. }
                | Self::Type { .. }
                | Self::Duplicate { .. }
        )
    }

    /// Whether the input is damaged.
    pub(crate) fn is_damage(&self) -> bool {
        self.is_local() || matches!(self, Self::Json { .. } | Self::Mmdb { .. })
    }
}

/// The first characters of a text, for a message.
pub(crate) fn shorten(text: &str) -> String {
    let mut kept: String = text.chars().take(MAX_SHOWN).collect();
    if kept.len() < text.len() {
        kept.push_str("...");
    }
    kept
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Width { cells, columns } => write!(
                f,
                "the row has {cells} {} for {columns} {}: look for a delimiter or a quotation mark \
                 too many or missing",
                plural(*cells, "cell", "cells"),
                plural(*columns, "column", "columns"),
            ),
            Self::RowTooLong { limit } => write!(
                f,
                "the row is longer than {limit} bytes: look for a quotation mark that is missing"
            ),
            Self::Prefix { column, text, error } => {
                let (column, text) = (column.escape_debug(), text.escape_debug());
                write!(f, "column '{column}': '{text}' is not a prefix, an address or a range")?;
                match error {
                    Some(error) => write!(f, ": {error}"),
                    None => Ok(()),
                }
            }
            Self::Range { text, reason } => {
                write!(f, "'{}' is not a range of addresses: {reason}", text.escape_debug())
            }
            Self::Length { column, text } => write!(
                f,
                "column '{}': '{}' is neither a prefix length nor a netmask of the address",
                column.escape_debug(),
                text.escape_debug()
            ),
            Self::Listing { text, expected } => {
                write!(f, "unexpected '{}': expected {expected}", text.escape_debug())
            }
            Self::Type { column, text, ty } => write!(
                f,
                "column '{}': '{}' is not of the type {ty} that the column is given: leave the type \
                 to the input, or give it string",
                column.escape_debug(),
                text.escape_debug()
            ),
            Self::NoSuchColumn { name, columns } => {
                write!(f, "no column is named '{}': ", name.escape_debug())?;
                list(f, columns)
            }
            Self::NoPrefixColumn { columns } => {
                f.write_str(
                    "no column has prefixes, addresses or ranges: name the column of the prefixes, \
                     or the two of the first and the last address; ",
                )?;
                list(f, columns)
            }
            Self::PrefixColumns { columns } => write!(
                f,
                "{columns} columns are named for the prefixes: name one, or the two of the first \
                 and the last address, or of an address and its prefix length"
            ),
            Self::FixedPrefix => f.write_str(
                "the format has no columns to choose the prefixes from: leave out the column of the \
                 prefixes",
            ),
            Self::TooManyColumns { limit } => write!(
                f,
                "the input has more than {limit} columns: look for a wrong delimiter, or raise the \
                 limit"
            ),
            Self::TooManyRows { limit } => write!(
                f,
                "the distinct rows take more than {limit} bytes: keep fewer columns, or raise the \
                 limit"
            ),
            Self::RangeOrNextHop { text } => write!(
                f,
                "'{}' is a range or a host with its next hop: write first-last, name both columns for the \
                 prefix (1,2) if they are ranges, or the format routes",
                text.escape_debug()
            ),
            Self::LengthOrNextHop { text } => write!(
                f,
                "'{}' is a prefix with its length or a host with its next hop: write address/length, name \
                 both columns for the prefix (1,2), or the format routes",
                text.escape_debug()
            ),
            Self::CarriageReturns => f.write_str(
                "the lines end with carriage returns alone, as on old Macintoshes: replace them by line \
                 feeds (tr '\\r' '\\n')",
            ),
            Self::Duplicate { text } => write!(f, "{text} has a row already"),
            Self::JoinKey { text, first } => write!(
                f,
                "the key '{}' has a row in line {first} already: remove one of them",
                text.escape_debug()
            ),
            Self::NoJoinKey { key, columns } => {
                write!(
                    f,
                    "the first row must name the column of the keys, and has no '{}': ",
                    key.escape_debug()
                )?;
                list(f, columns)
            }
            Self::Updates => f.write_str("these are updates of routes: give a table or a list"),
            Self::NoPaths { value } => write!(
                f,
                "the routes have no AS paths: {value} is for MRT and bgpdump -m; take next-hop"
            ),
            Self::Json { text } => {
                write!(f, "the JSON cannot be read: {}", shorten(text).escape_debug())
            }
            Self::Mmdb { text } => {
                write!(f, "the MaxMind DB cannot be read: {}", shorten(text).escape_debug())
            }
            Self::Compiled { text } => f.write_str(text),
            Self::UnknownFormat => f.write_str(
                "not a known format of prefixes: expected lines like '192.0.2.0/24 next-hop', CSV or other \
                 text with a column of prefixes, a list, address ranges, JSON or the output of a routing tool",
            ),
            Self::Column(error) => error.fmt(f),
        }
    }
}

fn plural<'a>(n: usize, one: &'a str, many: &'a str) -> &'a str {
    if n == 1 { one } else { many }
}

/// Writes the names of the columns, or of the first of them.
fn list(f: &mut fmt::Formatter<'_>, columns: &[String]) -> fmt::Result {
    if columns.is_empty() {
        return f.write_str("the input has no columns");
    }
    f.write_str("the columns are ")?;
    for (i, name) in columns.iter().take(MAX_NAMES).enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        write!(f, "{comma}{}", shorten(name).escape_debug())?;
    }
    match columns.len().saturating_sub(MAX_NAMES) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}

impl std::error::Error for DataError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Prefix { error: Some(error), .. } => Some(error),
            Self::Column(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ColumnError> for DataError {
    fn from(error: ColumnError) -> Self {
        Self::Column(error)
    }
}
