//! Changed prefixes to patched nodes. A prefix belongs to one node: adding or deleting it copies
//! that node's results, and where a node comes or goes, the children of its parent. An end node
//! that a longer prefix comes into becomes an ordinary one, and the other way round.

use alloc::vec::Vec;

use super::compile::{next_hop_fits, rest_of};
use super::layout::{Bitmaps, Node, NodeResult, ROOT, TreeBitmap};
use crate::addr::Family;
use crate::error::UpdateError;
use crate::prefix::Prefix;
use crate::rib::Rib;

pub(super) fn apply<F: Family, N: Node, R: NodeResult>(
    tree: &mut TreeBitmap<F, N, R>,
    rib: &Rib<F>,
    changed: &[Prefix<F>],
) -> Result<(), UpdateError> {
    for next_hop in changed.iter().filter_map(|prefix| rib.get(*prefix)) {
        next_hop_fits::<R>(next_hop.get())?;
    }
    // More than a change can take from the ends of the arrays: one node that changes its kind, a
    // child grown by one, a child and a result for each level.
    let most = (4 << N::STRIDE) + 2 * u64::from(F::WIDTH / N::STRIDE);
    let most = most * changed.len() as u64;
    tree.has_room_for(most, most)?;
    // Nothing can fail from here on.
    for prefix in changed {
        match rib.get(*prefix) {
            Some(next_hop) => tree.set(*prefix, R::from_raw(next_hop.get())),
            None => tree.unset(*prefix),
        }
    }
    if tree.nodes.in_use() == 1 && tree.results.in_use() == 1 {
        tree.nodes.keep_first();
        tree.results.keep_first();
    }
    Ok(())
}

impl<F: Family, N: Node, R: NodeResult> TreeBitmap<F, N, R> {
    fn node(&self, at: u32) -> N {
        self.nodes.items[at as usize]
    }

    /// Adds a prefix or replaces its result.
    fn set(&mut self, prefix: Prefix<F>, result: R) {
        let (mut at, mut depth) = (ROOT, 0);
        loop {
            let (len, value) = rest_of::<F, N>(prefix, depth);
            if len > N::STRIDE && self.node(at).is_end() {
                self.split(at);
            }
            let node = self.node(at);
            if len < N::STRIDE || node.is_end() {
                return self.set_result(at, len, value, result);
            }
            if node.external() >> value & 1 == 0 {
                self.add_child(at, value);
            }
            at = self.node(at).child(value);
            depth += N::STRIDE;
        }
    }

    /// Adds a prefix to the node that holds it, or replaces its result there.
    fn set_result(&mut self, at: u32, len: u8, value: u64, result: R) {
        let node = self.node(at);
        let bitmaps = node.bitmaps();
        let position = bitmaps.results_before(N::STRIDE, len, value);
        if bitmaps.holds(N::STRIDE, len, value) {
            self.results.items[node.results() as usize + position] = result;
            return;
        }
        let results = self.results.insert(node.results(), bitmaps.results(), position, result);
        let bitmaps = bitmaps.toggled(N::STRIDE, len, value);
        self.nodes.items[at as usize] = N::new(bitmaps, node.children(), results);
    }

    /// Deletes a prefix, if it is there, and nodes that are not needed then.
    fn unset(&mut self, prefix: Prefix<F>) {
        let mut path = Vec::new();
        let (mut at, mut depth) = (ROOT, 0);
        let (len, value) = loop {
            let (len, value) = rest_of::<F, N>(prefix, depth);
            let node = self.node(at);
            if len < N::STRIDE || (node.is_end() && len == N::STRIDE) {
                break (len, value);
            }
            if node.is_end() || node.external() >> value & 1 == 0 {
                return;
            }
            path.push((at, value));
            at = node.child(value);
            depth += N::STRIDE;
        };
        let node = self.node(at);
        let bitmaps = node.bitmaps();
        if !bitmaps.holds(N::STRIDE, len, value) {
            return;
        }
        let position = bitmaps.results_before(N::STRIDE, len, value);
        let results = self.results.remove(node.results(), bitmaps.results(), position);
        let bitmaps = bitmaps.toggled(N::STRIDE, len, value);
        self.nodes.items[at as usize] = N::new(bitmaps, node.children(), results);
        self.tidy(at, path);
    }

    /// After a deletion in a node: on the way up, removes nodes that are empty, and makes end nodes
    /// of those that have no prefix longer than an end node holds any more.
    fn tidy(&mut self, mut at: u32, mut path: Vec<(u32, u64)>) {
        while self.node(at).bitmaps().is_trivial()
            && let Some((parent, value)) = path.pop()
        {
            if self.node(at).internal() == 0 {
                self.remove_child(parent, value);
            }
            let node = self.node(parent);
            let children = self.nodes.block(node.children(), node.bitmaps().children());
            if children.iter().all(|child| child.bitmaps().is_trivial()) {
                self.merge(parent);
            }
            at = parent;
        }
    }

    /// Gives an ordinary node an empty child.
    fn add_child(&mut self, at: u32, value: u64) {
        let node = self.node(at);
        let (bitmaps, position) = (node.bitmaps(), node.external_before(value) as usize);
        let children = self.nodes.insert(node.children(), bitmaps.children(), position, N::EMPTY);
        let bitmaps = bitmaps.toggled(N::STRIDE, N::STRIDE, value);
        self.nodes.items[at as usize] = N::new(bitmaps, children, node.results());
    }

    /// Takes an empty child from an ordinary node.
    fn remove_child(&mut self, at: u32, value: u64) {
        let node = self.node(at);
        let (bitmaps, position) = (node.bitmaps(), node.external_before(value) as usize);
        let children = self.nodes.remove(node.children(), bitmaps.children(), position);
        let bitmaps = bitmaps.toggled(N::STRIDE, N::STRIDE, value);
        self.nodes.items[at as usize] = N::new(bitmaps, children, node.results());
    }

    /// Makes an ordinary node of an end node: its longest prefixes move to children of their own.
    fn split(&mut self, at: u32) {
        let node = self.node(at);
        let old = node.bitmaps();
        let new = Bitmaps { end: false, ..old };
        let mut moved: Vec<R> = self.results.block(node.results(), old.results()).into();
        self.results.give_back(node.results(), old.results());
        let children = self.nodes.take(new.children(), N::EMPTY);
        let only_the_shortest = Bitmaps { internal: 1, external: 0, end: true };
        for (child, result) in (children..).zip(moved.drain(new.results()..)) {
            let results = self.results.take(1, result);
            self.results.items[results as usize] = result;
            self.nodes.items[child as usize] = N::new(only_the_shortest, 0, results);
        }
        let results = self.results.take(moved.len(), R::default());
        self.results.block(results, moved.len()).copy_from_slice(&moved);
        self.nodes.items[at as usize] = N::new(new, children, results);
    }

    /// Makes an end node of an ordinary one, whose children hold one prefix each, of no bits.
    fn merge(&mut self, at: u32) {
        let node = self.node(at);
        let old = node.bitmaps();
        let new = Bitmaps { end: true, ..old };
        let mut moved: Vec<R> = self.results.block(node.results(), old.results()).into();
        self.results.give_back(node.results(), old.results());
        for i in 0..old.children() {
            let results = self.nodes.items[node.children() as usize + i].results();
            moved.push(self.results.items[results as usize]);
            self.results.give_back(results, 1);
        }
        self.nodes.give_back(node.children(), old.children());
        let results = self.results.take(moved.len(), R::default());
        self.results.block(results, moved.len()).copy_from_slice(&moved);
        self.nodes.items[at as usize] = N::new(new, 0, results);
    }
}
