//! Routes in order, from either end.

use alloc::vec::Vec;

use super::Trie;
use super::layout::{Bitmaps, Child, Place, STARTS, STRIDE, fixed_bits};
use super::position::{At, Position};
use crate::net::{Bits, Family, Prefix, Route};

/// Returns the routes of a subtree in order, or in reverse order; not both from one cursor.
#[derive(Clone)]
pub(in crate::rib) struct Cursor<'r, F: Family> {
    trie: &'r Trie<F>,
    /// A route before all others, or the only one.
    head: Option<Route<F>>,
    /// The node being visited.
    frame: Frame<F>,
    /// The nodes above it, from the top.
    parents: Vec<Frame<F>>,
}

/// A node of which routes and children are still to be visited.
#[derive(Clone, Copy)]
struct Frame<F: Family> {
    bits: F::Bits,
    node: Place,
    depth: u8,
    pending: Pending,
}

/// The routes and children of a node that are still to be visited.
#[derive(Clone, Copy)]
pub(super) struct Pending {
    maps: Bitmaps,
    /// The chunks at which one of them begins.
    chunks: u64,
}

/// A route of a node, by its position, or a child, by its chunk.
pub(super) enum Entry {
    Route(usize),
    Child(usize),
}

impl Pending {
    pub fn new(maps: Bitmaps) -> Self {
        Self { maps, chunks: maps.starts() }
    }

    /// Takes the first entry: by chunk, routes by length, the child last.
    #[inline(always)]
    pub fn take_first(&mut self) -> Option<Entry> {
        while self.chunks != 0 {
            let c = self.chunks.trailing_zeros() as usize;
            let short = self.maps.short & STARTS[c];
            if short != 0 {
                self.maps.short ^= short & short.wrapping_neg();
                return Some(Entry::Route(short.trailing_zeros() as usize));
            }
            let bit = 1 << c;
            if self.maps.long & bit != 0 {
                self.maps.long ^= bit;
                return Some(Entry::Route(64 + c));
            }
            self.chunks ^= bit;
            if self.maps.children & bit != 0 {
                return Some(Entry::Child(c));
            }
        }
        None
    }

    /// Takes the last entry.
    #[inline(always)]
    fn take_last(&mut self) -> Option<Entry> {
        while self.chunks != 0 {
            let c = 63 - self.chunks.leading_zeros() as usize;
            let bit = 1 << c;
            if self.maps.children & bit != 0 {
                self.maps.children ^= bit;
                return Some(Entry::Child(c));
            }
            if self.maps.long & bit != 0 {
                self.maps.long ^= bit;
                return Some(Entry::Route(64 + c));
            }
            let short = self.maps.short & STARTS[c];
            if let Some(position) = short.checked_ilog2() {
                self.maps.short ^= 1 << position;
                return Some(Entry::Route(position as usize));
            }
            self.chunks ^= bit;
        }
        None
    }
}

impl<F: Family> Frame<F> {
    fn new(bits: F::Bits, node: Place, depth: u8, maps: Bitmaps) -> Self {
        Self { bits, node, depth, pending: Pending::new(maps) }
    }

    /// The prefix of a position.
    #[inline(always)]
    fn prefix(&self, position: usize) -> Prefix<F> {
        let k = fixed_bits(position);
        let value = (position ^ 1 << k) as u128;
        let len = self.depth + k;
        let bits = F::Bits::from_u128(value << (F::WIDTH - len));
        Prefix::from_bits_masked(self.bits | bits, len)
    }
}

impl<'r, F: Family> Cursor<'r, F> {
    /// The routes at and below a position.
    pub fn new(trie: &'r Trie<F>, top: Option<Position<F>>) -> Self {
        let none = Frame::new(F::Bits::ZERO, trie.root, 0, Bitmaps::default());
        let mut cursor = Self { trie, head: None, frame: none, parents: Vec::new() };
        let Some(top) = top else { return cursor };
        match top.at {
            At::Route(next_hop) => cursor.head = Some(Route { prefix: top.prefix(), next_hop }),
            At::Node { node, depth, index } => {
                if top.len() == 0 {
                    cursor.head = trie.default_route();
                }
                let maps = trie.blocks.bitmaps(node);
                let bits = top.prefix().bits() & F::Bits::mask(depth);
                cursor.frame = Frame::new(bits, node, depth, maps.within(index.into()));
            }
        }
        cursor
    }

    /// The route at a position of the node being visited.
    #[inline(always)]
    fn route(&self, position: usize) -> Option<Route<F>> {
        let maps = self.trie.blocks.bitmaps(self.frame.node);
        let next_hop = self.trie.next_hop(self.frame.node, &maps, position)?;
        Some(Route { prefix: self.frame.prefix(position), next_hop })
    }

    /// Enters a child of the node being visited, or returns the route of a leaf.
    #[inline(always)]
    fn enter(&mut self, c: usize) -> Option<Route<F>> {
        let Frame { node, depth, .. } = self.frame;
        let maps = self.trie.blocks.bitmaps(node);
        let (bits, node, depth) = match self.trie.child(node, &maps, c) {
            Child::Node(below) => (self.frame.prefix(64 + c).bits(), below, depth + STRIDE),
            Child::Leaf(record) => {
                let leaf = self.trie.records.get(record);
                return Some(Route { prefix: leaf.prefix(), next_hop: leaf.next_hop()? });
            }
            Child::Chain(record) => {
                let chain = self.trie.records.get(record);
                (chain.prefix().bits(), chain.node(), chain.len())
            }
        };
        let frame = Frame::new(bits, node, depth, self.trie.blocks.bitmaps(node));
        self.parents.push(core::mem::replace(&mut self.frame, frame));
        None
    }

    /// The next route in order.
    #[inline]
    pub fn next(&mut self) -> Option<Route<F>> {
        if self.head.is_some() {
            return self.head.take();
        }
        loop {
            match self.frame.pending.take_first() {
                Some(Entry::Route(position)) => return self.route(position),
                Some(Entry::Child(c)) => {
                    if let Some(route) = self.enter(c) {
                        return Some(route);
                    }
                }
                None => self.frame = self.parents.pop()?,
            }
        }
    }

    /// The next route in reverse order.
    #[inline]
    pub fn next_back(&mut self) -> Option<Route<F>> {
        loop {
            match self.frame.pending.take_last() {
                Some(Entry::Route(position)) => return self.route(position),
                Some(Entry::Child(c)) => {
                    if let Some(route) = self.enter(c) {
                        return Some(route);
                    }
                }
                None => match self.parents.pop() {
                    Some(parent) => self.frame = parent,
                    None => return self.head.take(),
                },
            }
        }
    }
}
