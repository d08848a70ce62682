//! One address: descends the children and remembers the result of the longest match so far (paper,
//! section 3).

use super::layout::{NO_RESULT, Node, NodeResult, View, internal_bit};
use crate::net::{Bits, Family, NextHopId};

#[inline(always)]
pub(super) fn lookup<F: Family, N: Node, R: NodeResult>(
    tree: View<'_, F, N, R>,
    key: F::Bits,
) -> Option<NextHopId> {
    let (mut index, mut longest_match, mut offset) = (root(tree), NO_RESULT, 0);
    loop {
        // The next bits are always at the top of `window`, so a level costs one shift.
        let mut window = key.window(offset);
        for _ in 0..64 / N::STRIDE {
            let node = node(tree, index);
            let v = window >> (64 - N::STRIDE);
            if let Some(position) = tree_function(&node, v) {
                longest_match = position;
            }
            if node.is_end() || node.external() >> v & 1 == 0 {
                return result(tree, longest_match).next_hop();
            }
            index = node.child(v);
            window <<= N::STRIDE;
        }
        offset += 64 / N::STRIDE * N::STRIDE;
    }
}

/// Index of the result of the longest prefix in a node that matches the bits `v`. Tries all
/// possible prefixes, longest first.
#[inline(always)]
fn tree_function<N: Node>(node: &N, v: u64) -> Option<u32> {
    if node.is_end() && node.external() >> v & 1 == 1 {
        return Some(node.end_result(v));
    }
    let mut len = N::STRIDE;
    while len > 0 {
        len -= 1;
        let bit = internal_bit(len, v >> (N::STRIDE - len));
        if node.internal() >> bit & 1 == 1 {
            return Some(node.result(bit));
        }
    }
    None
}

/// Reads the index of the root.
#[inline(always)]
pub(super) fn root<F, N: Node, R: NodeResult>(tree: View<'_, F, N, R>) -> u32 {
    // SAFETY: the array has one item (invariant 1).
    unsafe { tree.root.load(0) }
}

/// Reads the root or a node that a parent names.
#[inline(always)]
pub(super) fn node<F, N: Node, R: NodeResult>(tree: View<'_, F, N, R>, index: u32) -> N {
    // SAFETY: the index is the root's, or `Node::child` of a set bit of an ordinary node
    // (invariants 1 and 2); nodes that readers can reach are not written (invariant 7).
    unsafe { tree.nodes.read(index as usize) }
}

/// Reads a result: [`Node::result`] or [`Node::end_result`] of a set bit, or [`NO_RESULT`].
#[inline(always)]
pub(super) fn result<F, N: Node, R: NodeResult>(tree: View<'_, F, N, R>, index: u32) -> R {
    // SAFETY: the index is that of a result (invariants 1 and 2); results that readers can reach
    // are not written (invariant 7).
    unsafe { tree.results.read(index as usize) }
}
