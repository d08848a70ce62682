//! A slow reader of lists: text instead of bytes, the standard library's parsers, netmasks by trial.
//!
//! It shares no code with the scanner. The fuzz target `lists` makes the same comparison.

use std::net::IpAddr;

use longmatch_feed::{FeedError, ListEntries, ListOptions, Place, Problem, read_list};

/// What a list says: its ranges in order, and the numbers of lines that are no entries.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    pub ranges: Vec<(IpAddr, IpAddr)>,
    pub bad: Vec<u64>,
}

/// Reads a list, in lenient mode.
pub fn read(bytes: &[u8], mask: bool, first_word: bool) -> Said {
    let mut said = Said::default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut begun = false;
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let line = String::from_utf8_lossy(line);
        match entry(&line, mask, first_word) {
            Ok(None) => continue,
            Ok(Some(range)) => said.ranges.push(range),
            Err(()) if !begun && is_header(&line) => {}
            Err(()) => said.bad.push(number),
        }
        begun = true;
    }
    said
}

/// Reads a list with the scanner and compares.
///
/// # Panics
/// If the scanner and the reference differ.
pub fn compare(bytes: &[u8], mask: bool, first_word: bool) {
    let expected = read(bytes, mask, first_word);
    let mut options = ListOptions::default();
    options.mask_host_bits = mask;
    options.first_word = first_word;
    // Inputs in other formats are not lists.
    let found = match scan(bytes, &options) {
        Err(FeedError { problem, .. }) if !matches!(problem, Problem::Line(_)) => return,
        Ok((_, true)) => return,
        Ok(_) if is_routes(bytes) => return,
        Err(_) if is_routes(bytes) => return,
        found => found,
    };
    match (found, expected.bad.first()) {
        (Ok((entries, _)), None) => same(&entries, &expected.ranges),
        (Err(error), Some(bad)) => assert_eq!(error.place, Place::Line(*bad), "{error}"),
        (found, bad) => panic!("{found:?}, but the first bad line is {bad:?}"),
    }
    options.lenient = true;
    match scan(bytes, &options) {
        Ok((entries, _)) => same(&entries, &expected.ranges),
        Err(_) => assert!(expected.ranges.is_empty() && !expected.bad.is_empty()),
    }
}

fn is_routes(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    text.starts_with(b"[") || text.starts_with(b"TABLE_DUMP") || text.starts_with(b"BGP4MP")
}

/// The entries of a list, and whether it was a table of routes.
fn scan(bytes: &[u8], options: &ListOptions) -> Result<(ListEntries, bool), FeedError> {
    let mut entries = ListEntries::default();
    let report = read_list(bytes, None, options, &mut entries, &mut |_| {})?;
    Ok((entries, report.routes.is_some()))
}

/// Compares entries with ranges of both families.
fn same(entries: &ListEntries, expected: &[(IpAddr, IpAddr)]) {
    let mut expected = expected.iter();
    let mut ipv4 = entries.ipv4.iter().map(|range| range.to_string());
    let mut ipv6 = entries.ipv6.iter().map(|range| range.to_string());
    let all = expected.by_ref().all(|(first, last)| {
        let text = Some(format!("{first}-{last}"));
        if first.is_ipv4() { ipv4.next() == text } else { ipv6.next() == text }
    });
    assert!(all && ipv4.next().is_none() && ipv6.next().is_none(), "{entries:?} {expected:?}");
}

type Entry = Option<(IpAddr, IpAddr)>;

/// The entry of a line.
fn entry(line: &str, mask: bool, first_word: bool) -> Result<Entry, ()> {
    let Some((first, rest)) = split(line) else { return Ok(None) };
    if let Some((network, len)) = first.split_once('/') {
        let network: IpAddr = network.parse().map_err(drop)?;
        let len: u8 = len.parse().ok().filter(|it: &u8| it.to_string() == len).ok_or(())?;
        return block(network, len, mask).map(Some);
    }
    let address = |text: &str| text.parse::<IpAddr>().map_err(drop);
    if let Some((low, high)) = first.split_once('-') {
        return range(address(low)?, address(high)?);
    }
    let low = address(first)?;
    let one = Ok(Some((low.to_canonical(), low.to_canonical())));
    let rest = rest.trim_matches(|c: char| c.is_ascii_whitespace());
    let column = rest.strip_prefix([',', ';', '|']).unwrap_or(rest);
    let column = column.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let (column, dash) = match column.strip_prefix('-') {
        Some(column) => (column, true),
        None => (column, false),
    };
    let Some(high) = split(column).and_then(|(word, _)| word.parse().ok()).filter(|_| !first_word)
    else {
        return one;
    };
    if dash {
        return range(low, high);
    }
    if low.is_ipv4() != high.is_ipv4() {
        return one;
    }
    columns(low, high, mask)
}

/// An address and another in the second column.
fn columns(low: IpAddr, high: IpAddr, mask: bool) -> Result<Entry, ()> {
    let width = if low.is_ipv4() { 32 } else { 128 };
    let least = if low.is_ipv4() { 8 } else { 16 };
    for len in least..width {
        if high == netmask(width, len) {
            return block(low, len, mask).map(Some);
        }
    }
    if high == netmask(width, width) && !(0..=width).any(|len| low == netmask(width, len)) {
        return Err(());
    }
    range(low, high)
}

fn netmask(width: u8, len: u8) -> IpAddr {
    let ones = |count: u8| (0..count).fold(0u128, |bits, i| bits | 1 << (width - 1 - i));
    match width {
        32 => IpAddr::V4((ones(len) as u32).into()),
        _ => IpAddr::V6(ones(len).into()),
    }
}

fn number(addr: IpAddr) -> u128 {
    match addr {
        IpAddr::V4(addr) => addr.to_bits().into(),
        IpAddr::V6(addr) => addr.to_bits(),
    }
}

fn block(network: IpAddr, len: u8, mask: bool) -> Result<(IpAddr, IpAddr), ()> {
    let width = if network.is_ipv4() { 32 } else { 128 };
    if len > width {
        return Err(());
    }
    let ones = number(netmask(width, len));
    let all = number(netmask(width, width));
    if number(network) & !ones != 0 && !mask {
        return Err(());
    }
    let address = |bits: u128| match width {
        32 => IpAddr::V4((bits as u32).into()),
        _ => IpAddr::V6(bits.into()).to_canonical(),
    };
    let (low, high) = (number(network) & ones, number(network) | (all & !ones));
    let (first, last) = (address(low), address(high));
    // A prefix with other addresses beside the mapped ones is IPv6.
    match first.is_ipv4() == last.is_ipv4() {
        true => Ok((first, last)),
        false => Ok((IpAddr::V6(low.into()), IpAddr::V6(high.into()))),
    }
}

fn range(low: IpAddr, high: IpAddr) -> Result<Entry, ()> {
    if low.is_ipv4() != high.is_ipv4() || number(low) > number(high) {
        return Err(());
    }
    let (first, last) = (low.to_canonical(), high.to_canonical());
    Ok(Some(if first.is_ipv4() == last.is_ipv4() { (first, last) } else { (low, high) }))
}

/// The first word of a line and the rest; `None` for a comment or nothing.
fn split(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let first = line.chars().next().filter(|c| !['#', ';'].contains(c))?;
    if ['"', '\''].contains(&first) {
        let (word, rest) = line[1..].split_once(first).unwrap_or((&line[1..], ""));
        return Some((word.trim_matches(|c: char| c.is_ascii_whitespace()), rest));
    }
    let ends = |c: char| c.is_ascii_whitespace() || [',', ';', '|', '#'].contains(&c);
    Some(line.split_at(line.find(ends).unwrap_or(line.len())))
}

/// Whether a line has names of columns only.
fn is_header(line: &str) -> bool {
    let line = line.trim_matches(|c: char| c.is_ascii_whitespace());
    let of_name = |c: char| {
        c.is_ascii_alphanumeric()
            || c.is_ascii_whitespace()
            || ['_', '-', '"', ',', ';', '|'].contains(&c)
    };
    line.chars().all(of_name)
        && line.trim_start_matches('"').starts_with(|c: char| c.is_ascii_alphabetic())
        && split(line).is_none_or(|(first, _)| first != "default")
}
