//! Reads the lists of the command line, several at a time.

use std::io;
use std::mem;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use longmatch::Family;
use longmatch::set::{AddressRange, AddressSet};
use longmatch_feed::{
    FeedError, ListEntries, ListOptions, ListReport, printable, read_list, read_list_path,
};

use super::ip_set::IpSet;
use crate::args::ReadArgs;
use crate::error::{Advice, CliError};
use crate::input::{Families, display_name, first_damage, is_stdin, print_report};
use crate::output::warn;

/// Entries of a list that are kept before equal and neighbouring ones are joined.
const KEPT: usize = 1 << 22;

/// Reads lists as sets; each with the number of its entries.
///
/// # Errors
/// If a list cannot be read, or standard input was given twice.
pub fn sets(
    files: &[impl AsRef<Path> + Sync],
    args: &ReadArgs,
) -> Result<Vec<(IpSet, u64)>, CliError> {
    let families = Families::from(args.families);
    let read = |path: &Path| {
        let (mut ipv4, mut ipv6) = (Compaction::new(), Compaction::new());
        let mut entries = ListEntries::default();
        let report = read_one(path, args, &mut entries, &mut |entries| {
            ipv4.reduce(&mut entries.ipv4);
            ipv6.reduce(&mut entries.ipv6);
        })?;
        Ok((IpSet::of(entries, families), report))
    };
    let read = each(files, args, read)?;
    let wanted = |report: &ListReport| {
        u64::from(families.ipv4) * report.ipv4 + u64::from(families.ipv6) * report.ipv6
    };
    Ok(read.into_iter().map(|(set, report)| (set, wanted(&report))).collect())
}

/// Reads lists with their entries as they are.
///
/// # Errors
/// As [`sets`].
pub fn lists(
    files: &[impl AsRef<Path> + Sync],
    args: &ReadArgs,
) -> Result<Vec<ListEntries>, CliError> {
    let families = Families::from(args.families);
    let read = |path: &Path| {
        let mut entries = ListEntries::default();
        let report = read_one(path, args, &mut entries, &mut |entries| {
            if !families.ipv4 {
                entries.ipv4.clear();
            }
            if !families.ipv6 {
                entries.ipv6.clear();
            }
        })?;
        Ok((entries, report))
    };
    Ok(each(files, args, read)?.into_iter().map(|(entries, _)| entries).collect())
}

/// Reads inputs in threads, and prints what their reports have to say, in order.
fn each<T: Send>(
    files: &[impl AsRef<Path> + Sync],
    args: &ReadArgs,
    read: impl Fn(&Path) -> Result<(T, ListReport), FeedError> + Sync,
) -> Result<Vec<(T, ListReport)>, CliError> {
    let mut all = Vec::new();
    for (result, path) in in_threads(files, read)?.into_iter().zip(files) {
        let (value, report) = result.map_err(|error| refused(&error, args))?;
        say(&display_name(path.as_ref()), &report);
        all.push((value, report));
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
    if files.iter().filter(|path| is_stdin(path.as_ref())).count() > 1 {
        return Err(CliError::new("'-' was given twice: standard input is read once"));
    }
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

fn read_one(
    path: &Path,
    args: &ReadArgs,
    entries: &mut ListEntries,
    on_block: &mut dyn FnMut(&mut ListEntries),
) -> Result<ListReport, FeedError> {
    let mut options = ListOptions::default();
    options.lenient = args.lenient;
    options.mask_host_bits = args.mask;
    options.first_word = args.first_word;
    match is_stdin(path) {
        true => {
            let name = display_name(path);
            read_list(io::stdin().lock(), Some(&name), &options, entries, on_block)
        }
        false => read_list_path(path, &options, entries, on_block),
    }
}

/// Prints what was skipped on standard error.
fn say(name: &str, report: &ListReport) {
    if let Some(routes) = &report.routes {
        return print_report(name, routes, Families::BOTH);
    }
    for warning in report.warnings() {
        warn(format_args!("{}: {warning}", printable(name)));
    }
    if let Some(error) = &report.first_damage {
        warn(first_damage(error, report.damaged));
    }
}

/// Reports a list that could not be read, with the options that help.
fn refused(error: &FeedError, args: &ReadArgs) -> CliError {
    CliError::load(error, Advice { lenient: !args.lenient, families: false })
}

/// Joins the entries of a list when there are twice as many as after the last time, so that the
/// memory is that of the set and not of a list that repeats its addresses.
struct Compaction {
    limit: usize,
}

impl Compaction {
    fn new() -> Self {
        Self { limit: KEPT }
    }

    fn reduce<F: Family>(&mut self, entries: &mut Vec<AddressRange<F>>) {
        if entries.len() < self.limit {
            return;
        }
        *entries = AddressSet::from(mem::take(entries)).into();
        self.limit = KEPT.max(entries.len() * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::Ipv4;

    #[test]
    fn repeated_entries_are_joined() {
        let mut compaction = Compaction { limit: 4 };
        let range = |n| AddressRange::<Ipv4>::from_bits(n, n).unwrap();
        let mut entries = vec![range(7); 3];
        compaction.reduce(&mut entries);
        assert_eq!(entries.len(), 3);
        entries.push(range(8));
        compaction.reduce(&mut entries);
        assert_eq!(entries, [AddressRange::from_bits(7, 8).unwrap()]);
        assert_eq!(compaction.limit, KEPT);
    }

    #[test]
    fn work_is_done_once_for_each_path_in_order() {
        let names: Vec<_> = (0..100).map(|n| n.to_string()).collect();
        let done = in_threads(&names, |path| path.display().to_string()).unwrap();
        assert_eq!(done, names);
        assert!(in_threads(&["-", "a", "-"], |_| ()).is_err());
    }
}
