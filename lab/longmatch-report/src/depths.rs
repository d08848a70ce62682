//! Binary radix depth of addresses (Poptrie paper, section 4.1).
//!
//! The depth of an address is that of the last node that a lookup in a binary radix tree visits: the greatest `d` such
//! that the block of its first `d` bits contains a route of at least `d` bits, or 0. The depth is never less than the
//! length of the matching route, and often greater.

use longmatch::{Bits, Family, Ipv4, Prefix, Rib};

/// A block of addresses with the same depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Block<F: Family> {
    /// The block.
    pub prefix: Prefix<F>,
    /// The depth: the length of the block, or one less if the tree has no node for it.
    pub depth: u8,
    /// The length of the route that matches all addresses of the block, if any.
    pub matched: Option<u8>,
}

/// Calls `visit` with blocks that partition the address space, in order.
///
/// O(routes · width) in the worst case; real tables have about twice as many blocks as routes.
pub(crate) fn blocks<F: Family>(rib: &Rib<F>, visit: &mut dyn FnMut(Block<F>)) {
    let prefixes: Vec<_> = rib.iter().map(|route| route.prefix).collect();
    below(Prefix::DEFAULT, None, &prefixes, visit);
}

/// Visits the blocks within `prefix`; `routes` are the routes in it that are not shorter, in order.
fn below<F: Family>(
    prefix: Prefix<F>,
    mut matched: Option<u8>,
    mut routes: &[Prefix<F>],
    visit: &mut dyn FnMut(Block<F>),
) {
    let mut depth = prefix.len().saturating_sub(1);
    if let Some((first, rest)) = routes.split_first()
        && *first == prefix
    {
        (matched, routes, depth) = (Some(prefix.len()), rest, prefix.len());
    }
    if routes.is_empty() {
        return visit(Block { prefix, depth, matched });
    }
    let len = prefix.len() + 1;
    let upper_bit = F::Bits::mask(len) ^ F::Bits::mask(prefix.len());
    let upper = Prefix::from_bits_masked(prefix.bits() | upper_bit, len);
    let lower = Prefix::from_bits_masked(prefix.bits(), len);
    // Each route is longer than the block, so it lies in one of the halves.
    let (low, high) = routes.split_at(routes.partition_point(|it| it.bits() < upper.bits()));
    below(lower, matched, low, visit);
    below(upper, matched, high, visit);
}

/// An index of the depths of all IPv4 addresses.
pub(crate) struct Depths {
    /// First addresses of the blocks, in order.
    firsts: Vec<u32>,
    depths: Vec<u8>,
    /// The block of the first address of each /16, then the last block.
    index: Vec<u32>,
}

/// Number of leading bits that select an entry of the index.
const INDEX_BITS: u32 = 16;

impl Depths {
    /// Builds the index of a table. O(routes).
    pub fn new(rib: &Rib<Ipv4>) -> Self {
        let (mut firsts, mut depths) = (Vec::new(), Vec::new());
        blocks(rib, &mut |block| {
            firsts.push(block.prefix.bits());
            depths.push(block.depth);
        });
        let begins = (0..1u32 << INDEX_BITS).map(|high| high << (32 - INDEX_BITS));
        let block = |first| firsts.partition_point(|it| *it <= first) as u32 - 1;
        let index = begins.map(block).chain([firsts.len() as u32 - 1]).collect();
        Self { firsts, depths, index }
    }

    /// Returns the depth of an address. O(log(blocks in its /16)).
    pub fn of(&self, addr: u32) -> u8 {
        let high = (addr >> (32 - INDEX_BITS)) as usize;
        let (from, to) = (self.index[high] as usize, self.index[high + 1] as usize);
        let inside = self.firsts[from..=to].partition_point(|first| *first <= addr);
        self.depths[from + inside - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv6, NextHopId};
    use longmatch_bench::Xorshift;
    use longmatch_bench::testing::{table4, table6};

    /// Computes the depth by its definition.
    fn depth<F: Family>(rib: &Rib<F>, addr: F::Bits) -> u8 {
        let has_node = |len: &u8| {
            let block = Prefix::<F>::from_bits_masked(addr, *len);
            rib.iter().any(|route| block.covers(route.prefix))
        };
        (0..=F::WIDTH).rev().find(has_node).unwrap_or(0)
    }

    fn by_definition<F: Family>(rib: &Rib<F>) {
        let mut next = Some(F::Bits::default());
        blocks(rib, &mut |block| {
            assert_eq!(Some(block.prefix.bits()), next, "no gap, no overlap");
            for addr in [block.prefix.first(), block.prefix.last()] {
                assert_eq!(block.depth, depth(rib, addr), "{:?}", block.prefix);
                let matched = rib.get_lpm(F::addr(addr)).map(|route| route.prefix.len());
                assert_eq!(block.matched, matched, "{:?}", block.prefix);
            }
            next = block.prefix.last().successor();
        });
        assert_eq!(next, None, "up to the highest address");
    }

    #[test]
    fn blocks_agree_with_the_definition() {
        by_definition(&table4());
        by_definition(&table6());
        by_definition(&Rib::<Ipv6>::new());
    }

    #[test]
    fn depths_agree_with_the_definition() {
        let rib = table4();
        let depths = Depths::new(&rib);
        let mut random = Xorshift::new(6);
        let some = (0..5_000).map(|_| random.next_u32());
        for addr in some.chain(rib.iter().flat_map(|r| [r.prefix.first(), r.prefix.last()])) {
            assert_eq!(depths.of(addr), depth(&rib, addr), "{addr:x}");
        }
        assert_eq!(Depths::new(&Rib::new()).of(u32::MAX), 0);
    }

    /// The example of the authors' slides: 96.0.0.0 leaves the tree at 64.0.0.0/2, above the route 64.0.0.0/3.
    #[test]
    fn the_last_node_counts() {
        let mut rib = Rib::<Ipv4>::new();
        for prefix in ["0.0.0.0/0", "128.0.0.0/1", "0.0.0.0/2", "64.0.0.0/3"] {
            rib.insert(prefix.parse().unwrap(), NextHopId::new(1).unwrap()).unwrap();
        }
        let depths = Depths::new(&rib);
        let of = |first: u32| depths.of(first << 24);
        assert_eq!([of(0), of(64), of(96), of(128)], [2, 3, 2, 1]);
    }
}
