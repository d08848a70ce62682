//! Options of reading: prefixes with columns, routes, sets and destinations.

use longmatch::table::ColumnType;
use longmatch::{IpPrefix, Prefix};

use crate::formats::Format;
use crate::option_values::{Delimiter, Duplicates, IpTable, Join, KeptColumn, PeerSelector};
use crate::route_value::RouteValue;

/// Options for reading an input. An option that a format does not have has no effect, unless its documentation
/// says otherwise.
///
/// ```
/// use longmatch_feed::{Options, load_data_bytes};
/// let mut options = Options::default();
/// options.columns = Some(vec!["asn".parse().unwrap()]);
/// let file = b"network,asn,site\n192.0.2.0/24,64500,office\n";
/// let (data, _) = load_data_bytes(file, Some("sites.csv"), &options)?;
/// assert_eq!(data.columns().len(), 1);
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The format of the input. Default: recognised from its content.
    pub format: Format,
    /// The character between the cells of text. Default: recognised.
    pub delimiter: Option<Delimiter>,
    /// Whether the first row of text has the columns' names. Default: recognised.
    pub header: Option<bool>,
    /// The column of the prefixes, by name or by number from 1. Two columns are the first and the last
    /// address of ranges, or an address and a prefix length or netmask. Default: the first column
    /// whose cells are prefixes, addresses or ranges. An error for formats without columns.
    pub prefix: Vec<String>,
    /// Keep only the rows that have these cells: names or numbers of columns, and the texts of their cells.
    pub filters: Vec<(String, String)>,
    /// Files whose columns are joined to those of the input, before the filters apply.
    pub joins: Vec<Join>,
    /// The columns to keep, in this order. Default: all.
    pub columns: Option<Vec<KeptColumn>>,
    /// Types of columns, by their names in the result. Default: the narrowest that holds all cells, of
    /// `u64`, `i64`, `f64` and string.
    pub types: Vec<(String, ColumnType)>,
    /// The value of a route. Only MRT and `bgpdump -m` have others than the next hop: for other routes such a
    /// value is an error. Default: the next hop for a [`Sink`](crate::Sink) of routes; in prefix data the
    /// origin AS of MRT and `bgpdump -m`.
    pub value: Option<RouteValue>,
    /// Whether the value of MRT and `bgpdump -m` is the origin AS by default for a sink of routes too; other routes have
    /// their next hop.
    pub prefer_origin: bool,
    /// The peer whose routes to load if the input has several peers. Default: the peer with the most
    /// routes, separately for each address family.
    pub peer: Option<PeerSelector>,
    /// Load the undamaged part of a damaged input instead of refusing the input.
    pub lenient: bool,
    /// Clear set host bits of prefixes in text instead of refusing the line. (In MRT, host bits have
    /// no meaning and are always cleared: RFC 4271, section 4.3.)
    pub mask_host_bits: bool,
    /// The family of a `default` route if neither its own line nor the neighbouring lines show it.
    /// Without this option such a line is an error.
    pub default_family: Option<IpFamily>,
    /// The routing table to load from the output of `ip route`. Default: the main table.
    pub ip_table: IpTable,
    /// The row of a prefix that several rows have. Routes replace each other, whatever this says.
    pub duplicates: Duplicates,
    /// Bounds on the resources of a hostile input.
    pub limits: Limits,
}

impl Options {
    /// The type that the options give a column.
    pub(crate) fn type_of(&self, name: &str) -> Option<ColumnType> {
        let found = self.types.iter().rev().find(|(column, _)| column == name);
        found.map(|(_, ty)| *ty)
    }
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
