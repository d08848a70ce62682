//! Values of options, and their texts.

use std::convert::Infallible;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use crate::printable::printable;

/// Error of parsing the value of an option.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ParseOptionError {
    /// The text.
    pub text: String,
    /// The possible values.
    pub expected: String,
}

impl ParseOptionError {
    pub(crate) fn new(text: &str, expected: impl Into<String>) -> Self {
        Self { text: text.to_owned(), expected: expected.into() }
    }
}

impl fmt::Display for ParseOptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not possible: expected {}", self.text.escape_debug(), self.expected)
    }
}

impl std::error::Error for ParseOptionError {}

/// The name or number of a Linux routing table.
///
/// For the tables that exist on every system, name and number are equivalent: `default` (253),
/// `main` (254), `local` (255).
///
/// ```
/// use longmatch_feed::IpTable;
///
/// assert_eq!("254".parse(), Ok(IpTable::default()));
/// assert_eq!("main".parse(), Ok(IpTable::default()));
/// assert_ne!("vpn".parse(), Ok(IpTable::default()));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct IpTable(String);

/// Numbers and names of the tables on every system (`/etc/iproute2/rt_tables`).
const IP_TABLES: [(&str, &str); 4] =
    [("0", "unspec"), ("253", "default"), ("254", "main"), ("255", "local")];

impl IpTable {
    /// The name of a well-known table number, else the text itself.
    pub(crate) fn name(text: &str) -> &str {
        let known = IP_TABLES.iter().find(|(number, _)| *number == text);
        known.map_or(text, |(_, name)| name)
    }

    /// Whether `text` is a name or number of this table.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.0 == Self::name(text)
    }

    /// Whether this is the main table: `ip route` leaves out its name.
    pub(crate) fn is_main(&self) -> bool {
        self.0 == "main"
    }
}

impl Default for IpTable {
    /// The main table.
    fn default() -> Self {
        Self("main".to_owned())
    }
}

impl fmt::Display for IpTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.0))
    }
}

impl FromStr for IpTable {
    type Err = ParseOptionError;

    /// Parses a name or a number. Numbers may have leading zeros.
    fn from_str(text: &str) -> Result<Self, ParseOptionError> {
        let error = || {
            ParseOptionError::new(
                text,
                "a name of one word or a number, as 'ip route' prints it after 'table'",
            )
        };
        if text.is_empty() || text.contains(char::is_whitespace) {
            return Err(error());
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Self(text.to_owned()));
        }
        let number = text.parse::<u32>().map_err(|_| error())?.to_string();
        Ok(Self(Self::name(&number).to_owned()))
    }
}

/// Selector of peers.
///
/// Of several matching peers, the load chooses the one with the most routes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum PeerSelector {
    /// The peer with this address.
    Addr(IpAddr),
    /// A peer in this autonomous system.
    Asn(u32),
    /// The peer at this position of the peer index table, from 0.
    Index(u16),
}

impl fmt::Display for PeerSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Addr(addr) => addr.fmt(f),
            Self::Asn(asn) => write!(f, "AS{asn}"),
            Self::Index(index) => index.fmt(f),
        }
    }
}

impl FromStr for PeerSelector {
    type Err = ParseOptionError;

    /// Parses an address, `AS` and a number, or a number.
    fn from_str(text: &str) -> Result<Self, ParseOptionError> {
        let error = || {
            let expected =
                "an address, an AS number (AS64500), or a position in the peer index table";
            ParseOptionError::new(text, expected)
        };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if let Ok(addr) = text.parse() {
            return Ok(Self::Addr(addr));
        }
        let number = match text.get(..2) {
            Some(start) if start.eq_ignore_ascii_case("as") => &text[2..],
            _ if digits(text) => return text.parse().map(Self::Index).map_err(|_| error()),
            _ => return Err(error()),
        };
        if !digits(number) {
            return Err(error());
        }
        number.parse().map(Self::Asn).map_err(|_| error())
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

/// A file whose rows are joined to those of an input: text with cells between delimiters and the names of its columns
/// in the first row, compressed or not, or a member of an archive, `FILE:MEMBER`.
///
/// Its text is `COLUMN=FILE`, or `COLUMN:KEY=FILE` if the files name the column differently.
///
/// ```
/// use longmatch_feed::Join;
/// let join: Join = "geoname_id=GeoLite2-City-Locations-en.csv".parse().unwrap();
/// assert_eq!((&*join.column, &*join.key), ("geoname_id", "geoname_id"));
/// let join: Join = "customer:id=customers.csv".parse().unwrap();
/// assert_eq!((&*join.column, &*join.key), ("customer", "id"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Join {
    /// The column of the input, by name or number, or one that an earlier file has joined.
    pub column: String,
    /// The column of the file that has the same cells, each once.
    pub key: String,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for Join {
    type Err = ParseOptionError;

    fn from_str(text: &str) -> Result<Self, ParseOptionError> {
        let expected = || ParseOptionError::new(text, "COLUMN=FILE or COLUMN:KEY=FILE");
        let (columns, path) = text.split_once('=').ok_or_else(expected)?;
        let (column, key) = columns.split_once(':').unwrap_or((columns, columns));
        // Standard input has the prefixes, if it has anything.
        if column.is_empty() || key.is_empty() || matches!(path, "" | "-") {
            return Err(expected());
        }
        Ok(Self { column: column.to_owned(), key: key.to_owned(), path: path.into() })
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
    type Err = ParseOptionError;

    /// Parses an ASCII character, or `comma`, `tab`, `semicolon`, `bar` or `space`.
    fn from_str(text: &str) -> Result<Self, ParseOptionError> {
        match (text, text.as_bytes()) {
            ("comma", _) => Ok(Self::Byte(b',')),
            ("tab" | "\\t", _) => Ok(Self::Byte(b'\t')),
            ("semicolon", _) => Ok(Self::Byte(b';')),
            ("bar", _) => Ok(Self::Byte(b'|')),
            ("space" | "whitespace", _) | (_, [b' ']) => Ok(Self::Whitespace),
            (_, [byte]) if !matches!(byte, b'"' | b'\n' | b'\r' | 0 | 128..) => {
                Ok(Self::Byte(*byte))
            }
            _ => Err(ParseOptionError::new(
                text,
                "comma, tab, semicolon, bar, space, or one ASCII character",
            )),
        }
    }
}

/// The row of a prefix that several rows have.
///
/// ```
/// use longmatch_feed::Duplicates;
/// assert_eq!("join".parse(), Ok(Duplicates::Join));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// The last one.
    #[default]
    Last,
    /// The first one.
    First,
    /// One whose cells have the texts of all rows, without repetition, separated by semicolons.
    Join,
    /// None: the second row is an error.
    Error,
    /// All of them, for a sink of routes, which gets each row of a prefix; a table keeps the last one.
    All,
}

impl FromStr for Duplicates {
    type Err = ParseOptionError;

    fn from_str(text: &str) -> Result<Self, ParseOptionError> {
        match text {
            "last" => Ok(Self::Last),
            "first" => Ok(Self::First),
            "join" => Ok(Self::Join),
            "error" => Ok(Self::Error),
            _ => Err(ParseOptionError::new(text, "last, first, join or error")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_selected_by_address_asn_and_index() {
        let parse = |text: &str| text.parse::<PeerSelector>();
        assert_eq!(parse("192.0.2.1"), Ok(PeerSelector::Addr("192.0.2.1".parse().unwrap())));
        assert_eq!(parse("2001:db8::1"), Ok(PeerSelector::Addr("2001:db8::1".parse().unwrap())));
        assert_eq!(parse("AS64500"), Ok(PeerSelector::Asn(64500)));
        assert_eq!(parse("as4294967295"), Ok(PeerSelector::Asn(u32::MAX)));
        assert_eq!(parse("7"), Ok(PeerSelector::Index(7)));
        for bad in ["", "AS", "AS-1", "AS+1", "65536", "+7", "AS4294967296", "x", "é", "aé"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn table_names_and_numbers_are_equivalent() {
        let parse = |text: &str| text.parse::<IpTable>();
        assert!(parse("254").unwrap().is_main() && parse("0254").unwrap().is_main());
        assert!(parse("local").unwrap().is("255") && parse("255").unwrap().is("local"));
        assert!(parse("vpn").unwrap().is("vpn") && !parse("vpn").unwrap().is("100"));
        assert!(parse("100").unwrap().is("100") && !parse("100").unwrap().is("main"));
        for bad in ["", "a b", "4294967296", "\t"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
