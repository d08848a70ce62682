//! The right answers, computed from the disjoint ranges of a table.
//!
//! The ranges come from a sweep over the sorted routes, which shares no code with the engines or
//! with the lookup of the RIB.

use longmatch::{Bits, Family, NextHopId};

use crate::sorted::RangeSource;

/// The right answers for all addresses, as sorted ranges.
///
/// Adjacent ranges have different answers.
pub struct Oracle<F: Family> {
    /// First address of each range; the first range begins at the lowest address.
    firsts: Vec<F::Bits>,
    answers: Vec<Option<NextHopId>>,
}

impl<F: Family> Oracle<F> {
    /// The right answers for a table. O(routes).
    pub fn new(table: &impl RangeSource<F>) -> Self {
        let (mut firsts, mut answers) = (Vec::new(), Vec::new());
        for range in table.ranges() {
            if answers.last() != Some(&range.next_hop()) {
                firsts.push(range.first);
                answers.push(range.next_hop());
            }
        }
        Self { firsts, answers }
    }

    /// The right answer for an address. O(log ranges).
    pub fn lookup(&self, addr: F::Bits) -> Option<NextHopId> {
        self.answers[self.index(addr)]
    }

    /// The right answers for `addrs`, in their order. O(addresses * log ranges).
    pub fn answers(&self, addrs: &[F::Bits]) -> Vec<Option<NextHopId>> {
        addrs.iter().map(|addr| self.lookup(*addr)).collect()
    }

    /// Fills `out` with the answers of consecutive addresses from `first` on; returns their number.
    ///
    /// The number is less than `out.len()` only at the end of the address space.
    /// O(log ranges + ranges of these addresses + out.len()).
    pub fn fill(&self, first: F::Bits, out: &mut [Option<NextHopId>]) -> usize {
        let (mut next, mut done) = (first, 0);
        for range in self.index(first)..self.firsts.len() {
            let last = self.last(range);
            // One less than the number of addresses left in the range, which may be 2^128.
            let after = last.to_u128() - next.to_u128();
            let left = out.len() - done;
            let run = if after < left as u128 { after as usize + 1 } else { left };
            out[done..done + run].fill(self.answers[range]);
            done += run;
            match last.successor() {
                Some(successor) if done < out.len() => next = successor,
                _ => break,
            }
        }
        done
    }

    /// Index of the range of an address.
    fn index(&self, addr: F::Bits) -> usize {
        self.firsts.partition_point(|first| *first <= addr) - 1
    }

    /// The last address of a range.
    fn last(&self, range: usize) -> F::Bits {
        let next = self.firsts.get(range + 1).and_then(|first| first.predecessor());
        next.unwrap_or(F::Bits::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Xorshift;
    use crate::testing::{table4, table6};
    use longmatch::{Ipv4, Ipv6, Rib};

    /// The answer by the definition of longest-prefix match.
    fn brute_force<F: Family>(rib: &Rib<F>, addr: F::Bits) -> Option<NextHopId> {
        let covering = rib.iter().filter(|route| route.prefix.contains_bits(addr));
        covering.max_by_key(|route| route.prefix.len()).map(|route| route.next_hop)
    }

    #[test]
    fn answers_agree_with_brute_force_at_every_edge() {
        fn assert_edges<F: Family>(rib: &Rib<F>) {
            let oracle = Oracle::new(rib);
            for route in rib {
                let (first, last) = (route.prefix.first(), route.prefix.last());
                let around = [first.predecessor(), Some(first), Some(last), last.successor()];
                for addr in around.into_iter().flatten() {
                    assert_eq!(oracle.lookup(addr), brute_force(rib, addr), "{addr:?}");
                }
            }
        }
        assert_edges(&table4());
        assert_edges(&table6());
    }

    #[test]
    fn an_empty_table_has_one_range_which_ends_with_the_address_space() {
        let oracle = Oracle::new(&Rib::<Ipv6>::new());
        assert_eq!((oracle.firsts.len(), oracle.lookup(u128::MAX)), (1, None));
        let mut out = [NextHopId::new(1); 3];
        assert_eq!(oracle.fill(0, &mut out), 3);
        assert_eq!(out, [None; 3]);
        assert_eq!(oracle.fill(u128::MAX - 1, &mut out), 2);
    }

    #[test]
    fn consecutive_answers_equal_single_answers() {
        let rib = table4();
        let oracle = Oracle::<Ipv4>::new(&rib);
        let mut random = Xorshift::new(4);
        for start in [0, 0x0a00_0000 - 3, 0xc000_0200 - 70, 0xffff_ff00 - 1] {
            let mut at = start;
            for _ in 0..50 {
                let mut out = vec![NextHopId::new(99); 1 + random.below(300)];
                let n = oracle.fill(at, &mut out);
                for answer in &out[..n] {
                    assert_eq!(*answer, brute_force(&rib, at), "{at:x}");
                    at = at.wrapping_add(1);
                }
                assert!(n == out.len() || at == 0, "the answers end before the highest address");
            }
        }
    }
}
