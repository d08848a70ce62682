//! Counts the blocks of addresses that a table divides.
//!
//! An engine's size is estimated from these counts before anything is allocated.

use alloc::vec;
use alloc::vec::Vec;

use crate::net::{Bits, Family};
use crate::rib::Rib;

/// The blocks of addresses that routes divide, by prefix length of the block.
pub(crate) struct Shape {
    /// Number of routes.
    pub routes: u64,
    /// `blocks[d]`: number of blocks of `d` bits that contain a route longer than `d`.
    blocks: Vec<u64>,
}

impl Shape {
    /// Counts the blocks of a table. O(routes).
    pub fn of<F: Family>(rib: &Rib<F>) -> Self {
        // A route is the first in all blocks from some length up to its own: +1 there, -1 at its
        // own.
        let mut changes = vec![0i64; usize::from(F::WIDTH) + 1];
        let mut before: Option<(F::Bits, u8)> = None;
        for route in rib.iter() {
            let (bits, len) = (route.prefix.bits(), route.prefix.len());
            // Routes come in order: a block of `d` bits is already counted if the previous route is
            // longer than `d` and has the same first `d` bits.
            let known = before.map_or(0, |(last, last_len)| {
                let shared = (last ^ bits).leading_zeros();
                last_len.min(shared.saturating_add(1))
            });
            if known < len {
                changes[usize::from(known)] += 1;
                changes[usize::from(len)] -= 1;
            }
            before = Some((bits, len));
        }
        let mut sum = 0;
        let blocks = changes.iter().map(|change| {
            sum += change;
            sum as u64
        });
        Self { routes: rib.len() as u64, blocks: blocks.collect() }
    }

    /// Number of blocks of `depth` bits that contain a longer route. 0 from the address width on.
    pub fn blocks(&self, depth: u8) -> u64 {
        self.blocks.get(usize::from(depth)).copied().unwrap_or(0)
    }

    /// The sum of [`Shape::blocks`] at `first` and every `stride` bits after it.
    pub fn blocks_from(&self, first: u8, stride: u8) -> u64 {
        self.blocks.iter().skip(first.into()).step_by(stride.into()).sum()
    }

    /// Upper bound on the ranges of equal answers: each route starts one and ends one.
    pub fn ranges(&self) -> u64 {
        2 * self.routes + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Ipv4, Ipv6, NextHopId, Prefix};
    use alloc::collections::BTreeSet;

    fn by_definition<F: Family>(rib: &Rib<F>, depth: u8) -> u64 {
        let longer = rib.iter().filter(|route| route.prefix.len() > depth);
        let blocks: BTreeSet<F::Bits> =
            longer.map(|route| route.prefix.bits() & F::Bits::mask(depth)).collect();
        blocks.len() as u64
    }

    fn check<F: Family>(prefixes: impl Iterator<Item = Prefix<F>>) {
        let mut rib = Rib::<F>::new();
        for prefix in prefixes {
            rib.insert(prefix, NextHopId::new(1).unwrap()).unwrap();
        }
        let shape = Shape::of(&rib);
        for depth in 0..=F::WIDTH {
            assert_eq!(shape.blocks(depth), by_definition(&rib, depth), "/{depth}");
        }
        let sum: u64 = (8..F::WIDTH).step_by(6).map(|depth| by_definition(&rib, depth)).sum();
        assert_eq!(shape.blocks_from(8, 6), sum);
    }

    #[test]
    fn blocks_are_those_of_the_definition() {
        check::<Ipv4>([].into_iter());
        check::<Ipv4>(
            ["0.0.0.0/0", "0.0.0.0/32", "255.255.255.255/32"]
                .map(|p| p.parse().unwrap())
                .into_iter(),
        );
        let mut seed = 1u32;
        let mut next = move || {
            seed = seed.wrapping_mul(0x9e37_79b9).wrapping_add(12345);
            seed ^ seed >> 15
        };
        check::<Ipv4>(
            (0..600).map(|_| Prefix::from_bits_masked(next() & 0xff03_f0ff, (next() % 33) as u8)),
        );
        let mut seed = 7u128;
        let mut wide = move || {
            seed = seed.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(99);
            seed ^ seed >> 61
        };
        check::<Ipv6>((0..400).map(|_| {
            let bits = wide() & (0xf0ff << 112 | 0xffff_ffff);
            Prefix::from_bits_masked(bits, (wide() % 129) as u8)
        }));
    }
}
