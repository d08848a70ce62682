//! Verification of every invariant of a trie, for tests.

use alloc::vec;
use alloc::vec::Vec;

use super::Trie;
use super::layout::{Child, HEADER, NodeIndex, STRIDE, first_chunk, fixed_bits, units_for};
use crate::net::{Bits, Family, Prefix};

impl<F: Family> Trie<F> {
    /// Panics at the first broken invariant; returns the number of routes.
    ///
    /// - A node other than the root has two entries; a subtree with one route is a leaf.
    /// - An entry lies in its node's prefix: routes by their positions, children by their prefixes.
    /// - A chain skips at least one depth, and leads to a node of which no node above could hold
    ///   all routes.
    /// - Every unit and every record is used once or free once.
    pub(in crate::rib) fn check(&self) -> usize {
        let mut visit = Census {
            units: vec![false; self.blocks.len()],
            records: vec![false; self.records.len()],
            routes: usize::from(self.default.is_some()),
        };
        self.check_node(&mut visit, self.root, Prefix::DEFAULT);
        for (place, units) in self.blocks.free_list() {
            visit.take_units(place, units);
        }
        for record in self.records.free_list() {
            visit.take_record(record);
        }
        assert!(visit.units.iter().all(|used| *used), "a unit is neither used nor free");
        assert!(visit.records.iter().all(|used| *used), "a record is neither used nor free");
        visit.routes
    }

    fn check_node(&self, visit: &mut Census, node: NodeIndex, prefix: Prefix<F>) {
        let depth = prefix.len();
        assert!(depth.is_multiple_of(STRIDE) && depth < F::WIDTH, "a node of depth {depth}");
        let maps = self.blocks.bitmaps(node);
        visit.take_units(node.0 as usize, units_for(maps.entries()));
        assert!(depth == 0 || maps.entries() >= 2, "{prefix}: a node with one entry");
        assert_eq!(maps.short & 3, 0, "{prefix}: positions 0 and 1 have no route");
        let width = (F::WIDTH - depth).min(STRIDE);
        let positions = (2..128).filter(|position| maps.has_route(*position));
        for position in positions {
            assert!(fixed_bits(position) <= width, "{prefix}: a route of too many bits");
            assert!(self.next_hop(node, &maps, position).is_some(), "{prefix}: a next hop of 0");
            visit.routes += 1;
        }
        for c in (0..64).filter(|c| maps.has_child(*c)) {
            assert!(depth + STRIDE < F::WIDTH, "{prefix}: a child below the last depth");
            let bits = F::Bits::from_u128((c as u128) << (F::WIDTH - depth - STRIDE));
            let below = Prefix::from_bits_masked(prefix.bits() | bits, depth + STRIDE);
            self.check_child(visit, self.child(node, &maps, c), below);
        }
        assert_eq!(maps.starts(), self.starts_by_position(node), "{prefix}: chunks that begin");
    }

    fn check_child(&self, visit: &mut Census, child: Child, prefix: Prefix<F>) {
        match child {
            Child::Node(node) => self.check_node(visit, node, prefix),
            Child::Leaf(record) => {
                let leaf = self.records.get(record);
                visit.take_record(record as usize);
                visit.routes += 1;
                assert!(prefix.covers(leaf.prefix()) && leaf.len() > prefix.len(), "{prefix}");
                assert!(leaf.next_hop().is_some(), "{prefix}: a next hop of 0");
            }
            Child::Chain(record) => {
                let chain = self.records.get(record);
                visit.take_record(record as usize);
                assert!(prefix.covers(chain.prefix()) && chain.len() > prefix.len(), "{prefix}");
                self.check_node(visit, chain.node(), chain.prefix());
            }
        }
    }

    /// The chunks at which an entry of a node begins, from one position after the other.
    fn starts_by_position(&self, node: NodeIndex) -> u64 {
        let maps = self.blocks.bitmaps(node);
        let routes = (2..128).filter(|position| maps.has_route(*position)).map(first_chunk);
        routes.fold(maps.children, |starts, c| starts | 1 << c)
    }

    /// The cells of every node and the records, in order: equal for equal representations.
    pub(in crate::rib) fn shape(&self) -> Vec<Vec<u32>> {
        let mut shape = Vec::new();
        self.shape_of(self.root, &mut shape);
        shape
    }

    fn shape_of(&self, node: NodeIndex, shape: &mut Vec<Vec<u32>>) {
        let maps = self.blocks.bitmaps(node);
        let mut cells = self.blocks.block(node, maps.entries()).to_vec();
        let places = cells.split_off(HEADER);
        let (children, next_hops) = places.split_at(maps.children.count_ones() as usize);
        cells.extend(next_hops);
        shape.push(cells);
        for child in children {
            match Child::decode(*child) {
                Child::Node(node) => self.shape_of(node, shape),
                Child::Leaf(record) => {
                    let leaf = self.records.get(record);
                    shape.push(vec![1, leaf.len().into(), leaf.prefix().bits().to_u128() as u32]);
                }
                Child::Chain(record) => {
                    let chain = self.records.get(record);
                    shape.push(vec![2, chain.len().into()]);
                    self.shape_of(chain.node(), shape);
                }
            }
        }
    }
}

/// The units, records and routes counted so far.
struct Census {
    units: Vec<bool>,
    records: Vec<bool>,
    routes: usize,
}

impl Census {
    fn take_units(&mut self, first: usize, units: usize) {
        for used in &mut self.units[first..first + units] {
            assert!(!core::mem::replace(used, true), "unit {first} is used twice");
        }
    }

    fn take_record(&mut self, record: usize) {
        let used = core::mem::replace(&mut self.records[record], true);
        assert!(!used, "record {record} is used twice");
    }
}
