//! A VRP, and the origin of a route.

use core::fmt;

use crate::net::IpPrefix;

/// A validated ROA payload: an autonomous system may originate a prefix, and prefixes inside it up
/// to a greatest length.
///
/// ```
/// use longmatch::rov::Vrp;
/// let vrp = Vrp::new("192.0.2.0/24".parse()?, 25, 64500)?;
/// assert_eq!(vrp.to_string(), "192.0.2.0/24-25 AS64500");
/// assert!(Vrp::new("192.0.2.0/24".parse()?, 23, 64500).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Vrp {
    prefix: IpPrefix,
    asn: u32,
    max_length: u8,
}

impl Vrp {
    /// A VRP. A ROA without a greatest length means that of its prefix.
    ///
    /// # Errors
    /// If `max_length` is less than the prefix's length or more than 32 (IPv4) or 128 (IPv6).
    pub fn new(prefix: IpPrefix, max_length: u8, asn: u32) -> Result<Self, MaxLengthError> {
        match (prefix.len()..=width(prefix)).contains(&max_length) {
            true => Ok(Self { prefix, asn, max_length }),
            false => Err(MaxLengthError { prefix, max_length }),
        }
    }

    /// The prefix.
    #[must_use]
    pub fn prefix(self) -> IpPrefix {
        self.prefix
    }

    /// The greatest length of prefixes that the system may originate.
    #[must_use]
    pub fn max_length(self) -> u8 {
        self.max_length
    }

    /// The autonomous system; 0 if nobody may originate the prefix by this VRP.
    #[must_use]
    pub fn asn(self) -> u32 {
        self.asn
    }
}

impl fmt::Display for Vrp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{} AS{}", self.prefix, self.max_length, self.asn)
    }
}

/// The length of the family's addresses.
fn width(prefix: IpPrefix) -> u8 {
    match prefix {
        IpPrefix::V4(_) => 32,
        IpPrefix::V6(_) => 128,
    }
}

/// The greatest length of a VRP is none that its prefix can have.
///
/// ```
/// use longmatch::rov::Vrp;
/// let error = Vrp::new("192.0.2.0/24".parse()?, 33, 64500).unwrap_err();
/// assert_eq!(error.to_string(), "the max length 33 of 192.0.2.0/24 is not in the range 24 to 32");
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MaxLengthError {
    /// The prefix.
    pub prefix: IpPrefix,
    /// The greatest length.
    pub max_length: u8,
}

impl fmt::Display for MaxLengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prefix, max_length } = *self;
        let (least, most) = (prefix.len(), width(prefix));
        write!(f, "the max length {max_length} of {prefix} is not in the range {least} to {most}")
    }
}

impl core::error::Error for MaxLengthError {}

/// The last segment of an AS path, from which a route has its origin.
///
/// ```
/// use longmatch::rov::LastSegment;
/// let own = 64496;
/// assert_eq!(LastSegment::Sequence(64500).origin(own), Some(64500));
/// assert_eq!(LastSegment::Empty.origin(own), Some(own), "the router's own route");
/// assert_eq!(LastSegment::Set.origin(own), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum LastSegment {
    /// The path is empty.
    Empty,
    /// An AS_SEQUENCE with this last autonomous system.
    Sequence(u32),
    /// An AS_SET.
    Set,
    /// An AS_CONFED_SEQUENCE or AS_CONFED_SET.
    Confederation,
}

impl LastSegment {
    /// The origin of a route (RFC 6811, section 2); `None` is the value NONE.
    ///
    /// `own` is the autonomous system of the router. For a route that it sends (RFC 8893), give the
    /// last segment after all policy, and as `own` the system that the neighbour sees as the
    /// router's, such as the identifier of its confederation.
    #[must_use]
    pub fn origin(self, own: u32) -> Option<u32> {
        match self {
            Self::Sequence(origin) => Some(origin),
            Self::Empty | Self::Confederation => Some(own),
            Self::Set => None,
        }
    }
}
