//! Scanner of lists: a pure function over bytes, with the entries and errors of the rows of a list.

use longmatch::set::AddressRange;
use longmatch::{Ipv4, Prefix};
use memchr::memchr;

use crate::data::key::{self, Found};
use crate::entries::ListEntries;
use crate::error::{FeedError, Location, Problem};
use crate::options::Options;
use crate::report::Report;
use crate::text::BOM;

/// Scans whole lines; the last one may lack its line end.
///
/// # Errors
/// The first line that is not an entry, unless the options are lenient.
pub(super) fn scan(
    mut text: &[u8],
    semicolons: bool,
    options: &Options,
    entries: &mut ListEntries,
    report: &mut Report,
) -> Result<(), FeedError> {
    if report.lines == 0 {
        text = text.strip_prefix(BOM).unwrap_or(text);
    }
    while !text.is_empty() {
        if let Some((range, len)) = plain(text) {
            report.lines += 1;
            report.rows += 1;
            entries.ipv4.push(range);
            text = &text[len..];
            continue;
        }
        let end = memchr(b'\n', text);
        let line = &text[..end.unwrap_or(text.len())];
        text = end.map_or(&[], |end| &text[end + 1..]);
        report.lines += 1;
        match item(line, semicolons, options) {
            Ok(None) => {}
            Ok(Some(found)) => push(found, entries, report),
            Err(error) => {
                let error = FeedError::at(Location::Line(report.lines), error);
                match options.lenient {
                    true => report.note_damage(error),
                    false => return Err(error),
                }
            }
        }
    }
    Ok(())
}

/// The fast path: a line that is an IPv4 prefix or address and nothing else. Returns its addresses and its length with
/// the line end.
#[inline]
fn plain(text: &[u8]) -> Option<(AddressRange<Ipv4>, usize)> {
    let (bits, at) = ipv4(text)?;
    let (len, at) = match *text.get(at..)? {
        [b'/', digit @ b'0'..=b'9', end, ..] if !end.is_ascii_digit() => (digit - b'0', at + 2),
        [b'/', tens @ b'1'..=b'3', digit @ b'0'..=b'9', ..] => {
            ((tens - b'0') * 10 + (digit - b'0'), at + 3)
        }
        _ => (32, at),
    };
    let prefix = (len <= 32).then(|| Prefix::<Ipv4>::from_bits_masked(bits, len))?;
    let end = match *text.get(at..)? {
        [b'\n', ..] => at + 1,
        [b'\r', b'\n', ..] => at + 2,
        _ => return None,
    };
    (prefix.bits() == bits).then(|| (prefix.into(), end))
}

/// Adds the addresses of a line.
fn push(found: Found, entries: &mut ListEntries, report: &mut Report) {
    report.count_row(found);
    entries.add(found);
}

/// Parses a line of any form; `None` for a blank line or a comment.
fn item(line: &[u8], semicolons: bool, options: &Options) -> Result<Option<Found>, Problem> {
    let limit = options.limits.row.min(1 << 30);
    if line.len() > limit {
        return Err(Problem::LineTooLong { limit });
    }
    if memchr(0, line).is_some() {
        return Err(Problem::Nul);
    }
    let line = str::from_utf8(line).map_err(|_| Problem::NotUtf8)?;
    let cell = line[..key::end_of_item(line, semicolons)].trim_ascii();
    if cell.is_empty() {
        return Ok(None);
    }
    key::one(cell, options.mask_host_bits, "prefix").map(Some)
}

/// Parses an IPv4 address at the beginning of bytes; returns it and its length. Like the standard
/// library it refuses leading zeros.
#[inline]
fn ipv4(text: &[u8]) -> Option<(u32, usize)> {
    let digit = |at: usize| text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|it| *it < 10);
    let (mut bits, mut at) = (0u32, 0);
    for part in 0..4 {
        if part > 0 {
            if text.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let mut value = u32::from(digit(at)?);
        at += 1;
        // A zero ends the number, so that a digit after it is not a point.
        for _ in 0..2 {
            match digit(at) {
                Some(next) if value > 0 => {
                    value = value * 10 + u32::from(next);
                    at += 1;
                }
                _ => break,
            }
        }
        if value > 255 {
            return None;
        }
        bits = bits << 8 | value;
    }
    Some((bits, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// The standard library's parser is the reference: every text of three pieces.
    #[test]
    fn addresses_are_those_of_the_standard_library() {
        let pieces = [
            "0", "1", "9", "10", "25", "255", "256", "00", "01", ".", "..", "1.", ".0", " ", "a",
            "",
        ];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    let text = format!("{a}.{b}{c}.7.{c}");
                    // Only whole texts can be compared.
                    let ours = ipv4(text.as_bytes()).filter(|(_, len)| *len == text.len());
                    let theirs = text.parse::<Ipv4Addr>().ok().map(|addr| addr.to_bits());
                    assert_eq!(ours.map(|(bits, _)| bits), theirs, "{text:?}");
                }
            }
        }
        assert_eq!(ipv4(b"192.0.2.1/24"), Some((0xc000_0201, 9)));
        assert_eq!(ipv4(b"1.2.3.4567"), None);
        assert_eq!(ipv4(b"1.2.3.1234"), Some((0x0102_037b, 9)));
    }
}
