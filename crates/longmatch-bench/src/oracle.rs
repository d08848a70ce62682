//! The right answers, from the disjoint ranges of a table.
//!
//! The ranges come from a sweep over sorted routes that shares no code with any engine, nor with
//! the RIB's own matching.

use longmatch::{Bits, Family, NextHopId};

use crate::sorted::RangeSource;

/// The address space as sorted ranges with their answers; neighbours have different ones.
pub struct Oracle<F: Family> {
    /// Where each range begins; the first at the lowest address.
    firsts: Vec<F::Bits>,
    answers: Vec<Option<NextHopId>>,
}

impl<F: Family> Oracle<F> {
    /// The ranges of a table. O(routes).
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

    /// The number of ranges, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.firsts.len()
    }

    /// The right answer for an address: binary search, O(log ranges).
    pub fn lookup(&self, addr: F::Bits) -> Option<NextHopId> {
        self.answers[self.index(addr)]
    }

    /// The right answers for many addresses.
    pub fn answers(&self, addrs: &[F::Bits]) -> Vec<Option<NextHopId>> {
        addrs.iter().map(|addr| self.lookup(*addr)).collect()
    }

    /// The right answers in order of addresses, from `addr` on.
    pub fn sweep(&self, addr: F::Bits) -> Sweep<'_, F> {
        Sweep { oracle: self, range: self.index(addr), at: Some(addr) }
    }

    /// The range that holds an address.
    fn index(&self, addr: F::Bits) -> usize {
        self.firsts.partition_point(|first| *first <= addr) - 1
    }

    /// The last address of a range.
    fn last(&self, range: usize) -> F::Bits {
        let next = self.firsts.get(range + 1).and_then(|first| first.predecessor());
        next.unwrap_or(F::Bits::MAX)
    }
}

/// The right answers of consecutive addresses, a range at a time; made by [`Oracle::sweep`].
pub struct Sweep<'o, F: Family> {
    oracle: &'o Oracle<F>,
    /// The range of `at`.
    range: usize,
    /// The next address; `None` after the highest.
    at: Option<F::Bits>,
}

impl<F: Family> Sweep<'_, F> {
    /// Fills `out` with the answers of the next addresses, as far as there are any; how many.
    /// Takes time for each range and for the filling, not for each address.
    pub fn fill(&mut self, out: &mut [Option<NextHopId>]) -> usize {
        let mut done = 0;
        while done < out.len()
            && let Some(at) = self.at
        {
            let last = self.oracle.last(self.range);
            // One less than the addresses left in the range, which may be 2^128.
            let beyond = last.to_u128() - at.to_u128();
            let room = out.len() - done;
            let run = if beyond < room as u128 { beyond as usize + 1 } else { room };
            out[done..done + run].fill(self.oracle.answers[self.range]);
            done += run;
            if run as u128 > beyond {
                self.range += 1;
                self.at = last.successor();
            } else {
                self.at = Some(at.wrapping_add(run as u128));
            }
        }
        done
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
    fn agrees_with_brute_force_at_every_edge() {
        fn edges<F: Family>(rib: &Rib<F>) {
            let oracle = Oracle::new(rib);
            for route in rib {
                let (first, last) = (route.prefix.first(), route.prefix.last());
                let around = [first.predecessor(), Some(first), Some(last), last.successor()];
                for addr in around.into_iter().flatten() {
                    assert_eq!(oracle.lookup(addr), brute_force(rib, addr), "{addr:?}");
                }
            }
        }
        edges(&table4());
        edges(&table6());
    }

    #[test]
    fn an_empty_table_has_one_range_without_answer() {
        let oracle = Oracle::new(&Rib::<Ipv6>::new());
        assert_eq!((oracle.len(), oracle.lookup(u128::MAX)), (1, None));
        let mut out = [NextHopId::new(1); 3];
        assert_eq!(oracle.sweep(0).fill(&mut out), 3);
        assert_eq!(out, [None; 3]);
    }

    #[test]
    fn sweeps_equal_single_answers() {
        let rib = table4();
        let oracle = Oracle::<Ipv4>::new(&rib);
        let mut random = Xorshift::new(4);
        for start in [0, 0x0a00_0000 - 3, 0xc000_0200 - 70, 0xffff_ff00 - 1] {
            let mut sweep = oracle.sweep(start);
            let mut at = start;
            for _ in 0..50 {
                let mut out = vec![NextHopId::new(99); 1 + random.below(300)];
                let n = sweep.fill(&mut out);
                for answer in &out[..n] {
                    assert_eq!(*answer, brute_force(&rib, at), "{at:x}");
                    at = at.wrapping_add(1);
                }
                assert!(n == out.len() || at == 0, "stops at the highest address only");
            }
        }
    }

    #[test]
    fn sweeps_end_with_the_address_space() {
        let oracle = Oracle::<Ipv6>::new(&table6());
        let mut out = [None; 10];
        let mut sweep = oracle.sweep(u128::MAX - 3);
        assert_eq!(sweep.fill(&mut out), 4);
        assert_eq!(sweep.fill(&mut out), 0);
    }
}
