//! Routes in order, from either end.

use alloc::vec::Vec;

use super::Trie;
use super::layout::{Bitmaps, Child, NodeIndex, STARTS, STRIDE, fixed_bits, position};
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

/// A node with routes and children still to be visited.
#[derive(Clone, Copy)]
struct Frame<F: Family> {
    bits: F::Bits,
    node: NodeIndex,
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

    /// Skips the entries in the prefix of a position.
    fn skip_within(&mut self, position: usize) {
        let within = self.maps.within(position);
        self.maps.short ^= within.short;
        self.maps.long ^= within.long;
        self.maps.children ^= within.children;
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
    fn new(bits: F::Bits, node: NodeIndex, depth: u8, maps: Bitmaps) -> Self {
        Self { bits, node, depth, pending: Pending::new(maps) }
    }

    /// The prefix of a position.
    #[inline(always)]
    fn prefix(&self, position: usize) -> Prefix<F> {
        let k = fixed_bits(position);
        let value = (position ^ 1 << k) as u128;
        let len = self.depth + k;
        let bits = F::Bits::from_u128(value << (F::WIDTH - len));
        Prefix::truncated(self.bits | bits, len)
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

    /// Skips the routes before a prefix in order; only for a cursor that starts at `/0`. O(depth).
    pub fn skip_before(&mut self, start: Prefix<F>) {
        self.head = self.head.filter(|route| route.prefix >= start);
        loop {
            let Frame { bits, depth, pending, .. } = &mut self.frame;
            let node = Prefix::truncated(*bits, *depth);
            if node >= start {
                return;
            }
            if !node.covers(start) {
                pending.chunks = 0;
                return;
            }
            let c = start.bits().extract(*depth, STRIDE);
            let inside = start.len() <= *depth + STRIDE;
            // Of the routes that begin at the chunk, the shorter ones are before.
            let first =
                if inside { position(start.bits(), *depth, start.len() - *depth) } else { 128 };
            pending.chunks &= u64::MAX << c;
            let before = if first < 64 { !(u64::MAX << first) } else { u64::MAX };
            pending.maps.short &= !(STARTS[c] & before);
            if first > 64 + c {
                pending.maps.long &= !(1 << c);
            }
            if inside || !pending.maps.has_child(c) || !self.descend(c, |leaf| leaf < start) {
                return;
            }
        }
    }

    /// Skips the routes after a prefix in reverse order; as [`Cursor::skip_before`].
    pub fn skip_after(&mut self, end: Prefix<F>) {
        loop {
            let Frame { bits, depth, pending, .. } = &mut self.frame;
            let node = Prefix::truncated(*bits, *depth);
            if node >= end {
                pending.chunks = 0;
                return;
            }
            if !node.covers(end) {
                return;
            }
            let c = end.bits().extract(*depth, STRIDE);
            pending.chunks &= u64::MAX >> (63 - c);
            if end.len() <= *depth + STRIDE {
                let last = position(end.bits(), *depth, end.len() - *depth);
                pending.maps.children &= !(1 << c);
                if last < 64 {
                    pending.maps.short &= !(STARTS[c] & u64::MAX << last << 1);
                    pending.maps.long &= !(1 << c);
                }
                return;
            }
            if !pending.maps.has_child(c) || !self.descend(c, |leaf| leaf > end) {
                return;
            }
        }
    }

    /// Enters the child of a chunk before its turn; returns whether it is a node.
    ///
    /// The route of a leaf has its turn, unless it is to be skipped.
    fn descend(&mut self, c: usize, skip: impl Fn(Prefix<F>) -> bool) -> bool {
        let maps = self.trie.blocks.bitmaps(self.frame.node);
        let child = self.trie.child(self.frame.node, &maps, c);
        if let Child::Leaf(record) = child
            && !skip(self.trie.records.get(record).prefix())
        {
            return false;
        }
        self.frame.pending.maps.children &= !(1 << c);
        !matches!(child, Child::Leaf(_)) && self.enter(c).is_none()
    }

    /// The next route in order, without those that the route before covers.
    pub fn next_uncovered(&mut self) -> Option<Route<F>> {
        if self.head.is_some() {
            return self.head.take();
        }
        loop {
            match self.frame.pending.take_first() {
                Some(Entry::Route(position)) => {
                    self.frame.pending.skip_within(position);
                    return self.route(position);
                }
                Some(Entry::Child(c)) => {
                    if let Some(route) = self.enter(c) {
                        return Some(route);
                    }
                }
                None => self.frame = self.parents.pop()?,
            }
        }
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
