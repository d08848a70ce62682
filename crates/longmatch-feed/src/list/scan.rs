//! Scanner of lists: a pure function over bytes.

use std::net::{IpAddr, SocketAddr};

use longmatch::set::AddressRange;
use longmatch::{IpPrefix, Ipv4, Prefix};
use memchr::memchr;

use super::words::{Word, ipv4, word};
use super::{ListEntries, ListOptions, ListReport};
use crate::error::FeedError;
use crate::text::error::LineError;
use crate::text::{BOM, Rules, shorten, target};

/// Content of a line.
enum Item {
    /// A blank line or a comment.
    Nothing,
    /// Addresses from one to another, in order, of one family.
    Range(IpAddr, IpAddr),
}

/// Scans whole lines; the last one may lack its line end.
///
/// # Errors
/// The first line that is none, unless the options are lenient.
pub(super) fn scan(
    mut text: &[u8],
    options: &ListOptions,
    entries: &mut ListEntries,
    report: &mut ListReport,
) -> Result<(), FeedError> {
    if report.lines == 0 {
        text = text.strip_prefix(BOM).unwrap_or(text);
    }
    while !text.is_empty() {
        if let Some((range, len)) = plain(text) {
            report.lines += 1;
            report.ipv4 += 1;
            entries.ipv4.push(range);
            text = &text[len..];
            continue;
        }
        let end = memchr(b'\n', text);
        let line = &text[..end.unwrap_or(text.len())];
        text = end.map_or(&[], |end| &text[end + 1..]);
        report.lines += 1;
        match item(line, options) {
            Ok(Item::Nothing) => {}
            Ok(Item::Range(first, last)) => push(first, last, entries, report),
            Err(_) if report.has_no_content() && is_header(line) => report.header = true,
            Err(error) => report.refuse(FeedError::line(report.lines, error), options.lenient)?,
        }
    }
    Ok(())
}

/// The fast path: a line that begins with an IPv4 prefix, or is an IPv4 address and nothing else.
/// Returns its addresses and its length with the line end.
#[inline]
fn plain(text: &[u8]) -> Option<(AddressRange<Ipv4>, usize)> {
    let (bits, at) = ipv4(text)?;
    let (len, at, has_len) = match *text.get(at..)? {
        [b'/', digit @ b'0'..=b'9', end, ..] if !end.is_ascii_digit() => {
            (digit - b'0', at + 2, true)
        }
        [b'/', tens @ b'1'..=b'3', digit @ b'0'..=b'9', ..] => {
            ((tens - b'0') * 10 + (digit - b'0'), at + 3, true)
        }
        _ => (32, at, false),
    };
    let prefix = (len <= 32).then(|| Prefix::<Ipv4>::from_bits_masked(bits, len))?;
    if prefix.bits() != bits {
        return None;
    }
    let len = match *text.get(at..)? {
        [b'\n', ..] => at + 1,
        [b'\r', b'\n', ..] => at + 2,
        // Columns after a prefix have no meaning; those after an address may.
        [b',' | b' ' | b'\t', ..] if has_len => at + 1 + memchr(b'\n', &text[at..])?,
        _ => return None,
    };
    Some((prefix.into(), len))
}

/// Adds a range to the entries of its family.
fn push(first: IpAddr, last: IpAddr, entries: &mut ListEntries, report: &mut ListReport) {
    match (first.to_canonical(), last.to_canonical()) {
        (IpAddr::V4(first), IpAddr::V4(last)) => {
            report.ipv4 += 1;
            entries.ipv4.extend(AddressRange::new(first, last));
        }
        _ => {
            let bits = |addr: IpAddr| match addr {
                IpAddr::V4(addr) => addr.to_ipv6_mapped(),
                IpAddr::V6(addr) => addr,
            };
            report.ipv6 += 1;
            entries.ipv6.extend(AddressRange::new(bits(first), bits(last)));
        }
    }
}

/// Parses a line of any form.
fn item(line: &[u8], options: &ListOptions) -> Result<Item, LineError> {
    let (first, rest) = match word(line) {
        Word::End => return Ok(Item::Nothing),
        Word::Text(first, rest) => (first, rest),
    };
    let text = String::from_utf8_lossy(first);
    if first.contains(&b'/') {
        let prefix = target(&text, options.rules())?;
        return Ok(Item::Range(prefix.first(), prefix.last()));
    }
    if let Some((low, high)) = text.split_once('-') {
        let address = |text: &str| text.parse::<IpAddr>().map_err(|_| no_item(&text_of(first)));
        return range(address(low)?, address(high)?);
    }
    let address = text.parse::<IpAddr>().map_err(|_| no_item(&text))?;
    if options.first_word {
        return Ok(Item::Range(address, address));
    }
    match second(rest) {
        Some((last, true)) => range(address, last),
        Some((last, false)) if last.is_ipv4() == address.is_ipv4() => {
            columns(address, last, options.mask_host_bits)
        }
        _ => Ok(Item::Range(address, address)),
    }
}

/// The address after the first one, and whether `-` stands between them.
fn second(rest: &[u8]) -> Option<(IpAddr, bool)> {
    let rest = rest.trim_ascii_start();
    let rest = match rest {
        [b',' | b';' | b'|', rest @ ..] => rest.trim_ascii_start(),
        _ => rest,
    };
    let (rest, dash) = rest.strip_prefix(b"-").map_or((rest, false), |rest| (rest, true));
    match word(rest) {
        Word::Text(text, _) => Some((str::from_utf8(text).ok()?.parse().ok()?, dash)),
        Word::End => None,
    }
}

/// Two columns of addresses: the ends of a range, or a network and its netmask.
///
/// Netmasks begin with the byte 255, or in IPv6 with 16 ones. So do the ends of ranges that reach
/// the top of the address space: such a range is recognized if it is a prefix.
fn columns(first: IpAddr, second: IpAddr, mask_host_bits: bool) -> Result<Item, LineError> {
    let (low, high, width) = match (first, second) {
        (IpAddr::V4(first), IpAddr::V4(second)) => {
            (u128::from(first.to_bits()) << 96, u128::from(second.to_bits()) << 96, 32)
        }
        (IpAddr::V6(first), IpAddr::V6(second)) => (first.to_bits(), second.to_bits(), 128),
        _ => return Ok(Item::Range(first, first)),
    };
    let least = if width == 32 { 8 } else { 16 };
    let ones = high.leading_ones();
    if ones < least || ones + high.trailing_zeros() < 128 {
        return range(first, second);
    }
    if ones >= width {
        // Ones, then zeros: the addresses from here to the top are one prefix.
        return match low.leading_ones() + low.trailing_zeros() >= 128 {
            true => range(first, second),
            false => Err(LineError::MaskOrEnd { network: first, mask: second }),
        };
    }
    if low & !high != 0 && !mask_host_bits {
        return Err(LineError::NetworkBits { network: first, mask: second });
    }
    let prefix = IpPrefix::masked(first, ones as u8);
    let prefix = prefix.map_err(|_| LineError::Netmask { mask: second })?;
    Ok(Item::Range(prefix.first(), prefix.last()))
}

fn range(first: IpAddr, last: IpAddr) -> Result<Item, LineError> {
    match first.is_ipv4() == last.is_ipv4() && first <= last {
        true => Ok(Item::Range(first, last)),
        false => Err(LineError::Range { first, last }),
    }
}

fn text_of(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

/// Error for a word that is no prefix, address or range, with advice if the reason is common.
fn no_item(text: &str) -> LineError {
    let advice = if text.parse::<SocketAddr>().is_ok() {
        Some("leave out the port")
    } else if text.contains('%') {
        Some("leave out the zone id")
    } else if text == "default" {
        Some("write 0.0.0.0/0 or ::/0")
    } else {
        None
    };
    LineError::ListItem { text: shorten(text), advice }
}

/// Whether a line names columns: all its words are names, and the first is not `default`.
fn is_header(line: &[u8]) -> bool {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",;|".contains(byte);
    let unquoted = |word: &[u8]| word.trim_ascii().iter().all(|byte| is_of_name(*byte));
    let begins = line.trim_ascii().iter().find(|byte| **byte != b'"');
    let mut words = line.split(ends);
    begins.is_some_and(u8::is_ascii_alphabetic)
        && words.all(unquoted)
        && !matches!(word(line), Word::Text(b"default", _))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-\"".contains(&byte)
}

impl ListOptions {
    fn rules(&self) -> Rules {
        Rules { mask_host_bits: self.mask_host_bits, default_family: None }
    }
}
