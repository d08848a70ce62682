//! `longmatch lookup`: the longest matching prefix of addresses, and its next hop.
//!
//! Arguments are answered from the routes. Standard input is answered block by block in threads,
//! from a compiled table once there is more than a handful of addresses.

mod answer;
mod stream;

use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

use longmatch_feed::{IpFamily, parse_address};

use self::answer::{Answerer, Source};
use crate::args::{FamilyArgs, LookupArgs};
use crate::error::{CliError, Outcome, Status};
use crate::input::{Families, Routes, is_stdin};
use crate::output::Out;
use crate::table_file;

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
    let source = match &args.routes.table {
        Some(path) if args.routes.split.is_none() => {
            Source::File(table_file::open(&args.routes, path)?)
        }
        _ => {
            let routes = Routes::load_as(&args.routes, families, Some(args.families))?;
            Source::Routes(Box::new(routes))
        }
    };
    let answerer = Arc::new(Answerer::new(source, args.families, args.all, args.json));
    let mut out = Out::new();
    let mut unmatched = 0;
    for query in &queries {
        unmatched += match query {
            Query::One(text, addr) => {
                let mut text_out = Vec::new();
                let unmatched = answerer.answer(&[(text, *addr)], &mut text_out);
                out.write_all(&text_out)?;
                unmatched
            }
            Query::Stdin => stream::answer(&answerer, &mut out)?,
        };
    }
    out.flush()?;
    Ok(Status::ok_if(unmatched == 0))
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
