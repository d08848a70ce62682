//! Compiles a RIB to a tree: the leaves first, which are the routes, then the nodes, top down.
//!
//! The keys alone decide the shape, so that a tree into which routes are inserted one by one, as in
//! BSD, is the same.

use alloc::vec::Vec;
use core::ops::Range;

use super::super::NAME;
use super::layout::{LEAF, Leaf, NONE, Node, PathCompressed};
use crate::engine::kit::CompileError;
use crate::net::{Bits, Family};
use crate::rib::Rib;

pub(super) fn compile<F: Family>(rib: &Rib<F>) -> Result<PathCompressed<F>, CompileError> {
    let mut leaves = with_capacity(rib.len())?;
    leaves.extend(rib.iter().map(|route| Leaf {
        key: route.prefix.bits(),
        parent: NONE,
        next_hop: route.next_hop,
        len: route.prefix.len(),
        more: false,
    }));
    let mut keys = 0usize;
    // The RIB's order is that of keys, then of lengths, the shortest first.
    for chain in leaves.chunk_by_mut(|a, b| a.key == b.key) {
        keys += 1;
        chain.reverse();
        if let Some((_, others)) = chain.split_last_mut() {
            others.iter_mut().for_each(|leaf| leaf.more = true);
        }
    }
    let mut nodes = with_capacity(keys.saturating_sub(1))?;
    join(&mut leaves, &mut nodes);
    Ok(PathCompressed { nodes, leaves })
}

/// Upper bound on the bytes of a tree: a leaf for each route, and an internal node for each but
/// one. Exact where no two routes have the same key.
pub(crate) fn estimate<F: Family>(rib: &Rib<F>) -> u64 {
    let routes = rib.len() as u64;
    let (leaf, node) = (size_of::<Leaf<F::Bits>>() as u64, size_of::<Node>() as u64);
    routes * leaf + routes.saturating_sub(1) * node
}

fn with_capacity<T>(count: usize) -> Result<Vec<T>, CompileError> {
    let mut items = Vec::new();
    if items.try_reserve_exact(count).is_err() {
        let bytes = count as u64 * size_of::<T>() as u64;
        return Err(CompileError::Allocation { engine: NAME, bytes });
    }
    Ok(items)
}

/// A subtree to be built.
struct Subtree {
    /// Its leaves: whole chains, at least one.
    leaves: Range<usize>,
    /// Index of the node above, or [`NONE`].
    parent: u32,
    /// The node's link to it.
    side: usize,
}

/// Builds the nodes above sorted leaves. Each divides its leaves where the first and the last of
/// them differ. O(keys x log keys).
fn join<B: Bits>(leaves: &mut [Leaf<B>], nodes: &mut Vec<Node>) {
    if leaves.is_empty() {
        return;
    }
    let mut pending = alloc::vec![Subtree { leaves: 0..leaves.len(), parent: NONE, side: 0 }];
    while let Some(Subtree { leaves: range, parent, side }) = pending.pop() {
        let own = &mut leaves[range.clone()];
        let [first, last] = [own[0].key, own[own.len() - 1].key];
        let link = if first == last {
            own.iter_mut().for_each(|leaf| leaf.parent = parent);
            LEAF | range.start as u32
        } else {
            let bit = (first ^ last).leading_zeros();
            let above = nodes.get(parent as usize).map(|node| node.bit);
            let list = mask_list(own, above, bit);
            let node = nodes.len() as u32;
            let start = if list.is_empty() { 0 } else { range.start + list.start };
            let (list, list_len) = (start as u32, list.len() as u8);
            nodes.push(Node { children: [NONE; 2], parent, list, bit, list_len });
            let middle = range.start + own.partition_point(|leaf| leaf.key.bit(bit) == 0);
            pending.push(Subtree { leaves: middle..range.end, parent: node, side: 1 });
            pending.push(Subtree { leaves: range.start..middle, parent: node, side: 0 });
            node
        };
        if let Some(parent) = nodes.get_mut(parent as usize) {
            parent.children[side] = link;
        }
    }
}

/// Returns the mask list of a node that tests `bit`, as a range of the leaves below the node.
/// `above` is the bit that its parent tests.
fn mask_list<B: Bits>(leaves: &[Leaf<B>], above: Option<u8>, bit: u8) -> Range<usize> {
    let chain = leaves.iter().take_while(|leaf| leaf.key == leaves[0].key);
    let applies = |leaf: &&Leaf<B>| above.is_none_or(|above| leaf.len > above);
    chain.clone().take_while(|leaf| leaf.len > bit).count()..chain.take_while(applies).count()
}
