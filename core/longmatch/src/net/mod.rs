//! The vocabulary: addresses, prefixes, routes and next hops.

mod addr;
mod ip_prefix;
#[cfg(feature = "ipnet")]
mod ipnet;
mod next_hop;
mod next_hops;
mod prefix;
mod route;
#[cfg(feature = "serde")]
mod serde;

pub use addr::{Bits, Family, Ipv4, Ipv6};
pub use ip_prefix::IpPrefix;
pub(crate) use ip_prefix::{MAPPED_BITS, MAPPED_LEN};
pub use next_hop::NextHopId;
pub(crate) use next_hop::{answers_for, capacity_for};
pub use next_hops::{NextHops, NextHopsFull};
pub use prefix::{ParsePrefixError, Prefix, PrefixError, PrefixTextError};
pub use route::{Change, Outcome, Route};
