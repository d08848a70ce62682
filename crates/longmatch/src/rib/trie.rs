//! The storage of a RIB: a path-compressed binary trie in one array.
//!
//! A node stands for a prefix. It carries a route or has two children, so a trie of `n` routes has
//! at most `2n` nodes; the root, `/0`, is the exception and always exists. A child's side is its
//! first bit after the parent's prefix, however much longer the child is.
//!
//! ```text
//!            /0 (root)                 index 0 is the root, which is no node's child,
//!           /         \                so 0 in `children` means "none"
//!    10.0.0.0/8      192.0.2.0/23  <- a branch without a route of its own
//!                    /          \
//!             192.0.2.0/24   192.0.3.0/24
//! ```

use alloc::vec::Vec;

use crate::net::{Bits, Family, NextHopId, Prefix};

/// The index of a node.
pub(super) type Index = u32;

/// The node of `/0`.
pub(super) const ROOT: Index = 0;
/// Marks an absent entry of `children`.
pub(super) const NONE: Index = 0;

/// The greatest number of routes whose nodes, two per route, a `u32` can number.
pub(super) const MAX_ROUTES: usize = (u32::MAX / 2 - 1) as usize;

#[derive(Clone, Copy)]
pub(super) struct Node<F: Family> {
    pub bits: F::Bits,
    pub children: [Index; 2],
    pub next_hop: Option<NextHopId>,
    pub len: u8,
}

impl<F: Family> Node<F> {
    fn new(prefix: Prefix<F>, next_hop: Option<NextHopId>) -> Self {
        Self { bits: prefix.bits(), len: prefix.len(), children: [NONE; 2], next_hop }
    }

    #[inline]
    pub fn prefix(&self) -> Prefix<F> {
        Prefix::from_bits_masked(self.bits, self.len)
    }

    /// The child on the side of an address in this node's prefix, or [`NONE`].
    ///
    /// A host prefix has no children.
    #[inline]
    fn child_towards(&self, bits: F::Bits) -> Index {
        if self.len == F::WIDTH { NONE } else { self.children[bits.bit(self.len)] }
    }
}

#[derive(Clone)]
pub(super) struct Trie<F: Family> {
    nodes: Vec<Node<F>>,
    /// Removed nodes, for reuse.
    free: Vec<Index>,
}

impl<F: Family> Trie<F> {
    pub fn new() -> Self {
        Self { nodes: alloc::vec![Node::new(Prefix::DEFAULT, None)], free: Vec::new() }
    }

    #[inline]
    pub fn node(&self, index: Index) -> &Node<F> {
        &self.nodes[index as usize]
    }

    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node<F>>() + self.free.capacity() * size_of::<Index>()
    }

    /// Nodes in use.
    #[cfg(test)]
    pub fn live_nodes(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    fn allocate(&mut self, node: Node<F>) -> Index {
        if let Some(index) = self.free.pop() {
            self.nodes[index as usize] = node;
            return index;
        }
        self.nodes.push(node);
        // MAX_ROUTES, which the RIB enforces, keeps the count below 2^32.
        (self.nodes.len() - 1) as Index
    }

    /// Sets or replaces the next hop of a prefix; returns the old one.
    pub fn insert(&mut self, prefix: Prefix<F>, next_hop: NextHopId) -> Option<NextHopId> {
        let mut at = ROOT;
        loop {
            let node = &mut self.nodes[at as usize];
            // Invariant: `node.prefix()` covers `prefix`.
            if node.len == prefix.len() {
                return node.next_hop.replace(next_hop);
            }
            let side = prefix.bits().bit(node.len);
            let child = node.children[side];
            if child == NONE {
                let leaf = self.allocate(Node::new(prefix, Some(next_hop)));
                self.nodes[at as usize].children[side] = leaf;
                return None;
            }
            let below = self.nodes[child as usize].prefix();
            let common = below.common(prefix);
            if common == below {
                at = child;
                continue;
            }
            let inserted = self.insert_above(child, common, prefix, next_hop);
            self.nodes[at as usize].children[side] = inserted;
            return None;
        }
    }

    /// Makes the node that replaces `child`, whose prefix does not cover `prefix`.
    ///
    /// The node is `prefix` itself if that covers the child, otherwise a branch to both.
    fn insert_above(
        &mut self,
        child: Index,
        common: Prefix<F>,
        prefix: Prefix<F>,
        next_hop: NextHopId,
    ) -> Index {
        let child_bits = self.nodes[child as usize].bits;
        let mut top = Node::new(common, None);
        top.children[child_bits.bit(common.len())] = child;
        if common == prefix {
            top.next_hop = Some(next_hop);
        } else {
            let leaf = self.allocate(Node::new(prefix, Some(next_hop)));
            top.children[prefix.bits().bit(common.len())] = leaf;
        }
        self.allocate(top)
    }

    /// Removes the next hop of a prefix; returns the old one.
    pub fn remove(&mut self, prefix: Prefix<F>) -> Option<NextHopId> {
        let mut parent = ROOT;
        let mut at = ROOT;
        let mut grandparent = ROOT;
        while self.node(at).len < prefix.len() {
            let child = self.node(at).child_towards(prefix.bits());
            if child == NONE || !self.node(child).prefix().covers(prefix) {
                return None;
            }
            (grandparent, parent, at) = (parent, at, child);
        }
        let old = self.nodes[at as usize].next_hop.take()?;
        if at != ROOT && self.splice(parent, at) && parent != ROOT {
            // The parent lost a child: a branch with one child left is redundant.
            self.splice(grandparent, parent);
        }
        Some(old)
    }

    /// Removes a node without a route and with at most one child from its parent.
    ///
    /// Returns whether the parent lost a child.
    fn splice(&mut self, parent: Index, at: Index) -> bool {
        let node = self.nodes[at as usize];
        let heir = match node.children {
            [NONE, only] | [only, NONE] if node.next_hop.is_none() => only,
            _ => return false,
        };
        let parent = &mut self.nodes[parent as usize];
        parent.children[node.bits.bit(parent.len)] = heir;
        self.free.push(at);
        heir == NONE
    }

    /// The node of exactly this prefix.
    pub fn find(&self, prefix: Prefix<F>) -> Option<&Node<F>> {
        let mut at = ROOT;
        loop {
            let node = self.node(at);
            if node.len >= prefix.len() {
                return (node.prefix() == prefix).then_some(node);
            }
            at = node.child_towards(prefix.bits());
            if at == NONE || !self.node(at).prefix().covers(prefix) {
                return None;
            }
        }
    }

    /// The highest node whose prefix `prefix` covers.
    pub fn find_below(&self, prefix: Prefix<F>) -> Option<Index> {
        self.find_around(prefix).1
    }

    /// The node of the longest route that covers more than `prefix`, and the highest in it.
    ///
    /// The second is the highest node whose prefix `prefix` covers.
    pub fn find_around(&self, prefix: Prefix<F>) -> (Option<Index>, Option<Index>) {
        let mut above = None;
        let mut at = ROOT;
        loop {
            let node = self.node(at);
            if node.len >= prefix.len() {
                return (above, prefix.covers(node.prefix()).then_some(at));
            }
            if node.next_hop.is_some() {
                if !node.prefix().covers(prefix) {
                    return (above, None);
                }
                above = Some(at);
            }
            at = node.child_towards(prefix.bits());
            if at == NONE {
                return (above, None);
            }
        }
    }

    /// The child of `at` that covers `prefix`, if there is one.
    #[inline]
    pub fn next_covering(&self, at: Index, prefix: Prefix<F>) -> Option<Index> {
        let child = self.node(at).child_towards(prefix.bits());
        (child != NONE && self.node(child).prefix().covers(prefix)).then_some(child)
    }
}
