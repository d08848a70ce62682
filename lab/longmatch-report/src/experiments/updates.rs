//! Replays of updates, given or synthetic.

use std::thread;

use longmatch::{Change, EngineSpec, Rib, Route};
use longmatch_bench::{BenchFamily, Replay, ReplayRecord, Xorshift};

use crate::context::WRONG;
use crate::declaration::Skipped;
use crate::inputs::{Named, SEED};

/// Number of synthetic updates if none are given.
const SYNTHETIC: usize = 200_000;
/// Updates in the hour of the Poptrie paper (4.9).
const OF: usize = 23_446;
/// Withdrawals among them; synthetic updates have the same share.
const WITHDRAWALS: usize = 5_305;

/// Requires a CPU for the reader and another for the writer.
///
/// # Errors
/// If this process has only one.
pub(super) fn two_cpus() -> Result<(), Skipped> {
    match thread::available_parallelism() {
        Ok(cpus) if cpus.get() > 1 => Ok(()),
        _ => Err(Skipped(
            "needs two CPUs: a reader and a writer on one CPU measure the scheduler".into(),
        )),
    }
}

/// The given updates, or synthetic ones if there are none of the family, at most `limit`; with their number in words.
pub(super) fn stream<F: BenchFamily>(
    named: Named<'_, F>,
    limit: usize,
) -> (String, Vec<Change<F>>) {
    match named.updates {
        Some((name, all)) if !all.is_empty() => {
            let changes = all[..all.len().min(limit)].to_vec();
            (format!("{name}: {} updates", changes.len()), changes)
        }
        _ => {
            let changes = synthetic(named.rib, SYNTHETIC.min(limit));
            let name = format!(
                "{} synthetic updates: next hops of random routes change, and {:.0} % withdraw one; give real ones \
                 with --updates",
                changes.len(),
                WITHDRAWALS as f64 * 100.0 / OF as f64
            );
            (name, changes)
        }
    }
}

/// Random withdrawals and announcements of the table's prefixes. An announcement has the next hop of
/// another random route, and may bring back a withdrawn one.
fn synthetic<F: BenchFamily>(rib: &Rib<F>, count: usize) -> Vec<Change<F>> {
    let routes: Vec<Route<F>> = rib.iter().collect();
    if routes.is_empty() {
        return Vec::new();
    }
    let mut random = Xorshift::new(SEED);
    let mut change = || {
        let prefix = routes[random.below(routes.len())].prefix;
        if random.below(OF) < WITHDRAWALS {
            return Change::Withdraw(prefix);
        }
        let next_hop = routes[random.below(routes.len())].next_hop;
        Change::Announce(Route { prefix, next_hop })
    };
    (0..count).map(|_| change()).collect()
}

/// Replays changes and compares the table with its routes afterwards.
///
/// # Errors
/// If the engine cannot hold the table, or an answer is wrong at the end: the reason.
pub(super) fn replayed<F: BenchFamily>(
    spec: &str,
    replay: &Replay<'_, F>,
) -> Result<ReplayRecord, String> {
    let spec: EngineSpec = spec.parse().expect("a spec of an engine");
    let record = replay.run(&spec, &mut |_| {}).map_err(|error| error.to_string())?;
    match record.is_right() {
        true => Ok(record),
        false => Err(format!("{} {WRONG}", record.mismatches)),
    }
}

#[cfg(test)]
mod tests {
    use longmatch::Ipv4;
    use longmatch_bench::testing::table4;

    use super::*;

    #[test]
    fn synthetic_updates_are_of_the_table() {
        let rib = table4();
        let named = Named { name: "t", rib: &rib, memory: None, updates: None };
        let (name, changes) = stream(named, 10_000);
        assert_eq!(changes.len(), 10_000);
        assert!(name.starts_with("10000 synthetic updates"), "{name}");
        let withdrawn = |change: &&Change<Ipv4>| match change {
            Change::Withdraw(prefix) => rib.get(*prefix).is_some(),
            Change::Announce(route) => {
                assert!(rib.get(route.prefix).is_some());
                false
            }
        };
        let withdrawn = changes.iter().filter(withdrawn).count();
        assert!((2000..2600).contains(&withdrawn), "{withdrawn} of 22.6 %");
    }

    #[test]
    fn given_updates_come_first() {
        let rib = table4();
        let given = synthetic(&rib, 5);
        let updates = Some(("day", &given[..]));
        let (name, changes) = stream(Named { name: "t", rib: &rib, memory: None, updates }, 3);
        assert_eq!((&changes[..], &name[..]), (&given[..3], "day: 3 updates"));
    }
}
