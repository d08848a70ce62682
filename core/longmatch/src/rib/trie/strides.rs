//! View 2 of a RIB: a block of addresses as `2^width` leaf-pushed slots.
//!
//! Leaf pushing gives each slot the next hop of the longest match among the routes that cover the
//! whole slot, and states whether longer routes lie inside. A multiway trie applies this view again
//! to each slot with longer routes. Equal neighbours form one run, so the cost depends on the
//! routes in the block, not on its slots.

use super::Trie;
use super::cursor::{Entry, Pending};
use super::layout::{Child, NodeIndex, STRIDE, fixed_bits};
use super::position::{At, Position};
use crate::net::{Bits, Family, NextHopId, Prefix};

/// The greatest width of a block, in bits.
const MAX_WIDTH: u8 = 31;

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
    pub(in crate::rib) fn root(trie: &'r Trie<F>) -> Self {
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
        let mut sweep = Sweep::new(self, width, u8::MAX, visit);
        sweep.region(Some(self.top), 0, 1 << width, self.inherited);
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
        let mut sweep = Sweep::new(self, width, prefix.len() + 1, visit);
        if prefix.len() <= self.depth {
            return sweep.region(Some(self.top), 0, 1 << width, self.inherited);
        }
        let end = self.depth + width;
        let region = Prefix::truncated(prefix.bits(), prefix.len().min(end));
        let first = Bits::extract(region.bits(), self.depth, width);
        let (above, top) = self.trie.around(&self.top, region);
        let inherited = above.map(|route| route.next_hop).or(self.inherited);
        sweep.region(top, first, 1 << (end - region.len()), inherited);
    }
}

/// A sweep over the routes of a block in order, with those open at the current slot on a stack.
struct Sweep<'r, F: Family, V> {
    trie: &'r Trie<F>,
    /// The depth of the block and of its slots.
    depth: u8,
    end: u8,
    /// Slots covered by a route of at least this length are left out.
    covered_from: u8,
    visit: V,
    /// The next slot to visit.
    at: usize,
    /// Routes that cover `at`, or end before it: the slot after each, and its next hop.
    open: [(usize, Option<NextHopId>); MAX_WIDTH as usize + 2],
    opened: usize,
}

impl<'r, F: Family, V: FnMut(Slots<'r, F>)> Sweep<'r, F, V> {
    fn new(block: &Block<'r, F>, width: u8, covered_from: u8, visit: V) -> Self {
        assert!(width <= MAX_WIDTH, "a block of 2^{width} slots is too wide");
        Self {
            trie: block.trie,
            depth: block.depth,
            end: block.depth + width,
            covered_from,
            visit,
            at: 0,
            open: [(0, None); MAX_WIDTH as usize + 2],
            opened: 0,
        }
    }

    /// Visits `count` slots from `first`, in which `top` is the topmost position.
    fn region(
        &mut self,
        top: Option<Position<F>>,
        first: usize,
        count: usize,
        inherited: Option<NextHopId>,
    ) {
        self.at = first;
        self.open[0] = (first + count, inherited);
        self.opened = 1;
        match top {
            None => {}
            Some(Position { prefix, at: At::Route(next_hop) }) => {
                self.leaf(prefix, next_hop);
            }
            Some(top @ Position { at: At::Node { node, depth, index }, .. }) => {
                if top.len() == 0 {
                    self.open[0].1 = self.trie.default;
                }
                if depth >= self.end {
                    let slot = top.prefix().bits().extract(self.depth, self.end - self.depth);
                    self.deeper(slot, top);
                } else {
                    self.node(top.prefix().bits(), node, depth, index);
                }
            }
        }
        self.run_to(first + count);
    }

    /// Visits the slots of the entries of a node at and below a position.
    ///
    /// `bits` begin with the node's prefix.
    fn node(&mut self, bits: F::Bits, node: NodeIndex, depth: u8, index: u8) {
        let maps = self.trie.blocks.bitmaps(node);
        let mut pending = Pending::new(maps.within(index.into()));
        let (block, width, beyond) = (self.depth, self.end - self.depth, self.end - depth);
        let mask = (1 << width) - 1;
        let base = match depth.checked_sub(block) {
            Some(known) => bits.extract(block, known) << beyond,
            None => 0,
        };
        // The slot of the first address of `k` bits of the node.
        let slot = |value: usize, k: u8| match beyond.checked_sub(k) {
            Some(rest) => base | value << rest & mask,
            None => base | value >> (k - beyond) & mask,
        };
        let prefix = |value: usize, k: u8| {
            let bits = bits & F::Bits::mask(depth);
            let value = F::Bits::from_u128((value as u128) << (F::WIDTH - depth - k));
            Prefix::truncated(bits | value, depth + k)
        };
        // The position of a slot that lies in the node.
        let inside = |slot: usize| {
            let above = bits.extract(depth, block.saturating_sub(depth));
            let value = above << width.min(beyond) | slot & ((1 << beyond) - 1);
            let at = At::Node { node, depth, index: (1 << beyond | value) as u8 };
            Position { prefix: prefix(value, beyond), at }
        };
        while let Some(entry) = pending.take_first() {
            match entry {
                Entry::Route(position) => {
                    let k = fixed_bits(position);
                    let first = slot(position ^ 1 << k, k);
                    if k <= beyond {
                        let next_hop = self.trie.next_hop(node, &maps, position);
                        self.route(first, depth + k, next_hop);
                    } else if first >= self.at {
                        self.deeper(first, inside(first));
                    }
                }
                Entry::Child(c) if beyond <= STRIDE => {
                    let first = slot(c, STRIDE);
                    if first >= self.at {
                        self.deeper(first, inside(first));
                    }
                }
                Entry::Child(c) => {
                    if slot(c, STRIDE) + (1 << (beyond - STRIDE)) > self.at {
                        self.child(prefix(c, STRIDE), self.trie.child(node, &maps, c));
                    }
                }
            }
        }
    }

    /// Visits the slots of a child whose prefix, as a node, holds more than one slot.
    fn child(&mut self, prefix: Prefix<F>, child: Child) {
        match child {
            Child::Node(node) => self.node(prefix.bits(), node, prefix.len(), 1),
            child => match self.trie.top_of_child(prefix, child) {
                Some(Position { prefix, at: At::Route(next_hop) }) => self.leaf(prefix, next_hop),
                Some(top @ Position { at: At::Node { node, depth, .. }, .. }) => {
                    if depth < self.end {
                        return self.node(top.prefix().bits(), node, depth, 1);
                    }
                    let slot = top.prefix().bits().extract(self.depth, self.end - self.depth);
                    if slot >= self.at {
                        self.deeper(slot, top);
                    }
                }
                None => {}
            },
        }
    }

    /// Visits the slots of a leaf.
    fn leaf(&mut self, prefix: Prefix<F>, next_hop: NextHopId) {
        let slot = prefix.bits().extract(self.depth, self.end - self.depth);
        if prefix.len() <= self.end {
            self.route(slot, prefix.len(), Some(next_hop));
        } else if slot >= self.at {
            self.deeper(slot, Position { prefix, at: At::Route(next_hop) });
        }
    }

    /// Opens a route of at most the slots' length, from its first slot on.
    fn route(&mut self, first: usize, len: u8, next_hop: Option<NextHopId>) {
        let end = first + (1 << (self.end - len.max(self.depth)));
        if first < self.at {
            return;
        }
        self.run_to(first);
        if len >= self.covered_from {
            self.at = end;
        } else {
            self.open[self.opened] = (end, next_hop);
            self.opened += 1;
        }
    }

    /// Visits one slot, in which there is a longer route at or below `top`.
    fn deeper(&mut self, slot: usize, top: Position<F>) {
        self.run_to(slot);
        self.close();
        let next_hop = self.open[self.opened - 1].1;
        let below = Block { trie: self.trie, top, depth: self.end, inherited: next_hop };
        (self.visit)(Slots { first: slot, count: 1, next_hop, below: Some(below) });
        self.at = slot + 1;
    }

    /// Closes the routes that end before the current slot; the block itself stays open.
    fn close(&mut self) {
        while self.opened > 1 && self.open[self.opened - 1].0 <= self.at {
            self.opened -= 1;
        }
    }

    /// Visits the slots up to `end`, in which no route begins.
    fn run_to(&mut self, end: usize) {
        while self.at < end {
            self.close();
            let (until, next_hop) = self.open[self.opened - 1];
            let until = until.min(end);
            let (first, count) = (self.at, until - self.at);
            (self.visit)(Slots { first, count, next_hop, below: None });
            self.at = until;
        }
        self.close();
    }
}
