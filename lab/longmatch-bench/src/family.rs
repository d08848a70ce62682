//! The address families, with their traffic.

use longmatch::{Engines, Ipv4, Ipv6, Keys};

use crate::destinations::Destinations;
use crate::random::Xorshift;

/// 2000::, the first global unicast address (2000::/3).
const GLOBAL_UNICAST: u128 = 0x2000 << 112;

/// An address family for which this crate generates traffic.
pub trait TrafficFamily: Engines {
    /// Number of keys in an array of traffic: 64 MiB, so that the array fits no cache.
    const KEYS: usize;
    /// Whether every address can be verified in reasonable time.
    const SWEEPABLE: bool;

    /// A uniformly random address of IPv4 or of 2000::/3.
    fn random_address(random: &mut Xorshift) -> Self::Bits;

    /// An address of random bits, for the host part of a prefix.
    fn random_bits(random: &mut Xorshift) -> Self::Bits;

    /// Address `i` of an ascending sequence of `count` addresses.
    fn sequential(i: usize, count: usize) -> Self::Bits;

    /// The destinations of this family, in their order.
    fn keys_of(destinations: &Destinations) -> &[Self::Bits];

    /// Destinations of this family only.
    fn destinations(name: String, keys: Vec<Self::Bits>) -> Destinations;

    /// Keys of `[high, low]` pairs; `None` if addresses have fewer than 128 bits.
    fn u64_pairs(addrs: &[[u64; 2]]) -> Option<Keys<'_, Self>>;
}

/// Consecutive addresses in one run of sequential IPv4 traffic.
const RUN: usize = 4096;

impl TrafficFamily for Ipv4 {
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

    /// Runs of 4096 consecutive addresses, evenly spaced from 0.0.0.0 upwards.
    ///
    /// The Poptrie paper looks up all 2^32 addresses. The first 2^24 are 0.0.0.0/8, which has no
    /// routes.
    fn sequential(i: usize, count: usize) -> u32 {
        let stride = (1u64 << 32) / count.div_ceil(RUN).max(1) as u64;
        ((i / RUN) as u64 * stride + (i % RUN) as u64) as u32
    }

    fn keys_of(destinations: &Destinations) -> &[u32] {
        &destinations.ipv4
    }

    fn destinations(name: String, keys: Vec<u32>) -> Destinations {
        Destinations { name, ipv4: keys, ..Destinations::default() }
    }

    fn u64_pairs(_: &[[u64; 2]]) -> Option<Keys<'_, Self>> {
        None
    }
}

impl TrafficFamily for Ipv6 {
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

    /// Evenly spaced addresses of 2000::/3: one in each /25 with the usual 2^22 keys.
    ///
    /// Consecutive addresses would all be in one subnet.
    fn sequential(i: usize, count: usize) -> u128 {
        GLOBAL_UNICAST + i as u128 * ((1 << 125) / count.max(1) as u128)
    }

    fn keys_of(destinations: &Destinations) -> &[u128] {
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
        assert_eq!(union, u128::MAX >> 2, "every bit below the first three is set in some address");
    }

    #[test]
    fn sequential_addresses_ascend_over_the_whole_space() {
        let four: Vec<u32> = (0..1 << 14).map(|i| Ipv4::sequential(i, 1 << 14)).collect();
        assert!(four.is_sorted() && four[..RUN].iter().copied().eq(0..RUN as u32));
        assert_eq!(four[RUN], 1 << 30);
        let six: Vec<u128> = (0..1 << 10).map(|i| Ipv6::sequential(i, 1 << 10)).collect();
        assert!(six.is_sorted() && six[0] == GLOBAL_UNICAST);
        assert!(six.iter().all(|address| address >> 125 == 1));
        assert_eq!(six[1023] >> 115, 0x2000 >> 3 | 1023, "the last step ends the /3");
    }
}
