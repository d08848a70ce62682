//! View 2 of a RIB: a block of addresses as `2^width` leaf-pushed slots.
//!
//! Leaf pushing gives each slot the next hop of the longest match among the routes that cover the
//! whole slot, and tells whether longer routes lie inside. A multiway trie applies this view again
//! to each slot with longer routes. Equal neighbours form one run, so the cost depends on the
//! routes in the block, not on its slots.

use super::trie::{Position, Trie};
use crate::net::{Bits, Family, NextHopId, Prefix};

/// All addresses that share their first `depth` bits, with the routes inside.
#[derive(Clone, Copy)]
pub struct Block<'r, F: Family> {
    trie: &'r Trie<F>,
    /// The topmost position inside the block.
    top: Position<F>,
    depth: u8,
    /// The next hop of the longest route that covers the block from outside.
    inherited: Option<NextHopId>,
}

/// A run of slots.
#[derive(Clone, Copy)]
pub struct Slots<'r, F: Family> {
    /// The first slot of the run.
    pub first: usize,
    /// Number of slots; 1 where `below` is `Some`.
    pub count: usize,
    /// The longest match among the routes that cover the slot.
    pub next_hop: Option<NextHopId>,
    /// The slot's addresses as a block, if a route longer than the slot lies inside.
    pub below: Option<Block<'r, F>>,
}

impl<'r, F: Family> Block<'r, F> {
    pub(super) fn root(trie: &'r Trie<F>) -> Self {
        Self { trie, top: trie.top(), depth: 0, inherited: None }
    }

    /// The number of leading bits that all addresses of the block share.
    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// Calls `visit` with runs of slots, in order and without gaps.
    ///
    /// Each slot fixes `width` more bits of the address. Bits past the address's end read as zero,
    /// as in [`Bits::extract`]; slots in which such a bit is one have no meaning.
    ///
    /// # Panics
    /// When the width is greater than 31.
    pub fn for_each_slots<V: FnMut(Slots<'r, F>)>(&self, width: u8, visit: V) {
        assert!(width < 32, "a block of 2^{width} slots is too wide");
        let covered_from = u8::MAX;
        let mut visitor =
            SlotVisitor { trie: self.trie, depth: self.depth, width, covered_from, visit };
        visitor.region(self.top, 0, 1 << width, self.inherited);
    }

    /// Calls `visit` with the slots whose next hop the route of `prefix` can decide.
    ///
    /// These are the slots that the prefix covers, or the one that contains it, except slots
    /// covered by a route longer than the prefix. Otherwise as [`Block::for_each_slots`].
    ///
    /// # Panics
    /// When the width is greater than 31.
    pub(crate) fn for_each_slots_of<V>(&self, prefix: Prefix<F>, width: u8, visit: V)
    where
        V: FnMut(Slots<'r, F>),
    {
        assert!(width < 32, "a block of 2^{width} slots is too wide");
        let covered_from = prefix.len() + 1;
        let mut visitor =
            SlotVisitor { trie: self.trie, depth: self.depth, width, covered_from, visit };
        if prefix.len() <= self.depth {
            return visitor.region(self.top, 0, 1 << width, self.inherited);
        }
        let end = self.depth + width;
        let region = Prefix::from_bits_masked(prefix.bits(), prefix.len().min(end));
        let first = Bits::extract(region.bits(), self.depth, width);
        let count = 1 << (end - region.len());
        let (above, top) = self.trie.around(&self.top, region);
        let inherited = above.map(|route| route.next_hop).or(self.inherited);
        match top {
            Some(top) => visitor.region(top, first, count, inherited),
            None => visitor.run(first, first + count, inherited),
        }
    }
}

struct SlotVisitor<'r, F: Family, V> {
    trie: &'r Trie<F>,
    depth: u8,
    width: u8,
    /// Slots covered by a route of at least this length are left out.
    covered_from: u8,
    visit: V,
}

impl<'r, F: Family, V: FnMut(Slots<'r, F>)> SlotVisitor<'r, F, V> {
    /// Visits `count` slots from `first`, in which `top` is the topmost position.
    fn region(
        &mut self,
        top: Position<F>,
        first: usize,
        count: usize,
        inherited: Option<NextHopId>,
    ) {
        let slot = top.prefix().bits().extract(self.depth, self.width);
        let beyond = top.len() - self.depth;
        let end = first + count;
        self.run(first, slot, inherited);
        if beyond > self.width {
            self.slot(slot, inherited, Some(top));
            return self.run(slot + 1, end, inherited);
        }
        let next_hop = self.trie.next_hop_at(&top);
        let own = next_hop.or(inherited);
        if top.len() >= self.covered_from && next_hop.is_some() {
            self.run(slot + (1 << (self.width - beyond)), end, inherited);
        } else if beyond == self.width {
            let longer = self.trie.has_longer(&top).then_some(top);
            self.slot(slot, own, longer);
            self.run(slot + 1, end, inherited);
        } else {
            let half = 1 << (self.width - beyond - 1);
            let [low, high] = self.trie.halves(&top);
            self.half(low, slot, half, own);
            self.half(high, slot + half, half, own);
            self.run(slot + 2 * half, end, inherited);
        }
    }

    /// Visits one slot; `top` is the topmost position in it, if a longer route is there.
    fn slot(&mut self, slot: usize, next_hop: Option<NextHopId>, top: Option<Position<F>>) {
        let (trie, depth) = (self.trie, self.depth + self.width);
        let below = top.map(|top| Block { trie, top, depth, inherited: next_hop });
        (self.visit)(Slots { first: slot, count: 1, next_hop, below });
    }

    fn half(
        &mut self,
        top: Option<Position<F>>,
        first: usize,
        count: usize,
        inherited: Option<NextHopId>,
    ) {
        match top {
            Some(top) => self.region(top, first, count, inherited),
            None => self.run(first, first + count, inherited),
        }
    }

    /// Visits the slots from `first` up to `end`, in which there is no route.
    fn run(&mut self, first: usize, end: usize, next_hop: Option<NextHopId>) {
        if first < end {
            (self.visit)(Slots { first, count: end - first, next_hop, below: None });
        }
    }
}
