//! Verifies the invariants of `layout.rs`, all routes and all answers.
//!
//! One walk in order of addresses does both: it marks nodes and results, so that none is shared or
//! lost, collects the prefixes of the nodes, and compares each change of next hop with the RIB's
//! disjoint ranges.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::NAME;
use super::layout::{NO_RESULT, Node, NodeResult, Slices, internal_bit};
use crate::engine::kit::Corrupt;
use crate::engine::kit::Expected;
use crate::mem::{Run, tile};
use crate::net::{Bits, Family, NextHopId, Prefix, Route};
use crate::rib::Rib;

/// Runs that belong to no node.
#[derive(Default)]
pub(super) struct Unused {
    pub nodes: Vec<Run>,
    pub results: Vec<Run>,
}

pub(super) fn check<F: Family, N: Node, R: NodeResult>(
    tree: Slices<'_, N, R>,
    unused: Unused,
    rib: &Rib<F>,
) -> Result<(), Corrupt> {
    let mut walk = Walk {
        nodes: tree.nodes,
        results: tree.results,
        expected: Expected::new(NAME, rib),
        met: 0,
        runs: unused,
        routes: Vec::with_capacity(rib.len()),
    };
    if walk.results.get(NO_RESULT as usize) != Some(&R::default()) {
        return corrupt("result 0 is a route".into());
    }
    let &[root] = tree.root else { return corrupt(format!("{} roots", tree.root.len())) };
    let root = Run { start: root, count: 1 };
    within("root", root, walk.nodes.len())?;
    walk.runs.nodes.push(root);
    walk.runs.results.push(Run { start: NO_RESULT, count: 1 });
    walk.node(root.start, F::Bits::ZERO, 0, 0)?;
    walk.expected.finish()?;
    let Walk { nodes, results, runs, mut routes, .. } = walk;
    let all = [("node", runs.nodes, nodes.len()), ("result", runs.results, results.len())];
    for (what, runs, end) in all {
        if let Err(item) = tile(runs, end) {
            return corrupt(format!("{what} {item} of {end} is lost, or is in two places"));
        }
    }
    routes.sort_unstable();
    if routes.into_iter().eq(rib.iter()) {
        Ok(())
    } else {
        corrupt("the prefixes are not the RIB's routes".into())
    }
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

/// # Errors
/// When a run goes past the end of its array.
fn within(what: &str, run: Run, items: usize) -> Result<(), Corrupt> {
    if run.count > 0 && run.end() > items as u64 {
        return corrupt(format!("{what} {} to {} of {items}", run.start, run.end()));
    }
    Ok(())
}

struct Walk<'a, F: Family, N, R> {
    nodes: &'a [N],
    results: &'a [R],
    /// The RIB's ranges, read in step with the walk.
    expected: Expected<'a, F>,
    /// Number of nodes visited so far.
    met: usize,
    /// The runs visited so far, and the unused ones.
    runs: Unused,
    /// The prefixes visited so far.
    routes: Vec<Route<F>>,
}

impl<F: Family, N: Node, R: NodeResult> Walk<'_, F, N, R> {
    /// Walks a node and its descendants.
    ///
    /// Its addresses begin at `first` and have the next hop `inherited` unless a longer prefix
    /// covers them. The recursion is as deep as the trie: at most 32 levels.
    fn node(
        &mut self,
        index: u32,
        first: F::Bits,
        depth: u8,
        inherited: u32,
    ) -> Result<(), Corrupt> {
        let node = self.sound_node(index, depth)?;
        self.collect_routes(node, first, depth)?;
        // Of values that differ only past the address's end, lookups use the first.
        let past_end = (depth + N::STRIDE).saturating_sub(F::WIDTH);
        let below = (F::WIDTH - depth).saturating_sub(N::STRIDE);
        for v in (0..1u64 << N::STRIDE).step_by(1 << past_end) {
            let bits = first | F::Bits::from_u128(u128::from(v >> past_end) << below);
            let matching = (0..N::STRIDE).map(|len| internal_bit(len, v >> (N::STRIDE - len)));
            let longest = matching.filter(|bit| node.internal() >> bit & 1 == 1).last();
            let raw = longest.map_or(inherited, |bit| self.raw_result(node.result(bit)));
            match (node.external() >> v & 1 == 1, node.is_end()) {
                (true, false) => self.node(node.child(v), bits, depth + N::STRIDE, raw)?,
                (true, true) => self.expected.expect(bits, self.raw_result(node.end_result(v)))?,
                (false, _) => self.expected.expect(bits, raw)?,
            }
        }
        Ok(())
    }

    fn raw_result(&self, index: u32) -> u32 {
        self.results[index as usize].to_raw()
    }

    /// Returns a node after verifying and marking all that lookups rely on.
    fn sound_node(&mut self, index: u32, depth: u8) -> Result<N, Corrupt> {
        // The run of the node lies inside the array (verified by the caller).
        let node = self.nodes[index as usize];
        self.met += 1;
        if self.met > self.nodes.len() {
            return corrupt(format!("node {index} is reached twice"));
        }
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
        let children = Run { start: node.children(), count: bitmaps.children() as u32 };
        let results = Run { start: node.results(), count: bitmaps.results() as u32 };
        within("children", children, self.nodes.len())?;
        within("results", results, self.results.len())?;
        self.runs.nodes.push(children);
        self.runs.results.push(results);
        let children = (children.start..).take(bitmaps.children());
        let mut children = children.map(|child| self.nodes[child as usize]);
        if !node.is_end() && children.all(|child| child.bitmaps().is_trivial()) {
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
