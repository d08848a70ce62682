//! Prefix data of the command line: files of any format.

use std::io;
use std::path::Path;

use longmatch::table::PrefixData;
use longmatch_feed::{DataLoader, Options, Report, printable};

use crate::error::{Advice, CliError};
use crate::families::Families;
use crate::name_list::quoted;
use crate::output::warn;
use crate::paths::{display_name, file, is_stdin, one_stdin};
use crate::progress::Progress;
use crate::reports::{print_format, print_report};

/// Loads a file, or standard input for `-`.
///
/// # Errors
/// If the file cannot be read, is damaged (unless the loader is lenient) or does not fit its options.
pub fn load(loader: &mut DataLoader, path: &Path, advice: Advice) -> Result<Report, CliError> {
    let name = display_name(path);
    let progress = Progress::new(format!("loading {}", printable(&name)), None, "rows");
    let report = match is_stdin(path) {
        true => loader.reader(io::stdin().lock(), Some(&name)),
        false => loader.path(path),
    };
    drop(progress);
    if let (true, Some(locations)) = (loader.options_mut().joins.is_empty(), locations(path)) {
        let (name, locations) = (printable(&name), printable(&locations).into_owned());
        warn(format_args!("{name}: --join geoname_id={locations} adds the names of its places"));
    }
    report.map_err(|error| CliError::load(&error, advice))
}

/// The file beside blocks of GeoLite2 that has the names of their places; an archive of blocks has it too.
fn locations(path: &Path) -> Option<String> {
    let name = path.to_str()?;
    let (before, _) = name.split_once("-Blocks-IPv4.csv").or(name.split_once("-Blocks-IPv6.csv"))?;
    let beside = format!("{before}-Locations-en.csv");
    file(beside.as_ref()).is_file().then_some(beside)
}

/// Loads files, one of which may be standard input, and prints their formats and reports.
///
/// # Errors
/// As [`load`] and [`finish`], or if standard input was given twice.
pub fn load_all(files: &[impl AsRef<Path>], options: Options) -> Result<PrefixData, CliError> {
    one_stdin(files)?;
    let advice = Advice { lenient: !options.lenient, families: true };
    let mut loader = DataLoader::new(options);
    for path in files {
        let report = load(&mut loader, path.as_ref(), advice)?;
        let name = display_name(path.as_ref());
        if !report.format.has_routes() {
            print_format(&name, &report);
        }
        print_report(&name, &report, Families::BOTH);
    }
    finish(loader, advice)
}

/// Returns the data that a loader has read.
///
/// # Errors
/// If the rows of different files do not fit together.
pub fn finish(loader: DataLoader, advice: Advice) -> Result<PrefixData, CliError> {
    loader.finish().map_err(|error| CliError::load(&error, advice))
}

/// The error of a column of `--add` that prefix data with the columns `all` do not have.
pub fn no_column<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> CliError {
    let all: Vec<_> = all.map(|name| printable(&quoted(name)).into_owned()).collect();
    let has = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    let name = printable(name);
    CliError::input(
        "--add",
        format_args!("the prefix data have no column '{name}'; they have: {has}"),
    )
}
