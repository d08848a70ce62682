//! `longmatch set matrix`: the addresses that each pair of lists has in common.

use std::io::Write;
use std::path::PathBuf;

use longmatch::set::{AddressCount, AddressSet};
use longmatch_feed::printable;
use serde::Serialize;

use super::input;
use crate::args::MatrixArgs;
use crate::error::{CliError, Outcome, Status};
use crate::families::CliFamily;
use crate::output::{Align, Grid, Out, grouped, percent};
use crate::paths::display_name;

/// The addresses that two lists share.
#[derive(Serialize)]
struct Shared<'a> {
    family: &'static str,
    a: &'a str,
    b: &'a str,
    /// Decimal digits: the number of IPv6 addresses is beyond the integers of most JSON readers.
    addresses: String,
    /// The share of list a, which may be empty.
    share: Option<f64>,
}

/// Runs the operation.
///
/// # Errors
/// If a list cannot be read, or standard output not be written.
pub fn run(args: &MatrixArgs) -> Outcome {
    let sets = input::sets(&args.files, &args.read)?;
    let (ipv4, ipv6): (Vec<_>, Vec<_>) =
        sets.into_iter().map(|(set, _)| (set.ipv4, set.ipv6)).unzip();
    let mut out = Out::new();
    family(args, &ipv4, &mut out)?;
    family(args, &ipv6, &mut out)?;
    out.flush()?;
    Ok(Status::Ok)
}

/// Prints the numbers of a family, unless no list has an address of it.
fn family<F: CliFamily>(
    args: &MatrixArgs,
    sets: &[AddressSet<F>],
    out: &mut Out,
) -> Result<(), CliError> {
    if sets.iter().all(AddressSet::is_empty) {
        return Ok(());
    }
    let mut counts = vec![vec![AddressCount::default(); sets.len()]; sets.len()];
    for (a, set) in sets.iter().enumerate() {
        counts[a][a] = set.count();
        for (b, other) in sets.iter().enumerate().skip(a + 1) {
            let shared = set.intersection(other).count();
            (counts[a][b], counts[b][a]) = (shared, shared);
        }
    }
    match args.json {
        true => json::<F>(&args.files, &counts, out),
        false => grid::<F>(&args.files, &counts, out),
    }
}

fn json<F: CliFamily>(
    files: &[PathBuf],
    counts: &[Vec<AddressCount>],
    out: &mut Out,
) -> Result<(), CliError> {
    let names: Vec<_> = files.iter().map(|path| display_name(path)).collect();
    for (at, (a, row)) in names.iter().zip(counts).enumerate() {
        let whole = row[at].to_f64();
        for (b, count) in names.iter().zip(row) {
            let share = (whole > 0.0).then(|| count.to_f64() / whole);
            let addresses = count.to_string();
            out.json(&Shared { family: F::NAME, a, b, addresses, share })?;
        }
    }
    Ok(())
}

/// A row for each list; the columns have the numbers of the lists.
fn grid<F: CliFamily>(
    files: &[PathBuf],
    counts: &[Vec<AddressCount>],
    out: &mut Out,
) -> Result<(), CliError> {
    let heading = (F::LABEL.to_owned(), Align::Left);
    let numbers = (1..=files.len()).map(|number| (number.to_string(), Align::Right));
    let mut grid = Grid::new([heading].into_iter().chain(numbers));
    for (at, (path, row)) in files.iter().zip(counts).enumerate() {
        let whole = row[at].to_f64();
        let label = format!("{} {}", at + 1, printable(&display_name(path)));
        let cells = row.iter().map(|count| {
            let share = percent(count.to_f64(), whole);
            format!("{} ({share})", short(*count))
        });
        grid.row([label].into_iter().chain(cells));
    }
    grid.print(out)
}

/// A number with all digits, or the first ones and the power of ten: those of IPv6 have up to 39.
fn short(count: AddressCount) -> String {
    match count.get() {
        Some(count) if count < 1_000_000_000_000 => grouped(&count.to_string()),
        _ => format!("{:.2e}", count.to_f64()),
    }
}
