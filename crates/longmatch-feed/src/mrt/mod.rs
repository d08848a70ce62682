//! MRT files (RFC 6396, RFC 8050): the record framing and the two passes over it.
//!
//! The work is divided so that a hostile record can do no harm: this module cuts the stream into
//! records, [`table_dump`] and [`updates`] cut records into routes with checked slices, and only
//! the few bytes that hold a next hop go on to the BGP parser ([`bgp`]).

mod bgp;
mod cursor;
pub(crate) mod error;
pub(crate) mod record;
mod table_dump;
mod updates;
mod walk;

use crate::decompress::explain;
use crate::error::{FeedError, Place, Problem};
use crate::input::Input;
use crate::report::Report;
use crate::sink::Sink;
use crate::source::{Job, Opened};
use cursor::Cursor;
use error::MrtError;
use record::{Header, kind};
use walk::{Mode, Walk};

/// Bytes of the header that all records have.
pub(crate) const HEADER_LEN: usize = 12;

/// Whether an input that starts so is MRT. Told by the record type: it is small, and text never
/// has the zero byte that this makes.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    match head {
        [_, _, _, _, high, low, ..] => kind::is_known(u16::from_be_bytes([*high, *low])),
        _ => false,
    }
}

/// Loads the routes of the peers that the options choose: counts the routes of all peers in a first
/// pass over the input, takes those of the chosen ones in a second.
pub(crate) fn load(
    job: &Job<'_>,
    opened: Opened<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    let lenient = job.options.lenient;
    let mut counted = Report::default();
    let mut count = Walk::new(Mode::Count);
    match pass(job, opened, &mut count, &mut counted) {
        // The second pass meets the damage again, after it has taken what comes before.
        Err(error) if lenient && error.is_damage() => {}
        other => other?,
    }
    let chosen = count.peers.choose(job.options.peer);
    let chosen = chosen.map_err(|error| FeedError::at(Place::Whole, Problem::NoSuchPeer(error)))?;
    let mut take = Walk::new(Mode::Take { chosen, sink });
    let end = pass(job, job.open()?, &mut take, report);
    report.peers = take.peers.into_list();
    report.chosen = chosen;
    end
}

/// One pass over all records.
fn pass(
    job: &Job<'_>,
    opened: Opened<'_>,
    walk: &mut Walk<'_>,
    report: &mut Report,
) -> Result<(), FeedError> {
    let Opened { mut input, codec, taken } = opened;
    let end = loop {
        let header = match next_header(&mut input, job.options.limits.record) {
            Ok(Some(header)) => header,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        let body = &input.window()[HEADER_LEN..][..header.len];
        let result =
            walk.record(header, Cursor::new(body, input.offset() + HEADER_LEN as u64), report);
        report.records += 1;
        input.consume(HEADER_LEN + header.len);
        match result {
            Err(error) if job.options.lenient && error.is_local() => report.note_damage(error),
            Err(error) => break Err(error),
            Ok(()) => {}
        }
    };
    report.bytes = input.received();
    report.input_bytes = taken.get();
    // A failure of the stream says more than that a record is cut off by it.
    match input.take_error() {
        Some(error) if end.is_err() => Err(FeedError::stream(report.bytes, explain(error, codec))),
        _ => end,
    }
}

/// Brings the next record into the window, header and body. `None` at the end of the stream.
fn next_header(input: &mut Input<'_>, limit: usize) -> Result<Option<Header>, FeedError> {
    let start = input.offset();
    let cut_off = |needed: usize, have: usize| {
        FeedError::mrt(start, MrtError::CutOff { needed: needed as u64, have: have as u64 })
    };
    let have = input.fill(HEADER_LEN);
    let Some(head) = input.window().first_chunk::<HEADER_LEN>() else {
        // A failure of the stream is left to the caller, who knows how it is compressed.
        let at_end = have == 0 && !input.has_failed();
        return if at_end { Ok(None) } else { Err(cut_off(HEADER_LEN, have)) };
    };
    let [_, _, _, _, t0, t1, s0, s1, l0, l1, l2, l3] = *head;
    let len = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    let header =
        Header { kind: u16::from_be_bytes([t0, t1]), subtype: u16::from_be_bytes([s0, s1]), len };
    if len > limit {
        let error = MrtError::RecordTooLong { len: len as u64, limit: limit as u64 };
        return Err(FeedError::mrt(start, error));
    }
    let have = input.fill(HEADER_LEN + len);
    if have < HEADER_LEN + len {
        return Err(cut_off(HEADER_LEN + len, have));
    }
    Ok(Some(header))
}
