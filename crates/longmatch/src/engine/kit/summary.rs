//! The figures of a table that the cost model needs.

use alloc::vec;
use alloc::vec::Vec;

use crate::net::{Bits, Family, NextHopId};
use crate::rib::Rib;

/// Counts of the places where the next hop changes, called *starts*.
///
/// A start's depth is the length of the shortest prefix that begins there: only a cut at that depth
/// or deeper separates the start from the address before it. A structure that cuts addresses at `c`
/// bits needs something below a block of `c` bits exactly where a deeper start lies inside the
/// block.
#[derive(Debug)]
pub(crate) struct Summary {
    /// Bits of an address.
    pub width: u8,
    /// Number of routes.
    pub routes: usize,
    /// The greatest raw next hop.
    pub max_next_hop: u32,
    /// Number of starts.
    pub starts: u32,
    /// `deeper[c]`: number of starts deeper than `c`.
    deeper: Vec<u32>,
    /// `inner[c]`: number of blocks of addresses with the same first `c` bits that have a start
    /// inside.
    inner: Vec<u32>,
}

impl Summary {
    /// Summarises a table. O(routes).
    pub fn of<F: Family>(rib: &Rib<F>) -> Self {
        let slots = usize::from(F::WIDTH) + 1;
        let (mut depths, mut inner) = (vec![0u32; slots], vec![0u32; slots]);
        let (mut starts, mut max_next_hop) = (0, 0);
        let mut before = F::Bits::ZERO;
        // Blocks around the last start of fewer bits than this are already counted.
        let mut counted = 0;
        for range in rib.ranges().coalesced() {
            max_next_hop = max_next_hop.max(NextHopId::to_raw(range.next_hop()));
            // The lowest address is no start: no next hop precedes it.
            if range.first == F::Bits::ZERO {
                continue;
            }
            starts += 1;
            let depth = F::WIDTH - range.first.trailing_zeros();
            depths[usize::from(depth)] += 1;
            counted = counted.min((range.first ^ before).leading_zeros() + 1);
            for cut in counted..depth {
                inner[usize::from(cut)] += 1;
            }
            counted = counted.max(depth);
            before = range.first;
        }
        let mut left = starts;
        let deeper = depths.iter().map(|count| {
            left -= count;
            left
        });
        let (deeper, routes, width) = (deeper.collect(), rib.len(), F::WIDTH);
        Self { width, routes, max_next_hop, starts, deeper, inner }
    }

    /// Number of starts deeper than a cut.
    pub fn deeper(&self, cut: u8) -> u32 {
        self.deeper[usize::from(cut)]
    }

    /// Share of the starts that are deeper than a cut. It approximates the share of routed
    /// addresses that a lookup cannot answer with that many bits.
    pub fn share_deeper(&self, cut: u8) -> f64 {
        f64::from(self.deeper(cut)) / f64::from(self.starts.max(1))
    }

    /// Number of blocks of `cut` bits that have a start inside.
    pub fn inner(&self, cut: u8) -> f64 {
        f64::from(self.inner[usize::from(cut)])
    }

    /// The cuts from `from` on in steps of `stride`, as long as any start is deeper.
    pub fn cuts(&self, from: u8, stride: u8) -> impl Iterator<Item = u8> {
        let cuts = (from..self.width).step_by(stride.into());
        cuts.take_while(|cut| self.deeper(*cut) > 0)
    }

    /// Bytes of a next hop: 2 if every next hop is at most `max`, else 4.
    pub fn hop_bytes(&self, max: u32) -> f64 {
        if self.max_next_hop <= max { 2.0 } else { 4.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ipv4, Ipv6};

    fn rib<F: Family>(routes: &[(&str, u32)]) -> Rib<F> {
        let mut rib = Rib::new();
        for (prefix, hop) in routes {
            let prefix = prefix.parse().unwrap();
            rib.insert(prefix, NextHopId::new(*hop).unwrap()).unwrap();
        }
        rib
    }

    #[test]
    fn starts_are_counted_by_depth_and_by_block() {
        // 10.0.0.0/8 begins at depth 7 and ends where depth 8 is needed; the /24 inside has starts
        // at 10.1.2.0 (depth 23) and 10.1.3.0 (depth 24).
        let summary = Summary::of(&rib::<Ipv4>(&[("10.0.0.0/8", 1), ("10.1.2.0/24", 9)]));
        assert_eq!((summary.routes, summary.starts, summary.max_next_hop), (2, 4, 9));
        assert_eq!([7, 8, 22, 23, 24].map(|cut| summary.deeper(cut)), [3, 2, 2, 1, 0]);
        assert_eq!([0, 7, 8, 23, 24].map(|cut| summary.inner(cut)), [1.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(summary.share_deeper(8), 0.5);
    }

    /// Prefixes inside one with the same next hop add no start; nor does address 0.
    #[test]
    fn equal_next_hops_add_no_start() {
        let none = Summary::of(&Rib::<Ipv6>::new());
        assert_eq!((none.starts, none.max_next_hop, none.share_deeper(0)), (0, 0, 0.0));
        let all = Summary::of(&rib::<Ipv6>(&[("::/0", 3), ("2001:db8::/32", 3)]));
        assert_eq!((all.starts, all.max_next_hop, all.inner(0)), (0, 3, 0.0));
    }

    /// The counts equal those of the definition, block by block.
    #[test]
    fn blocks_are_those_of_the_definition() {
        let routes: Vec<_> = (0..200u32)
            .map(|i| {
                let bits = i.wrapping_mul(0x9e37_79b9);
                let prefix = crate::Prefix::<Ipv4>::from_bits_masked(bits, 4 + (i % 29) as u8);
                crate::Route { prefix, next_hop: NextHopId::new(1 + i % 7).unwrap() }
            })
            .collect();
        let rib: Rib<Ipv4> = routes.into_iter().collect();
        let summary = Summary::of(&rib);
        let starts: Vec<u32> = rib.ranges().coalesced().map(|r| r.first).skip(1).collect();
        for cut in 0..32u8 {
            let inside = starts.iter().filter(|at| 32 - at.trailing_zeros() > u32::from(cut));
            let mut blocks: Vec<_> = inside.map(|at| u64::from(*at) >> (32 - cut)).collect();
            assert_eq!(summary.deeper(cut) as usize, blocks.len());
            blocks.dedup();
            assert_eq!(summary.inner(cut), blocks.len() as f64, "/{cut}");
        }
    }
}
