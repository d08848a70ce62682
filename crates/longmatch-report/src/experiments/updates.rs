//! The updates that experiments make: those that were given, or made ones.

use longmatch::{Change, Prefix, Rib, Route};

use crate::desk::SEED;
use crate::show::plural;
use longmatch_bench::BenchFamily;
use longmatch_bench::Xorshift;

/// Made updates, where none were given.
const MADE: usize = 200_000;
/// Of so many made updates ...
const OF: usize = 23_446;
/// ... so many are withdrawals, as in the hour of the Poptrie paper (4.9).
const WITHDRAWALS: usize = 5_305;

/// Updates, and what to call them.
pub(super) struct Stream<F: BenchFamily> {
    pub name: String,
    pub changes: Vec<Change<F>>,
}

/// The updates that were given, or made ones where there are none of the family; at most `limit`.
pub(super) fn stream<F: BenchFamily>(
    rib: &Rib<F>,
    given: Option<(&str, &[Change<F>])>,
    limit: usize,
) -> Stream<F> {
    match given {
        Some((name, all)) if !all.is_empty() => {
            let changes = all[..all.len().min(limit)].to_vec();
            Stream { name: format!("{name}: {}", plural(changes.len(), "update")), changes }
        }
        _ => {
            let changes = made(rib, MADE.min(limit));
            let name = format!(
                "{}, made: next hops of random routes change, and {:.0} % of the updates withdraw \
                 one; give real ones with --updates",
                plural(changes.len(), "update"),
                WITHDRAWALS as f64 * 100.0 / OF as f64
            );
            Stream { name, changes }
        }
    }
}

/// Updates of random routes of the table: withdrawals, and announcements with the next hop of
/// another random route, which bring back what was withdrawn.
fn made<F: BenchFamily>(rib: &Rib<F>, count: usize) -> Vec<Change<F>> {
    let routes: Vec<Route<F>> = rib.iter().collect();
    if routes.is_empty() {
        return Vec::new();
    }
    let mut random = Xorshift::new(SEED);
    let mut change = || {
        let prefix: Prefix<F> = routes[random.below(routes.len())].prefix;
        if random.below(OF) < WITHDRAWALS {
            return Change::Withdraw(prefix);
        }
        let next_hop = routes[random.below(routes.len())].next_hop;
        Change::Announce(Route { prefix, next_hop })
    };
    (0..count).map(|_| change()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch_bench::testing::table4;

    #[test]
    fn made_updates_are_of_the_table() {
        let rib = table4();
        let stream = stream(&rib, None, 10_000);
        assert_eq!(stream.changes.len(), 10_000);
        assert!(stream.name.starts_with("10,000 updates, made"), "{}", stream.name);
        let mut withdrawn = 0;
        for change in &stream.changes {
            match change {
                Change::Withdraw(prefix) => {
                    assert!(rib.get(*prefix).is_some());
                    withdrawn += 1;
                }
                Change::Announce(route) => assert!(rib.get(route.prefix).is_some()),
            }
        }
        assert!((2000..2600).contains(&withdrawn), "{withdrawn} of 22.6 %");
    }

    #[test]
    fn given_updates_come_first() {
        let rib = table4();
        let given = made(&rib, 5);
        let stream = stream(&rib, Some(("day", &given)), 3);
        assert_eq!((&stream.changes[..], &stream.name[..]), (&given[..3], "day: 3 updates"));
    }
}
