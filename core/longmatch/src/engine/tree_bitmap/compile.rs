//! Compiles a RIB to Tree Bitmap: sorted routes, node by node from the root.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::NAME;
use super::layout::{Bitmaps, Node, Node16, Node64, NodeResult, TreeBitmap, internal_bit};
use crate::engine::kit::{CompileError, Shape};
use crate::mem::Frozen;
use crate::net::{Bits, Family, Prefix, Route};
use crate::rib::Rib;

/// Items that a `u32` can index.
const MAX_ITEMS: u64 = 1 << 32;
/// The root of a newly compiled tree.
const ROOT: u32 = 0;

pub(super) fn compile<F: Family, N: Node, R: NodeResult>(
    rib: &Rib<F>,
) -> Result<TreeBitmap<F, N, R>, CompileError> {
    let (id, limit) = (rib.max_next_hop(), R::MAX);
    if id > limit {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit });
    }
    // The root, and the result for addresses without a match (invariant 1).
    let mut arrays = Arrays { nodes: alloc::vec![N::EMPTY], results: alloc::vec![R::default()] };
    let routes: Vec<Route<F>> = rib.iter().collect();
    arrays.build(ROOT, 0, &routes)?;
    Ok(TreeBitmap {
        nodes: Frozen::of(&arrays.nodes).map_err(CompileError::memory(NAME))?,
        results: Frozen::of(&arrays.results).map_err(CompileError::memory(NAME))?,
        root: Frozen::of(&[ROOT]).map_err(CompileError::memory(NAME))?,
        family: PhantomData,
    })
}

/// Estimated bytes of a tree: a node for every block that routes divide, a result for each route. A
/// route that ends where a child begins can need a node of its own, which is not counted.
pub(super) fn estimate(shape: &Shape, stride: u8, wide: bool) -> u64 {
    let node = if stride == Node16::STRIDE { size_of::<Node16>() } else { size_of::<Node64>() };
    let result = if wide { size_of::<u32>() } else { size_of::<u16>() };
    (shape.blocks_from(0, stride) + 1) * node as u64 + (shape.routes + 1) * result as u64
}

/// The bits of a prefix below a depth: their number, and at most `STRIDE` of them.
#[inline]
pub(super) fn rest_of<F: Family, N: Node>(prefix: Prefix<F>, depth: u8) -> (u8, u64) {
    let len = prefix.len() - depth;
    (len, prefix.bits().extract(depth, len.min(N::STRIDE)) as u64)
}

/// The growing arrays.
struct Arrays<N, R> {
    nodes: Vec<N>,
    results: Vec<R>,
}

/// Appends placeholder items and returns the index of the first.
fn take<T: Copy>(
    items: &mut Vec<T>,
    count: usize,
    blank: T,
    what: &'static str,
) -> Result<u32, CompileError> {
    let at = items.len();
    if (at + count) as u64 > MAX_ITEMS {
        return Err(CompileError::TooMany { engine: NAME, what, limit: MAX_ITEMS });
    }
    if items.try_reserve(count).is_err() {
        let bytes = ((at + count) * size_of::<T>()) as u64;
        return Err(CompileError::Allocation { engine: NAME, bytes });
    }
    items.resize(at + count, blank);
    // An empty run may be anywhere.
    Ok(if count == 0 { 0 } else { at as u32 })
}

impl<N: Node, R: NodeResult> Arrays<N, R> {
    /// Builds a node from the routes inside it, and its descendants. The recursion is as deep as
    /// the trie: at most 32 levels.
    fn build<F: Family>(
        &mut self,
        at: u32,
        depth: u8,
        routes: &[Route<F>],
    ) -> Result<(), CompileError> {
        let below = depth + N::STRIDE;
        let end = routes.iter().all(|route| route.prefix.len() <= below);
        let is_in_child = |route: &Route<F>| !end && route.prefix.len() >= below;
        let value = |route: &Route<F>| rest_of::<F, N>(route.prefix, depth).1;
        let mut bitmaps = Bitmaps { internal: 0, external: 0, end };
        // In the order of results: the internal bitmap's bits, then the external one's.
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
        let children = take(&mut self.nodes, bitmaps.children(), N::EMPTY, "nodes")?;
        let results = take(&mut self.results, bitmaps.results(), R::default(), "results")?;
        let stored = raw.iter().filter(|raw| **raw != 0).map(|raw| R::from_raw(*raw));
        for (result, stored) in self.results[results as usize..].iter_mut().zip(stored) {
            *result = stored;
        }
        self.nodes[at as usize] = N::new(bitmaps, children, results);
        // Routes come in order: those of a child are contiguous, with prefixes of this node in
        // between.
        let same_child =
            |a: &Route<F>, b: &Route<F>| is_in_child(a) && is_in_child(b) && value(a) == value(b);
        let chunks = routes.chunk_by(same_child).filter(|chunk| is_in_child(&chunk[0]));
        for (child, chunk) in (children..).zip(chunks) {
            self.build(child, below, chunk)?;
        }
        Ok(())
    }
}
