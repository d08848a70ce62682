//! Answers of addresses as lines of output.

use std::fmt::Display;
use std::io::Write;
use std::net::IpAddr;
use std::sync::OnceLock;

use longmatch::{Answers, FrozenTable, IpPrefix, TableSpec};
use longmatch_feed::{parse_address, printable};
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

/// The longest match: the prefix and the text of its next hop.
type Found<'t> = Option<(IpPrefix, &'t Box<str>)>;

/// Answers queries from the routes or from a table that is compiled from them.
pub struct Answerer {
    routes: Routes,
    families: FamilyArgs,
    all: bool,
    json: bool,
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
    /// Prepares to answer from routes; `all` matches of each address, or the longest.
    pub fn new(routes: Routes, families: FamilyArgs, all: bool, json: bool) -> Self {
        Self { routes, families, all, json, compiled: OnceLock::new() }
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
        let text = &mut answered.text;
        let compiled = match block.before >= COMPILE_AFTER && !self.all {
            true => self.compiled.get_or_init(|| self.compile()).as_ref(),
            false => None,
        };
        answered.unmatched = match compiled {
            Some(table) => self.matched(&asked, text, |addrs, out| table.get_lpm_batch(addrs, out)),
            None => self.answer(&asked, text),
        };
        answered
    }

    /// Answers queries from the routes; returns the number of those without a match.
    pub fn answer(&self, asked: &[Asked<'_>], text: &mut Vec<u8>) -> u64 {
        let table = &self.routes.table;
        if !self.all {
            return self.matched(asked, text, |addrs, out| table.get_lpm_batch(addrs, out));
        }
        let mut unmatched = 0;
        for (query, addr) in asked {
            let mut matches = table.cover(*addr).peekable();
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

    fn compile(&self) -> Option<FrozenTable<Box<str>>> {
        self.routes.table.clone().freeze(TableSpec::default().answers(Answers::Routes)).ok()
    }

    /// Answers queries with their longest matches, which `look` finds.
    fn matched<'t>(
        &self,
        asked: &[Asked<'_>],
        text: &mut Vec<u8>,
        look: impl Fn(&[IpAddr], &mut [Found<'t>]),
    ) -> u64 {
        let addrs: Vec<IpAddr> = asked.iter().map(|(_, addr)| *addr).collect();
        let mut found = vec![None; addrs.len()];
        look(&addrs, &mut found);
        for ((query, _), found) in asked.iter().zip(&found) {
            self.line(text, query, *found);
        }
        found.iter().filter(|found| found.is_none()).count() as u64
    }

    /// Writes an answer. The query is repeated unchanged, so that answers can be joined with it.
    #[inline]
    fn line(&self, text: &mut Vec<u8>, query: &str, found: Found<'_>) {
        // Writing to memory does not fail, and neither does the serialization of text.
        if self.json {
            let prefix = found.map(|(prefix, _)| Displayed(prefix));
            let next_hop = found.map(|(_, next_hop)| &**next_hop);
            let _ = serde_json::to_writer(&mut *text, &Line { address: query, prefix, next_hop });
            text.push(b'\n');
            return;
        }
        text.extend_from_slice(query.as_bytes());
        match found {
            Some((prefix, next_hop)) => {
                let _ = writeln!(text, "\t{prefix}\t{}", printable(next_hop));
            }
            None => text.extend_from_slice(b"\t-\t-\n"),
        }
    }
}

/// An answer as JSON.
#[derive(Serialize)]
struct Line<'a, P> {
    address: &'a str,
    prefix: Option<P>,
    next_hop: Option<&'a str>,
}

/// Serialized as its `Display` text.
struct Displayed<T>(T);

impl<T: Display> Serialize for Displayed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
