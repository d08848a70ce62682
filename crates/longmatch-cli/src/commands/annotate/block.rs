//! A block of whole lines: scanned, looked up and written again with what is added.

use std::net::IpAddr;
use std::ops::Range;

use longmatch::NextHopId;
use longmatch_feed::compress;
use longmatch_feed::scan::address::parse_cell;
use longmatch_feed::scan::ndjson::{self, Field};
use longmatch_feed::scan::{csv, text};
use longmatch_feed::{Codec, printable};

use super::plan::{Csv, Format, Plan};
use crate::lines::lines;

/// Greatest number of characters of a bad address in an error.
const MAX_SHOWN: usize = 60;

/// Counts of lines and of their addresses.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    /// Lines or rows, without headers and empty lines.
    pub rows: u64,
    /// Addresses that are missing, and lines of text without one.
    pub missing: u64,
    /// Cells that are no address, and lines that are no JSON object.
    pub bad: u64,
    /// Rows that are printed.
    pub printed: u64,
    /// Rows with more or fewer cells than the header.
    pub ragged: u64,
}

impl Counts {
    /// Adds the counts of a block.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.missing += other.missing;
        self.bad += other.bad;
        self.printed += other.printed;
        self.ragged += other.ragged;
    }
}

/// A block with what was added.
#[derive(Default)]
pub struct Annotated {
    /// The output, compressed if it is to be.
    pub output: Vec<u8>,
    /// The counts of the block.
    pub counts: Counts,
    /// Number of line ends.
    pub lines: u64,
    /// The number of line ends before a problem, and the problem.
    pub problem: Option<(u64, String)>,
    /// An error of reading, or of compression.
    pub error: Option<String>,
}

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A row, with this number of missing cells.
    Row(u32),
    /// An empty JSON object.
    EmptyObject,
    /// A header.
    Header,
    /// A line that passes through: empty, or no JSON object.
    Other,
}

/// A line: where it begins, where something is added and where the next line begins.
struct Mark {
    start: usize,
    insert: usize,
    next: usize,
    kind: Kind,
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
}

impl Slot {
    /// Copies the ids of the address in each table.
    #[inline]
    pub fn matches(self, ids: &[[Vec<Option<NextHopId>>; 2]], matches: &mut [Option<NextHopId>]) {
        for (found, [ipv4, ipv6]) in matches.iter_mut().zip(ids) {
            *found = match self {
                Self::None => None,
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
        let slot = match addr.map(|addr| addr.to_canonical()) {
            None => Slot::None,
            Some(IpAddr::V4(addr)) => {
                self.ipv4.push(addr.into());
                Slot::Ipv4(self.ipv4.len() as u32 - 1)
            }
            Some(IpAddr::V6(addr)) => {
                self.ipv6.push(addr.into());
                Slot::Ipv6(self.ipv6.len() as u32 - 1)
            }
        };
        self.slots.push(slot);
    }
}

/// What the scan of a block finds.
struct Scanned<'a> {
    bytes: &'a [u8],
    strict: bool,
    marks: Vec<Mark>,
    addresses: Addresses,
    counts: Counts,
    /// The beginning of the line at which the scan ended, and why.
    problem: Option<(usize, String)>,
}

/// Annotates a block of whole lines. `first` is true for the first block of the input.
pub fn annotate(plan: &Plan, bytes: &[u8], first: bool) -> Annotated {
    let mut scanned = Scanned {
        bytes,
        strict: plan.strict,
        marks: Vec::new(),
        addresses: Addresses::default(),
        counts: Counts::default(),
        problem: None,
    };
    match &plan.format {
        Format::Csv(csv) => scanned.csv(csv, &plan.sources, first),
        Format::Json(paths) => scanned.json(paths, &plan.sources),
        Format::Text(regexes) => scanned.text(regexes, &plan.sources),
    }
    let mut output = Vec::with_capacity(bytes.len() + bytes.len() / 2);
    let mut counts = scanned.counts;
    write(plan, &scanned, &mut counts, &mut output);
    let count_lines = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
    let lines = count_lines(bytes);
    let problem = scanned.problem.map(|(at, problem)| (count_lines(&bytes[..at]), problem));
    let mut annotated = Annotated { output, counts, lines, problem, error: None };
    annotated.compress(plan.codec);
    annotated
}

impl Annotated {
    /// Compresses the output by itself.
    fn compress(&mut self, codec: Option<Codec>) {
        let Some(codec) = codec.filter(|_| !self.output.is_empty()) else { return };
        match compress(codec, &self.output) {
            Ok(output) => self.output = output,
            Err(error) => self.error = Some(format!("cannot be compressed: {error}")),
        }
    }
}

impl Scanned<'_> {
    /// Records a cell. Returns false if the scan ends here.
    #[inline]
    fn cell(&mut self, start: usize, cell: Option<&[u8]>, source: &str) -> bool {
        let Some(cell) = cell.filter(|cell| !is_empty(cell)) else {
            self.counts.missing += 1;
            self.addresses.push(None);
            return self.refuse(start, || format!("{source}: no address"));
        };
        let addr = parse_cell(cell);
        self.addresses.push(addr);
        if addr.is_some() {
            return true;
        }
        self.counts.bad += 1;
        self.refuse(start, || format!("{source}: {}", not_an_address(cell)))
    }

    /// With `--strict` records a problem of a line and returns false: the scan ends here.
    fn refuse(&mut self, start: usize, problem: impl FnOnce() -> String) -> bool {
        if self.strict {
            self.problem = Some((start, problem()));
        }
        !self.strict
    }

    fn mark(&mut self, start: usize, insert: usize, next: usize, kind: Kind) {
        self.counts.rows += u64::from(matches!(kind, Kind::Row(_) | Kind::EmptyObject));
        self.marks.push(Mark { start, insert, next, kind });
    }

    /// The header is the first row of the first block, if there is one, and every row equal to it.
    fn csv(&mut self, csv: &Csv, sources: &[String], first: bool) {
        let mut found = vec![None::<Range<usize>>; csv.columns.len()];
        let mut at = 0;
        while at < self.bytes.len() {
            let row = csv::row(self.bytes, at, csv.delimiter, &csv.columns, &mut found);
            let (start, content) = (at, &self.bytes[at..row.end]);
            at = row.next;
            if content.is_empty() {
                self.mark(start, row.end, row.next, Kind::Other);
                continue;
            }
            let is_first = first && start == 0;
            if csv.header.as_ref().is_some_and(|header| is_first || **header == *content) {
                self.mark(start, row.end, row.next, Kind::Header);
                continue;
            }
            self.counts.ragged += u64::from(row.cells != csv.width);
            for (source, order) in sources.iter().zip(&csv.order) {
                let cell = found[*order].clone();
                let bytes = self.bytes;
                if !self.cell(start, cell.map(|cell| &bytes[cell]), source) {
                    return;
                }
            }
            let short = csv.width.saturating_sub(row.cells) as u32;
            self.mark(start, row.end, row.next, Kind::Row(short));
        }
    }

    fn json(&mut self, paths: &[ndjson::Path], sources: &[String]) {
        let mut fields = vec![Field::Missing; paths.len()];
        for (start, end, next) in lines(self.bytes) {
            let line = &self.bytes[start..end];
            if line.trim_ascii().is_empty() {
                self.mark(start, end, next, Kind::Other);
                continue;
            }
            let object = match ndjson::scan(line, paths, &mut fields) {
                Ok(object) => object,
                Err(damage) => {
                    self.counts.bad += paths.len() as u64;
                    self.counts.rows += 1;
                    self.mark(start, end, next, Kind::Other);
                    if !self.refuse(start, || damage.to_string()) {
                        self.marks.pop();
                        return;
                    }
                    continue;
                }
            };
            if let Some(added) = paths[sources.len()..].get(taken(object.present, sources.len())) {
                let name = printable(&added.keys()[0]);
                let advice = "name what is added with --as or --prefix-as";
                let problem = format!("the object has a member '{name}' already: {advice}");
                self.problem = Some((start, problem));
                return;
            }
            for (source, field) in sources.iter().zip(&fields) {
                let decoded;
                let cell = match field {
                    Field::Missing => None,
                    Field::Text(text, false) => Some(&line[text.clone()]),
                    Field::Text(text, true) => {
                        decoded = ndjson::unescape(line, text.clone());
                        Some(decoded.as_ref().map_or(&line[text.clone()], |text| text.as_bytes()))
                    }
                    Field::Other(value) => Some(&line[value.clone()]),
                };
                if !self.cell(start, cell, source) {
                    return;
                }
            }
            let kind = if object.is_empty { Kind::EmptyObject } else { Kind::Row(0) };
            self.mark(start, start + object.end, next, kind);
        }
    }

    fn text(&mut self, regexes: &[regex::bytes::Regex], sources: &[String]) {
        for (start, end, next) in lines(self.bytes) {
            let line = &self.bytes[start..end];
            if line.is_empty() {
                self.mark(start, end, next, Kind::Other);
                continue;
            }
            if regexes.is_empty() {
                let found = text::first_address(line).map(|(_, addr)| addr);
                self.addresses.push(found);
                if found.is_none() {
                    self.counts.missing += 1;
                    if !self.refuse(start, || "no address on the line".to_owned()) {
                        return;
                    }
                }
            }
            for (regex, source) in regexes.iter().zip(sources) {
                let group = regex.captures_len().min(2) - 1;
                let found = match group {
                    0 => regex.find(line),
                    _ => regex.captures(line).and_then(|groups| groups.get(group)),
                };
                if !self.cell(start, found.map(|found| found.as_bytes()), source) {
                    return;
                }
            }
            self.mark(start, end, next, Kind::Row(0));
        }
    }
}

/// The number of the first path after those of the sources that leads to a member; too great if none does.
#[inline]
fn taken(present: u64, sources: usize) -> usize {
    (present.checked_shr(sources as u32).unwrap_or(0)).trailing_zeros() as usize
}

/// The problem of a cell that is no address.
pub fn not_an_address(cell: &[u8]) -> String {
    let shown = String::from_utf8_lossy(cell);
    let kept: String = shown.chars().take(MAX_SHOWN).collect();
    let dots = if kept.len() < shown.len() { "..." } else { "" };
    format!("'{}{dots}' is not an address", printable(&kept))
}

/// Whether a cell has no text.
#[inline]
pub fn is_empty(cell: &[u8]) -> bool {
    matches!(cell, [] | b"\"\"" | b"-") || cell.iter().all(u8::is_ascii_whitespace)
}

/// Looks up the addresses and writes the lines.
fn write(plan: &Plan, scanned: &Scanned<'_>, counts: &mut Counts, out: &mut Vec<u8>) {
    let Scanned { bytes, marks, addresses, .. } = scanned;
    let ids = plan.tables.lookup(&addresses.ipv4, &addresses.ipv6);
    let tables = plan.tables.len();
    let mut matches = vec![None; plan.sources.len() * tables];
    let mut slots = addresses.slots.chunks_exact(plan.sources.len());
    for mark in marks {
        let is_row = matches!(mark.kind, Kind::Row(_) | Kind::EmptyObject);
        if is_row && let Some(slots) = slots.next() {
            for (slot, matches) in slots.iter().zip(matches.chunks_exact_mut(tables)) {
                slot.matches(&ids, matches);
            }
        } else {
            matches.fill(None);
        }
        if let Some(wanted) = plan.only_matching
            && mark.kind != Kind::Header
            && matches.iter().any(Option::is_some) != wanted
        {
            continue;
        }
        counts.printed += u64::from(mark.kind != Kind::Header);
        if plan.tables.added.is_empty() || mark.kind == Kind::Other {
            out.extend_from_slice(&bytes[mark.start..mark.next]);
            continue;
        }
        out.extend_from_slice(&bytes[mark.start..mark.insert]);
        match mark.kind {
            Kind::Header => out.extend_from_slice(&plan.header),
            Kind::Row(missing) => {
                (0..missing).for_each(|_| out.push(plan.separator()));
                added(plan, &matches, false, out);
            }
            Kind::EmptyObject => added(plan, &matches, true, out),
            Kind::Other => {}
        }
        out.extend_from_slice(&bytes[mark.insert..mark.next]);
    }
}

/// Writes what is added to a row.
#[inline]
fn added(plan: &Plan, matches: &[Option<NextHopId>], is_empty: bool, out: &mut Vec<u8>) {
    let mut leads = plan.leads.iter();
    let mut skip = usize::from(is_empty);
    for matches in matches.chunks_exact(plan.tables.len()) {
        for (i, lead) in (0..plan.tables.added.len()).zip(&mut leads) {
            // The first member of an object has no comma before it.
            out.extend_from_slice(&lead[skip..]);
            skip = 0;
            plan.tables.write(i, matches, out);
        }
    }
}
