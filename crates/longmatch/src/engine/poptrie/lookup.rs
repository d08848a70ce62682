//! One address: Algorithms 1, 2 and 3 of the paper.

use super::layout::{DIRECT_LEAF, K, Leaf, Node, Poptrie};
use crate::addr::{Bits, Family};
use crate::next_hop::NextHopId;

/// Chunks of 6 bits in a window of 64.
pub(super) const CHUNKS_PER_WINDOW: u8 = 64 / K;

#[inline(always)]
pub(super) fn lookup<F: Family, N: Node, L: Leaf>(
    poptrie: &Poptrie<F, N, L>,
    key: F::Bits,
) -> Option<NextHopId> {
    let mut index = 0;
    if poptrie.s != 0 {
        let dindex = direct(poptrie, key);
        if dindex & DIRECT_LEAF != 0 {
            return NextHopId::new(dindex & !DIRECT_LEAF);
        }
        index = dindex;
    }
    descend(poptrie, index, key)
}

/// The way down from a node at depth `s`.
#[inline(always)]
pub(super) fn descend<F: Family, N: Node, L: Leaf>(
    poptrie: &Poptrie<F, N, L>,
    mut index: u32,
    key: F::Bits,
) -> Option<NextHopId> {
    let mut offset = poptrie.s;
    loop {
        // The next chunk is always at the top of `window`: one shift a level, where extracting it
        // from a 128-bit address takes six instructions.
        let mut window = key.window(offset);
        for _ in 0..CHUNKS_PER_WINDOW {
            let node = node(poptrie, index);
            let v = window >> (64 - K);
            if node.vector() >> v & 1 == 0 {
                return leaf(poptrie, node.leaf(v)).next_hop();
            }
            index = node.child(v);
            window <<= K;
        }
        offset += K * CHUNKS_PER_WINDOW;
    }
}

/// The entry of the direct index for an address; `s` is not 0.
#[inline(always)]
pub(super) fn direct<F: Family, N, L>(poptrie: &Poptrie<F, N, L>, key: F::Bits) -> u32 {
    let index = key.extract(0, poptrie.s);
    debug_assert!(index < poptrie.direct.len());
    // SAFETY: `extract` yields `s` bits, and the index has 2^s entries (invariant 1).
    unsafe { *poptrie.direct.get_unchecked(index) }
}

/// A node that the direct index, a parent or `s == 0` names.
#[inline(always)]
pub(super) fn node<F, N: Node, L>(poptrie: &Poptrie<F, N, L>, index: u32) -> &N {
    debug_assert!((index as usize) < poptrie.nodes.len());
    // SAFETY: the index comes from a direct entry, from `Node::child` of a slot that is an internal
    // node, or is 0 without direct pointing (invariants 1, 2 and 3).
    unsafe { poptrie.nodes.get_unchecked(index as usize) }
}

/// A leaf that [`Node::leaf`] names for a slot that is no internal node.
#[inline(always)]
pub(super) fn leaf<F, N, L: Leaf>(poptrie: &Poptrie<F, N, L>, index: u32) -> L {
    debug_assert!((index as usize) < poptrie.leaves.len());
    // SAFETY: invariant 3.
    unsafe { *poptrie.leaves.get_unchecked(index as usize) }
}
