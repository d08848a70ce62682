//! A live Tree Bitmap.
//!
//! A lookup carries the longest match down with it, so its answer depends on several nodes. If
//! nodes were changed in place, it could read one node before a change and another after a later
//! change, and return an answer of no version. So a tree that readers can reach is never written: a
//! commit builds another tree, which shares the unchanged parts, and publishes it by one store of
//! the root's index.
//!
//! Each node on the path to a changed prefix is copied with its siblings, which are contiguous;
//! where a node's own prefixes change, its results are copied. All prefixes of a commit descend
//! together, so each node is built once, when its descendants have their places.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::take;

use super::check::{self, Unused};
use super::compile::rest_of;
use super::layout::{Bitmaps, Node, NodeResult, Slices, TreeBitmap, internal_bit};
use crate::engine::kit::{CannotPatch, Corrupt, LiveEngine, Lookup, Patch, Replaced};
use crate::mem::{FreeRuns, Live, LiveMemory, MemoryUsage, Owner, Plain, RetireList, Run};
use crate::net::{Family, NextHopId, Prefix};
use crate::rib::Rib;

/// Spare bytes of nodes, and of results, on top of twice those in use. A change of a full table
/// copies about 4 KiB of nodes and 60 bytes of results, which wait for readers: a writer at full
/// speed fills 30 MiB while a reader is suspended for as many milliseconds. Memory that is never
/// written is not taken.
const SPARE_NODE_BYTES: usize = 64 << 20;
const SPARE_RESULT_BYTES: usize = 2 << 20;
/// The most results of a node: the prefixes of 0 to `STRIDE` bits at the greatest stride.
const MAX_RESULTS: usize = 128;

/// Moves a tree into arrays with capacity to grow, and makes its write side.
pub(super) fn live<F: Family, N: Node, R: NodeResult>(tree: TreeBitmap<F, N, R>) -> LiveEngine<F> {
    let capacities =
        [capacity(&tree.nodes, SPARE_NODE_BYTES), capacity(&tree.results, SPARE_RESULT_BYTES)];
    match Patcher::new(&tree, capacities) {
        Some(patcher) => LiveEngine::patched(patcher.tree.clone(), patcher),
        None => LiveEngine::recompiled(tree),
    }
}

fn capacity<T: Plain>(array: &[T], spare: usize) -> usize {
    let items = array.len().saturating_mul(2).saturating_add(spare / size_of::<T>());
    items.min(u32::MAX as usize)
}

/// The kind of items in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Items {
    Nodes(Run),
    Results(Run),
}

/// The prefixes at or below the position of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inside<N> {
    Nothing,
    /// Only the prefix that ends there, with this raw next hop. An end node above holds it itself.
    Short(u32),
    Node(N),
}

impl<N> Inside<N> {
    fn short(raw: u32) -> Self {
        if raw == 0 { Self::Nothing } else { Self::Short(raw) }
    }
}

/// The raw next hops of a node's prefixes, by [`internal_bit`]; 0 for none. Those of `STRIDE` bits,
/// which an end node holds, come last.
type Raw = [u32; MAX_RESULTS];

/// Start of the prefixes of `STRIDE` bits in [`Raw`].
const fn longest<N: Node>() -> usize {
    (1 << N::STRIDE) - 1
}

/// The write side.
pub(super) struct Patcher<F: Family, N: Node, R: NodeResult> {
    pub(super) tree: Arc<TreeBitmap<F, N, R, LiveMemory>>,
    pub(super) nodes: Owner<N>,
    results: Owner<R>,
    pub(super) root: Owner<u32>,
    free_nodes: FreeRuns,
    free_results: FreeRuns,
    /// The changed children of the nodes under construction, by the bits to each. A stack, as nodes
    /// nest.
    inside: Vec<(u64, Inside<N>)>,
    /// Children whose siblings are not complete yet. A stack too.
    children: Vec<N>,
    /// Buffer for the sorted prefixes of a patch.
    changed: Vec<Prefix<F>>,
    /// Items placed in this patch.
    taken: Vec<Items>,
    /// Items that are no longer needed after this patch.
    retired: Vec<Items>,
    retire_list: RetireList<Items>,
    written: Replaced,
}

impl<F: Family, N: Node, R: NodeResult> Patcher<F, N, R> {
    /// Builds a tree whose arrays of nodes and results can grow to these capacities. `None` when
    /// memory runs out.
    pub(super) fn new(
        tree: &TreeBitmap<F, N, R>,
        [node_capacity, result_capacity]: [usize; 2],
    ) -> Option<Self> {
        let (nodes, node_owner) = Live::with_capacity(&tree.nodes, node_capacity)?;
        let (results, result_owner) = Live::with_capacity(&tree.results, result_capacity)?;
        let (root, root_owner) = Live::with_capacity(&tree.root, 0)?;
        Some(Self {
            tree: Arc::new(TreeBitmap { nodes, results, root, family: PhantomData }),
            nodes: node_owner,
            results: result_owner,
            root: root_owner,
            free_nodes: FreeRuns::new(1 << N::STRIDE),
            free_results: FreeRuns::new(MAX_RESULTS),
            inside: Vec::new(),
            children: Vec::new(),
            changed: Vec::new(),
            taken: Vec::new(),
            retired: Vec::new(),
            retire_list: RetireList::default(),
            written: Replaced::default(),
        })
    }

    /// Updates the content at a depth, given its `changed` prefixes in order. `None` if nothing
    /// changes.
    fn update(
        &mut self,
        rib: &Rib<F>,
        before: Inside<N>,
        depth: u8,
        changed: &[Prefix<F>],
    ) -> Result<Option<Inside<N>>, CannotPatch> {
        let next_hop = |prefix| NextHopId::to_raw(rib.get(prefix));
        let (node, mut raw) = match before {
            Inside::Node(node) => (Some(node), self.unpacked(&node)),
            _ if changed.last().is_some_and(|prefix| prefix.len() == depth) => {
                let after = Inside::short(next_hop(changed[0]));
                return Ok((after != before).then_some(after));
            }
            Inside::Short(own) => (None, core::array::from_fn(|i| if i == 0 { own } else { 0 })),
            Inside::Nothing => (None, [0; MAX_RESULTS]),
        };
        let first = self.inside.len();
        let mut changes = false;
        let is_in_child = |prefix: &Prefix<F>| prefix.len() - depth >= N::STRIDE;
        let value = |prefix: &Prefix<F>| rest_of::<F, N>(*prefix, depth).1;
        for prefixes in
            changed.chunk_by(|a, b| is_in_child(a) && is_in_child(b) && value(a) == value(b))
        {
            let (len, value) = rest_of::<F, N>(prefixes[0], depth);
            if len < N::STRIDE {
                let own = &mut raw[internal_bit(len, value) as usize];
                let after = next_hop(prefixes[0]);
                changes |= core::mem::replace(own, after) != after;
                continue;
            }
            let before = self.inside_of(node.as_ref(), &raw, value);
            if let Some(after) = self.update(rib, before, depth + N::STRIDE, prefixes)? {
                self.inside.push((value, after));
            }
        }
        if !changes && self.inside.len() == first {
            return Ok(None);
        }
        let after = if self.is_end(node.as_ref(), first) {
            self.end_node(node.as_ref(), &mut raw, first)
        } else {
            self.ordinary_node(node.as_ref(), &mut raw, first)
        };
        self.inside.truncate(first);
        after.map(Some)
    }

    fn node(&self, index: u32) -> N {
        self.nodes[index as usize]
    }

    fn raw_result(&self, index: u32) -> u32 {
        self.results[index as usize].to_raw()
    }

    fn unpacked(&self, node: &N) -> Raw {
        let mut raw = [0; MAX_RESULTS];
        let mut at = node.results();
        for bit in bits(node.internal()) {
            raw[bit as usize] = self.raw_result(at);
            at += 1;
        }
        for v in bits(if node.is_end() { node.external() } else { 0 }) {
            raw[longest::<N>() + v as usize] = self.raw_result(at);
            at += 1;
        }
        raw
    }

    /// The current content of the child for the next bits `v`.
    fn inside_of(&self, node: Option<&N>, raw: &Raw, v: u64) -> Inside<N> {
        match ordinary(node) {
            None => Inside::short(raw[longest::<N>() + v as usize]),
            Some(node) if node.external() >> v & 1 == 1 => Inside::Node(self.node(node.child(v))),
            Some(_) => Inside::Nothing,
        }
    }

    /// The unchanged children of an ordinary node, and the bits that lead to each.
    fn kept(&self, node: Option<&N>, first: usize) -> impl Iterator<Item = (u64, N)> {
        let external = ordinary(node).map_or(0, N::external);
        let change = self.inside[first..].iter().fold(0, |bits, (v, _)| bits | 1 << v);
        let node = node.copied();
        bits(external & !change).filter_map(move |v| Some((v, self.node(node?.child(v)))))
    }

    /// Whether an end node can hold all prefixes inside.
    fn is_end(&self, node: Option<&N>, first: usize) -> bool {
        let is_node = |(_, inside): &(u64, Inside<N>)| matches!(inside, Inside::Node(_));
        !self.inside[first..].iter().any(is_node)
            && self.kept(node, first).all(|(_, child)| child.bitmaps().is_trivial())
    }

    /// Builds an end node. The prefixes of former child nodes move into it.
    fn end_node(
        &mut self,
        node: Option<&N>,
        raw: &mut Raw,
        first: usize,
    ) -> Result<Inside<N>, CannotPatch> {
        let at = longest::<N>();
        let kept: Vec<(u64, N)> = self.kept(node, first).collect();
        for (v, child) in kept {
            raw[at + v as usize] = self.raw_result(child.results());
            self.retire_results(&child);
        }
        for (v, inside) in &self.inside[first..] {
            raw[at + *v as usize] = if let Inside::Short(raw) = inside { *raw } else { 0 };
        }
        self.retire_children(node);
        let external = held(&raw[at..]);
        let bitmaps = Bitmaps { internal: held(&raw[..at]), external, end: true };
        if bitmaps.is_trivial() {
            node.inspect(|node| self.retire_results(node));
            return Ok(Inside::short(raw[0]));
        }
        Ok(Inside::Node(N::new(bitmaps, 0, self.changed_results(node, raw)?)))
    }

    /// Builds an ordinary node. The longest prefixes of a former end node move to children.
    fn ordinary_node(
        &mut self,
        node: Option<&N>,
        raw: &mut Raw,
        first: usize,
    ) -> Result<Inside<N>, CannotPatch> {
        let (own, longest) = raw.split_at_mut(longest::<N>());
        let (mut external, mut children) = match ordinary(node) {
            Some(node) => (node.external(), node.children()),
            None => (held(longest), 0),
        };
        for (v, inside) in &self.inside[first..] {
            external = external & !(1 << v) | u64::from(*inside != Inside::Nothing) << v;
        }
        if self.inside.len() > first || ordinary(node).is_none() {
            children = self.changed_children(node, longest, external, first)?;
        }
        longest.fill(0);
        let bitmaps = Bitmaps { internal: held(own), external, end: false };
        Ok(Inside::Node(N::new(bitmaps, children, self.changed_results(node, raw)?)))
    }

    /// Places the children of an ordinary node: changed ones, and copies of the others.
    fn changed_children(
        &mut self,
        node: Option<&N>,
        longest: &[u32],
        external: u64,
        first: usize,
    ) -> Result<u32, CannotPatch> {
        let first_child = self.children.len();
        let mut at = first;
        for v in bits(external) {
            while self.inside.get(at).is_some_and(|(changed, _)| *changed < v) {
                at += 1;
            }
            let child = match self.inside.get(at) {
                Some((changed, Inside::Node(child))) if *changed == v => *child,
                Some((changed, Inside::Short(raw))) if *changed == v => self.short_node(*raw)?,
                _ => match ordinary(node) {
                    Some(node) => self.node(node.child(v)),
                    None => self.short_node(longest[v as usize])?,
                },
            };
            self.children.push(child);
        }
        self.retire_children(node);
        let Self { nodes, free_nodes, children, .. } = self;
        let siblings = &children[first_child..];
        let run = free_nodes.place(nodes, siblings).ok_or(CannotPatch)?;
        children.truncate(first_child);
        self.taken.push(Items::Nodes(run));
        self.written.nodes += u64::from(run.count);
        Ok(run.start)
    }

    /// Builds a node that holds only the prefix of no bits.
    fn short_node(&mut self, raw: u32) -> Result<N, CannotPatch> {
        let results = self.place_results(&[R::from_raw(raw)])?;
        Ok(N::new(Bitmaps { internal: 1, external: 0, end: true }, 0, results))
    }

    /// Places a node's results for `raw`, or keeps them. Returns the index of the first.
    fn changed_results(&mut self, node: Option<&N>, raw: &Raw) -> Result<u32, CannotPatch> {
        let mut stored = [R::default(); MAX_RESULTS];
        let mut count = 0;
        for raw in raw.iter().filter(|raw| **raw != 0) {
            stored[count] = R::from_raw(*raw);
            count += 1;
        }
        let stored = &stored[..count];
        if let Some(node) = node {
            let run = results_of(node);
            let mut before = (run.start..).take(run.count as usize);
            let same =
                |result: &R| before.next().is_some_and(|at| *result == self.results[at as usize]);
            if run.count as usize == count && stored.iter().all(same) {
                return Ok(run.start);
            }
            self.retire_results(node);
        }
        self.place_results(stored)
    }

    fn place_results(&mut self, results: &[R]) -> Result<u32, CannotPatch> {
        if results.is_empty() {
            return Ok(0);
        }
        let run = self.free_results.place(&mut self.results, results).ok_or(CannotPatch)?;
        self.taken.push(Items::Results(run));
        self.written.leaves += u64::from(run.count);
        Ok(run.start)
    }

    fn retire_results(&mut self, node: &N) {
        self.retired.push(Items::Results(results_of(node)));
    }

    fn retire_children(&mut self, node: Option<&N>) {
        if let Some(node) = ordinary(node) {
            let count = node.external().count_ones();
            self.retired.push(Items::Nodes(Run { start: node.children(), count }));
        }
    }

    /// Publishes a new root.
    fn publish(&mut self, inside: Inside<N>) -> Result<(), CannotPatch> {
        let root = match inside {
            Inside::Nothing => N::EMPTY,
            Inside::Short(raw) => self.short_node(raw)?,
            Inside::Node(root) => root,
        };
        let run = self.free_nodes.place(&mut self.nodes, &[root]).ok_or(CannotPatch)?;
        self.written.nodes += 1;
        let before = self.root[0];
        // No step fails from here on.
        self.root.publish(0, run.start);
        self.retired.push(Items::Nodes(Run { start: before, count: 1 }));
        for items in self.retired.drain(..) {
            let (run, size) = match items {
                Items::Nodes(run) => (run, size_of::<N>()),
                Items::Results(run) => (run, size_of::<R>()),
            };
            if run.count > 0 {
                self.retire_list.push(items, run.count as usize * size);
            }
        }
        self.taken.clear();
        Ok(())
    }

    fn free(&mut self, items: Items) {
        match items {
            Items::Nodes(run) => self.free_nodes.free(run),
            Items::Results(run) => self.free_results.free(run),
        }
    }

    /// Discards the prepared changes.
    fn forget(&mut self) {
        self.inside.clear();
        self.children.clear();
        self.retired.clear();
        for items in take(&mut self.taken) {
            self.free(items);
        }
    }

    /// Nodes and results in use.
    #[cfg(test)]
    pub(super) fn in_use(&self) -> [usize; 2] {
        let mut unused = [self.free_nodes.items(), self.free_results.items()];
        for items in self.retire_list.iter() {
            match items {
                Items::Nodes(run) => unused[0] += run.count as usize,
                Items::Results(run) => unused[1] += run.count as usize,
            }
        }
        [self.nodes.len() - unused[0], self.results.len() - unused[1]]
    }
}

/// Returns the node if it is an ordinary one.
fn ordinary<N: Node>(node: Option<&N>) -> Option<&N> {
    node.filter(|node| !node.is_end())
}

fn results_of<N: Node>(node: &N) -> Run {
    Run { start: node.results(), count: node.bitmaps().results() as u32 }
}

/// Iterates over the numbers of the set bits, in order.
fn bits(mut bits: u64) -> impl Iterator<Item = u64> {
    core::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros().into());
        bits &= bits.wrapping_sub(1);
        bit
    })
}

/// Mask of the raw next hops that exist.
fn held(raw: &[u32]) -> u64 {
    raw.iter().take(64).rev().fold(0, |bits, raw| bits << 1 | u64::from(*raw != 0))
}

impl<F: Family, N: Node, R: NodeResult> Patch<F> for Patcher<F, N, R> {
    fn patch(&mut self, rib: &Rib<F>, changed: &[Prefix<F>]) -> Result<Replaced, CannotPatch> {
        let too_great = |prefix: &Prefix<F>| NextHopId::to_raw(rib.get(*prefix)) > R::MAX;
        if changed.iter().any(too_great) {
            return Err(CannotPatch);
        }
        self.written = Replaced::default();
        let mut prefixes = take(&mut self.changed);
        prefixes.clear();
        prefixes.extend(changed);
        prefixes.sort_unstable();
        prefixes.dedup();
        let root = Inside::Node(self.node(self.root[0]));
        let patched = match self.update(rib, root, 0, &prefixes) {
            Ok(Some(root)) => self.publish(root),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        self.changed = prefixes;
        if patched.is_err() {
            self.forget();
        }
        patched.map(|()| self.written)
    }

    fn seal(&mut self, epoch: u64) {
        self.retire_list.seal(epoch);
    }

    fn reclaim(&mut self, oldest: u64) {
        while let Some(items) = self.retire_list.pop(oldest) {
            self.free(items);
        }
    }

    fn retired_bytes(&self) -> usize {
        self.retire_list.bytes()
    }

    fn used_and_unused(&self) -> (usize, usize) {
        let (nodes, results) = (self.free_nodes.items(), self.free_results.items());
        (self.memory_usage().bytes(), nodes * size_of::<N>() + results * size_of::<R>())
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.tree.memory_usage()
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        let mut unused = Unused {
            nodes: self.free_nodes.iter().collect(),
            results: self.free_results.iter().collect(),
        };
        for items in self.retire_list.iter() {
            match items {
                Items::Nodes(run) => unused.nodes.push(*run),
                Items::Results(run) => unused.results.push(*run),
            }
        }
        let Self { nodes, results, root, .. } = self;
        check::check(Slices { nodes, results, root }, unused, rib)
    }
}
