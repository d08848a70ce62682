//! What measurements need of each address family.

use longmatch::{Engines, Ipv4, Ipv6, Keys};

use crate::instances::Instances;
use crate::random::Xorshift;
use crate::traffic::Destinations;

/// 2000::, where the addresses that the Internet uses begin (2000::/3).
const GLOBAL_UNICAST: u128 = 0x2000 << 112;

/// A family with traffic.
pub trait BenchFamily: Engines + Instances {
    /// How many keys an array of traffic holds: so many that neither family's array (64 MiB)
    /// stays in a cache.
    const KEYS: usize;
    /// Whether the address space is small enough to be verified address by address.
    const SWEEPABLE: bool;

    /// A random address as traffic `random` means it: uniform over all of IPv4, or over 2000::/3.
    fn random_address(random: &mut Xorshift) -> Self::Bits;

    /// Random bits all over, to fill the host part of a prefix.
    fn random_bits(random: &mut Xorshift) -> Self::Bits;

    /// Address number `i` of `count` of a walk upwards through the address space.
    fn sequential(i: usize, count: usize) -> Self::Bits;

    /// The destinations of this family.
    fn listed(destinations: &Destinations) -> &[Self::Bits];

    /// Addresses of this family as destinations in order.
    fn destinations(name: String, keys: Vec<Self::Bits>) -> Destinations;

    /// Addresses as pairs of 64 bits; `None` where they have fewer.
    fn u64_pairs(addrs: &[[u64; 2]]) -> Option<Keys<'_, Self>>;
}

/// Consecutive addresses in one run of sequential IPv4 traffic.
const RUN: usize = 4096;

impl BenchFamily for Ipv4 {
    const KEYS: usize = 1 << 24;
    const SWEEPABLE: bool = true;

    #[inline(always)]
    fn random_address(random: &mut Xorshift) -> u32 {
        random.next_u32()
    }

    #[inline(always)]
    fn random_bits(random: &mut Xorshift) -> u32 {
        random.next_u32()
    }

    /// Runs of 4096 consecutive addresses, spread evenly from 0.0.0.0 upwards. The paper walks all
    /// 2^32; the first 2^24 alone would be 0.0.0.0/8, where no route leads.
    fn sequential(i: usize, count: usize) -> u32 {
        let stride = (1u64 << 32) / count.div_ceil(RUN).max(1) as u64;
        ((i / RUN) as u64 * stride + (i % RUN) as u64) as u32
    }

    fn listed(destinations: &Destinations) -> &[u32] {
        &destinations.ipv4
    }

    fn destinations(name: String, keys: Vec<u32>) -> Destinations {
        Destinations { name, ipv4: keys, ..Destinations::default() }
    }

    fn u64_pairs(_: &[[u64; 2]]) -> Option<Keys<'_, Self>> {
        None
    }
}

impl BenchFamily for Ipv6 {
    const KEYS: usize = 1 << 22;
    const SWEEPABLE: bool = false;

    #[inline(always)]
    fn random_address(random: &mut Xorshift) -> u128 {
        random.next_u128() >> 3 | GLOBAL_UNICAST
    }

    #[inline(always)]
    fn random_bits(random: &mut Xorshift) -> u128 {
        random.next_u128()
    }

    /// Equal steps from 2000:: upwards that end at the end of 2000::/3: one address in each /25
    /// with the usual 2^22 keys. Consecutive addresses would never leave one subnet.
    fn sequential(i: usize, count: usize) -> u128 {
        GLOBAL_UNICAST + i as u128 * ((1 << 125) / count.max(1) as u128)
    }

    fn listed(destinations: &Destinations) -> &[u128] {
        &destinations.ipv6
    }

    fn destinations(name: String, keys: Vec<u128>) -> Destinations {
        Destinations { name, ipv6: keys, ..Destinations::default() }
    }

    fn u64_pairs(addrs: &[[u64; 2]]) -> Option<Keys<'_, Self>> {
        Some(addrs.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ipv6_addresses_are_global_unicast() {
        let mut random = Xorshift::new(5);
        let mut union = 0;
        for _ in 0..10_000 {
            let address = Ipv6::random_address(&mut random);
            assert_eq!(address >> 125, 1, "{address:x}");
            union |= address;
        }
        assert_eq!(union, u128::MAX >> 2, "every bit below the first three occurs");
    }

    #[test]
    fn sequential_walks_the_space_upwards() {
        let four: Vec<u32> = (0..1 << 14).map(|i| Ipv4::sequential(i, 1 << 14)).collect();
        assert!(four.is_sorted() && four[..RUN].iter().copied().eq(0..RUN as u32));
        assert_eq!(four[RUN], 1 << 30);
        let six: Vec<u128> = (0..1 << 10).map(|i| Ipv6::sequential(i, 1 << 10)).collect();
        assert!(six.is_sorted() && six[0] == GLOBAL_UNICAST);
        assert!(six.iter().all(|address| address >> 125 == 1));
        assert_eq!(six[1023] >> 115, 0x2000 >> 3 | 1023, "the last step ends the /3");
    }
}
