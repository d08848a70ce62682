//! Prefixes: an address and a length, host bits always zero.

use alloc::boxed::Box;
use core::cmp::Ordering;
use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

use crate::net::{Bits, Family, Ipv4, Ipv6};

/// A prefix of one family in canonical form: the bits after `len` are zero.
///
/// Prefixes order by address, then by length, so a prefix sorts before every prefix that it covers,
/// and sorted routes are in pre-order of the binary trie.
///
/// ```
/// use longmatch::{Ipv4, Prefix};
/// let p: Prefix<Ipv4> = "192.0.2.0/24".parse()?;
/// assert!(p.contains("192.0.2.77".parse().unwrap()));
/// assert!("192.0.2.1/24".parse::<Prefix<Ipv4>>().is_err()); // host bits are an error...
/// assert_eq!(Prefix::<Ipv4>::parse_masked("192.0.2.1/24")?, p); // ...unless masked on purpose
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Prefix<F: Family> {
    bits: F::Bits,
    len: u8,
}

impl<F: Family> Prefix<F> {
    /// The default route, `/0`.
    ///
    /// ```
    /// use longmatch::{Ipv4, Prefix};
    /// assert_eq!(Prefix::<Ipv4>::DEFAULT.to_string(), "0.0.0.0/0");
    /// ```
    pub const DEFAULT: Self = Self { bits: F::Bits::ZERO, len: 0 };

    /// Makes a prefix from an address and a length.
    ///
    /// # Errors
    /// When the length is greater than the family's width, or a bit after the length is set.
    pub fn new(addr: F::Addr, len: u8) -> Result<Self, PrefixError> {
        let prefix = Self::masked(addr, len)?;
        if prefix.bits == F::bits(addr) { Ok(prefix) } else { Err(PrefixError::HostBits { len }) }
    }

    /// Makes a prefix from an address and a length, clearing the bits after the length.
    ///
    /// # Errors
    /// When the length is greater than the family's width.
    pub fn masked(addr: F::Addr, len: u8) -> Result<Self, PrefixError> {
        if len > F::WIDTH {
            return Err(PrefixError::Length { len: len.into(), max: F::WIDTH });
        }
        Ok(Self::truncated(F::bits(addr), len))
    }

    /// The prefix of one address, `/32` or `/128`.
    #[must_use]
    pub fn host(addr: F::Addr) -> Self {
        Self { bits: F::bits(addr), len: F::WIDTH }
    }

    /// The prefix of length `len` that covers the address `bits`.
    ///
    /// # Panics
    /// When `len` is greater than the family's width; [`Prefix::masked`] returns an error then.
    #[must_use]
    #[inline]
    pub fn from_bits_masked(bits: F::Bits, len: u8) -> Self {
        assert!(len <= F::WIDTH, "prefix length {len} is greater than {}", F::WIDTH);
        Self::truncated(bits, len)
    }

    /// The same for a length that is known to be at most the family's width.
    #[inline(always)]
    pub(crate) fn truncated(bits: F::Bits, len: u8) -> Self {
        Self { bits: bits & F::Bits::mask(len), len }
    }

    /// The network address as an integer.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> F::Bits {
        self.bits
    }

    /// The prefix length.
    #[must_use]
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a prefix length, not a container's")]
    pub const fn len(self) -> u8 {
        self.len
    }

    /// The network address.
    #[must_use]
    pub fn addr(self) -> F::Addr {
        F::addr(self.bits)
    }

    /// The first address covered, as an integer: the network address.
    #[must_use]
    #[inline]
    pub const fn first(self) -> F::Bits {
        self.bits
    }

    /// The last address covered, as an integer.
    #[must_use]
    #[inline]
    pub fn last(self) -> F::Bits {
        self.bits | !F::Bits::mask(self.len)
    }

    /// Whether the address lies in this prefix.
    #[must_use]
    pub fn contains(self, addr: F::Addr) -> bool {
        self.contains_bits(F::bits(addr))
    }

    /// Whether the address, as an integer, lies in this prefix.
    #[must_use]
    #[inline]
    pub fn contains_bits(self, bits: F::Bits) -> bool {
        bits & F::Bits::mask(self.len) == self.bits
    }

    /// Whether this prefix covers `other`; a prefix covers itself.
    #[must_use]
    #[inline]
    pub fn covers(self, other: Self) -> bool {
        self.len <= other.len && self.contains_bits(other.bits)
    }

    /// Whether the two prefixes share an address: one of them covers the other.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.covers(other) || other.covers(self)
    }

    /// The longest prefix that covers both prefixes.
    #[must_use]
    #[inline]
    pub fn common(self, other: Self) -> Self {
        let same = (self.bits ^ other.bits).leading_zeros();
        Self::truncated(self.bits, same.min(self.len).min(other.len))
    }

    /// The prefix one bit shorter, `None` for `/0`.
    #[must_use]
    pub fn parent(self) -> Option<Self> {
        self.len.checked_sub(1).map(|len| Self::truncated(self.bits, len))
    }

    /// The two prefixes one bit longer, the lower first; `None` for a host prefix.
    #[must_use]
    pub fn halves(self) -> Option<[Self; 2]> {
        if self.len == F::WIDTH {
            return None;
        }
        let len = self.len + 1;
        let upper = self.bits | (F::Bits::mask(len) & !F::Bits::mask(self.len));
        Some([Self { bits: self.bits, len }, Self { bits: upper, len }])
    }

    /// Parses `address/length`, or an address alone, which means its host prefix.
    ///
    /// ```
    /// use longmatch::{Ipv4, Prefix};
    /// assert_eq!(Prefix::<Ipv4>::parse_or_host("192.0.2.77")?, "192.0.2.77/32".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`FromStr`], with the text.
    pub fn parse_or_host(text: &str) -> Result<Self, PrefixTextError> {
        let host = || text.parse().map(Self::host).map_err(|_| ParsePrefixError::Address);
        let parsed = if text.contains('/') { text.parse() } else { host() };
        parsed.map_err(|reason| PrefixTextError { text: text.into(), reason })
    }

    /// Parses `address/length` and clears the bits after the length.
    ///
    /// ```
    /// use longmatch::{Ipv4, Prefix};
    /// let prefix = Prefix::<Ipv4>::parse_masked("10.9.1.1/8")?;
    /// assert_eq!(prefix.to_string(), "10.0.0.0/8");
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Errors
    /// As [`FromStr`], except that host bits are cleared.
    pub fn parse_masked(text: &str) -> Result<Self, ParsePrefixError> {
        let (addr, len) = split(text)?;
        let addr = addr.parse::<F::Addr>().map_err(|_| ParsePrefixError::Address)?;
        Ok(Self::masked(addr, len)?)
    }
}

impl Prefix<Ipv4> {
    /// A prefix as a constant.
    ///
    /// # Panics
    /// When the length is greater than 32, or a bit after it is set; in a constant this is an error
    /// of compilation. For input use [`Prefix::new`].
    #[must_use]
    pub const fn from_octets(octets: [u8; 4], len: u8) -> Self {
        let bits = u32::from_be_bytes(octets);
        assert!(len <= 32, "the prefix length is greater than 32");
        assert!(bits.trailing_zeros() + len as u32 >= 32, "host bits are set after the length");
        Self { bits, len }
    }
}

impl Prefix<Ipv6> {
    /// A prefix as a constant.
    ///
    /// # Panics
    /// When the length is greater than 128, or a bit after it is set; in a constant this is an error
    /// of compilation. For input use [`Prefix::new`].
    #[must_use]
    pub const fn from_segments(segments: [u16; 8], len: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = segments;
        let bits = Ipv6Addr::new(a, b, c, d, e, f, g, h).to_bits();
        assert!(len <= 128, "the prefix length is greater than 128");
        assert!(bits.trailing_zeros() + len as u32 >= 128, "host bits are set after the length");
        Self { bits, len }
    }
}

/// Splits `address/length` and reads the decimal length without sign or leading zeros.
pub(super) fn split(text: &str) -> Result<(&str, u8), ParsePrefixError> {
    let (addr, len) = text.split_once('/').ok_or(ParsePrefixError::MissingLength)?;
    let digits = len.as_bytes();
    let plain = matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && digits.len() <= 3;
    if !plain || !digits.iter().all(u8::is_ascii_digit) {
        return Err(ParsePrefixError::Length);
    }
    let len: u16 = len.parse().map_err(|_| ParsePrefixError::Length)?;
    let len = u8::try_from(len).map_err(|_| PrefixError::Length { len, max: 128 })?;
    Ok((addr, len))
}

impl<F: Family> FromStr for Prefix<F> {
    type Err = ParsePrefixError;

    /// Parses `address/length`.
    ///
    /// # Errors
    /// When the address or the length is malformed or out of range, or host bits are set.
    fn from_str(text: &str) -> Result<Self, ParsePrefixError> {
        let (addr, len) = split(text)?;
        let addr = addr.parse::<F::Addr>().map_err(|_| ParsePrefixError::Address)?;
        Ok(Self::new(addr, len)?)
    }
}

impl<F: Family> PartialOrd for Prefix<F> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<F: Family> Ord for Prefix<F> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bits.cmp(&other.bits).then(self.len.cmp(&other.len))
    }
}

impl<F: Family> fmt::Display for Prefix<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.addr(), self.len)
    }
}

impl<F: Family> fmt::Debug for Prefix<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Ipv4Addr> for Prefix<Ipv4> {
    /// The prefix of one address, `/32`.
    fn from(addr: Ipv4Addr) -> Self {
        Self::host(addr)
    }
}

impl From<Ipv6Addr> for Prefix<Ipv6> {
    /// The prefix of one address, `/128`.
    fn from(addr: Ipv6Addr) -> Self {
        Self::host(addr)
    }
}

/// The reason why an address and a length do not make a prefix.
///
/// ```
/// use longmatch::{Ipv4, Prefix, PrefixError};
/// let refused = Prefix::<Ipv4>::new([10, 0, 0, 1].into(), 8);
/// assert_eq!(refused, Err(PrefixError::HostBits { len: 8 }));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PrefixError {
    /// The length is greater than the family's width.
    Length {
        /// The length that was given.
        len: u16,
        /// The greatest length of the family.
        max: u8,
    },
    /// A bit after the length is set.
    HostBits {
        /// The length that was given.
        len: u8,
    },
}

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { len, max } => write!(f, "prefix length {len} is greater than {max}"),
            Self::HostBits { len } => {
                write!(f, "host bits are set after /{len}: mask the prefix, or use a longer length")
            }
        }
    }
}

impl core::error::Error for PrefixError {}

/// The reason why a text is not a prefix.
///
/// ```
/// use longmatch::{IpPrefix, ParsePrefixError};
/// let refused = "10.0.0.0".parse::<IpPrefix>();
/// assert_eq!(refused, Err(ParsePrefixError::MissingLength));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParsePrefixError {
    /// The part before the slash is not an address of the expected family.
    Address,
    /// The text has no slash.
    MissingLength,
    /// The part after the slash is not a plain decimal number.
    Length,
    /// The address and the length do not make a prefix.
    Prefix(PrefixError),
}

/// The reason why a text is neither a prefix nor an address; from [`Prefix::parse_or_host`].
///
/// ```
/// use longmatch::IpPrefix;
/// let refused = IpPrefix::parse_or_host("10.0.0.0/33").unwrap_err();
/// let text = "\"10.0.0.0/33\" is not a prefix: prefix length 33 is greater than 32";
/// assert_eq!(refused.to_string(), text);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PrefixTextError {
    /// The text.
    pub text: Box<str>,
    /// The defect.
    pub reason: ParsePrefixError,
}

impl fmt::Display for PrefixTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, reason } = self;
        let kind = if text.contains('/') { "a prefix" } else { "a prefix or an address" };
        write!(f, "{text:?} is not {kind}: {reason}")
    }
}

impl core::error::Error for PrefixTextError {}

impl fmt::Display for ParsePrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address => f.write_str("not a valid address"),
            Self::MissingLength => f.write_str("expected address/length, found no '/'"),
            Self::Length => f.write_str("the prefix length is not a plain decimal number"),
            Self::Prefix(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ParsePrefixError {}

impl From<PrefixError> for ParsePrefixError {
    fn from(error: PrefixError) -> Self {
        Self::Prefix(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn p4(text: &str) -> Prefix<Ipv4> {
        text.parse().unwrap()
    }

    #[test]
    fn parses_only_canonical_text() {
        for good in ["0.0.0.0/0", "255.255.255.255/32", "10.0.0.0/8"] {
            assert_eq!(p4(good).to_string(), good);
        }
        let bad = [
            "",
            "/",
            "10.0.0.0",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            "10.0.0.0/08",
            "010.0.0.0/8",
            "10.0.0/8",
            "10.0.0.1/8",
            "10.0.0.0/8 ",
            "10.0.0.0/999",
            "10.0.0.0/256",
            "::/0",
            "10.0.0.0/99999999999999999999",
        ];
        for text in bad {
            assert!(text.parse::<Prefix<Ipv4>>().is_err(), "{text:?}");
        }
    }

    /// R1 (treebitmap #9): host bits are an error, or an explicit call clears them.
    #[test]
    fn host_bits_are_refused_or_masked() {
        assert_eq!(
            "10.0.0.1/8".parse::<Prefix<Ipv4>>(),
            Err(ParsePrefixError::Prefix(PrefixError::HostBits { len: 8 }))
        );
        assert_eq!(Prefix::<Ipv4>::parse_masked("10.0.0.1/8").unwrap(), p4("10.0.0.0/8"));
    }

    #[test]
    fn order_is_pre_order() {
        let mut sorted: Vec<_> =
            ["10.0.0.0/8", "0.0.0.0/0", "10.0.0.0/24", "10.0.0.0/16", "10.128.0.0/9"]
                .map(p4)
                .into();
        sorted.sort();
        let text: Vec<_> = sorted.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/16", "10.0.0.0/24", "10.128.0.0/9"]);
    }

    #[test]
    fn family_tree() {
        let p = p4("10.0.0.0/8");
        assert_eq!(p.halves().unwrap(), [p4("10.0.0.0/9"), p4("10.128.0.0/9")]);
        assert_eq!(p.parent().unwrap(), p4("10.0.0.0/7"));
        assert_eq!(Prefix::<Ipv4>::DEFAULT.parent(), None);
        assert_eq!(p4("1.2.3.4/32").halves(), None);
        assert_eq!(p4("10.0.0.0/24").common(p4("10.0.1.0/24")), p4("10.0.0.0/23"));
        assert_eq!(p4("10.0.0.0/8").common(p4("10.0.1.0/24")), p4("10.0.0.0/8"));
        assert!(p.covers(p) && p.covers(p4("10.1.0.0/16")) && !p4("10.1.0.0/16").covers(p));
        assert_eq!(Prefix::<Ipv4>::DEFAULT.last(), u32::MAX);
        assert_eq!(Prefix::<Ipv6>::host(Ipv6Addr::LOCALHOST).last(), 1);
    }
}
