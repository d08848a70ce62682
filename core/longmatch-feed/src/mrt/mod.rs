//! Parser of MRT files (RFC 6396, RFC 8050): record framing and the two passes.
//!
//! The structure limits the effect of a hostile record: this module splits the stream into records,
//! [`table_dump`] and [`updates`] split records into routes, and [`bgp`] finds the attributes of a
//! route. All of them read with the checked slices of [`cursor`], and no allocation trusts a count.
//! [`path`] writes other values of routes than the next hop.

mod bgp;
mod cursor;
mod pass;
mod path;
pub(crate) mod record;
mod table_dump;
mod updates;

use crate::archive::Job;
use crate::decompress::explain;
use crate::error::{FeedError, Problem};
use crate::input::Input;
use crate::report::Report;
use crate::sink::Sink;
use crate::source::Opened;
use cursor::Cursor;
use pass::{MrtPass, PassMode};
use record::{Header, kind};

/// Bytes of the header of every record.
pub(crate) const HEADER_LEN: usize = 12;

/// Whether an input with these first bytes is MRT. The test is the record type: it is a small
/// number with a zero byte, which text does not contain.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    match head {
        [_, _, _, _, high, low, ..] => kind::is_known(u16::from_be_bytes([*high, *low])),
        _ => false,
    }
}

/// Whether an input is MRT: `Some(true)` if its first two records have known types and lengths within the limit, which
/// other binary formats do not have by chance; `Some(false)` if the first has, and the input ends in it.
pub(crate) fn begins(input: &mut Input<'_>, limit: usize) -> Option<bool> {
    let header = |window: &[u8], at: usize| {
        let head = window.get(at..)?.first_chunk::<HEADER_LEN>()?;
        let len = u32::from_be_bytes([head[8], head[9], head[10], head[11]]) as usize;
        (looks_like(head) && len <= limit).then_some(len)
    };
    input.fill(HEADER_LEN);
    let second = HEADER_LEN + header(input.window(), 0)?;
    match input.fill(second + HEADER_LEN) < second + HEADER_LEN {
        true => Some(false),
        false => header(input.window(), second).map(|_| true),
    }
}

/// Loads the routes of the chosen peers: the first pass counts the routes of all peers, the second
/// pass sends the routes of the chosen peers to the sink.
pub(crate) fn load(
    job: &Job<'_>,
    opened: Opened<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    let lenient = job.options.lenient;
    let mut counted = Report::default();
    let value = job.options.value.unwrap_or_default();
    let mut count = MrtPass::new(PassMode::Count, value);
    match pass(job, opened, &mut count, &mut counted) {
        // The second pass repeats the error after it has loaded the records before it.
        Err(error) if lenient && error.is_damage() => {}
        other => other?,
    }
    let chosen = count.peers.choose(job.options.peer);
    let chosen = chosen.map_err(FeedError::whole)?;
    let mut take = MrtPass::new(PassMode::Take { chosen, sink }, value);
    let end = pass(job, job.open()?, &mut take, report);
    report.peers = take.peers.into_list();
    report.chosen = chosen;
    end
}

/// One pass over all records.
fn pass(
    job: &Job<'_>,
    opened: Opened<'_>,
    pass: &mut MrtPass<'_>,
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
            pass.record(header, Cursor::new(body, input.offset() + HEADER_LEN as u64), report);
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
    // An error of the stream explains more than a truncated record.
    match input.take_error() {
        Some(error) if end.is_err() => Err(FeedError::byte(report.bytes, explain(error, codec))),
        _ => end,
    }
}

/// Fills the window with the next record, header and body. `None` at the end of the stream.
fn next_header(input: &mut Input<'_>, limit: usize) -> Result<Option<Header>, FeedError> {
    let start = input.offset();
    let cut_off = |needed: usize, have: usize| match start {
        0 => FeedError::byte(start, Problem::FirstRecord { needed, have }),
        _ => FeedError::byte(start, Problem::RecordCutOff { needed, have }),
    };
    let have = input.fill(HEADER_LEN);
    let Some(head) = input.window().first_chunk::<HEADER_LEN>() else {
        // The caller reports an error of the stream, because it knows the compression.
        let at_end = have == 0 && !input.has_failed();
        return if at_end { Ok(None) } else { Err(cut_off(HEADER_LEN, have)) };
    };
    let [_, _, _, _, t0, t1, s0, s1, l0, l1, l2, l3] = *head;
    let len = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    let header =
        Header { kind: u16::from_be_bytes([t0, t1]), subtype: u16::from_be_bytes([s0, s1]), len };
    if len > limit {
        return Err(FeedError::byte(start, Problem::RecordTooLong { len, limit }));
    }
    let have = input.fill(HEADER_LEN + len);
    if have < HEADER_LEN + len {
        return Err(cut_off(HEADER_LEN + len, have));
    }
    Ok(Some(header))
}
