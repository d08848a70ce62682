//! Verifies the invariants of `layout.rs`.
//!
//! The leaves are compared with the RIB, then the nodes with the leaves, in one walk in the order
//! of both arrays. The leaves and the invariants determine every field of a node.

use alloc::format;
use alloc::string::String;

use super::super::NAME;
use super::layout::{LEAF, Leaf, NONE, Node, PathCompressed};
use crate::engine::kit::Corrupt;
use crate::net::{Bits, Family};
use crate::rib::Rib;

pub(super) fn check<F: Family>(tree: &PathCompressed<F>, rib: &Rib<F>) -> Result<(), Corrupt> {
    check_leaves(tree, rib)?;
    let mut walk = Walk { tree, nodes: 0, leaves: 0 };
    if !tree.leaves.is_empty() {
        walk.subtree(tree.root(), NONE, None)?;
    }
    if [walk.nodes, walk.leaves] != [tree.nodes.len(), tree.leaves.len()] {
        let all = format!("{} nodes and {} leaves", tree.nodes.len(), tree.leaves.len());
        return corrupt(format!("{} and {} of {all} are reached", walk.nodes, walk.leaves));
    }
    Ok(())
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

/// Compares the leaves with the routes, which have the order of the leaves but for the order within
/// a chain.
fn check_leaves<F: Family>(tree: &PathCompressed<F>, rib: &Rib<F>) -> Result<(), Corrupt> {
    let mut routes = rib.iter();
    for chain in tree.leaves.chunk_by(|a, b| a.key == b.key) {
        for (i, leaf) in chain.iter().rev().enumerate() {
            let route = routes.next();
            let is_same = route.is_some_and(|route| {
                let prefix = route.prefix;
                (prefix.bits(), prefix.len(), route.next_hop) == (leaf.key, leaf.len, leaf.next_hop)
            });
            if !is_same {
                return corrupt(format!("{}; in the RIB {route:?}", text::<F>(leaf)));
            }
            if leaf.more != (i > 0) {
                return corrupt(format!("{} has `more` = {}", text::<F>(leaf), leaf.more));
            }
        }
    }
    match routes.next() {
        Some(route) => corrupt(format!("{} of the RIB is missing", route.prefix)),
        None => Ok(()),
    }
}

fn text<F: Family>(leaf: &Leaf<F::Bits>) -> String {
    format!("leaf {}/{} -> {}", F::addr(leaf.key), leaf.len, leaf.next_hop)
}

/// A walk over the tree.
struct Walk<'a, F: Family> {
    tree: &'a PathCompressed<F>,
    /// Number of internal nodes visited, which is the index of the next.
    nodes: usize,
    /// Number of leaves visited.
    leaves: usize,
}

impl<F: Family> Walk<'_, F> {
    /// Walks what a link leads to. `above` is the bit that the parent tests; it grows with every
    /// level, so that the recursion is at most as deep as the address is wide.
    fn subtree(&mut self, link: u32, parent: u32, above: Option<u8>) -> Result<(), Corrupt> {
        let (kind, next) =
            if link & LEAF == 0 { ("node", self.nodes) } else { ("leaf", self.leaves) };
        let index = link & !LEAF;
        if index as usize != next {
            return corrupt(format!("a link to {kind} {index}; the next in order is {next}"));
        }
        if link & LEAF != 0 {
            return self.chain(parent);
        }
        let Some(node) = self.tree.nodes.get(next) else {
            return corrupt(format!("a link to node {index} of {next}"));
        };
        if node.parent != parent {
            return corrupt(format!("node {index} has parent {}, not {parent}", node.parent));
        }
        if node.bit >= F::WIDTH || above.is_some_and(|above| node.bit <= above) {
            return corrupt(format!("node {index} tests bit {} below {above:?}", node.bit));
        }
        self.nodes += 1;
        let first = self.leaves;
        self.subtree(node.children[0], link, Some(node.bit))?;
        let middle = self.leaves;
        self.subtree(node.children[1], link, Some(node.bit))?;
        // Keys ascend, so the first and last of them show what is true of all between.
        let keys = [first, middle - 1, middle, self.leaves - 1].map(|i| self.tree.leaves[i].key);
        let shared = (keys[0] ^ keys[3]).leading_zeros();
        if shared != node.bit || [keys[1], keys[2]].map(|key| key.bit(shared)) != [0, 1] {
            return corrupt(format!("node {index} tests bit {}, which divides others", node.bit));
        }
        self.check_list(node, first, above)
    }

    /// Walks the chain of leaves that begins with the next leaf.
    fn chain(&mut self, parent: u32) -> Result<(), Corrupt> {
        for leaf in &self.tree.leaves[self.leaves..] {
            if leaf.parent != parent {
                return corrupt(format!("{} has parent {}", text::<F>(leaf), leaf.parent));
            }
            self.leaves += 1;
            if !leaf.more {
                return Ok(());
            }
        }
        corrupt(format!("leaf {} does not exist, or its chain does not end", self.leaves))
    }

    /// Verifies a mask list. `first` is the first leaf below the node.
    fn check_list(&self, node: &Node, first: usize, above: Option<u8>) -> Result<(), Corrupt> {
        let leaves = &self.tree.leaves;
        let is_listed = |i: &usize| {
            let len = leaves[*i].len;
            len <= node.bit && above.is_none_or(|above| len > above)
        };
        let chain = first..leaves.len();
        let mut listed =
            chain.take_while(|i| leaves[*i].key == leaves[first].key).filter(is_listed);
        let expected = listed.next().map_or((0, 0), |start| (start, 1 + listed.count()));
        let list = (node.list as usize, usize::from(node.list_len));
        if list != expected {
            return corrupt(format!("a mask list (first leaf, length) {list:?}, not {expected:?}"));
        }
        Ok(())
    }
}
