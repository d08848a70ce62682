//! Rows of text and their cells.

use std::collections::BTreeMap;

use csv_core::ReadRecordResult;
use memchr::{memchr, memchr_iter};

use super::key::{CellKind, end_of_item};
use crate::error::{FeedError, Location, Problem};
use crate::formats::{Emitted, Format, Parser};
use crate::input::Input;
use crate::option_values::Delimiter;
use crate::text::{Lines, LinesError, word};

/// Division of a line into cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CellSyntax {
    /// At each delimiter; cells may be quoted, and contain line ends then.
    Delimited(Delimiter),
    /// The line without its comment is one cell.
    One,
    /// The first word is a cell, and the rest of the line without its comment.
    Rest,
    /// The parser of a listing emits the cells.
    Listing(Format),
}

/// Error of reading a row.
pub(crate) enum RowError {
    /// The row is damaged; the next row can still be read.
    Row(FeedError),
    /// The stream failed.
    Io(std::io::Error),
}

/// The rows of an input. Blank lines and comments are skipped.
pub(crate) struct Rows<'a> {
    lines: Lines<'a>,
    cells: CellSyntax,
    /// Whether lines that begin with a semicolon are comments, as those with `#` are.
    semicolons: bool,
    limit: usize,
    quoted: csv_core::Reader,
    /// Text of the row, or of all rows that a line of a listing emits, and the bounds of its cells.
    row: Emitted,
    /// The first cell of the row in a listing, and the number of its cells.
    first: usize,
    width: usize,
    parser: Option<Box<dyn Parser>>,
    ended: bool,
    /// The entries that the parser has left out, at the end.
    left_out: BTreeMap<String, u64>,
    /// Output of the parser of quoted cells.
    unquoted: Vec<u8>,
    ends: Vec<usize>,
    /// The number of the row's first line.
    number: u64,
    /// The column of the prefix, unless it is the first: a comment has no prefix there.
    key: Option<usize>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(input: Input<'a>, cells: CellSyntax, semicolons: bool, limit: usize) -> Self {
        let limit = limit.min(1 << 30);
        let mut quoted = csv_core::ReaderBuilder::new();
        if let CellSyntax::Delimited(Delimiter::Byte(byte)) = cells {
            quoted.delimiter(byte);
        }
        let (parser, width) = match cells {
            CellSyntax::Listing(format) => match format.listing() {
                Some(listing) => (Some((listing.parser)()), listing.columns.len()),
                None => (None, 0),
            },
            _ => (None, 0),
        };
        Self {
            lines: Lines::new(input, limit),
            cells,
            semicolons,
            limit,
            quoted: quoted.build(),
            row: Emitted::default(),
            first: 0,
            width,
            parser,
            ended: false,
            left_out: BTreeMap::new(),
            unquoted: Vec::new(),
            ends: Vec::new(),
            number: 0,
            key: None,
        }
    }

    /// Refuses comments with a prefix in this column: they may be rows.
    pub(crate) fn check_comments(mut self, key: usize) -> Self {
        self.key = Some(key).filter(|at| *at > 0);
        self
    }

    /// The lines, with their number and the bytes received.
    pub(crate) fn lines(&self) -> &Lines<'a> {
        &self.lines
    }

    /// The number of the row's first line.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The number of the row's cells.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        if self.parser.is_some() { self.width } else { self.row.bounds.len() }
    }

    /// A cell without the white space around it; empty if the row has fewer.
    #[inline]
    pub(crate) fn cell(&self, at: usize) -> &str {
        let bounds = self.row.bounds.get(self.first + at);
        bounds.map_or("", |(start, end)| &self.row.text[*start as usize..*end as usize])
    }

    /// Reads the next row. Returns false at the end of the input.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<bool, RowError> {
        // A line of a listing may have emitted several rows.
        if self.parser.is_some() && self.first + 2 * self.width <= self.row.bounds.len() {
            self.first += self.width;
            return Ok(true);
        }
        loop {
            self.number = self.lines.number() + 1;
            let line = match self.lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => return self.end(),
                Err(LinesError::Line(error)) => {
                    return Err(RowError::Row(FeedError::line(self.number, error)));
                }
                Err(LinesError::Io(error)) => return Err(RowError::Io(error)),
            };
            let text = line.trim_ascii_start();
            match text.as_bytes() {
                [] if self.parser.is_none() => continue,
                [b'#', ..] => match hidden(text, self.cells, self.key) {
                    None => continue,
                    Some(prefix) => {
                        let error = Problem::HiddenRow { text: prefix.to_owned() };
                        return Err(RowError::Row(FeedError::line(self.number, error)));
                    }
                },
                [b';', ..] if self.semicolons || self.cells == CellSyntax::One => continue,
                _ => {}
            }
            self.row.text.clear();
            self.row.bounds.clear();
            if let Some(parser) = &mut self.parser {
                self.first = 0;
                let result = match text.is_empty() {
                    true => {
                        parser.blank(&mut self.row);
                        Ok(())
                    }
                    false => parser.line(line, &mut self.row),
                };
                if let Err(error) = result {
                    return Err(RowError::Row(self.error(error)));
                }
                if self.row.bounds.is_empty() {
                    continue;
                }
                return Ok(true);
            }
            self.row.text.push_str(line);
            self.divide()?;
            return Ok(true);
        }
    }

    /// Ends the rows: a listing may have more of them, or be cut off.
    fn end(&mut self) -> Result<bool, RowError> {
        self.row = Emitted::default();
        self.first = 0;
        let Some(parser) = self.parser.as_mut().filter(|_| !self.ended) else { return Ok(false) };
        self.ended = true;
        let end = parser.end(&mut self.row);
        self.left_out = parser.left_out();
        end.map_err(|error| RowError::Row(self.error(error)))?;
        Ok(!self.row.bounds.is_empty())
    }

    /// The entries that a listing has left out, by the name of their kind or set; empty before its end.
    pub(crate) fn left_out(&mut self) -> BTreeMap<String, u64> {
        std::mem::take(&mut self.left_out)
    }

    #[inline]
    fn divide(&mut self) -> Result<(), RowError> {
        let Emitted { text, bounds } = &mut self.row;
        match self.cells {
            CellSyntax::Rest => {
                let start = text.len() - text.trim_ascii_start().len();
                let end = start + word(text).0.len();
                let comment = text.find(" #").or(text.find("\t#")).unwrap_or(text.len());
                bounds.push((start as u32, end as u32));
                bounds.push(trimmed(text, end, comment.max(end)));
            }
            // Its parser has emitted the cells.
            CellSyntax::Listing(_) => {}
            CellSyntax::One => {
                let end = end_of_item(text, self.semicolons);
                bounds.push(trimmed(text, 0, end));
            }
            CellSyntax::Delimited(Delimiter::Whitespace) => {
                for word in text.split_ascii_whitespace() {
                    if word.starts_with('#') || (self.semicolons && word.starts_with(';')) {
                        break;
                    }
                    let start = word.as_ptr().addr() - text.as_ptr().addr();
                    bounds.push((start as u32, (start + word.len()) as u32));
                }
            }
            CellSyntax::Delimited(Delimiter::Byte(byte))
                if byte != b'\t' && memchr(b'"', text.as_bytes()).is_some() =>
            {
                return self.divide_quoted(byte);
            }
            CellSyntax::Delimited(Delimiter::Byte(byte)) => {
                let mut start = 0;
                for end in memchr_iter(byte, text.as_bytes()) {
                    bounds.push(trimmed(text, start, end));
                    start = end + 1;
                }
                bounds.push(trimmed(text, start, text.len()));
                if byte == b'\t' && memchr(b'"', text.as_bytes()).is_some() {
                    bounds.iter_mut().for_each(|bounds| *bounds = without_quotes(text, *bounds));
                }
            }
        }
        Ok(())
    }

    /// Divides a row with quotation marks, which may go on in the following lines. If a quotation mark is one too
    /// many, the lines after it are rows of their own.
    #[cold]
    fn divide_quoted(&mut self, delimiter: u8) -> Result<(), RowError> {
        let mut quotes = Quotes { delimiter, within: Within::Start, spans: false };
        quotes.close_up(&mut self.row.text, 0);
        // The number of the line in which the last open cell begins, from 0, and the end of that line.
        let mut opened = (0, self.row.text.len());
        let mut damage = None;
        let mut is_stray = quotes.line(self.row.text.as_bytes());
        while damage.is_none() && quotes.within == Within::Quoted {
            let line = match self.lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(LinesError::Line(error)) => {
                    damage = Some(FeedError::line(self.lines.number(), error));
                    ""
                }
                Err(LinesError::Io(error)) => return Err(RowError::Io(error)),
            };
            self.row.text.push('\n');
            let start = self.row.text.len();
            self.row.text.push_str(line);
            quotes.close_up(&mut self.row.text, start);
            is_stray = quotes.line(&self.row.text.as_bytes()[start..]);
            if !quotes.spans {
                opened = ((self.lines.number() - self.number), self.row.text.len());
            }
            if self.row.text.len() > self.limit {
                damage = Some(self.error(Problem::RowTooLong { limit: self.limit }));
            }
        }
        if damage.is_none() && !is_stray && quotes.within != Within::Quoted {
            self.unquote();
            return Ok(());
        }
        let (line, end) = opened;
        if end < self.row.text.len() {
            self.lines.again(&self.row.text[end + 1..]);
        }
        let stray = || FeedError::line(self.number + line, Problem::StrayQuote);
        Err(RowError::Row(damage.unwrap_or_else(stray)))
    }

    /// Replaces the text by its cells without quotation marks.
    fn unquote(&mut self) {
        self.unquoted.resize(self.row.text.len() + 1, 0);
        self.ends.resize(self.row.text.len() + 2, 0);
        self.quoted.reset();
        let (mut read, mut written, mut cells) = (0, 0, 0);
        // The second call, without input, ends the row.
        for _ in 0..2 {
            let input = &self.row.text.as_bytes()[read..];
            let (result, n, out, ends) = self.quoted.read_record(
                input,
                &mut self.unquoted[written..],
                &mut self.ends[cells..],
            );
            (read, written, cells) = (read + n, written + out, cells + ends);
            if matches!(result, ReadRecordResult::Record | ReadRecordResult::End) {
                break;
            }
        }
        // Quotation marks and delimiters are ASCII: without them the text is UTF-8 still.
        self.row.text.clear();
        self.row.text.push_str(&String::from_utf8_lossy(&self.unquoted[..written]));
        let mut start = 0;
        for end in &self.ends[..cells] {
            if self.row.text.is_char_boundary(start) && self.row.text.is_char_boundary(*end) {
                self.row.bounds.push(trimmed(&self.row.text, start, *end));
            }
            start = *end;
        }
    }

    /// An error of this row.
    #[cold]
    pub(crate) fn error(&self, error: Problem) -> FeedError {
        FeedError::at(Location::Line(self.number), error)
    }
}

/// The prefix in a comment with delimiters.
#[cold]
fn hidden(comment: &str, cells: CellSyntax, key: Option<usize>) -> Option<&str> {
    let CellSyntax::Delimited(Delimiter::Byte(delimiter)) = cells else { return None };
    let cell = comment.split(char::from(delimiter)).nth(key?)?.trim_ascii();
    CellKind::of(cell).is_key().then_some(cell)
}

/// Where a position in a row is, as the parser of quoted cells sees it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// At the beginning of a cell.
    Start,
    /// In a cell without quotation marks, or after them.
    Plain,
    /// Between quotation marks.
    Quoted,
    /// After a quotation mark that ends the cell, unless another one follows.
    Closed,
}

/// The quotation marks of a row, line by line.
struct Quotes {
    delimiter: u8,
    within: Within,
    /// Whether the cell began in an earlier line.
    spans: bool,
}

impl Quotes {
    /// Removes white space between a delimiter and a quotation mark, in the line that begins at `start`.
    fn close_up(&self, text: &mut String, start: usize) {
        let line = &text.as_bytes()[start..];
        if !memchr_iter(b'"', line).any(|at| at > 0 && line[at - 1] == b' ') {
            return;
        }
        let mut quotes = Self { ..*self };
        let mut line = String::with_capacity(text.len() - start);
        let mut spaces = 0;
        for c in text[start..].chars() {
            let begins = quotes.within == Within::Start && line.len() > spaces;
            match c {
                ' ' if begins => spaces += 1,
                '"' if begins => line.truncate(line.len() - std::mem::take(&mut spaces)),
                _ => spaces = 0,
            }
            line.push(c);
            // White space keeps the cell at its beginning here.
            if spaces == 0 {
                quotes.line(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        text.truncate(start);
        text.push_str(&line);
    }

    /// Reads a line. Returns whether text follows a closing quotation mark of a cell that began in an earlier line: the
    /// opening one is stray.
    fn line(&mut self, line: &[u8]) -> bool {
        self.spans = self.within == Within::Quoted;
        for byte in line {
            self.within = match (self.within, *byte) {
                (Within::Start | Within::Closed, b'"') => Within::Quoted,
                (Within::Quoted, b'"') => Within::Closed,
                (Within::Quoted, _) => Within::Quoted,
                (_, byte) if byte == self.delimiter => {
                    self.spans = false;
                    Within::Start
                }
                (_, byte) if self.spans && !byte.is_ascii_whitespace() => {
                    self.within = Within::Plain;
                    return true;
                }
                _ => Within::Plain,
            };
        }
        false
    }
}

/// The bounds of a cell without the white space around it.
#[inline]
fn trimmed(text: &str, start: usize, end: usize) -> (u32, u32) {
    let cell = &text[start..end];
    let from = start + (cell.len() - cell.trim_ascii_start().len());
    let cell = cell.trim_ascii();
    (from as u32, (from + cell.len()) as u32)
}

/// Refuses a row that is longer or shorter than the first. Some writers end each row with a delimiter.
#[inline]
pub(crate) fn check_width<'a>(
    cells: usize,
    columns: usize,
    cell: impl Fn(usize) -> &'a str,
) -> Result<(), Problem> {
    let fits = cells >= columns && (columns..cells).all(|at| cell(at).is_empty());
    if fits { Ok(()) } else { Err(Problem::Width { cells, columns }) }
}

/// The bounds of a cell without the quotation marks around it, if there are no others: between TABs these are data.
#[inline]
fn without_quotes(text: &str, (start, end): (u32, u32)) -> (u32, u32) {
    match text.as_bytes()[start as usize..end as usize] {
        [b'"', ref cell @ .., b'"'] if !cell.contains(&b'"') => (start + 1, end - 1),
        _ => (start, end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows, cells between bars, with the numbers of their lines; `!` for a bad row.
    fn read(text: &str, cells: CellSyntax, limit: usize) -> Vec<(u64, String)> {
        let input = Input::new(Box::new(text.as_bytes()));
        let mut rows = Rows::new(input, cells, false, limit);
        let mut all = Vec::new();
        loop {
            let row = match rows.next() {
                Ok(false) => return all,
                Ok(true) => (0..rows.len()).map(|at| rows.cell(at)).collect::<Vec<_>>().join("|"),
                Err(RowError::Row(_)) => "!".to_owned(),
                Err(RowError::Io(error)) => panic!("{error}"),
            };
            all.push((rows.number, row));
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &[(u64, &str)]) {
        let comma = CellSyntax::Delimited(Delimiter::Byte(b','));
        let rows = read(text, comma, 100);
        let rows: Vec<_> = rows.iter().map(|(number, row)| (*number, &**row)).collect();
        assert_eq!(rows, expected, "{text:?}");
    }

    #[test]
    fn delimited_rows() {
        check("\u{feff}a,b\r\n\r\n# c,d\n e , \u{e9} ,\n", &[(1, "a|b"), (4, "e|\u{e9}|")]);
        check("a", &[(1, "a")]);
        check(",", &[(1, "|")]);
    }

    #[test]
    fn quoted_cells() {
        check("\"a,b\",\"c \"\"d\"\"\"\nx,y\n", &[(1, "a,b|c \"d\""), (2, "x|y")]);
        check("a,\"b\r\n\n#c\",d\ne,f,g", &[(1, "a|b\n\n#c|d"), (4, "e|f|g")]);
        check("5\" disk,b\nc,d\n", &[(1, "5\" disk|b"), (2, "c|d")]);
        check("\"\",\"\"\"\"\n\"a\"b\"c,d\n", &[(1, "|\""), (2, "ab\"c|d")]);
        check("\"\u{e9}\",\"\u{20ac}\u{20ac}\"", &[(1, "\u{e9}|\u{20ac}\u{20ac}")]);
    }

    #[test]
    fn stray_quotation_marks_take_one_row() {
        check("\"a,b", &[(1, "!")]);
        let text = format!("\"a\n{}ok,ok\n", "0123456789\n".repeat(9));
        let mut expected = vec![(1, "!")];
        expected.extend((2..11).map(|number| (number, "0123456789")));
        expected.push((11, "ok|ok"));
        check(&text, &expected);
        check("a,\"b\nc,d\n\ne,\"f\"\ng,h\n", &[(1, "!"), (2, "c|d"), (4, "e|f"), (5, "g|h")]);
        check("a,\"b\nc\",\"d\ne,f\n", &[(1, "!"), (3, "e|f")]);
        check("a,\"b\n\0\nc,d\n", &[(1, "!"), (3, "c|d")]);
        check("a,\"b\n\" ,c\n\"d\" x,e\n", &[(1, "a|b|c"), (3, "d x|e")]);
    }

    #[test]
    fn words_and_whole_lines() {
        let space = CellSyntax::Delimited(Delimiter::Whitespace);
        assert_eq!(read(" a\tb  c # d\n", space, 99), [(1, "a|b|c".to_owned())]);
        let lines = "10.0.0.0/8 ; SBL1\n10.0.0.1 - 10.0.0.2 # x\n";
        let expected = [(1, "10.0.0.0/8".to_owned()), (2, "10.0.0.1 - 10.0.0.2".to_owned())];
        assert_eq!(read(lines, CellSyntax::One, 99), expected);
    }
}
