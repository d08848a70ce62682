//! Rows of words with white space between them, such as the logs of squid, of IIS and of AWS.
//!
//! Any number of spaces and tabs separates two cells. A cell that begins with a double quote ends with the
//! next one before white space, if its line has one; other quotes are plain text. A row is a line.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::csv::{Row, WantedCells};

/// Scans the row that begins at `start`. The arguments and the result are those of
/// [`csv::row`](super::csv::row).
///
/// ```
/// use longmatch_feed::scan::words::row;
/// let mut found = [None, None];
/// let line = b"2 \"GET / HTTP/1.1\"   192.0.2.1 \n";
/// assert_eq!(row(line, 0, &[1, 2], &mut found).cells, 3);
/// assert_eq!(found, [Some(2..18), Some(21..30)]);
/// ```
///
/// # Panics
/// If `found` is shorter than `wanted`, or `start` is not before the end of the bytes.
#[inline]
pub fn row(
    bytes: &[u8],
    start: usize,
    wanted: &[usize],
    found: &mut [Option<Range<usize>>],
) -> Row {
    let next = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |i| start + i + 1);
    let end = start + bytes[start..next].trim_ascii_end().len();
    let mut cells = WantedCells::new(wanted, found);
    let mut at = start;
    loop {
        at += bytes[at..end].iter().take_while(|byte| is_space(byte)).count();
        if at == end {
            return cells.finish(end, next);
        }
        let cell = &bytes[at..end];
        let space = || cell.iter().position(is_space).unwrap_or(cell.len());
        let quote = if cell[0] == b'"' { closing(cell) } else { None };
        let len = quote.unwrap_or_else(space);
        cells.add(at..at + len);
        at += len;
    }
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The length of a cell in quotes.
fn closing(cell: &[u8]) -> Option<usize> {
    let mut quotes = memchr_iter(b'"', &cell[1..]).map(|i| i + 2);
    quotes.find(|end| cell.get(*end).is_none_or(is_space))
}
