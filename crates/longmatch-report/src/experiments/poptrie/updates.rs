//! What an update replaces, and how long it takes: section 4.9 of the Poptrie paper.

use longmatch::Rib;
use longmatch_bench::{BenchFamily, ReplayRecord, in_random_order};

use crate::context::{ExperimentContext, Place, anchor, at};
use crate::declaration::Absence;
use crate::experiments::updates::{Given, OnUpdates, Stream, on_updates, replay, stream, tables};
use crate::inputs::{Effort, Inputs, Named, SEED};
use crate::record::Value;
use crate::whole_runs::written;

const POPTRIE18: &str = "poptrie:s=18";
/// The engines that are patched.
const ENGINES: [(&str, &str); 5] = [
    (POPTRIE18, "Poptrie18"),
    ("folio", ""),
    ("dxr:d=18", "D18R"),
    ("dir24_8", ""),
    ("tree_bitmap", ""),
];

const FIGURE: &str = "poptrie-updates";

pub(in super::super) fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let updates = effort.updates.min(1_300_000) as f64 * 2.0;
    tables(inputs) * (ENGINES.len() as f64 * (updates * 1.5e-6 + 1.5))
}

pub(in super::super) fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    on_updates(context, &PatchedTable);
    Ok(())
}

struct PatchedTable;

impl OnUpdates for PatchedTable {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
        given: Given<'_, F>,
    ) {
        let place = Place { figure: FIGURE, ..Place::default() };
        let Stream { name, changes } = stream(named.rib, given, context.effort.updates);
        let mut inserted = in_random_order(named.rib, SEED);
        inserted.truncate(context.effort.updates);
        let anchor = anchor::<F>(FIGURE, named.name);
        context.condition(&anchor, "updates", name);
        let order =
            format!("{} routes in random order, seed {SEED}, into an empty table", inserted.len());
        context.condition(&anchor, "inserted", order);
        context.condition(&anchor, "commits", "one for each update, published before the next");
        context.condition(&anchor, "threads", "the writer alone, on a CPU of its own");
        let each = |count: u64| count as f64 / changes.len().max(1) as f64;
        let whole = written(named.rib, &changes, 18);
        let whole = [whole.arrays, whole.nodes, whole.leaves].map(each);
        let empty = Rib::new();
        for (spec, alias) in ENGINES {
            let mut note = |metric: &str, unit: &str, value: Result<f64, String>| {
                let (value, refused) = match value {
                    Ok(value) => (Some(value), String::new()),
                    Err(reason) => (None, reason),
                };
                let (metric, unit) = (metric.into(), unit.into());
                let own = Value {
                    engine: spec.into(),
                    alias: alias.into(),
                    metric,
                    unit,
                    value,
                    refused,
                    ..Value::default()
                };
                context.note(at(place, named, own));
            };
            match replay(spec, named.rib, &changes) {
                Ok(record) => replaced(
                    &record,
                    (spec == POPTRIE18).then_some(whole),
                    &mut |metric, unit, value| {
                        note(metric, unit, Ok(value));
                    },
                ),
                Err(reason) => note("update", "us", Err(reason)),
            }
            note("insertion", "us", replay(spec, &empty, &inserted).map(|record| record.mean_us));
            context.step((changes.len() + inserted.len()) as f64 * 1.5e-6 + 1.5);
        }
        context.count(place, named, "", ("inserted", ""), inserted.len() as f64);
    }
}

/// Calls `note` with every count and time of a replay.
fn replaced(record: &ReplayRecord, whole: Option<[f64; 3]>, note: &mut dyn FnMut(&str, &str, f64)) {
    note("entries replaced", "", record.entries_replaced);
    note("nodes replaced", "", record.nodes_replaced);
    note("leaves replaced", "", record.leaves_replaced);
    if let Some([arrays, nodes, leaves]) = whole {
        note("arrays replaced", "", arrays);
        note("nodes in new runs", "", nodes);
        note("leaves in new runs", "", leaves);
        if record.nodes_replaced > 0.0 {
            note("nodes in new runs / replaced", "", nodes / record.nodes_replaced);
        }
        if record.leaves_replaced > 0.0 {
            note("leaves in new runs / replaced", "", leaves / record.leaves_replaced);
        }
    }
    note("update", "us", record.mean_us);
    if let Some(mean) = record.mean_effective_us {
        note("update that changes something", "us", mean);
    }
    let effective = record.counts.effective();
    note(
        "updates that change something",
        "%",
        effective as f64 * 100.0 / record.updates.max(1) as f64,
    );
    note("99th percentile", "us", record.p99_us);
    note("compiled again", "", record.recompiled as f64);
}
