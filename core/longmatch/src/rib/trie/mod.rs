//! The storage of a RIB: a tree bitmap of stride 6 in one array, with path compression.
//!
//! A node at depth `d` (0, 6, 12, ...) represents a prefix of `d` bits and holds the routes of the
//! lengths `d + 1` to `d + 6` in that prefix; longer routes are in its children, one per value of
//! its six bits. The default route, which is in no node, has its own field. A child is
//!
//! - a *node* of the next depth,
//! - a *leaf*: the only route of its subtree, of any length, or
//! - a *chain*: a node further down; all routes of the subtree share its prefix.
//!
//! So every node except the root has two routes or children, and memory is O(routes) for any
//! table, however long the common prefixes are. A table has one representation: it does not depend
//! on the order of the changes that led to it.
//!
//! Stride 6 fits two bitmaps of a 64-bit word each, as in Poptrie; a lookup in a full IPv4 table
//! reads four nodes, against 23 of the binary trie that stood here before.
//!
//! ```text
//!  node:  | short | long | children | places of the children | next hops, short then long |
//!           64 b    64 b    64 b      32 b each, by bit        32 b each, by bit
//! ```

mod change;
#[cfg(test)]
mod check;
mod cursor;
mod layout;
mod lookup;
mod position;
mod store;
mod strides;

pub(super) use cursor::Cursor;
pub(super) use lookup::Cover;
pub(super) use position::Position;
pub use strides::{Block, Slots};

use crate::net::{Family, NextHopId, Prefix, Route};
use layout::{Bitmaps, Child, HEADER, NodeIndex, units_for};
use store::{Blocks, Records};

/// The greatest number of routes: each may need a record, and records are numbered in 30 bits.
pub(crate) const MAX_ROUTES: usize = 1 << 29;

/// The routes of one family.
#[derive(Clone)]
pub(super) struct Trie<F: Family> {
    /// The next hop of `/0`.
    default: Option<NextHopId>,
    root: NodeIndex,
    blocks: Blocks,
    records: Records<F>,
}

impl<F: Family> Trie<F> {
    pub fn new() -> Self {
        let mut blocks = Blocks::default();
        let root = blocks.empty_node();
        Self { default: None, root, blocks, records: Records::default() }
    }

    pub fn bytes(&self) -> usize {
        self.blocks.bytes() + self.records.bytes()
    }

    /// Whether one more route fits whatever its prefix.
    pub fn has_capacity(&self) -> bool {
        self.blocks.has_capacity() && self.records.has_capacity()
    }

    /// Whether more than half of the storage is free, which [`Trie::compacted`] returns.
    pub fn is_sparse(&self) -> bool {
        self.blocks.is_sparse() || self.records.is_sparse()
    }

    /// A copy in address order without free storage. O(routes).
    pub fn compacted(&self) -> Self {
        let blocks = Blocks::with_units(self.blocks.used_units());
        let records = Records::with_capacity(self.records.used());
        let mut copy = Self { default: self.default, root: NodeIndex::default(), blocks, records };
        copy.root = copy.copy_node(self, self.root);
        copy
    }

    /// Copies a node of another trie with its subtree. The recursion is 22 levels deep at most.
    fn copy_node(&mut self, from: &Self, node: NodeIndex) -> NodeIndex {
        let maps = from.blocks.bitmaps(node);
        let copy = self.blocks.allocate(units_for(maps.entries()));
        let cells = from.blocks.block(node, maps.entries());
        self.blocks.cells_mut()[copy.cell()..][..cells.len()].copy_from_slice(cells);
        for i in 0..maps.children.count_ones() as usize {
            let child = match Child::decode(cells[HEADER + i]) {
                Child::Node(place) => Child::Node(self.copy_node(from, place)),
                Child::Leaf(record) => Child::Leaf(self.records.insert(*from.records.get(record))),
                Child::Chain(record) => {
                    // The record precedes its node, as lookups read them.
                    let chain = self.records.insert(*from.records.get(record));
                    let below = self.copy_node(from, from.records.get(record).node());
                    self.records.get_mut(chain).set_node(below);
                    Child::Chain(chain)
                }
            };
            self.blocks.cells_mut()[copy.cell() + HEADER + i] = child.encode();
        }
        copy
    }

    /// The place of the child for the chunk `c` of a node.
    #[inline(always)]
    fn child(&self, node: NodeIndex, maps: &Bitmaps, c: usize) -> Child {
        Child::decode(self.blocks.cells()[node.cell() + HEADER + maps.child_rank(c)])
    }

    /// The next hop of the route at a position that the bitmaps have.
    #[inline(always)]
    fn next_hop(&self, node: NodeIndex, maps: &Bitmaps, position: usize) -> Option<NextHopId> {
        NextHopId::new(self.blocks.cells()[node.cell() + HEADER + maps.route_rank(position)])
    }

    /// The default route.
    fn default_route(&self) -> Option<Route<F>> {
        Some(Route { prefix: Prefix::DEFAULT, next_hop: self.default? })
    }
}
