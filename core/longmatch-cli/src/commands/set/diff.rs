//! `longmatch set diff`: the routes that differ between two tables.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::iter;
use std::path::Path;

use longmatch::set::AddressRange;
use longmatch::table::UnionItem;
use longmatch::{IpPrefix, Table};
use longmatch_feed::{
    Duplicates, FeedError, KeptColumn, ListEntries, Options, Problem, Report, Sink, SinkError,
    printable,
};
use serde::{Serialize, Serializer};

use super::input::{in_threads, pair};
use crate::args::{DiffArgs, SetReadArgs};
use crate::error::{Advice, CliError, Outcome, Status};
use crate::families::Families;
use crate::input::load;
use crate::name_list::list_of_names;
use crate::output::{Align, Grid, Out, thousands, warn};
use crate::paths::{display_name, file, is_stdin};
use crate::reports::print_report;

/// The texts of the rows of prefixes, or of the values of routes.
#[derive(Default)]
struct Rows {
    /// The last row of each prefix.
    last: Table<Box<str>>,
    /// The rows before it.
    earlier: BTreeMap<IpPrefix, Vec<Box<str>>>,
}

impl Sink for Rows {
    fn announce(&mut self, prefix: IpPrefix, value: &str) -> Result<(), SinkError> {
        if let Some(old) = self.last.insert_borrowed(prefix, value)? {
            self.earlier.entry(prefix.unmapped()).or_default().push(old.clone());
        }
        Ok(())
    }

    fn withdraw(&mut self, prefix: IpPrefix) -> Result<(), SinkError> {
        self.last.remove(prefix);
        Ok(())
    }
}

/// A table and the report of its file.
type Loaded = (Rows, Report);

/// The two tables.
#[derive(Default)]
struct DiffTables {
    old: Rows,
    new: Rows,
    /// Whether they have values, which two lists do not have.
    with_values: bool,
    /// Whether the values are cells of columns, all of them.
    with_columns: bool,
}

/// Runs the operation.
///
/// # Errors
/// If a table cannot be read, or standard output not be written.
pub fn run(args: &DiffArgs) -> Outcome {
    let files = [args.old.as_path(), args.new.as_path()];
    let tables = match args.prefixes {
        true => of_lists(files, &args.read)?,
        false => of_routes(files, args)?,
    };
    let with_values = tables.with_values;
    let families = Families::from(args.read.families);
    let is_joined = args.read.source.rows.duplicates == Some(Duplicates::Join);
    let mut counts = [ChangeCounts::default(), ChangeCounts::default()];
    let mut out = Out::new();
    let mut is_first = true;
    let all = tables.old.last.union(&tables.new.last);
    let all = all.filter(|(prefix, _)| families.keep(*prefix));
    for (prefix, change) in all.flat_map(|(prefix, item)| {
        changes(prefix, item, &tables, is_joined).map(move |change| (prefix, change))
    }) {
        counts[usize::from(!is_ipv4(prefix))].count(change);
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
    let same = counts.iter().any(|counts| counts.same > 0);
    let changed = counts.iter().map(|counts| counts.changed).sum::<u64>();
    if tables.with_columns && !same && changed > 1 {
        warn(
            "no row is the same in both tables: --columns compares only the columns that it names",
        );
    }
    Ok(Status::ok_if(counts.iter().all(|counts| counts.differences() == 0)))
}

fn is_ipv4(prefix: IpPrefix) -> bool {
    matches!(prefix, IpPrefix::V4(_))
}

/// Loads two tables of routes at the same time.
fn of_routes(files: [&Path; 2], args: &DiffArgs) -> Result<DiffTables, CliError> {
    let DiffArgs { read, columns, .. } = args;
    let mut options = columns.options(&read.source, read.families);
    options.duplicates = read.source.rows.duplicates.unwrap_or(Duplicates::All);
    let work = |path: &Path, options: &Options| -> Result<Loaded, FeedError> {
        let mut rows = Rows::default();
        let report = load(path, options, &mut rows)?;
        Ok((rows, report))
    };
    let mut all = Vec::new();
    for result in in_threads(&files, |path| work(path, &options))? {
        all.push(result.map_err(|error| refused(&error, read))?);
    }
    if columns.columns.is_none()
        && let Some(at) = in_another_order(files, &all)?
    {
        let in_order = |name: &String| {
            let Ok(mut kept) = name.parse::<KeptColumn>();
            (kept.column, kept.name) = (name.clone(), None);
            kept
        };
        options.columns = Some(all[1 - at].1.columns.iter().map(in_order).collect());
        all[at] = work(files[at], &options).map_err(|error| refused(&error, read))?;
    }
    let (mut tables, mut lists) = (DiffTables::default(), Vec::new());
    let places = [&mut tables.old, &mut tables.new];
    for (((loaded, report), path), rows) in all.into_iter().zip(files).zip(places) {
        let name = display_name(path);
        print_report(&name, &report, Families::from(read.families));
        *rows = loaded;
        if report.format.has_routes() {
            if columns.columns.is_some() {
                let problem = "routes have no columns: leave out --columns (--value names a value)";
                return Err(CliError::input(name, problem));
            }
            rows.earlier.clear();
        }
        // An empty table goes with both.
        match report.is_list {
            _ if rows.last.is_empty() => {}
            true => lists.push(name),
            false => tables.with_values = true,
        }
        tables.with_columns |= !report.format.has_routes() && columns.columns.is_none();
    }
    match &*lists {
        [list, ..] if tables.with_values => {
            let problem =
                "it has no values, but the other table has: --prefixes compares the prefixes only";
            Err(CliError::input(list, problem))
        }
        _ => Ok(tables),
    }
}

/// The number of the table to read again, with its columns in the order of the other table.
///
/// # Errors
/// If a table has a column that the other does not have, or neither can be read again.
fn in_another_order(files: [&Path; 2], all: &[Loaded]) -> Result<Option<usize>, CliError> {
    let [(old_rows, Report { columns: old, .. }), (new_rows, Report { columns: new, .. })] = all
    else {
        return Ok(None);
    };
    // Lists and routes have no columns, and an empty table goes with every other.
    let is_empty = old_rows.last.is_empty() || new_rows.last.is_empty();
    if old == new || is_empty || old.is_empty() || new.is_empty() {
        return Ok(None);
    }
    let (common, removed): (Vec<_>, Vec<_>) = old.iter().partition(|name| new.contains(name));
    let added = new.iter().filter(|name| !old.contains(name)).collect::<Vec<_>>();
    // A name with '=' would rename a column.
    let common = common.into_iter().filter(|name| !name.contains('=')).collect::<Vec<_>>();
    let [common, removed, added] = [common, removed, added].map(list_of_names);
    let [old_name, new_name] = files.map(display_name);
    if !removed.is_empty() || !added.is_empty() {
        let only = [(&old_name, removed), (&new_name, added)];
        let only = only.iter().filter(|(_, names)| !names.is_empty());
        let only: Vec<_> = only.map(|(file, names)| format!("only {file} has {names}")).collect();
        let advice = match common.is_empty() {
            false => format!("--columns {common} compares the columns of both"),
            true => "--prefixes compares the prefixes only, --columns 2 the second columns".into(),
        };
        let problem = format!("the columns differ: {}: {advice}", only.join(", "));
        return Err(CliError::new(printable(&problem)));
    }
    let is_file = |at: &usize| !is_stdin(files[*at]) && file(files[*at]).is_file();
    let again = [1, 0].into_iter().find(is_file);
    let problem = format_args!(
        "the columns are in another order than those of {old_name}: --columns {common} gives both one order"
    );
    again.map(Some).ok_or_else(|| CliError::input(new_name, problem))
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
fn of_lists([old, new]: [&Path; 2], args: &SetReadArgs) -> Result<DiffTables, CliError> {
    let mut tables = DiffTables::default();
    let places = [&mut tables.old, &mut tables.new];
    for (ListEntries { ipv4, ipv6, .. }, rows) in pair(old, new, args)?.into_iter().zip(places) {
        let ipv4 = ipv4.iter().flat_map(AddressRange::prefixes).map(IpPrefix::V4);
        let ipv6 = ipv6.iter().flat_map(AddressRange::prefixes).map(IpPrefix::V6);
        for prefix in ipv4.chain(ipv6) {
            let added = rows.last.insert_borrowed(prefix, "");
            added.map_err(|error| CliError::input("--prefixes", error))?;
        }
    }
    Ok(tables)
}

/// The differences of the rows of a prefix. Of different rows, in the order of their texts, each two are a change.
fn changes<'t>(
    prefix: IpPrefix,
    item: UnionItem<'t, Box<str>, Box<str>>,
    tables: &'t DiffTables,
    is_joined: bool,
) -> impl Iterator<Item = Change<'t>> {
    let earlier = [&tables.old, &tables.new].map(|rows| rows.earlier.get(&prefix.unmapped()));
    if let [None, None] = earlier {
        return Some(Change::of(item, is_joined)).into_iter().chain(Vec::new());
    }
    let last = match item {
        UnionItem::Left(old) => [Some(old), None],
        UnionItem::Right(new) => [None, Some(new)],
        UnionItem::Both(old, new) => [Some(old), Some(new)],
    };
    let [old, new] = [0, 1].map(|at| -> BTreeSet<&str> {
        last[at].into_iter().chain(earlier[at].into_iter().flatten()).map(|row| &**row).collect()
    });
    let same = old.intersection(&new).map(|_| Change::Same);
    let (mut removed, mut added) = (old.difference(&new), new.difference(&old));
    let different = iter::from_fn(|| match (removed.next(), added.next()) {
        (Some(old), Some(new)) => Some(Change::Changed(old, new)),
        (Some(old), None) => Some(Change::Removed(old)),
        (None, new) => new.map(|new| Change::Added(new)),
    });
    None.into_iter().chain(same.chain(different).collect::<Vec<_>>())
}

/// What became of a row.
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
struct DiffLine<'t> {
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
fn line(prefix: IpPrefix, change: Change<'_>, with_values: bool) -> DiffLine<'_> {
    let (change, old, new) = match change {
        Change::Added(new) => ("added", None, Some(new)),
        Change::Removed(old) => ("removed", Some(old), None),
        Change::Changed(old, new) => ("changed", Some(old), Some(new)),
        Change::Same => ("same", None, None),
    };
    let kept = |value: Option<_>| value.filter(|_| with_values);
    DiffLine { change, prefix, old: kept(old), new: kept(new) }
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
