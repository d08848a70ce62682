//! Traffic that only the report has: patterns of single papers, and shares of misses. It is made
//! beforehand and handed on as [`Traffic::File`].

use std::sync::Arc;

use longmatch::{Bits, Rib};

use longmatch_bench::BenchFamily;
use longmatch_bench::Oracle;
use longmatch_bench::Xorshift;
use longmatch_bench::{RoutedSampler, Traffic, repeated};

/// How often DXR's REP test asks for each address.
pub(crate) const DXR_REPEATS: usize = 8;
/// Different addresses without a route, from which misses are drawn.
const MISSES: usize = 1 << 18;
/// Random addresses in a row that all have a route before it counts as certain that all have one.
const HOPELESS: usize = 1 << 16;

fn made<F: BenchFamily>(name: &str, keys: Vec<F::Bits>) -> Traffic {
    Traffic::File(Arc::new(F::destinations(name.into(), keys)))
}

/// Random addresses, each [`DXR_REPEATS`] times in a row: DXR's REP test.
pub(crate) fn dxr_repeated<F: BenchFamily>(count: usize, seed: u64) -> Traffic {
    made::<F>("repeated-8", repeated::<F>(count, DXR_REPEATS, &mut Xorshift::new(seed)))
}

/// The random traffic of the Spider paper (V-A). Of IPv4 it is uniform. Of IPv6 an address has the
/// first 32 bits of a random route, 32 random bits, and `::1`.
pub(crate) fn spider_random<F: BenchFamily>(rib: &Rib<F>, count: usize, seed: u64) -> Traffic {
    if F::WIDTH == 32 {
        return Traffic::Random;
    }
    let random = &mut Xorshift::new(seed);
    let routes: Vec<_> = rib.iter().map(|route| route.prefix.bits()).collect();
    let mut next = || {
        let route = match routes.len() {
            0 => F::random_address(random),
            len => routes[random.below(len)],
        };
        let middle = u128::from(random.next_u32()) << 64 | 1;
        route & F::Bits::mask(32) | F::Bits::from_u128(middle)
    };
    made::<F>("spider-random", (0..count).map(|_| next()).collect())
}

/// Routed addresses, and addresses outside of all routes with the given probability in percent.
/// Those are among 2^18 that are drawn from all that random traffic has. `None` where there are to
/// be some, but random traffic always meets a route.
pub(crate) fn missing<F: BenchFamily>(
    rib: &Rib<F>,
    percent: usize,
    count: usize,
    seed: u64,
) -> Option<Traffic> {
    let random = &mut Xorshift::new(seed);
    let misses = if percent == 0 { Vec::new() } else { outside(rib, count, random)? };
    let routed = RoutedSampler::new(rib);
    let mut next = || match random.below(100) < percent {
        true => misses[random.below(misses.len())],
        false => routed.sample(random),
    };
    Some(made::<F>(&format!("missing-{percent}"), (0..count).map(|_| next()).collect()))
}

/// Random addresses that have no route, at most `count`.
fn outside<F: BenchFamily>(
    rib: &Rib<F>,
    count: usize,
    random: &mut Xorshift,
) -> Option<Vec<F::Bits>> {
    let oracle = Oracle::new(rib);
    let mut one = || {
        let mut tries = (0..HOPELESS).map(|_| F::random_address(random));
        tries.find(|address| oracle.lookup(*address).is_none())
    };
    (0..count.clamp(1, MISSES)).map(|_| one()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv4, Ipv6, NextHopId, Prefix};
    use longmatch_bench::testing::{table4, table6};

    #[test]
    fn repeated_comes_in_eights() {
        let keys = dxr_repeated::<Ipv4>(100, 1).keys(&Rib::<Ipv4>::new(), 100, 1);
        assert_eq!(keys.len(), 100);
        assert!(keys.chunks(8).all(|run| run.iter().all(|key| *key == run[0])));
        assert!(keys.chunks(8).is_sorted_by(|a, b| a[0] != b[0]));
    }

    /// The first 32 bits are those of a route, cut or with zeros behind; the last 64 are 1.
    #[test]
    fn spiders_random_addresses_have_its_parts() {
        let rib = table6();
        let keys = spider_random(&rib, 4000, 1).keys(&rib, 4000, 1);
        let leads = [0, 0x2000_0000, 0x2001_0db8, 0xfe80_0000, 0xffff_ffff];
        assert!(keys.iter().all(|key| leads.contains(&(key >> 96)) && *key as u64 == 1));
        assert!(leads.iter().all(|lead| keys.iter().any(|key| key >> 96 == *lead)));
        let middles = keys.iter().fold(0, |all, key| all | key >> 64 & 0xffff_ffff);
        assert_eq!(middles, 0xffff_ffff);
        // Five of the nine routes begin with 2001:db8.
        let share = keys.iter().filter(|key| **key >> 96 == 0x2001_0db8).count();
        assert!((2000..2444).contains(&share), "{share}");
        assert_eq!(spider_random(&table4(), 10, 1), Traffic::Random);
        let empty = spider_random(&Rib::<Ipv6>::new(), 10, 1).keys(&Rib::<Ipv6>::new(), 10, 1);
        assert!(empty.iter().all(|key| key >> 125 == 1));
    }

    fn assert_shares<F: BenchFamily>(rib: &Rib<F>) {
        for percent in [0, 25, 50, 75, 100] {
            let traffic = missing(rib, percent, 10_000, 3).unwrap();
            assert_eq!(traffic.name(), format!("missing-{percent}"));
            let keys = traffic.keys(rib, 10_000, 0);
            let without = |key: &&F::Bits| rib.get_lpm(F::addr(**key)).is_none();
            let misses = keys.iter().filter(without).count();
            match percent {
                0 | 100 => assert_eq!(misses, percent * 100),
                _ => assert!(misses.abs_diff(percent * 100) < 200, "{misses}"),
            }
        }
    }

    #[test]
    fn misses_are_as_many_as_asked_for() {
        assert_shares(&table4());
        // table6 has 2000::/3, outside of which no random address lies.
        let mut rib = table6();
        rib.remove("2000::/3".parse().unwrap());
        assert_shares(&rib);
    }

    #[test]
    fn where_all_is_routed_there_are_no_misses() {
        let mut rib = table4();
        rib.insert(Prefix::DEFAULT, NextHopId::new(1).unwrap()).unwrap();
        assert_eq!(missing(&rib, 50, 100, 1), None);
        assert!(missing(&rib, 0, 100, 1).is_some());
        assert_eq!(missing(&table6(), 1, 100, 1), None);
    }
}
