//! Parser of routes in text: lines, and the JSON of `ip route`.
//!
//! The parser classifies each line separately, so one file may mix the kinds:
//!
//! | line | meaning |
//! |---|---|
//! | `192.0.2.0/24 next-hop` | a route; a bare address is a host route |
//! | `192.0.2.0 255.255.255.0 next-hop` | the same with a netmask; without a next hop, the prefix is its own next hop |
//! | `A 192.0.2.0/24 next-hop` | an announcement, the same as the line above |
//! | `W 192.0.2.0/24` | a withdrawal |
//! | `default via 192.0.2.1 dev eth0 …` | `ip route` output, see [`ip_route`] |
//! | `TABLE_DUMP2\|…`, `BGP4MP\|…` | `bgpdump -m` output, see [`bgpdump`] |
//! | empty, `# …` | nothing |
//!
//! The output of `ip -json route` has its own parser: see [`json`].

mod address;
mod bgpdump;
mod dump;
mod ip_route;
mod json;
mod line;
mod lines;
mod linux;
mod load;
mod output;
mod parse;

pub use address::parse_address;
pub(crate) use ip_route::{is_keyword, type_name};
pub(crate) use json::load as load_json;
pub(crate) use line::{Rules, word};
pub(crate) use lines::{BOM, Lines, LinesError};
pub(crate) use load::load;
pub(crate) use parse::{is_length, parse};
