//! Routes into a [`longmatch::Table`]: text, `ip route`, `bgpdump -m` and MRT files; and
//! destinations to look up in it: packet captures and lists of addresses. All of them plain or
//! compressed with gzip, bzip2 or zstd.
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
//! assert!(error.unwrap_err().to_string().starts_with("bad: line 1: '192.0.2.0/33' is no prefix"));
//! # Ok::<(), longmatch_feed::FeedError>(())
//! ```
//!
//! - [`load_path`], [`load_reader`] and [`load_bytes`] load one input each; several in a row add up,
//!   later routes replacing earlier ones.
//! - A [`Sink`] receives the routes: a table, or a closure.
//! - [`destinations`] and [`destinations_from`] read one [`Trace`] each.
//! - [`Options`] choose the peer, the leniency and the [`Limits`]; start from their default.
//! - The [`Report`] says what was read, whose routes were taken, and what was left out.
//!
//! # Formats
//! Text and MRT are told apart by the first bytes; compression is seen by its magic number.
//!
//! | input | what is read |
//! |---|---|
//! | text | `prefix next-hop`; `network netmask next-hop`; `A prefix next-hop` and `W prefix`; `ip route`, `ip -6 route`; `bgpdump -m`; `#` comments |
//! | JSON | `ip -json route` |
//! | MRT | TABLE_DUMP, TABLE_DUMP_V2 and BGP4MP(_ET), IPv4 and IPv6 unicast, with and without ADD-PATH; BGP of 1999 and 2000 |
//! | trace | pcap, pcapng, or one address a line: see [`destinations`] |
//!
//! A next hop is any word. Of an IPv4 address and a netmask alone, the prefix is its own next hop. Prefixes are strict: no host bits, leading zeros or zone ids. An
//! IPv4-mapped IPv6 prefix goes to the sink as it is written.
//!
//! # What Linux would do
//! Of the routes that `ip route` prints for one prefix, Linux uses one, and so does this crate: the
//! one with the lowest metric (none is 0 for IPv4, 1024 for IPv6); of equal IPv6 metrics the one
//! with the highest router preference; of equals the first. Of several next hops it is the first of
//! those with the greatest weight; Linux would spread the traffic over all of them. Next hops that
//! are `dead` are left out, as are IPv4 routes for a type of service, and routes of other tables
//! than [`Options::ip_table`]. `blackhole`, `unreachable`, `prohibit` and `throw` are next hops of
//! their own. All of this is within one input: the routes of a later one replace them.
//!
//! Lines without a table are the main table's. Where another one is asked for and no line names a
//! table, they are that one's: so `ip route show table X` prints it.
//!
//! The family of a `default` comes from its line: gateway, source address, and the attributes that
//! only one family has. Where the line does not tell, the lines before and after it decide if they
//! agree, then [`Options::default_family`]; else the line is an error.
//!
//! # Peers
//! A table dump has the routes of many routers; a forwarding table has those of one. Taken is the
//! peer with the most routes (in updates: announcements), for IPv4 and IPv6 on its own, unless
//! [`Options::peer`] names one. Each file is judged alone: to apply updates to a table from a dump,
//! name the peer. Where a peer has several paths for a prefix, a dump's first is taken, and of
//! updates the one with the lowest path identifier.
//!
//! The choice takes a pass over the input of its own, so MRT and bgpdump files are read twice.
//!
//! # Damage
//! Every input is either loaded or refused with an error that names the line or byte. In a lenient
//! load a damaged line or record is left out and the next one read; where a file is cut off, what
//! came before is kept; where nothing can be read, that is an error all the same. No input makes this crate panic, or reserve much more memory than it has
//! received; beyond that it keeps the metric of every `ip route` line and every live ADD-PATH path.
//! The exceptions are the window of a zstd frame and the options of a pcapng block, at
//! most 128 MiB each.
//!
//! # When not to use it
//! For AS paths, communities or several peers side by side use a BGP library: this crate keeps
//! prefix and next hop.
#![forbid(unsafe_code)]

mod decompress;
mod error;
mod input;
mod load;
mod mrt;
mod options;
mod paths;
mod peers;
mod printable;
mod report;
mod sink;
mod source;
mod text;
mod trace;

pub use decompress::{Codec, StreamError};
pub use error::{FeedError, Place, Problem};
pub use load::{load_bytes, load_path, load_reader};
pub use mrt::error::MrtError;
pub use options::{
    Format, IpFamily, IpTable, Limits, Options, ParseIpTableError, ParsePeerError, PeerSelector,
};
pub use peers::{Chosen, NoSuchPeer, Peer};
pub use printable::printable;
pub use report::Report;
pub use sink::{Event, Sink, SinkError};
pub use text::error::LineError;
pub use text::parse_address;
pub use trace::error::TraceError;
pub use trace::{Trace, TraceFormat, TraceReport, destinations, destinations_from};
