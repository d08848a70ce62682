//! The truth from the text of a table alone: its routes, sorted, without a RIB.
//!
//! Every engine is compiled from a RIB, so a defect of the RIB would show in all of them alike. The
//! routes as they were read, sorted, give a second opinion on the RIB itself.

use std::sync::Arc;

use longmatch::simd::Simd;
use longmatch::{
    Change, CompileError, Corrupt, Engine, Family, Lookup, MemoryPart, MemoryUsage, NextHopId,
    Range, Rib, Route, Structure,
};

/// A table whose address space can be cut into ranges.
pub trait RangeSource<F: Family> {
    /// The ranges of [`Rib::ranges`].
    fn ranges(&self) -> impl Iterator<Item = Range<F>>;

    /// The number of routes.
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

/// Routes in order of their prefixes, each prefix once.
#[derive(Clone, Debug, Default)]
pub struct SortedRoutes<F: Family> {
    routes: Vec<Route<F>>,
}

impl<F: Family> SortedRoutes<F> {
    /// The routes that are left after changes in this order. O(changes * log changes).
    pub fn new(changes: impl IntoIterator<Item = Change<F>>) -> Self {
        let changes = changes.into_iter().map(|change| match change {
            Change::Announce(route) => (route.prefix, Some(route.next_hop)),
            Change::Withdraw(prefix) => (prefix, None),
        });
        let mut last: Vec<_> = changes.collect();
        // Stable, so the last of the changes of a prefix is the one that counts.
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

/// A RIB as an engine, to be verified like one against the sorted text of its table.
pub struct RibEngine<F: Family> {
    rib: Rib<F>,
    text: Arc<SortedRoutes<F>>,
}

impl<F: Family> RibEngine<F> {
    /// A copy of the RIB, to be compared with these routes.
    pub fn new(rib: &Rib<F>, text: Arc<SortedRoutes<F>>) -> Self {
        Self { rib: rib.clone(), text }
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
        let text = SortedRoutes { routes: rib.iter().collect() };
        Ok(Self::new(rib, Arc::new(text)))
    }

    /// Compares the routes, the ranges, and the longest match at both ends of each range, one by
    /// one and in batches.
    fn check(&self, _: &Rib<F>) -> Result<(), Corrupt> {
        let broken = |what: String| Err(Corrupt::new(Self::NAME, what));
        let (rib, text) = (&self.rib, &self.text);
        if rib.len() != text.routes.len() || !rib.iter().eq(text.routes.iter().copied()) {
            return broken("its routes are not those of the table's text".to_owned());
        }
        if !rib.iter().rev().eq(text.routes.iter().rev().copied()) {
            return broken("its routes in reverse order are not those of the text".to_owned());
        }
        if let Some(route) = text.routes.iter().find(|it| rib.get(it.prefix) != Some(it.next_hop)) {
            return broken(format!("{} is not found", route.prefix));
        }
        if !rib.ranges().eq(RangeSource::ranges(&**text)) {
            return broken("its ranges are not those of the table's text".to_owned());
        }
        let mut batch = Vec::new();
        for range in RangeSource::ranges(&**text) {
            for addr in [range.first, range.last] {
                if rib.get_lpm(F::addr(addr)) != range.route {
                    return broken(format!("{} has another longest match", F::addr(addr)));
                }
                batch.push((addr, range.route));
            }
        }
        let (addrs, expected): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let mut found = vec![None; addrs.len()];
        rib.get_lpm_batch(&addrs, &mut found);
        match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
            Some(i) => {
                broken(format!("{} has another longest match in a batch", F::addr(addrs[i])))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{table4, table6};
    use crate::verify::Verifier;
    use longmatch::{Ipv4, Prefix};

    fn route(prefix: &str, next_hop: u32) -> Route<Ipv4> {
        Route { prefix: prefix.parse().unwrap(), next_hop: NextHopId::new(next_hop).unwrap() }
    }

    #[test]
    fn the_last_change_of_a_prefix_counts() {
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
    fn a_rib_agrees_with_its_text_at_one_level() {
        let rib = table6();
        let text = Arc::new(SortedRoutes { routes: rib.iter().collect() });
        let verifier = Verifier::with_text(&rib, &*text, []).and_briefly(Simd::available());
        let verdict = verifier.verify_rib(text, &|_| ()).unwrap();
        assert!(verdict.is_right(), "{verdict:?}");
        assert_eq!(verdict.results.len(), 2, "one by one and in batches");
    }

    #[test]
    fn a_rib_agrees_with_its_own_routes_and_with_no_others() {
        let engine = RibEngine::compile(&table6(), &()).unwrap();
        assert_eq!(engine.check(&table6()), Ok(()));
        let mut other = table4();
        let all = SortedRoutes { routes: other.iter().collect() };
        other.remove("10.1.0.0/16".parse().unwrap());
        let engine = RibEngine::new(&other, Arc::new(all.clone()));
        assert!(engine.check(&other).is_err());
        // The answers are wrong too, by the oracle made from the text.
        let verifier = Verifier::with_text(&other, &all, []).and_briefly([Simd::best()]);
        let verdict = verifier.verify_engine(&engine, &|_| ()).unwrap();
        assert!(verdict.results.iter().all(|result| result.mismatches > 0));
    }
}
