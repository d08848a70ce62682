//! Options of loading and of reading destinations.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use longmatch::{IpPrefix, Prefix};

use crate::printable::printable;
use crate::route_value::RouteValue;

/// Options for reading an input.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The peer whose routes to load if the input has several peers. Default: the peer with the most
    /// routes, separately for each address family.
    pub peer: Option<PeerSelector>,
    /// What the sink gets as the next hop of a route: other values than that are for MRT and
    /// `bgpdump -m`, and empty where a route lacks them. Prefix data has its columns.
    pub value: RouteValue,
    /// Load the undamaged part of a damaged input instead of refusing the input.
    pub lenient: bool,
    /// The format of the input. Default: detected from its first bytes.
    pub format: Format,
    /// Clear set host bits of prefixes in text instead of refusing the line. (In MRT, host bits have
    /// no meaning and are always cleared: RFC 4271, section 4.3.)
    pub mask_host_bits: bool,
    /// The family of a `default` route if neither its own line nor the neighbouring lines show it.
    /// Without this option such a line is an error.
    pub default_family: Option<IpFamily>,
    /// The routing table to load from the output of `ip route`. Default: the main table.
    pub ip_table: IpTable,
    /// Bounds on the resources of a hostile input.
    pub limits: Limits,
}

/// Address family.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IpFamily {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl IpFamily {
    /// The family of a prefix as written: IPv4-mapped IPv6 counts as IPv6.
    #[inline]
    pub(crate) fn of(prefix: IpPrefix) -> Self {
        match prefix {
            IpPrefix::V4(_) => Self::V4,
            IpPrefix::V6(_) => Self::V6,
        }
    }

    /// The prefix that covers all addresses of the family.
    pub(crate) fn default_prefix(self) -> IpPrefix {
        match self {
            Self::V4 => IpPrefix::V4(Prefix::DEFAULT),
            Self::V6 => IpPrefix::V6(Prefix::DEFAULT),
        }
    }
}

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

    /// Whether this is the main table, whose name `ip route` leaves out.
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

/// Error of parsing an [`IpTable`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ParseIpTableError {
    /// The text.
    pub text: String,
}

impl fmt::Display for ParseIpTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' does not name a routing table: expected a name of one word or a number, as 'ip route' \
             prints it after 'table'",
            self.text.escape_debug()
        )
    }
}

impl std::error::Error for ParseIpTableError {}

impl FromStr for IpTable {
    type Err = ParseIpTableError;

    /// Parses a name or a number. Numbers may have leading zeros.
    fn from_str(text: &str) -> Result<Self, ParseIpTableError> {
        let error = || ParseIpTableError { text: text.to_owned() };
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

/// Format of an input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Format {
    /// Detected from the first bytes.
    #[default]
    Auto,
    /// Lines of text: `prefix next-hop`, updates, `ip route`, `bgpdump -m`.
    Text,
    /// The JSON of `ip -json route`.
    Json,
    /// MRT (RFC 6396).
    Mrt,
    /// Prefix data in any format of [`crate::load_data_path`]: the next hop of a prefix is the text of
    /// its columns, separated by commas; without columns, the prefix itself.
    Data,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Text => "text",
            Self::Json => "JSON",
            Self::Mrt => "MRT",
            Self::Data => "prefix data",
        })
    }
}

/// Bounds on the resources of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes in a line of text.
    pub line: usize,
    /// Bytes in an MRT record, in a route of JSON, or in a packet or pcapng block of a capture.
    pub record: usize,
    /// Bytes of an input in memory if it is not a regular file.
    pub spool: u64,
    /// Bytes of decompressed output before [`Limits::ratio`] applies.
    pub ratio_after: u64,
    /// Bytes of decompressed output per byte of input.
    pub ratio: u64,
    /// Destinations kept of a trace.
    pub destinations: usize,
    /// Bytes in a row of prefix data.
    pub row: usize,
    /// Columns of prefix data.
    pub columns: usize,
    /// Bytes in the distinct rows of prefix data.
    pub rows: u64,
}

impl Default for Limits {
    /// A line: 4 KiB. A record: 16 MiB. An input that is not a regular file: 1 GiB. Decompression:
    /// 1000 to 1 after the first 64 MiB. Destinations: 2^27, far beyond the capacity of any cache;
    /// they take 2 GiB at most. A row of prefix data: 1 MiB; its columns: 1024; all distinct rows: 4 GiB.
    fn default() -> Self {
        Self {
            line: 4 << 10,
            record: 16 << 20,
            spool: 1 << 30,
            ratio_after: 64 << 20,
            ratio: 1000,
            destinations: 1 << 27,
            row: 1 << 20,
            columns: 1024,
            rows: 4 << 30,
        }
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

/// Error of parsing a [`PeerSelector`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ParsePeerError {
    /// The text.
    pub text: String,
}

impl fmt::Display for ParsePeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' does not name a peer: expected an address, an AS number (AS64500), \
             or a position in the peer index table",
            self.text.escape_debug()
        )
    }
}

impl std::error::Error for ParsePeerError {}

impl FromStr for PeerSelector {
    type Err = ParsePeerError;

    /// Parses an address, `AS` and a number, or a number.
    fn from_str(text: &str) -> Result<Self, ParsePeerError> {
        let error = || ParsePeerError { text: text.to_owned() };
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
