//! The ranges of blocks of addresses, and the cheapest form of each block.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::super::survey::{self, Start};
use super::layout::{Fixed, LONGEST_LIST, MAX_CUT, MAX_DROP, MIN_CUT, WIDTH, below};
use super::plan::Plan;
use crate::net::Ipv4;
use crate::rib::Rib;

/// All changes of next hop of a table.
#[derive(Debug)]
pub(super) struct Ranges {
    /// The next hop of the lowest address.
    pub lowest: u32,
    /// Every change after it, in order.
    pub starts: Vec<Start<u32>>,
}

impl Ranges {
    /// O(routes).
    pub fn of(rib: &Rib<Ipv4>) -> Self {
        let (lowest, starts) = survey::read(rib);
        Self { lowest, starts }
    }

    /// All next hops, in order of addresses.
    pub fn hops(&self) -> impl Iterator<Item = u32> {
        core::iter::once(self.lowest).chain(self.starts.iter().map(|start| start.raw))
    }

    /// The whole table as a block.
    pub fn all(&self) -> Block<'_> {
        Block { bits: WIDTH, first: self.lowest, starts: &self.starts }
    }
}

/// A block of `2^bits` addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    pub bits: u8,
    /// The next hop of its lowest address.
    pub first: u32,
    /// The changes after it.
    pub starts: &'a [Start<u32>],
}

impl<'a> Block<'a> {
    /// Number of ranges.
    pub fn ranges(&self) -> usize {
        self.starts.len() + 1
    }

    /// The next hop of its highest address.
    pub fn last(&self) -> u32 {
        self.starts.last().map_or(self.first, |start| start.raw)
    }

    /// The next hops of its ranges.
    pub fn hops(&self) -> impl Iterator<Item = u32> {
        core::iter::once(self.first).chain(self.starts.iter().map(|start| start.raw))
    }

    /// The parts of `2^cut` addresses with a change inside or at their beginning, with their
    /// numbers.
    #[inline]
    pub fn parts(self, cut: u8) -> Parts<'a> {
        Parts { bits: self.bits, cut, raw: self.first, starts: self.starts }
    }

    /// A number that blocks of equal ranges share, and others hardly ever.
    #[inline]
    fn fingerprint(&self) -> u64 {
        const K: u64 = 0xbf58_476d_1ce4_e5b9;
        let mix = |hash: u64, word: u64| ((hash ^ hash >> 29) ^ word).wrapping_mul(K);
        let word = |start: &Start<u32>| {
            u64::from(below_wide(start.at, self.bits)) << 32 | u64::from(start.raw)
        };
        let hash = self
            .starts
            .iter()
            .fold(u64::from(self.first) + 1, |hash, start| mix(hash, word(start)));
        mix(hash, 0)
    }
}

/// [`below`] for up to 32 bits.
#[inline]
fn below_wide(addr: u32, bits: u8) -> u32 {
    if bits < WIDTH { below(addr, bits) } else { addr }
}

/// See [`Block::parts`].
pub(super) struct Parts<'a> {
    bits: u8,
    cut: u8,
    raw: u32,
    starts: &'a [Start<u32>],
}

impl<'a> Iterator for Parts<'a> {
    type Item = (u32, Block<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let first = self.starts.first()?;
        let block = first.at >> self.cut;
        let mut len = 1;
        while self.starts.get(len).is_some_and(|start| start.at >> self.cut == block) {
            len += 1;
        }
        let (starts, rest) = self.starts.split_at(len);
        self.starts = rest;
        let raw = core::mem::replace(&mut self.raw, starts[len - 1].raw);
        let (first, starts) = match starts[0].at == block << self.cut {
            true => (starts[0].raw, &starts[1..]),
            false => (raw, starts),
        };
        let number = below_wide(block << self.cut, self.bits) >> self.cut;
        Some((number, Block { bits: self.cut, first, starts }))
    }
}

/// The form of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// The code of its only next hop.
    Answer,
    /// A page of codes that ignore this number of low bits.
    Codes(u8),
    List,
    /// A page of entries with this number of bits below each.
    Entries(u8),
}

/// Blocks of more ranges are taken to be unlike all others.
const COUNTED: usize = 5;
/// Blocks of each size in a sample.
const SAMPLE: usize = 1 << 12;

/// How many blocks of a size have the same content, estimated from samples.
///
/// A content that a sample of one block in `k` has `c > 1` times is that of `c k` blocks. Of those
/// that it has once, or not at all, the estimate of Good and Turing says how common they are:
/// `2 k` times the number of contents met twice, divided by that of contents met once.
#[derive(Debug, Default)]
pub(super) struct Copies {
    sizes: [Sizes; WIDTH as usize],
}

#[derive(Debug, Default)]
struct Sizes {
    /// Copies of contents that the sample has more than once.
    known: HashMap<u64, f32>,
    /// Copies of other contents, by number of ranges.
    others: [f32; COUNTED + 1],
}

impl Copies {
    /// Samples the blocks of these sizes.
    pub fn of(ranges: &Ranges, sizes: impl Iterator<Item = u8>) -> Self {
        let mut copies = Self::default();
        for bits in sizes {
            copies.sizes[usize::from(bits)] = Sizes::of(ranges, bits);
        }
        copies
    }

    /// Estimated number of blocks with the content of this one.
    #[inline]
    pub fn of_block(&self, block: &Block<'_>) -> f32 {
        let ranges = block.ranges();
        if ranges > COUNTED {
            return 1.0;
        }
        let sizes = &self.sizes[usize::from(block.bits)];
        let known = match sizes.known.is_empty() {
            true => None,
            false => sizes.known.get(&block.fingerprint()).copied(),
        };
        known.unwrap_or(sizes.others[ranges]).max(1.0)
    }
}

impl Sizes {
    fn of(ranges: &Ranges, bits: u8) -> Self {
        let starts = &ranges.starts;
        let step = (starts.len() / SAMPLE).max(1);
        let mut met: HashMap<u64, (u32, u8)> = HashMap::with_capacity(SAMPLE.min(starts.len()));
        for at in (0..starts.len()).step_by(step) {
            let number = starts[at].at >> bits;
            let same = |start: &Start<u32>| start.at >> bits == number;
            // Each block counts at its first start.
            if at > 0 && same(&starts[at - 1]) {
                continue;
            }
            let most = &starts[at..starts.len().min(at + COUNTED + 2)];
            let len = most.iter().take_while(|start| same(start)).count();
            let raw = if at > 0 { starts[at - 1].raw } else { ranges.lowest };
            let whole = Block { bits: WIDTH, first: raw, starts: &starts[at..at + len] };
            let Some((_, block)) = whole.parts(bits).next() else { continue };
            if (2..=COUNTED).contains(&block.ranges()) {
                met.entry(block.fingerprint()).or_insert((0, block.ranges() as u8)).0 += 1;
            }
        }
        let mut seen = [[0u32; 2]; COUNTED + 1];
        for (count, ranges) in met.values().filter(|(count, _)| *count <= 2) {
            seen[usize::from(*ranges)][*count as usize - 1] += 1;
        }
        let step = step as f32;
        let others = seen.map(|[once, twice]| 2.0 * step * twice as f32 / once.max(1) as f32);
        let known = met.into_iter().filter(|(_, (count, _))| *count > 1);
        let known = known.map(|(content, (count, _))| (content, count as f32 * step)).collect();
        Self { known, others }
    }
}

/// Chooses the forms of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper<'a> {
    pub fixed: &'a Fixed,
    pub plan: &'a Plan,
    pub copies: &'a Copies,
    /// Whether every next hop has a code, and fits a word of a list.
    pub all_coded: bool,
}

/// The cost of a form in bytes, and the form; none where no form is possible.
pub(super) type Choice = (f32, Option<Form>);

/// A leaf whose bytes are not divided among its copies yet.
#[derive(Clone, Copy)]
struct Leaf {
    form: Form,
    /// Bytes, and what the reads of a list are worth.
    bytes: f32,
    worth: f32,
}

/// The cost of a list of more than one cache line, in those of one.
const SECOND_LINE: f32 = 1.3;

impl Shaper<'_> {
    /// The cheapest form of a block.
    pub fn best(&self, block: &Block<'_>) -> Choice {
        // The fewest slots first: their cost bounds that of all others.
        let changes = block.starts.len() as f32 * self.plan.entries as f32;
        let cuts = (MIN_CUT..=MAX_CUT.min(block.bits.saturating_sub(1))).rev();
        let least = cuts
            .clone()
            .next()
            .map_or(f32::INFINITY, |cut| (4u32 << (block.bits - cut)) as f32 + changes);
        let mut best = self.leaf_below(block, least);
        if best.0 <= least {
            return best;
        }
        for cut in cuts {
            let slots = (4u32 << (block.bits - cut)) as f32 + changes;
            if slots >= best.0 {
                break;
            }
            if let Some(cost) = self.parts(block, cut, slots, best.0) {
                best = (cost, Some(Form::Entries(cut)));
            }
        }
        best
    }

    /// The cost of a page of entries with these bits below each, if it is less than `most`.
    fn parts(&self, block: &Block<'_>, cut: u8, slots: f32, most: f32) -> Option<f32> {
        let mut cost = slots;
        let mut uncoded = !self.all_coded && self.fixed.code(block.first).is_none();
        for (_, part) in block.parts(cut) {
            let (more, form) = self.leaf(&part);
            form?;
            cost += more;
            uncoded |= !self.all_coded && self.fixed.code(part.last()).is_none();
            if cost >= most {
                return None;
            }
        }
        // Slots without a change inside may need a list of one range.
        (!uncoded || self.fixed.lists_in(cut)).then_some(cost)
    }

    /// The cheapest form of a block other than a page of entries.
    #[inline]
    pub fn leaf(&self, block: &Block<'_>) -> Choice {
        self.leaf_below(block, 0.0)
    }

    /// [`Shaper::leaf`], whose cost may be that of a form without copies if that is at most `most`.
    #[inline]
    fn leaf_below(&self, block: &Block<'_>, most: f32) -> Choice {
        if block.starts.is_empty() {
            return self.uniform(block);
        }
        let (page, list) = (self.page(block), self.list(block));
        let whole = |leaf: &Option<Leaf>| leaf.map_or(f32::INFINITY, |it| it.bytes + it.worth);
        // A page that takes no more bytes than a list is better with any number of copies.
        let bytes = |leaf: &Option<Leaf>| leaf.map_or(f32::INFINITY, |it| it.bytes);
        let (leaf, other) = match bytes(&page) <= bytes(&list) {
            true => (page, None),
            false => (page, list),
        };
        let cost = whole(&leaf).min(whole(&other));
        if cost <= most && other.is_none() {
            return (cost, leaf.map(|leaf| leaf.form));
        }
        let copies = self.copies.of_block(block);
        let shared = |leaf: Option<Leaf>| {
            leaf.map_or((f32::INFINITY, None), |it| (it.bytes / copies + it.worth, Some(it.form)))
        };
        let (leaf, other) = (shared(leaf), shared(other));
        if leaf.0 <= other.0 { leaf } else { other }
    }

    /// The form of a block of one next hop.
    fn uniform(&self, block: &Block<'_>) -> Choice {
        match self.fixed.code(block.first) {
            Some(code) if code < self.fixed.identity => (0.0, Some(Form::Answer)),
            Some(_) => (1.0, Some(Form::Codes(block.bits.min(MAX_DROP)))),
            None => {
                let is_list = self.fixed.lists_in(block.bits) && self.listed(block);
                (8.0, is_list.then_some(Form::List))
            }
        }
    }

    /// Whether the next hops of a block fit the words of a list.
    fn listed(&self, block: &Block<'_>) -> bool {
        let fits = |hop: u32| u64::from(hop) >> self.fixed.hop_bits == 0;
        self.all_coded || block.hops().all(fits)
    }

    #[inline]
    fn page(&self, block: &Block<'_>) -> Option<Leaf> {
        let grain = block.starts.iter().fold(0, |all, start| all | start.at);
        let drop = (grain.trailing_zeros() as u8).min(MAX_DROP);
        let log2 = block.bits - drop;
        let coded = |hop: u32| self.fixed.code(hop).is_some();
        let is_page = log2 <= self.plan.page && (self.all_coded || block.hops().all(coded));
        let bytes = (u32::from(self.fixed.code_bytes) << log2.min(24)) as f32;
        is_page.then_some(Leaf { form: Form::Codes(drop), bytes, worth: 0.0 })
    }

    #[inline]
    fn list(&self, block: &Block<'_>) -> Option<Leaf> {
        let ranges = block.ranges();
        if ranges > LONGEST_LIST || !self.fixed.lists_in(block.bits) || !self.listed(block) {
            return None;
        }
        let long = if ranges > LONGEST_LIST / 2 { SECOND_LINE } else { 1.0 };
        let worth = block.starts.len() as f32 * self.plan.lists as f32 * long;
        let bytes = 4.0 * ranges.next_power_of_two() as f32;
        Some(Leaf { form: Form::List, bytes, worth })
    }
}
