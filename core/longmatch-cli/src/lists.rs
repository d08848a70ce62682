//! Named lists of prefixes as one table: which lists have an address.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use longmatch::IpPrefix;
use longmatch::table::{Cell, Column, ColumnType, PrefixData};
use longmatch_feed::{DataLoader, Options, printable};

use crate::error::{Advice, CliError};
use crate::families::Families;
use crate::paths::{display_name, named, one_stdin};
use crate::prefix_data;
use crate::reports::print_report;

/// The column of the lists' names.
const COLUMN: &str = "list";

/// The names and files of lists; `None` if no file has a name.
///
/// # Errors
/// If only some have one, two have the same, or a name may mean several.
pub fn of(files: &[PathBuf]) -> Result<Option<Vec<(&str, &Path)>>, CliError> {
    let lists: Vec<_> = files.iter().filter_map(|path| named(path)).collect();
    let refused = |name, problem| {
        let name = format!("'{}': {problem}", printable(name));
        Err(CliError::input("--routes", name))
    };
    for (at, (name, _)) in lists.iter().enumerate() {
        if name.is_empty() || name.contains(';') {
            return refused(
                name,
                "give the list a name without ';', which separates the names of lists",
            );
        }
        if lists[..at].iter().any(|(other, _)| other == name) {
            return refused(name, "two lists have this name: give each its own");
        }
    }
    match lists.len() {
        0 => Ok(None),
        all if all == files.len() => Ok(Some(lists)),
        _ => Err(CliError::new("--routes: give each file a name, NAME=FILE, or none")),
    }
}

/// Loads lists as one table with the column `list`: the names of all lists that have the addresses of a prefix, separated
/// by semicolons. Other columns are left out.
///
/// # Errors
/// If a list cannot be read, or standard input was given twice.
pub fn load(lists: &[(&str, &Path)], options: &Options) -> Result<PrefixData, CliError> {
    one_stdin(lists.iter().map(|(_, path)| path))?;
    let advice = Advice { lenient: !options.lenient, families: false };
    let mut prefixes = BTreeMap::<IpPrefix, BTreeSet<usize>>::new();
    for (number, (_, path)) in lists.iter().enumerate() {
        let mut options = options.clone();
        options.columns = Some(Vec::new());
        let mut loader = DataLoader::new(options);
        let report = prefix_data::load(&mut loader, path, advice)?;
        print_report(&display_name(path), &report, Families::BOTH);
        for (prefix, _) in prefix_data::finish(loader, advice)?.table() {
            prefixes.entry(prefix).or_default().insert(number);
        }
    }
    let failed = |error| CliError::input("--routes", error);
    let mut data =
        PrefixData::new(vec![Column::new(COLUMN, ColumnType::String)]).map_err(failed)?;
    // Prefixes come before those inside them: the ones that cover the current prefix are on a stack.
    let mut open = Vec::<(IpPrefix, BTreeSet<usize>)>::new();
    for (prefix, mut numbers) in prefixes {
        while open.last().is_some_and(|(cover, _)| !cover.covers(prefix)) {
            open.pop();
        }
        if let Some((_, covering)) = open.last() {
            numbers.extend(covering);
        }
        let names: Vec<_> = numbers.iter().map(|number| lists[*number].0).collect();
        data.insert(prefix, [Cell::String(names.join(";").into())].into()).map_err(failed)?;
        open.push((prefix, numbers));
    }
    Ok(data)
}
