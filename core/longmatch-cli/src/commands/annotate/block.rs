//! A block of whole lines, scanned: its rows, and their addresses. The module `write` writes them again.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::Range;

use longmatch::NextHopId;
use longmatch_feed::printable;
use longmatch_feed::scan::address::parse_cell;
use longmatch_feed::scan::ndjson::{self, Field};
use longmatch_feed::scan::text;
use regex::bytes::Captures;

use super::csv::{Comments, Csv};
use super::plan::{Format, Plan};
use crate::lines::lines;

/// The problem of a cell that a quotation mark opens, and that has no proper end.
const STRAY: &str = "the quotation mark that begins a cell here has no counterpart before a delimiter or a line end: remove it, or double each one inside of a cell";
/// The problem of a header that differs from that before it.
const CHANGED: &str = "the columns change here, and a column with addresses is missing or an added name is taken: annotate each part by itself";
/// Greatest number of characters of a bad address in an error.
const MAX_SHOWN: usize = 60;

/// Counts of lines and of their addresses.
#[derive(Clone, Copy, Default, Debug)]
pub struct RowCounts {
    /// Lines or rows, without headers and empty lines.
    pub rows: u64,
    /// Rows' cells without an address, and lines of text without one.
    pub missing: u64,
    /// Cells that are not addresses, and lines that are not JSON objects.
    pub bad: u64,
    /// Addresses.
    pub addresses: u64,
    /// Rows that are printed.
    pub printed: u64,
    /// Rows with more or fewer cells than the header.
    pub ragged: u64,
}

impl RowCounts {
    /// Adds the counts of a block.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.missing += other.missing;
        self.bad += other.bad;
        self.addresses += other.addresses;
        self.printed += other.printed;
        self.ragged += other.ragged;
    }
}

/// The kind of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// A row, with this number of missing cells.
    Row(u32),
    /// An empty JSON object.
    EmptyObject,
    /// A header.
    Header,
    /// The types of the columns, in a log of Zeek.
    Types,
    /// Another line that belongs to the header of a log.
    Comment,
    /// A line that passes through: empty, or no JSON object.
    Other,
}

impl LineKind {
    /// Whether the line has data, so that a filter applies to it.
    pub fn is_data(self) -> bool {
        !matches!(self, Self::Header | Self::Types | Self::Comment)
    }
}

/// A line: where it begins, where cells are added and where the next line begins.
pub struct Mark {
    pub start: usize,
    pub insert: usize,
    pub next: usize,
    pub kind: LineKind,
}

/// The addresses of a block.
#[derive(Default)]
pub struct Addresses {
    /// The IPv4 addresses.
    pub ipv4: Vec<u32>,
    /// The IPv6 addresses.
    pub ipv6: Vec<u128>,
    /// An address for each source of each row, in order.
    pub slots: Vec<Slot>,
    /// The addresses of cells and arrays that have several, one after the other.
    elements: Vec<Slot>,
    /// The part of the elements of each such cell.
    lists: Vec<Range<usize>>,
}

/// An address of one row.
#[derive(Clone, Copy)]
pub enum Slot {
    /// None: the cell is missing or bad.
    None,
    /// The place of an IPv4 address.
    Ipv4(u32),
    /// The place of an IPv6 address.
    Ipv6(u32),
    /// The place of a list of addresses.
    List(u32),
}

impl Slot {
    /// Copies the ids of the address in each table.
    #[inline]
    pub fn matches(self, ids: &[[Vec<Option<NextHopId>>; 2]], matches: &mut [Option<NextHopId>]) {
        for (found, [ipv4, ipv6]) in matches.iter_mut().zip(ids) {
            *found = match self {
                Self::None | Self::List(_) => None,
                Self::Ipv4(i) => ipv4[i as usize],
                Self::Ipv6(i) => ipv6[i as usize],
            };
        }
    }
}

impl Addresses {
    /// Appends the address of a row.
    #[inline]
    pub fn push(&mut self, addr: Option<IpAddr>) {
        let slot = self.slot(addr);
        self.slots.push(slot);
    }

    /// Appends the addresses of a row that has several.
    pub fn push_list(&mut self, addrs: impl Iterator<Item = Option<IpAddr>>) {
        let start = self.elements.len();
        for addr in addrs {
            let slot = self.slot(addr);
            self.elements.push(slot);
        }
        self.slots.push(Slot::List(self.lists.len() as u32));
        self.lists.push(start..self.elements.len());
    }

    /// The addresses of a cell or array that has several.
    pub fn list(&self, slot: Slot) -> Option<&[Slot]> {
        match slot {
            Slot::List(list) => Some(&self.elements[self.lists[list as usize].clone()]),
            _ => None,
        }
    }

    #[inline]
    fn slot(&mut self, addr: Option<IpAddr>) -> Slot {
        match addr.map(|addr| addr.to_canonical()) {
            None => Slot::None,
            Some(IpAddr::V4(addr)) => {
                self.ipv4.push(addr.into());
                Slot::Ipv4(self.ipv4.len() as u32 - 1)
            }
            Some(IpAddr::V6(addr)) => {
                self.ipv6.push(addr.into());
                Slot::Ipv6(self.ipv6.len() as u32 - 1)
            }
        }
    }
}

/// The result of the scan of a block.
pub struct Scanned<'a> {
    pub bytes: &'a [u8],
    strict: bool,
    /// Whether every address of a line of text counts.
    any: bool,
    pub marks: Vec<Mark>,
    pub addresses: Addresses,
    pub counts: RowCounts,
    /// The beginning of the line at which the scan ended, and why.
    pub problem: Option<(usize, String)>,
}

/// Where a block is in the inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// The first block of the first input.
    First,
    /// The first block of another input, without its header.
    FirstOfNext,
    /// Any other block.
    Later,
}

/// Scans a block of whole lines.
pub fn scan<'a>(plan: &Plan, layout: &Format, bytes: &'a [u8], position: Position) -> Scanned<'a> {
    let mut scanned = Scanned {
        bytes,
        strict: plan.strict,
        any: plan.any,
        marks: Vec::new(),
        addresses: Addresses::default(),
        counts: RowCounts::default(),
        problem: None,
    };
    match layout {
        Format::Csv(csv) => scanned.csv(csv, &plan.sources, position),
        Format::Json(paths) => scanned.json(paths, &plan.sources),
        Format::Text(regexes) => scanned.text(regexes, &plan.sources),
    }
    scanned.counts.addresses = (scanned.addresses.ipv6.len() + scanned.addresses.ipv4.len()) as u64;
    scanned
}

impl<'a> Scanned<'a> {
    /// Records a cell. Returns false if the scan ends here.
    #[inline]
    fn cell(&mut self, start: usize, cell: Option<&[u8]>, source: &str) -> bool {
        let Some(cell) = cell.filter(|cell| !is_empty(cell)) else {
            self.counts.missing += 1;
            self.addresses.push(None);
            return self.refuse(start, || format!("{source}: no address"));
        };
        let addr = parse_cell(cell);
        if addr.is_none() && self.list(cell) {
            return true;
        }
        self.addresses.push(addr);
        if addr.is_some() {
            return true;
        }
        self.counts.bad += 1;
        self.refuse(start, || format!("{source}: {}", not_an_address(cell)))
    }

    /// Records a cell with addresses between commas, if one at least is an address.
    fn list(&mut self, cell: &[u8]) -> bool {
        let text =
            cell.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(cell);
        let addrs = || text.split(|byte| *byte == b',').map(parse_cell);
        let is_list = text.contains(&b',') && addrs().any(|addr| addr.is_some());
        if is_list {
            self.addresses.push_list(addrs());
        }
        is_list
    }

    /// With `--strict` records a problem of a line and returns false: the scan ends here.
    fn refuse(&mut self, start: usize, problem: impl FnOnce() -> String) -> bool {
        if self.strict {
            self.problem = Some((start, problem()));
        }
        !self.strict
    }

    fn mark(&mut self, start: usize, insert: usize, next: usize, kind: LineKind) {
        self.counts.rows += u64::from(matches!(kind, LineKind::Row(_) | LineKind::EmptyObject));
        self.marks.push(Mark { start, insert, next, kind });
    }

    /// The header is the first row of the first block, if there is one, and every row equal to it.
    fn csv(&mut self, csv: &Csv, sources: &[String], position: Position) {
        let mut found = vec![None::<Range<usize>>; csv.columns.len()];
        let bytes = self.bytes;
        let mut at = 0;
        while at < bytes.len() {
            let row = csv.row(bytes, at, &mut found);
            let (start, content) = (at, &bytes[at..row.end]);
            at = row.next;
            if let Some(quote) = row.stray {
                self.problem = Some((quote, STRAY.to_owned()));
                return;
            }
            if content.is_empty() {
                self.mark(start, row.end, row.next, LineKind::Other);
                continue;
            }
            if let Some(comments) = csv.comments.as_ref().filter(|_| content[0] == b'#') {
                if !self.comment(comments, start..row.end, row.next) {
                    return;
                }
                continue;
            }
            let is_first = position != Position::Later && start == 0 && csv.comments.is_none();
            if csv.header.as_ref().is_some_and(|header| is_first || **header == *content) {
                if position != Position::FirstOfNext || start > 0 {
                    self.mark(start, row.end, row.next, LineKind::Header);
                }
                continue;
            }
            self.counts.ragged += u64::from(row.cells != csv.width);
            for (source, order) in sources.iter().zip(&csv.order) {
                let cell = found[*order].clone();
                if !self.cell(start, cell.map(|cell| &bytes[cell]), source) {
                    return;
                }
            }
            let short = csv.width.saturating_sub(row.cells) as u32;
            self.mark(start, row.end, row.next, LineKind::Row(short));
        }
    }

    /// Records a line of the header of a log. Returns false if the columns change there.
    fn comment(&mut self, comments: &Comments, line: Range<usize>, next: usize) -> bool {
        let content = &self.bytes[line.clone()];
        let kind = match content {
            _ if *content.trim_ascii_end() == *comments.fields => LineKind::Header,
            _ if content.starts_with(comments.directive) => {
                self.problem = Some((line.start, CHANGED.to_owned()));
                return false;
            }
            _ if content.starts_with(b"#types\t") => LineKind::Types,
            _ => LineKind::Comment,
        };
        self.mark(line.start, line.end, next, kind);
        true
    }

    fn json(&mut self, paths: &[ndjson::Path], sources: &[String]) {
        let mut fields = vec![Field::Missing; paths.len()];
        for (start, end, next) in lines(self.bytes) {
            let line = &self.bytes[start..end];
            if line.trim_ascii().is_empty() {
                self.mark(start, end, next, LineKind::Other);
                continue;
            }
            let object = match ndjson::scan(line, paths, &mut fields) {
                Ok(object) => object,
                Err(damage) => {
                    self.counts.bad += 1;
                    self.counts.rows += 1;
                    self.mark(start, end, next, LineKind::Other);
                    if !self.refuse(start, || damage.to_string()) {
                        self.marks.pop();
                        return;
                    }
                    continue;
                }
            };
            if let Some(added) = paths[sources.len()..].get(taken(object.present, sources.len())) {
                let name = printable(&added.keys()[0]);
                let advice =
                    "name the added one otherwise with --as, --prefix-as, --rov-as or --flag";
                let problem = format!("the object has a member '{name}' already: {advice}");
                self.problem = Some((start, problem));
                return;
            }
            for (source, field) in sources.iter().zip(&fields) {
                let goes_on = match field {
                    Field::Each(fields) if fields.is_empty() => {
                        self.addresses.push_list(std::iter::empty());
                        true
                    }
                    Field::Each(fields) => {
                        let cells: Vec<_> =
                            fields.iter().map(|field| text_of(line, field)).collect();
                        self.each(start, &cells, source)
                    }
                    field => self.cell(start, text_of(line, field).as_deref(), source),
                };
                if !goes_on {
                    return;
                }
            }
            let kind = if object.is_empty { LineKind::EmptyObject } else { LineKind::Row(0) };
            self.mark(start, start + object.end, next, kind);
        }
    }

    /// Records the elements of an array, or the matches of an expression. Returns false if the scan ends here.
    fn each(&mut self, start: usize, cells: &[Option<Cow<'_, [u8]>>], source: &str) -> bool {
        let addrs: Vec<_> = cells.iter().map(|cell| parse_cell(cell.as_deref()?)).collect();
        if cells.len() > 1 && addrs.iter().any(Option::is_some) {
            self.addresses.push_list(addrs.into_iter());
            return true;
        }
        // All are bad or missing, as the first one is, or it is the only one.
        self.cell(start, cells.first().and_then(Option::as_deref), source)
    }

    fn text(&mut self, regexes: &[regex::bytes::Regex], sources: &[String]) {
        for (start, end, next) in lines(self.bytes) {
            let line = &self.bytes[start..end];
            if line.is_empty() {
                self.mark(start, end, next, LineKind::Other);
                continue;
            }
            if regexes.is_empty() {
                let found = text::first_address(line);
                if self.any
                    && let Some((range, addr)) = &found
                {
                    self.every(line, range.end, *addr);
                } else {
                    self.addresses.push(found.as_ref().map(|(_, addr)| *addr));
                }
                if found.is_none() {
                    self.counts.missing += 1;
                    if !self.refuse(start, || "no address on the line".to_owned()) {
                        return;
                    }
                }
            }
            for (regex, source) in regexes.iter().zip(sources) {
                let group = regex.captures_len().min(2) - 1;
                let goes_on = if self.any {
                    let cell =
                        |groups: Captures<'a>| Some(Cow::Borrowed(groups.get(group)?.as_bytes()));
                    let cells: Vec<_> = regex.captures_iter(line).map(cell).collect();
                    self.each(start, &cells, source)
                } else {
                    let found = match group {
                        0 => regex.find(line),
                        _ => regex.captures(line).and_then(|groups| groups.get(group)),
                    };
                    self.cell(start, found.map(|found| found.as_bytes()), source)
                };
                if !goes_on {
                    return;
                }
            }
            self.mark(start, end, next, LineKind::Row(0));
        }
    }
}

impl Scanned<'_> {
    /// Records the first address on a line and all after its end.
    fn every(&mut self, line: &[u8], end: usize, first: IpAddr) {
        let mut next = text::next_address(line, end);
        if next.is_none() {
            return self.addresses.push(Some(first));
        }
        let rest = std::iter::from_fn(|| {
            let (range, addr) = next.take()?;
            next = text::next_address(line, range.end);
            Some(Some(addr))
        });
        self.addresses.push_list(std::iter::once(Some(first)).chain(rest));
    }
}

/// The text of a field of a line.
#[inline]
fn text_of<'a>(line: &'a [u8], field: &Field) -> Option<Cow<'a, [u8]>> {
    match field {
        Field::Missing | Field::Each(_) => None,
        Field::Text(text, false) | Field::Other(text) => Some(Cow::Borrowed(&line[text.clone()])),
        Field::Text(text, true) => Some(match ndjson::unescape(line, text.clone()) {
            Some(decoded) => Cow::Owned(decoded.into_bytes()),
            None => Cow::Borrowed(&line[text.clone()]),
        }),
    }
}

/// The number of the first path after those of the sources that leads to a member; too great if none does.
#[inline]
fn taken(present: u64, sources: usize) -> usize {
    (present.checked_shr(sources as u32).unwrap_or(0)).trailing_zeros() as usize
}

/// The problem of a cell that is not an address.
pub fn not_an_address(cell: &[u8]) -> String {
    let shown = String::from_utf8_lossy(cell);
    let kept: String = shown.chars().take(MAX_SHOWN).collect();
    let dots = if kept.len() < shown.len() { "..." } else { "" };
    let is_number = cell.iter().all(u8::is_ascii_digit);
    let advice =
        if is_number { ": the byte order of a number is not known, write it as text" } else { "" };
    format!("'{}{dots}' is not an address{advice}", printable(&kept))
}

/// Whether a cell has no text, or the mark of logs for nothing.
#[inline]
pub fn is_empty(cell: &[u8]) -> bool {
    matches!(cell.trim_ascii(), [] | b"\"\"" | b"-" | b"\"-\"" | b"(empty)")
}
