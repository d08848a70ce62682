//! One address: down without a comparison, one comparison at the leaf, and up to a mask that is
//! short enough.

use super::layout::{LEAF, PathCompressed};
use crate::net::{Bits, Family, NextHopId};

#[inline(always)]
pub(super) fn lookup<F: Family>(tree: &PathCompressed<F>, addr: F::Bits) -> Option<NextHopId> {
    let mut link = tree.root();
    while link & LEAF == 0 {
        link = tree.child(link, addr);
    }
    longest_match(tree, link, addr)
}

/// The longest match of an address whose way down ends with a link to a leaf.
///
/// The address and the leaf's key share a number of leading bits. A route on the way, which begins
/// like the key, covers the address if its mask is not longer than that.
#[inline(always)]
pub(super) fn longest_match<F: Family>(
    tree: &PathCompressed<F>,
    link: u32,
    addr: F::Bits,
) -> Option<NextHopId> {
    let chain = tree.leaves.get((link & !LEAF) as usize..)?;
    let first = chain.first()?;
    let shared = (first.key ^ addr).leading_zeros();
    for leaf in chain {
        if leaf.len <= shared {
            return Some(leaf.next_hop);
        }
        if !leaf.more {
            break;
        }
    }
    let mut at = first.parent;
    while let Some(node) = tree.nodes.get(at as usize) {
        if let Some(route) = tree.list(node).iter().find(|route| route.len <= shared) {
            return Some(route.next_hop);
        }
        at = node.parent;
    }
    None
}
