//! Addresses as people write them into cells.

use std::net::IpAddr;

use memchr::memchr;

use crate::address_text::{parse_ip, parse_ipv4, parse_ipv6};

/// Parses the address in a cell, which may have a port, brackets, a zone id, quotes and spaces.
///
/// Nothing else may be in the cell. IPv4-mapped addresses stay IPv6.
///
/// ```
/// use longmatch_feed::scan::address::parse_cell;
/// for cell in ["8.8.8.8", " 8.8.8.8 ", "\"8.8.8.8\"", "8.8.8.8:443", "[8.8.8.8]"] {
///     assert_eq!(parse_cell(cell.as_bytes()), Some([8, 8, 8, 8].into()));
/// }
/// for cell in ["fe80::1", "fe80::1%eth0", "[fe80::1]:443", "[fe80::1%eth0]"] {
///     assert_eq!(parse_cell(cell.as_bytes()), "fe80::1".parse().ok());
/// }
/// assert_eq!(parse_cell(b"8.8.8.0/24"), None);
/// ```
#[inline]
pub fn parse_cell(cell: &[u8]) -> Option<IpAddr> {
    match parse_ipv4(cell) {
        Some(addr) => Some(IpAddr::V4(addr.into())),
        None => parse_dressed(cell),
    }
}

/// Parses an address with anything around it that a cell may have.
fn parse_dressed(cell: &[u8]) -> Option<IpAddr> {
    let mut text = cell.trim_ascii();
    while let [open @ (b'"' | b'\''), inner @ .., close] = text
        && open == close
    {
        text = inner.trim_ascii();
    }
    if let [b'[', rest @ ..] = text {
        let end = memchr(b']', rest)?;
        let port = &rest[end + 1..];
        return (port.is_empty() || is_port(port)).then(|| parse_zoned(&rest[..end]))?;
    }
    if let Some(addr) = parse_zoned(text) {
        return Some(addr);
    }
    let (addr, port) = text.split_at(memchr(b':', text)?);
    is_port(port).then(|| parse_ipv4(addr).map(|addr| IpAddr::V4(addr.into())))?
}

/// Parses an address; an IPv6 address may have a zone id.
fn parse_zoned(text: &[u8]) -> Option<IpAddr> {
    let Some(percent) = memchr(b'%', text) else { return parse_ip(text) };
    let zone = &text[percent + 1..];
    let is_zone = !zone.is_empty() && zone.iter().all(u8::is_ascii_graphic);
    is_zone.then(|| parse_ipv6(&text[..percent]).map(|addr| IpAddr::V6(addr.into())))?
}

/// Whether a text is a colon and the number of a port.
fn is_port(text: &[u8]) -> bool {
    let [b':', digits @ ..] = text else { return false };
    matches!(digits.len(), 1..=5)
        && digits.iter().all(u8::is_ascii_digit)
        && digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')) <= 65_535
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dressed_addresses() {
        let right = [
            ("8.8.8.8:0", "8.8.8.8"),
            ("8.8.8.8:65535", "8.8.8.8"),
            ("\t'::ffff:8.8.8.8' ", "::ffff:8.8.8.8"),
            ("\"[2001:db8::1]:443\"", "2001:db8::1"),
            ("\" 8.8.8.8\"", "8.8.8.8"),
            ("[8.8.8.8]:25", "8.8.8.8"),
            ("FE80::1%25", "fe80::1"),
            ("::", "::"),
        ];
        for (text, addr) in right {
            assert_eq!(parse_cell(text.as_bytes()), Some(addr.parse().unwrap()), "{text}");
        }
        let wrong = [
            "",
            " ",
            "\"",
            "\"\"",
            "'",
            "-",
            "8.8.8",
            "8.8.8.8:",
            "8.8.8.8:65536",
            "8.8.8.8:99999999999999",
            "8.8.8.8: - [a line of a log]",
            "8.8.8.8:-1",
            "8.8.8.8:443:1",
            "8.8.8.8%eth0",
            "fe80::1%",
            "fe80::1%a b",
            "[::1",
            "[::1]443",
            "[::1]:",
            "[]",
            "::1]",
            "\"8.8.8.8'",
            "8.8.8.8 9.9.9.9",
            "[[::1]]",
            "08.8.8.8",
            "134744072",
            "localhost",
            "8.8.8.8/32",
            "8.8.8.8:+443",
            "8.8.8.8:000443",
        ];
        for text in wrong {
            assert_eq!(parse_cell(text.as_bytes()), None, "{text}");
        }
    }
}
