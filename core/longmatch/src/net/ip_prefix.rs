//! Prefixes of either family.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

use super::prefix::split;
use crate::net::{Family, Ipv4, Ipv6, ParsePrefixError, Prefix, PrefixError, PrefixTextError};

/// A prefix of either family.
///
/// Prefixes order by family, IPv4 first, then by address, then by length: the order in which a
/// [`Table`](crate::Table) iterates. A prefix sorts before every prefix that it covers.
///
/// ```
/// use longmatch::IpPrefix;
/// use std::net::Ipv4Addr;
///
/// let office: IpPrefix = "10.0.0.0/8".parse()?;
/// assert!(office.contains("10.9.1.1".parse()?));
/// assert_eq!(IpPrefix::from(Ipv4Addr::new(10, 9, 1, 1)).to_string(), "10.9.1.1/32");
/// assert!("10.0.0.1/8".parse::<IpPrefix>().is_err()); // host bits are an error...
/// assert_eq!(IpPrefix::parse_masked("10.0.0.1/8")?, office); // ...unless masked on purpose
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IpPrefix {
    /// An IPv4 prefix.
    V4(Prefix<Ipv4>),
    /// An IPv6 prefix.
    V6(Prefix<Ipv6>),
}

/// The IPv4-mapped IPv6 addresses, `::ffff:0:0/96` (RFC 4291, 2.5.5.2).
pub(crate) const MAPPED_LEN: u8 = 96;
pub(crate) const MAPPED_BITS: u128 = 0xffff_0000_0000;

impl IpPrefix {
    /// Makes a prefix from an address and a length.
    ///
    /// # Errors
    /// When the length is greater than the family's width, or a bit after the length is set.
    pub fn new(addr: IpAddr, len: u8) -> Result<Self, PrefixError> {
        match addr {
            IpAddr::V4(addr) => Prefix::new(addr, len).map(Self::V4),
            IpAddr::V6(addr) => Prefix::new(addr, len).map(Self::V6),
        }
    }

    /// Makes a prefix from an address and a length, clearing the bits after the length.
    ///
    /// # Errors
    /// When the length is greater than the family's width.
    pub fn masked(addr: IpAddr, len: u8) -> Result<Self, PrefixError> {
        match addr {
            IpAddr::V4(addr) => Prefix::masked(addr, len).map(Self::V4),
            IpAddr::V6(addr) => Prefix::masked(addr, len).map(Self::V6),
        }
    }

    /// The prefix of one address, `/32` or `/128`.
    #[must_use]
    pub fn host(addr: IpAddr) -> Self {
        match addr {
            IpAddr::V4(addr) => Self::V4(Prefix::host(addr)),
            IpAddr::V6(addr) => Self::V6(Prefix::host(addr)),
        }
    }

    /// The network address.
    #[must_use]
    pub fn addr(self) -> IpAddr {
        match self {
            Self::V4(prefix) => IpAddr::V4(prefix.addr()),
            Self::V6(prefix) => IpAddr::V6(prefix.addr()),
        }
    }

    /// The prefix length.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a prefix length, not a container's")]
    pub fn len(self) -> u8 {
        match self {
            Self::V4(prefix) => prefix.len(),
            Self::V6(prefix) => prefix.len(),
        }
    }

    /// The first address covered: the network address.
    #[must_use]
    pub fn first(self) -> IpAddr {
        self.addr()
    }

    /// The last address covered: of an IPv4 prefix the broadcast address.
    #[must_use]
    pub fn last(self) -> IpAddr {
        match self {
            Self::V4(prefix) => IpAddr::V4(Ipv4::addr(prefix.last())),
            Self::V6(prefix) => IpAddr::V6(Ipv6::addr(prefix.last())),
        }
    }

    /// Whether the address is of this family and lies in this prefix.
    #[must_use]
    pub fn contains(self, addr: IpAddr) -> bool {
        match (self, addr) {
            (Self::V4(prefix), IpAddr::V4(addr)) => prefix.contains(addr),
            (Self::V6(prefix), IpAddr::V6(addr)) => prefix.contains(addr),
            _ => false,
        }
    }

    /// Whether this prefix covers `other`, of the same family; a prefix covers itself.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        match (self, other) {
            (Self::V4(prefix), Self::V4(other)) => prefix.covers(other),
            (Self::V6(prefix), Self::V6(other)) => prefix.covers(other),
            _ => false,
        }
    }

    /// Whether the two prefixes share an address: one of them covers the other.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.covers(other) || other.covers(self)
    }

    /// The longest prefix that covers both prefixes; `None` for different families.
    #[must_use]
    pub fn common(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::V4(prefix), Self::V4(other)) => Some(Self::V4(prefix.common(other))),
            (Self::V6(prefix), Self::V6(other)) => Some(Self::V6(prefix.common(other))),
            _ => None,
        }
    }

    /// The prefix one bit shorter, `None` for `/0`.
    #[must_use]
    pub fn parent(self) -> Option<Self> {
        match self {
            Self::V4(prefix) => prefix.parent().map(Self::V4),
            Self::V6(prefix) => prefix.parent().map(Self::V6),
        }
    }

    /// The two prefixes one bit longer, the lower first; `None` for a host prefix.
    #[must_use]
    pub fn halves(self) -> Option<[Self; 2]> {
        match self {
            Self::V4(prefix) => prefix.halves().map(|halves| halves.map(Self::V4)),
            Self::V6(prefix) => prefix.halves().map(|halves| halves.map(Self::V6)),
        }
    }

    /// Parses `address/length` and clears the bits after the length.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// assert_eq!(IpPrefix::parse_masked("10.9.1.1/8")?.to_string(), "10.0.0.0/8");
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Errors
    /// As [`FromStr`], except that host bits are cleared.
    pub fn parse_masked(text: &str) -> Result<Self, ParsePrefixError> {
        let (addr, len) = split(text)?;
        let addr: IpAddr = addr.parse().map_err(|_| ParsePrefixError::Address)?;
        Ok(Self::masked(addr, len)?)
    }

    /// Parses `address/length`, or an address alone, which means its host prefix.
    ///
    /// Lists of allowed and of blocked networks have both.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// assert_eq!(IpPrefix::parse_or_host("192.0.2.77")?, "192.0.2.77/32".parse()?);
    /// assert_eq!(IpPrefix::parse_or_host("2001:db8::/32")?, "2001:db8::/32".parse()?);
    /// let refused = IpPrefix::parse_or_host("10.0.0.1/8").unwrap_err();
    /// assert!(refused.to_string().starts_with("\"10.0.0.1/8\" is not a prefix: host bits"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`FromStr`], with the text.
    pub fn parse_or_host(text: &str) -> Result<Self, PrefixTextError> {
        if text.contains(':') {
            Prefix::parse_or_host(text).map(Self::V6)
        } else {
            Prefix::parse_or_host(text).map(Self::V4)
        }
    }

    /// Converts a prefix inside `::ffff:0:0/96` to the IPv4 prefix that it maps.
    ///
    /// Returns any other prefix unchanged, and `::ffff:0:0/96` itself too: routing tables and lists of special
    /// addresses have it as a statement on IPv6, and as `0.0.0.0/0` it would cover all of IPv4.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// let mapped: IpPrefix = "::ffff:10.0.0.0/104".parse()?;
    /// assert_eq!(mapped.unmapped(), "10.0.0.0/8".parse()?);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn unmapped(self) -> Self {
        match self {
            Self::V6(p) if p.len() > MAPPED_LEN && p.bits() >> 32 == MAPPED_BITS >> 32 => {
                Self::V4(Prefix::from_bits_masked(p.bits() as u32, p.len() - MAPPED_LEN))
            }
            other => other,
        }
    }
}

impl FromStr for IpPrefix {
    type Err = ParsePrefixError;

    /// Parses `address/length` of either family.
    ///
    /// # Errors
    /// When the address or the length is malformed or out of range, or host bits are set.
    fn from_str(text: &str) -> Result<Self, ParsePrefixError> {
        let (addr, len) = split(text)?;
        if addr.contains(':') {
            let addr: Ipv6Addr = addr.parse().map_err(|_| ParsePrefixError::Address)?;
            Ok(Self::V6(Prefix::new(addr, len)?))
        } else {
            let addr: Ipv4Addr = addr.parse().map_err(|_| ParsePrefixError::Address)?;
            Ok(Self::V4(Prefix::new(addr, len)?))
        }
    }
}

impl From<Prefix<Ipv4>> for IpPrefix {
    #[inline]
    fn from(prefix: Prefix<Ipv4>) -> Self {
        Self::V4(prefix)
    }
}

impl From<Prefix<Ipv6>> for IpPrefix {
    #[inline]
    fn from(prefix: Prefix<Ipv6>) -> Self {
        Self::V6(prefix)
    }
}

impl From<IpAddr> for IpPrefix {
    /// The prefix of one address, `/32` or `/128`.
    #[inline]
    fn from(addr: IpAddr) -> Self {
        Self::host(addr)
    }
}

impl From<Ipv4Addr> for IpPrefix {
    /// The prefix of one address, `/32`.
    #[inline]
    fn from(addr: Ipv4Addr) -> Self {
        Self::V4(Prefix::host(addr))
    }
}

impl From<Ipv6Addr> for IpPrefix {
    /// The prefix of one address, `/128`.
    #[inline]
    fn from(addr: Ipv6Addr) -> Self {
        Self::V6(Prefix::host(addr))
    }
}

impl fmt::Display for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(prefix) => prefix.fmt(f),
            Self::V6(prefix) => prefix.fmt(f),
        }
    }
}

impl fmt::Debug for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn p(text: &str) -> IpPrefix {
        text.parse().unwrap()
    }

    #[test]
    fn parses_only_canonical_text() {
        for text in ["fe80::1%eth0/128", "::1/129", "::/", "1::2::3/64", "::1/64", "10.0.0.1/8"] {
            assert!(text.parse::<IpPrefix>().is_err(), "{text:?}");
        }
        assert_eq!(IpPrefix::parse_masked("2001:db8::1/32").unwrap().to_string(), "2001:db8::/32");
    }

    #[test]
    fn addresses_alone_are_host_prefixes() {
        for (text, prefix) in [
            ("192.0.2.77", "192.0.2.77/32"),
            ("0.0.0.0", "0.0.0.0/32"),
            ("::", "::/128"),
            ("::ffff:10.0.0.1", "::ffff:10.0.0.1/128"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("::/0", "::/0"),
        ] {
            assert_eq!(IpPrefix::parse_or_host(text), Ok(p(prefix)));
        }
        for text in
            ["", "10", "10.0.0", "10.0.0.0/", "10.0.0.0/08", "10.0.0.1/8", "::1/129", "x/8", " ::"]
        {
            let refused = IpPrefix::parse_or_host(text).unwrap_err();
            assert!(refused.to_string().starts_with(&alloc::format!("{text:?} is not a prefix")));
            assert!(!text.contains('/') || text.parse::<IpPrefix>() == Err(refused.reason));
        }
    }

    #[test]
    fn constants_are_the_parsed_prefixes() {
        const V4: Prefix<Ipv4> = Prefix::from_octets([10, 128, 0, 0], 9);
        const V6: Prefix<Ipv6> = Prefix::from_segments([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 128);
        assert_eq!([IpPrefix::from(V4), V6.into()], ["10.128.0.0/9", "2001:db8::1/128"].map(p));
        assert_eq!(Prefix::from_octets([0; 4], 0), Prefix::DEFAULT);
        for refused in [
            (|| _ = Prefix::from_octets([10, 128, 0, 0], 8)) as fn(),
            || _ = Prefix::from_octets([0; 4], 33),
            || _ = Prefix::from_segments([1; 8], 127),
            || _ = Prefix::from_segments([0; 8], 129),
            || _ = Prefix::<Ipv4>::from_bits_masked(0, 33),
            || _ = Prefix::<Ipv6>::from_bits_masked(0, 200),
        ] {
            assert!(std::panic::catch_unwind(refused).is_err());
        }
    }

    #[test]
    fn mapped_prefixes_become_ipv4() {
        assert_eq!(p("::ffff:10.0.0.0/104").unmapped(), p("10.0.0.0/8"));
        assert_eq!(p("::ffff:0:0/96").unmapped(), p("::ffff:0:0/96"));
        assert_eq!(p("::ffff:0:0/97").unmapped(), p("0.0.0.0/1"));
        assert_eq!(p("::/0").unmapped(), p("::/0"));
        assert_eq!(p("::fffe:0:0/96").unmapped(), p("::fffe:0:0/96"));
    }

    /// Both families share no address, so neither covers the other; within one, the answers are
    /// those of [`Prefix`].
    #[test]
    fn relations_hold_within_a_family() {
        let all = [
            "0.0.0.0/0",
            "10.0.0.0/8",
            "10.0.0.0/9",
            "10.128.0.0/9",
            "10.9.1.1/32",
            "::/0",
            "::/1",
            "8000::/1",
            "2001:db8::/32",
            "2001:db8::1/128",
        ]
        .map(p);
        for a in all {
            for b in all {
                let covers = match (a, b) {
                    (IpPrefix::V4(a), IpPrefix::V4(b)) => a.covers(b),
                    (IpPrefix::V6(a), IpPrefix::V6(b)) => a.covers(b),
                    _ => false,
                };
                assert_eq!(a.covers(b), covers, "{a} {b}");
                assert_eq!(covers, a.contains(b.first()) && a.len() <= b.len());
                assert_eq!(a.overlaps(b), covers || b.covers(a));
                assert_eq!(a.common(b), b.common(a));
                assert!(a.common(b).is_none_or(|common| common.covers(a) && common.covers(b)));
                assert!(!covers || a == b || a < b, "{a} sorts before {b}");
            }
            assert!(a.contains(a.first()) && a.contains(a.last()));
            assert_eq!(a.parent().is_none(), a.len() == 0);
            for half in a.halves().into_iter().flatten() {
                assert_eq!(half.parent(), Some(a));
            }
        }
        assert_eq!(p("10.0.0.0/8").last().to_string(), "10.255.255.255");
        assert_eq!(p("::1/128").halves(), None);
    }

    #[test]
    fn ipv4_sorts_first() {
        let mut sorted: Vec<_> = ["::/0", "10.0.0.0/8", "::1/128", "0.0.0.0/0"].map(p).into();
        sorted.sort();
        let text: Vec<_> = sorted.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["0.0.0.0/0", "10.0.0.0/8", "::/0", "::1/128"]);
    }

    #[test]
    fn addresses_become_host_prefixes() {
        let (v4, v6) = (Ipv4Addr::new(10, 9, 1, 1), Ipv6Addr::LOCALHOST);
        assert_eq!(IpPrefix::from(v4), p("10.9.1.1/32"));
        assert_eq!(IpPrefix::from(v6), p("::1/128"));
        assert_eq!(IpPrefix::from(IpAddr::V4(v4)), IpPrefix::from(v4));
        assert_eq!(IpPrefix::from(IpAddr::V6(v6)), IpPrefix::from(v6));
    }
}
