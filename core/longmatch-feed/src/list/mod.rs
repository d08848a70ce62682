//! Lists of prefixes as sets of addresses.
//!
//! They are rows of one cell, but have their own path: [`scan`] is a pure function over a block of whole lines,
//! which takes a tenth of the time of rows.

mod scan;

use memchr::memrchr;

use crate::data::Store;
use crate::decompress::explain;
use crate::error::{FeedError, Problem};
use crate::input::Input;
use crate::options::Options;
use crate::report::Report;
use crate::source::Opened;

/// Bytes that are scanned at once.
const BLOCK: usize = 1 << 20;

/// Reads the blocks of a list.
pub(crate) fn load(
    mut opened: Opened<'_>,
    semicolons: bool,
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), FeedError> {
    let end = blocks(&mut opened, semicolons, options, store, report);
    report.bytes = opened.input.received();
    report.input_bytes = opened.taken.get();
    end
}

fn blocks(
    opened: &mut Opened<'_>,
    semicolons: bool,
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
        scan::scan(&window[..whole], semicolons, options, entries, report)?;
        input.consume(whole);
        entries.reduce();
        if ended {
            return Ok(());
        }
        if let Some(error) = input.take_error() {
            // The bytes after the last line end are not a line.
            return Err(FeedError::byte(input.received(), explain(error, opened.codec)));
        }
        if whole == 0 {
            report.lines += 1;
            let error = FeedError::line(report.lines, Problem::LineTooLong { limit });
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
