//! Verifies the invariants of `layout.rs`, and every answer against the RIB.
//!
//! One walk in order of addresses does both: it counts nodes and leaves, so that none is shared or
//! lost, and compares each change of next hop with the RIB's disjoint ranges.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::NAME;
use super::layout::{DIRECT_LEAF, K, Leaf, Node, SLOTS, Slices};
use crate::engine::kit::Corrupt;
use crate::engine::kit::Expected;
use crate::mem::{Run, tile};
use crate::net::{Bits, Family};
use crate::rib::Rib;

/// Runs that belong to no node.
#[derive(Default)]
pub(super) struct Unused {
    pub nodes: Vec<Run>,
    pub leaves: Vec<Run>,
}

pub(super) fn check<F: Family, N: Node, L: Leaf>(
    poptrie: Slices<'_, N, L>,
    unused: Unused,
    rib: &Rib<F>,
) -> Result<(), Corrupt> {
    let Slices { direct, nodes, leaves, s } = poptrie;
    if direct.len() != 1 << s {
        return corrupt(format!("{} direct entries for s = {s}", direct.len()));
    }
    let expected = Expected::new(NAME, rib);
    let mut walk = Walk { poptrie, expected, met: 0, runs: unused };
    for (i, entry) in direct.iter().enumerate() {
        let shift = (F::WIDTH - s) % F::WIDTH;
        let first = F::Bits::from_u128((i as u128) << shift);
        if entry & DIRECT_LEAF == 0 {
            walk.runs.nodes.push(Run { start: *entry, count: 1 });
            walk.node(*entry, first, s)?;
        } else if s == 0 {
            return corrupt("the root is not a node".into());
        } else {
            walk.expected.expect(first, entry & !DIRECT_LEAF)?;
        }
    }
    walk.expected.finish()?;
    let Unused { nodes: node_runs, leaves: leaf_runs } = walk.runs;
    for (what, runs, end) in [("node", node_runs, nodes.len()), ("leaf", leaf_runs, leaves.len())] {
        if let Err(item) = tile(runs, end) {
            return corrupt(format!("{what} {item} of {end} is lost, or is in two places"));
        }
    }
    Ok(())
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

struct Walk<'a, F: Family, N: Node, L: Leaf> {
    poptrie: Slices<'a, N, L>,
    expected: Expected<'a, F>,
    /// Number of nodes visited so far.
    met: usize,
    /// The runs visited so far, and the unused ones.
    runs: Unused,
}

impl<F: Family, N: Node, L: Leaf> Walk<'_, F, N, L> {
    /// Walks a node whose addresses begin at `first`, and its descendants. The recursion is as deep
    /// as the trie: at most 22 levels.
    fn node(&mut self, index: u32, first: F::Bits, depth: u8) -> Result<(), Corrupt> {
        let node = self.sound_node(index, depth)?;
        // The last node of a path may extend past the address's end: of the slots that differ only
        // there, lookups use the first.
        let past_end = (depth + K).saturating_sub(F::WIDTH);
        let below = (F::WIDTH - depth).saturating_sub(K);
        for slot in (0..SLOTS as u64).step_by(1 << past_end) {
            let bits = first | F::Bits::from_u128(u128::from(slot >> past_end) << below);
            if node.vector() >> slot & 1 == 1 {
                self.node(node.child(slot), bits, depth + K)?;
            } else {
                let leaf = self.poptrie.leaves[node.leaf(slot) as usize];
                self.expected.expect(bits, leaf.to_raw())?;
            }
        }
        Ok(())
    }

    /// Returns a node after verifying all that lookups rely on.
    fn sound_node(&mut self, index: u32, depth: u8) -> Result<N, Corrupt> {
        let Slices { nodes, leaves, .. } = self.poptrie;
        let Some(node) = nodes.get(index as usize).copied() else {
            return corrupt(format!("node {index} of {}", nodes.len()));
        };
        let (vector, stored) = (node.vector(), node.stored_leaves());
        self.met += 1;
        let children = Run { start: node.base1(), count: vector.count_ones() };
        self.runs.nodes.push(children);
        self.runs.leaves.push(Run { start: node.base0(), count: stored.count_ones() });
        if self.met > nodes.len() {
            return corrupt(format!("node {index} is reached twice"));
        }
        if vector & stored != 0 {
            return corrupt(format!("node {index}: a slot is both a child and a leaf"));
        }
        if !vector != 0 && (!vector).trailing_zeros() != stored.trailing_zeros() {
            return corrupt(format!("node {index}: its first leaf is not stored"));
        }
        if children.end() > nodes.len() as u64 && vector != 0 {
            return corrupt(format!("node {index}: children up to {}", children.end()));
        }
        let leaves_end = node.base0() as usize + stored.count_ones() as usize;
        if stored != 0 && leaves_end > leaves.len() {
            return corrupt(format!("node {index}: leaves up to {leaves_end} of {}", leaves.len()));
        }
        if vector != 0 && depth + K >= F::WIDTH {
            return corrupt(format!("node {index} at depth {depth} has children"));
        }
        Ok(node)
    }
}
