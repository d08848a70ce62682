//! Recognition of formats by the first bytes, of a MaxMind DB by the last ones.
//!
//! Every command and every sink uses [`recognise`], so that a file has the same prefixes everywhere.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::net::IpAddr;

use longmatch::IpPrefix;

use crate::archive::Job;
use crate::codec::other_encoding;
use crate::data::key::{self, CellKind, Key};
use crate::data::layout::{TextLayout, resembles_key};
use crate::data::rows::{CellSyntax, RowError, Rows, check_width};
use crate::data::{compiled, json, mmdb};
use crate::decompress::explain;
use crate::error::{FeedError, Problem, shorten};
use crate::formats::Format;
use crate::input::Input;
use crate::mrt;
use crate::option_values::Delimiter;
use crate::options::Options;
use crate::source::{Opened, Source, whole};
use crate::text::{BOM, Rules, is_keyword, is_length, parse, type_name};

/// Bytes of an input that decide.
const LOOKAHEAD: usize = 64 << 10;
/// Lines or rows that decide.
const SAMPLE: usize = 200;

/// The format of an input.
pub(crate) enum Found {
    /// Rows of text.
    TextLayout(TextLayout),
    /// A format that is read as a whole: JSON, MaxMind DB, compiled tables.
    Whole(Format),
    /// Routes, and whether they have AS paths.
    Routes(Format, bool),
}

/// Recognises the format of an input, unless the options name it.
///
/// Binary formats come first: a compiled table by its first bytes, a MaxMind DB by the marker near its end, because its
/// search tree may begin like MRT, and MRT by its first two records.
pub(crate) fn recognise(opened: &mut Opened<'_>, job: &Job<'_>) -> Result<Found, FeedError> {
    let named = job.options.format;
    let limits = job.options.limits;
    if let Some(found) = recognise_text(opened, job.options)? {
        return Ok(found);
    }
    let marked = match (job.source, opened.codec) {
        (Source::Bytes(bytes), None) => mmdb::looks_like(bytes),
        (Source::Path(path), None) => tail(path).is_ok_and(|tail| mmdb::looks_like(&tail)),
        _ if mrt::begins(&mut opened.input, limits.record) == Some(true) => false,
        _ => mmdb::looks_like(&whole(&mut job.open()?, limits.spool)?),
    };
    if marked && matches!(named, Format::Auto) {
        return Ok(Found::Whole(Format::Mmdb));
    }
    let is_mrt = mrt::begins(&mut opened.input, limits.record).is_some()
        || mrt::looks_like(opened.input.window());
    match named {
        Format::Auto | Format::Routes if is_mrt => Ok(Found::Routes(Format::Mrt, true)),
        _ => {
            let name = other_format(opened.input.window());
            let problem = name.map_or(Problem::UnknownFormat, |name| Problem::OtherFormat { name });
            Err(FeedError::byte(0, problem))
        }
    }
}

/// The last bytes of a file, in which the marker of a MaxMind DB is.
fn tail(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(mmdb::METADATA as u64)))?;
    let mut bytes = Vec::new();
    file.take(mmdb::METADATA as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The name of a known format that has no reader here, with a way to one that has.
fn other_format(head: &[u8]) -> Option<&'static str> {
    if let Some(name) = other_encoding(head) {
        return Some(name);
    }
    Some(match head {
        _ if has_colours(head) => {
            "text with colours of a terminal: print it without (ip -c=never) or remove them (sed 's/\\x1b\\[[0-9;]*m//g')"
        }
        [b'P', b'A', b'R', b'1', ..] => "Parquet: export the columns as CSV",
        _ => return None,
    })
}

/// Whether a text sets colours of a terminal: `ESC [`, numbers and `m`. Cells may have other sequences.
fn has_colours(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"\x1b[").any(|at| {
        let mut rest = text[at + 2..].iter();
        rest.find(|byte| !byte.is_ascii_digit() && **byte != b';') == Some(&b'm')
    })
}

/// Recognises a format of text, and those that an option names; `None` for binary formats that the first bytes do not
/// show.
pub(crate) fn recognise_text(
    opened: &mut Opened<'_>,
    options: &Options,
) -> Result<Option<Found>, FeedError> {
    let whole = FeedError::whole;
    let named = options.format;
    match named {
        Format::Mmdb | Format::Compiled => return Ok(Some(Found::Whole(named))),
        Format::Mrt => return Ok(Some(Found::Routes(named, true))),
        Format::IpJson => return Ok(Some(Found::Routes(named, false))),
        _ => {}
    }
    let input = &mut opened.input;
    let have = input.fill(LOOKAHEAD);
    if compiled::looks_like(input.window()) {
        return Ok(Some(Found::Whole(Format::Compiled)));
    }
    if have == 0
        && let Some(error) = input.take_error()
    {
        return Err(FeedError::byte(0, explain(error, opened.codec)));
    }
    let head = &input.window()[..have.min(LOOKAHEAD)];
    let is_binary = head[..head.len().min(mrt::HEADER_LEN)].contains(&0)
        || other_format(head).is_some()
        || mrt::begins(&mut opened.input, options.limits.record).is_some();
    if is_binary && matches!(named, Format::Auto | Format::Routes) {
        return Ok(None);
    }
    let window = opened.input.window();
    let head = &window[..window.len().min(LOOKAHEAD)];
    if let Some(end) = head.iter().position(|byte| *byte == b'\r')
        && !head.contains(&b'\n')
        && end + 1 < head.len()
    {
        return Err(whole(Problem::CarriageReturns));
    }
    text(head, have < LOOKAHEAD, options).map(Some).map_err(whole)
}

/// Recognises a text by its first bytes; `ends` says whether these are all.
fn text(head: &[u8], ends: bool, options: &Options) -> Result<Found, Problem> {
    let head = head.strip_prefix(BOM).unwrap_or(head);
    // Ignore a truncated last line.
    let cut = memchr::memrchr(b'\n', head).filter(|_| !ends);
    let head = cut.map_or(head, |end| &head[..=end]);
    let lines = Lines::of(head);
    if let Some(found) = named(head, &lines, options)? {
        return Ok(found);
    }
    let semicolons = lines.semicolons;
    if lines.list.is_empty() || lines.are_list() {
        return Ok(Found::TextLayout(TextLayout::list(semicolons)));
    }
    if json::looks_like(head) {
        return Ok(Found::Whole(Format::Json));
    }
    if is_array_of_objects(head) {
        return Ok(Found::Routes(Format::IpJson, false));
    }
    if let Some(format) = Format::of_listing(&lines.list) {
        return Ok(Found::TextLayout(TextLayout::listing(format)));
    }
    if lines.are_texts() && !candidates(head, semicolons, options).any(|found| found.is_certain) {
        return Ok(Found::TextLayout(TextLayout::texts(semicolons)));
    }
    // The parser of routes knows no comments with semicolons.
    if !semicolons && lines.are(is_route_line) {
        return lines.routes(head);
    }
    match delimited(head, &lines, options) {
        // Lines that begin with addresses are a list or routes, so that the first wrong line is the error.
        Err(Problem::UnknownText) if !semicolons && lines.begin_with_addresses() => {
            let is_item = |line: &str| is_list_line(line, semicolons);
            let is_route = |line: &str| is_route_line(line) && !is_item(line);
            let any = |is: &dyn Fn(&str) -> bool| lines.list.iter().any(|line| is(line));
            Ok(match any(&is_item) && !any(&is_route) {
                true => Found::TextLayout(TextLayout::list(semicolons)),
                false => Found::Routes(Format::Routes, has_paths(head)),
            })
        }
        found => found.map(Found::TextLayout),
    }
}

/// Whether a text begins as an array of objects, which may be empty, and not as an IPv6 address in brackets.
fn is_array_of_objects(head: &[u8]) -> bool {
    let array = head.trim_ascii_start().strip_prefix(b"[").unwrap_or(b"1");
    matches!(array.trim_ascii_start(), [] | [b'{' | b']', ..])
}

/// The format that the options name, or that follows from options of columns.
fn named(head: &[u8], lines: &Lines<'_>, options: &Options) -> Result<Option<Found>, Problem> {
    let words =
        |key, names: &[&str]| Found::TextLayout(TextLayout::words(options.format, key, names));
    Ok(Some(match options.format {
        Format::PyAsn => words(Key::One(0), &["prefix", "asn"]),
        Format::Pfx2As => words(Key::Length(0, 1), &["address", "length", "asn"]),
        Format::List => Found::TextLayout(TextLayout::list(lines.semicolons)),
        Format::Text => Found::TextLayout(TextLayout::texts(lines.semicolons)),
        Format::Json => Found::Whole(Format::Json),
        Format::Routes if is_array_of_objects(head) => Found::Routes(Format::IpJson, false),
        Format::Routes => Found::Routes(Format::Routes, has_paths(head)),
        Format::Csv => Found::TextLayout(delimited(head, lines, options)?),
        listing if listing.listing().is_some() => Found::TextLayout(TextLayout::listing(listing)),
        _ => {
            let of_rows = options.delimiter.is_some() || options.header.is_some();
            if !of_rows && options.prefix.is_empty() {
                return Ok(None);
            }
            if !of_rows && json::looks_like(head) {
                return Ok(Some(Found::Whole(Format::Json)));
            }
            Found::TextLayout(delimited(head, lines, options)?)
        }
    }))
}

/// Whether the first line that is not a comment is one of `bgpdump -m`.
pub(crate) fn has_paths(head: &[u8]) -> bool {
    let lines = Lines::of(head.strip_prefix(BOM).unwrap_or(head));
    lines
        .list
        .first()
        .is_some_and(|line| ["TABLE_DUMP", "BGP4MP"].iter().any(|it| line.starts_with(it)))
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

    /// Whether the lines are prefixes, each with a text of one word or more; a quarter of the
    /// texts, and at least two, have several words. A second word that is an address makes a range.
    fn are_texts(&self) -> bool {
        let several = self.list.iter().filter(|line| is_text_line(line)).count();
        let is_text = |line: &str| {
            let mut words = line.split_ascii_whitespace().map(CellKind::of);
            let is_key = words.next().is_some_and(CellKind::is_key);
            is_key && words.next().is_some_and(|kind| !kind.is_key()) && !has_spaced_length(line)
        };
        several >= 2
            && 4 * several >= self.list.len()
            && self.list.iter().all(|line| is_text(line))
            && self.list.iter().all(|line| is_text_line(line) || is_route_line(line))
    }

    /// Whether the first line is a route or begins with something like an address.
    fn begin_with_addresses(&self) -> bool {
        self.list.first().is_some_and(|line| is_route_line(line) || resembles_key(word(line)))
    }

    /// Whether the lines are a list: half of them, and nearly all if others are routes.
    fn are_list(&self) -> bool {
        let is_item = |line: &str| is_list_line(line, self.semicolons);
        let list = self.list.iter().filter(|line| is_item(line)).count();
        let is_route = |line: &str| is_route_line(line) && !is_item(line);
        self.are(is_item)
            && (10 * list >= 9 * self.list.len() || !self.list.iter().any(|line| is_route(line)))
    }

    /// The format of lines of routes, unless their words have another meaning too.
    fn routes(&self, head: &[u8]) -> Result<Found, Problem> {
        let pairs: Vec<_> = self.list.iter().filter_map(|line| pair(line)).collect();
        if let Some(text) = self.two_prefixes() {
            let text = shorten(text);
            return Err(Problem::SeveralColumns { text, columns: vec!["1".into(), "2".into()] });
        }
        match meaning(&pairs) {
            _ if pairs.len() < self.list.len() => {}
            Meaning::Routes => {}
            Meaning::Lengths => {
                let names = ["address", "length"];
                return Ok(Found::TextLayout(TextLayout::words(
                    Format::Csv,
                    Key::Length(0, 1),
                    &names,
                )));
            }
            Meaning::Unclear(error) => return Err(error),
        }
        Ok(Found::Routes(Format::Routes, has_paths(head)))
    }

    /// The first line with two prefixes, if a tenth of the lines have two. A prefix may be its own next hop.
    fn two_prefixes(&self) -> Option<&'a str> {
        let has_two = |line: &&&str| {
            let mut words = line.split_ascii_whitespace();
            let (first, second) = (words.next(), words.next());
            first != second
                && first.is_some_and(|word| CellKind::of(word).is_key())
                && second.is_some_and(|word| CellKind::of(word) == CellKind::Prefix)
        };
        let mut lines = self.list.iter().filter(has_two);
        let first = lines.next()?;
        (10 * (1 + lines.count()) >= self.list.len()).then_some(first)
    }

    /// Whether the lines are of a kind: half of them, and the first unless it is damaged.
    fn are(&self, is: impl Fn(&str) -> bool) -> bool {
        let Some(first) = self.list.first() else { return false };
        let word = first.split_ascii_whitespace().next().unwrap_or("");
        (is(first) || resembles_key(word))
            && 2 * self.list.iter().filter(|line| is(line)).count() >= self.list.len()
    }
}

/// Whether the second word of a line begins with a slash, as a length after white space does.
fn has_spaced_length(line: &str) -> bool {
    line.split_ascii_whitespace().nth(1).is_some_and(|word| word == "/" || is_length(word))
}

/// Whether a line is a prefix with a text of several words.
fn is_text_line(line: &str) -> bool {
    let rules = Rules { mask_host_bits: true, default_family: None };
    matches!(parse(line, rules), Err(Problem::Trailing { .. }))
}

/// Whether a line is a prefix, an address or a range, perhaps with a comment.
fn is_list_line(line: &str, semicolons: bool) -> bool {
    let (item, comment) = line.split_at(key::end_of_item(line, semicolons));
    // An address after a semicolon is a cell.
    let is_cell =
        |text: &str| CellKind::of(text.split(';').next().unwrap_or("").trim_ascii()).is_key();
    CellKind::of(item.trim_ascii()).is_key()
        && (semicolons || !comment.strip_prefix(';').is_some_and(is_cell))
}

/// Whether a line is a route, or one with a wrong netmask or without its next hop. A number and a prefix may be two columns, unless an
/// attribute shows that the number is a type of route.
fn is_route_line(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    if words.next().is_some_and(|first| type_name(first) != first)
        && !words.nth(1).is_some_and(is_keyword)
    {
        return false;
    }
    let rules = Rules { mask_host_bits: true, default_family: None };
    matches!(parse(line, rules), Ok(_) | Err(Problem::Netmask { .. } | Problem::MissingNextHop))
}

/// The first word of a line.
fn word(line: &str) -> &str {
    line.split_ascii_whitespace().next().unwrap_or("")
}

/// The address and the second word of a line that has no third one.
fn pair(line: &str) -> Option<(IpAddr, &str)> {
    let mut words = line.split_ascii_whitespace();
    let (addr, second) = (words.next()?.parse().ok()?, words.next()?);
    words.next().is_none_or(|word| word.starts_with('#')).then_some((addr, second))
}

/// The meaning of lines of an address and another word.
enum Meaning {
    /// A host, or a network with its netmask, and the next hop.
    Routes,
    /// An address and the length of its prefix.
    Lengths,
    /// It cannot be known.
    Unclear(Problem),
}

/// The columns of lines of two words.
const FIRST_TWO: &str = "1,2";

/// The meaning of all lines of a file. One line alone does not show it.
fn meaning(pairs: &[(IpAddr, &str)]) -> Meaning {
    let Some((first, second)) = pairs.first() else { return Meaning::Routes };
    let text = format!("{first} {second}");
    let length = |(addr, second): &&(IpAddr, &str)| {
        second.parse().is_ok_and(|len| IpPrefix::new(*addr, len).is_ok())
    };
    let is_netmask = |(addr, second): &(IpAddr, &str)| {
        second.parse().is_ok_and(|mask| key::is_netmask(*addr, mask))
    };
    if pairs.iter().all(is_netmask) {
        return Meaning::Lengths;
    }
    match pairs.iter().filter(length).count() {
        all if all == pairs.len() && all > 1 => return Meaning::Lengths,
        some if 10 * some >= pairs.len() && some > 0 => {
            return Meaning::Unclear(Problem::LengthOrNextHop { text, columns: FIRST_TWO.into() });
        }
        _ => {}
    }
    // Ends of ranges that follow one another: gateways are mostly the same for many hosts.
    let mut last = None;
    let in_order = pairs.iter().all(|(first, second)| {
        let Ok(end) = second.parse::<IpAddr>() else { return false };
        let fits = first.is_ipv4() == end.is_ipv4() && *first <= end && last < Some(*first);
        last = Some(end);
        fits && !key::is_netmask(*first, end)
    });
    match in_order {
        true => Meaning::Unclear(Problem::RangeOrNextHop { text, columns: FIRST_TWO.into() }),
        false => Meaning::Routes,
    }
}

/// A layout that a text may have.
struct Candidate {
    /// The layout, or the reason why its columns are unclear.
    layout: Result<TextLayout, Problem>,
    /// Whether all rows have as many cells as the first, at least two.
    is_certain: bool,
}

/// The layouts for each delimiter that gives a column of prefixes.
fn candidates<'a>(
    head: &'a [u8],
    semicolons: bool,
    options: &'a Options,
) -> impl Iterator<Item = Candidate> + 'a {
    let all = [b'\t', b',', b';', b'|'].map(Delimiter::Byte);
    let all = all.into_iter().chain([Delimiter::Whitespace]);
    let all = all.filter(move |_| options.delimiter.is_none()).chain(options.delimiter);
    all.filter_map(move |delimiter| {
        let cells = CellSyntax::Delimited(delimiter);
        let semicolons = semicolons && delimiter != Delimiter::Byte(b';');
        let rows = rows(head, cells, semicolons, options.limits.row);
        let width = rows.first()?.len();
        let fits = |row: &&Vec<String>| check_width(row.len(), width, |at| &row[at]).is_ok();
        let even = rows.iter().filter(fits).count();
        // The words of one name are not columns.
        let of_words = delimiter == Delimiter::Whitespace && rows.len() > 1;
        if of_words && 2 * even < rows.len() + 1 {
            return None;
        }
        let layout = TextLayout::of_rows(&rows, cells, semicolons, options);
        let is_possible = layout.as_ref().map_or_else(Problem::is_unclear, |_| true);
        is_possible
            .then_some(Candidate { layout, is_certain: width > 1 && 10 * even >= 9 * rows.len() })
    })
}

/// The layout of text with a delimiter.
fn delimited(head: &[u8], lines: &Lines<'_>, options: &Options) -> Result<TextLayout, Problem> {
    let mut best = None;
    for found in candidates(head, lines.semicolons, options) {
        if found.is_certain {
            return found.layout;
        }
        // A single column is the last resort.
        let Ok(layout) = found.layout else { continue };
        let width = layout.names.len();
        if best.as_ref().is_none_or(|best: &TextLayout| best.names.len() < 2 && width > 1) {
            best = Some(layout);
        }
    }
    match best {
        Some(layout) => Ok(layout),
        None => Err(no_layout(head, lines, options)),
    }
}

/// The reason why a text has no layout.
fn no_layout(head: &[u8], lines: &Lines<'_>, options: &Options) -> Problem {
    let first = lines.list.first().copied().unwrap_or("");
    let count = |byte: u8| memchr::memchr_iter(byte, first.as_bytes()).count();
    let likely = [b'\t', b',', b';', b'|'].into_iter().max_by_key(|byte| count(*byte));
    let likely = likely.filter(|byte| count(*byte) > 0).map(Delimiter::Byte);
    let delimiter = options.delimiter.or(likely).unwrap_or(Delimiter::Whitespace);
    let cells = CellSyntax::Delimited(delimiter);
    let rows = rows(head, cells, lines.semicolons, options.limits.row);
    match TextLayout::of_rows(&rows, cells, lines.semicolons, options) {
        // Text of one column, or of any words, is not a table at all.
        Err(Problem::NoPrefixColumn { columns })
            if columns.len() < 2
                || (delimiter == Delimiter::Whitespace && options.delimiter.is_none()) =>
        {
            Problem::UnknownText
        }
        Err(error) => error,
        Ok(_) => Problem::UnknownText,
    }
}

/// The first rows of a text.
fn rows(head: &[u8], cells: CellSyntax, semicolons: bool, limit: usize) -> Vec<Vec<String>> {
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
