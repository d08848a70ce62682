//! A trie as a binary one: prefixes in which there are routes, and their halves.

use super::Trie;
use super::layout::{Bitmaps, Child, NodeIndex, STRIDE, position};
use crate::net::{Bits, Family, NextHopId, Prefix, Route};

/// A prefix in which there is a route.
///
/// Bits in which all routes of a subtree agree are skipped between nodes, not inside them.
#[derive(Clone, Copy)]
pub(in crate::rib) struct Position<F: Family> {
    pub(super) prefix: Prefix<F>,
    pub(super) at: At,
}

/// The representation of a position.
#[derive(Clone, Copy)]
pub(super) enum At {
    /// A position in a node of this depth.
    Node { node: NodeIndex, depth: u8, index: u8 },
    /// The only route of a subtree.
    Route(NextHopId),
}

impl<F: Family> Position<F> {
    pub fn prefix(&self) -> Prefix<F> {
        self.prefix
    }

    pub fn len(&self) -> u8 {
        self.prefix.len()
    }
}

impl<F: Family> Trie<F> {
    /// The position of `/0`, at which or below which there may be no route.
    pub fn top(&self) -> Position<F> {
        let at = At::Node { node: self.root, depth: 0, index: 1 };
        Position { prefix: Prefix::DEFAULT, at }
    }

    /// The next hop of the route of exactly this prefix.
    pub fn next_hop_at(&self, position: &Position<F>) -> Option<NextHopId> {
        match position.at {
            At::Route(next_hop) => Some(next_hop),
            At::Node { .. } if position.len() == 0 => self.default,
            // The route of a node's own prefix belongs to the node above.
            At::Node { index: 1, .. } => None,
            At::Node { node, index, .. } => {
                let maps = self.blocks.bitmaps(node);
                maps.has_route(index.into()).then(|| self.next_hop(node, &maps, index.into()))?
            }
        }
    }

    /// Whether there is a longer route in the prefix.
    pub fn has_longer(&self, position: &Position<F>) -> bool {
        self.halves(position).iter().any(Option::is_some)
    }

    /// For each half of the prefix, the topmost position in it, if there is a route in it.
    pub fn halves(&self, top: &Position<F>) -> [Option<Position<F>>; 2] {
        let At::Node { node, depth, index } = top.at else { return [None; 2] };
        let maps = self.blocks.bitmaps(node);
        if index >= 64 {
            let c = usize::from(index) - 64;
            return match maps.has_child(c) {
                true => self.halves_of_child(top.prefix, self.child(node, &maps, c)),
                false => [None; 2],
            };
        }
        let Some(halves) = top.prefix.halves() else { return [None; 2] };
        [0, 1].map(|side| {
            let index = 2 * index + side as u8;
            let at = At::Node { node, depth, index };
            let empty = maps.within(index.into()).is_empty();
            (!empty).then_some(Position { prefix: halves[side], at })
        })
    }

    /// The halves of the prefix of a child.
    fn halves_of_child(&self, prefix: Prefix<F>, child: Child) -> [Option<Position<F>>; 2] {
        let below = match child {
            Child::Node(node) => {
                let at = At::Node { node, depth: prefix.len(), index: 1 };
                return self.halves(&Position { prefix, at });
            }
            child => self.top_of_child(prefix, child),
        };
        let mut halves = [None; 2];
        if let Some(below) = below {
            halves[below.prefix.bits().bit(prefix.len())] = Some(below);
        }
        halves
    }

    /// The topmost position in a child; `prefix` is that of a child that is a node.
    pub(super) fn top_of_child(&self, prefix: Prefix<F>, child: Child) -> Option<Position<F>> {
        let (prefix, at) = match child {
            Child::Node(node) => (prefix, At::Node { node, depth: prefix.len(), index: 1 }),
            Child::Leaf(record) => {
                let leaf = self.records.get(record);
                (leaf.prefix(), At::Route(leaf.next_hop()?))
            }
            Child::Chain(record) => {
                let chain = self.records.get(record);
                let at = At::Node { node: chain.node(), depth: chain.len(), index: 1 };
                (chain.prefix(), at)
            }
        };
        Some(Position { prefix, at })
    }

    /// The longest route that covers more than a prefix, and the topmost position in the prefix.
    ///
    /// The search begins at a position that covers the prefix. Without routes between the two the
    /// first is `None` or a route above that position.
    pub fn around(
        &self,
        top: &Position<F>,
        region: Prefix<F>,
    ) -> (Option<Route<F>>, Option<Position<F>>) {
        let mut above = None;
        let mut at = *top;
        loop {
            if at.len() >= region.len() {
                return (above, region.covers(at.prefix).then_some(at));
            }
            if !at.prefix.covers(region) {
                return (above, None);
            }
            let (node, depth) = match at.at {
                At::Node { node, depth, .. } => (node, depth),
                At::Route(next_hop) => {
                    return (Some(Route { prefix: at.prefix, next_hop }), None);
                }
            };
            if at.len() == 0 {
                above = self.default_route();
            }
            let maps = self.blocks.bitmaps(node);
            above = self.longest_above(region, node, depth, &maps).or(above);
            if region.len() <= depth + STRIDE {
                let index = position(region.bits(), depth, region.len() - depth);
                let at = At::Node { node, depth, index: index as u8 };
                let below = !maps.within(index).is_empty();
                return (above, below.then_some(Position { prefix: region, at }));
            }
            let c = region.bits().extract(depth, STRIDE);
            if !maps.has_child(c) {
                return (above, None);
            }
            let prefix = Prefix::truncated(region.bits(), depth + STRIDE);
            match self.top_of_child(prefix, self.child(node, &maps, c)) {
                Some(below) => at = below,
                None => return (above, None),
            }
        }
    }

    /// The longest route of a node that covers more than a prefix.
    fn longest_above(
        &self,
        prefix: Prefix<F>,
        node: NodeIndex,
        depth: u8,
        maps: &Bitmaps,
    ) -> Option<Route<F>> {
        let c = prefix.bits().extract(depth, STRIDE);
        let mut shorter = *maps;
        if prefix.len() <= depth + STRIDE {
            shorter.long = 0;
            let end = position(prefix.bits(), depth, prefix.len() - depth);
            shorter.short &= u64::MAX >> (64 - end.min(64));
        }
        let position = shorter.longest(c)?;
        let len = depth + super::layout::fixed_bits(position);
        let next_hop = self.next_hop(node, maps, position)?;
        Some(Route { prefix: Prefix::truncated(prefix.bits(), len), next_hop })
    }
}
