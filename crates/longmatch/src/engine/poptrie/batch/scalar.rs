//! Several lookups in flight: a group of addresses goes down level by level together, without a
//! branch on what an address finds. The reads of a level do not wait for each other, and an address
//! that ends early costs no misprediction.

use super::super::layout::{DIRECT_LEAF, K, Leaf, Node, Poptrie};
use super::super::lookup;
use crate::addr::{Bits, Family};
use crate::next_hop::NextHopId;

/// Addresses in a group.
const GROUP: usize = 16;

#[inline(always)]
pub(super) fn in_flight<F: Family, N: Node, L: Leaf>(
    poptrie: &Poptrie<F, N, L>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let (groups, rest) = addrs.as_chunks::<GROUP>();
    let (out_groups, out_rest) = out.as_chunks_mut::<GROUP>();
    for (keys, out) in groups.iter().zip(out_groups) {
        group(poptrie, keys, out);
    }
    for (key, out) in rest.iter().zip(out_rest) {
        *out = lookup::lookup(poptrie, *key);
    }
}

/// The addresses of a group that are still on their way down: a list of their positions.
struct Active {
    list: [u8; GROUP],
    count: usize,
}

#[inline(always)]
fn group<F: Family, N: Node, L: Leaf>(
    poptrie: &Poptrie<F, N, L>,
    keys: &[F::Bits; GROUP],
    out: &mut [Option<NextHopId>; GROUP],
) {
    let mut at = [0u32; GROUP];
    let mut active = Active { list: core::array::from_fn(|i| i as u8), count: GROUP };
    if poptrie.s != 0 {
        active.count = 0;
        for i in 0..GROUP {
            let dindex = lookup::direct(poptrie, keys[i]);
            at[i] = dindex;
            // For a node this is no answer; it is overwritten further down.
            out[i] = NextHopId::new(dindex & !DIRECT_LEAF);
            active.list[active.count] = i as u8;
            active.count += usize::from(dindex & DIRECT_LEAF == 0);
        }
    }
    let mut offset = poptrie.s;
    while active.count > 0 {
        let mut going_on = 0;
        for j in 0..active.count {
            let i = usize::from(active.list[j]) % GROUP;
            let node = lookup::node(poptrie, at[i]);
            let v = keys[i].window(offset) >> (64 - K);
            let internal = node.vector() >> v & 1 == 1;
            at[i] = node.child(v);
            // Leaf 0 exists where a node exists; what it says of an address that goes on is
            // overwritten.
            let leaf = if internal { 0 } else { node.leaf(v) };
            out[i] = lookup::leaf(poptrie, leaf).next_hop();
            active.list[going_on] = i as u8;
            going_on += usize::from(internal);
        }
        active.count = going_on;
        offset += K;
    }
}
