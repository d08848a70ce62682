//! `longmatch set diff`: the routes that differ between two tables.

use std::io::Write;
use std::path::Path;

use longmatch::set::AddressRange;
use longmatch::table::UnionItem;
use longmatch::{IpPrefix, Table};
use longmatch_feed::{Duplicates, FeedError, ListEntries, Problem, Report, printable};
use serde::{Serialize, Serializer};

use super::input::{in_threads, pair};
use crate::args::{DiffArgs, SetReadArgs};
use crate::error::{Advice, CliError, Outcome, Status};
use crate::families::Families;
use crate::input::load;
use crate::output::{Align, Grid, Out, thousands};
use crate::paths::display_name;
use crate::reports::print_report;

/// A table of routes and the texts of their values.
type Routes = Table<Box<str>>;

/// Runs the operation.
///
/// # Errors
/// If a table cannot be read, or standard output not be written.
pub fn run(args: &DiffArgs) -> Outcome {
    let files = [args.old.as_path(), args.new.as_path()];
    let ([old, new], with_values) = match args.prefixes {
        true => (of_lists(files, &args.read)?, false),
        false => of_routes(files, &args.read)?,
    };
    let families = Families::from(args.read.families);
    let is_joined = args.read.source.rows.duplicates == Some(Duplicates::Join);
    let mut counts = [ChangeCounts::default(), ChangeCounts::default()];
    let mut out = Out::new();
    let mut is_first = true;
    for (prefix, item) in old.union(&new).filter(|(prefix, _)| families.keep(*prefix)) {
        let (counts, change) =
            (&mut counts[usize::from(!is_ipv4(prefix))], Change::of(item, is_joined));
        counts.count(change);
        if change == Change::Same || args.stat {
            continue;
        }
        if args.json {
            out.json(&line(prefix, change, with_values))?;
            continue;
        }
        if is_first {
            let [old, new] = files.map(display_name);
            writeln!(out, "--- {}\n+++ {}", printable(&old), printable(&new))?;
            is_first = false;
        }
        print(prefix, change, with_values, &mut out)?;
    }
    if args.stat {
        stat(&counts, args.json, &mut out)?;
    }
    out.flush()?;
    Ok(Status::ok_if(counts.iter().all(|counts| counts.differences() == 0)))
}

fn is_ipv4(prefix: IpPrefix) -> bool {
    matches!(prefix, IpPrefix::V4(_))
}

/// Loads two tables of routes at the same time; returns also whether they have values, which two lists do
/// not have.
fn of_routes(files: [&Path; 2], args: &SetReadArgs) -> Result<([Routes; 2], bool), CliError> {
    let mut options = args.source.options();
    options.default_family = args.families.only();
    let work = |path: &Path| -> Result<(Routes, Report), FeedError> {
        let mut table = Routes::new();
        let report = load(path, &options, &mut table)?;
        Ok((table, report))
    };
    let (mut tables, mut lists) = ([Routes::new(), Routes::new()], Vec::new());
    let mut with_values = false;
    for ((result, path), table) in in_threads(&files, work)?.into_iter().zip(files).zip(&mut tables)
    {
        let (loaded, report) = result.map_err(|error| refused(&error, args))?;
        print_report(&display_name(path), &report, Families::from(args.families));
        *table = loaded;
        // An empty table goes with both.
        match report.is_list {
            _ if table.is_empty() => {}
            true => lists.push(display_name(path)),
            false => with_values = true,
        }
    }
    match &*lists {
        [list, ..] if with_values => {
            let problem =
                "it has no values, but the other table has: --prefixes compares the prefixes only";
            Err(CliError::input(list, problem))
        }
        _ => Ok((tables, with_values)),
    }
}

/// Reports a table that could not be read, with the options that help.
fn refused(error: &FeedError, args: &SetReadArgs) -> CliError {
    match &error.problem {
        Problem::MissingNextHop => {
            CliError::new(format!("{error} (--prefixes compares lists without next hops)"))
        }
        _ => CliError::load(error, Advice { lenient: !args.source.rows.lenient, families: true }),
    }
}

/// Reads two lists as tables without values.
fn of_lists(files: [&Path; 2], args: &SetReadArgs) -> Result<[Routes; 2], CliError> {
    let mut tables = [Routes::new(), Routes::new()];
    let [old, new] = files;
    for (ListEntries { ipv4, ipv6, .. }, table) in
        pair(old, new, args)?.into_iter().zip(&mut tables)
    {
        let ipv4 = ipv4.iter().flat_map(AddressRange::prefixes).map(IpPrefix::V4);
        let ipv6 = ipv6.iter().flat_map(AddressRange::prefixes).map(IpPrefix::V6);
        for prefix in ipv4.chain(ipv6) {
            let added = table.insert_borrowed(prefix, "");
            added.map_err(|error| CliError::input("--prefixes", error))?;
        }
    }
    Ok(tables)
}

/// What became of a prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change<'t> {
    Added(&'t str),
    Removed(&'t str),
    Changed(&'t str, &'t str),
    Same,
}

impl<'t> Change<'t> {
    fn of(item: UnionItem<'t, Box<str>, Box<str>>, is_joined: bool) -> Self {
        match item {
            UnionItem::Left(old) => Self::Removed(old),
            UnionItem::Right(new) => Self::Added(new),
            UnionItem::Both(old, new) if old == new => Self::Same,
            UnionItem::Both(old, new) if is_joined && parts(old) == parts(new) => Self::Same,
            UnionItem::Both(old, new) => Self::Changed(old, new),
        }
    }
}

/// The parts of each cell of joined rows, sorted: the order of rows in a file does not matter.
fn parts(value: &str) -> Vec<Vec<&str>> {
    let mut cells: Vec<Vec<_>> = value.split(',').map(|cell| cell.split(';').collect()).collect();
    cells.iter_mut().for_each(|cell| cell.sort_unstable());
    cells
}

/// Prints a difference as lines of a unified diff.
fn print(
    prefix: IpPrefix,
    change: Change<'_>,
    with_values: bool,
    out: &mut Out,
) -> Result<(), CliError> {
    let (old, new) = match change {
        Change::Added(new) => (None, Some(new)),
        Change::Removed(old) => (Some(old), None),
        Change::Changed(old, new) => (Some(old), Some(new)),
        Change::Same => (None, None),
    };
    for (sign, value) in [('-', old), ('+', new)] {
        match value {
            None => {}
            Some(_) if !with_values => writeln!(out, "{sign}{prefix}")?,
            Some(value) => writeln!(out, "{sign}{prefix} {}", printable(value))?,
        }
    }
    Ok(())
}

/// A difference as JSON.
#[derive(Serialize)]
struct Line<'t> {
    change: &'static str,
    #[serde(serialize_with = "displayed")]
    prefix: IpPrefix,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'t str>,
}

fn displayed<S: Serializer>(prefix: &IpPrefix, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(prefix)
}

/// The line of a difference; lists without values have prefixes only.
fn line(prefix: IpPrefix, change: Change<'_>, with_values: bool) -> Line<'_> {
    let (change, old, new) = match change {
        Change::Added(new) => ("added", None, Some(new)),
        Change::Removed(old) => ("removed", Some(old), None),
        Change::Changed(old, new) => ("changed", Some(old), Some(new)),
        Change::Same => ("same", None, None),
    };
    let kept = |value: Option<_>| value.filter(|_| with_values);
    Line { change, prefix, old: kept(old), new: kept(new) }
}

/// Numbers of differences of one family.
#[derive(Default, Serialize)]
struct ChangeCounts {
    added: u64,
    removed: u64,
    changed: u64,
    same: u64,
}

impl ChangeCounts {
    fn count(&mut self, change: Change<'_>) {
        *match change {
            Change::Added(_) => &mut self.added,
            Change::Removed(_) => &mut self.removed,
            Change::Changed(..) => &mut self.changed,
            Change::Same => &mut self.same,
        } += 1;
    }

    fn differences(&self) -> u64 {
        self.added + self.removed + self.changed
    }
}

/// Prints the numbers of differences.
fn stat(counts: &[ChangeCounts; 2], json: bool, out: &mut Out) -> Result<(), CliError> {
    #[derive(Serialize)]
    struct OfFamily<'t> {
        family: &'static str,
        #[serde(flatten)]
        counts: &'t ChangeCounts,
    }
    let families = [("ipv4", "IPv4"), ("ipv6", "IPv6")];
    if json {
        let mut lines = counts.iter().zip(families);
        return lines.try_for_each(|(counts, (family, _))| out.json(&OfFamily { family, counts }));
    }
    let mut grid = Grid::new([
        ("", Align::Left),
        ("added", Align::Right),
        ("removed", Align::Right),
        ("changed", Align::Right),
        ("same", Align::Right),
    ]);
    for (counts, (_, label)) in counts.iter().zip(families) {
        let numbers = [counts.added, counts.removed, counts.changed, counts.same].map(thousands);
        let [added, removed, changed, same] = numbers;
        grid.row([label.to_owned(), added, removed, changed, same]);
    }
    grid.print(out)
}
