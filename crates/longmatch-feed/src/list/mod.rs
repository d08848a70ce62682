//! Lists of prefixes, addresses and ranges, one a line.
//!
//! Such a list is a set of addresses: no line has a value. Reading cuts the stream into blocks of
//! whole lines; [`scan`] is a pure function over such a block.

mod report;
mod scan;
mod words;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use longmatch::set::AddressRange;
use longmatch::{IpPrefix, Ipv4, Ipv6};
use memchr::memrchr;

use crate::decompress::explain;
use crate::error::{FeedError, Place, Problem};
use crate::input::Input;
use crate::load::{load_path, load_reader};
use crate::mrt;
use crate::options::{Limits, Options};
use crate::report::Report;
use crate::sink::{Event, SinkError};
use crate::source::{Opened, open, open_file};
use crate::text::BOM;
use crate::text::error::LineError;

pub use self::report::ListReport;

/// Bytes scanned at once: the greatest length of a line.
const BLOCK: usize = 1 << 20;

/// Options of reading a list of prefixes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// Skip and count lines that are no entries, and keep the entries before the end of a damaged
    /// file, instead of refusing the input.
    pub lenient: bool,
    /// Clear set host bits of prefixes instead of refusing the line.
    pub mask_host_bits: bool,
    /// Take the first word of each line only: an address in the second column is not the end of a
    /// range, nor a netmask.
    pub first_word: bool,
    /// Bounds on decompression. A line may have 1 MiB, whatever [`Limits::line`] is.
    pub limits: Limits,
}

/// Entries of a list, each as the range of its addresses, in the order of the input.
#[derive(Clone, Debug, Default)]
pub struct ListEntries {
    /// The IPv4 entries.
    pub ipv4: Vec<AddressRange<Ipv4>>,
    /// The IPv6 entries.
    pub ipv6: Vec<AddressRange<Ipv6>>,
}

impl ListEntries {
    /// Adds a prefix; an IPv4-mapped IPv6 prefix is an IPv4 prefix.
    fn push(&mut self, prefix: IpPrefix) {
        match prefix.unmapped() {
            IpPrefix::V4(prefix) => self.ipv4.push(prefix.into()),
            IpPrefix::V6(prefix) => self.ipv6.push(prefix.into()),
        }
    }
}

/// Called after each block of lines with all entries so far, which it may take or change.
pub type OnBlock<'a> = &'a mut dyn FnMut(&mut ListEntries);

/// Reads a list of prefixes, addresses and ranges from a file.
///
/// See [`read_list`]. An MRT file, `bgpdump -m` lines and the JSON of `ip -json route` are lists
/// too: those of their routes' prefixes, as [`load_path`] takes them; [`ListReport::routes`] then
/// has its report.
///
/// # Errors
/// As [`read_list`], or if the file cannot be opened.
pub fn read_list_path(
    path: impl AsRef<Path>,
    options: &ListOptions,
    entries: &mut ListEntries,
    on_block: OnBlock<'_>,
) -> Result<ListReport, FeedError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let named = |error: FeedError| error.named(Some(&name));
    let is_file = |file: &File| file.metadata().is_ok_and(|it| it.is_file());
    let file = open_file(path).map_err(named)?;
    // The bytes of a pipe can be read only once.
    if is_file(&file) {
        let mut opened = open(Box::new(file), options.limits).map_err(named)?;
        if has_routes(&mut opened.input) {
            drop(opened);
            return routes(options, entries, |options, sink| load_path(path, options, sink));
        }
        return read_opened(opened, Some(&name), options, entries, on_block);
    }
    read_list(file, Some(&name), options, entries, on_block)
}

/// Reads a list of prefixes, addresses and ranges from a stream, plain or compressed.
///
/// A line has one entry: a prefix, an address, a range `first-last` or `first - last`, or the two
/// ends of a range in its first two columns, or a network and its netmask there. Columns are
/// separated by spaces, tabs, commas, semicolons or bars, and may be quoted; further columns are
/// ignored, and so is a first line of column names. Empty lines and lines that begin with `#` or
/// `;` are no entries. Addresses and prefixes that are IPv4 mapped into IPv6 become IPv4.
///
/// The entries are added to `entries`; the memory is that of the entries and of one block.
/// `on_block` may reduce them. The time is linear in the bytes.
///
/// ```
/// use longmatch_feed::{ListEntries, ListOptions, read_list};
///
/// let list = b"# customers\n192.0.2.0/24\n198.51.100.7,web\n10.0.0.0 - 10.0.0.9\n2001:db8::/32\n";
/// let mut entries = ListEntries::default();
/// let options = ListOptions::default();
/// let report = read_list(&list[..], Some("list"), &options, &mut entries, &mut |_| {})?;
/// assert_eq!((report.lines, report.ipv4, report.ipv6), (5, 3, 1));
/// assert_eq!(entries.ipv4[2].to_string(), "10.0.0.0-10.0.0.9");
/// # Ok::<(), longmatch_feed::FeedError>(())
/// ```
///
/// # Errors
/// If the stream cannot be read, is damaged or no text, or a line is no entry (unless
/// [`ListOptions::lenient`] is set). `entries` then has the entries before the error.
pub fn read_list(
    reader: impl Read,
    name: Option<&str>,
    options: &ListOptions,
    entries: &mut ListEntries,
    on_block: OnBlock<'_>,
) -> Result<ListReport, FeedError> {
    let mut opened = open(Box::new(reader), options.limits).map_err(|error| error.named(name))?;
    if has_routes(&mut opened.input) {
        let input = opened.input;
        return routes(options, entries, |options, sink| {
            load_reader(Rest(input), name, options, sink)
        });
    }
    read_opened(opened, name, options, entries, on_block)
}

/// Reads what is left of an input.
struct Rest<'a>(Input<'a>);

impl Read for Rest<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.fill(1).min(buf.len());
        if let (0, Some(error)) = (n, self.0.take_error()) {
            return Err(error);
        }
        buf[..n].copy_from_slice(&self.0.window()[..n]);
        self.0.consume(n);
        Ok(n)
    }
}

/// Whether an input is in a format of routes whose lines are no lists.
fn has_routes(input: &mut Input<'_>) -> bool {
    input.fill(mrt::HEADER_LEN.max(64));
    let head = input.window();
    let text = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    mrt::looks_like(&head[..head.len().min(mrt::HEADER_LEN)])
        || text.starts_with(b"[")
        || [&b"TABLE_DUMP"[..], b"BGP4MP"].iter().any(|word| {
            text.starts_with(word) && memchr::memchr(b'|', &text[..text.len().min(20)]).is_some()
        })
}

/// Adds the prefixes of routes.
fn routes(
    options: &ListOptions,
    entries: &mut ListEntries,
    load: impl FnOnce(&Options, &mut dyn crate::sink::Sink) -> Result<Report, FeedError>,
) -> Result<ListReport, FeedError> {
    let of_routes = Options {
        lenient: options.lenient,
        mask_host_bits: options.mask_host_bits,
        limits: options.limits,
        ..Options::default()
    };
    let mut sink = |event: Event<'_>| -> Result<(), SinkError> {
        match event {
            Event::Announce(prefix, _) => entries.push(prefix),
            Event::Withdraw(_) => {
                return Err("these are updates of routes: give a table or a list".into());
            }
        }
        Ok(())
    };
    let report = load(&of_routes, &mut sink)?;
    Ok(ListReport::of_routes(report))
}

/// Reads the blocks of an opened list.
fn read_opened(
    mut opened: Opened<'_>,
    name: Option<&str>,
    options: &ListOptions,
    entries: &mut ListEntries,
    on_block: OnBlock<'_>,
) -> Result<ListReport, FeedError> {
    let mut report = ListReport { codec: opened.codec, ..ListReport::default() };
    let end = read_blocks(&mut opened, options, entries, &mut report, on_block);
    report.bytes = opened.input.received();
    report.input_bytes = opened.taken.get();
    match end {
        Ok(()) => {}
        Err(error) if options.lenient && error.is_damage() => {
            report.cut_off = true;
            report.note_damage(error);
        }
        Err(error) => return Err(error.named(name)),
    }
    report.first_damage = report.first_damage.map(|error| error.named(name));
    report.refuse_damage_alone()?;
    Ok(report)
}

fn read_blocks(
    opened: &mut Opened<'_>,
    options: &ListOptions,
    entries: &mut ListEntries,
    report: &mut ListReport,
    on_block: OnBlock<'_>,
) -> Result<(), FeedError> {
    let input = &mut opened.input;
    input.fill(mrt::HEADER_LEN);
    let head = input.window();
    if head[..head.len().min(mrt::HEADER_LEN)].contains(&0) {
        return Err(FeedError::at(Place::Byte(0), Problem::UnknownList));
    }
    loop {
        let len = input.fill(BLOCK + 1);
        let ended = len <= BLOCK && !input.has_failed();
        let window = &input.window()[..len.min(BLOCK + 1)];
        let whole = match ended {
            true => len,
            false => memrchr(b'\n', window).map_or(0, |end| end + 1),
        };
        scan::scan(&window[..whole], options, entries, report)?;
        input.consume(whole);
        on_block(entries);
        if ended {
            return Ok(());
        }
        if let Some(error) = input.take_error() {
            // The bytes after the last line end are no line.
            return Err(FeedError::stream(input.received(), explain(error, opened.codec)));
        }
        if whole == 0 {
            report.lines += 1;
            let error = LineError::TooLong { limit: BLOCK };
            report.refuse(FeedError::line(report.lines, error), options.lenient)?;
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
