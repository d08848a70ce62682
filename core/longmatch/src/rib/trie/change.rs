//! Insertion and removal.
//!
//! Both keep the one representation that a table has: a subtree with one route is a leaf, one with
//! several is the node at the greatest depth that all of them reach, behind a chain if that is not
//! the next depth.

use super::Trie;
use super::layout::{Bitmaps, Child, HEADER, NodeIndex, STRIDE, position};
use super::lookup::{End, Slot, Visit};
use super::store::Record;
use crate::net::{Bits, Family, NextHopId, Prefix};

impl<F: Family> Trie<F> {
    /// Sets or replaces the next hop of a prefix; returns the old one.
    #[inline(always)]
    pub fn insert(&mut self, prefix: Prefix<F>, next_hop: NextHopId) -> Option<NextHopId> {
        if prefix.len() == 0 {
            return self.default.replace(next_hop);
        }
        let visit = self.locate(prefix);
        let Visit { slot, node, depth, maps, .. } = visit;
        match visit.end {
            End::Inside => {
                let at = position(prefix.bits(), depth, prefix.len() - depth);
                if maps.has_route(at) {
                    let cell = node.cell() + HEADER + maps.route_rank(at);
                    let cell = &mut self.blocks.cells_mut()[cell];
                    return NextHopId::new(core::mem::replace(cell, next_hop.get()));
                }
                let place = self.add_route(node, maps, at, next_hop);
                self.moved(slot, place);
            }
            End::Absent => {
                let leaf = self.records.insert(Record::leaf(prefix, next_hop));
                let c = prefix.bits().extract(depth, STRIDE);
                let place = self.add_child(node, maps, c, Child::Leaf(leaf));
                self.moved(slot, place);
            }
            End::Leaf { record, .. } if self.records.get(record).prefix() == prefix => {
                let leaf = self.records.get_mut(record);
                let old = leaf.next_hop();
                leaf.set_next_hop(next_hop);
                return old;
            }
            End::Leaf { cell, record } => {
                self.split(cell, depth + STRIDE, Child::Leaf(record), prefix, next_hop);
            }
            End::Chain { cell, record } => {
                self.split(cell, depth + STRIDE, Child::Chain(record), prefix, next_hop);
            }
        }
        None
    }

    /// Removes the next hop of a prefix; returns the old one.
    #[inline(always)]
    pub fn remove(&mut self, prefix: Prefix<F>) -> Option<NextHopId> {
        if prefix.len() == 0 {
            return self.default.take();
        }
        let mut visit = self.locate(prefix);
        let Visit { node, depth, maps, .. } = visit;
        match visit.end {
            End::Inside => {
                let at = position(prefix.bits(), depth, prefix.len() - depth);
                if !maps.has_route(at) {
                    return None;
                }
                let old = self.next_hop(node, &maps, at);
                visit.maps.flip_route(at);
                self.remove_entry(visit, prefix, maps.route_rank(at));
                old
            }
            End::Leaf { record, .. } if self.records.get(record).prefix() == prefix => {
                let old = self.records.get(record).next_hop();
                self.records.remove(record);
                let c = prefix.bits().extract(depth, STRIDE);
                visit.maps.children ^= 1 << c;
                self.remove_entry(visit, prefix, maps.child_rank(c));
                old
            }
            End::Absent | End::Leaf { .. } | End::Chain { .. } => None,
        }
    }

    fn add_route(
        &mut self,
        node: NodeIndex,
        mut maps: Bitmaps,
        position: usize,
        next_hop: NextHopId,
    ) -> NodeIndex {
        maps.flip_route(position);
        self.blocks.insert(node, maps, maps.route_rank(position), next_hop.get())
    }

    fn add_child(
        &mut self,
        node: NodeIndex,
        mut maps: Bitmaps,
        c: usize,
        child: Child,
    ) -> NodeIndex {
        maps.children ^= 1 << c;
        self.blocks.insert(node, maps, maps.child_rank(c), child.encode())
    }

    /// Stores the place of a node that may have moved.
    fn moved(&mut self, slot: Slot, node: NodeIndex) {
        if let Some(record) = slot.chain {
            self.records.get_mut(record).set_node(node);
        } else {
            self.set_child(slot, Child::Node(node));
        }
    }

    fn set_child(&mut self, slot: Slot, child: Child) {
        match (slot.cell, child) {
            (Some(cell), child) => self.blocks.cells_mut()[cell] = child.encode(),
            (None, Child::Node(node)) => self.root = node,
            (None, _) => unreachable!("the root is a node"),
        }
    }

    /// Replaces a leaf or a chain by a node for its routes and a new one.
    ///
    /// `depth` is that of a node that hangs from the cell without a chain. The new node's depth is
    /// the greatest that all routes reach, so that the old and the new are different entries of it.
    fn split(
        &mut self,
        cell: usize,
        depth: u8,
        old: Child,
        prefix: Prefix<F>,
        next_hop: NextHopId,
    ) {
        let (Child::Leaf(record) | Child::Chain(record)) = old else {
            unreachable!("a node holds every prefix that leads to it");
        };
        let existing = *self.records.get(record);
        let reach = existing.len() - u8::from(matches!(old, Child::Leaf(_)));
        let common = (existing.prefix().bits() ^ prefix.bits()).leading_zeros();
        let split = common.min(reach).min(prefix.len() - 1) / STRIDE * STRIDE;
        // Its block has capacity for two entries, so `node` stays valid.
        let node = self.blocks.empty_node();
        if let Child::Leaf(_) = old {
            self.records.remove(record);
            let next_hop = existing.next_hop().expect("the record of a leaf has a next hop");
            self.add(node, split, existing.prefix(), next_hop);
        } else {
            let mut child = old;
            if existing.len() == split + STRIDE {
                self.records.remove(record);
                child = Child::Node(existing.node());
            }
            let c = existing.prefix().bits().extract(split, STRIDE);
            self.add_child(node, Bitmaps::default(), c, child);
        }
        self.add(node, split, prefix, next_hop);
        let child = self.hang(depth, Prefix::truncated(prefix.bits(), split), node);
        self.blocks.cells_mut()[cell] = child.encode();
    }

    /// Adds a route to a node that has no child for its chunk and capacity in its block.
    fn add(&mut self, node: NodeIndex, depth: u8, prefix: Prefix<F>, next_hop: NextHopId) {
        let maps = self.blocks.bitmaps(node);
        if prefix.len() <= depth + STRIDE {
            let at = position(prefix.bits(), depth, prefix.len() - depth);
            self.add_route(node, maps, at, next_hop);
        } else {
            let leaf = self.records.insert(Record::leaf(prefix, next_hop));
            self.add_child(node, maps, prefix.bits().extract(depth, STRIDE), Child::Leaf(leaf));
        }
    }

    /// The child that leads to a node of `prefix` from a cell whose direct nodes have this depth.
    fn hang(&mut self, depth: u8, prefix: Prefix<F>, node: NodeIndex) -> Child {
        if prefix.len() == depth {
            Child::Node(node)
        } else {
            Child::Chain(self.records.insert(Record::chain(prefix, node)))
        }
    }

    /// Removes entry `rank` of a visited node; its bitmaps become those of the visit.
    fn remove_entry(&mut self, visit: Visit, prefix: Prefix<F>, rank: usize) {
        let Visit { slot, node, depth, maps, .. } = visit;
        if maps.entries() > 1 || slot.cell.is_none() {
            let place = self.blocks.remove(node, maps, rank);
            return self.moved(slot, place);
        }
        // The entry that is left needs no node: its cell is the one that is not removed.
        let last = self.blocks.block(node, 2)[HEADER + (1 - rank)];
        self.blocks.free_node(node, 2);
        if let Some(record) = slot.chain {
            self.records.remove(record);
        }
        let prefix = Prefix::truncated(prefix.bits(), depth);
        let child = self.lift(prefix, slot.depth, maps, last);
        self.set_child(slot, child);
    }

    /// The child that replaces a node with one entry, given by its bitmap and cell.
    ///
    /// `depth` is that of a node that hangs from the new parent without a chain.
    fn lift(&mut self, node: Prefix<F>, depth: u8, maps: Bitmaps, entry: u32) -> Child {
        let end = |position: usize| {
            let k = super::layout::fixed_bits(position);
            let value = (position ^ 1 << k) as u128;
            let len = node.len() + k;
            let bits = F::Bits::from_u128(value << (F::WIDTH - len));
            Prefix::truncated(node.bits() | bits, len)
        };
        if maps.children == 0 {
            let position = match maps.short {
                0 => 64 + maps.long.trailing_zeros(),
                short => short.trailing_zeros(),
            };
            let next_hop = NextHopId::new(entry).expect("the cell of a route has a next hop");
            return Child::Leaf(
                self.records.insert(Record::leaf(end(position as usize), next_hop)),
            );
        }
        match Child::decode(entry) {
            Child::Node(below) => {
                let prefix = end(64 + maps.children.trailing_zeros() as usize);
                self.hang(depth, prefix, below)
            }
            child => child,
        }
    }
}
