//! Answers of addresses as lines of output.

use std::fmt::Display;
use std::io::Write;
use std::net::IpAddr;
use std::sync::OnceLock;

use longmatch::file::{FileRow, FileTable};
use longmatch::table::Cell;
use longmatch::{Answers, FrozenTable, IpPrefix, TableSpec};
use longmatch_feed::{parse_address, printable};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::excluded;
use crate::args::FamilyArgs;
use crate::input::Routes;
use crate::lines::Block;

/// Standard input is answered from a compiled table after this many lines: compiling a million
/// routes takes as long as a million lookups in the routes themselves, and there are threads.
const COMPILE_AFTER: u64 = 100_000;

/// A query: its text and its address.
pub type Asked<'a> = (&'a str, IpAddr);

/// A match: the prefix and its value.
type Found<V> = Option<(IpPrefix, V)>;

/// The value of a prefix.
#[derive(Clone, Copy)]
enum Value<'t> {
    /// The text of its next hop.
    NextHop(&'t str),
    /// Its row in a table file.
    Row(FileRow<'t>),
}

/// What queries are answered from.
pub enum Source {
    /// Routes.
    Routes(Box<Routes>),
    /// A table file, mapped.
    File(FileTable),
}

/// Answers queries from the routes, from a table that is compiled from them, or from a table file.
pub struct Answerer {
    source: Source,
    families: FamilyArgs,
    all: bool,
    json: bool,
    /// The names of the fields after the prefix, as JSON has them.
    fields: Vec<String>,
    /// The compiled table; `None` inside if no engine holds the routes.
    compiled: OnceLock<Option<FrozenTable<Box<str>>>>,
}

/// The answers of a block of lines.
#[derive(Default)]
pub struct Answered {
    /// The lines of output.
    pub text: Vec<u8>,
    /// Number of addresses without a match.
    pub unmatched: u64,
    /// The number of a line that is no address, and the problem. Answers end before it.
    pub problem: Option<(u64, String)>,
}

impl Answerer {
    /// Prepares to answer; `all` matches of each address, or the longest.
    pub fn new(source: Source, families: FamilyArgs, all: bool, json: bool) -> Self {
        let fields = match &source {
            Source::Routes(_) => vec!["next_hop".to_owned()],
            Source::File(table) => {
                table.columns().iter().map(|column| field(&column.name)).collect()
            }
        };
        Self { source, families, all, json, fields, compiled: OnceLock::new() }
    }

    /// Answers the lines of a block; empty ones are skipped.
    pub fn block(&self, block: &Block) -> Answered {
        let mut answered = Answered::default();
        let mut asked = Vec::new();
        for (number, line) in block.lines().filter(|(_, line)| !line.is_empty()) {
            match self.parse(line) {
                Ok(query) => asked.push(query),
                Err(problem) => {
                    answered.problem = Some((number, problem));
                    break;
                }
            }
        }
        answered.unmatched = match (&self.source, self.compiled_after(block.before)) {
            (Source::Routes(_), Some(table)) => {
                self.matched(&asked, &mut answered.text, next_hop, |addrs, out| {
                    table.get_lpm_batch(addrs, out);
                })
            }
            _ => self.answer(&asked, &mut answered.text),
        };
        answered
    }

    /// The compiled routes, once as many lines were answered as are worth it.
    fn compiled_after(&self, lines: u64) -> Option<&FrozenTable<Box<str>>> {
        match &self.source {
            Source::Routes(routes) if lines >= COMPILE_AFTER && !self.all => {
                self.compiled.get_or_init(|| compile(routes)).as_ref()
            }
            _ => None,
        }
    }

    /// Answers queries from the routes or the file; returns the number of those without a match.
    pub fn answer(&self, asked: &[Asked<'_>], text: &mut Vec<u8>) -> u64 {
        match (&self.source, self.all) {
            (Source::Routes(routes), true) => self.covers(asked, text, |addr| {
                let cover = routes.table.cover(addr);
                cover.map(|(prefix, hop)| (prefix, Value::NextHop(hop)))
            }),
            (Source::File(table), true) => self.covers(asked, text, |addr| {
                table.cover(addr).map(|(prefix, row)| (prefix, Value::Row(row)))
            }),
            (Source::Routes(routes), false) => self.matched(asked, text, next_hop, |addrs, out| {
                routes.table.get_lpm_batch(addrs, out);
            }),
            (Source::File(table), false) => {
                self.matched(asked, text, Value::Row, |addrs, out| table.get_lpm_batch(addrs, out))
            }
        }
    }

    /// Answers queries with all their matches, which `cover` finds.
    fn covers<'t, C: Iterator<Item = (IpPrefix, Value<'t>)>>(
        &self,
        asked: &[Asked<'_>],
        text: &mut Vec<u8>,
        cover: impl Fn(IpAddr) -> C,
    ) -> u64 {
        let mut unmatched = 0;
        for (query, addr) in asked {
            let mut matches = cover(*addr).peekable();
            if matches.peek().is_none() {
                unmatched += 1;
                self.line(text, query, None);
            }
            matches.for_each(|found| self.line(text, query, Some(found)));
        }
        unmatched
    }

    fn parse<'a>(&self, line: &'a [u8]) -> Result<Asked<'a>, String> {
        let text = str::from_utf8(line).map_err(|_| "not text (UTF-8)".to_owned())?;
        let addr = parse_address(text).map_err(|error| error.to_string())?;
        excluded(text, addr, self.families)?;
        Ok((text, addr))
    }

    /// Answers queries with their longest matches, which `look` finds and `value` converts.
    fn matched<'v, V: Copy>(
        &self,
        asked: &[Asked<'_>],
        text: &mut Vec<u8>,
        value: impl Fn(V) -> Value<'v>,
        look: impl Fn(&[IpAddr], &mut [Found<V>]),
    ) -> u64 {
        let addrs: Vec<IpAddr> = asked.iter().map(|(_, addr)| *addr).collect();
        let mut found = vec![None; addrs.len()];
        look(&addrs, &mut found);
        for ((query, _), found) in asked.iter().zip(&found) {
            self.line(text, query, found.map(|(prefix, found)| (prefix, value(found))));
        }
        found.iter().filter(|found| found.is_none()).count() as u64
    }

    /// Writes an answer. The query is repeated unchanged, so that answers can be joined with it.
    #[inline]
    fn line(&self, text: &mut Vec<u8>, query: &str, found: Found<Value<'_>>) {
        // Writing to memory does not fail, and neither does the serialization of text.
        if self.json {
            let _ = serde_json::to_writer(&mut *text, &Line { answerer: self, query, found });
            text.push(b'\n');
            return;
        }
        text.extend_from_slice(query.as_bytes());
        match found {
            Some((prefix, Value::NextHop(next_hop))) => {
                let _ = write!(text, "\t{prefix}\t{}", printable(next_hop));
            }
            Some((prefix, Value::Row(row))) => {
                let _ = write!(text, "\t{prefix}");
                for cell in row.iter() {
                    let _ = match cell {
                        Cell::String(cell) => write!(text, "\t{}", printable(cell)),
                        cell => write!(text, "\t{cell}"),
                    };
                }
            }
            None => {
                text.extend_from_slice(b"\t-");
                self.fields.iter().for_each(|_| text.extend_from_slice(b"\t-"));
            }
        }
        text.push(b'\n');
    }
}

/// Compiles routes; `None` if no engine holds them.
fn compile(routes: &Routes) -> Option<FrozenTable<Box<str>>> {
    routes.table.clone().freeze(TableSpec::default().answers(Answers::Routes)).ok()
}

/// The value of a route.
fn next_hop<T: AsRef<str>>(text: &T) -> Value<'_> {
    Value::NextHop(text.as_ref())
}

/// The field of a column in JSON: its name, unless that is a name of another field.
fn field(column: &str) -> String {
    match column {
        "address" | "prefix" => format!("{column}_"),
        column => column.to_owned(),
    }
}

/// An answer as JSON: the address, the prefix, and the values or nulls.
struct Line<'a> {
    answerer: &'a Answerer,
    query: &'a str,
    found: Found<Value<'a>>,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = &self.answerer.fields;
        let mut line = serializer.serialize_map(Some(2 + fields.len()))?;
        line.serialize_entry("address", self.query)?;
        line.serialize_entry("prefix", &self.found.map(|(prefix, _)| Displayed(prefix)))?;
        match self.found {
            None => {
                for field in fields {
                    line.serialize_entry(field, &())?;
                }
            }
            Some((_, Value::NextHop(next_hop))) => {
                for field in fields {
                    line.serialize_entry(field, next_hop)?;
                }
            }
            Some((_, Value::Row(row))) => {
                for (field, cell) in fields.iter().zip(row.iter()) {
                    match cell {
                        Cell::Null => line.serialize_entry(field, &())?,
                        Cell::String(text) => line.serialize_entry(field, text)?,
                        Cell::U64(number) => line.serialize_entry(field, &number)?,
                        Cell::I64(number) => line.serialize_entry(field, &number)?,
                        Cell::F64(number) => line.serialize_entry(field, &number)?,
                    }
                }
            }
        }
        line.end()
    }
}

/// Serialized as its `Display` text.
struct Displayed<T>(T);

impl<T: Display> Serialize for Displayed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
