//! Readers of routes and of destinations for [`longmatch`].
//!
//! This crate reads the prefixes of an input of any [format](crate#formats): as routes into a [`longmatch::Table`],
//! with columns into [`PrefixData`](longmatch::table::PrefixData), or as a set of addresses. It also reads destinations
//! from packet captures and lists of addresses. Inputs may be plain or compressed with gzip, bzip2, zstd or xz;
//! one member of a zip or tar archive is read.
//!
//! ```
//! use longmatch::Table;
//! use longmatch_feed::{Options, load_bytes};
//!
//! let mut table = Table::<Box<str>>::new();
//! let file = b"192.0.2.0/24 upstream\ndefault via fe80::1 dev eth0\n";
//! let report = load_bytes(file, Some("example"), &Options::default(), &mut table)?;
//! assert_eq!((report.announced, table.len()), (2, 2));
//!
//! let error = load_bytes(b"192.0.2.0/33 x", Some("bad"), &Options::default(), &mut table);
//! assert!(error.unwrap_err().to_string().starts_with("bad: line 1: '192.0.2.0/33' is not a prefix"));
//! # Ok::<(), longmatch_feed::FeedError>(())
//! ```
//!
//! - [`load_path`], [`load_reader`] and [`load_bytes`] pass routes to a [`Sink`]: a table, or a closure.
//! - [`load_data_path`], [`load_data_reader`] and [`load_data_bytes`] read prefixes with named columns;
//!   [`DataLoader`] merges inputs.
//! - [`read_list_path`] and [`read_list`] read the set of addresses.
//! - [`destinations`] and [`destinations_from`] read one [`Trace`] each; [`packets`] passes the addresses
//!   of a capture's packets to a closure, [`frames`] whole Ethernet frames.
//! - [`read_vrps_path`] and [`read_vrps`] read the VRPs of the RPKI, for the validation of origins.
//! - [`Options`] set the format or the columns if the recognition is wrong, and choose the peer, the leniency and
//!   the [`Limits`]; start from their default.
//! - The [`Report`] has the numbers of rows, routes and skipped parts, and the chosen peers.
//!
//! # Formats
//! The content determines the format, and a magic number the compression. All readers recognise the same formats:
//!
#![doc = include_str!("../FORMATS.md")]
//!
//! The member of a zip or tar archive that is read is the only one that is not a text about the data. If there are several,
//! the path names one: `FILE:MEMBER`. [`Options::joins`] add the columns of other files.
//!
//! The column of the prefixes is the first one whose cells are prefixes, addresses or ranges. Single
//! addresses are host prefixes, unless another column has the lengths, netmasks or ends of their networks. A column of
//! netmasks is recognised under any name, other columns by their names; columns with several possible meanings
//! are refused. IPv4-mapped IPv6 prefixes and ranges become IPv4, except `::ffff:0:0/96`, which does not mean all IPv4
//! addresses, and ranges that have all of it. If a prefix has several rows, [`Options::duplicates`] decides. A range
//! replaces everything that earlier rows say about its addresses; the report counts the prefixes that this removes.
//!
//! In text, lines that begin with `#` are comments (and with `;` in lists and pyasn's tables); cells
//! between commas, semicolons or bars may be in double quotes, which may contain delimiters, line
//! ends and doubled quotes; between tabs quotes are data, unless they are around a whole cell. Empty cells are
//! null. A column is `u64` if all its cells are plain decimal numbers, else `i64`, else `f64`, else string; `007`,
//! `+1` and `AS15169` are text, unless [`Options::types`] asks for a number. A row must have all cells.
//!
//! A line of two words is a prefix and its next hop, or an address and `/length`. Two addresses on a line are a network
//! and its netmask, a host and its next hop, or the ends of a range, if there are three or more columns and the
//! addresses are in order. If the meaning is unclear, the input is refused. So is an address with a number that may be a
//! length or a next hop.
//!
//! A sink of routes gets the prefixes of other formats in order; the next hop is the text of the columns, separated by
//! commas, or the prefix itself without columns. A next hop is any word; on a line with only a network and a netmask,
//! the prefix is its own next hop. Prefixes are strict: no host bits, leading zeros or zone ids.
//! [`Options::value`] names another value of MRT and `bgpdump -m`: the origin AS, the AS path, the peer or the
//! communities.
//!
//! Memory holds the distinct rows, twice while the table is built, and about 50 bytes for each
//! prefix; text is read line by line; JSON, MaxMind DB and compiled tables are read whole.
//!
//! # Route selection of Linux
//! If `ip route` prints several routes for one prefix, this crate loads the route that Linux uses:
//! the one with the lowest metric (no metric means 0 for IPv4 and 1024 for IPv6); among equal IPv6
//! metrics, the one with the highest router preference; among equal routes, the first. If there are several
//! next hops, it loads the first one with the greatest weight, although Linux spreads the traffic
//! over all of them. It skips next hops marked `dead`, IPv4 routes for one type of service, and
//! routes of tables other than [`Options::ip_table`]. The words `blackhole`, `unreachable`, `prohibit`
//! and `throw` are next hops themselves. This selection applies within one input: routes of a later
//! input replace earlier ones.
//!
//! A line without a table belongs to the main table. If the option names another table and no line
//! names any, all lines belong to that table: this is the output of `ip route show table X`.
//!
//! The line of a `default` route shows its family by the gateway, the source address, or attributes
//! that only one family has. Otherwise the lines before and after decide if they agree, then
//! [`Options::default_family`]; else the line is an error.
//!
//! # Peers
//! A table dump has the routes of many routers; a forwarding table has the routes of one. This crate
//! loads the peer with the most routes (in updates: announcements), separately for IPv4 and IPv6,
//! unless [`Options::peer`] names a peer. Each file has its own choice: to apply updates to a table
//! from a dump, name the peer. If a peer has several paths for a prefix, the first path of a dump
//! counts, and in updates the path with the lowest identifier.
//!
//! The choice needs its own pass over the input, so MRT and bgpdump files are read twice.
//!
//! # Damage
//! A load either reads the whole input or fails with an error that names the line or byte. A lenient
//! load skips damaged lines and records, keeps the routes before the end of a truncated file, and
//! fails only if it can read no route at all. No input makes this crate panic, or reserve much more
//! memory than it has received. Its other state is the metric of every `ip route` line and every
//! announced ADD-PATH path. The exceptions are the window of a zstd frame, the dictionary of an xz block
//! and the options of a pcapng block, at most 128 MiB each.
//!
//! # When not to use it
//! For several attributes of routes or several peers at once, use a BGP library: this crate keeps
//! prefixes and one value of each.
#![forbid(unsafe_code)]

mod address_text;
mod archive;
mod codec;
mod data;
mod decompress;
mod entries;
mod error;
mod formats;
mod input;
mod list;
mod load;
mod loader;
pub mod mmdb;
mod mrt;
mod option_values;
mod options;
mod paths;
mod peers;
mod prefix_text;
mod printable;
mod read;
mod read_list;
mod recognise;
mod report;
mod route_value;
pub mod scan;
mod sink;
mod source;
mod stream;
mod text;
mod trace;
mod vrps;

pub use address_text::{parse_ip, parse_ipv4, parse_ipv6};
pub use archive::archive_member;
pub use codec::{Codec, other_encoding};
pub use entries::ListEntries;
pub use error::{FeedError, Location, Problem};
pub use formats::{Format, FormatInfo};
pub use load::{load_bytes, load_path, load_reader};
pub use loader::{DataLoader, load_data_bytes, load_data_path, load_data_reader};
pub use option_values::{
    Delimiter, Duplicates, IpTable, Join, KeptColumn, ParseOptionError, PeerSelector,
};
pub use options::{IpFamily, Limits, Options};
pub use peers::{Chosen, Peer};
pub use printable::printable;
pub use read_list::{read_list, read_list_path};
pub use report::Report;
pub use route_value::RouteValue;
pub use sink::{Event, Sink, SinkError};
pub use source::open_file;
pub use stream::{Stream, compress};
pub use text::parse_address;
pub use trace::{
    Frame, Packet, Trace, TraceFormat, TraceReport, destinations, destinations_from, frames,
    packets,
};
pub use vrps::{parse_asn, read_vrps, read_vrps_path};
