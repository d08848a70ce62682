//! View 2 of a RIB: a block of addresses as `2^width` leaf-pushed slots.
//!
//! Leaf pushing gives each slot the next hop of the longest match among the routes that cover the
//! whole slot, and tells whether longer routes lie inside. A multiway trie applies this view again
//! to each slot with longer routes. Equal neighbours form one run, so the cost depends on the
//! routes in the block, not on its slots.

use super::trie::{Index, NONE, ROOT, Trie};
use crate::net::{Bits, Family, NextHopId, Prefix};

/// All addresses that share their first `depth` bits, with the routes inside.
#[derive(Clone, Copy)]
pub struct Block<'r, F: Family> {
    trie: &'r Trie<F>,
    /// The highest node inside the block.
    top: Index,
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
        Self { trie, top: ROOT, depth: 0, inherited: None }
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
        match self.top_of(region) {
            (Some(top), inherited) => visitor.region(top, first, count, inherited),
            (None, inherited) => visitor.run(first, first + count, inherited),
        }
    }

    /// The highest node in a prefix inside the block, and the inherited next hop.
    ///
    /// The inherited next hop is that of the longest route that covers the prefix from outside.
    fn top_of(&self, region: Prefix<F>) -> (Option<Index>, Option<NextHopId>) {
        let (mut top, mut inherited) = (self.top, self.inherited);
        loop {
            let node = self.trie.node(top);
            if node.len >= region.len() {
                return (region.covers(node.prefix()).then_some(top), inherited);
            }
            if !node.prefix().covers(region) {
                return (None, inherited);
            }
            inherited = node.next_hop.or(inherited);
            top = node.children[region.bits().bit(node.len)];
            if top == NONE {
                return (None, inherited);
            }
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
    /// Visits `count` slots from `first`, in which `top` is the highest node.
    fn region(&mut self, top: Index, first: usize, count: usize, inherited: Option<NextHopId>) {
        let node = self.trie.node(top);
        let slot = node.bits.extract(self.depth, self.width);
        let beyond = node.len - self.depth;
        let end = first + count;
        self.run(first, slot, inherited);
        if node.len >= self.covered_from && node.next_hop.is_some() && beyond <= self.width {
            self.run(slot + (1 << (self.width - beyond)), end, inherited);
        } else if beyond >= self.width {
            let own = if beyond == self.width { node.next_hop.or(inherited) } else { inherited };
            let deeper = beyond > self.width || node.children != [NONE; 2];
            let below = deeper.then_some(Block {
                trie: self.trie,
                top,
                depth: self.depth + self.width,
                inherited: own,
            });
            (self.visit)(Slots { first: slot, count: 1, next_hop: own, below });
            self.run(slot + 1, end, inherited);
        } else {
            let half = 1 << (self.width - beyond - 1);
            let own = node.next_hop.or(inherited);
            let [low, high] = node.children;
            self.child(low, slot, half, own);
            self.child(high, slot + half, half, own);
            self.run(slot + 2 * half, end, inherited);
        }
    }

    fn child(&mut self, child: Index, first: usize, count: usize, inherited: Option<NextHopId>) {
        if child == NONE {
            self.run(first, first + count, inherited);
        } else {
            self.region(child, first, count, inherited);
        }
    }

    /// Visits the slots from `first` up to `end`, in which no node lies.
    fn run(&mut self, first: usize, end: usize, next_hop: Option<NextHopId>) {
        if first < end {
            (self.visit)(Slots { first, count: end - first, next_hop, below: None });
        }
    }
}
