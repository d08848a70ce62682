//! Sorted routes as a reference that is independent of the RIB.
//!
//! Every engine is compiled from the RIB, so all of them would share its defects. The sorted routes
//! of the input verify the RIB itself.

use core::fmt::Display;
use std::sync::Arc;

use longmatch::simd::Simd;
use longmatch::{
    Change, CompileError, Corrupt, Engine, Family, Lookup, MemoryPart, MemoryUsage, NextHopId,
    Range, Rib, Route, Structure,
};

/// A table that can be divided into disjoint ranges of addresses.
pub trait RangeSource<F: Family> {
    /// The ranges in the form of [`Rib::ranges`].
    fn ranges(&self) -> impl Iterator<Item = Range<F>>;

    /// Number of routes.
    fn routes(&self) -> usize;
}

impl<F: Family> RangeSource<F> for Rib<F> {
    fn ranges(&self) -> impl Iterator<Item = Range<F>> {
        self.ranges()
    }

    fn routes(&self) -> usize {
        self.len()
    }
}

/// Routes sorted by prefix, with one route for each prefix.
#[derive(Clone, Debug, Default)]
pub struct SortedRoutes<F: Family> {
    routes: Vec<Route<F>>,
}

impl<F: Family> SortedRoutes<F> {
    /// The routes that remain after `changes`, applied in their order. O(n log n).
    pub fn new(changes: impl IntoIterator<Item = Change<F>>) -> Self {
        let changes = changes.into_iter().map(|change| match change {
            Change::Announce(route) => (route.prefix, Some(route.next_hop)),
            Change::Withdraw(prefix) => (prefix, None),
        });
        let mut last: Vec<_> = changes.collect();
        // The sort is stable, so the last change of a prefix comes last.
        last.sort_by_key(|(prefix, _)| *prefix);
        let ends = last.chunk_by(|a, b| a.0 == b.0).filter_map(|same| same.last());
        let route = |(prefix, next_hop): &(_, Option<NextHopId>)| {
            Some(Route { prefix: *prefix, next_hop: (*next_hop)? })
        };
        Self { routes: ends.filter_map(route).collect() }
    }
}

impl<F: Family> RangeSource<F> for SortedRoutes<F> {
    fn ranges(&self) -> impl Iterator<Item = Range<F>> {
        longmatch::Ranges::new(self.routes.iter().copied())
    }

    fn routes(&self) -> usize {
        self.routes.len()
    }
}

/// A RIB as an engine, verified against the sorted routes of its table.
pub struct RibEngine<F: Family> {
    rib: Rib<F>,
    reference: Arc<SortedRoutes<F>>,
}

impl<F: Family> RibEngine<F> {
    /// A copy of `rib` with the routes to compare it with. O(routes).
    pub fn new(rib: &Rib<F>, reference: Arc<SortedRoutes<F>>) -> Self {
        Self { rib: rib.clone(), reference }
    }
}

impl<F: Family> Lookup<F> for RibEngine<F> {
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        self.rib.lookup(F::addr(addr))
    }

    fn lookup_batch_with(&self, _: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.rib.lookup_batch(addrs, out);
    }

    fn memory_usage(&self) -> MemoryUsage {
        let (count, bytes) = (self.rib.len(), self.rib.memory_bytes());
        MemoryUsage::from([MemoryPart { name: "routes", count, bytes }])
    }
}

impl<F: Family> Structure<F> for RibEngine<F> {
    const NAME: &'static str = "rib";
    const BATCHES: bool = true;
}

impl<F: Family> Engine<F> for RibEngine<F> {
    type Config = ();

    fn compile(rib: &Rib<F>, (): &()) -> Result<Self, CompileError> {
        let reference = SortedRoutes { routes: rib.iter().collect() };
        Ok(Self::new(rib, Arc::new(reference)))
    }

    /// Compares the routes, the ranges, and the longest matches at the ends of ranges.
    ///
    /// Each longest match is looked up alone and in a batch.
    fn check(&self, _: &Rib<F>) -> Result<(), Corrupt> {
        let ensure = |is_right: bool, problem: &dyn Display| match is_right {
            true => Ok(()),
            false => Err(Corrupt::new(Self::NAME, problem.to_string())),
        };
        let (rib, reference) = (&self.rib, &*self.reference);
        let routes = reference.routes.iter().copied();
        let equal = rib.len() == routes.len() && rib.iter().eq(routes.clone());
        ensure(equal, &"its routes differ from the loaded routes")?;
        let equal = rib.iter().rev().eq(routes.clone().rev());
        ensure(equal, &"its routes in reverse order differ from the loaded routes")?;
        for Route { prefix, next_hop } in routes {
            let problem = format_args!("{prefix} is missing or has another next hop");
            ensure(rib.get(prefix) == Some(next_hop), &problem)?;
        }
        let equal = rib.ranges().eq(reference.ranges());
        ensure(equal, &"its ranges differ from those of the loaded routes")?;
        let ends = reference.ranges().flat_map(|it| [(it.first, it.route), (it.last, it.route)]);
        let (addrs, expected): (Vec<_>, Vec<_>) = ends.unzip();
        let mut found = vec![None; addrs.len()];
        rib.get_lpm_batch(&addrs, &mut found);
        for ((addr, expected), found) in addrs.into_iter().zip(expected).zip(found) {
            let addr = F::addr(addr);
            let single = format_args!("{addr} has a wrong longest match");
            ensure(rib.get_lpm(addr) == expected, &single)?;
            ensure(found == expected, &format_args!("{single} in a batch"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{table4, table6};
    use crate::verifier::Verifier;
    use longmatch::{Ipv4, Prefix};

    fn route(prefix: &str, next_hop: u32) -> Route<Ipv4> {
        Route { prefix: prefix.parse().unwrap(), next_hop: NextHopId::new(next_hop).unwrap() }
    }

    #[test]
    fn the_last_change_of_a_prefix_wins() {
        let withdrawn: Prefix<Ipv4> = "10.0.0.0/9".parse().unwrap();
        let sorted = SortedRoutes::new([
            Change::Announce(route("10.1.0.0/16", 1)),
            Change::Announce(route("10.0.0.0/9", 2)),
            Change::Announce(route("10.0.0.0/8", 3)),
            Change::Withdraw(withdrawn),
            Change::Announce(route("10.1.0.0/16", 4)),
        ]);
        assert_eq!(sorted.routes, [route("10.0.0.0/8", 3), route("10.1.0.0/16", 4)]);
    }

    #[test]
    fn a_rib_is_verified_at_one_level() {
        let rib = table6();
        let reference = Arc::new(SortedRoutes { routes: rib.iter().collect() });
        let levels: Vec<_> = Simd::available().collect();
        let verifier = Verifier::new(&rib, &*reference, &[], &levels);
        let verdict = verifier.verify_rib(reference, &|_| ()).unwrap();
        assert!(verdict.is_right(), "{verdict:?}");
        assert_eq!(verdict.results.len(), 2, "one result for each kernel");
    }

    #[test]
    fn a_rib_agrees_only_with_its_own_routes() {
        let engine = RibEngine::compile(&table6(), &()).unwrap();
        assert_eq!(engine.check(&table6()), Ok(()));
        let mut other = table4();
        let all = SortedRoutes { routes: other.iter().collect() };
        other.remove("10.1.0.0/16".parse().unwrap());
        let engine = RibEngine::new(&other, Arc::new(all.clone()));
        assert!(engine.check(&other).is_err());
        // The oracle of the reference finds wrong answers too.
        let verifier = Verifier::new(&other, &all, &[], &[Simd::best()]);
        let verdict = verifier.verify_engine(&engine, &|_| ()).unwrap();
        assert!(verdict.results.iter().all(|result| result.mismatches > 0));
    }
}
