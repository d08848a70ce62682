//! Reads the lists of the command line, several at a time.

use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use longmatch_feed::{Format, ListEntries, Report, read_list, read_list_path};

use super::ip_set::IpSet;
use crate::args::SetReadArgs;
use crate::error::{Advice, CliError};
use crate::families::Families;
use crate::paths::{display_name, is_stdin, one_stdin};
use crate::reports::{print_format, print_report};

/// Reads inputs as sets; each with the number of its entries.
///
/// # Errors
/// If an input cannot be read, or standard input was given twice.
pub fn sets(
    files: &[impl AsRef<Path> + Sync],
    args: &SetReadArgs,
) -> Result<Vec<(IpSet, u64)>, CliError> {
    let families = Families::from(args.families);
    let read = each(files, args, ListEntries::joined)?.into_iter().map(|(entries, report)| {
        let rows = [report.rows - report.rows_ipv6, report.rows_ipv6];
        let wanted = u64::from(families.ipv4) * rows[0] + u64::from(families.ipv6) * rows[1];
        (IpSet::of(entries, families), wanted)
    });
    Ok(read.collect())
}

/// Reads two inputs with their entries as they are.
///
/// # Errors
/// As [`sets`].
pub fn pair(a: &Path, b: &Path, args: &SetReadArgs) -> Result<[ListEntries; 2], CliError> {
    let families = Families::from(args.families);
    let mut read = each(&[a, b], args, ListEntries::default)?.into_iter();
    Ok([(); 2].map(|()| {
        let mut entries = read.next().map(|(entries, _)| entries).unwrap_or_default();
        if !families.ipv4 {
            entries.ipv4.clear();
        }
        if !families.ipv6 {
            entries.ipv6.clear();
        }
        entries
    }))
}

/// Reads inputs in threads, and prints their reports in order.
fn each(
    files: &[impl AsRef<Path> + Sync],
    args: &SetReadArgs,
    entries: fn() -> ListEntries,
) -> Result<Vec<(ListEntries, Report)>, CliError> {
    if args.source.rows.duplicates.is_some() {
        let problem = "the operation takes the addresses of all rows: leave out --duplicates";
        return Err(CliError::input("--duplicates", problem));
    }
    let mut options = args.source.options();
    options.default_family = args.families.only();
    let read = |path: &Path| match is_stdin(path) {
        true => {
            let name = display_name(path);
            read_list(io::stdin().lock(), Some(&name), &options, entries())
        }
        false => read_list_path(path, &options, entries()),
    };
    let mut all = Vec::new();
    for (result, path) in in_threads(files, read)?.into_iter().zip(files) {
        let advice = Advice { lenient: !options.lenient, families: true };
        let (entries, report) = result.map_err(|error| CliError::load(&error, advice))?;
        let name = display_name(path.as_ref());
        // Two columns are one key, which a reader of the file may not expect.
        if report.ranges > 0 && report.format == Format::Csv {
            print_format(&name, &report);
        }
        // An empty set is one.
        if report.bytes > 0 {
            print_report(&name, &report, Families::BOTH);
        }
        all.push((entries, report));
    }
    Ok(all)
}

/// Does work for each path, in as many threads as there are CPUs.
///
/// # Errors
/// If standard input was given twice.
pub fn in_threads<T: Send>(
    files: &[impl AsRef<Path> + Sync],
    work: impl Fn(&Path) -> T + Sync,
) -> Result<Vec<T>, CliError> {
    one_stdin(files)?;
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<T>>> = files.iter().map(|_| Mutex::new(None)).collect();
    let run = || {
        while let Some(path) = {
            let i = next.fetch_add(1, Ordering::Relaxed);
            files.get(i).zip(done.get(i))
        } {
            let value = work(path.0.as_ref());
            *path.1.lock().unwrap_or_else(|error| error.into_inner()) = Some(value);
        }
    };
    thread::scope(|scope| {
        for _ in 1..cpus.min(files.len()) {
            // The other threads do the work of one that the system does not start.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let done =
        done.into_iter().map(|it| it.into_inner().unwrap_or_else(|error| error.into_inner()));
    Ok(done.map(|it| it.expect("every path was worked on")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_once_for_each_path_in_order() {
        let names: Vec<_> = (0..100).map(|n| n.to_string()).collect();
        let done = in_threads(&names, |path| path.display().to_string()).unwrap();
        assert_eq!(done, names);
        assert!(in_threads(&["-", "a", "-"], |_| ()).is_err());
    }
}
