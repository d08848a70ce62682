//! Answers of queries as lines of output.

use std::net::IpAddr;
use std::sync::Arc;

use longmatch::IpPrefix;
use longmatch::file::{FileRow, FileTable};
use longmatch::table::{Cell, Column, Row};

use super::query::{Query, Rules};
use super::routes::Routes;
use crate::cells::{Style, write_cell, write_prefix};
use crate::lines::{BOM, lines};

/// Queries that are looked up together: few enough for the cache, enough to overlap.
const BATCH: usize = 1024;

/// What queries are answered from.
pub enum Source {
    /// Prefixes with rows of these columns.
    Data(Arc<Routes<Row>>, Vec<Column>),
    /// A table file, mapped.
    File(FileTable),
}

impl Source {
    /// The names of the fields after the prefix.
    fn fields(&self) -> Vec<&str> {
        let columns = match self {
            Self::Data(_, columns) => columns,
            Self::File(table) => table.columns(),
        };
        columns.iter().map(|column| &*column.name).collect()
    }
}

/// The value of a prefix.
#[derive(Clone, Copy)]
enum Value<'t> {
    Row(&'t [Cell]),
    FileRow(FileRow<'t>),
}

impl<'t> From<&'t Row> for Value<'t> {
    fn from(row: &'t Row) -> Self {
        Self::Row(row)
    }
}

impl<'t> From<FileRow<'t>> for Value<'t> {
    fn from(row: FileRow<'t>) -> Self {
        Self::FileRow(row)
    }
}

impl Value<'_> {
    /// Calls a function with each cell.
    #[inline]
    fn each(self, mut write: impl FnMut(Cell<&str>)) {
        match self {
            Self::Row(row) => row.iter().for_each(|cell| write(cell.borrowed())),
            Self::FileRow(row) => row.iter().for_each(write),
        }
    }
}

/// Answers queries.
pub struct Answerer {
    source: Source,
    rules: Rules,
    all: bool,
    json: bool,
    /// What is before each value: a tab, or a comma and the name of the field.
    leads: Vec<Vec<u8>>,
}

/// What was asked.
#[derive(Default)]
pub struct Tally {
    /// Lines of input.
    pub lines: u64,
    /// Addresses without a match.
    pub unmatched: u64,
    /// Texts that were skipped.
    pub skipped: u64,
    /// The line and the problem of the first text that was skipped.
    pub first_skipped: Option<(u64, String)>,
}

impl Tally {
    /// Adds what was asked later.
    pub fn add(&mut self, later: Self) {
        let lines = self.lines;
        self.lines += later.lines;
        self.unmatched += later.unmatched;
        self.skipped += later.skipped;
        if self.first_skipped.is_none() {
            let first = later.first_skipped;
            self.first_skipped = first.map(|(line, problem)| (lines + line, problem));
        }
    }

    /// Counts a text that was skipped.
    pub fn skip(&mut self, line: u64, problem: String) {
        self.skipped += 1;
        self.first_skipped.get_or_insert((line, problem));
    }
}

/// The answers of a block of lines.
#[derive(Default)]
pub struct Answered {
    /// The lines of output.
    pub text: Vec<u8>,
    /// What was asked. Lines count from the beginning of the block.
    pub tally: Tally,
    /// The number of a line that cannot be answered, and the problem. Answers end before it.
    pub problem: Option<(u64, String)>,
}

impl Answerer {
    /// Prepares to answer; `all` matches of each address, or the longest.
    pub fn new(source: Source, rules: Rules, all: bool, json: bool) -> Self {
        let lead = |name: &str| {
            let mut lead = b"\t".to_vec();
            if json {
                lead = b",".to_vec();
                // The names of the other fields are taken.
                let taken = matches!(name, "address" | "prefix");
                let name = if taken { &format!("{name}_") } else { name };
                write_cell(Cell::String(name), Style::Json, &mut lead);
                lead.push(b':');
            }
            lead
        };
        let leads = source.fields().into_iter().map(lead).collect();
        Self { source, rules, all, json, leads }
    }

    /// Answers the lines of a block. Empty lines and comments have no answers. `first` is true for
    /// the first block of the input.
    pub fn block(&self, bytes: &[u8], first: bool) -> Answered {
        let mark = if first && bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let bytes = &bytes[mark..];
        let mut answered = Answered::default();
        answered.text.reserve(3 * bytes.len());
        let mut queries = Vec::with_capacity(BATCH);
        for (start, end, _) in lines(bytes) {
            answered.tally.lines += 1;
            let line = bytes[start..end].trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            match self.rules.query(line) {
                Ok(query) => queries.push(query),
                Err(problem) if self.rules.skip_invalid => {
                    answered.tally.skip(answered.tally.lines, problem);
                }
                Err(problem) => {
                    answered.problem = Some((answered.tally.lines, problem));
                    break;
                }
            }
            if queries.len() == BATCH {
                self.answer(&queries, &mut answered);
                queries.clear();
            }
        }
        self.answer(&queries, &mut answered);
        answered
    }

    /// Answers queries.
    pub fn answer(&self, queries: &[Query<'_>], answered: &mut Answered) {
        match (&self.source, self.all) {
            (Source::Data(data, _), true) => {
                self.covers(queries, answered, |addr| data.cover(addr));
            }
            (Source::File(table), true) => {
                self.covers(queries, answered, |addr| table.cover(addr));
            }
            (Source::Data(data, _), false) => {
                self.longest(queries, answered, |addrs, out| data.get_lpm_batch(addrs, out));
            }
            (Source::File(table), false) => {
                self.longest(queries, answered, |addrs, out| table.get_lpm_batch(addrs, out));
            }
        }
    }

    /// Answers queries with all their matches, which `cover` finds.
    fn covers<'t, V: Into<Value<'t>>, C: Iterator<Item = (IpPrefix, V)>>(
        &self,
        queries: &[Query<'_>],
        answered: &mut Answered,
        cover: impl Fn(IpAddr) -> C,
    ) {
        for (query, addr) in queries {
            let mut matches = cover(*addr).peekable();
            if matches.peek().is_none() {
                self.line(query, None, answered);
            }
            for (prefix, value) in matches {
                self.line(query, Some((prefix, value.into())), answered);
            }
        }
    }

    /// Answers queries with their longest matches, which `find` finds.
    fn longest<'t, V: Copy + Into<Value<'t>>>(
        &self,
        queries: &[Query<'_>],
        answered: &mut Answered,
        find: impl FnOnce(&[IpAddr], &mut [Option<(IpPrefix, V)>]),
    ) {
        let addrs: Vec<IpAddr> = queries.iter().map(|(_, addr)| *addr).collect();
        let mut found = vec![None; addrs.len()];
        find(&addrs, &mut found);
        for ((query, _), found) in queries.iter().zip(found) {
            self.line(query, found.map(|(prefix, value)| (prefix, value.into())), answered);
        }
    }

    /// Writes an answer. It repeats the query, so that answers can be joined with queries.
    #[inline]
    fn line(&self, query: &[u8], found: Option<(IpPrefix, Value<'_>)>, answered: &mut Answered) {
        let Answered { text, tally, .. } = answered;
        tally.unmatched += u64::from(found.is_none());
        let style = if self.json { Style::Json } else { Style::Printable };
        if self.json {
            text.extend_from_slice(b"{\"address\":");
            write_cell(Cell::String(&String::from_utf8_lossy(query)), style, text);
            text.extend_from_slice(b",\"prefix\":");
        } else {
            text.extend_from_slice(query);
            text.push(b'\t');
        }
        match found {
            Some((prefix, value)) => {
                write_prefix(prefix, style, text);
                let mut leads = self.leads.iter();
                value.each(|cell| {
                    text.extend_from_slice(leads.next().map_or(&[], |lead| lead));
                    write_cell(cell, style, text);
                });
            }
            None => {
                let nothing: &[u8] = if self.json { b"null" } else { b"-" };
                text.extend_from_slice(nothing);
                for lead in &self.leads {
                    text.extend_from_slice(lead);
                    text.extend_from_slice(nothing);
                }
            }
        }
        text.extend_from_slice(if self.json { b"}\n" } else { b"\n" });
    }
}
