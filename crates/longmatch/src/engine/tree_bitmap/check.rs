//! Verifies what `layout.rs` states, and the tree against the RIB: route by route, and on every
//! address.
//!
//! One walk in order of addresses does both: it marks what it meets, so that nothing is shared or
//! lost, collects the prefixes that the nodes hold, and holds each change of next hop against the
//! RIB's disjoint ranges.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::NAME;
use super::blocks::Blocks;
use super::layout::{NO_RESULT, Node, NodeResult, ROOT, TreeBitmap, internal_bit};
use crate::addr::{Bits, Family};
use crate::engine::expected::Expected;
use crate::error::Corrupt;
use crate::next_hop::NextHopId;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::route::Route;

pub(super) fn check<F: Family, N: Node, R: NodeResult>(
    tree: &TreeBitmap<F, N, R>,
    rib: &Rib<F>,
) -> Result<(), Corrupt> {
    let mut walk = Walk {
        tree,
        expected: Expected::new(NAME, rib),
        nodes: Marks::new("node", &tree.nodes),
        results: Marks::new("result", &tree.results),
        routes: Vec::with_capacity(rib.len()),
    };
    walk.nodes.block(ROOT, 1)?;
    walk.results.block(NO_RESULT, 1)?;
    if tree.results.items[NO_RESULT as usize] != R::default() {
        return corrupt("result 0 is a route".into());
    }
    walk.nodes.free_blocks(&tree.nodes)?;
    walk.results.free_blocks(&tree.results)?;
    walk.node(ROOT, F::Bits::ZERO, 0, 0)?;
    walk.expected.end()?;
    walk.nodes.complete()?;
    walk.results.complete()?;
    if rib.is_empty() && (tree.nodes.items.len(), tree.results.items.len()) != (1, 1) {
        return corrupt("without routes, memory is not given back".into());
    }
    walk.routes.sort_unstable();
    if walk.routes.iter().copied().eq(rib.iter()) {
        Ok(())
    } else {
        corrupt("the prefixes are not the RIB's routes".into())
    }
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

/// Which items of an array have been met.
struct Marks {
    what: &'static str,
    met: Vec<bool>,
}

impl Marks {
    fn new<T>(what: &'static str, blocks: &Blocks<T>) -> Self {
        Self { what, met: alloc::vec![false; blocks.items.len()] }
    }

    /// A block is met, of which every item must be there and not have been met before.
    fn block(&mut self, at: u32, count: usize) -> Result<(), Corrupt> {
        let (what, items, at) = (self.what, self.met.len(), at as usize);
        let Some(block) = self.met.get_mut(at..).and_then(|rest| rest.get_mut(..count)) else {
            return corrupt(format!("{what}s {at} to {} of {items}", at + count));
        };
        for (i, met) in block.iter_mut().enumerate() {
            if core::mem::replace(met, true) {
                return corrupt(format!("{what} {} is met twice", at + i));
            }
        }
        Ok(())
    }

    fn free_blocks<T>(&mut self, blocks: &Blocks<T>) -> Result<(), Corrupt> {
        for (count, free) in (1..).zip(&blocks.free) {
            free.iter().try_for_each(|at| self.block(*at, count))?;
        }
        Ok(())
    }

    fn complete(&self) -> Result<(), Corrupt> {
        match self.met.iter().position(|met| !met) {
            None => Ok(()),
            Some(lost) => corrupt(format!("{} {lost} is neither in use nor free", self.what)),
        }
    }
}

struct Walk<'a, F: Family, N, R> {
    tree: &'a TreeBitmap<F, N, R>,
    /// The RIB's ranges, read in step with the walk.
    expected: Expected<'a, F>,
    nodes: Marks,
    results: Marks,
    /// The prefixes met so far.
    routes: Vec<Route<F>>,
}

impl<F: Family, N: Node, R: NodeResult> Walk<'_, F, N, R> {
    /// Walks a node whose addresses begin at `first` and, but for longer prefixes, have the next
    /// hop `inherited`; and what is below it. Recursion is as deep as the trie: 32 levels at most.
    fn node(
        &mut self,
        index: u32,
        first: F::Bits,
        depth: u8,
        inherited: u32,
    ) -> Result<(), Corrupt> {
        let node = self.sound_node(index, depth)?;
        self.collect_routes(node, first, depth)?;
        // Of the values that differ only past the address's end, lookups use the first.
        let past_end = (depth + N::STRIDE).saturating_sub(F::WIDTH);
        let below = (F::WIDTH - depth).saturating_sub(N::STRIDE);
        for v in (0..1u64 << N::STRIDE).step_by(1 << past_end) {
            let bits = first | F::Bits::from_u128(u128::from(v >> past_end) << below);
            let matching = (0..N::STRIDE).map(|len| internal_bit(len, v >> (N::STRIDE - len)));
            let longest = matching.filter(|bit| node.internal() >> bit & 1 == 1).last();
            let raw = longest.map_or(inherited, |bit| self.raw_result(node.result(bit)));
            match (node.external() >> v & 1 == 1, node.is_end()) {
                (true, false) => self.node(node.child(v), bits, depth + N::STRIDE, raw)?,
                (true, true) => self.expected.meet(bits, self.raw_result(node.end_result(v)))?,
                (false, _) => self.expected.meet(bits, raw)?,
            }
        }
        Ok(())
    }

    fn raw_result(&self, index: u32) -> u32 {
        self.tree.results.items[index as usize].to_raw()
    }

    /// The node, after everything about it that the lookups rely on has been verified, and marked.
    fn sound_node(&mut self, index: u32, depth: u8) -> Result<N, Corrupt> {
        // The block that the node is in has been met, so it exists.
        let node = self.tree.nodes.items[index as usize];
        let bitmaps = node.bitmaps();
        if depth > 0 && bitmaps.internal == 0 && bitmaps.external == 0 {
            return corrupt(format!("node {index} is empty"));
        }
        let longest = (F::WIDTH - depth).min(N::STRIDE - 1);
        let past_end = depth + N::STRIDE > F::WIDTH && bitmaps.external != 0;
        if bitmaps.internal >> internal_bit(longest + 1, 0) != 0 || past_end {
            return corrupt(format!("node {index} at depth {depth}: a prefix past the end"));
        }
        if !node.is_end() && depth + N::STRIDE >= F::WIDTH {
            return corrupt(format!("node {index} at depth {depth} may have children"));
        }
        self.nodes.block(node.children(), bitmaps.children())?;
        self.results.block(node.results(), bitmaps.results())?;
        let children = &self.tree.nodes.items[node.children() as usize..][..bitmaps.children()];
        if !node.is_end() && children.iter().all(|child| child.bitmaps().is_trivial()) {
            return corrupt(format!("node {index} should be an end node"));
        }
        Ok(node)
    }

    fn collect_routes(&mut self, node: N, first: F::Bits, depth: u8) -> Result<(), Corrupt> {
        let bitmaps = node.bitmaps();
        let lens = 0..N::STRIDE + u8::from(node.is_end());
        let all = lens.flat_map(|len| (0..1u64 << len).map(move |value| (len, value)));
        for (len, value) in all.filter(|(len, value)| bitmaps.holds(N::STRIDE, *len, *value)) {
            let end = depth + len;
            let bits = match F::WIDTH - end {
                rest if rest < 128 => F::Bits::from_u128(u128::from(value) << rest),
                _ => F::Bits::ZERO,
            };
            let prefix = Prefix::from_bits_masked(first | bits, end);
            let before = bitmaps.results_before(N::STRIDE, len, value) as u32;
            let Some(next_hop) = NextHopId::new(self.raw_result(node.results() + before)) else {
                return corrupt(format!("{prefix} has no next hop"));
            };
            self.routes.push(Route { prefix, next_hop });
        }
        Ok(())
    }
}
