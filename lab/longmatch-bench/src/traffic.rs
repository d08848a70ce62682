//! Traffic: the addresses to look up.
//!
//! The patterns are those of the Poptrie paper (section 4.2), addresses drawn from the table, and
//! destinations of a file.

use std::sync::Arc;

use longmatch::{Bits, Prefix, Rib};

use crate::destinations::Destinations;
use crate::family::TrafficFamily;
use crate::generator::{KeyGenerator, KeyRule};
use crate::random::Xorshift;
use crate::zipf::Zipf;

/// Length of the runs of equal addresses in repeated traffic.
pub const REPEATS: usize = 16;
/// Keys of the window in the REP test of the DXR page.
pub const DXR_REPEATS: usize = 8;
/// Number of destinations of zipf traffic.
pub const ZIPF_DESTINATIONS: usize = 500_000;

/// A pattern of destination addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Traffic {
    /// Uniformly random addresses of IPv4 or of 2000::/3.
    ///
    /// Most of these IPv6 addresses have no route.
    Random,
    /// Ascending addresses over the whole space: see [`TrafficFamily::sequential`].
    Sequential,
    /// Random addresses, each [`REPEATS`] times in a row.
    Repeated,
    /// Random addresses of random routes, every route with the same probability.
    Routed,
    /// [`ZIPF_DESTINATIONS`] routed addresses, drawn with Zipf's distribution (s = 1).
    Zipf,
    /// A window of [`DXR_REPEATS`] random addresses that slides by one: the REP test of the DXR page.
    ///
    /// Each address comes as many times, among as many others.
    DxrRepeated,
    /// Random addresses of 2000::/8, as in the Poptrie paper (4.10). It has no IPv4 address.
    RandomIn8,
    /// The random addresses of the Spider paper (V-A), of a linear congruential generator.
    ///
    /// Those of IPv4 are uniform; those of IPv6 have the first 32 bits of a random route, 32 random
    /// bits, and `::1`.
    SpiderRandom,
    /// Given destinations in their order, repeated from the start.
    File(Arc<Destinations>),
}

impl Traffic {
    /// Name in the command line and in reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Random => "random",
            Self::Sequential => "sequential",
            Self::Repeated => "repeated",
            Self::Routed => "routed",
            Self::Zipf => "zipf",
            Self::DxrRepeated => "repeated-8",
            Self::RandomIn8 => "random-in-8",
            Self::SpiderRandom => "spider-random",
            Self::File(destinations) => &destinations.name,
        }
    }

    /// Generates `count` keys for a table. The seed determines them.
    ///
    /// [`Traffic::File`] gives all of its destinations if it has more, and no key if it has none of
    /// this family. Traffic drawn from an empty table is random. O(routes + count).
    ///
    /// ```
    /// use longmatch::{Ipv4, Rib};
    /// use longmatch_bench::Traffic;
    /// let keys = Traffic::Repeated.keys(&Rib::<Ipv4>::new(), 32, 1);
    /// assert!(keys.len() == 32 && keys[0] == keys[15]);
    /// ```
    pub fn keys<F: TrafficFamily>(&self, rib: &Rib<F>, count: usize, seed: u64) -> Vec<F::Bits> {
        let leads = self.leads(rib);
        if let Some(rule) = self.rule::<F>(&leads) {
            return KeyGenerator::new(rule, seed, count).all::<F>();
        }
        let random = &mut Xorshift::new(seed);
        match self {
            Self::Routed => RoutedSampler::new(rib).take(count, random),
            Self::Zipf => zipf(rib, count, random),
            Self::DxrRepeated => {
                let windows = count.div_ceil(DXR_REPEATS);
                let keys: Vec<_> =
                    (0..windows + DXR_REPEATS).map(|_| F::random_address(random)).collect();
                keys.windows(DXR_REPEATS).flatten().take(count).copied().collect()
            }
            Self::File(destinations) => cycled(F::keys_of(destinations), count),
            _ => Vec::new(),
        }
    }

    /// The rule by which a timed loop can compute the keys; `None` if they need an array.
    ///
    /// `leads` are those of [`Traffic::leads`].
    pub(crate) fn rule<'k, F: TrafficFamily>(&self, leads: &'k [u32]) -> Option<KeyRule<'k>> {
        Some(match self {
            Self::Random => KeyRule::Random,
            Self::Sequential => KeyRule::Sequential,
            Self::Repeated => KeyRule::Repeated(REPEATS),
            Self::RandomIn8 if F::WIDTH == 128 => KeyRule::RandomIn8,
            Self::SpiderRandom => KeyRule::Spider(leads),
            _ => return None,
        })
    }

    /// The first 32 bits of each IPv6 route, if this traffic draws from them. O(routes).
    pub(crate) fn leads<F: TrafficFamily>(&self, rib: &Rib<F>) -> Vec<u32> {
        if *self != Self::SpiderRandom || F::WIDTH != 128 {
            return Vec::new();
        }
        rib.iter().map(|route| (route.prefix.bits().to_u128() >> 96) as u32).collect()
    }
}

/// A sampler of addresses that have a route.
pub struct RoutedSampler<F: TrafficFamily> {
    prefixes: Vec<Prefix<F>>,
}

impl<F: TrafficFamily> RoutedSampler<F> {
    /// A sampler of the routes of a table. O(routes).
    pub fn new(rib: &Rib<F>) -> Self {
        Self { prefixes: rib.iter().map(|route| route.prefix).collect() }
    }

    /// Draws a random address of a random route. O(1).
    ///
    /// If the table is empty, draws a random address.
    pub fn sample(&self, random: &mut Xorshift) -> F::Bits {
        if self.prefixes.is_empty() {
            return F::random_address(random);
        }
        let prefix = self.prefixes[random.below(self.prefixes.len())];
        prefix.bits() | F::random_bits(random) & !F::Bits::mask(prefix.len())
    }

    fn take(&self, count: usize, random: &mut Xorshift) -> Vec<F::Bits> {
        (0..count).map(|_| self.sample(random)).collect()
    }
}

fn zipf<F: TrafficFamily>(rib: &Rib<F>, count: usize, random: &mut Xorshift) -> Vec<F::Bits> {
    let destinations = RoutedSampler::new(rib).take(ZIPF_DESTINATIONS, random);
    let ranks = Zipf::new(destinations.len());
    (0..count).map(|_| destinations[ranks.rank(random)]).collect()
}

fn cycled<T: Copy>(list: &[T], count: usize) -> Vec<T> {
    // An empty list has no cycle.
    list.iter().copied().cycle().take(count.max(list.len())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{table4, table6};
    use longmatch::{Family, Ipv4, Ipv6};
    use std::collections::HashMap;

    #[test]
    fn seeds_determine_the_keys() {
        let rib = table4();
        use Traffic::{Random, Repeated, Routed, Sequential, Zipf};
        for traffic in [Random, Sequential, Repeated, Routed, Zipf] {
            let keys = |seed| traffic.keys(&rib, 1000, seed);
            assert_eq!(keys(1).len(), 1000);
            assert_eq!(keys(1), keys(1), "{traffic}");
            assert_eq!(keys(1) != keys(2), traffic != Traffic::Sequential, "{traffic}");
        }
    }

    /// Every key has a route, and every route has a key of routed traffic.
    fn assert_routed<F: TrafficFamily>(rib: &Rib<F>) {
        let [routed, zipf] = [Traffic::Routed, Traffic::Zipf].map(|it| it.keys(rib, 5000, 3));
        for key in zipf.iter().chain(&routed) {
            assert!(rib.get_lpm(F::addr(*key)).is_some(), "{}", F::addr(*key));
        }
        for route in rib {
            assert!(routed.iter().any(|key| route.prefix.contains_bits(*key)), "{route:?}");
        }
    }

    #[test]
    fn routed_keys_have_a_route() {
        assert_routed(&table4());
        assert_routed(&table6());
    }

    #[test]
    fn an_empty_table_gets_random_traffic() {
        let keys = Traffic::Routed.keys(&Rib::<Ipv6>::new(), 10, 1);
        assert!(keys.iter().all(|key| key >> 125 == 1));
    }

    #[test]
    fn repeated_traffic_comes_in_runs() {
        let keys = Traffic::Repeated.keys(&Rib::<Ipv4>::new(), REPEATS * 100 + 5, 1);
        assert_eq!(keys.len(), REPEATS * 100 + 5);
        assert!(keys.chunks(REPEATS).all(|run| run.iter().all(|key| *key == run[0])));
        assert!(keys.chunks(REPEATS).is_sorted_by(|a, b| a[0] != b[0]));
    }

    #[test]
    fn the_papers_traffic_has_its_parts() {
        let keys = Traffic::DxrRepeated.keys(&Rib::<Ipv4>::new(), 100, 1);
        let windows: Vec<_> = keys.chunks(8).collect();
        assert!(windows.len() == 13 && windows[12].len() == 4);
        assert!(
            windows
                .windows(2)
                .all(|pair| pair[0][1..].starts_with(&pair[1][..pair[1].len().min(7)]))
        );
        assert!((1..8).all(|i| keys[i] != keys[0]));
        assert!(Traffic::RandomIn8.keys(&table4(), 100, 1).is_empty());
        assert!(Traffic::RandomIn8.keys(&table6(), 100, 1).iter().all(|key| key >> 120 == 0x20));
        let rib = table6();
        let keys = Traffic::SpiderRandom.keys(&rib, 4000, 1);
        let leads = [0, 0x2000_0000, 0x2001_0db8, 0xfe80_0000, 0xffff_ffff];
        assert!(keys.iter().all(|key| leads.contains(&(key >> 96)) && *key as u64 == 1));
        assert!(leads.iter().all(|lead| keys.iter().any(|key| key >> 96 == *lead)));
        // Five of the nine routes begin with 2001:db8.
        let share = keys.iter().filter(|key| **key >> 96 == 0x2001_0db8).count();
        assert!((2000..2444).contains(&share), "{share}");
    }

    #[test]
    fn zipf_traffic_has_the_shares_of_the_distribution() {
        let count = 200_000;
        // With the default route alone, hardly any destination is drawn twice.
        let mut rib = Rib::<Ipv4>::new();
        rib.insert(Prefix::DEFAULT, longmatch::NextHopId::new(1).unwrap()).unwrap();
        let mut counts = HashMap::new();
        for key in Traffic::Zipf.keys(&rib, count, 1) {
            *counts.entry(key).or_insert(0usize) += 1;
        }
        let mut counts: Vec<_> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        // With s = 1 the first of n has the share 1 / (ln n + 0.577), the second half of that.
        let first = count as f64 / ((ZIPF_DESTINATIONS as f64).ln() + 0.577);
        assert!((counts[0] as f64 / first - 1.0).abs() < 0.05, "{} of {first}", counts[0]);
        assert!((counts[1] as f64 / first - 0.5).abs() < 0.05, "{} of {first}", counts[1]);
    }

    #[test]
    fn destinations_are_separated_by_family_and_repeated() {
        let text = ["192.0.2.1", "2001:db8::1", "192.0.2.2"];
        let list = Destinations::new("list", text.map(|text| text.parse().unwrap()));
        let traffic = Traffic::File(Arc::new(list));
        assert_eq!(traffic.name(), "list");
        let keys = traffic.keys(&Rib::<Ipv4>::new(), 5, 0);
        assert_eq!(keys, [1, 2, 1, 2, 1].map(|host| 0xc000_0200 | host));
        assert_eq!(
            traffic.keys(&Rib::<Ipv4>::new(), 1, 0).len(),
            2,
            "all destinations are included"
        );
        let keys = traffic.keys(&Rib::<Ipv6>::new(), 2, 0);
        assert_eq!(keys, [Ipv6::bits("2001:db8::1".parse().unwrap()); 2]);
        let empty = Traffic::File(Arc::default());
        assert!(empty.keys(&Rib::<Ipv4>::new(), 5, 0).is_empty());
    }
}
