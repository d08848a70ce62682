//! Tables derived from a real one: thinned, grown by deaggregation, or with few next hops.

use std::collections::HashMap;

use longmatch::{Bits, NextHopId, Prefix, Rib, Route};

use longmatch_bench::BenchFamily;
use longmatch_bench::Xorshift;

/// Half the minimum number of prefixes drawn at a time.
const DRAWN: usize = 5_000;
/// Growth ends when fewer than one in this many drawn prefixes is new.
const HOPELESS: usize = 100;

/// Returns a uniformly random subset of `count` routes of a table, or all if there are fewer.
///
/// Deterministic for a seed. O(routes).
pub(crate) fn thinned<F: BenchFamily>(rib: &Rib<F>, count: usize, seed: u64) -> Rib<F> {
    let random = &mut Xorshift::new(seed);
    let mut thinned = Rib::new();
    for route in chosen(rib.iter(), rib.len(), count, random) {
        let inserted = thinned.insert(route.prefix, route.next_hop);
        inserted.expect("no more routes than in the table");
    }
    thinned
}

/// Returns a uniformly random subset of `count` of `all` items, in their order.
fn chosen<T>(
    items: impl Iterator<Item = T>,
    all: usize,
    count: usize,
    random: &mut Xorshift,
) -> impl Iterator<Item = T> {
    let mut needed = count.min(all);
    items.enumerate().filter_map(move |(passed, item)| {
        let taken = random.below(all - passed) < needed;
        needed -= usize::from(taken);
        taken.then_some(item)
    })
}

/// Returns the table with next-hop ids numbered from 1 in the order of the routes. O(routes).
///
/// So a part of a table has the ids that it would have if it were loaded by itself.
pub(crate) fn renumbered<F: BenchFamily>(rib: &Rib<F>) -> Rib<F> {
    let mut ids = HashMap::new();
    let mut renumbered = Rib::new();
    for route in rib {
        let next = NextHopId::new(ids.len() as u32 + 1).expect("not zero");
        let id = *ids.entry(route.next_hop).or_insert(next);
        renumbered.insert(route.prefix, id).expect("no more routes than in the table");
    }
    renumbered
}

/// The most next hops of a router's table; a table of origin ASNs has tens of thousands.
pub(crate) const NEIGHBOURS: u32 = 256;

/// Returns the id folded to [`NEIGHBOURS`] ids: higher ones start again at the first.
pub(crate) fn neighbour(id: NextHopId) -> NextHopId {
    NextHopId::new((id.get() - 1) % NEIGHBOURS + 1).expect("above 0")
}

/// Returns the table with at most [`NEIGHBOURS`] next hops. O(routes).
pub(crate) fn with_neighbours<F: BenchFamily>(rib: &Rib<F>) -> Rib<F> {
    rib.iter().map(|route| Route { next_hop: neighbour(route.next_hop), ..route }).collect()
}

/// A table that grows by more specific routes, as networks deaggregate their prefixes.
///
/// Each new route lies below a random route shorter than /24 (IPv6: /48). Its length is drawn from the greater lengths
/// in the table; its other bits are random. It has the next hop of the longest route that covers it as often as the
/// routes of the table do, otherwise the next hop of a random other route.
pub(crate) struct Growth<F: BenchFamily> {
    /// The grown table.
    pub rib: Rib<F>,
    /// Routes below which new routes are drawn.
    parents: Vec<Prefix<F>>,
    /// For each length, the number of routes of the table that are not longer.
    up_to: Vec<usize>,
    next_hops: Vec<NextHopId>,
    /// The share of covered routes that have the next hop of the route above.
    alike: f64,
    random: Xorshift,
}

impl<F: BenchFamily> Growth<F> {
    /// Starts with a table. O(routes).
    pub fn new(rib: &Rib<F>, seed: u64) -> Self {
        let usual = if F::WIDTH == 32 { 24 } else { 48 };
        let mut up_to = vec![0; usize::from(F::WIDTH) + 1];
        rib.iter().for_each(|route| up_to[usize::from(route.prefix.len())] += 1);
        (1..up_to.len()).for_each(|len| up_to[len] += up_to[len - 1]);
        let longest = up_to.iter().position(|count| *count == rib.len()).unwrap_or(0);
        let has_longer = |len: u8| len < usual && usize::from(len) < longest;
        let prefixes = rib.iter().map(|route| route.prefix);
        Self {
            rib: rib.clone(),
            parents: prefixes.filter(|prefix| has_longer(prefix.len())).collect(),
            up_to,
            next_hops: rib.iter().map(|route| route.next_hop).collect(),
            alike: alike(rib),
            random: Xorshift::new(seed),
        }
    }

    /// Grows the table to `count` routes, or to fewer if hardly any drawn prefix is new.
    ///
    /// Deterministic for a seed and the sequence of counts. O((routes + added) x length).
    pub fn to(&mut self, count: usize) -> &Rib<F> {
        let needed = count.saturating_sub(self.rib.len());
        let mut new = Vec::new();
        while new.len() < needed && !self.parents.is_empty() {
            let (found, count) = (new.len(), 2 * (needed - new.len()).max(DRAWN));
            let mut drawn: Vec<_> = (0..count).map(|_| self.prefix()).collect();
            // Sorted lookups in the table have better locality.
            drawn.sort_unstable();
            drawn.retain(|prefix| self.rib.get(*prefix).is_none());
            new.append(&mut drawn);
            // A stable sort merges the two sorted parts.
            new.sort();
            new.dedup();
            if new.len() - found < count / HOPELESS {
                break;
            }
        }
        if !new.is_empty() {
            let found = new.len();
            let new: Vec<_> = chosen(new.into_iter(), found, needed, &mut self.random).collect();
            self.add(new);
        }
        &self.rib
    }

    /// Adds sorted prefixes that the table does not have, up to the capacity of a table.
    fn add(&mut self, new: Vec<Prefix<F>>) {
        let old = core::mem::take(&mut self.rib);
        let mut open = Vec::new();
        let mut new = new.into_iter().peekable();
        let mut old = old.iter().peekable();
        loop {
            let before = |next: &Prefix<F>| old.peek().is_none_or(|old| *next < old.prefix);
            let (prefix, next_hop) = match new.next_if(before) {
                Some(prefix) => (prefix, self.next_hop(above(&mut open, prefix))),
                None => match old.next() {
                    Some(route) => (route.prefix, route.next_hop),
                    None => return,
                },
            };
            if self.rib.insert(prefix, next_hop).is_err() {
                return;
            }
            above(&mut open, prefix);
            open.push((prefix, next_hop));
        }
    }

    /// Draws a prefix below a random parent.
    fn prefix(&mut self) -> Prefix<F> {
        let parent = self.parents[self.random.below(self.parents.len())];
        let (shorter, all) =
            (self.up_to[usize::from(parent.len())], *self.up_to.last().unwrap_or(&0));
        let rank = shorter + self.random.below(all - shorter);
        let len = self.up_to.partition_point(|up_to| *up_to <= rank) as u8;
        let inside = F::random_bits(&mut self.random) & !F::Bits::mask(parent.len());
        Prefix::from_bits_masked(parent.bits() | inside, len)
    }

    /// Draws the next hop of a new route below one with the next hop `above`.
    fn next_hop(&mut self, above: Option<NextHopId>) -> NextHopId {
        let drawn = f64::from(self.random.next_u32()) / 2f64.powi(32);
        match above {
            Some(above) if drawn < self.alike => above,
            _ => {
                let mut other = || self.next_hops[self.random.below(self.next_hops.len())];
                // The table may have only one next hop.
                let tries = (0..64).map(|_| other());
                let mut tries = tries.skip_while(|other| Some(*other) == above);
                tries.next().or(above).expect("a parent has a next hop")
            }
        }
    }
}

/// Returns the next hop of the longest route in `open` that covers a prefix.
///
/// Prefixes come in order; `open` keeps only the routes that cover the prefix.
fn above<F: BenchFamily>(
    open: &mut Vec<(Prefix<F>, NextHopId)>,
    prefix: Prefix<F>,
) -> Option<NextHopId> {
    while open.last().is_some_and(|(outer, _)| !outer.covers(prefix)) {
        open.pop();
    }
    open.last().map(|(_, next_hop)| *next_hop)
}

/// Returns the share of covered routes that have the next hop of the longest route above; 1 if no route is covered.
fn alike<F: BenchFamily>(rib: &Rib<F>) -> f64 {
    let (mut covered, mut same) = (0u64, 0u64);
    let mut open: Vec<(Prefix<F>, NextHopId)> = Vec::new();
    for route in rib {
        if let Some(above) = above(&mut open, route.prefix) {
            covered += 1;
            same += u64::from(above == route.next_hop);
        }
        open.push((route.prefix, route.next_hop));
    }
    if covered == 0 { 1.0 } else { same as f64 / covered as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv4, Route};
    use longmatch_bench::testing::{table4, table6};

    fn rib4(routes: &[(&str, u32)]) -> Rib<Ipv4> {
        let mut rib = Rib::new();
        for (prefix, next_hop) in routes {
            rib.insert(prefix.parse().unwrap(), NextHopId::new(*next_hop).unwrap()).unwrap();
        }
        rib
    }

    #[test]
    fn thinned_tables_are_subsets_of_the_size() {
        let rib = table4();
        for count in [0, 1, 5, 12, 100] {
            let thin = thinned(&rib, count, 7);
            assert_eq!(thin.len(), count.min(rib.len()));
            assert!(thin.iter().all(|route| rib.get(route.prefix) == Some(route.next_hop)));
            assert!(thin.iter().eq(thinned(&rib, count, 7).iter()), "deterministic");
        }
        // Every route is chosen by some seeds.
        let kept = |route: Route<Ipv4>| {
            (0..200).filter(|seed| thinned(&rib, 6, *seed).get(route.prefix).is_some()).count()
        };
        assert!(rib.iter().all(|route| (60..140).contains(&kept(route))));
    }

    #[test]
    fn next_hops_are_renumbered() {
        let rib = rib4(&[("10.0.0.0/8", 90_000), ("10.0.0.0/9", 7), ("11.0.0.0/8", 90_000)]);
        let ids: Vec<_> = renumbered(&rib).iter().map(|route| route.next_hop.get()).collect();
        assert_eq!(ids, [1, 2, 1]);
    }

    #[test]
    fn next_hops_above_the_limit_start_again() {
        let rib = rib4(&[("10.0.0.0/8", 256), ("10.0.0.0/9", 257), ("10.1.0.0/16", 600)]);
        let ids: Vec<_> = with_neighbours(&rib).iter().map(|route| route.next_hop.get()).collect();
        assert_eq!(ids, [256, 1, 88]);
        assert!(with_neighbours(&table6()).iter().eq(table6().iter()));
    }

    /// 10.0.0.0/8 (1) > 10.0.0.0/9 (1) > 10.1.0.0/16 (2), and 11.0.0.0/8: one of two covered routes is alike.
    #[test]
    fn alike_is_the_share_of_covered_routes() {
        let rib =
            rib4(&[("10.0.0.0/8", 1), ("10.0.0.0/9", 1), ("10.1.0.0/16", 2), ("11.0.0.0/8", 2)]);
        assert_eq!(alike(&rib), 0.5);
        assert_eq!(alike(&rib4(&[("10.0.0.0/8", 1)])), 1.0);
    }

    #[test]
    fn grown_tables_keep_their_routes_and_add_below_them() {
        let rib = rib4(&[
            ("10.0.0.0/8", 1),
            ("10.0.0.0/12", 1),
            ("10.0.0.0/14", 2),
            ("20.0.0.0/20", 3),
            ("30.0.1.0/24", 4),
            ("30.0.2.0/30", 5),
        ]);
        let mut growth = Growth::new(&rib, 1);
        assert_eq!(growth.parents.len(), 4, "not the /24 and the /30");
        let grown = growth.to(3000).clone();
        assert_eq!(grown.len(), 3000);
        assert!(rib.iter().all(|route| grown.get(route.prefix) == Some(route.next_hop)));
        let lengths: Vec<u8> = rib.iter().map(|route| route.prefix.len()).collect();
        let added = || grown.iter().filter(|route| rib.get(route.prefix).is_none());
        for route in added() {
            let above = rib.cover(route.prefix).last().expect("below a route").prefix;
            assert!(above.len() < 24 && lengths.contains(&route.prefix.len()));
        }
        // Routes below the /20 have the lengths 24 and 30, equally likely; only 16 prefixes have length 24.
        let below = |len| {
            let twenty: Prefix<Ipv4> = "20.0.0.0/20".parse().unwrap();
            added().filter(|it| twenty.covers(it.prefix) && it.prefix.len() == len).count()
        };
        assert!((1..=16).contains(&below(24)) && below(30) > 100, "{} {}", below(24), below(30));
        // Half of the covered routes are alike, so half of the new ones are.
        assert!((alike(&grown) - 0.5).abs() < 0.05, "{}", alike(&grown));
        let mut again = Growth::new(&rib, 1);
        assert!(again.to(3000).iter().eq(grown.iter()), "deterministic");
        let more = again.to(4000);
        assert!(grown.iter().all(|route| more.get(route.prefix) == Some(route.next_hop)));
        assert_eq!(more.len(), 4000);
    }

    /// The /22 contains four /24; the table has no other greater length.
    #[test]
    fn growth_ends_without_new_prefixes() {
        let rib = rib4(&[("10.0.0.0/22", 1), ("20.0.0.0/24", 2)]);
        assert_eq!(Growth::new(&rib, 1).to(1000).len(), 6);
        let rib = rib4(&[("20.0.0.0/24", 2)]);
        assert_eq!(Growth::new(&rib, 1).to(1000).len(), 1, "no parent");
        assert_eq!(Growth::new(&Rib::<Ipv4>::new(), 1).to(10).len(), 0);
        assert!(Growth::new(&table6(), 1).to(5000).len() == 5000);
    }
}
