//! Several addresses in flight: a group reads each level together; addresses that continue are
//! listed without a branch. The reads of a level are independent.

use super::super::layout::{LONGER, Sail};
use super::super::lookup;
use crate::engine::kit::in_flight::InGroups;
use crate::net::NextHopId;
use crate::simd::prefetch;

/// Addresses in a group.
const GROUP: usize = 64;

impl InGroups<GROUP> for &Sail {
    type Addr = u32;

    #[inline(always)]
    fn one(self, key: u32) -> Option<NextHopId> {
        lookup::lookup(self, key)
    }

    #[inline(always)]
    fn group(self, keys: &[u32; GROUP], out: &mut [Option<NextHopId>; GROUP]) {
        let mut position = [0u8; GROUP];
        let mut index = [0u32; GROUP];
        let mut count = 0;
        for i in 0..GROUP {
            let bcn = lookup::bcn16(self, keys[i]);
            out[i] = NextHopId::new(bcn.into());
            position[count % GROUP] = i as u8;
            index[count % GROUP] = lookup::index24(bcn, keys[i]) as u32;
            count += usize::from(bcn >> 15);
        }
        for index in &index[..count] {
            prefetch(&self.bn24, *index as usize);
        }
        let mut longer = 0;
        for j in 0..count {
            let (i, at) = (usize::from(position[j]) % GROUP, index[j]);
            let bn = lookup::bn24(self, at as usize);
            out[i] = NextHopId::new(bn.into());
            // Never overwrites a position that is still to be read.
            position[longer % GROUP] = i as u8;
            index[longer % GROUP] = at;
            longer += usize::from(bn & LONGER != 0);
        }
        for j in 0..longer {
            let i = usize::from(position[j]) % GROUP;
            let at = lookup::index32(lookup::c24(self, index[j] as usize), keys[i]);
            out[i] = NextHopId::new(lookup::n32(self, at).into());
        }
    }
}
