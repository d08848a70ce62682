//! Statistics of a table.

use longmatch::{Bits, Family, NextHopId, Prefix, Rib, Route};
use serde::Serialize;

/// Number of most frequent next hops that are listed.
const TOP: usize = 10;

/// Statistics of one family.
#[derive(Serialize)]
pub struct Numbers<'a> {
    pub family: &'static str,
    pub routes: u64,
    /// Prefix lengths that occur, shortest first.
    pub lengths: Vec<Length>,
    pub next_hops: NextHops<'a>,
    /// Whether there is a default route.
    pub default_route: bool,
    /// Routes that another route covers (more-specifics).
    pub covered_routes: u64,
    /// More-specifics with the same next hop as their closest covering route.
    pub same_as_parent: u64,
    /// Maximum number of nested routes.
    pub depth: u64,
    pub space: Space,
    /// Disjoint ranges of addresses; adjacent ranges with the same next hop count once.
    pub ranges: u64,
    /// Routes after lossless aggregation.
    pub aggregated_routes: u64,
    /// Memory of the RIB, from which engines are compiled.
    pub rib_bytes: u64,
}

/// Routes of one length.
#[derive(Serialize)]
pub struct Length {
    pub len: u8,
    pub routes: u64,
}

/// Distribution of the routes over the next hops.
#[derive(Serialize)]
pub struct NextHops<'a> {
    pub distinct: u64,
    /// Bits of information in the next hop of a route: log2(distinct) if all are equally frequent.
    pub entropy_bits: f64,
    /// The most frequent next hops.
    pub top: Vec<NextHop<'a>>,
}

/// One next hop.
#[derive(Serialize)]
pub struct NextHop<'a> {
    pub next_hop: &'a str,
    pub routes: u64,
}

/// Share of the address space that the routes cover.
#[derive(Serialize)]
pub struct Space {
    /// From 0 to 1.
    pub share: f64,
    /// The same as a number of blocks of this prefix length, rounded down.
    pub block_len: u8,
    pub blocks: u128,
}

impl<'a> Numbers<'a> {
    /// Computes the statistics. O(routes), apart from sorting the next hops.
    pub fn new<F: Family>(rib: &Rib<F>, name: impl Fn(NextHopId) -> &'a str) -> Self {
        let counts = RouteNumbers::new(rib);
        let lengths = counts.lengths.iter().zip(0u8..).filter(|(routes, _)| **routes > 0);
        Self {
            family: F::NAME,
            routes: rib.len() as u64,
            lengths: lengths.map(|(routes, len)| Length { len, routes: *routes }).collect(),
            next_hops: next_hops(&counts.next_hops, name),
            default_route: rib.get(Prefix::DEFAULT).is_some(),
            covered_routes: counts.covered,
            same_as_parent: counts.same_as_parent,
            depth: counts.depth,
            space: counts.space(),
            ranges: rib.ranges().coalesced().count() as u64,
            aggregated_routes: rib.aggregated().len() as u64,
            rib_bytes: rib.memory_bytes() as u64,
        }
    }
}

/// Counts of one pass over the routes in order.
struct RouteNumbers<F: Family> {
    lengths: Vec<u64>,
    /// Routes by id of the next hop, minus one.
    next_hops: Vec<u64>,
    covered: u64,
    same_as_parent: u64,
    depth: u64,
    /// Routes that no other route covers, by length.
    outermost: Vec<u64>,
    /// The routes that cover the current one, outermost first.
    around: Vec<Route<F>>,
}

impl<F: Family> RouteNumbers<F> {
    fn new(rib: &Rib<F>) -> Self {
        let lengths = vec![0; usize::from(F::WIDTH) + 1];
        let mut counts = Self {
            outermost: lengths.clone(),
            lengths,
            next_hops: vec![0; rib.max_next_hop() as usize],
            covered: 0,
            same_as_parent: 0,
            depth: 0,
            around: Vec::new(),
        };
        rib.iter().for_each(|route| counts.add(route));
        counts
    }

    fn add(&mut self, route: Route<F>) {
        let len = usize::from(route.prefix.len());
        self.lengths[len] += 1;
        self.next_hops[route.next_hop.get() as usize - 1] += 1;
        // Routes come in order, so a route that ends before this one covers no later one.
        while self.around.pop_if(|above| !above.prefix.covers(route.prefix)).is_some() {}
        match self.around.last() {
            None => self.outermost[len] += 1,
            Some(parent) => {
                self.covered += 1;
                self.same_as_parent += u64::from(parent.next_hop == route.next_hop);
            }
        }
        self.around.push(route);
        self.depth = self.depth.max(self.around.len() as u64);
    }

    /// The blocks are addresses for IPv4, and for IPv6 the usual size of a site.
    fn space(&self) -> Space {
        let block_len = F::Bits::WIDTH.min(48);
        let (mut share, mut addresses) = (0.0, 0u128);
        for (len, routes) in self.outermost.iter().enumerate().filter(|(_, routes)| **routes > 0) {
            share += *routes as f64 * (-(len as f64)).exp2();
            // The count of all 2^128 addresses overflows by one; as blocks they are 2^48.
            let size = 1u128.checked_shl(u32::from(F::WIDTH) - len as u32).unwrap_or(u128::MAX);
            addresses = addresses.saturating_add(u128::from(*routes).saturating_mul(size));
        }
        let blocks = match addresses {
            u128::MAX => 1 << block_len,
            addresses => addresses >> (F::WIDTH - block_len),
        };
        Space { share, block_len, blocks }
    }
}

fn next_hops<'a>(counts: &[u64], name: impl Fn(NextHopId) -> &'a str) -> NextHops<'a> {
    let total: u64 = counts.iter().sum();
    let ids = (1..).filter_map(NextHopId::new);
    let mut used: Vec<_> = ids.zip(counts).filter(|(_, routes)| **routes > 0).collect();
    let entropy: f64 = used
        .iter()
        .map(|(_, routes)| **routes as f64 / total as f64)
        .map(|share| share * (1.0 / share).log2())
        .sum();
    // Ties are ordered by id, so that the output is stable.
    used.sort_by_key(|(id, routes)| (std::cmp::Reverse(**routes), *id));
    let top = used.iter().take(TOP);
    NextHops {
        distinct: used.len() as u64,
        entropy_bits: entropy,
        top: top.map(|(id, routes)| NextHop { next_hop: name(*id), routes: **routes }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv4, Ipv6};

    fn rib<F: Family>(routes: &[(&str, u32)]) -> Rib<F> {
        let route = |(prefix, id): &(&str, u32)| Route {
            prefix: prefix.parse().unwrap(),
            next_hop: NextHopId::new(*id).unwrap(),
        };
        routes.iter().map(route).collect()
    }

    #[test]
    fn a_small_table_by_hand() {
        let routes = [("10.0.0.0/8", 1), ("10.0.0.0/16", 1), ("10.0.1.0/24", 2), ("11.0.0.0/8", 3)];
        let numbers = Numbers::new::<Ipv4>(&rib(&routes), |_| "x");
        assert_eq!((numbers.routes, numbers.covered_routes, numbers.same_as_parent), (4, 2, 1));
        assert_eq!((numbers.depth, numbers.default_route), (3, false));
        assert_eq!(numbers.space.blocks, 2 << 24);
        assert_eq!(numbers.space.share, 2.0 / 256.0);
        assert_eq!(numbers.aggregated_routes, 3);
        // The part of 10/8 before 10.0.1.0/24, that prefix, the rest of 10/8, 11/8, and the space
        // on both sides.
        assert_eq!(numbers.ranges, 6);
        assert_eq!((numbers.next_hops.distinct, numbers.next_hops.entropy_bits), (3, 1.5));
        assert_eq!(numbers.next_hops.top[0].routes, 2);
        let lengths: Vec<_> = numbers.lengths.iter().map(|l| (l.len, l.routes)).collect();
        assert_eq!(lengths, [(8, 2), (16, 1), (24, 1)]);
    }

    #[test]
    fn the_whole_space_is_counted() {
        for routes in [&[("::/0", 1)][..], &[("::/1", 1), ("8000::/1", 1)]] {
            let space = Numbers::new::<Ipv6>(&rib(routes), |_| "x").space;
            assert_eq!((space.share, space.blocks), (1.0, 1 << 48));
        }
        let numbers = Numbers::new::<Ipv4>(&rib(&[("0.0.0.0/0", 1)]), |_| "x");
        assert_eq!((numbers.space.share, numbers.space.blocks), (1.0, 1 << 32));
        assert!(numbers.default_route);
    }

    #[test]
    fn an_empty_table_has_zeros() {
        let numbers = Numbers::new::<Ipv6>(&rib(&[]), |_| "x");
        assert_eq!((numbers.routes, numbers.next_hops.distinct, numbers.depth), (0, 0, 0));
        assert_eq!((numbers.space.share, numbers.next_hops.entropy_bits), (0.0, 0.0));
    }
}
