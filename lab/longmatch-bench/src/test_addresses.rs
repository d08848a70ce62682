//! The addresses on which engines are verified, with the right answers.

use core::ops::Range;

use longmatch::{Bits, NextHopId};

use crate::family::TrafficFamily;
use crate::mismatches::{MismatchCounts, UNWRITTEN};
use crate::oracle::Oracle;
use crate::random::Xorshift;
use crate::sorted::RangeSource;
use crate::threads::{ThreadError, together};

/// Coverage of the address space by a verification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coverage {
    /// Every address.
    EveryAddress,
    /// Addresses of every range between two adjacent edges of prefixes.
    ///
    /// These are its first, last and middle address and some random ones.
    EveryRange,
    /// A sample of the ranges, for engines that scan all routes.
    Sampled,
}

impl Coverage {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EveryAddress => "every address",
            Self::EveryRange => "every range",
            Self::Sampled => "sampled",
        }
    }
}

/// Addresses in one call of an engine.
///
/// The number is prime, so that the remainders of kernels begin at different addresses, and small,
/// so that keys and answers fit the first-level cache.
const CHUNK: usize = 2039;

/// Consecutive addresses in a part of a sweep.
const PART: u128 = 1 << 20;
/// Listed addresses in a part: few, so that even a sample occupies every thread.
const LISTED_PART: usize = CHUNK;

/// Maximum number of routes that all scans of one kernel at one level compare.
const SCAN_BUDGET: u128 = 1 << 32;

/// Random addresses of each range, in addition to its ends and its middle.
const RANDOM_INSIDE: usize = 4;

/// Addresses with their right answers, in parts for several threads.
pub(crate) struct TestAddresses<F: TrafficFamily> {
    coverage: Coverage,
    source: Source<F>,
}

enum Source<F: TrafficFamily> {
    /// Every address, in ascending order.
    Sweep(Oracle<F>),
    /// Listed addresses in ascending ranges, with their answers.
    Listed { addrs: Vec<F::Bits>, answers: Vec<Option<NextHopId>> },
}

impl<F: TrafficFamily> TestAddresses<F> {
    /// Every IPv4 address, or addresses of every IPv6 range, for most engines.
    pub fn new(table: &impl RangeSource<F>) -> Self {
        if !F::SWEEPABLE {
            return Self::ranges(table);
        }
        let source = Source::Sweep(Oracle::new(table));
        Self { coverage: Coverage::EveryAddress, source }
    }

    /// The ends, the middle and some random addresses of every range. O(routes).
    pub fn ranges(table: &impl RangeSource<F>) -> Self {
        Self::listed(table, 1, true)
    }

    /// The ends of every range. O(routes).
    pub fn ends(table: &impl RangeSource<F>) -> Self {
        Self::listed(table, 1, false)
    }

    /// The addresses for an engine that scans all routes for each lookup.
    ///
    /// These are the addresses of every range, or of an evenly spaced sample of ranges that limits
    /// the number of compared routes to 2^32.
    pub fn for_scans(table: &impl RangeSource<F>) -> Self {
        let routes = (table.routes() as u128).max(1);
        let ranges = table.ranges().count() as u128;
        let affordable = (SCAN_BUDGET / routes / (3 + RANDOM_INSIDE) as u128).max(1);
        Self::listed(table, ranges.div_ceil(affordable).max(1) as usize, true)
    }

    /// Addresses of each `every`th range: its ends, and with `inside` also some between them.
    fn listed(table: &impl RangeSource<F>, every: usize, inside: bool) -> Self {
        let mut random = Xorshift::new(table.routes() as u64);
        let (mut addrs, mut answers) = (Vec::new(), Vec::new());
        for range in table.ranges().step_by(every) {
            let span = range.last.to_u128() - range.first.to_u128();
            addrs.push(range.first);
            if inside && span > 1 {
                addrs.push(range.first.wrapping_add(span / 2));
                // A range of all addresses has 2^128.
                let below = |bits: u128| span.checked_add(1).map_or(bits, |count| bits % count);
                let between = || range.first.wrapping_add(below(random.next_u128()));
                addrs.extend(core::iter::repeat_with(between).take(RANDOM_INSIDE));
            }
            if span > 0 {
                addrs.push(range.last);
            }
            answers.resize(addrs.len(), range.next_hop());
        }
        let coverage = if every == 1 { Coverage::EveryRange } else { Coverage::Sampled };
        Self { coverage, source: Source::Listed { addrs, answers } }
    }

    /// Coverage of the address space.
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Number of addresses.
    pub fn len(&self) -> u64 {
        match &self.source {
            Source::Sweep(_) => 1 << F::WIDTH,
            Source::Listed { addrs, .. } => addrs.len() as u64,
        }
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        match &self.source {
            Source::Sweep(_) => ((1u128 << F::WIDTH) / PART) as usize,
            Source::Listed { addrs, .. } => addrs.len().div_ceil(LISTED_PART),
        }
    }

    /// Calls `visit` with chunks of the addresses of a part and their right answers.
    ///
    /// Returns the number of addresses.
    pub fn visit<V>(&self, part: usize, mut visit: V) -> u64
    where
        V: FnMut(&[F::Bits], &[Option<NextHopId>]),
    {
        let oracle = match &self.source {
            Source::Sweep(oracle) => oracle,
            Source::Listed { addrs, answers } => {
                let start = part * LISTED_PART;
                let end = addrs.len().min(start + LISTED_PART);
                visit(&addrs[start..end], &answers[start..end]);
                return (end - start) as u64;
            }
        };
        let mut first = F::Bits::from_u128(part as u128 * PART);
        let (mut addrs, mut expected) = ([F::Bits::ZERO; CHUNK], [None; CHUNK]);
        let mut left = PART as usize;
        while left > 0 {
            let n = left.min(CHUNK);
            for (i, addr) in addrs[..n].iter_mut().enumerate() {
                *addr = first.wrapping_add(i as u128);
            }
            oracle.fill(first, &mut expected[..n]);
            visit(&addrs[..n], &expected[..n]);
            first = first.wrapping_add(n as u128);
            left -= n;
        }
        PART as u64
    }

    /// Looks up the addresses of some parts with several threads and compares the answers.
    ///
    /// `lookup` returns the lookup of one thread. `on_part` is called with the number of addresses of
    /// each part, by any thread.
    pub fn compare<L: FnMut(&[F::Bits], &mut [Option<NextHopId>])>(
        &self,
        parts: Range<usize>,
        threads: usize,
        lookup: impl Fn() -> L + Sync,
        on_part: impl Fn(u64) + Sync,
    ) -> Result<MismatchCounts<F>, ThreadError> {
        let work = |i| {
            let (mut lookup, mut counts, mut got) = (lookup(), MismatchCounts::new(), Vec::new());
            // Adjacent parts take about the same time, so they go to different threads.
            for part in parts.clone().skip(i).step_by(threads) {
                on_part(self.visit(part, |addrs, expected| {
                    got.clear();
                    got.resize(addrs.len(), UNWRITTEN);
                    lookup(addrs, &mut got);
                    counts.compare(addrs, expected, &got);
                }));
            }
            counts
        };
        let mut all = MismatchCounts::new();
        together(threads, work)?.into_iter().for_each(|counts| all.add(counts));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{table4, table6};
    use longmatch::{Ipv4, Ipv6, Rib};

    #[test]
    fn a_sweep_visits_every_address_once() {
        let addresses = TestAddresses::<Ipv4>::new(&table4());
        assert_eq!(addresses.coverage(), Coverage::EveryAddress);
        assert_eq!(addresses.len(), addresses.parts() as u64 * PART as u64);
        // The first and the last part represent all others, which would take too long.
        for part in [0, 4095] {
            let mut next = (part as u32) << 20;
            let oracle = Oracle::new(&table4());
            addresses.visit(part, |addrs, answers| {
                assert_eq!(addrs.len(), answers.len());
                let consecutive = addrs.iter().enumerate().all(|(i, a)| *a == next + i as u32);
                assert!(consecutive, "{next:x}");
                assert_eq!(answers[0], oracle.lookup(addrs[0]));
                next = next.wrapping_add(addrs.len() as u32);
            });
            assert_eq!(next, ((part as u32 + 1) % 4096) << 20);
        }
    }

    fn listed<F: TrafficFamily>(addresses: &TestAddresses<F>) -> Vec<(F::Bits, Option<NextHopId>)> {
        let mut all = Vec::new();
        for part in 0..addresses.parts() {
            addresses.visit(part, |addrs, answers| {
                all.extend(addrs.iter().copied().zip(answers.iter().copied()));
            });
        }
        all
    }

    #[test]
    fn ranges_are_visited_at_both_ends_and_inside() {
        let rib = table6();
        let addresses = TestAddresses::<Ipv6>::new(&rib);
        assert_eq!(addresses.coverage(), Coverage::EveryRange);
        let all = listed(&addresses);
        assert_eq!(all.len() as u64, addresses.len());
        let oracle = Oracle::new(&rib);
        assert!(all.iter().all(|(addr, answer)| oracle.lookup(*addr) == *answer));
        for range in rib.ranges() {
            let inside = all.iter().filter(|(a, _)| (range.first..=range.last).contains(a)).count();
            let wanted = if range.first == range.last { 1 } else { 3 + RANDOM_INSIDE };
            assert!(inside == wanted || range.last - range.first == 1 && inside == 2);
            assert!(all.iter().any(|(addr, _)| *addr == range.first));
            assert!(all.iter().any(|(addr, _)| *addr == range.last));
        }
    }

    #[test]
    fn scans_of_large_tables_are_sampled() {
        assert_eq!(TestAddresses::for_scans(&Rib::<Ipv4>::new()).coverage(), Coverage::EveryRange);
        assert_eq!(TestAddresses::for_scans(&table4()).coverage(), Coverage::EveryRange);
        let mut large = table6();
        let hop = NextHopId::new(1).unwrap();
        for i in 0..60_000u128 {
            let bits = 0x2400 << 112 | i << 80;
            large.insert(longmatch::Prefix::from_bits_masked(bits, 64), hop).unwrap();
        }
        let addresses = TestAddresses::for_scans(&large);
        assert_eq!(addresses.coverage(), Coverage::Sampled);
        assert!(
            addresses.len() > 0 && addresses.len() as u128 * large.len() as u128 <= SCAN_BUDGET
        );
    }
}
