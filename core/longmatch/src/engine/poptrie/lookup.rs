//! One address: Algorithms 1, 2 and 3 of the paper.

use super::layout::{DIRECT_LEAF, K, Leaf, Node, NodeAt, View};
use crate::mem::Memory;
use crate::net::{Bits, Family, NextHopId};

/// Chunks of 6 bits in a window of 64.
pub(super) const CHUNKS_PER_WINDOW: u8 = 64 / K;

#[inline(always)]
pub(super) fn lookup<F: Family, N: Node, L: Leaf, M: Memory>(
    poptrie: View<'_, F, N, L, M>,
    key: F::Bits,
) -> Option<NextHopId> {
    let dindex = direct(poptrie, key);
    if dindex & DIRECT_LEAF != 0 {
        return NextHopId::new(dindex & !DIRECT_LEAF);
    }
    descend(poptrie, dindex, key)
}

/// Descends from a node at depth `s`.
#[inline(always)]
pub(super) fn descend<F: Family, N: Node, L: Leaf, M: Memory>(
    poptrie: View<'_, F, N, L, M>,
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

/// Reads the direct index for an address. Without direct pointing its only entry is the root.
#[inline(always)]
pub(super) fn direct<F: Family, N: Node, L: Leaf, M: Memory>(
    poptrie: View<'_, F, N, L, M>,
    key: F::Bits,
) -> u32 {
    let index = key.extract(0, poptrie.s);
    // SAFETY: the index has `s` bits, and the table has 2^s entries (invariant 1).
    unsafe { poptrie.direct.load(index) }
}

/// Refers to a node that the direct index or a parent names.
#[inline(always)]
pub(super) fn node<'a, F, N: Node, L: Leaf, M: Memory>(
    poptrie: View<'a, F, N, L, M>,
    index: u32,
) -> NodeAt<'a, N, M> {
    // SAFETY: the index comes from a direct entry or from `NodeAt::child` of an internal slot
    // (invariants 1, 2 and 3).
    unsafe { NodeAt::new(poptrie.nodes, index) }
}

/// Reads a leaf that [`NodeAt::leaf`] names for a slot that is not a node.
#[inline(always)]
pub(super) fn leaf<F, N: Node, L: Leaf, M: Memory>(poptrie: View<'_, F, N, L, M>, index: u32) -> L {
    // SAFETY: the index is that of a leaf (invariant 3); leaves that readers can reach are not
    // written (invariant 6).
    unsafe { poptrie.leaves.read(index as usize) }
}
