//! Slow references of the scanners, and comparisons with them; the fuzz targets use them too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use longmatch_feed::scan::csv::{RowEnds, row};
use longmatch_feed::scan::ndjson::{Field, Path, scan, unescape};
use longmatch_feed::scan::text::{first_address, next_address};
use longmatch_feed::scan::words;
use serde_json::{Map, Value};

/// Compares the rows of a text with those of the crate `csv`, and the ends of rows for every cut.
pub fn compare_csv(mut bytes: &[u8], delimiter: u8) {
    // The crate skips a byte-order mark; those who scan rows skip it before.
    while let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        bytes = rest;
    }
    let (found, starts) = scanned_rows(bytes, delimiter);
    assert_eq!(found, reference_rows(bytes, delimiter), "{:?}", String::from_utf8_lossy(bytes));
    // A piece may end anywhere: whatever is cut off must be whole rows.
    for cut in 0..bytes.len().min(200) {
        let mut ends = RowEnds::new(delimiter);
        let first = ends.last(&bytes[..cut], 0).unwrap_or(0);
        assert!(starts.contains(&first), "{first} of {starts:?}, cut at {cut}");
        let second = first + ends.last(&bytes[first..], cut - first).unwrap_or(0);
        assert!(starts.contains(&second), "{second} of {starts:?}, cut at {cut}");
        let whole = RowEnds::new(delimiter).last(bytes, 0).unwrap_or(0);
        assert_eq!(second, whole, "cut at {cut}");
    }
}

/// The rows that are not empty, decoded, and the beginnings of all rows.
fn scanned_rows(bytes: &[u8], delimiter: u8) -> (Vec<Vec<Vec<u8>>>, Vec<usize>) {
    let (mut rows, mut starts, mut at) = (Vec::new(), vec![0], 0);
    while at < bytes.len() {
        let count = row(bytes, at, delimiter, &[], &mut []).cells;
        let all: Vec<usize> = (0..count + 1).collect();
        let mut found = vec![None::<Range<usize>>; count + 1];
        let scanned = row(bytes, at, delimiter, &all, &mut found);
        assert_eq!((scanned.cells, found.pop()), (count, Some(None)));
        for (wanted, cell) in found.iter().enumerate() {
            let mut one = [None];
            assert_eq!(row(bytes, at, delimiter, &[wanted], &mut one), scanned);
            assert_eq!(one[0], *cell);
        }
        if scanned.end > at {
            let cells = found.into_iter().flatten();
            rows.push(cells.map(|cell| decoded(&bytes[cell], delimiter)).collect());
        }
        at = scanned.next;
        starts.push(at);
    }
    (rows, starts)
}

/// A cell without its quotes, which it has none of where TABs separate cells.
fn decoded(cell: &[u8], delimiter: u8) -> Vec<u8> {
    let quoted = cell.strip_prefix(b"\"").filter(|_| delimiter != b'\t');
    let Some(quoted) = quoted else { return cell.to_vec() };
    let (mut out, mut bytes) = (Vec::new(), quoted.iter().peekable());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if bytes.peek() == Some(&&b'"') => out.extend(bytes.next()),
            b'"' => {
                out.extend(bytes);
                break;
            }
            byte => out.push(*byte),
        }
    }
    out
}

/// The rows as the crate `csv` reads them.
fn reference_rows(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .quoting(delimiter != b'\t')
        .terminator(csv::Terminator::Any(b'\n'))
        .from_reader(bytes);
    let mut rows = Vec::new();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).unwrap() {
        let end = reader.position().byte() as usize;
        let mut cells: Vec<Vec<u8>> = record.iter().map(<[u8]>::to_vec).collect();
        // Only LF ends rows there; a CR before it is in the last cell.
        let mut raw = &bytes[..end];
        // A quote that does not end has all line ends in its cell.
        if !cells.last().is_some_and(|last| last.ends_with(b"\n")) {
            raw = raw.strip_suffix(b"\n").unwrap_or(raw);
        }
        if raw.ends_with(b"\r") {
            let last = cells.last_mut().unwrap();
            assert_eq!(last.pop(), Some(b'\r'));
            let line = raw.rsplit(|byte| *byte == b'\n').next().unwrap();
            if cells == [b""] && line == b"\r" {
                continue;
            }
        }
        rows.push(cells);
    }
    rows
}

/// Checks the cells between white space: they have all other bytes of their line.
pub fn check_words(bytes: &[u8]) {
    let mut at = 0;
    while at < bytes.len() {
        let count = words::row(bytes, at, &[], &mut []).cells;
        let all: Vec<usize> = (0..count).collect();
        let mut found = vec![None::<Range<usize>>; count];
        let row = words::row(bytes, at, &all, &mut found);
        assert!(row.next > at && row.cells == count, "{bytes:?}");
        let mut from = at;
        for cell in found.into_iter().flatten() {
            let text = &bytes[cell.clone()];
            let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
            let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
            assert!(inner.is_some() || !text.iter().any(is_space), "{bytes:?}");
            assert!(!text.is_empty() && !text.contains(&b'\n'), "{bytes:?}");
            assert!(bytes[from..cell.start].iter().all(is_space), "{bytes:?}");
            from = cell.end;
        }
        assert!(from <= row.end, "{bytes:?}");
        assert!(bytes[from..row.next].trim_ascii().is_empty(), "{bytes:?}");
        at = row.next;
    }
}

/// Compares the fields of a line, and the line with a member added, with the answers of `serde_json`.
pub fn compare_ndjson(line: &[u8]) {
    let paths = ["ip", "a", "a.b", "a.b.c", r"a\.b", "", "é", "src.ip"].map(Path::new);
    let mut fields = vec![Field::Missing; paths.len()];
    let scanned = scan(line, &paths, &mut fields);
    let Ok(expected) = serde_json::from_slice::<Map<String, Value>>(line) else { return };
    let shown = String::from_utf8_lossy(line);
    let object = scanned.unwrap_or_else(|damage| panic!("{damage}: {shown}"));
    for (path, field) in paths.iter().zip(&fields) {
        let Some(value) = referred(&expected, path.keys()) else { continue };
        let same = match (value, field) {
            (None | Some(Value::Null), Field::Missing) => true,
            (Some(Value::String(text)), Field::Text(range, false)) => {
                text.as_bytes() == &line[range.clone()]
            }
            (Some(Value::String(text)), Field::Text(range, true)) => {
                unescape(line, range.clone()).as_ref() == Some(text)
            }
            (Some(value), Field::Other(range)) => {
                !value.is_string()
                    && serde_json::from_slice::<Value>(&line[range.clone()]).ok().as_ref()
                        == Some(value)
            }
            _ => false,
        };
        assert!(same, "{path:?}: {value:?}, not {field:?}, in {shown}");
    }
    assert_eq!(object.is_empty, expected.is_empty(), "{shown}");
    let comma: &[u8] = if object.is_empty { b"" } else { b"," };
    let longer = [&line[..object.end], comma, b"\"added\":1", &line[object.end..]].concat();
    let mut with = expected;
    with.insert("added".into(), 1.into());
    assert_eq!(serde_json::from_slice::<Map<_, _>>(&longer).ok(), Some(with), "{shown}");
}

/// The value at the end of a path: that of nested objects, or of a key with the dots of the path. `None`
/// where both are on the line: the order of the members, which the map does not have, decides.
fn referred<'v>(object: &'v Map<String, Value>, keys: &[String]) -> Option<Option<&'v Value>> {
    let (key, rest) = keys.split_first().unwrap();
    if rest.is_empty() {
        return Some(object.get(key));
    }
    match (object.get(&keys.join(".")), object.get(key)) {
        (Some(_), Some(_)) => None,
        (Some(flat), None) => Some(Some(flat)),
        (None, Some(Value::Object(inner))) => referred(inner, rest),
        (None, _) => Some(None),
    }
}

/// Compares the first address on a line with a search by an expression and the standard library.
pub fn compare_text(line: &[u8]) {
    let found = first_address(line);
    assert_eq!(found, reference_address(line), "{:?}", String::from_utf8_lossy(line));
    let mut next = found;
    while let Some((range, addr)) = next {
        let text = str::from_utf8(&line[range.clone()]).unwrap();
        assert_eq!(text.parse(), Ok(addr));
        next = next_address(line, range.end);
        assert!(next.as_ref().is_none_or(|(next, _)| next.start >= range.end));
    }
}

fn reference_address(line: &[u8]) -> Option<(Range<usize>, IpAddr)> {
    thread_local! {
        static TOKEN: regex::bytes::Regex = regex::bytes::Regex::new("(?-u)[0-9A-Fa-f.:]+").unwrap();
        static PRODUCT: regex::bytes::Regex =
            regex::bytes::Regex::new("(?-u)(?:^|[^0-9A-Za-z_./@-])[0-9A-Za-z_-]*[A-Za-z]/$").unwrap();
        static PORT: regex::bytes::Regex = regex::bytes::Regex::new("(?-u)^:[0-9]").unwrap();
        static FULL: regex::bytes::Regex =
            regex::bytes::Regex::new("(?-u)^((?:[^:]+:){6,7}[^:]+):([0-9]{1,5})$").unwrap();
        static WORD: regex::bytes::Regex = regex::bytes::Regex::new("(?-u)^[0-9A-Za-z_]").unwrap();
    }
    let is_word = |at: Option<usize>| {
        at.and_then(|at| line.get(at..)).is_some_and(|rest| WORD.with(|word| word.is_match(rest)))
    };
    let tokens: Vec<_> =
        TOKEN.with(|token| token.find_iter(line).map(|found| found.range()).collect());
    for token in tokens {
        let text = str::from_utf8(&line[token.clone()]).unwrap();
        let (before, after) = (is_word(token.start.checked_sub(1)), is_word(Some(token.end)));
        let bare = text.trim_end_matches('.');
        let single = bare.ends_with(':') && !bare.ends_with("::");
        let bare = if single { &bare[..bare.len() - 1] } else { bare };
        if !before && (single || !after) && bare != "::" {
            let whole = bare.parse::<Ipv6Addr>().map(|addr| (addr, bare.len())).ok();
            let before_port = || {
                let groups = FULL.with(|full| full.captures(bare.as_bytes()))?;
                let text = |i| str::from_utf8(&groups[i]).unwrap();
                text(2).parse::<u16>().ok()?;
                Some((text(1).parse::<Ipv6Addr>().ok()?, groups[1].len()))
            };
            if let Some((addr, len)) = whole.or_else(before_port) {
                return Some((token.start..token.start + len, addr.into()));
            }
        }
        let parts: Vec<&str> = text.split(':').collect();
        let mut at = token.start;
        for (i, part) in parts.iter().enumerate() {
            let bare = part.trim_matches('.');
            let start = at + part.find(bare).unwrap();
            at += part.len() + 1;
            let is_version = PRODUCT.with(|product| product.is_match(&line[..token.start]))
                && !PORT.with(|port| port.is_match(&line[at - 1..]));
            if i == 0 && (before || is_version) || i == parts.len() - 1 && after {
                continue;
            }
            if let Ok(addr) = bare.parse::<Ipv4Addr>() {
                return Some((start..start + bare.len(), addr.into()));
            }
        }
    }
    None
}
