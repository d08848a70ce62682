//! `longmatch set covered`: the prefixes of a list, and whether another list covers them.

use std::io::Write;

use longmatch::set::{AddressRange, AddressSet};

use super::input;
use super::output::{Printed, push_prefix};
use super::overlaps::prefixes;
use crate::args::{Coverage, CoveredArgs};
use crate::error::{CliError, Outcome, Status};
use crate::output::Out;

impl Coverage {
    fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partly => "partly",
            Self::Not => "not",
        }
    }
}

/// Runs the operation.
///
/// # Errors
/// If a list cannot be read, or standard output not be written.
pub fn run(args: &CoveredArgs) -> Outcome {
    let [list, by] = input::pair(&args.list, &args.by, &args.read)?;
    let mut out = Out::new();
    let any4 = family(list.ipv4, &by.ipv4.into(), args, &mut out)?;
    let any6 = family(list.ipv6, &by.ipv6.into(), args, &mut out)?;
    out.flush()?;
    Ok(Status::ok_if(any4 || any6))
}

/// Prints the prefixes of a family. Returns whether a line was printed.
fn family<F: Printed>(
    list: Vec<AddressRange<F>>,
    by: &AddressSet<F>,
    args: &CoveredArgs,
    out: &mut Out,
) -> Result<bool, CliError> {
    let [start, middle, end] = match args.json {
        true => ["{\"prefix\":\"", "\",\"covered\":\"", "\"}\n"],
        false => ["", "\t", "\n"],
    };
    let (mut text, mut any) = (Vec::new(), false);
    for prefix in prefixes(list) {
        let coverage = match (by.covers(prefix), by.overlaps(prefix)) {
            (true, _) => Coverage::Full,
            (_, true) => Coverage::Partly,
            _ => Coverage::Not,
        };
        if args.only.is_some_and(|only| only != coverage) {
            continue;
        }
        any = true;
        text.clear();
        text.extend_from_slice(start.as_bytes());
        push_prefix(prefix, &mut text);
        text.extend([middle, coverage.name(), end].concat().as_bytes());
        out.write_all(&text)?;
    }
    Ok(any)
}
