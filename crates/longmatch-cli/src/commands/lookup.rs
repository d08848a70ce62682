//! `longmatch lookup`: the longest matching prefix of addresses, and its next hop.

use std::fmt::Display;
use std::io::{self, Write};
use std::net::IpAddr;

use longmatch::{Family, Ipv4, Ipv6, Prefix, Rib, Route};
use longmatch_feed::{IpFamily, parse_address, printable};
use serde::{Serialize, Serializer};

use crate::args::{FamilyArgs, LookupArgs};
use crate::error::{CliError, Outcome, Status};
use crate::input::{Families, Routes, is_stdin};
use crate::lines::{Lines, Next};
use crate::output::Out;

/// A query: an argument of the command.
enum Query<'a> {
    One(&'a str, IpAddr),
    Stdin,
}

/// Runs the command.
///
/// # Errors
/// If an address is invalid, or the routes cannot be loaded. Earlier queries have been answered.
pub fn run(args: &LookupArgs) -> Outcome {
    let queries = queries(args)?;
    let families = families(&queries, args.families)?;
    let routes = Routes::load_as(&args.routes, families, Some(args.families))?;
    let (all, json) = (args.all, args.json);
    let mut answers = Answers {
        routes: &routes,
        families: args.families,
        out: Out::new(),
        all,
        json,
        unmatched: 0,
    };
    for query in &queries {
        match query {
            Query::One(text, addr) => answers.answer(text, *addr)?,
            Query::Stdin => answers.stdin()?,
        }
    }
    answers.out.flush()?;
    Ok(Status::ok_if(answers.unmatched == 0))
}

/// Parses the arguments. All addresses are checked before the routes are loaded.
fn queries(args: &LookupArgs) -> Result<Vec<Query<'_>>, CliError> {
    let stdin = args.queries.iter().filter(|text| *text == "-").count();
    let routes = args.routes.files.iter().filter(|path| is_stdin(path)).count();
    if stdin + routes > 1 {
        return Err(CliError::new("'-' was given twice: standard input is read once"));
    }
    let texts = args.queries.iter().map(String::as_str);
    let query = |text| match text {
        "-" => Ok(Query::Stdin),
        _ => Ok(Query::One(text, parse_address(text)?)),
    };
    texts.map(query).collect()
}

/// Returns the families of the queries: no others need to be loaded.
///
/// # Errors
/// If a query is of a family that the command line excludes.
fn families(queries: &[Query<'_>], wanted: FamilyArgs) -> Result<Families, CliError> {
    let mut families = Families::default();
    for query in queries {
        match query {
            Query::Stdin => return Ok(wanted.into()),
            Query::One(text, addr) => {
                excluded(text, *addr, wanted).map_err(CliError::new)?;
                match addr.to_canonical() {
                    IpAddr::V4(_) => families.ipv4 = true,
                    IpAddr::V6(_) => families.ipv6 = true,
                }
            }
        }
    }
    Ok(families)
}

/// Refuses an address of a family that the command line excludes.
#[inline]
fn excluded(text: &str, addr: IpAddr, wanted: FamilyArgs) -> Result<(), String> {
    match (wanted.only(), addr.to_canonical()) {
        (Some(IpFamily::V4), IpAddr::V6(_)) => {
            Err(format!("'{text}' is an IPv6 address: leave out -4"))
        }
        (Some(IpFamily::V6), IpAddr::V4(_)) => {
            Err(format!("'{text}' is an IPv4 address: leave out -6"))
        }
        _ => Ok(()),
    }
}

/// Answers queries, and counts those without a matching prefix.
struct Answers<'r> {
    routes: &'r Routes,
    families: FamilyArgs,
    out: Out,
    all: bool,
    json: bool,
    unmatched: u64,
}

impl Answers<'_> {
    /// Answers every line of standard input. Output is flushed before each blocking read, so that a
    /// program at the other end of the pipe can alternate queries and answers.
    fn stdin(&mut self) -> Result<(), CliError> {
        let mut lines = Lines::new(io::stdin().lock());
        loop {
            match lines.next() {
                Next::End => return Ok(()),
                Next::Line(b"") => {}
                Next::Line(line) => {
                    let text = str::from_utf8(line).map_err(|_| "not text (UTF-8)".to_owned());
                    let parsed = text.and_then(|text| {
                        let addr = parse_address(text).map_err(|error| error.to_string())?;
                        excluded(text, addr, self.families)?;
                        Ok((text, addr))
                    });
                    match parsed {
                        Ok((text, addr)) => self.answer(text, addr)?,
                        Err(problem) => return Err(at_line(lines.number(), problem)),
                    }
                }
                Next::NeedsInput => {
                    self.out.flush()?;
                    lines.fill().map_err(|error| at_line(lines.number() + 1, error))?;
                }
            }
        }
    }

    fn answer(&mut self, text: &str, addr: IpAddr) -> Result<(), CliError> {
        // The text is repeated unchanged, so that the answers can be joined with the input.
        match addr.to_canonical() {
            IpAddr::V4(addr) => self.of_family::<Ipv4>(text, addr, self.routes.table.ipv4()),
            IpAddr::V6(addr) => self.of_family::<Ipv6>(text, addr, self.routes.table.ipv6()),
        }
    }

    fn of_family<F: Family>(&mut self, text: &str, addr: F::Addr, rib: &Rib<F>) -> Answered {
        let mut last = None;
        for route in rib.cover(Prefix::host(addr)) {
            if self.all {
                self.line(text, Some(route))?;
            }
            last = Some(route);
        }
        self.unmatched += u64::from(last.is_none());
        if self.all && last.is_some() { Ok(()) } else { self.line(text, last) }
    }

    #[inline]
    fn line<F: Family>(&mut self, text: &str, route: Option<Route<F>>) -> Answered {
        let next_hop = route.map(|route| self.routes.next_hop(route.next_hop));
        if self.json {
            let prefix = route.map(|route| Displayed(route.prefix));
            return self.out.json(&Line { address: text, prefix, next_hop });
        }
        let out = &mut self.out;
        out.write_all(text.as_bytes())?;
        match (route, next_hop) {
            (Some(route), Some(next_hop)) => {
                writeln!(out, "\t{}\t{}", route.prefix, printable(next_hop))?;
            }
            _ => out.write_all(b"\t-\t-\n")?,
        }
        Ok(())
    }
}

/// Result of writing one answer.
type Answered = Result<(), CliError>;

fn at_line(number: u64, problem: impl Display) -> CliError {
    CliError::input(format_args!("standard input, line {number}"), problem)
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
