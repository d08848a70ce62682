//! RIB to Tree Bitmap: sorted routes, node by node from the root.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::NAME;
use super::blocks::Blocks;
use super::layout::{Bitmaps, Node, NodeResult, ROOT, TreeBitmap, internal_bit};
use crate::addr::{Bits, Family};
use crate::error::CompileError;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::route::Route;

pub(super) fn compile<F: Family, N: Node, R: NodeResult>(
    rib: &Rib<F>,
) -> Result<TreeBitmap<F, N, R>, CompileError> {
    next_hop_fits::<R>(rib.max_next_hop())?;
    let mut tree = TreeBitmap { nodes: Blocks::new(), results: Blocks::new(), family: PhantomData };
    // The root, and the result of what no prefix matches (invariant 1).
    tree.nodes.take(1, N::EMPTY);
    tree.results.take(1, R::default());
    let routes: Vec<Route<F>> = rib.iter().collect();
    tree.build(ROOT, 0, &routes)?;
    tree.nodes.items.shrink_to_fit();
    tree.results.items.shrink_to_fit();
    Ok(tree)
}

pub(super) fn next_hop_fits<R: NodeResult>(id: u32) -> Result<(), CompileError> {
    let limit = R::MAX;
    if id > limit { Err(CompileError::NextHopTooLarge { engine: NAME, id, limit }) } else { Ok(()) }
}

/// The bits of a prefix from a depth on: how many, and the first `STRIDE` of them at most.
#[inline]
pub(super) fn rest_of<F: Family, N: Node>(prefix: Prefix<F>, depth: u8) -> (u8, u64) {
    let len = prefix.len() - depth;
    (len, prefix.bits().extract(depth, len.min(N::STRIDE)) as u64)
}

impl<F: Family, N: Node, R: NodeResult> TreeBitmap<F, N, R> {
    /// Whether this many nodes and results more can be indexed.
    pub(super) fn has_room_for(&self, nodes: u64, results: u64) -> Result<(), CompileError> {
        let error = |what, limit| Err(CompileError::TooMany { engine: NAME, what, limit });
        if !self.nodes.has_room_for(nodes) {
            return error("nodes", self.nodes.limit);
        }
        if !self.results.has_room_for(results) {
            return error("results", self.results.limit);
        }
        Ok(())
    }

    /// Builds a node from the routes inside it, and what is below it. Recursion is as deep as the
    /// trie: 32 levels at most.
    fn build(&mut self, at: u32, depth: u8, routes: &[Route<F>]) -> Result<(), CompileError> {
        let below = depth + N::STRIDE;
        let end = routes.iter().all(|route| route.prefix.len() <= below);
        let is_in_child = |route: &Route<F>| !end && route.prefix.len() >= below;
        let value = |route: &Route<F>| rest_of::<F, N>(route.prefix, depth).1;
        let mut bitmaps = Bitmaps { internal: 0, external: 0, end };
        // In the order of the results: the bits of the internal bitmap, then of the external one.
        let mut raw = [0u32; 128];
        for route in routes {
            let (len, value) = rest_of::<F, N>(route.prefix, depth);
            if len < N::STRIDE {
                bitmaps.internal |= 1 << internal_bit(len, value);
            } else {
                bitmaps.external |= 1 << value;
            }
            if !is_in_child(route) {
                raw[internal_bit(len, value) as usize] = route.next_hop.get();
            }
        }
        self.has_room_for(bitmaps.children() as u64, bitmaps.results() as u64)?;
        let children = self.nodes.take(bitmaps.children(), N::EMPTY);
        let results = self.results.take(bitmaps.results(), R::default());
        let stored = raw.iter().filter(|raw| **raw != 0).map(|raw| R::from_raw(*raw));
        for (slot, result) in self.results.block(results, bitmaps.results()).iter_mut().zip(stored)
        {
            *slot = result;
        }
        self.nodes.items[at as usize] = N::new(bitmaps, children, results);
        // Routes come in order: those of a child come together, prefixes of this node between them.
        let same_child =
            |a: &Route<F>, b: &Route<F>| is_in_child(a) && is_in_child(b) && value(a) == value(b);
        let chunks = routes.chunk_by(same_child).filter(|chunk| is_in_child(&chunk[0]));
        for (child, chunk) in (children..).zip(chunks) {
            self.build(child, below, chunk)?;
        }
        Ok(())
    }
}
