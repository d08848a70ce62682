//! The changes of next hop of a table, the input of a plan and of its pages.

use alloc::vec::Vec;

use crate::net::{Bits, Family, NextHopId, Prefix};
use crate::rib::Rib;

/// An address at which the next hop changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<B> {
    pub at: B,
    /// The next hop, 0 = no route.
    pub raw: u32,
}

impl<B: Bits> Start<B> {
    /// The length of the shortest prefix that begins here. Only a cut at that depth or deeper
    /// separates this start from the address before it.
    #[inline]
    pub fn depth(&self) -> u8 {
        B::WIDTH - self.at.trailing_zeros()
    }
}

/// Reads a RIB within a prefix: returns the next hop at its beginning, and leaves the changes in
/// `starts`. `None` if a next hop is greater than `limit`. O(routes within).
pub(super) fn read_within<F: Family>(
    rib: &Rib<F>,
    prefix: Prefix<F>,
    limit: u32,
    starts: &mut Vec<Start<F::Bits>>,
) -> Option<u32> {
    starts.clear();
    let lowest = match rib.only_next_hop(prefix) {
        Some(only) => NextHopId::to_raw(only),
        None => {
            let mut ranges = rib
                .ranges_in(prefix)
                .coalesced()
                .map(|range| Start { at: range.first, raw: NextHopId::to_raw(range.next_hop()) });
            let lowest = ranges.next().map_or(0, |start| start.raw);
            starts.extend(ranges);
            lowest
        }
    };
    let greatest = starts.iter().map(|start| start.raw).fold(lowest, u32::max);
    (greatest <= limit).then_some(lowest)
}

/// Reads a whole RIB: the next hop of the lowest address, and the changes. O(routes).
pub(super) fn read<F: Family>(rib: &Rib<F>) -> (u32, Vec<Start<F::Bits>>) {
    let mut ranges = rib
        .ranges()
        .coalesced()
        .map(|range| Start { at: range.first, raw: NextHopId::to_raw(range.next_hop()) });
    let lowest = ranges.next().map_or(0, |start| start.raw);
    let mut starts = Vec::with_capacity(rib.len() + 1);
    starts.extend(ranges);
    (lowest, starts)
}

/// Sorts numbers by a key, those with equal keys by themselves.
///
/// Keys and numbers are packed into words, so that the sort is compiled once for all keys.
pub(super) fn sorted_by_key(
    numbers: impl IntoIterator<Item = u32>,
    key: impl Fn(u32) -> u32,
) -> Vec<u32> {
    let pack = |number| u64::from(key(number)) << 32 | u64::from(number);
    let mut words: Vec<u64> = numbers.into_iter().map(pack).collect();
    words.sort_unstable();
    words.into_iter().map(|word| word as u32).collect()
}
