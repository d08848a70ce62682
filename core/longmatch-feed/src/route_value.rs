//! The value of a route.

use std::fmt;
use std::str::FromStr;

use crate::option_values::ParseOptionError;

/// The value of a route in formats that say more than its next hop: MRT and `bgpdump -m`.
///
/// ```
/// use longmatch_feed::RouteValue;
/// assert_eq!("origin-as".parse(), Ok(RouteValue::OriginAs));
/// assert_eq!(RouteValue::AsPath.to_string(), "as-path");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum RouteValue {
    /// The next hop, in the column `next_hop`. Every format of routes has it.
    #[default]
    NextHop,
    /// The autonomous system in which the AS path ends, in the column `origin_as`. Nothing without an AS
    /// path, and if the path ends in a set of systems.
    OriginAs,
    /// The AS path, in the column `as_path`: `64496 64497 {64498,64499}`, the nearest system first.
    /// Sequences of a confederation are in parentheses, its sets in brackets.
    AsPath,
    /// The address of the peer that announced the route, in the column `peer`.
    Peer,
    /// The communities, in the column `communities`, separated by spaces: `64496:1` (RFC 1997), then
    /// `rt:64496:1`, `soo:64496:1` or eight bytes as `0x...` (RFC 4360), then `64496:1:2` (RFC 8092).
    /// Of `bgpdump -m` as the field has them.
    Communities,
}

/// The values with the names of the options and the names of the columns.
const VALUES: [(RouteValue, &str, &str); 5] = [
    (RouteValue::NextHop, "next-hop", "next_hop"),
    (RouteValue::OriginAs, "origin-as", "origin_as"),
    (RouteValue::AsPath, "as-path", "as_path"),
    (RouteValue::Peer, "peer", "peer"),
    (RouteValue::Communities, "communities", "communities"),
];

impl RouteValue {
    /// The name of the column.
    pub(crate) fn column(self) -> &'static str {
        let known = VALUES.iter().find(|(value, ..)| *value == self);
        known.map_or("value", |(_, _, column)| column)
    }
}

impl fmt::Display for RouteValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = VALUES.iter().find(|(value, ..)| value == self);
        f.write_str(known.map_or("value", |(_, name, _)| name))
    }
}

impl FromStr for RouteValue {
    type Err = ParseOptionError;

    fn from_str(text: &str) -> Result<Self, ParseOptionError> {
        let known = VALUES.iter().find(|(_, name, column)| *name == text || *column == text);
        known.map(|(value, ..)| *value).ok_or_else(|| {
            ParseOptionError::new(text, "next-hop, origin-as, as-path, peer or communities")
        })
    }
}
