//! The first address on a line of any text.
//!
//! A *token* is a run, as long as possible, of hexadecimal digits, dots and colons. The whole token is
//! tried as an IPv6 address (`::` alone is none), then its parts between colons as IPv4 addresses.
//! Dots at the ends do not count, nor does a single colon at the end, so that an address may end a
//! sentence or have a port. No letter, digit or `_` may be next to an address: `v1.2.3.4` has none,
//! and neither has `1.2.3.4.example.org`; `addr:1.2.3.4` has one. Nor is the version of a program one:
//! `Chrome/120.0.0.0`, a word that ends with a letter, and `/`. The word of an address begins after `/`, `.` or `@`
//! (`https://example.org/1.2.3.4`), or a port follows (`host/1.2.3.4:80`, as Java writes).

use std::net::IpAddr;
use std::ops::Range;

use memchr::memchr2_iter;

use crate::address_text::{parse_ipv4, parse_ipv6, parse_ipv6_port};

/// Whether a byte can be in a token.
const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_hexdigit() || matches!(byte as u8, b'.' | b':');
        byte += 1;
    }
    table
};

/// Finds the first address on a line and where it is, without port and zone id.
///
/// O(line).
///
/// ```
/// use longmatch_feed::scan::text::first_address;
/// let line = b"12:30:01.5 GET http://[2001:db8::7]:80/ from 192.0.2.1:4711";
/// assert_eq!(first_address(line), Some((23..34, "2001:db8::7".parse().unwrap())));
/// assert_eq!(first_address(b"version 1.2.3.4.5 of std::vec at 12:30:01"), None);
/// ```
#[inline]
pub fn first_address(line: &[u8]) -> Option<(Range<usize>, IpAddr)> {
    next_address(line, 0)
}

/// Finds the first address on a line after the one that ends at `from`, and where it is.
///
/// O(line).
///
/// ```
/// use longmatch_feed::scan::text::next_address;
/// let line = b"192.0.2.1:4711 > 192.0.2.2:80";
/// assert_eq!(next_address(line, 9), Some((17..26, [192, 0, 2, 2].into())));
/// assert_eq!(next_address(line, 26), None);
/// ```
#[inline]
pub fn next_address(line: &[u8], mut from: usize) -> Option<(Range<usize>, IpAddr)> {
    // `from` is the end of the last token that was tried: each byte is in one token only.
    let begin = from;
    for at in memchr2_iter(b'.', b':', &line[begin..]).map(|i| begin + i) {
        if at < from || !may_be_inside(line, at) {
            continue;
        }
        let is_outside = |byte: &u8| !TOKEN[usize::from(*byte)];
        let start = line[from..at].iter().rposition(is_outside).map_or(from, |i| from + i + 1);
        let end = line[at..].iter().position(is_outside).map_or(line.len(), |i| at + i);
        if let Some(found) = in_token(line, start, end) {
            return Some(found);
        }
        from = end;
    }
    None
}

/// Whether the dot or colon at `at` can be in an address, by the bytes around it. Of the dots and colons
/// of an address one at least is.
#[inline]
fn may_be_inside(line: &[u8], at: usize) -> bool {
    let (Some(before), Some(after)) = (line.get(at.wrapping_sub(1)), line.get(at + 1)) else {
        // An address may begin with two colons, but not end with its first dot or colon.
        return line[at..].starts_with(b"::");
    };
    match line[at] {
        b'.' => before.is_ascii_digit() && after.is_ascii_digit() && dot_follows(line, at),
        _ => *after == b':' || before.is_ascii_hexdigit() && groups_follow(line, at),
    }
}

/// Whether the number after the dot at `at` ends with another dot: `5.0` and `file.gz` need no closer look.
#[inline]
fn dot_follows(line: &[u8], at: usize) -> bool {
    line[at + 2..].iter().take(3).any(|byte| *byte == b'.')
}

/// Whether the colon at `at` begins as many groups as an IPv6 address without `::` has, or groups and
/// `::`. A time of day has fewer; and an IPv4 address at the end is found by its dots.
fn groups_follow(line: &[u8], at: usize) -> bool {
    let mut rest = &line[at + 1..];
    for _ in 0..5 {
        let digits = rest.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
        match rest.get(digits) {
            Some(b':') if digits == 0 => return true,
            Some(b':') => rest = &rest[digits + 1..],
            _ => return false,
        }
    }
    true
}

/// The address in a token.
fn in_token(line: &[u8], start: usize, end: usize) -> Option<(Range<usize>, IpAddr)> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let word_before = start > 0 && is_word(&line[start - 1]);
    let word_after = line.get(end).is_some_and(is_word);
    if !word_before && let Some(found) = ipv6(line, start, end, word_after) {
        return Some(found);
    }
    let mut at = start;
    for part in line[start..end].split(|byte| *byte == b':') {
        let (first, last) = (at == start, at + part.len() == end);
        let left = part.len() - part.iter().take_while(|byte| **byte == b'.').count();
        let leading = part.len() - left;
        let trailing = part[leading..].iter().rev().take_while(|byte| **byte == b'.').count();
        let bare = at + leading..at + part.len() - trailing;
        at += part.len() + 1;
        let has_port = || !last && line.get(at).is_some_and(u8::is_ascii_digit);
        if first && (word_before || follows_product(&line[..start]) && !has_port())
            || last && word_after
        {
            continue;
        }
        if let Some(addr) = parse_ipv4(&line[bare.clone()]) {
            return Some((bare, IpAddr::V4(addr.into())));
        }
    }
    None
}

/// Whether a text ends with the name of a program and `/`, after which its version comes.
fn follows_product(text: &[u8]) -> bool {
    let [name @ .., b'/'] = text else { return false };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let before = name.iter().rfind(|byte| !is_name(byte));
    name.last().is_some_and(u8::is_ascii_alphabetic)
        && !before.is_some_and(|byte| matches!(byte, b'/' | b'.' | b'@'))
}

/// The whole token as an IPv6 address, without port and dots and a single colon at its end.
fn ipv6(
    line: &[u8],
    start: usize,
    mut end: usize,
    mut word_after: bool,
) -> Option<(Range<usize>, IpAddr)> {
    while end > start && line[end - 1] == b'.' {
        end -= 1;
    }
    let token = &line[start..end];
    if token.ends_with(b":") && !token.ends_with(b"::") {
        end -= 1;
        word_after = false;
    }
    if word_after || &line[start..end] == b"::" {
        return None;
    }
    let token = &line[start..end];
    let (addr, len) =
        parse_ipv6(token).map(|addr| (addr, token.len())).or_else(|| parse_ipv6_port(token))?;
    Some((start..start + len, IpAddr::V6(addr.into())))
}
