//! Answers of queries as lines of output.

use std::net::IpAddr;
use std::sync::Arc;

use longmatch::IpPrefix;
use longmatch::file::{FileRow, FileTable};
use longmatch::table::{Cell, Column, Row};
use longmatch_feed::printable;

use super::query::{Query, Rules};
use super::routes::RouteAnswers;
use crate::args::{LookupArgs, names};
use crate::cells::{Style, write_cell, write_prefix};
use crate::error::CliError;
use crate::lines::{BOM, lines};
use crate::prefix_data::no_column;

/// Queries that are looked up together: few enough for the cache, enough to overlap.
const BATCH: usize = 1024;

/// What queries are answered from.
pub enum Source {
    /// Prefixes with rows of these columns.
    Data(Arc<RouteAnswers<Row>>, Vec<Column>),
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
enum ColumnValue<'t> {
    Row(&'t [Cell]),
    FileRow(FileRow<'t>),
}

impl<'t> From<&'t Row> for ColumnValue<'t> {
    fn from(row: &'t Row) -> Self {
        Self::Row(row)
    }
}

impl<'t> From<FileRow<'t>> for ColumnValue<'t> {
    fn from(row: FileRow<'t>) -> Self {
        Self::FileRow(row)
    }
}

impl ColumnValue<'_> {
    /// The cell of a column.
    fn get(&self, column: usize) -> Cell<&str> {
        match self {
            Self::Row(row) => row.get(column).map_or(Cell::Null, Cell::borrowed),
            Self::FileRow(row) => row.get(column),
        }
    }

    /// Calls a function with each cell.
    #[inline]
    fn each(self, mut write: impl FnMut(Cell<&str>)) {
        match self {
            Self::Row(row) => row.iter().for_each(|cell| write(cell.borrowed())),
            Self::FileRow(row) => row.iter().for_each(write),
        }
    }
}

/// The prefixes of the table that answer a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    /// The longest that covers it.
    Longest,
    /// All that cover it.
    All,
    /// All inside it.
    MoreSpecific,
}

/// Answers queries.
pub struct Answerer {
    source: Source,
    rules: Rules,
    wanted: Wanted,
    style: Style,
    /// The columns printed, by number; `None` for all.
    chosen: Option<Vec<usize>>,
    /// The names of the columns printed.
    names: Vec<String>,
    /// The text before each value: a tab or a comma, in JSON with the name of the field.
    leads: Vec<Vec<u8>>,
}

/// Counts of queries.
#[derive(Default)]
pub struct QueryCounts {
    /// Lines of input.
    pub lines: u64,
    /// Queries without a match.
    pub unmatched: u64,
    /// Texts that were skipped.
    pub skipped: u64,
    /// The line and the problem of the first text that was skipped.
    pub first_skipped: Option<(u64, String)>,
}

impl QueryCounts {
    /// Adds the counts of later queries.
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
    /// Counts of queries. Lines count from the beginning of the block.
    pub counts: QueryCounts,
    /// The number of a line that cannot be answered, and the problem. Answers end before it.
    pub problem: Option<(u64, String)>,
}

impl Answerer {
    /// Prepares to answer.
    ///
    /// # Errors
    /// If a column of `--add` does not exist, or is given twice.
    pub fn new(source: Source, args: &LookupArgs) -> Result<Self, CliError> {
        let wanted = match (args.all, args.more_specific) {
            (true, _) => Wanted::All,
            (_, true) => Wanted::MoreSpecific,
            _ => Wanted::Longest,
        };
        let style = match (args.json, args.csv) {
            (true, _) => Style::Json,
            (_, true) => Style::Csv(b','),
            _ => Style::Printable,
        };
        let fields = source.fields();
        let chosen = chosen(&fields, &names(&args.add))?;
        let printed = match &chosen {
            Some(chosen) => chosen.iter().map(|column| fields[*column]).collect(),
            None => fields,
        };
        // The names of the other fields are taken.
        let taken = |name: &str| matches!(name, "address" | "prefix");
        let name = |name: &str| if taken(name) { format!("{name}_") } else { name.to_owned() };
        let names: Vec<String> = printed.into_iter().map(name).collect();
        let lead = |name: &String| match style {
            Style::Json => {
                let mut lead = b",".to_vec();
                write_cell(Cell::String(name), style, &mut lead);
                lead.push(b':');
                lead
            }
            Style::Csv(delimiter) => vec![delimiter],
            _ => b"\t".to_vec(),
        };
        let leads = names.iter().map(lead).collect();
        Ok(Self { source, rules: Rules::new(args), wanted, style, chosen, names, leads })
    }

    /// The line of the names of the columns.
    pub fn header(&self) -> Vec<u8> {
        let separator = if self.style == Style::Printable { b'\t' } else { b',' };
        let mut line = Vec::new();
        for name in ["address", "prefix"].into_iter().chain(self.names.iter().map(|name| &**name)) {
            write_cell(Cell::String(name), self.style, &mut line);
            line.push(separator);
        }
        line.pop();
        line.push(b'\n');
        line
    }

    /// Whether the answer of each query may be as large as the table.
    pub fn is_large(&self) -> bool {
        self.wanted == Wanted::MoreSpecific
    }

    /// Answers the lines of a block. Empty lines and comments have no answers. `first` is true for
    /// the first block of the input. `full` takes the lines of output before there are too many.
    ///
    /// # Errors
    /// Those of `full`.
    pub fn block<E>(
        &self,
        bytes: &[u8],
        first: bool,
        mut full: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Answered, E> {
        let batch = if self.is_large() { 1 } else { BATCH };
        if let Some(name) = longmatch_feed::other_encoding(bytes).filter(|_| first) {
            return Ok(Answered { problem: Some((1, name.to_owned())), ..Answered::default() });
        }
        let mark = if first && bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let bytes = &bytes[mark..];
        let mut answered = Answered::default();
        answered.text.reserve(3 * bytes.len());
        let mut queries = Vec::with_capacity(batch);
        for (start, end, _) in lines(bytes) {
            answered.counts.lines += 1;
            let line = bytes[start..end].trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            match self.rules.query(line) {
                Ok(query) => queries.push(query),
                Err(problem) if self.rules.skip_invalid => {
                    answered.counts.skip(answered.counts.lines, problem);
                }
                Err(problem) => {
                    answered.problem = Some((answered.counts.lines, problem));
                    break;
                }
            }
            if queries.len() == batch {
                self.answer(&queries, &mut answered);
                queries.clear();
                full(&mut answered.text)?;
            }
        }
        self.answer(&queries, &mut answered);
        Ok(answered)
    }

    /// Answers queries.
    pub fn answer(&self, queries: &[Query<'_>], answered: &mut Answered) {
        use Source::{Data, File};
        match (self.wanted, &self.source) {
            (Wanted::All, Data(data, _)) => self.each(queries, answered, |of| data.cover(of)),
            (Wanted::All, File(table)) => self.each(queries, answered, |of| table.cover(of)),
            (Wanted::MoreSpecific, Data(data, _)) => {
                self.each(queries, answered, |of| data.children(of));
            }
            (Wanted::MoreSpecific, File(table)) => {
                self.each(queries, answered, |of| table.children(of));
            }
            (Wanted::Longest, Data(data, _)) => {
                let batch = |addrs: &_, out: &mut _| data.get_lpm_batch(addrs, out);
                self.longest(queries, answered, batch, |of| data.cover(of).last());
            }
            (Wanted::Longest, File(table)) => {
                let batch = |addrs: &_, out: &mut _| table.get_lpm_batch(addrs, out);
                self.longest(queries, answered, batch, |of| table.cover(of).last());
            }
        }
    }

    /// Answers queries with all prefixes that `find` finds.
    fn each<'t, V: Into<ColumnValue<'t>>, C: Iterator<Item = (IpPrefix, V)>>(
        &self,
        queries: &[Query<'_>],
        answered: &mut Answered,
        find: impl Fn(IpPrefix) -> C,
    ) {
        for (query, prefix) in queries {
            let mut matches = find(*prefix).peekable();
            if matches.peek().is_none() {
                self.line(query, None, answered);
            }
            for (prefix, value) in matches {
                self.line(query, Some((prefix, value.into())), answered);
            }
        }
    }

    /// Answers queries with their longest matches, which `batch` finds of addresses and `cover` of a
    /// prefix.
    fn longest<'t, V: Copy + Into<ColumnValue<'t>>>(
        &self,
        queries: &[Query<'_>],
        answered: &mut Answered,
        batch: impl FnOnce(&[IpAddr], &mut [Option<(IpPrefix, V)>]),
        cover: impl Fn(IpPrefix) -> Option<(IpPrefix, V)>,
    ) {
        let addrs: Vec<IpAddr> = queries.iter().map(|(_, prefix)| prefix.addr()).collect();
        let mut found = vec![None; addrs.len()];
        batch(&addrs, &mut found);
        for ((query, prefix), found) in queries.iter().zip(found) {
            let found = if is_host(*prefix) { found } else { cover(*prefix) };
            self.line(query, found.map(|(prefix, value)| (prefix, value.into())), answered);
        }
    }

    /// Writes an answer. It repeats the query, so that answers can be joined with queries.
    #[inline]
    fn line(
        &self,
        query: &[u8],
        found: Option<(IpPrefix, ColumnValue<'_>)>,
        answered: &mut Answered,
    ) {
        let Answered { text, counts, .. } = answered;
        counts.unmatched += u64::from(found.is_none());
        let style = self.style;
        let nothing: &[u8] = match style {
            Style::Json => {
                text.extend_from_slice(b"{\"address\":");
                write_cell(Cell::String(&String::from_utf8_lossy(query)), style, text);
                text.extend_from_slice(b",\"prefix\":");
                b"null"
            }
            Style::Csv(delimiter) => {
                write_cell(Cell::String(&String::from_utf8_lossy(query)), style, text);
                text.push(delimiter);
                b""
            }
            _ => {
                text.extend_from_slice(query);
                text.push(b'\t');
                b"-"
            }
        };
        match found {
            Some((prefix, value)) => {
                write_prefix(prefix, style, text);
                let mut leads = self.leads.iter();
                let mut write = |cell: Cell<&str>| {
                    text.extend_from_slice(leads.next().map_or(&[], |lead| lead));
                    write_cell(cell, style, text);
                };
                match &self.chosen {
                    Some(chosen) => chosen.iter().for_each(|column| write(value.get(*column))),
                    None => value.each(write),
                }
            }
            None => {
                text.extend_from_slice(nothing);
                for lead in &self.leads {
                    text.extend_from_slice(lead);
                    text.extend_from_slice(nothing);
                }
            }
        }
        text.extend_from_slice(if style == Style::Json { b"}\n" } else { b"\n" });
    }
}

/// Whether a prefix has one address.
fn is_host(prefix: IpPrefix) -> bool {
    matches!((prefix, prefix.len()), (IpPrefix::V4(_), 32) | (IpPrefix::V6(_), 128))
}

/// The numbers of the columns named, if any is.
fn chosen(fields: &[&str], names: &[String]) -> Result<Option<Vec<usize>>, CliError> {
    let mut chosen = Vec::new();
    for name in names {
        let place = fields.iter().position(|field| field == name);
        let place = place.ok_or_else(|| no_column(name, fields.iter().copied()))?;
        if chosen.contains(&place) {
            let name = printable(name);
            return Err(CliError::input("--add", format_args!("'{name}' is given twice")));
        }
        chosen.push(place);
    }
    Ok((!names.is_empty()).then_some(chosen))
}
