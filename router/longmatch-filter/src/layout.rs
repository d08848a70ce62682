//! The bytes of the maps that the packet program and this crate share.
//!
//! - `state`, an array of one element: the deadline, the verdict of each cell, the masks of the classes.
//! - `counters`, an array for each CPU: packets and bytes, of [`Counter`]s and then of cells.
//! - `buckets`, an array for each CPU: by list, the time at which the next packet is due, and the packets and bytes that
//!   were too many.
//!
//! A cell is a pair of classes: of the source and of the destination. If only one of them is looked up, it is that class.

use crate::content::End;
use crate::policy::{Action, Decision, Policy};

/// The number of cells.
pub(crate) const CELLS: usize = 4096;
/// The bytes of a cell's verdict: action and list in 2 bytes each, an argument in 4.
pub(crate) const CELL_BYTES: usize = 8;
/// The bytes of a counter: packets and bytes.
pub(crate) const COUNTER_BYTES: usize = 16;
/// The bytes of a bucket.
pub(crate) const BUCKET_BYTES: usize = 24;

/// The place of the time until which the program filters, in ticks of the monotonic clock.
pub(crate) const DEADLINE: usize = 0;
/// A tick has 2^30 nanoseconds: about a second.
pub(crate) const TICK_BITS: i32 = 30;
/// The value of a deadline that never comes.
pub(crate) const NEVER: u32 = u32::MAX;
/// The place of the numbers of classes: of the source and of the destination.
pub(crate) const CLASS_COUNTS: usize = 4;
/// The place of the verdicts.
pub(crate) const VERDICTS: usize = 16;
/// The place of the masks of classes: of the source and then of the destination, 8 bytes each.
pub(crate) const MASKS: usize = VERDICTS + CELLS * CELL_BYTES;
/// The bytes of the state.
pub(crate) const STATE_BYTES: usize = MASKS + 2 * CELLS * 8;

/// Counters before those of the cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counter {
    /// Neither IPv4 nor IPv6.
    Other,
    /// Headers that cannot be read.
    Unknown,
}

/// The number of [`Counter`]s.
pub(crate) const KEPT: usize = 2;
/// The number of all counters.
pub(crate) const COUNTERS: usize = KEPT + CELLS;

// Actions as the program knows them. 0 passes.
pub(crate) const ACTION_DROP: u16 = 1;
pub(crate) const ACTION_LIMIT: u16 = 2;
pub(crate) const ACTION_MARK: u16 = 3;

/// The ends of packets that a policy looks up, in the order of the program.
pub(crate) fn ends(policy: &Policy) -> &'static [End] {
    match (policy.looks_up_source(), policy.looks_up_destination()) {
        (true, true) => &[End::Source, End::Destination],
        (true, false) => &[End::Source],
        (false, _) => &[End::Destination],
    }
}

/// The number of classes of each end.
pub(crate) fn classes(policy: &Policy) -> usize {
    match ends(policy).len() {
        1 => CELLS,
        _ => 1 << (CELLS.trailing_zeros() / 2),
    }
}

/// The cell of a class of the source and one of the destination, of which those that are not looked up are 0.
pub(crate) fn cell(policy: &Policy, [source, destination]: [usize; 2]) -> usize {
    match ends(policy).len() {
        1 => source + destination,
        _ => source * classes(policy) + destination,
    }
}

/// The bytes of a decision.
pub(crate) fn verdict(decision: Decision) -> [u8; CELL_BYTES] {
    let list = match decision.cause {
        crate::policy::Cause::List(list) => list as u16,
        _ => 0,
    };
    let (action, argument) = match decision.action {
        Action::Pass | Action::Count => (0, 0),
        Action::Drop => (ACTION_DROP, 0),
        // Rounded up, so that no more than the rate passes.
        Action::Limit(rate) => (ACTION_LIMIT, 1_000_000_000_u32.div_ceil(rate.max(1))),
        Action::Mark(mark) => (ACTION_MARK, mark),
    };
    let mut bytes = [0; CELL_BYTES];
    bytes[..2].copy_from_slice(&action.to_ne_bytes());
    bytes[2..4].copy_from_slice(&list.to_ne_bytes());
    bytes[4..].copy_from_slice(&argument.to_ne_bytes());
    bytes
}
