//! One address: follow its bits and remember the last next hop seen.

use super::layout::{NONE, Radix};
use crate::net::{Bits, Family, NextHopId};

#[inline(always)]
pub(super) fn lookup<F: Family>(radix: &Radix<F>, addr: F::Bits) -> Option<NextHopId> {
    let mut node = &radix.nodes[0];
    let mut best = node.next_hop;
    for depth in 0..F::WIDTH {
        let child = node.children[addr.bit(depth)];
        if child == NONE {
            break;
        }
        node = &radix.nodes[child as usize];
        best = node.next_hop.or(best);
    }
    best
}
