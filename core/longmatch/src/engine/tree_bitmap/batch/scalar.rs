//! Several lookups in flight.
//!
//! The addresses of a group descend together, level by level, without a branch on the result. The
//! longest prefix in a node is found at once: a mask has the prefixes that match the next bits, and
//! of those that the node holds the highest bit is the longest.
//!
//! Against one lookup at a time this gained about 75 % on IPv4 random keys, 30 % on routed and zipf
//! ones, and 40 % on IPv6 routed ones (Zen 5, stride 6, tables of 1 M and 246 k routes).

use super::super::layout::{NO_RESULT, Node, NodeResult, View, internal_bit};
use super::super::lookup;
use crate::engine::kit::in_flight::{InGroups, Lanes};
use crate::net::{Bits, Family, NextHopId};

/// Addresses in a group.
const GROUP: usize = 64;

/// The internal bits of the matching prefixes for each value of the next 6 bits. Those for stride 4
/// are the same for a value's first 4 bits, without the last two lengths.
const MATCHING: [u64; 64] = {
    let mut matching = [0; 64];
    let mut v = 0;
    while v < 64 {
        let mut len = 0;
        while len < 6 {
            matching[v] |= 1 << internal_bit(len, v as u64 >> (6 - len));
            len += 1;
        }
        v += 1;
    }
    matching
};

impl<F: Family, N: Node, R: NodeResult> InGroups<GROUP> for &View<'_, F, N, R> {
    type Addr = F::Bits;

    #[inline(always)]
    fn one(self, key: F::Bits) -> Option<NextHopId> {
        lookup::lookup(*self, key)
    }

    #[inline(always)]
    fn group(self, keys: &[F::Bits; GROUP], out: &mut [Option<NextHopId>; GROUP]) {
        let tree = *self;
        let mut lanes = Lanes {
            position: core::array::from_fn(|i| i as u8),
            node: [lookup::root(tree); GROUP],
            window: [0; GROUP],
            count: GROUP,
        };
        let mut longest_match = [NO_RESULT; GROUP];
        let mut offset = 0;
        while lanes.count > 0 {
            for j in 0..lanes.count {
                let j = j % GROUP;
                lanes.window[j] = keys[usize::from(lanes.position[j]) % GROUP].window(offset);
            }
            for _ in 0..64 / N::STRIDE {
                descend(tree, &mut lanes, &mut longest_match);
            }
            offset += 64 / N::STRIDE * N::STRIDE;
        }
        for (out, index) in out.iter_mut().zip(longest_match) {
            *out = lookup::result(tree, index).next_hop();
        }
    }
}

/// Descends one level in every lane: first the longest match in the node, then the next node of the
/// lanes that continue.
#[inline(always)]
fn descend<F: Family, N: Node, R: NodeResult>(
    tree: View<'_, F, N, R>,
    lanes: &mut Lanes<GROUP>,
    longest_match: &mut [u32; GROUP],
) {
    lanes.descend(
        |i, node, window| {
            let node = lookup::node(tree, node);
            let v = window >> (64 - N::STRIDE);
            let matching = node.internal() & MATCHING[(v << (6 - N::STRIDE)) as usize % 64];
            let bit = 63 - (matching | 1).leading_zeros();
            let (external, end) = (node.external() >> v & 1 == 1, node.is_end());
            let found = select(matching != 0, node.result(bit), longest_match[i]);
            longest_match[i] = select(external & end, node.end_result(v), found);
            external & !end
        },
        |_, node, window| {
            let child = lookup::node(tree, node).child(window >> (64 - N::STRIDE));
            tree.nodes.prefetch(child as usize);
            (child, window << N::STRIDE)
        },
    );
}

/// Selects one of two values. Masks instead of an `if`, which the compiler would turn into a
/// branch.
#[inline(always)]
fn select(condition: bool, yes: u32, no: u32) -> u32 {
    let mask = u32::from(condition).wrapping_neg();
    (yes & mask) | (no & !mask)
}
