//! A Poptrie that changes under readers (paper, section 3.5).
//!
//! A change affects the slots whose addresses its prefix covers and no longer route does. From the
//! direct entry down, only nodes with such slots are visited. The content of a slot is built again
//! from the RIB; then, bottom up, each visited node is built from its old slots and the changes.
//! Equal parts are not moved.
//!
//! A node whose vector and leafvec are unchanged is changed in place: one store leads `base0` to
//! other leaves or `base1` to other children, and nothing above changes. Any other node is written
//! anew, in a new run with its siblings, and its parent's `base1` must change in turn, up to the
//! direct entry. So one store replaces the root of a change. All stores come last, when everything
//! has its place, so a change that does not fit has no effect.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::take;

use super::check::{self, Unused};
use super::compile::{Built, Compiler, Leaves, Placement, max_next_hop};
use super::layout::{DIRECT_LEAF, K, Leaf, Node, Poptrie, SLOTS, Slices};
use crate::engine::kit::{CannotPatch, Corrupt, LiveEngine, Lookup, Patch, Replaced};
use crate::mem::{FreeRuns, Live, LiveMemory, MemoryUsage, Owner, Plain, RetireList, Run};
use crate::net::{Family, NextHopId, Prefix};
use crate::rib::{Block, Rib, Slots};

/// log2 of the most direct entries to change in place. More take as long as a fresh compile.
const MAX_ENTRIES: u8 = 16;
/// Spare bytes of the arrays of nodes and of leaves, on top of twice those in use.
const SPARE_BYTES: usize = 1 << 20;

/// Moves a Poptrie into arrays with capacity to grow, and makes its write side.
pub(super) fn live<F: Family, N: Node, L: Leaf>(poptrie: Poptrie<F, N, L>) -> LiveEngine<F> {
    let capacities = [
        capacity(&poptrie.nodes).min(DIRECT_LEAF as usize),
        capacity(&poptrie.leaves).min(u32::MAX as usize),
    ];
    match Patcher::new(&poptrie, capacities) {
        Some(patcher) => LiveEngine::patched(patcher.poptrie.clone(), patcher),
        None => LiveEngine::recompiled(poptrie),
    }
}

fn capacity<T: Plain>(array: &[T]) -> usize {
    array.len().saturating_mul(2).saturating_add(SPARE_BYTES / size_of::<T>())
}

/// The kind of items in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Items {
    Nodes(Run),
    Leaves(Run),
}

/// Placement of new items: runs of the arrays that no reader can reach.
struct Places<N: Node, L: Leaf> {
    nodes: Owner<N>,
    leaves: Owner<L>,
    free_nodes: FreeRuns,
    free_leaves: FreeRuns,
    /// Items placed in this patch.
    taken: Vec<Items>,
    /// Whether the capacity was exceeded. Everything built since is invalid.
    failed: bool,
    written: Replaced,
}

impl<N: Node, L: Leaf> Places<N, L> {
    fn free(&mut self, items: Items) {
        match items {
            Items::Nodes(run) => self.free_nodes.free(run),
            Items::Leaves(run) => self.free_leaves.free(run),
        }
    }
}

impl<N: Node, L: Leaf> Placement<N, L> for Places<N, L> {
    fn nodes(&mut self, nodes: &[N]) -> u32 {
        if nodes.is_empty() {
            return 0;
        }
        let Some(run) = self.free_nodes.place(&mut self.nodes, nodes) else {
            self.failed = true;
            return 0;
        };
        self.taken.push(Items::Nodes(run));
        self.written.nodes += nodes.len() as u64;
        run.start
    }

    fn leaves(&mut self, leaves: &[L]) -> u32 {
        if leaves.is_empty() {
            return 0;
        }
        let Some(run) = self.free_leaves.place(&mut self.leaves, leaves) else {
            self.failed = true;
            return 0;
        };
        self.taken.push(Items::Leaves(run));
        self.written.leaves += leaves.len() as u64;
        run.start
    }
}

/// A word that is replaced while readers use it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Link {
    Direct(u32),
    /// `base0` of the node of an index.
    Base0(u32),
    Base1(u32),
}

/// Content of a slot or a direct entry.
#[derive(Clone, Copy)]
enum Content {
    /// A raw next hop.
    Leaf(u32),
    /// The index of a node.
    Node(u32),
}

/// Change of a slot or a direct entry.
#[derive(Clone, Copy)]
enum Change<N> {
    /// No change.
    Nothing,
    Leaf(u32),
    Node(N),
}

impl<N> From<Built<N>> for Change<N> {
    fn from(built: Built<N>) -> Self {
        match built {
            Built::Leaf(raw) => Self::Leaf(raw),
            Built::Node(node) => Self::Node(node),
        }
    }
}

/// The write side.
pub(super) struct Patcher<F: Family, N: Node, L: Leaf> {
    pub(super) poptrie: Arc<Poptrie<F, N, L, LiveMemory>>,
    direct: Owner<u32>,
    compiler: Compiler<N, Places<N, L>>,
    /// Changes of the slots of the visited nodes. A stack, as nodes nest.
    changes: Vec<(u8, Change<N>)>,
    /// Words to replace once everything is built.
    pending: BTreeMap<Link, u32>,
    /// Items that are no longer needed once the words are replaced.
    retired: Vec<Items>,
    retire_list: RetireList<Items>,
}

impl<F: Family, N: Node, L: Leaf> Patcher<F, N, L> {
    /// Builds a table whose arrays of nodes and leaves can grow to these capacities. `None` when
    /// memory runs out.
    pub(super) fn new(
        poptrie: &Poptrie<F, N, L>,
        [node_capacity, leaf_capacity]: [usize; 2],
    ) -> Option<Self> {
        let (direct, direct_owner) = Live::with_capacity(&poptrie.direct, 0)?;
        let (nodes, node_owner) = Live::with_capacity(&poptrie.nodes, node_capacity)?;
        let (leaves, leaf_owner) = Live::with_capacity(&poptrie.leaves, leaf_capacity)?;
        let Poptrie { s, aggregate, batch, family, .. } = *poptrie;
        let place = Places {
            nodes: node_owner,
            leaves: leaf_owner,
            free_nodes: FreeRuns::new(SLOTS),
            free_leaves: FreeRuns::new(SLOTS),
            taken: Vec::new(),
            failed: false,
            written: Replaced::default(),
        };
        Some(Self {
            compiler: Compiler { place, built: Vec::new(), aggregate },
            poptrie: Arc::new(Poptrie { direct, nodes, leaves, s, aggregate, batch, family }),
            direct: direct_owner,
            changes: Vec::new(),
            pending: BTreeMap::new(),
            retired: Vec::new(),
            retire_list: RetireList::default(),
        })
    }

    /// Returns the pending value of a word, or its current one.
    fn word(&self, word: Link, now: impl FnOnce() -> u32) -> u32 {
        match self.pending.is_empty() {
            true => now(),
            false => self.pending.get(&word).copied().unwrap_or_else(now),
        }
    }

    /// Returns a node with its pending bases.
    fn node(&self, index: u32) -> N {
        let node = self.compiler.place.nodes[index as usize];
        let base0 = self.word(Link::Base0(index), || node.base0());
        let base1 = self.word(Link::Base1(index), || node.base1());
        N::new(node.vector(), node.stored_leaves(), base0, base1)
    }

    fn entry(&self, index: u32) -> Content {
        let entry = self.word(Link::Direct(index), || self.direct[index as usize]);
        match entry & DIRECT_LEAF {
            0 => Content::Node(entry),
            _ => Content::Leaf(entry & !DIRECT_LEAF),
        }
    }

    /// Changes the direct entries of some slots of the root block.
    fn entries(&mut self, prefix: Prefix<F>, slots: Slots<'_, F>) {
        for index in slots.first..slots.first + slots.count {
            let index = index as u32;
            let before = self.entry(index);
            let entry = match self.change(prefix, &slots, before) {
                Change::Nothing => continue,
                Change::Leaf(raw) if self.poptrie.s > 0 => DIRECT_LEAF | raw,
                Change::Leaf(raw) => {
                    let root = self.compiler.uniform(raw);
                    self.compiler.place.nodes(&[root])
                }
                Change::Node(node) => self.compiler.place.nodes(&[node]),
            };
            if let Content::Node(start) = before {
                self.retired.push(Items::Nodes(Run { start, count: 1 }));
            }
            self.pending.insert(Link::Direct(index), entry);
        }
    }

    /// Computes the change of a slot; `slots` is the RIB's view of it.
    fn change(&mut self, prefix: Prefix<F>, slots: &Slots<'_, F>, before: Content) -> Change<N> {
        let change = match (slots.below, before) {
            (Some(below), Content::Node(index)) => return self.update(prefix, below, index),
            (Some(below), Content::Leaf(_)) => self.compiler.block(below).into(),
            (None, _) => Change::Leaf(NextHopId::to_raw(slots.next_hop)),
        };
        match (change, before) {
            (Change::Leaf(after), Content::Leaf(before)) if before == after => Change::Nothing,
            (_, Content::Leaf(_)) => change,
            (_, Content::Node(index)) => {
                self.retire_below(index);
                change
            }
        }
    }

    /// Computes the change of a node, whose block is given.
    fn update(&mut self, prefix: Prefix<F>, block: Block<'_, F>, index: u32) -> Change<N> {
        let node = self.node(index);
        let first_change = self.changes.len();
        block.for_each_slots_of(prefix, K, |slots| {
            for slot in slots.first..slots.first + slots.count {
                let before = self.content(&node, slot);
                match self.change(prefix, &slots, before) {
                    Change::Nothing => {}
                    change => self.changes.push((slot as u8, change)),
                }
            }
        });
        if self.changes.len() == first_change {
            return Change::Nothing;
        }
        let change = self.changed_node(index, &node, first_change);
        self.changes.truncate(first_change);
        change
    }

    fn content(&self, node: &N, slot: usize) -> Content {
        match node.vector() >> slot & 1 {
            0 => Content::Leaf(self.leaf(node.leaf(slot as u64)).to_raw()),
            _ => Content::Node(node.child(slot as u64)),
        }
    }

    /// Computes the change of a node from the `changes` from `first_change` on.
    fn changed_node(&mut self, index: u32, node: &N, first_change: usize) -> Change<N> {
        let mut raw = self.raw_leaves(node);
        let mut vector = node.vector();
        let mut children_change = false;
        for (slot, change) in &self.changes[first_change..] {
            let bit = 1 << slot;
            children_change |= vector & bit != 0;
            match change {
                Change::Leaf(leaf) => {
                    raw[usize::from(*slot)] = *leaf;
                    vector &= !bit;
                }
                _ => {
                    vector |= bit;
                    children_change = true;
                }
            }
        }
        if self.poptrie.aggregate && vector == 0 && raw == [raw[0]; SLOTS] {
            self.retire(node);
            return Change::Leaf(raw[0]);
        }
        let leaves = Leaves::<L>::of::<N>(vector, &raw);
        let base0 = self.changed_leaves(node, leaves.stored());
        let base1 = match children_change {
            true => self.changed_children(node, vector, first_change),
            false => node.base1(),
        };
        let after = N::new(vector, leaves.leafvec, base0, base1);
        if (vector, after.stored_leaves()) != (node.vector(), node.stored_leaves()) {
            return Change::Node(after);
        }
        if base0 != node.base0() {
            self.pending.insert(Link::Base0(index), base0);
        }
        if base1 != node.base1() {
            self.pending.insert(Link::Base1(index), base1);
        }
        Change::Nothing
    }

    /// Returns the raw next hops of a node's leaf slots.
    fn raw_leaves(&self, node: &N) -> [u32; SLOTS] {
        let mut raw = [0; SLOTS];
        let mut stored = node.stored_leaves();
        let mut at = node.base0();
        while stored != 0 {
            // The leaf's slot, and the following ones up to the next leaf.
            let slot = stored.trailing_zeros() as usize;
            stored &= stored - 1;
            let end = stored.trailing_zeros() as usize;
            raw[slot..end].fill(self.leaf(at).to_raw());
            at += 1;
        }
        raw
    }

    /// Places a node's leaves `after`, or keeps them; returns the index of the first.
    fn changed_leaves(&mut self, node: &N, after: &[L]) -> u32 {
        let run = leaves_of(node);
        let mut before = (run.start..).take(run.count as usize);
        let same = |leaf: &L| before.next().is_some_and(|at| *leaf == self.leaf(at));
        if run.count as usize == after.len() && after.iter().all(same) {
            return run.start;
        }
        if run.count > 0 {
            self.retired.push(Items::Leaves(run));
        }
        self.compiler.place.leaves(after)
    }

    fn leaf(&self, index: u32) -> L {
        self.compiler.place.leaves[index as usize]
    }

    /// Places a node's new children: changed ones, and copies of the others. Returns the index of
    /// the first.
    fn changed_children(&mut self, node: &N, vector: u64, first_change: usize) -> u32 {
        let first_child = self.compiler.built.len();
        let mut at = first_change;
        for slot in (0..SLOTS as u8).filter(|slot| vector >> slot & 1 == 1) {
            while self.changes.get(at).is_some_and(|(changed, _)| *changed < slot) {
                at += 1;
            }
            let child = match self.changes.get(at) {
                Some((changed, Change::Node(child))) if *changed == slot => *child,
                _ => self.node(node.child(slot.into())),
            };
            self.compiler.built.push(child);
        }
        let run = children_of(node);
        if run.count > 0 {
            self.retired.push(Items::Nodes(run));
        }
        let Compiler { place, built, .. } = &mut self.compiler;
        let base1 = place.nodes(&built[first_child..]);
        built.truncate(first_child);
        base1
    }

    /// Retires the runs of a node's children and leaves.
    fn retire(&mut self, node: &N) {
        let (leaves, children) = (leaves_of(node), children_of(node));
        if leaves.count > 0 {
            self.retired.push(Items::Leaves(leaves));
        }
        if children.count > 0 {
            self.retired.push(Items::Nodes(children));
        }
    }

    /// Retires the runs of a node and of all its descendants.
    fn retire_below(&mut self, index: u32) {
        let node = self.node(index);
        let children = children_of(&node);
        for child in (children.start..).take(children.count as usize) {
            self.retire_below(child);
        }
        self.retire(&node);
    }

    /// Publishes the pending words; returns the number of direct entries among them.
    fn publish(&mut self) -> u64 {
        let mut entries = 0;
        let nodes = &mut self.compiler.place.nodes;
        for (word, value) in take(&mut self.pending) {
            match word {
                Link::Direct(index) => {
                    self.direct.publish(index as usize, value);
                    entries += 1;
                }
                Link::Base0(index) => {
                    nodes.publish_inside(index as usize, N::BASE0, value);
                }
                Link::Base1(index) => {
                    nodes.publish_inside(index as usize, N::BASE1, value);
                }
            }
        }
        for items in self.retired.drain(..) {
            let bytes = match items {
                Items::Nodes(run) => run.count as usize * size_of::<N>(),
                Items::Leaves(run) => run.count as usize * size_of::<L>(),
            };
            self.retire_list.push(items, bytes);
        }
        entries
    }

    /// Returns the arrays that the check reads.
    pub(super) fn slices(&self) -> Slices<'_, N, L> {
        let Places { nodes, leaves, .. } = &self.compiler.place;
        Slices { direct: &self.direct, nodes, leaves, s: self.poptrie.s }
    }

    /// Nodes and leaves that are free.
    #[cfg(test)]
    pub(super) fn free_items(&self) -> [usize; 2] {
        let Places { free_nodes, free_leaves, .. } = &self.compiler.place;
        [free_nodes.items(), free_leaves.items()]
    }

    /// Discards the prepared changes.
    fn forget(&mut self) {
        self.pending.clear();
        self.retired.clear();
        for items in take(&mut self.compiler.place.taken) {
            self.compiler.place.free(items);
        }
    }
}

fn leaves_of<N: Node>(node: &N) -> Run {
    Run { start: node.base0(), count: node.stored_leaves().count_ones() }
}

fn children_of<N: Node>(node: &N) -> Run {
    Run { start: node.base1(), count: node.vector().count_ones() }
}

impl<F: Family, N: Node, L: Leaf> Patch<F> for Patcher<F, N, L> {
    fn patch(&mut self, rib: &Rib<F>, changed: &[Prefix<F>]) -> Result<Replaced, CannotPatch> {
        let s = self.poptrie.s;
        let limit = max_next_hop::<L>(s);
        let too_much = |prefix: &Prefix<F>| {
            s.saturating_sub(prefix.len()) > MAX_ENTRIES
                || NextHopId::to_raw(rib.get(*prefix)) > limit
        };
        if changed.iter().any(too_much) {
            return Err(CannotPatch);
        }
        (self.compiler.place.failed, self.compiler.place.written) = (false, Replaced::default());
        for prefix in changed {
            let root = rib.root_block();
            root.for_each_slots_of(*prefix, s, |slots| self.entries(*prefix, slots));
            if self.compiler.place.failed {
                self.forget();
                return Err(CannotPatch);
            }
        }
        let entries = self.publish();
        self.compiler.place.taken.clear();
        Ok(Replaced { entries, ..self.compiler.place.written })
    }

    fn seal(&mut self, epoch: u64) {
        self.retire_list.seal(epoch);
    }

    fn reclaim(&mut self, oldest: u64) {
        while let Some(items) = self.retire_list.pop(oldest) {
            self.compiler.place.free(items);
        }
    }

    fn retired_bytes(&self) -> usize {
        self.retire_list.bytes()
    }

    fn used_and_unused(&self) -> (usize, usize) {
        let Places { free_nodes, free_leaves, nodes, leaves, .. } = &self.compiler.place;
        let unused = free_nodes.items() * size_of::<N>() + free_leaves.items() * size_of::<L>();
        let used = size_of_val(&nodes[..]) + size_of_val(&leaves[..]);
        (used, unused)
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.poptrie.memory_usage()
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        let Places { free_nodes, free_leaves, .. } = &self.compiler.place;
        let mut unused =
            Unused { nodes: free_nodes.iter().collect(), leaves: free_leaves.iter().collect() };
        for items in self.retire_list.iter() {
            match items {
                Items::Nodes(run) => unused.nodes.push(*run),
                Items::Leaves(run) => unused.leaves.push(*run),
            }
        }
        check::check(self.slices(), unused, rib)
    }
}
