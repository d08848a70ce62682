//! Synthetic tables of the Poptrie paper (section 4.1).
//!
//! Each is a real table with its shorter prefixes split, to model larger tables of the future.

use std::collections::BTreeMap;

use longmatch::{Ipv4, NextHopId, Prefix, Rib, Route};

/// Pairs of a maximum prefix length and the bits by which such prefixes are split.
///
/// The first pair that fits a prefix applies.
type Rule = &'static [(u8, u8)];

// The lengths are those of the authors' slides, because the paper leaves the boundaries open. They
// reproduce its Table 1: for tables of that time SYN1 has 1.44 and SYN2 1.67 times the routes.
const SYN1: Rule = &[(15, 2), (23, 1)];
const SYN2: Rule = &[(15, 3), (19, 2), (23, 1)];

/// SYN1: splits prefixes up to /15 into 4 parts and longer ones up to /23 into 2.
///
/// The paper gives part `i` of a route with next hop `n` the next hop `n + i`, and states that the
/// original table does not have it. Here part 0 keeps `n`, and each pair of `n` and `i > 0` has an
/// id of its own, numbered from the table's greatest id upwards in the order of the routes.
///
/// Parts of two routes can be the same prefix: the third part of a /15 is the first part of the
/// second /16 inside it. Then the part of the longer original prefix remains, so that each address
/// still matches a part of its original route.
///
/// SYN1 and SYN2 do not exist for IPv6: the lengths are those of IPv4 tables. O(routes).
///
/// ```
/// use longmatch::{Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("198.51.100.0/23".parse()?, NextHopId::new(7).unwrap())?;
/// let split = longmatch_bench::syn1(&rib);
/// let parts: Vec<_> = split.iter().map(|r| (r.prefix.to_string(), r.next_hop.get())).collect();
/// assert_eq!(parts, [("198.51.100.0/24".into(), 7), ("198.51.101.0/24".into(), 8)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If no id is left above the table's greatest.
pub fn syn1(rib: &Rib<Ipv4>) -> Rib<Ipv4> {
    split(rib, SYN1)
}

/// SYN2: splits prefixes up to /15 into 8 parts, up to /19 into 4, up to /23 into 2.
///
/// Ids and equal parts are as in [`syn1`].
///
/// # Panics
/// If no id is left above the table's greatest.
pub fn syn2(rib: &Rib<Ipv4>) -> Rib<Ipv4> {
    split(rib, SYN2)
}

fn split(rib: &Rib<Ipv4>, rule: Rule) -> Rib<Ipv4> {
    let mut next_hops = PartIds { ids: BTreeMap::new(), greatest: rib.max_next_hop() };
    let mut out = Rib::new();
    // A covering route precedes the routes that it covers, so their parts replace its parts.
    for Route { prefix, next_hop } in rib {
        let fits = rule.iter().find(|(longest, _)| prefix.len() <= *longest);
        let bits = fits.map_or(0, |(_, bits)| *bits);
        let len = prefix.len() + bits;
        out.extend((0..1u32 << bits).map(|i| Route {
            prefix: Prefix::from_bits_masked(
                prefix.bits() | i << (u32::BITS - u32::from(len)),
                len,
            ),
            next_hop: next_hops.id(next_hop, i),
        }));
    }
    out
}

/// Next-hop ids of the parts, by original id and part number.
struct PartIds {
    ids: BTreeMap<(NextHopId, u32), NextHopId>,
    greatest: u32,
}

impl PartIds {
    fn id(&mut self, next_hop: NextHopId, i: u32) -> NextHopId {
        if i == 0 {
            return next_hop;
        }
        *self.ids.entry((next_hop, i)).or_insert_with(|| {
            self.greatest = self.greatest.checked_add(1).expect("a next-hop id is left");
            NextHopId::new(self.greatest).expect("a sum with 1 is not 0")
        })
    }
}

#[cfg(test)]
mod tests {
    use longmatch::Bits;

    use super::*;

    /// The routes of a list such as `10.0.0.0/15 1, 13.0.0.0/21 9`.
    fn rib4(list: &str) -> Rib<Ipv4> {
        let route = |text: &str| {
            let (prefix, id) = text.split_once(' ').unwrap();
            let next_hop = NextHopId::new(id.parse().unwrap()).unwrap();
            Route { prefix: prefix.parse().unwrap(), next_hop }
        };
        list.split(", ").map(route).collect()
    }

    fn listed(rib: &Rib<Ipv4>) -> String {
        let routes = rib.iter().map(|route| format!("{} {}", route.prefix, route.next_hop));
        routes.collect::<Vec<_>>().join(", ")
    }

    /// A route of every length, its number of parts counted by hand.
    #[test]
    fn lengths_decide_the_parts() {
        let of = |len: u8| rib4(&format!("0.0.0.0/{len} 1"));
        for len in 0..=32 {
            let parts = match len {
                0..=15 => (4, 8),
                16..=19 => (2, 4),
                20..=23 => (2, 2),
                _ => (1, 1),
            };
            assert_eq!((syn1(&of(len)).len(), syn2(&of(len)).len()), parts, "/{len}");
        }
        assert_eq!(
            listed(&syn1(&rib4("10.0.0.0/15 1, 13.0.0.0/21 9"))),
            "10.0.0.0/17 1, 10.0.128.0/17 10, 10.1.0.0/17 11, 10.1.128.0/17 12, \
             13.0.0.0/22 9, 13.0.4.0/22 13"
        );
        assert!(listed(&syn2(&of(0))).ends_with(", 224.0.0.0/3 8"));
        assert!(syn2(&Rib::new()).is_empty());
    }

    /// A pair of next hop and part has one id, wherever it occurs.
    #[test]
    fn ids_are_shared_by_equal_parts() {
        let rib = rib4("10.0.0.0/23 2, 10.0.2.0/23 2, 10.0.4.0/23 1");
        let hops: Vec<u32> = syn1(&rib).iter().map(|r| r.next_hop.get()).collect();
        assert_eq!(hops, [2, 3, 2, 3, 1, 4]);
    }

    #[test]
    fn parts_of_the_longer_prefix_stay() {
        let split = listed(&syn1(&rib4("10.0.0.0/15 1, 10.1.0.0/16 2")));
        assert_eq!(split, "10.0.0.0/17 1, 10.0.128.0/17 3, 10.1.0.0/17 2, 10.1.128.0/17 6");
        // A longer original prefix that is not split stays itself.
        let split = listed(&syn2(&rib4("10.0.0.0/23 1, 10.0.1.0/24 2")));
        assert_eq!(split, "10.0.0.0/24 1, 10.0.1.0/24 2");
    }

    /// Each address matches a part of its original route, which has the right id.
    #[test]
    fn every_address_keeps_its_route() {
        let mut state = 1u32;
        let rib: Rib<Ipv4> = (0..3000u32)
            .map(|i| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Few high bits, so that prefixes nest often.
                let prefix = Prefix::from_bits_masked(state & 0x03ff_ffff, 6 + (i % 27) as u8);
                Route { prefix, next_hop: NextHopId::new(1 + i % 50).unwrap() }
            })
            .collect();
        for (split, rule) in [(syn1(&rib), SYN1), (syn2(&rib), SYN2)] {
            assert!(split.len() > rib.len());
            let mut ids = BTreeMap::new();
            for range in split.ranges() {
                let before = rib.get_lpm(range.first.into());
                assert_eq!(rib.get_lpm(range.last.into()), before);
                let (Some(before), Some(now)) = (before, range.route) else {
                    assert_eq!(before.map(|r| r.prefix), range.route.map(|r| r.prefix));
                    continue;
                };
                assert!(before.prefix.covers(now.prefix));
                let bits = now.prefix.len() - before.prefix.len();
                let fits = rule.iter().find(|(longest, _)| before.prefix.len() <= *longest);
                assert_eq!(fits.map_or(0, |(_, bits)| *bits), bits);
                let i = now.prefix.bits().extract(before.prefix.len() - u8::from(bits == 0), bits);
                let id = *ids.entry((before.next_hop, i)).or_insert(now.next_hop);
                assert_eq!(id, now.next_hop, "one id a pair");
                assert_eq!(i == 0, id.get() <= rib.max_next_hop(), "new ids are new");
            }
            let distinct: std::collections::BTreeSet<_> = ids.values().collect();
            assert_eq!(distinct.len(), ids.len(), "one pair an id");
        }
    }
}
