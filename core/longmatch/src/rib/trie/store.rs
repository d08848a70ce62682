//! The memory of a trie: blocks of nodes in one array, and records of leaves and chains.
//!
//! A freed block is the first of a list of free blocks of its size. Blocks are neither split nor
//! joined; when more than half of the array is free, the trie is copied without free blocks.

use alloc::vec::Vec;

use super::layout::{Bitmaps, HEADER, MAX_ENTRIES, MAX_PLACES, NodeIndex, UNIT, units_for};
use crate::net::{Bits, Family, NextHopId, Prefix};
use crate::simd::prefetch;

/// The number of block sizes, in units; size 0 is not used.
const SIZES: usize = units_for(MAX_ENTRIES) + 1;
/// The end of a list of free blocks or records.
const END: u32 = u32::MAX;
/// Below this many free units or records, the storage is not copied.
const FEW: usize = 1024;
/// The number of units in a cache line.
const UNITS_OF_LINE: usize = 4;

/// The blocks of nodes.
#[derive(Clone)]
pub(super) struct Blocks {
    units: Vec<[u32; UNIT]>,
    /// The first free block of each size; its first cell is the place of the next.
    free: [u32; SIZES],
    free_units: usize,
}

impl Default for Blocks {
    fn default() -> Self {
        Self::with_units(0)
    }
}

impl Blocks {
    pub fn with_units(units: usize) -> Self {
        Self { units: Vec::with_capacity(units), free: [END; SIZES], free_units: 0 }
    }

    pub fn bytes(&self) -> usize {
        self.units.capacity() * size_of::<[u32; UNIT]>()
    }

    pub fn used_units(&self) -> usize {
        self.units.len() - self.free_units
    }

    pub fn is_sparse(&self) -> bool {
        self.free_units > self.units.len() / 2 + FEW
    }

    /// Whether one node can grow and another can be allocated.
    pub fn has_capacity(&self) -> bool {
        self.units.len() + 2 * SIZES < MAX_PLACES
    }

    #[inline(always)]
    pub fn cells(&self) -> &[u32] {
        self.units.as_flattened()
    }

    #[inline(always)]
    pub fn cells_mut(&mut self) -> &mut [u32] {
        self.units.as_flattened_mut()
    }

    #[inline(always)]
    pub fn bitmaps(&self, node: NodeIndex) -> Bitmaps {
        let header = self.cells()[node.cell()..].first_chunk();
        Bitmaps::load(header.expect("a node has a header"))
    }

    /// The cells of a node with this many entries.
    pub fn block(&self, node: NodeIndex, entries: usize) -> &[u32] {
        &self.cells()[node.cell()..][..HEADER + entries]
    }

    /// A block of this many units; its cells may have any value.
    pub fn allocate(&mut self, units: usize) -> NodeIndex {
        let first = self.free[units];
        if first != END {
            self.free[units] = self.cells()[NodeIndex(first).cell()];
            self.free_units -= units;
            return NodeIndex(first);
        }
        let place = self.units.len();
        // An array that doubles would often be half empty; a quarter keeps copying rare enough.
        if self.units.capacity() - place < units {
            self.units.reserve_exact(units.max(place / 4));
        }
        self.units.resize(place + units, [0; UNIT]);
        NodeIndex(place as u32)
    }

    /// The first units and the sizes of the free blocks, for `check`.
    #[cfg(test)]
    pub fn free_list(&self) -> Vec<(usize, usize)> {
        let mut list = Vec::new();
        for (units, mut at) in self.free.iter().copied().enumerate() {
            while at != END {
                list.push((at as usize, units));
                assert!(list.len() <= self.units.len(), "a list of free blocks is a ring");
                at = self.cells()[NodeIndex(at).cell()];
            }
        }
        assert_eq!(list.iter().map(|(_, units)| units).sum::<usize>(), self.free_units);
        list
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.units.len()
    }

    fn free(&mut self, place: NodeIndex, units: usize) {
        let next = self.free[units];
        self.cells_mut()[place.cell()] = next;
        self.free[units] = place.0;
        self.free_units += units;
    }

    pub fn free_node(&mut self, node: NodeIndex, entries: usize) {
        self.free(node, units_for(entries));
    }

    /// Prefetches the header of a node and the first of its entries.
    #[inline(always)]
    pub fn prefetch(&self, node: NodeIndex) {
        prefetch(&self.units, node.0 as usize);
        prefetch(&self.units, node.0 as usize + UNITS_OF_LINE);
    }

    /// A node without entries; its block has capacity for two.
    pub fn empty_node(&mut self) -> NodeIndex {
        let node = self.allocate(units_for(0));
        let end = node.cell() + HEADER;
        Bitmaps::default().store(&mut self.cells_mut()[node.cell()..end]);
        node
    }

    /// Inserts an entry before entry `rank` of a node; its bitmaps become `maps`.
    ///
    /// Returns the node's place, which changes when its block is full.
    pub fn insert(&mut self, node: NodeIndex, maps: Bitmaps, rank: usize, entry: u32) -> NodeIndex {
        let entries = maps.entries();
        let place = self.place_for(node, entries - 1, entries);
        let (from, to) = (node.cell() + HEADER, place.cell() + HEADER);
        let cells = self.cells_mut();
        cells.copy_within(from + rank..from + entries - 1, to + rank + 1);
        cells[to + rank] = entry;
        self.finish_move(node, place, entries - 1, rank);
        maps.store(&mut self.cells_mut()[place.cell()..to]);
        place
    }

    /// Removes entry `rank` of a node; its bitmaps become `maps`. Returns the node's place.
    pub fn remove(&mut self, node: NodeIndex, maps: Bitmaps, rank: usize) -> NodeIndex {
        let entries = maps.entries();
        let place = self.place_for(node, entries + 1, entries);
        let (from, to) = (node.cell() + HEADER, place.cell() + HEADER);
        self.cells_mut().copy_within(from + rank + 1..from + entries + 1, to + rank);
        self.finish_move(node, place, entries + 1, rank);
        maps.store(&mut self.cells_mut()[place.cell()..to]);
        place
    }

    /// A block for the new number of entries: the node's own if the size is the same.
    fn place_for(&mut self, node: NodeIndex, old: usize, new: usize) -> NodeIndex {
        if units_for(old) == units_for(new) { node } else { self.allocate(units_for(new)) }
    }

    /// Copies the first `rank` entries of a node that has moved, and frees its old block.
    fn finish_move(&mut self, node: NodeIndex, place: NodeIndex, old: usize, rank: usize) {
        if place != node {
            let (from, to) = (node.cell() + HEADER, place.cell() + HEADER);
            self.cells_mut().copy_within(from..from + rank, to);
            self.free(node, units_for(old));
        }
    }
}

/// A leaf or a chain: a prefix, and the next hop of its route or the place of its node.
#[derive(Clone, Copy)]
pub(super) struct Record<F: Family> {
    bits: <F::Bits as Bits>::Octets,
    value: u32,
    len: u8,
}

const _: () = assert!(
    size_of::<Record<crate::net::Ipv4>>() == 12 && size_of::<Record<crate::net::Ipv6>>() == 24
);

impl<F: Family> Record<F> {
    pub fn leaf(prefix: Prefix<F>, next_hop: NextHopId) -> Self {
        Self { bits: prefix.bits().to_network(), value: next_hop.get(), len: prefix.len() }
    }

    pub fn chain(prefix: Prefix<F>, node: NodeIndex) -> Self {
        Self { bits: prefix.bits().to_network(), value: node.0, len: prefix.len() }
    }

    #[inline(always)]
    pub fn prefix(&self) -> Prefix<F> {
        Prefix::truncated(F::Bits::from_network(self.bits.as_ref()), self.len)
    }

    /// The length of the route's prefix, or the depth of the node.
    #[inline(always)]
    pub fn len(&self) -> u8 {
        self.len
    }

    #[inline(always)]
    pub fn next_hop(&self) -> Option<NextHopId> {
        NextHopId::new(self.value)
    }

    #[inline(always)]
    pub fn node(&self) -> NodeIndex {
        NodeIndex(self.value)
    }

    pub fn set_next_hop(&mut self, next_hop: NextHopId) {
        self.value = next_hop.get();
    }

    pub fn set_node(&mut self, node: NodeIndex) {
        self.value = node.0;
    }
}

/// The records of leaves and chains.
#[derive(Clone)]
pub(super) struct Records<F: Family> {
    records: Vec<Record<F>>,
    /// The first free record; `value` is the number of the next.
    free: u32,
    free_records: usize,
}

impl<F: Family> Default for Records<F> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<F: Family> Records<F> {
    pub fn with_capacity(records: usize) -> Self {
        Self { records: Vec::with_capacity(records), free: END, free_records: 0 }
    }

    pub fn bytes(&self) -> usize {
        self.records.capacity() * size_of::<Record<F>>()
    }

    pub fn used(&self) -> usize {
        self.records.len() - self.free_records
    }

    pub fn is_sparse(&self) -> bool {
        self.free_records > self.records.len() / 2 + FEW
    }

    /// Whether a leaf and a chain can be added.
    pub fn has_capacity(&self) -> bool {
        self.records.len() + 2 <= MAX_PLACES
    }

    #[inline(always)]
    pub fn get(&self, record: u32) -> &Record<F> {
        &self.records[record as usize]
    }

    pub fn get_mut(&mut self, record: u32) -> &mut Record<F> {
        &mut self.records[record as usize]
    }

    pub fn insert(&mut self, record: Record<F>) -> u32 {
        if self.free != END {
            let place = self.free;
            let slot = &mut self.records[place as usize];
            self.free = slot.value;
            self.free_records -= 1;
            *slot = record;
            return place;
        }
        if self.records.capacity() == self.records.len() {
            self.records.reserve_exact(16.max(self.records.len() / 4));
        }
        self.records.push(record);
        (self.records.len() - 1) as u32
    }

    pub fn remove(&mut self, record: u32) {
        self.records[record as usize].value = self.free;
        self.free = record;
        self.free_records += 1;
    }

    /// The numbers of the free records, for `check`.
    #[cfg(test)]
    pub fn free_list(&self) -> Vec<usize> {
        let mut list = Vec::new();
        let mut at = self.free;
        while at != END {
            list.push(at as usize);
            assert!(list.len() <= self.records.len(), "the list of free records is a ring");
            at = self.records[at as usize].value;
        }
        assert_eq!(list.len(), self.free_records);
        list
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.records.len()
    }
}
