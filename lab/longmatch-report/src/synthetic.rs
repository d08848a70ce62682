//! Traffic with a share of misses, generated in advance as [`Traffic::File`].

use std::sync::Arc;

use longmatch::Rib;

use longmatch_bench::{BenchFamily, Oracle, RoutedSampler, Traffic, Xorshift};

/// Maximum number of addresses without a route from which misses are drawn.
const MISSES: usize = 1 << 18;
/// Number of successive random addresses with a route after which the search for a miss is given up.
const HOPELESS: usize = 1 << 16;

/// Generates routed addresses and, with a probability in percent, addresses without a route.
///
/// The misses are drawn from up to 2^18 random addresses. `None` if misses are requested but every random address has a
/// route.
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
    let keys = (0..count).map(|_| next()).collect();
    Some(Traffic::File(Arc::new(F::destinations(format!("missing-{percent}"), keys))))
}

/// Draws random addresses without a route, at most `count`; `None` if there are none.
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
    use longmatch::{NextHopId, Prefix};
    use longmatch_bench::testing::{table4, table6};

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
    fn misses_have_the_requested_share() {
        assert_shares(&table4());
        // table6 has 2000::/3, which contains every random address.
        let mut rib = table6();
        rib.remove("2000::/3".parse().unwrap());
        assert_shares(&rib);
    }

    #[test]
    fn fully_routed_tables_have_no_misses() {
        let mut rib = table4();
        rib.insert(Prefix::DEFAULT, NextHopId::new(1).unwrap()).unwrap();
        assert_eq!(missing(&rib, 50, 100, 1), None);
        assert!(missing(&rib, 0, 100, 1).is_some());
        assert_eq!(missing(&table6(), 1, 100, 1), None);
    }
}
