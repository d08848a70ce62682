//! Routes as answers of a compiled table: pairs of a value and a length, and numbers.
//!
//! The compiled structure answers with the id of a pair. The address masked to the length is the
//! route's prefix, so a pair names the route of each address that it answers. There are far fewer
//! pairs than routes: structures stay small, and the pairs stay in the cache.
//!
//! Ids that identify routes without an address are the routes' numbers in order.

use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::net::{Bits, Family, IpPrefix, Ipv4, Ipv6, NextHopId, Prefix, Route};
use crate::rib::Rib;

/// The pairs of both families, and the routes by their numbers: 1 and up for IPv4, then IPv6.
///
/// 5 bytes a route for IPv4, 9 for IPv6, and 25 for an IPv6 prefix longer than 64 bits.
#[derive(Debug)]
pub(super) struct RouteIds {
    pairs: Vec<Target>,
    ipv4: Sorted<u32>,
    ipv6: Sorted<u64>,
}

/// The length of a route's prefix and the id of its value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Target {
    pub value: NextHopId,
    pub len: u8,
}

const _: () = assert!(size_of::<Target>() == 8);

impl RouteIds {
    /// Gives each pair an id; returns the same routes with the ids of their pairs.
    pub fn new(ipv4: &Rib<Ipv4>, ipv6: &Rib<Ipv6>) -> (Self, Rib<Ipv4>, Rib<Ipv6>) {
        let mut pairs = Vec::new();
        let mut ids = HashMap::new();
        let mut pair = |target: Target| {
            *ids.entry(target).or_insert_with(|| {
                pairs.push(target);
                nth(pairs.len())
            })
        };
        let paired4 = renamed(ipv4, |route| pair(Target::of(route)));
        let paired6 = renamed(ipv6, |route| pair(Target::of(route)));
        let ids = Self {
            pairs,
            ipv4: Sorted::new(ipv4.iter().map(|route| split4(route.prefix))),
            ipv6: Sorted::new(ipv6.iter().map(|route| split6(route.prefix))),
        };
        (ids, paired4, paired6)
    }

    /// The length and the value of a pair.
    #[inline]
    pub fn target(&self, pair: NextHopId) -> Option<Target> {
        self.pairs.get(pair.get() as usize - 1).copied()
    }

    /// The number of a route; `None` where there is no such route. O(log routes).
    pub fn number(&self, prefix: IpPrefix) -> Option<NextHopId> {
        let before = match prefix {
            IpPrefix::V4(prefix) => self.ipv4.find(split4(prefix))?,
            IpPrefix::V6(prefix) => self.ipv4.tops.len() + self.ipv6.find(split6(prefix))?,
        };
        Some(nth(before + 1))
    }

    /// The prefix of the route with a number.
    pub fn prefix(&self, number: NextHopId) -> Option<IpPrefix> {
        let i = number.get() as usize - 1;
        if let Some((bits, _, len)) = self.ipv4.get(i) {
            return Some(Prefix::<Ipv4>::truncated(bits, len).into());
        }
        let (top, low, len) = self.ipv6.get(i - self.ipv4.tops.len())?;
        let bits = u128::from(top) << 64 | u128::from(low);
        Some(Prefix::<Ipv6>::truncated(bits, len).into())
    }
}

impl Target {
    fn of<F: Family>(route: Route<F>) -> Self {
        Self { value: route.next_hop, len: route.prefix.len() }
    }
}

/// The id with the number `n`, which is at least 1.
fn nth(n: usize) -> NextHopId {
    NextHopId::new(n as u32).expect("ids begin at 1, and two families have fewer than 2^32 routes")
}

/// The leading bits of a prefix, the 64 bits after them, and its length.
type Parts<N> = (N, u64, u8);

fn split4(prefix: Prefix<Ipv4>) -> Parts<u32> {
    (prefix.bits(), 0, prefix.len())
}

fn split6(prefix: Prefix<Ipv6>) -> Parts<u64> {
    (prefix.bits().half(0), prefix.bits().half(1), prefix.len())
}

/// Prefixes in order.
#[derive(Debug)]
struct Sorted<N> {
    /// The leading bits of each prefix.
    tops: Vec<N>,
    lens: Vec<u8>,
    /// The positions of the prefixes longer than [`TOP`] bits, with the bits after these.
    lows: Vec<(u32, u64)>,
}

/// The leading bits of an IPv6 prefix. IPv4 prefixes have no others.
const TOP: u8 = 64;

impl<N: Copy + Ord> Sorted<N> {
    fn new(prefixes: impl Iterator<Item = Parts<N>>) -> Self {
        let mut sorted = Self { tops: Vec::new(), lens: Vec::new(), lows: Vec::new() };
        for (top, low, len) in prefixes {
            if len > TOP {
                sorted.lows.push((sorted.tops.len() as u32, low));
            }
            sorted.tops.push(top);
            sorted.lens.push(len);
        }
        sorted.tops.shrink_to_fit();
        sorted.lens.shrink_to_fit();
        sorted
    }

    fn get(&self, at: usize) -> Option<Parts<N>> {
        let (top, len) = (*self.tops.get(at)?, self.lens[at]);
        let low = self.lows.binary_search_by_key(&(at as u32), |(at, _)| *at);
        Some((top, low.map_or(0, |found| self.lows[found].1), len))
    }

    /// The position of a prefix.
    fn find(&self, key: Parts<N>) -> Option<usize> {
        let (top, _, len) = key;
        if len > TOP {
            let parts = |(at, low): &(u32, u64)| {
                let at = *at as usize;
                (self.tops[at], *low, self.lens[at])
            };
            let found = self.lows.binary_search_by_key(&key, parts).ok()?;
            return Some(self.lows[found].0 as usize);
        }
        // Of equal leading bits the short prefixes are the first, in the order of their lengths.
        let first = self.tops.partition_point(|own| *own < top);
        let equal = self.tops[first..].iter().zip(&self.lens[first..]);
        let mut equal = equal.take_while(|(own, _)| **own == top);
        Some(first + equal.position(|(_, own)| *own == len)?)
    }
}

/// Copies the routes with their numbers as ids.
#[cfg(feature = "file")]
pub(super) fn numbered(ipv4: &Rib<Ipv4>, ipv6: &Rib<Ipv6>) -> (Rib<Ipv4>, Rib<Ipv6>) {
    let mut number = 0;
    let mut next = || {
        number += 1;
        nth(number)
    };
    let ipv4 = renamed(ipv4, |_| next());
    (ipv4, renamed(ipv6, |_| next()))
}

/// Copies the routes with other ids, in order; the copy has the same limit.
pub(super) fn renamed<F: Family>(
    rib: &Rib<F>,
    mut id: impl FnMut(Route<F>) -> NextHopId,
) -> Rib<F> {
    let mut renamed = rib.clone();
    for route in rib {
        let old = renamed.insert(route.prefix, id(route));
        debug_assert_eq!(old, Ok(Some(route.next_hop)), "the copy has the route");
    }
    renamed
}
