//! Rows of delimited text: the ends of rows, and the ranges of some cells.
//!
//! The rules are those of the crate `csv`: a cell that begins with a double quote ends with the next one
//! that is not doubled, and may contain delimiters and line ends; elsewhere quotes are plain text. Rows
//! end with LF or CR LF. Where TABs separate the cells, as in logs, all quotes are plain text: a row is a
//! line.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2, memrchr};

/// Finds the ends of rows in a stream that arrives in pieces.
///
/// ```
/// use longmatch_feed::scan::csv::RowEnds;
/// let mut ends = RowEnds::new(b',');
/// assert_eq!(ends.last(b"1,\"a\nb", 0), None, "the line end is inside a cell");
/// assert_eq!(ends.last(b"1,\"a\nb\"\n2", 6), Some(8));
/// ```
#[derive(Clone, Debug)]
pub struct RowEnds {
    delimiter: u8,
    /// Whether the position is inside a cell in quotes.
    quoted: bool,
    /// Whether the byte before the position ended a cell in quotes, unless another quote follows.
    closed: bool,
}

impl RowEnds {
    /// Starts before the first row.
    #[must_use]
    pub fn new(delimiter: u8) -> Self {
        Self { delimiter, quoted: false, closed: false }
    }

    /// The end of the last row that ends in `bytes[from..]`, with its line end.
    ///
    /// `bytes` begins with a row; `from` is where the last call ended: the length of its bytes, less
    /// what was removed at the front.
    pub fn last(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        if self.delimiter == b'\t' {
            return memrchr(b'\n', &bytes[from..]).map(|i| from + i + 1);
        }
        let (mut at, mut last) = (from, None);
        loop {
            let quote = memchr(b'"', &bytes[at..]).map(|i| at + i);
            let end = quote.unwrap_or(bytes.len());
            if !self.quoted
                && let Some(i) = memrchr(b'\n', &bytes[at..end])
            {
                last = Some(at + i + 1);
            }
            self.closed &= end == at;
            let Some(quote) = quote else { return last };
            if self.quoted {
                (self.quoted, self.closed) = (false, true);
            } else {
                let begins = match quote.checked_sub(1).map(|before| bytes[before]) {
                    None | Some(b'\n') => true,
                    Some(before) => before == self.delimiter,
                };
                // A doubled quote closes the cell and opens it again.
                self.quoted = begins || self.closed;
                self.closed = false;
            }
            at = quote + 1;
        }
    }
}

/// A row: positions in the bytes that were scanned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The end of the last cell.
    pub end: usize,
    /// The beginning of the next row, after the line end.
    pub next: usize,
    /// The number of cells; an empty line has one.
    pub cells: usize,
    /// The quote of a cell that swallows line ends and then has no end, or text after its end: a quote is
    /// missing, or one too many.
    pub stray: Option<usize>,
}

/// Scans the row that begins at `start`, before the end of the bytes.
///
/// `wanted` has numbers of columns, from 0, in ascending order. `found` gets the range of each, with
/// quotes if it has them; `None` if the row has too few cells.
///
/// ```
/// use longmatch_feed::scan::csv::{Row, row};
/// let mut found = [None];
/// let text = b"a,\"b,c\"\r\nd";
/// assert_eq!(row(text, 0, b',', &[1], &mut found), Row { end: 7, next: 9, cells: 2, stray: None });
/// assert_eq!(found, [Some(2..7)]);
/// assert_eq!(row(b"a,\"b\nc,d", 0, b',', &[], &mut []).stray, Some(2));
/// ```
///
/// # Panics
/// If `found` is shorter than `wanted`, or `start` is not before the end of the bytes.
#[inline]
pub fn row(
    bytes: &[u8],
    start: usize,
    delimiter: u8,
    wanted: &[usize],
    found: &mut [Option<Range<usize>>],
) -> Row {
    let mut cells = WantedCells::new(wanted, found);
    let special = match delimiter {
        b'\t' => memchr(b'\n', &bytes[start..]),
        _ => memchr2(b'\n', b'"', &bytes[start..]),
    };
    let next = match special {
        None => bytes.len(),
        Some(i) if bytes[start + i] == b'\n' => start + i + 1,
        Some(_) => return quoted_row(bytes, start, delimiter, cells),
    };
    let end = without_line_end(bytes, start, next);
    let mut from = start;
    // Past the last wanted column, cells are only counted.
    while cells.filled < wanted.len() {
        match memchr(delimiter, &bytes[from..end]) {
            Some(i) => {
                cells.add(from..from + i);
                from += i + 1;
            }
            None => {
                cells.add(from..end);
                return cells.finish(end, next);
            }
        }
    }
    cells.count += 1 + memchr_iter(delimiter, &bytes[from..end]).count();
    cells.finish(end, next)
}

/// Scans a row that has a quote.
fn quoted_row(bytes: &[u8], start: usize, delimiter: u8, mut cells: WantedCells<'_>) -> Row {
    let (mut from, mut stray) = (start, None);
    loop {
        let mut at = from;
        let mut open = bytes.get(at) == Some(&b'"');
        while open {
            // The quote at `at` opens the cell, or is the second one of two.
            let quote = memchr(b'"', &bytes[at + 1..]);
            at = quote.map_or(bytes.len(), |i| at + i + 2);
            if quote.is_none() {
                // The rest is in the cell, with its line ends.
                let end = bytes.len() - usize::from(bytes.ends_with(b"\r"));
                cells.add(from..end);
                let row = cells.finish(end, bytes.len());
                return Row { stray: stray.or(Some(from)), ..row };
            }
            open = bytes.get(at) == Some(&b'"');
        }
        let end = memchr2(delimiter, b'\n', &bytes[at..]).map(|i| at + i);
        let after = &bytes[at..end.unwrap_or(bytes.len())];
        if stray.is_none() && at > from && !after.trim_ascii().is_empty() {
            stray = memchr(b'\n', &bytes[from..at]).map(|_| from);
        }
        match end {
            Some(end) if bytes[end] == delimiter => {
                cells.add(from..end);
                from = end + 1;
            }
            end => {
                let next = end.map_or(bytes.len(), |end| end + 1);
                let end = without_line_end(bytes, from, next);
                cells.add(from..end);
                return Row { stray, ..cells.finish(end, next) };
            }
        }
    }
}

/// The end of a row without its line end.
#[inline]
fn without_line_end(bytes: &[u8], start: usize, next: usize) -> usize {
    let row = &bytes[start..next];
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    start + row.strip_suffix(b"\r").unwrap_or(row).len()
}

/// The cells of a row that is being scanned.
pub(super) struct WantedCells<'a> {
    wanted: &'a [usize],
    found: &'a mut [Option<Range<usize>>],
    count: usize,
    /// The number of wanted columns that are found.
    filled: usize,
}

impl<'a> WantedCells<'a> {
    #[inline]
    pub(super) fn new(wanted: &'a [usize], found: &'a mut [Option<Range<usize>>]) -> Self {
        Self { wanted, found, count: 0, filled: 0 }
    }

    #[inline]
    pub(super) fn add(&mut self, cell: Range<usize>) {
        if self.wanted.get(self.filled) == Some(&self.count) {
            self.found[self.filled] = Some(cell);
            self.filled += 1;
        }
        self.count += 1;
    }

    #[inline]
    pub(super) fn finish(self, end: usize, next: usize) -> Row {
        self.found[self.filled..self.wanted.len()].fill(None);
        Row { end, next, cells: self.count, stray: None }
    }
}
