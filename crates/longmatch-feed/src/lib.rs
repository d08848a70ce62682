//! Readers of routes and of destinations for [`longmatch`].
//!
//! This crate loads routes into a [`longmatch::Table`] from text, `ip route`, `bgpdump -m`, MRT, Click
//! files and prefix data; prefixes with any columns into [`PrefixData`](longmatch::table::PrefixData)
//! from CSV, lists, address ranges, sets of firewalls, JSON, MaxMind DB and all routes; destinations from
//! packet captures and lists of addresses; and lists of prefixes. Inputs may be plain or compressed with
//! gzip, bzip2, zstd or xz.
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
//! - [`load_path`], [`load_reader`] and [`load_bytes`] load one input each. Further calls add to the
//!   same sink; later routes replace earlier ones.
//! - A [`Sink`] receives the routes: a table, or a closure.
//! - [`destinations`] and [`destinations_from`] read one [`Trace`] each; [`packets`] passes on the addresses
//!   of a capture's packets, [`frames`] whole Ethernet frames.
//! - [`read_list`] and [`read_list_path`] read lists of prefixes, addresses and ranges, which have no
//!   next hops.
//! - [`Options`] choose the peer, the leniency and the [`Limits`]; start from their default.
//! - The [`Report`] counts the loaded routes, the chosen peers and everything that was skipped.
//!
//! # Formats
//! The content determines the format, and a magic number the compression.
//!
//! | input | supported content |
//! |---|---|
//! | text | `prefix next-hop`; `network netmask next-hop`; `prefix gateway port`; `A prefix next-hop` and `W prefix`; `ip route`, `ip -6 route`; `bgpdump -m`; `#` comments |
//! | JSON | `ip -json route` |
//! | MRT | TABLE_DUMP, TABLE_DUMP_V2 and BGP4MP(_ET), IPv4 and IPv6 unicast, with and without ADD-PATH; BGP of 1999 and 2000 |
//! | Click | the routes of one element of a configuration: `rt :: LinearIPLookup(ADDR/MASK [GATEWAY] OUT, ...)`, or another class of that family |
//! | prefix data | all [formats of prefix data](crate#prefix-data): the next hop is the text of the columns, separated by commas |
//! | list of [`read_list`] | prefixes, addresses, ranges, one a line, with or without further columns: see [`read_list`] |
//! | trace | pcap, pcapng, or one address per line: see [`destinations`] |
//!
//! A text is prefix data only if none of its first lines is a complete route, so that a damaged file of
//! routes stays one. Its prefixes reach the sink in order, and those without columns are their own next
//! hop. [`Report::read_as`] tells what the input was read as.
//!
//! [`Options::value`] gives the sink another value of MRT and `bgpdump -m` in place of the next hop: the
//! origin AS, the AS path, the peer or the communities.
//!
//! A next hop is any word. On a line with only a network and a netmask, the prefix is its own next
//! hop. Prefixes are strict: no host bits, leading zeros or zone ids. An IPv4-mapped IPv6 prefix
//! reaches the sink as written.
//!
//! # Prefix data
//! [`load_data_path`], [`load_data_reader`] and [`load_data_bytes`] read prefixes with named columns;
//! [`DataLoader`] merges inputs. [`DataOptions`] set the format or the columns where the recognition is wrong.
//!
//! | input | prefixes | columns |
//! |---|---|---|
//! | CSV, TSV, text with semicolons, bars or white space | a column of prefixes, addresses or ranges; two of an address and its length or netmask | those of the header, else `column2` ... |
//! | ranges: two columns of the first and the last address, as text or, with such names, as integers | the fewest that cover each range exactly | the others; of iptoasn's tables `asn`, `country`, `description` |
//! | lists | a prefix, address or range a line | none: a set |
//! | prefixes with a text of several words | | `value`: the rest of the line |
//! | `netstat -rn`, `route -n`, of Linux, BSD and macOS | the destinations; of several routes to one the first | `next_hop`: the gateway, or the interface |
//! | `ipset save`, `ipset list` | the entries of sets of type `hash:ip`, `hash:net`, `bitmap:ip` | `set`, `comment`; entries with `nomatch` are errors |
//! | `iptables-save` | sources and destinations of rules, unless negated; of several rules for one the first | `chain`, `target` |
//! | `nft list ruleset`, `nft list set` | the elements of named sets and maps of addresses | `set`, `value`, `comment` |
//! | RIS whois dumps | | `asn` (null for sets), `peers` |
//! | JSON, one document or one a line | objects in arrays with a member that is a prefix, as of RIPEstat; prefixes in arrays | the other scalar members, `origin_as` of a `path`; `list`: the name of the array |
//! | pyasn, CAIDA's pfx2as | | `asn` |
//! | routes: everything above; two words a line, neither a header | those of the routes | `origin_as` of MRT and `bgpdump -m`, else `next_hop`; or what [`DataOptions::value`] names |
//! | MaxMind DB | the networks, IPv4 once and not again as aliases | `country.iso_code`: the path to each scalar; of arrays the first element |
//! | compiled tables of longmatch | those of the table | those of the table |
//!
//! The column of the prefixes is the first one whose cells are prefixes, addresses or ranges. Single
//! addresses are host prefixes. IPv4-mapped IPv6 prefixes are stored as IPv4. Of several rows for one
//! prefix the last counts. A range replaces everything that earlier rows say about its addresses;
//! the report counts the prefixes that this removes.
//!
//! In text, lines that begin with `#` are comments (and with `;` in lists and pyasn's tables); cells
//! between commas, tabs, semicolons or bars may be in double quotes, which may contain delimiters, line
//! ends and doubled quotes. Empty cells are null. A column is `u64` if all its cells are plain decimal
//! numbers, else `i64`, else `f64`, else string; `007`, `+1` and `AS15169` are text, unless
//! [`DataOptions::types`] calls for a number. All cells of a row must be there.
//!
//! Two words a line are a prefix and its next hop. Two addresses a line are a host and its next hop,
//! and ranges only if [`DataOptions::prefix`] names both columns.
//!
//! Memory is that of the distinct rows, twice while the table is built, and about 50 bytes for each
//! prefix; text is read line by line; JSON, MaxMind DB and compiled tables are read whole.
//!
//! # Route selection of Linux
//! If `ip route` prints several routes for one prefix, this crate loads the route that Linux uses:
//! the one with the lowest metric (no metric means 0 for IPv4 and 1024 for IPv6); among equal IPv6
//! metrics, the one with the highest router preference; among equal routes, the first. Of several
//! next hops it loads the first one with the greatest weight, although Linux spreads the traffic
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
//! # Click
//! A configuration of the [Click modular router](https://github.com/kohler/click) is loaded from the
//! arguments of its first routing table, or of the element that [`Options::ip_table`] names; the report
//! counts the routes of others. A gateway and an output port together are the next hop, written
//! `192.0.2.1%7`, since Click's tables give a next hop of their own to each pair; a route without a
//! gateway (or with `-` or 0.0.0.0) has the port as its next hop. The same holds for text of the form
//! `prefix gateway port`, in which these tables print themselves, where the gateway is an IPv4
//! address or `-`.
//!
//! Networks may lack their last numbers (`10.1/16`), masks are lengths or netmasks, and an address
//! is a host route. Click clears set host bits; here they are an error without
//! [`Options::mask_host_bits`]. Names of addresses and `$` variables are errors. Of several routes
//! of a prefix the last one counts. Connections are not checked.
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
mod data;
mod decompress;
mod error;
mod input;
mod list;
mod load;
mod mrt;
mod options;
mod paths;
mod peers;
mod printable;
mod report;
mod route_value;
mod routes;
pub mod scan;
mod sink;
mod source;
mod stream;
mod text;
mod trace;

pub use address_text::{parse_ip, parse_ipv4, parse_ipv6};
pub use data::error::DataError;
pub use data::options::{DataFormat, DataOptions, Delimiter, KeptColumn, ParseDataOptionError};
pub use data::report::DataReport;
pub use data::{DataLoader, load_data_bytes, load_data_path, load_data_reader};
pub use decompress::{Codec, StreamError};
pub use error::{FeedError, Place, Problem};
pub use list::{ListEntries, ListOptions, ListReport, OnBlock, read_list, read_list_path};
pub use load::{load_bytes, load_path, load_reader};
pub use mrt::error::MrtError;
pub use options::{
    Format, IpFamily, IpTable, Limits, Options, ParseIpTableError, ParsePeerError, PeerSelector,
};
pub use peers::{Chosen, NoSuchPeer, Peer};
pub use printable::printable;
pub use report::Report;
pub use route_value::{ParseRouteValueError, RouteValue};
pub use sink::{Event, Sink, SinkError};
pub use stream::{Stream, compress};
pub use text::error::LineError;
pub use text::parse_address;
pub use trace::error::TraceError;
pub use trace::{
    Frame, Packet, Trace, TraceFormat, TraceReport, destinations, destinations_from, frames,
    packets,
};
