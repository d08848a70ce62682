//! Recognition of formats by the first bytes.

use super::error::DataError;
use super::json;
use super::key::{Key, Kind};
use super::listing::Listing;
use super::options::{DataFormat, DataOptions, Delimiter};
use super::rows::{Cells, RowError, Rows};
use super::shape::{Shape, resembles_key};
use crate::input::Input;
use crate::options::Format;
use crate::text::error::LineError;
use crate::text::{BOM, Rules, parse};

/// Bytes of an input that decide.
pub(crate) const LOOKAHEAD: usize = 64 << 10;
/// Lines or rows that decide.
const SAMPLE: usize = 200;

/// What an input of text is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Text {
    Shape(Shape),
    /// Objects with prefixes.
    Json,
    /// Routes, for the parser of this format.
    Routes(Format),
}

/// Recognises a text by its first bytes; `ends` says whether these are all.
pub(crate) fn text(head: &[u8], ends: bool, options: &DataOptions) -> Result<Text, DataError> {
    let head = head.strip_prefix(BOM).unwrap_or(head);
    // A line that is cut off tells nothing.
    let cut = memchr::memrchr(b'\n', head).filter(|_| !ends);
    let head = cut.map_or(head, |end| &head[..=end]);
    let lines = Lines::of(head);
    let semicolons = lines.semicolons;
    let words = |format, key, names: &[&str]| Ok(Text::Shape(Shape::words(format, key, names)));
    match options.format {
        DataFormat::PyAsn => return words(DataFormat::PyAsn, Key::One(0), &["prefix", "asn"]),
        DataFormat::Pfx2As => {
            let names = ["address", "length", "asn"];
            return words(DataFormat::Pfx2As, Key::Length(0, 1), &names);
        }
        DataFormat::List => return Ok(Text::Shape(Shape::list(semicolons))),
        DataFormat::Texts => return Ok(Text::Shape(Shape::texts(semicolons))),
        DataFormat::Listing => {
            let listing = Listing::of(&lines.list).ok_or(DataError::UnknownFormat)?;
            return Ok(Text::Shape(Shape::listing(listing)));
        }
        DataFormat::Json => return Ok(Text::Json),
        DataFormat::Routes => return Ok(Text::Routes(routes_format(head))),
        DataFormat::Delimited => return delimited(head, &lines, options).map(Text::Shape),
        _ => {}
    }
    let named = options.delimiter.is_some() || options.header.is_some();
    if named || !options.prefix.is_empty() {
        if options.delimiter.is_none() && options.header.is_none() && json::looks_like(head) {
            return Ok(Text::Json);
        }
        return delimited(head, &lines, options).map(Text::Shape);
    }
    if lines.list.is_empty() || lines.are(is_list_line) {
        return Ok(Text::Shape(Shape::list(semicolons)));
    }
    if json::looks_like(head) {
        return Ok(Text::Json);
    }
    if head.trim_ascii_start().starts_with(b"[") {
        return Ok(Text::Routes(Format::Json));
    }
    if let Some(listing) = Listing::of(&lines.list) {
        return Ok(Text::Shape(Shape::listing(listing)));
    }
    if lines.are_texts() && !candidates(head, semicolons, options).any(|found| found.is_certain) {
        return Ok(Text::Shape(Shape::texts(semicolons)));
    }
    // The parser of routes knows no comments with semicolons.
    if !semicolons && lines.are(is_route_line) {
        return Ok(Text::Routes(Format::Text));
    }
    let shape = candidates(head, semicolons, options).find(|shape| shape.is_certain);
    match shape {
        Some(found) if found.shape.cells != WORDS => Ok(Text::Shape(found.shape)),
        _ => delimited(head, &lines, options).map(Text::Shape),
    }
}

/// Whether an input of the loaders of routes is prefix data.
///
/// A damaged file of routes is still one of routes: a single complete route among the first lines makes
/// it that, and text is prefix data only if its shape is beyond doubt.
pub(crate) fn is_data(head: &[u8], ends: bool) -> bool {
    let options = DataOptions::default();
    let begin = head.strip_prefix(BOM).unwrap_or(head);
    let lines = Lines::of(begin);
    let is_texts = lines.are_texts();
    let is_route = |line: &str| is_route_line(line) && !is_list_line(line);
    if !is_texts && !lines.semicolons && lines.list.iter().any(|line| is_route(line)) {
        return false;
    }
    let shape = match text(head, ends, &options) {
        Ok(Text::Shape(shape)) => shape,
        Ok(Text::Json) => return true,
        _ => return false,
    };
    match shape.cells {
        Cells::Delimited(delimiter) => {
            // One line with too many words is a damaged route.
            (delimiter != Delimiter::Whitespace || lines.semicolons || lines.list.len() > 1)
                && candidates(begin, lines.semicolons, &options)
                    .any(|found| found.is_certain && found.shape.cells == shape.cells)
        }
        _ => !lines.list.is_empty(),
    }
}

/// Whether the first line that is no comment is one of `bgpdump -m`.
pub(crate) fn has_paths(head: &[u8]) -> bool {
    let lines = Lines::of(head.strip_prefix(BOM).unwrap_or(head));
    lines
        .list
        .first()
        .is_some_and(|line| ["TABLE_DUMP", "BGP4MP"].iter().any(|it| line.starts_with(it)))
}

/// The format of routes of a text.
fn routes_format(head: &[u8]) -> Format {
    if head.trim_ascii_start().starts_with(b"[") { Format::Json } else { Format::Text }
}

/// The first lines that are neither blank nor comments.
struct Lines<'a> {
    list: Vec<&'a str>,
    /// Whether comments begin with a semicolon.
    semicolons: bool,
}

impl<'a> Lines<'a> {
    fn of(head: &'a [u8]) -> Self {
        let lines = head.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
        let lines = lines.map(str::trim_ascii).filter(|line| !line.is_empty());
        let semicolons = lines.clone().take(SAMPLE).any(|line| line.starts_with(';'));
        let lines = lines.filter(|line| !line.starts_with('#'));
        let list = lines.filter(|line| !line.starts_with(';')).take(SAMPLE).collect();
        Self { list, semicolons }
    }

    /// Whether the lines are prefixes, each with a text: all of one word or more, a quarter and at
    /// least two of several words. The second word is no address: these are ranges.
    fn are_texts(&self) -> bool {
        let several = self.list.iter().filter(|line| is_text_line(line)).count();
        let is_text = |line: &str| {
            let mut words = line.split_ascii_whitespace().map(Kind::of);
            let is_key = words.next().is_some_and(Kind::is_key);
            is_key && words.next().is_some_and(|kind| !kind.is_key())
        };
        several >= 2
            && 4 * several >= self.list.len()
            && self.list.iter().all(|line| is_text(line))
            && self.list.iter().all(|line| is_text_line(line) || is_route_line(line))
    }

    /// Whether the lines are of a kind: half of them, and the first unless it is damaged.
    fn are(&self, is: impl Fn(&str) -> bool) -> bool {
        let Some(first) = self.list.first() else { return false };
        let word = first.split_ascii_whitespace().next().unwrap_or("");
        (is(first) || resembles_key(word))
            && 2 * self.list.iter().filter(|line| is(line)).count() >= self.list.len()
    }
}

/// Whether a line is a prefix with a text of several words.
fn is_text_line(line: &str) -> bool {
    let rules = Rules { mask_host_bits: true, default_family: None };
    matches!(parse(line, rules), Err(LineError::Trailing { .. }))
}

/// Whether a line is a prefix, an address or a range, perhaps with a comment.
fn is_list_line(line: &str) -> bool {
    let end = line.find(['#', ';']).unwrap_or(line.len());
    Kind::of(line[..end].trim_ascii()).is_key()
}

/// Whether a line is a route.
fn is_route_line(line: &str) -> bool {
    parse(line, Rules { mask_host_bits: true, default_family: None }).is_ok()
}

const WORDS: Cells = Cells::Delimited(Delimiter::Whitespace);

/// A shape that a text may have.
struct Candidate {
    shape: Shape,
    /// Whether all rows have as many cells as the first, at least two.
    is_certain: bool,
}

/// The shapes for each delimiter that gives a column of prefixes.
fn candidates<'a>(
    head: &'a [u8],
    semicolons: bool,
    options: &'a DataOptions,
) -> impl Iterator<Item = Candidate> + 'a {
    let all = [b'\t', b',', b';', b'|'].map(Delimiter::Byte);
    let all = all.into_iter().chain([Delimiter::Whitespace]);
    let all = all.filter(move |_| options.delimiter.is_none()).chain(options.delimiter);
    all.filter_map(move |delimiter| {
        let cells = Cells::Delimited(delimiter);
        let semicolons = semicolons && delimiter != Delimiter::Byte(b';');
        let rows = rows(head, cells, semicolons, options.input.limits.row);
        let width = rows.first()?.len();
        let even = rows.iter().filter(|row| row.len() == width).count();
        let shape = Shape::of_rows(&rows, cells, semicolons, options).ok()?;
        Some(Candidate { shape, is_certain: width > 1 && 10 * even >= 9 * rows.len() })
    })
}

/// The shape of text with a delimiter.
fn delimited(head: &[u8], lines: &Lines<'_>, options: &DataOptions) -> Result<Shape, DataError> {
    let mut best = None;
    for found in candidates(head, lines.semicolons, options) {
        if found.is_certain {
            return Ok(found.shape);
        }
        // A single column is the last resort.
        let width = found.shape.names.len();
        if best.as_ref().is_none_or(|best: &Shape| best.names.len() < 2 && width > 1) {
            best = Some(found.shape);
        }
    }
    match best {
        Some(shape) => Ok(shape),
        None => Err(no_shape(head, lines, options)),
    }
}

/// The reason why a text has no shape.
fn no_shape(head: &[u8], lines: &Lines<'_>, options: &DataOptions) -> DataError {
    let first = lines.list.first().copied().unwrap_or("");
    let count = |byte: u8| memchr::memchr_iter(byte, first.as_bytes()).count();
    let likely = [b'\t', b',', b';', b'|'].into_iter().max_by_key(|byte| count(*byte));
    let likely = likely.filter(|byte| count(*byte) > 0).map(Delimiter::Byte);
    let delimiter = options.delimiter.or(likely).unwrap_or(Delimiter::Whitespace);
    let cells = Cells::Delimited(delimiter);
    let rows = rows(head, cells, lines.semicolons, options.input.limits.row);
    match Shape::of_rows(&rows, cells, lines.semicolons, options) {
        // Text of one column, or of any words, is not a table at all.
        Err(DataError::NoPrefixColumn { columns })
            if columns.len() < 2
                || (delimiter == Delimiter::Whitespace && options.delimiter.is_none()) =>
        {
            DataError::UnknownFormat
        }
        Err(error) => error,
        Ok(_) => DataError::UnknownFormat,
    }
}

/// The first rows of a text.
fn rows(head: &[u8], cells: Cells, semicolons: bool, limit: usize) -> Vec<Vec<String>> {
    let mut rows = Rows::new(Input::new(Box::new(head)), cells, semicolons, limit);
    let mut all = Vec::new();
    while all.len() < SAMPLE {
        match rows.next() {
            Ok(true) => all.push((0..rows.len()).map(|at| rows.cell(at).to_owned()).collect()),
            Ok(false) | Err(RowError::Io(_)) => break,
            Err(RowError::Row(_)) => {}
        }
    }
    all
}
