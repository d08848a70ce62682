//! Reading of an input as a set of addresses.

use std::io::Read;
use std::path::Path;

use crate::data::Store;
use crate::entries::ListEntries;
use crate::error::FeedError;
use crate::options::Options;
use crate::read::{self, To};
use crate::report::Report;

/// Reads the set of addresses of a file of any [format](crate#formats).
///
/// # Errors
/// As [`read_list`], or if the file cannot be opened.
pub fn read_list_path(
    path: impl AsRef<Path>,
    options: &Options,
    entries: ListEntries,
) -> Result<(ListEntries, Report), FeedError> {
    read(options, entries, |options, to| read::path(path.as_ref(), options, to))
}

/// Reads the set of addresses of a stream of any [format](crate#formats), plain or compressed.
///
/// The entries are added to `entries`. The time is linear in the bytes.
///
/// ```
/// use longmatch_feed::{ListEntries, Options, read_list};
///
/// let list = b"# customers\n192.0.2.0/24\n198.51.100.7\n10.0.0.0 - 10.0.0.9\n2001:db8::/32\n";
/// let (entries, report) = read_list(&list[..], Some("list"), &Options::default(), ListEntries::default())?;
/// assert_eq!((report.lines, report.rows, report.rows_ipv6), (5, 4, 1));
/// assert_eq!(entries.ipv4[2].to_string(), "10.0.0.0-10.0.0.9");
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
///
/// # Errors
/// If the stream cannot be read, is damaged (unless [`Options::lenient`] is set), has updates of routes, or does not fit
/// the options.
pub fn read_list(
    reader: impl Read,
    name: Option<&str>,
    options: &Options,
    entries: ListEntries,
) -> Result<(ListEntries, Report), FeedError> {
    read(options, entries, |options, to| read::reader(reader, name, options, to))
}

fn read(
    options: &Options,
    entries: ListEntries,
    read: impl FnOnce(&Options, To<'_>) -> Result<Report, FeedError>,
) -> Result<(ListEntries, Report), FeedError> {
    let mut store = Store::of_set(entries);
    let options = Options { columns: Some(Vec::new()), ..options.clone() };
    let report = read(&options, To::Store(&mut store))?;
    Ok((store.into_set(), report))
}
