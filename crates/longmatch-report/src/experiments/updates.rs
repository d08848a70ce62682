//! Replays of updates, given or synthetic.

use std::thread;

use longmatch::{Change, EngineSpec, Rib, Route};
use longmatch_bench::{BenchFamily, Replay, ReplayRecord, Xorshift, pin};

use crate::context::{ExperimentContext, WRONG};
use crate::declaration::Absence;
use crate::inputs::{Inputs, Named, SEED};

/// Number of synthetic updates if none are given.
const SYNTHETIC: usize = 200_000;
/// Updates in the hour of the Poptrie paper (4.9).
const OF: usize = 23_446;
/// Withdrawals among them; synthetic updates have the same share.
const WITHDRAWALS: usize = 5_305;

/// The name and the updates of a given stream, as far as they are of the family.
pub(super) type Given<'a, F> = Option<(&'a str, &'a [Change<F>])>;

/// Work on one table of either family and its updates.
pub(super) trait OnUpdates {
    /// Does the work.
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
        given: Given<'_, F>,
    );
}

/// Does the work on the first table of each family.
pub(super) fn on_updates(context: &mut ExperimentContext<'_>, work: &impl OnUpdates) {
    let inputs = context.inputs;
    let updates = inputs.updates.as_ref();
    if let Some(named) = inputs.ipv4().first() {
        work.on_table(context, *named, updates.map(|it| (&it.name[..], &it.ipv4[..])));
    }
    if let Some(named) = inputs.ipv6().first() {
        work.on_table(context, *named, updates.map(|it| (&it.name[..], &it.ipv6[..])));
    }
}

/// The number of tables on which [`on_updates`] works.
pub(super) fn tables(inputs: &Inputs) -> f64 {
    (inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1)) as f64
}

/// Requires a CPU for the reader and another for the writer.
///
/// # Errors
/// If this process has only one.
pub(super) fn two_cpus() -> Result<(), Absence> {
    match thread::available_parallelism() {
        Ok(cpus) if cpus.get() > 1 => Ok(()),
        _ => Err(Absence(
            "needs two CPUs: a reader and a writer on one CPU measure the scheduler".into(),
        )),
    }
}

/// A named stream of updates.
pub(super) struct Stream<F: BenchFamily> {
    /// The name, with the number of updates.
    pub name: String,
    /// The updates, in order.
    pub changes: Vec<Change<F>>,
}

/// The given updates, or synthetic ones if there are none of the family; at most `limit`.
pub(super) fn stream<F: BenchFamily>(rib: &Rib<F>, given: Given<'_, F>, limit: usize) -> Stream<F> {
    match given {
        Some((name, all)) if !all.is_empty() => {
            let changes = all[..all.len().min(limit)].to_vec();
            Stream { name: format!("{name}: {} updates", changes.len()), changes }
        }
        _ => {
            let changes = synthetic(rib, SYNTHETIC.min(limit));
            let name = format!(
                "{} synthetic updates: next hops of random routes change, and {:.0} % withdraw one; give real ones \
                 with --updates",
                changes.len(),
                WITHDRAWALS as f64 * 100.0 / OF as f64
            );
            Stream { name, changes }
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

/// Replays changes, one a commit, without readers, and compares the table with its routes afterwards.
///
/// # Errors
/// If the engine cannot hold the table, or an answer is wrong at the end: the reason.
pub(super) fn replay<F: BenchFamily>(
    spec: &str,
    rib: &Rib<F>,
    changes: &[Change<F>],
) -> Result<ReplayRecord, String> {
    let spec: EngineSpec = spec.parse().expect("a spec of an engine");
    pin::to(0);
    let record = Replay::new(rib, changes).run(&spec, &mut |_| {});
    pin::free();
    match record.map_err(|error| error.to_string()) {
        Ok(record) if !record.is_right() => Err(format!("{} {WRONG}", record.mismatches)),
        record => record,
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
        let stream = stream(&rib, None, 10_000);
        assert_eq!(stream.changes.len(), 10_000);
        assert!(stream.name.starts_with("10000 synthetic updates"), "{}", stream.name);
        let withdrawn = |change: &&Change<Ipv4>| match change {
            Change::Withdraw(prefix) => rib.get(*prefix).is_some(),
            Change::Announce(route) => {
                assert!(rib.get(route.prefix).is_some());
                false
            }
        };
        let withdrawn = stream.changes.iter().filter(withdrawn).count();
        assert!((2000..2600).contains(&withdrawn), "{withdrawn} of 22.6 %");
    }

    #[test]
    fn given_updates_come_first() {
        let rib = table4();
        let given = synthetic(&rib, 5);
        let stream = stream(&rib, Some(("day", &given)), 3);
        assert_eq!((&stream.changes[..], &stream.name[..]), (&given[..3], "day: 3 updates"));
    }
}
