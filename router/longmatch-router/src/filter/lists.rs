//! The lists of the command line: names, actions and addresses.

use std::io;
use std::path::{Path, PathBuf};

use longmatch_cli::args::ReadArgs;
use longmatch_cli::error::{Advice, CliError};
use longmatch_cli::families::Families;
use longmatch_cli::paths::{display_name, is_stdin, named, one_stdin};
use longmatch_cli::reports::print_report;
use longmatch_feed::{ListEntries, printable, read_list, read_list_path};
use longmatch_filter::{Action, Addresses, List, MAX_LISTS};

use super::args::ListArgs;

/// The lists of `start`, each with its file.
///
/// # Errors
/// If there are too many, or two have the same name.
pub fn of(args: &ListArgs) -> Result<Vec<(List, PathBuf)>, CliError> {
    let all =
        [(&args.pass, Action::Pass), (&args.drop, Action::Drop), (&args.count, Action::Count)];
    let [pass, drop, count] = all.map(|(paths, action)| paths.iter().map(move |it| (action, it)));
    let limit = args.limit.iter().map(|(rate, path)| (Action::Limit(*rate), path));
    let mark = args.mark.iter().map(|(mark, path)| (Action::Mark(*mark), path));
    let mut lists: Vec<(List, PathBuf)> = Vec::new();
    for (action, path) in pass.chain(drop).chain(limit).chain(mark).chain(count) {
        let (name, path) = match named(path) {
            Some((name, path)) => (name.to_owned(), path),
            None => (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), &**path),
        };
        let subject = || format!("the list '{name}'");
        if name.is_empty() {
            return Err(CliError::input(
                path.display(),
                "the list has no name: NAME=FILE gives one",
            ));
        }
        if lists.iter().any(|(list, _)| list.name == name) {
            return Err(CliError::input(
                subject(),
                "two lists have this name: NAME=FILE gives one another",
            ));
        }
        lists.push((List { name, action }, path.to_owned()));
    }
    if lists.len() > MAX_LISTS {
        return Err(CliError::new(format!(
            "more than {MAX_LISTS} lists: join some ('longmatch set union')"
        )));
    }
    let paths = lists.iter().map(|(_, path)| path).chain(&args.to);
    one_stdin(paths)?;
    Ok(lists)
}

/// The path of a file for a later run in any directory.
///
/// # Errors
/// If there is no current directory.
pub fn lasting(path: &Path) -> Result<String, CliError> {
    let path = match is_stdin(path) {
        true => path.to_owned(),
        false => {
            std::path::absolute(path).map_err(|error| CliError::input(path.display(), error))?
        }
    };
    Ok(path.to_string_lossy().into_owned())
}

/// Reads the addresses of a file, or of standard input.
///
/// # Errors
/// If it cannot be read, or is damaged (unless `--lenient`).
pub fn addresses(path: &Path, args: &ReadArgs) -> Result<Addresses, CliError> {
    let options = args.options();
    let (name, entries) = (display_name(path), ListEntries::joined());
    let read = match is_stdin(path) {
        true => read_list(io::stdin().lock(), Some(&name), &options, entries),
        false => read_list_path(path, &options, entries),
    };
    let advice = Advice { lenient: !options.lenient, families: false };
    let (entries, report) = read.map_err(|error| CliError::load(&error, advice))?;
    if report.bytes > 0 {
        print_report(&name, &report, Families::BOTH);
    }
    if entries.ipv4.is_empty() && entries.ipv6.is_empty() {
        let name = printable(&name);
        longmatch_cli::output::warn(format_args!("{name}: the list is empty"));
    }
    Ok(Addresses { ipv4: entries.ipv4.into(), ipv6: entries.ipv6.into() })
}
