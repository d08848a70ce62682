//! Fast parsers of addresses as text: the hot path of columns of strings.
//!
//! They accept exactly what `Ipv4Addr` and `Ipv6Addr` of the standard library parse, which the tests compare.

use std::net::IpAddr;

use memchr::memrchr;

/// Longest text of an IPv4 address: `255.255.255.255`.
const MAX_IPV4: usize = 15;
/// Shortest text of an IPv6 address without `::`.
const MIN_FULL: usize = 15;
/// Longest text of an IPv6 address: six groups and an IPv4 address.
const MAX_IPV6: usize = 45;

/// Parses an address of either family from UTF-8 text; `None` when the text is anything else.
///
/// Accepts what [`IpAddr`]'s `FromStr` accepts, several times as fast.
///
/// ```
/// use longmatch_feed::parse_ip;
/// assert_eq!(parse_ip(b"192.0.2.1"), Some([192, 0, 2, 1].into()));
/// assert_eq!(parse_ip(b"192.0.2.01"), None);
/// ```
#[inline]
pub fn parse_ip(text: &[u8]) -> Option<IpAddr> {
    match parse_ipv4(text) {
        Some(addr) => Some(IpAddr::V4(addr.into())),
        None => parse_ipv6(text).map(|addr| IpAddr::V6(addr.into())),
    }
}

/// Parses an IPv4 address in dotted decimal, without leading zeros; returns it in host order.
///
/// ```
/// use longmatch_feed::parse_ipv4;
/// assert_eq!(parse_ipv4(b"10.0.0.1"), Some(0x0a00_0001));
/// assert_eq!(parse_ipv4(b"10.0.0"), None);
/// ```
#[inline]
pub fn parse_ipv4(text: &[u8]) -> Option<u32> {
    if text.len() > MAX_IPV4 {
        return None;
    }
    let (first, rest) = octet_and_dot(text)?;
    let (second, rest) = octet_and_dot(rest)?;
    let (third, rest) = octet_and_dot(rest)?;
    let (fourth, rest) = octet(rest)?;
    rest.is_empty().then_some(first << 24 | second << 16 | third << 8 | fourth)
}

/// Reads an octet and the dot after it.
#[inline(always)]
fn octet_and_dot(text: &[u8]) -> Option<(u32, &[u8])> {
    match octet(text)? {
        (octet, [b'.', rest @ ..]) => Some((octet, rest)),
        _ => None,
    }
}

/// Reads an octet: as many digits as follow, at most three, up to 255 and without leading zeros.
#[inline(always)]
fn octet(text: &[u8]) -> Option<(u32, &[u8])> {
    let digit = |byte: u8| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then_some(u32::from(digit))
    };
    let (first, rest) = text.split_first()?;
    let first = digit(*first)?;
    let Some((second, more)) = rest.split_first() else { return Some((first, rest)) };
    let Some(second) = digit(*second) else { return Some((first, rest)) };
    // A second digit after a zero is a leading zero.
    if first == 0 {
        return None;
    }
    let two = first * 10 + second;
    let Some((third, most)) = more.split_first() else { return Some((two, more)) };
    let Some(third) = digit(*third) else { return Some((two, more)) };
    let three = two * 10 + third;
    (three <= 255).then_some((three, most))
}

/// Parses an IPv6 address as in RFC 4291, 2.2, without a zone id; returns it in host order.
///
/// ```
/// use longmatch_feed::parse_ipv6;
/// assert_eq!(parse_ipv6(b"::1"), Some(1));
/// assert_eq!(parse_ipv6(b"::ffff:10.0.0.1"), Some(0xffff_0a00_0001));
/// assert_eq!(parse_ipv6(b"fe80::1%eth0"), None);
/// ```
pub fn parse_ipv6(text: &[u8]) -> Option<u128> {
    if text.len() < 2 || text.len() > MAX_IPV6 {
        return None;
    }
    let mut groups = Groups { bits: 0, count: 0, gap: None };
    let mut at = 0;
    if text.starts_with(b"::") {
        groups.open_gap()?;
        at = 2;
    }
    while at < text.len() {
        let start = at;
        let mut group = 0;
        while let Some(digit) = text.get(at).and_then(|byte| hex(*byte)) {
            group = group << 4 | digit;
            at += 1;
        }
        match at - start {
            1..=4 => {}
            _ => return None,
        }
        if text.get(at) == Some(&b'.') {
            let ipv4 = parse_ipv4(&text[start..])?;
            groups.push(ipv4 >> 16)?;
            groups.push(ipv4 & 0xffff)?;
            break;
        }
        groups.push(group)?;
        match text[at..] {
            [] => {}
            [b':', b':', ..] => {
                groups.open_gap()?;
                at += 2;
            }
            // A single colon has a group after it.
            [b':', _, ..] => at += 1,
            _ => return None,
        }
    }
    groups.finish()
}

/// Parses an IPv6 address of all eight groups and a port after it, as Suricata writes them; returns the address and the
/// length of its text. After `::` the port could be a group.
pub(crate) fn parse_ipv6_port(text: &[u8]) -> Option<(u128, usize)> {
    let len = memrchr(b':', text).filter(|len| *len >= MIN_FULL)?;
    let (addr, port) = text.split_at(len);
    let is_full = is_port(port) && !addr.windows(2).any(|pair| pair == b"::");
    is_full.then(|| parse_ipv6(addr).map(|addr| (addr, len)))?
}

/// Whether a text is a colon and the number of a port.
pub(crate) fn is_port(text: &[u8]) -> bool {
    let [b':', digits @ ..] = text else { return false };
    matches!(digits.len(), 1..=5)
        && digits.iter().all(u8::is_ascii_digit)
        && digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')) <= 65_535
}

#[inline(always)]
fn hex(byte: u8) -> Option<u32> {
    let digit = byte.wrapping_sub(b'0');
    if digit < 10 {
        return Some(u32::from(digit));
    }
    // Sets the bit in which lower and upper case differ.
    let letter = (byte | 0x20).wrapping_sub(b'a');
    (letter < 6).then_some(u32::from(letter) + 10)
}

/// The groups of 16 bits of an IPv6 address, as far as they are read.
struct Groups {
    /// The groups after the gap, or all if there is none.
    bits: u128,
    count: u32,
    /// The groups before `::`, and how many they are.
    gap: Option<(u128, u32)>,
}

impl Groups {
    #[inline(always)]
    fn push(&mut self, group: u32) -> Option<()> {
        if self.count == 8 {
            return None;
        }
        self.bits = self.bits << 16 | u128::from(group);
        self.count += 1;
        Some(())
    }

    fn open_gap(&mut self) -> Option<()> {
        if self.gap.is_some() {
            return None;
        }
        self.gap = Some((self.bits, self.count));
        self.bits = 0;
        Some(())
    }

    fn finish(self) -> Option<u128> {
        match self.gap {
            None => (self.count == 8).then_some(self.bits),
            // The gap stands for one group at least.
            Some((_, _)) if self.count > 7 => None,
            Some((_, 0)) => Some(self.bits),
            Some((head, count)) => Some(head << (16 * (8 - count)) | self.bits),
        }
    }
}
