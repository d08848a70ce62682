//! Batches: several lookups in flight. Our addition; BSD looks up one address at a time.

use super::layout::{LEAF, PathCompressed};
use super::lookup;
use crate::engine::kit::in_flight::InGroups;
use crate::net::{Family, NextHopId};
use crate::simd::prefetch;

/// Addresses in a group.
const GROUP: usize = 32;

impl<F: Family> InGroups<GROUP> for &PathCompressed<F> {
    type Addr = F::Bits;

    #[inline(always)]
    fn one(self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self, addr)
    }

    /// Moves the addresses down together. The positions of those that have not yet reached a leaf
    /// are packed at the front without a branch. The nodes of the way up are in the cache then.
    #[inline(always)]
    fn group(self, addrs: &[F::Bits; GROUP], out: &mut [Option<NextHopId>; GROUP]) {
        let mut links = [self.root(); GROUP];
        let mut position: [u8; GROUP] = core::array::from_fn(|i| i as u8);
        let mut count = if links[0] & LEAF == 0 { GROUP } else { 0 };
        while count > 0 {
            let mut continuing = 0;
            for j in 0..count {
                let i = usize::from(position[j % GROUP]) % GROUP;
                let link = self.child(links[i], addrs[i]);
                let inner = link & LEAF == 0;
                // The root instead of a leaf: always in the cache.
                prefetch(&self.nodes, if inner { link as usize } else { 0 });
                links[i] = link;
                position[continuing % GROUP] = i as u8;
                continuing += usize::from(inner);
            }
            count = continuing;
        }
        links.iter().for_each(|link| prefetch(&self.leaves, (link & !LEAF) as usize));
        for ((out, link), addr) in out.iter_mut().zip(links).zip(addrs) {
            *out = lookup::longest_match(self, link, *addr);
        }
    }
}
