//! Validation of the origins of routes against the RPKI (RFC 6811).
//!
//! A validated ROA payload ([`Vrp`]) says that an autonomous system may originate a prefix, and the
//! longest prefix inside it. A [`VrpSet`] holds them, and [`VrpSet::validate`] gives the state of a
//! route:
//!
//! | state | the VRPs whose prefix covers the route |
//! |---|---|
//! | [`Validity::Valid`] | one has the route's origin, and allows the route's length |
//! | [`Validity::Invalid`], [`InvalidReason::Length`] | some have the origin, and none of these allows the length |
//! | [`Validity::Invalid`], [`InvalidReason::Asn`] | none has the origin |
//! | [`Validity::NotFound`] | there are none |
//!
//! All covering VRPs count, not only those of the longest prefix. AS 0 (RFC 6483, section 4) is
//! nobody's: a VRP with it never makes a route valid, and an origin 0 matches no VRP.
//! [`LastSegment`] gives the origin of an AS path.
//!
//! ```
//! use longmatch::IpPrefix;
//! use longmatch::rov::{InvalidReason, Validity, Vrp, VrpSet};
//!
//! let mut vrps = VrpSet::new();
//! vrps.insert(Vrp::new("192.0.2.0/24".parse()?, 25, 64500)?)?;
//!
//! let state = |prefix: &str, origin| vrps.validate(prefix.parse::<IpPrefix>().unwrap(), Some(origin));
//! assert_eq!(state("192.0.2.128/25", 64500), Validity::Valid);
//! assert_eq!(state("192.0.2.128/26", 64500), Validity::Invalid(InvalidReason::Length));
//! assert_eq!(state("192.0.2.0/24", 64501), Validity::Invalid(InvalidReason::Asn));
//! assert_eq!(state("192.0.0.0/16", 64500), Validity::NotFound);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod authorized;
#[cfg(test)]
mod tests;
mod vrp;

pub use vrp::{LastSegment, MaxLengthError, Vrp};

use core::fmt;

use crate::net::{IpPrefix, Ipv4, Ipv6};
use crate::rib::RibFull;
use authorized::Authorized;

/// The state of a route (RFC 6811, section 2).
///
/// Its text is `valid`, `invalid (asn)`, `invalid (length)` or `not found`.
///
/// ```
/// use longmatch::IpPrefix;
/// use longmatch::rov::{Validity, VrpSet};
/// let state = VrpSet::new().validate("192.0.2.0/24".parse::<IpPrefix>()?, Some(64500));
/// assert_eq!(state, Validity::NotFound);
/// assert_eq!(state.to_string(), "not found");
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Validity {
    /// A VRP matches: it covers the route, and has its origin and a sufficient greatest length.
    Valid,
    /// VRPs cover the route, and none matches.
    Invalid(InvalidReason),
    /// No VRP covers the route.
    NotFound,
}

/// The reason why no covering VRP matches a route.
///
/// ```
/// use longmatch::IpPrefix;
/// use longmatch::rov::{InvalidReason, Validity, Vrp, VrpSet};
/// let mut vrps = VrpSet::new();
/// vrps.insert(Vrp::new("192.0.2.0/24".parse()?, 24, 64500)?)?;
/// let longer: IpPrefix = "192.0.2.0/25".parse()?;
/// assert_eq!(vrps.validate(longer, Some(64500)), Validity::Invalid(InvalidReason::Length));
/// assert_eq!(vrps.validate(longer, Some(64501)), Validity::Invalid(InvalidReason::Asn));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InvalidReason {
    /// None has the route's origin.
    Asn,
    /// The route is longer than each of those with its origin allows.
    Length,
}

impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valid => "valid",
            Self::Invalid(InvalidReason::Asn) => "invalid (asn)",
            Self::Invalid(InvalidReason::Length) => "invalid (length)",
            Self::NotFound => "not found",
        })
    }
}

/// A set of VRPs of both families.
///
/// Changes and validation cost as much as in a [`Rib`](crate::Rib), and O(log n) for n VRPs of one
/// prefix. An IPv4-mapped IPv6 prefix (`::ffff:192.0.2.0/120`) is an IPv6 one here, in VRPs and in routes.
/// Each prefix takes about 130 bytes.
///
/// ```
/// use longmatch::rov::{Vrp, VrpSet};
/// let vrp = Vrp::new("192.0.2.0/24".parse()?, 24, 64500)?;
/// let mut vrps = VrpSet::new();
/// assert!(vrps.insert(vrp)?);
/// assert!(!vrps.insert(vrp)?, "it is there already");
/// assert!(vrps.remove(vrp));
/// assert!(vrps.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct VrpSet {
    ipv4: Authorized<Ipv4>,
    ipv6: Authorized<Ipv6>,
}

impl VrpSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of VRPs of both families.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    /// Whether there is no VRP.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a VRP; returns whether it is new. Equal VRPs of several trust anchors count once.
    ///
    /// # Errors
    /// If the set holds 500 million prefixes of the family; it is then unchanged.
    pub fn insert(&mut self, vrp: Vrp) -> Result<bool, RibFull> {
        match vrp.prefix() {
            IpPrefix::V4(prefix) => self.ipv4.insert(prefix, vrp.asn(), vrp.max_length()),
            IpPrefix::V6(prefix) => self.ipv6.insert(prefix, vrp.asn(), vrp.max_length()),
        }
    }

    /// Removes a VRP; returns whether it was there. Other VRPs of its prefix stay.
    pub fn remove(&mut self, vrp: Vrp) -> bool {
        match vrp.prefix() {
            IpPrefix::V4(prefix) => self.ipv4.remove(prefix, vrp.asn(), vrp.max_length()),
            IpPrefix::V6(prefix) => self.ipv6.remove(prefix, vrp.asn(), vrp.max_length()),
        }
    }

    /// The state of a route to `prefix` with this origin.
    ///
    /// The origin of a route that comes in is that of its AS path, [`LastSegment::origin`]. `None`
    /// is the value NONE of RFC 6811, which matches no VRP. For a route that is sent, it is the
    /// origin that its path will have then (RFC 8893). An address is a host prefix.
    #[must_use]
    pub fn validate(&self, prefix: impl Into<IpPrefix>, origin: Option<u32>) -> Validity {
        match prefix.into() {
            IpPrefix::V4(prefix) => self.ipv4.validate(prefix, origin),
            IpPrefix::V6(prefix) => self.ipv6.validate(prefix, origin),
        }
    }

    /// The VRPs that cover a prefix, those of shorter prefixes first: the reasons of its state.
    pub fn cover(&self, prefix: impl Into<IpPrefix>) -> impl Iterator<Item = Vrp> + '_ {
        let (ipv4, ipv6) = match prefix.into() {
            IpPrefix::V4(prefix) => (Some(self.ipv4.cover(prefix)), None),
            IpPrefix::V6(prefix) => (None, Some(self.ipv6.cover(prefix))),
        };
        ipv4.into_iter().flatten().chain(ipv6.into_iter().flatten())
    }

    /// Every VRP: by prefix, IPv4 first, then by AS and greatest length.
    pub fn iter(&self) -> impl Iterator<Item = Vrp> + '_ {
        self.ipv4.iter().chain(self.ipv6.iter())
    }
}
