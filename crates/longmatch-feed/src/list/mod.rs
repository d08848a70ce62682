//! Sets of addresses: the keys of an input without their columns.
//!
//! Lists of prefixes have a path of their own: [`scan`] is a pure function over a block of whole lines, which takes a
//! tenth of the time of rows.

mod scan;

use std::io::Read;
use std::path::Path;

use longmatch::set::{AddressRange, AddressSet};
use longmatch::{Family, IpPrefix, Ipv4, Ipv6};
use memchr::memrchr;

use crate::data::Store;
use crate::data::key::Found;
use crate::decompress::explain;
use crate::error::FeedError;
use crate::input::Input;
use crate::options::Options;
use crate::read::{self, To};
use crate::report::Report;
use crate::source::Opened;
use crate::text::error::LineError;

/// Bytes that are scanned at once.
const BLOCK: usize = 1 << 20;
/// Entries that are kept before equal and neighbouring ones are joined.
const KEPT: usize = 1 << 22;

/// Entries of an input, each as the range of its addresses, in the order of the input.
#[derive(Clone, Debug, Default)]
pub struct ListEntries {
    /// The IPv4 entries.
    pub ipv4: Vec<AddressRange<Ipv4>>,
    /// The IPv6 entries.
    pub ipv6: Vec<AddressRange<Ipv6>>,
    /// The numbers of entries at which equal and neighbouring ones are joined; 0 for never.
    limits: [usize; 2],
}

impl ListEntries {
    /// Entries that are joined when they become many, so that their memory is that of the set and not of a list that
    /// repeats its addresses.
    #[must_use]
    pub fn joined() -> Self {
        Self { limits: [KEPT; 2], ..Self::default() }
    }

    /// Adds a prefix or a range. IPv4-mapped IPv6 addresses become IPv4.
    pub(crate) fn add(&mut self, found: Found) {
        match found {
            Found::Prefix(prefix) => match prefix.unmapped() {
                IpPrefix::V4(prefix) => self.ipv4.push(prefix.into()),
                IpPrefix::V6(prefix) => self.ipv6.push(prefix.into()),
            },
            Found::Range(first, last) => match (first, last) {
                (std::net::IpAddr::V4(first), std::net::IpAddr::V4(last)) => {
                    self.ipv4.extend(AddressRange::new(first, last));
                }
                (std::net::IpAddr::V6(first), std::net::IpAddr::V6(last)) => {
                    match (first.to_ipv4_mapped(), last.to_ipv4_mapped()) {
                        (Some(first), Some(last)) => {
                            self.ipv4.extend(AddressRange::new(first, last));
                        }
                        _ => self.ipv6.extend(AddressRange::new(first, last)),
                    }
                }
                _ => {}
            },
        }
        self.reduce();
    }

    /// Joins entries if they are twice as many as after the last time.
    #[inline]
    fn reduce(&mut self) {
        reduce(&mut self.ipv4, &mut self.limits[0]);
        reduce(&mut self.ipv6, &mut self.limits[1]);
    }
}

#[inline]
fn reduce<F: Family>(entries: &mut Vec<AddressRange<F>>, limit: &mut usize) {
    if *limit > 0 && entries.len() >= *limit {
        *entries = AddressSet::from(std::mem::take(entries)).into();
        *limit = KEPT.max(entries.len() * 2);
    }
}

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

/// Reads the blocks of a list.
pub(crate) fn load(
    mut opened: Opened<'_>,
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), FeedError> {
    let end = blocks(&mut opened, options, store, report);
    report.bytes = opened.input.received();
    report.input_bytes = opened.taken.get();
    end
}

fn blocks(
    opened: &mut Opened<'_>,
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), FeedError> {
    let Some(entries) = store.set() else { return Ok(()) };
    let input = &mut opened.input;
    let limit = options.limits.row;
    let block = BLOCK.max(limit);
    loop {
        let len = input.fill(block + 1);
        let ended = len <= block && !input.has_failed();
        let window = &input.window()[..len.min(block + 1)];
        let whole = match ended {
            true => len,
            false => memrchr(b'\n', window).map_or(0, |end| end + 1),
        };
        scan::scan(&window[..whole], options, entries, report)?;
        input.consume(whole);
        entries.reduce();
        if ended {
            return Ok(());
        }
        if let Some(error) = input.take_error() {
            // The bytes after the last line end are no line.
            return Err(FeedError::stream(input.received(), explain(error, opened.codec)));
        }
        if whole == 0 {
            report.lines += 1;
            let error = FeedError::line(report.lines, LineError::TooLong { limit });
            match options.lenient {
                true => report.note_damage(error),
                false => return Err(error),
            }
            skip_line(input);
        }
    }
}

/// Drops the rest of a line of any length.
fn skip_line(input: &mut Input<'_>) {
    while input.fill(1) > 0 {
        let window = input.window();
        match memchr::memchr(b'\n', window) {
            Some(end) => return input.consume(end + 1),
            None => input.consume(window.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_entries_are_joined() {
        let range = |n| AddressRange::<Ipv4>::from_bits(n, n).unwrap();
        let (mut entries, mut limit) = (vec![range(7); 3], 4);
        reduce(&mut entries, &mut limit);
        assert_eq!((entries.len(), limit), (3, 4));
        entries.push(range(8));
        reduce(&mut entries, &mut limit);
        assert_eq!((&*entries, limit), (&[AddressRange::from_bits(7, 8).unwrap()][..], KEPT));
    }
}
