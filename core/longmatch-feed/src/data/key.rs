//! The prefix of a row: which cells hold it, and how.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use longmatch::{IpPrefix, ParsePrefixError};

use super::split;
use crate::error::{Problem, shorten};
use crate::prefix_text::{netmask_length, parse_prefix};

/// The cells that hold the prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Key {
    /// A prefix, an address or a range in one cell.
    One(usize),
    /// The first and the last address.
    Range(usize, usize),
    /// An address, and a prefix length or a netmask.
    Length(usize, usize),
}

impl Key {
    /// The first of the cells.
    pub(crate) fn first(self) -> usize {
        match self {
            Self::One(one) | Self::Range(one, _) | Self::Length(one, _) => one,
        }
    }

    /// Whether a cell belongs to the prefix.
    pub(crate) fn has(self, at: usize) -> bool {
        match self {
            Self::One(one) => at == one,
            Self::Range(one, two) | Self::Length(one, two) => at == one || at == two,
        }
    }
}

/// The meaning of a row's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Prefix(IpPrefix),
    /// The first and the last address, of one family and in order. IPv4-mapped ones are IPv4.
    Range(IpAddr, IpAddr),
}

/// The syntax of the content of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CellKind {
    Empty,
    Prefix,
    Address,
    Range,
    /// A plain decimal number.
    Integer,
    Other,
}

impl CellKind {
    pub(crate) fn of(cell: &str) -> Self {
        let digit = |byte: u8| byte.is_ascii_digit();
        if cell.is_empty() {
            Self::Empty
        } else if cell.strip_prefix('/').unwrap_or(cell).bytes().all(digit) {
            Self::Integer
        } else if cell.parse::<IpAddr>().is_ok() && !is_eui64(cell) {
            Self::Address
        } else if cell.contains('/') && one_prefix(cell, true).is_ok() {
            Self::Prefix
        } else if in_cell(cell).is_some() {
            Self::Range
        } else {
            Self::Other
        }
    }

    /// Whether the cell has addresses, as text.
    pub(crate) fn is_key(self) -> bool {
        matches!(self, Self::Prefix | Self::Address | Self::Range)
    }
}

/// Whether a cell is a hardware address of 64 bits, such as `00:11:22:33:44:55:66:77`: IPv6 addresses are not written so.
fn is_eui64(cell: &str) -> bool {
    cell.len() == 23 && cell.split(':').all(|group| group.len() == 2)
}

/// Whether a text has something like an address or a prefix in it, right or not, such as `10.0.0.*` or `"10.0/16"`.
pub(crate) fn mentions_address(text: &str) -> bool {
    let is_mark = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '/'));
    text.contains(['.', ':']) && text.split(is_mark).any(is_like_address)
}

/// Whether a word is an address or a prefix, right or not.
fn is_like_address(word: &str) -> bool {
    let (addr, len) = word.split_once('/').map_or((word, None), |(addr, len)| (addr, Some(len)));
    let numbers = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count();
    let mut parts = addr.split('.');
    let is_dotted = parts.by_ref().take(2).all(|part| (1..4).contains(&numbers(part)));
    let has_length = len.is_some_and(|len| numbers(len) > 0);
    let count = addr.split('.').count();
    (is_dotted && (count == 4 || count > 1 && has_length))
        || addr.trim_end_matches(':').parse::<Ipv6Addr>().is_ok() && !is_eui64(addr)
}

/// The two addresses of `first-last` in one cell.
fn in_cell(cell: &str) -> Option<(IpAddr, IpAddr)> {
    let (first, last) = cell.split_once('-')?;
    Some((first.trim_ascii().parse().ok()?, last.trim_ascii().parse().ok()?))
}

/// Parses a prefix with its length, perhaps with white space beside the slash.
#[inline]
fn one_prefix(cell: &str, mask: bool) -> Result<IpPrefix, ParsePrefixError> {
    let parsed = parse_prefix(cell, mask);
    match cell.split_once('/') {
        Some((addr, len)) if parsed.is_err() && cell.contains([' ', '\t']) => {
            parse_prefix(&format!("{}/{}", addr.trim_ascii_end(), len.trim_ascii_start()), mask)
        }
        _ => parsed,
    }
}

/// Finds the key of a row's cells.
#[inline]
pub(crate) fn find<'a>(
    key: Key,
    cell: impl Fn(usize) -> &'a str,
    names: &[String],
    mask: bool,
) -> Result<Found, Problem> {
    match key {
        Key::One(at) => one(cell(at), mask, &names[at]),
        Key::Range(first, last) => range(cell(first), cell(last)),
        Key::Length(addr, length) => {
            with_length((cell(addr), &names[addr]), (cell(length), &names[length]), mask)
        }
    }
}

/// Parses a prefix, an address or a range; `column` names the column in errors.
#[inline]
pub(crate) fn one(cell: &str, mask: bool, column: &str) -> Result<Found, Problem> {
    let wrong = |error| Problem::Cell { column: column.into(), text: shorten(cell), error };
    if cell.contains('/') {
        let parsed = one_prefix(cell, mask);
        return parsed.map(Found::Prefix).map_err(|error| wrong(Some(error)));
    }
    match cell.parse::<IpAddr>() {
        Ok(addr) => Ok(Found::Prefix(IpPrefix::host(addr))),
        Err(_) => match in_cell(cell) {
            Some((first, last)) => ordered(first, last, || cell.to_owned()),
            None => Err(wrong(cell.contains(':').then_some(ParsePrefixError::Address))),
        },
    }
}

/// Parses the first and the last address of a range, as text or as integers.
///
/// Integers are IPv4 addresses if both are below 2^32, else IPv6 addresses.
#[inline]
pub(crate) fn range(first: &str, last: &str) -> Result<Found, Problem> {
    let text = || format!("{first} - {last}");
    if let (Ok(first), Ok(last)) = (first.parse(), last.parse()) {
        return ordered(first, last, text);
    }
    let number = |cell: &str| match cell.bytes().all(|byte| byte.is_ascii_digit()) {
        true => cell.parse::<u128>().ok(),
        false => None,
    };
    let (Some(first), Some(last)) = (number(first), number(last)) else {
        let reason = "expected two addresses, or two integers";
        return Err(Problem::Range { text: shorten(&text()), reason });
    };
    match (u32::try_from(first), u32::try_from(last)) {
        (Ok(first), Ok(last)) => ordered(IpAddr::V4(first.into()), IpAddr::V4(last.into()), text),
        _ => ordered(Ipv6Addr::from_bits(first).into(), Ipv6Addr::from_bits(last).into(), text),
    }
}

fn ordered(first: IpAddr, last: IpAddr, text: impl Fn() -> String) -> Result<Found, Problem> {
    let reason = if first.is_ipv4() != last.is_ipv4() {
        "the addresses are of different families"
    } else if last < first {
        "the last address is before the first"
    } else {
        let ends = [first, last].map(|addr| IpPrefix::host(addr).unmapped().addr());
        let mapped = |n: usize| ends[n].is_ipv4() && first.is_ipv6();
        match (mapped(0), mapped(1)) {
            (true, true) if ends != ALL_IPV4 => return Ok(Found::Range(ends[0], ends[1])),
            (one, other) if one == other => return Ok(Found::Range(first, last)),
            // A range that ends with the last mapped address, or begins with the first, has all of them.
            (true, false) if ends[0] == ALL_IPV4[0] => return Ok(Found::Range(first, last)),
            (false, true) if ends[1] == ALL_IPV4[1] => return Ok(Found::Range(first, last)),
            _ => {
                "one end is among the IPv4-mapped addresses, which mean IPv4: divide it at ::ffff:0:0/96"
            }
        }
    };
    Err(Problem::Range { text: shorten(&text()), reason })
}

/// The first and the last IPv4 address. A range of all mapped addresses stays IPv6, as `::ffff:0:0/96` does.
const ALL_IPV4: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::BROADCAST)];

/// Parses an address and its prefix length or netmask; the names of the columns are for errors.
#[inline]
pub(crate) fn with_length(
    (addr, addr_column): (&str, &str),
    (length, length_column): (&str, &str),
    mask: bool,
) -> Result<Found, Problem> {
    let Ok(parsed) = addr.parse::<IpAddr>() else {
        return Err(Problem::Cell {
            column: addr_column.into(),
            text: shorten(addr),
            error: Some(ParsePrefixError::Address),
        });
    };
    let wrong = || Problem::Length { column: length_column.into(), text: shorten(length) };
    let bits = match length.parse::<IpAddr>() {
        Ok(netmask) => netmask_length(parsed, netmask).ok_or_else(wrong)?,
        Err(_) => length.strip_prefix('/').unwrap_or(length).parse::<u8>().map_err(|_| wrong())?,
    };
    let prefix = if mask { IpPrefix::masked(parsed, bits) } else { IpPrefix::new(parsed, bits) };
    prefix.map(Found::Prefix).map_err(|error| Problem::Cell {
        column: addr_column.into(),
        text: shorten(&format!("{addr}/{bits}")),
        error: Some(error.into()),
    })
}

/// Whether an address has this netmask, so that both are a network.
pub(crate) fn is_netmask(addr: IpAddr, netmask: IpAddr) -> bool {
    netmask_length(addr, netmask).is_some_and(|len| IpPrefix::new(addr, len).is_ok())
}

/// The netmask of hosts.
pub(crate) const HOST: &str = "255.255.255.255";

/// Whether a cell is a netmask, other than that of all addresses.
pub(crate) fn is_mask(cell: &str) -> bool {
    let mask = cell.parse::<IpAddr>().ok();
    mask.and_then(|mask| netmask_length(mask, mask)).is_some_and(|len| len > 0)
}

/// Whether a cell is a netmask of networks, as hosts hardly are.
#[cold]
pub(crate) fn is_lone_mask(cell: &str) -> bool {
    cell != HOST && is_mask(cell)
}

/// Whether an integer may be the number of addresses of a network with this first address: a power of two or a multiple
/// of 256, to which the address is aligned.
pub(crate) fn is_count(addr: &str, count: &str) -> bool {
    let bits = match addr.parse() {
        Ok(IpAddr::V4(addr)) => addr.to_bits().into(),
        Ok(IpAddr::V6(addr)) => addr.to_bits(),
        Err(_) => return false,
    };
    let count = count.parse::<u128>().unwrap_or(0);
    let is_size = count.is_power_of_two() || count.is_multiple_of(256);
    count > 1 && is_size && bits.trailing_zeros() >= count.trailing_zeros()
}

/// Whether a cell is a netmask in hexadecimal digits, as `ifconfig` of BSD prints it.
pub(crate) fn is_hex_mask(cell: &str) -> bool {
    let digits = cell.strip_prefix("0x").unwrap_or(cell);
    let bits = u32::from_str_radix(digits, 16).unwrap_or(0);
    digits.len() == 8
        && bits.leading_ones() > 0
        && bits.leading_ones() + bits.trailing_zeros() == 32
}

/// Whether the second cell is the wildcard mask of an address: its last bits are set, and not all. It is before the
/// address, so neither is a range.
pub(crate) fn is_wildcard(addr: &str, mask: &str) -> bool {
    let (Ok(addr), Ok(mask)) = (addr.parse::<Ipv4Addr>(), mask.parse::<Ipv4Addr>()) else {
        return false;
    };
    let bits = mask.to_bits();
    bits > 0 && bits & bits.wrapping_add(1) == 0 && mask < addr
}

/// The end of the text of a line in a list. A semicolon begins a comment after white space or at the end of the line,
/// and anywhere (`semicolons`) in a file with lines that begin with one.
#[inline]
pub(crate) fn end_of_item(line: &str, semicolons: bool) -> usize {
    let is_comment = |at: &usize| {
        let (before, after) = (&line[..*at], &line[at + 1..]);
        line.as_bytes()[*at] == b'#'
            || semicolons
            || before.is_empty()
            || before.ends_with([' ', '\t'])
            || after.trim_ascii().is_empty()
    };
    let mut marks = memchr::memchr2_iter(b'#', b';', line.as_bytes());
    marks.find(is_comment).unwrap_or(line.len())
}

/// The prefixes of a key.
#[inline]
pub(crate) fn prefixes(found: Found) -> impl Iterator<Item = IpPrefix> {
    let (one, range) = match found {
        Found::Prefix(prefix) => (Some(prefix), None),
        Found::Range(first, last) => (None, Some(split::prefixes(first, last))),
    };
    one.into_iter().chain(range.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(found: Result<Found, Problem>) -> String {
        match found {
            Ok(found) => prefixes(found).map(|p| p.to_string()).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn numbers_of_addresses() {
        let counts = [("10.0.0.0", "256"), ("10.0.0.0", "768"), ("2001:db8::", "65536")];
        for (addr, count) in counts {
            assert!(is_count(addr, count), "{addr} {count}");
        }
        for (addr, count) in [("10.0.0.2", "4"), ("10.0.0.0", "1"), ("10.0.0.0", "100"), ("x", "4")]
        {
            assert!(!is_count(addr, count), "{addr} {count}");
        }
    }

    #[test]
    fn one_cell() {
        assert_eq!(all(one("10.0.0.0/8", false, "x")), "10.0.0.0/8");
        assert_eq!(all(one("10.0.0.1", false, "x")), "10.0.0.1/32");
        assert_eq!(all(one("::1", false, "x")), "::1/128");
        assert_eq!(all(one("10.0.0.0-10.0.0.2", false, "x")), "10.0.0.0/31 10.0.0.2/32");
        assert_eq!(all(one("10.0.0.0 - 10.0.0.0", false, "x")), "10.0.0.0/32");
        assert_eq!(all(one("10.0.0.1/8", true, "x")), "10.0.0.0/8");
        for wrong in ["", "x", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0-::", "10.0.0.2-10.0.0.1", "1"]
        {
            assert!(one(wrong, false, "x").is_err(), "{wrong}");
        }
        let error = all(one("fe80::1%eth0", false, "net"));
        assert!(error.starts_with("column 'net': 'fe80::1%eth0' is not a prefix"), "{error}");
    }

    #[test]
    fn two_cells() {
        assert_eq!(all(range("10.0.0.0", "10.0.0.255")), "10.0.0.0/24");
        assert_eq!(all(range("16777216", "16777471")), "1.0.0.0/24");
        assert_eq!(all(range("0", "281470681743359")).split(' ').count(), 16);
        assert_eq!(all(range("281470681743360", "281470681743361")), "0.0.0.0/31");
        let max = u128::MAX.to_string();
        assert_eq!(all(range(&max, &max)), "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128");
        assert_eq!(all(range("0", &max)), "::/0");
        for (first, last) in [("1", "0"), ("", ""), ("1", ""), ("+1", "2"), ("::", "1"), ("a", "b")]
        {
            assert!(range(first, last).is_err(), "{first} {last}");
        }
        assert!(range("0", &format!("{max}0")).is_err());
    }

    #[test]
    fn addresses_with_lengths() {
        let parse = |addr, len, mask| all(with_length((addr, "a"), (len, "l"), mask));
        assert_eq!(parse("10.0.0.0", "8", false), "10.0.0.0/8");
        assert_eq!(parse("10.0.0.0", "255.0.0.0", false), "10.0.0.0/8");
        assert_eq!(parse("0.0.0.0", "0.0.0.0", false), "0.0.0.0/0");
        assert_eq!(parse("2001:db8::", "32", false), "2001:db8::/32");
        assert_eq!(parse("2001:db8::", "ffff:ffff::", false), "2001:db8::/32");
        assert_eq!(parse("10.0.0.1", "8", true), "10.0.0.0/8");
        for (addr, len) in [
            ("10.0.0.1", "8"),
            ("10.0.0.0", "33"),
            ("10.0.0.0", "0.0.0.255"),
            ("x", "8"),
            ("::", "x"),
        ] {
            assert!(with_length((addr, "a"), (len, "l"), false).is_err(), "{addr} {len}");
        }
    }
}
