//! `longmatch set count`: the addresses of lists.

use std::io::Write;

use longmatch::set::AddressSet;
use serde::Serialize;

use super::ip_set::IpSet;
use super::{all, output::Printed};
use crate::args::CountArgs;
use crate::error::{CliError, Outcome, Status};
use crate::families::CliFamily;
use crate::output::{Align, Grid, Out, grouped, thousands};

/// The counts of one family.
#[derive(Serialize)]
struct ListCounts {
    family: &'static str,
    /// Decimal digits: the number of IPv6 addresses is beyond the integers of most JSON readers.
    addresses: String,
    share: f64,
    prefixes: u64,
    ranges: u64,
    #[serde(skip)]
    label: &'static str,
}

/// Runs the operation.
///
/// # Errors
/// If a list cannot be read, or standard output not be written.
pub fn run(args: &CountArgs) -> Outcome {
    let (IpSet { ipv4, ipv6 }, entries) = all(&args.lists)?;
    let all = [counts(&ipv4), counts(&ipv6)];
    let mut out = Out::new();
    if args.json {
        all.iter().try_for_each(|counts| out.json(counts))?;
    } else {
        print(&all, entries, &mut out)?;
    }
    out.flush()?;
    Ok(Status::Ok)
}

fn counts<F: CliFamily + Printed>(set: &AddressSet<F>) -> ListCounts {
    let addresses = set.count();
    ListCounts {
        family: F::NAME,
        addresses: addresses.to_string(),
        share: addresses.to_f64() / 2f64.powi(F::WIDTH.into()),
        prefixes: set.prefixes().count() as u64,
        ranges: set.ranges().len() as u64,
        label: F::LABEL,
    }
}

/// A share in percent, with two digits other than zero if it is small.
fn share(percent: f64) -> String {
    match percent {
        0.05.. => format!("{percent:.1} %"),
        1e-9.. => format!("{percent:.*} %", (1.0 - percent.log10().floor()) as usize),
        0.0 => "0 %".to_owned(),
        _ => format!("{percent:.1e} %"),
    }
}

fn print(all: &[ListCounts], entries: u64, out: &mut Out) -> Result<(), CliError> {
    let mut grid = Grid::new([
        ("", Align::Left),
        ("addresses", Align::Right),
        ("of all", Align::Right),
        ("prefixes", Align::Right),
        ("ranges", Align::Right),
    ]);
    for counts in all {
        grid.row([
            counts.label.to_owned(),
            grouped(&counts.addresses),
            share(100.0 * counts.share),
            thousands(counts.prefixes),
            thousands(counts.ranges),
        ]);
    }
    let noun = if entries == 1 { "entry" } else { "entries" };
    writeln!(out, "{} {noun}", thousands(entries))?;
    grid.print(out)
}
