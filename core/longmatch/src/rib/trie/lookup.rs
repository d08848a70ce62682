//! Exact and longest matches, and the routes that cover a prefix.

use core::iter::FusedIterator;

use super::Trie;
use super::layout::{Bitmaps, Child, HEADER, NodeIndex, PATH, STRIDE, fixed_bits, position};
use crate::net::{Bits, Family, NextHopId, Prefix, Route};

/// The cell of a parent from which a node hangs.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// The index of the cell; `None` for the root.
    pub cell: Option<usize>,
    /// The record of the chain between the cell and the node, if there is one.
    pub chain: Option<u32>,
    /// The depth of a node that hangs from the cell without a chain.
    pub depth: u8,
}

/// The last node on the way to a prefix.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    pub slot: Slot,
    pub node: NodeIndex,
    pub depth: u8,
    pub maps: Bitmaps,
    pub end: End,
}

/// The reason why a node is the last on the way to a prefix.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// The prefix has a position in the node.
    Inside,
    /// The node has no child in the prefix's direction.
    Absent,
    /// The child, in this cell, is a leaf.
    Leaf { cell: usize, record: u32 },
    /// The child, in this cell, is a chain that leads away from the prefix.
    Chain { cell: usize, record: u32 },
}

/// A longest match: the cell of its next hop is computed only when it is asked for.
#[derive(Clone, Copy)]
enum Match {
    None,
    /// A route of a node.
    Route {
        node: NodeIndex,
        depth: u8,
        position: usize,
    },
    /// The route of a leaf.
    Leaf {
        record: u32,
    },
}

impl<F: Family> Trie<F> {
    /// Descends towards a prefix other than `/0`.
    #[inline(always)]
    pub(super) fn locate(&self, prefix: Prefix<F>) -> Visit {
        let mut slot = Slot { cell: None, chain: None, depth: 0 };
        let (mut node, mut depth) = (self.root, 0);
        loop {
            let maps = self.blocks.bitmaps(node);
            let visit = |end| Visit { slot, node, depth, maps, end };
            if prefix.len() <= depth + STRIDE {
                return visit(End::Inside);
            }
            let c = prefix.bits().extract(depth, STRIDE);
            if !maps.has_child(c) {
                return visit(End::Absent);
            }
            let cell = node.cell() + HEADER + maps.child_rank(c);
            let below = depth + STRIDE;
            match Child::decode(self.blocks.cells()[cell]) {
                Child::Node(place) => {
                    slot = Slot { cell: Some(cell), chain: None, depth: below };
                    (node, depth) = (place, below);
                }
                Child::Leaf(record) => return visit(End::Leaf { cell, record }),
                Child::Chain(record) => {
                    if !self.leads_towards(record, prefix) {
                        return visit(End::Chain { cell, record });
                    }
                    slot = Slot { cell: Some(cell), chain: Some(record), depth: below };
                    (node, depth) =
                        (self.records.get(record).node(), self.records.get(record).len());
                }
            }
        }
    }

    /// Whether a prefix has its place in the node of a chain or below.
    #[inline(always)]
    fn leads_towards(&self, chain: u32, prefix: Prefix<F>) -> bool {
        let record = self.records.get(chain);
        prefix.len() > record.len() && record.prefix().covers(prefix)
    }

    /// The next hop of exactly this prefix.
    #[inline(always)]
    pub fn get(&self, prefix: Prefix<F>) -> Option<NextHopId> {
        if prefix.len() == 0 {
            return self.default;
        }
        let Visit { node, depth, maps, end, .. } = self.locate(prefix);
        match end {
            End::Inside => {
                let at = position(prefix.bits(), depth, prefix.len() - depth);
                if maps.has_route(at) { self.next_hop(node, &maps, at) } else { None }
            }
            End::Leaf { record, .. } => {
                let leaf = self.records.get(record);
                if leaf.prefix() == prefix { leaf.next_hop() } else { None }
            }
            End::Absent | End::Chain { .. } => None,
        }
    }

    /// The next hop of the longest match.
    #[inline(always)]
    pub fn lookup(&self, addr: F::Bits) -> Option<NextHopId> {
        self.next_hop_of(self.longest_match(addr))
    }

    /// The longest match.
    #[inline(always)]
    pub fn get_lpm(&self, addr: F::Bits) -> Option<Route<F>> {
        self.route_of(addr, self.longest_match(addr))
    }

    /// The next hops of the longest matches.
    #[inline(always)]
    pub fn lookup_batch(&self, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.longest_matches(addrs, |i, found| out[i] = self.next_hop_of(found));
    }

    /// The longest matches.
    #[inline(always)]
    pub fn get_lpm_batch(&self, addrs: &[F::Bits], out: &mut [Option<Route<F>>]) {
        self.longest_matches(addrs, |i, found| out[i] = self.route_of(addrs[i], found));
    }

    /// The longest match of an address, except for the default route.
    #[inline(always)]
    fn longest_match(&self, bits: F::Bits) -> Match {
        let mut lane = Lane::new(self.root);
        while self.step(bits, &mut lane) {}
        lane.found
    }

    /// Looks at one node; returns whether there is another.
    #[inline(always)]
    fn step(&self, bits: F::Bits, lane: &mut Lane) -> bool {
        let Lane { node, depth, .. } = *lane;
        let maps = self.blocks.bitmaps(node);
        let c = bits.extract(depth, STRIDE);
        if let Some(position) = maps.longest(c) {
            lane.found = Match::Route { node, depth, position };
        }
        if !maps.has_child(c) {
            return false;
        }
        match self.child(node, &maps, c) {
            Child::Node(place) => {
                (lane.node, lane.depth) = (place, depth + STRIDE);
                true
            }
            Child::Leaf(record) => {
                if self.records.get(record).prefix().contains_bits(bits) {
                    lane.found = Match::Leaf { record };
                }
                false
            }
            Child::Chain(record) => {
                let chain = self.records.get(record);
                (lane.node, lane.depth) = (chain.node(), chain.len());
                chain.prefix().contains_bits(bits)
            }
        }
    }

    /// The longest matches of up to [`LANES`] addresses, each step of which is taken for all of
    /// them before the next, so that their reads of memory overlap.
    #[inline(always)]
    fn longest_matches(&self, bits: &[F::Bits], mut found: impl FnMut(usize, Match)) {
        for (group, bits) in bits.chunks(LANES).enumerate() {
            let mut lanes = [Lane::new(self.root); LANES];
            let mut active = u32::MAX >> (32 - bits.len());
            while active != 0 {
                let mut visit = active;
                while visit != 0 {
                    let i = visit.trailing_zeros() as usize;
                    visit &= visit - 1;
                    if self.step(bits[i], &mut lanes[i]) {
                        self.blocks.prefetch(lanes[i].node);
                    } else {
                        active ^= 1 << i;
                    }
                }
            }
            for (i, lane) in lanes[..bits.len()].iter().enumerate() {
                found(group * LANES + i, lane.found);
            }
        }
    }

    /// The next hop of a match of any address.
    #[inline(always)]
    fn next_hop_of(&self, found: Match) -> Option<NextHopId> {
        match found {
            Match::None => self.default,
            Match::Route { node, position, .. } => {
                self.next_hop(node, &self.blocks.bitmaps(node), position)
            }
            Match::Leaf { record } => self.records.get(record).next_hop(),
        }
    }

    /// The route of a match of the address `bits`.
    #[inline(always)]
    fn route_of(&self, bits: F::Bits, found: Match) -> Option<Route<F>> {
        let next_hop = self.next_hop_of(found)?;
        let len = match found {
            Match::None => 0,
            Match::Route { depth, position, .. } => depth + fixed_bits(position),
            Match::Leaf { record } => self.records.get(record).len(),
        };
        Some(Route { prefix: Prefix::truncated(bits, len), next_hop })
    }
}

/// The number of addresses that are looked up at the same time.
const LANES: usize = 16;

/// The state of one lookup.
#[derive(Clone, Copy)]
struct Lane {
    node: NodeIndex,
    depth: u8,
    found: Match,
}

impl Lane {
    #[inline(always)]
    fn new(root: NodeIndex) -> Self {
        Self { node: root, depth: 0, found: Match::None }
    }
}

/// Routes that cover a prefix, shortest first; from [`Rib::cover`](crate::Rib::cover).
#[derive(Clone)]
pub(in crate::rib) struct Cover<'r, F: Family> {
    trie: &'r Trie<F>,
    prefix: Prefix<F>,
    default: Option<NextHopId>,
    next: Option<Child>,
    /// The depth of `next` if it is a node.
    next_depth: u8,
    node: NodeIndex,
    depth: u8,
    maps: Bitmaps,
    /// The routes of the node still to return.
    short: u64,
    long: bool,
}

impl<'r, F: Family> Cover<'r, F> {
    pub(in crate::rib) fn new(trie: &'r Trie<F>, prefix: Prefix<F>) -> Self {
        let root = trie.root;
        Self {
            trie,
            prefix,
            default: trie.default,
            next: (prefix.len() > 0).then_some(Child::Node(root)),
            next_depth: 0,
            node: root,
            depth: 0,
            maps: Bitmaps::default(),
            short: 0,
            long: false,
        }
    }

    /// Enters a node on the way to the prefix.
    fn enter(&mut self, node: NodeIndex, depth: u8) {
        let maps = self.trie.blocks.bitmaps(node);
        let (bits, len) = (self.prefix.bits(), self.prefix.len());
        let c = bits.extract(depth, STRIDE);
        let longer = len >= depth + STRIDE;
        // Positions up to that of the prefix cover it, if they are on the path to its chunk.
        let limit = if longer { 64 } else { position(bits, depth, len - depth) + 1 };
        self.short = maps.short & PATH[c] & (u64::MAX >> (64 - limit));
        self.long = longer && maps.long >> c & 1 == 1;
        self.next =
            (len > depth + STRIDE && maps.has_child(c)).then(|| self.trie.child(node, &maps, c));
        self.next_depth = depth + STRIDE;
        (self.node, self.depth, self.maps) = (node, depth, maps);
    }

    fn route(&self, position: usize) -> Option<Route<F>> {
        let len = self.depth + fixed_bits(position);
        let prefix = Prefix::truncated(self.prefix.bits(), len);
        let next_hop = self.trie.next_hop(self.node, &self.maps, position)?;
        Some(Route { prefix, next_hop })
    }
}

impl<F: Family> Iterator for Cover<'_, F> {
    type Item = Route<F>;

    fn next(&mut self) -> Option<Route<F>> {
        if let Some(next_hop) = self.default.take() {
            return Some(Route { prefix: Prefix::DEFAULT, next_hop });
        }
        loop {
            if self.short != 0 {
                let position = self.short.trailing_zeros() as usize;
                self.short &= self.short - 1;
                return self.route(position);
            }
            if core::mem::take(&mut self.long) {
                return self.route(64 + self.prefix.bits().extract(self.depth, STRIDE));
            }
            match self.next.take()? {
                Child::Node(node) => self.enter(node, self.next_depth),
                Child::Leaf(record) => {
                    let leaf = self.trie.records.get(record);
                    let next_hop = leaf.next_hop().filter(|_| leaf.prefix().covers(self.prefix))?;
                    return Some(Route { prefix: leaf.prefix(), next_hop });
                }
                Child::Chain(record) => {
                    if !self.trie.leads_towards(record, self.prefix) {
                        return None;
                    }
                    let chain = *self.trie.records.get(record);
                    self.enter(chain.node(), chain.len());
                }
            }
        }
    }
}

impl<F: Family> FusedIterator for Cover<'_, F> {}
