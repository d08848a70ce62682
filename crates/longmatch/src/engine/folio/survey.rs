//! A survey of a table: changes of next hop, and the depths that blocks must be cut at.
//!
//! It is the input of a Folio's plan and of its pages.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::layout::{Byte, Code, Coded};
use super::root::{MAX_REGIONS, REGION_BITS};
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

/// All changes of next hop, and statistics of them.
#[derive(Debug)]
pub(super) struct Survey<B> {
    /// The next hop of the lowest address.
    pub lowest: u32,
    /// Every start but the lowest address, in order.
    pub starts: Vec<Start<B>>,
    /// Number of starts of each depth.
    depths: Vec<u32>,
    /// The /12 with a next hop other than the lowest and the highest address's. More than usable
    /// where these two differ.
    regions: Vec<u32>,
    /// The share of all addresses that have a next hop.
    routed: f64,
    /// Number of blocks by cut and depth. `blocks[c][d]` counts the blocks of addresses with the
    /// same first `c` bits whose starts inside have the greatest depth `d`.
    blocks: Vec<Box<[u32]>>,
}

/// Next hops without a code are rare if they have at most one start in this many.
const WITHOUT_CODE: u64 = 1000;

/// The smallest depth at which blocks are counted.
pub(super) const MIN_CUT: u8 = 8;

impl<B: Bits> Survey<B> {
    /// Surveys a table. O(routes).
    pub fn of<F: Family<Bits = B>>(rib: &Rib<F>) -> Self {
        let (lowest, starts) = read(rib);
        let mut survey = Self {
            lowest,
            starts,
            regions: Vec::new(),
            routed: 0.0,
            depths: vec![0; usize::from(B::WIDTH) + 1],
            blocks: vec![vec![0; usize::from(B::WIDTH) + 1].into(); usize::from(B::WIDTH)],
        };
        survey.count();
        survey.regions = survey.find_regions();
        survey
    }

    /// Fills in the counts in one pass: `inside[c]` is the greatest depth of the starts so far in
    /// the last start's block of `c` bits.
    fn count(&mut self) {
        let mut inside = vec![0u8; usize::from(B::WIDTH)];
        let mut before = B::ZERO;
        let mut open = MIN_CUT;
        let mut raw = self.lowest;
        for start in &self.starts {
            if raw != 0 {
                self.routed += share(before, start.at);
            }
            raw = start.raw;
            let shared = (start.at ^ before).leading_zeros();
            for cut in (shared + 1).max(MIN_CUT)..open {
                let depth = core::mem::take(&mut inside[usize::from(cut)]);
                self.blocks[usize::from(cut)][usize::from(depth)] += 1;
            }
            let depth = start.depth();
            self.depths[usize::from(depth)] += 1;
            open = open.min(shared + 1).max(depth);
            let inner = usize::from(MIN_CUT)..usize::from(depth.max(MIN_CUT));
            inside[inner].iter_mut().for_each(|deepest| *deepest = (*deepest).max(depth));
            before = start.at;
        }
        if raw != 0 {
            self.routed += share(before, B::MAX);
        }
        for cut in MIN_CUT..open {
            let depth = inside[usize::from(cut)];
            self.blocks[usize::from(cut)][usize::from(depth)] += 1;
        }
    }

    fn find_regions(&self) -> Vec<u32> {
        let number = |at: B| at.extract(0, REGION_BITS) as u32;
        let mut regions = Vec::new();
        for (i, start) in self.starts.iter().enumerate() {
            if start.raw == self.lowest || regions.len() > MAX_REGIONS {
                continue;
            }
            let end = self.starts.get(i + 1).and_then(|next| next.at.predecessor());
            let first = number(start.at).max(regions.last().map_or(0, |last| last + 1));
            regions.extend((first..=number(end.unwrap_or(B::MAX))).take(MAX_REGIONS + 1));
        }
        regions
    }

    /// Returns the ascending numbers of the /12 that have routes. More than usable where the lowest
    /// and the highest address have different next hops.
    pub fn regions(&self) -> &[u32] {
        &self.regions
    }

    /// Number of blocks of `cut` bits with starts inside, by their greatest depth.
    pub fn blocks(&self, cut: u8) -> &[u32] {
        &self.blocks[usize::from(cut)]
    }

    /// Approximate number of blocks of `bits` bits that have a next hop throughout.
    pub fn covered(&self, bits: u8) -> f64 {
        self.routed * (1u64 << bits) as f64
    }

    /// The blocks of `bits` bits outside which all addresses have one next hop. All blocks of IPv4.
    pub fn span(&self, bits: u8) -> Range<usize> {
        if B::WIDTH == 32 {
            return 0..1 << bits;
        }
        let number = |start: &Start<B>| start.at.extract(0, bits);
        let first = match self.lowest == self.highest() {
            true => self.starts.first().map_or(0, number),
            // Addresses before the first start and after the last differ in next hop.
            false => 0,
        };
        first..self.starts.last().map_or(first, |last| number(last) + 1)
    }

    /// Share of the starts that are deeper than a cut.
    pub fn deeper(&self, cut: u8) -> f64 {
        let deeper: u32 = self.depths[usize::from(cut) + 1..].iter().sum();
        f64::from(deeper) / (self.starts.len().max(1) as f64)
    }

    /// Returns the next hop of the highest address.
    pub fn highest(&self) -> u32 {
        self.starts.last().map_or(self.lowest, |start| start.raw)
    }

    /// Number of starts of each next hop up to `max`.
    pub fn frequencies(&self, max: u32) -> Vec<u32> {
        let mut counts = vec![0; max as usize + 1];
        let all = self.starts.iter().map(|start| start.raw).chain([self.lowest]);
        for raw in all {
            if let Some(count) = counts.get_mut(raw as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// Returns the name of the codes that suit the table best.
    ///
    /// A codebook suits if the next hops beyond its capacity are rare: each of their starts needs a
    /// branch page.
    pub fn codes(&self) -> &'static str {
        let max = self.max_next_hop();
        if max > <u16 as Code>::MAX {
            return <u32 as Code>::NAME;
        }
        let counts = self.frequencies(max);
        let above = counts.iter().skip(256).filter(|count| **count > 0).count();
        let frequent = sorted_by_key(0..=max, |raw| u32::MAX - counts[raw as usize]);
        let without: u64 =
            frequent.iter().skip(256).map(|raw| u64::from(counts[*raw as usize])).sum();
        match without * WITHOUT_CODE <= self.starts.len() as u64 {
            true if above <= Byte::PATCHES => Byte::NAME,
            true => Coded::NAME,
            false => <u16 as Code>::NAME,
        }
    }

    /// The greatest next hop.
    pub fn max_next_hop(&self) -> u32 {
        self.starts.iter().map(|start| start.raw).fold(self.lowest, u32::max)
    }
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

/// Share of all addresses that lie between two, by their upper 64 bits.
fn share<B: Bits>(from: B, to: B) -> f64 {
    (to.half(0) - from.half(0)) as f64 / 18_446_744_073_709_551_616.0
}
