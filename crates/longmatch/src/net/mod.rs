//! The vocabulary: addresses, prefixes, routes and next hops.

mod addr;
mod next_hop;
mod prefix;
mod route;

pub use addr::{Bits, Family, Ipv4, Ipv6};
pub use next_hop::{NextHopId, NextHops, NextHopsFull};
pub(crate) use next_hop::{answers_for, capacity_for};
pub use prefix::{IpPrefix, ParsePrefixError, Prefix, PrefixError};
pub use route::{Change, Outcome, Route};
