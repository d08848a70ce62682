//! Addresses as people write them into cells.

use std::net::IpAddr;

use memchr::memchr;

use crate::address_text::{is_port, parse_ip, parse_ipv4, parse_ipv6, parse_ipv6_port};

/// Marks around an address.
const PAIRS: [[u8; 2]; 5] = [*b"\"\"", *b"''", *b"()", *b"<>", *b"{}"];

/// Parses the address in a cell, which may have a port, brackets, a zone id, the length of a host prefix, and around
/// it quotes, parentheses, spaces and final dots.
///
/// Nothing else may be in the cell. IPv4-mapped addresses stay IPv6.
///
/// ```
/// use longmatch_feed::scan::address::parse_cell;
/// for cell in ["8.8.8.8", " 8.8.8.8 ", "\"8.8.8.8\"", "8.8.8.8:443", "[8.8.8.8]"] {
///     assert_eq!(parse_cell(cell.as_bytes()), Some([8, 8, 8, 8].into()));
/// }
/// for cell in ["(8.8.8.8)", "8.8.8.8.", "8.8.8.8/32"] {
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
    loop {
        text = match text {
            [open, inner @ .., close] if PAIRS.contains(&[*open, *close]) => inner.trim_ascii(),
            [inner @ .., b'.'] => inner,
            _ => break,
        };
    }
    if let Some(addr) = text.strip_suffix(b"/32") {
        return parse_ipv4(addr).map(|addr| IpAddr::V4(addr.into()));
    }
    if let Some(addr) = text.strip_suffix(b"/128") {
        return parse_ipv6(addr).map(|addr| IpAddr::V6(addr.into()));
    }
    if let [b'[', rest @ ..] = text {
        let end = memchr(b']', rest)?;
        let port = &rest[end + 1..];
        return (port.is_empty() || is_port(port)).then(|| parse_zoned(&rest[..end]))?;
    }
    let full = || parse_ipv6_port(text).map(|(addr, _)| IpAddr::V6(addr.into()));
    if let Some(addr) = parse_zoned(text).or_else(full) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::too_many_lines, reason = "a list of cases")]
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
            ("(8.8.8.8).", "8.8.8.8"),
            ("<8.8.8.8>", "8.8.8.8"),
            ("{ 8.8.8.8:53 }", "8.8.8.8"),
            ("::1/128", "::1"),
            ("2001:0db8:0000:0000:0000:0000:0000:0001:53", "2001:db8::1"),
            ("1:2:3:4:5:6:7:8:65535", "1:2:3:4:5:6:7:8"),
            ("0:0:0:0:0:ffff:8.8.8.8:53", "::ffff:8.8.8.8"),
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
            "8.8.8.8/24",
            "8.8.8.8/128",
            "::1/32",
            "8.8.8.8:53/32",
            "(8.8.8.8",
            "8.8.8.8)",
            "()",
            ".",
            "1:2:3:4:5:6:7:8:65536",
            "1:2:3:4:5:6:7:8:a",
            "1:2:3:4:5:6:7:8:9:1",
            "8.8.8.8:+443",
            "8.8.8.8:000443",
        ];
        for text in wrong {
            assert_eq!(parse_cell(text.as_bytes()), None, "{text}");
        }
    }
}
