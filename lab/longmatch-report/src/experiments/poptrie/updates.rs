//! What an update replaces, and how long it takes: section 4.9 of the Poptrie paper.

use longmatch::Rib;
use longmatch_bench::{BenchFamily, Replay, ReplayRecord, in_random_order, pin};

use crate::context::{ExperimentContext, FigureCell, anchor};
use crate::declaration::Skipped;
use crate::experiments::updates::{replayed, stream};
use crate::inputs::{Effort, Named, SEED};
use crate::whole_runs::written;

/// The engine of the paper, with 18 direct bits.
const POPTRIE18: &str = "poptrie:s=18";
const FIGURE: &str = "poptrie-updates";

pub(in super::super) fn seconds(engines: f64, effort: &Effort) -> f64 {
    let updates = effort.updates.min(1_300_000) as f64 * 2.0;
    engines * (updates * 1.5e-6 + 1.5)
}

pub(in super::super) fn on_table<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
) -> Result<(), Skipped> {
    let cell = FigureCell { figure: FIGURE, ..FigureCell::default() };
    let (name, changes) = stream(named, context.effort.updates);
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
    for engine in &context.experiment.engines {
        pin::to(0);
        let replays = [Replay::new(named.rib, &changes), Replay::new(&empty, &inserted)];
        let [updated, filled] = replays.map(|replay| replayed(&engine.spec, &replay));
        pin::free();
        let mut note = |metric: &str, unit: &str, value| {
            context.quantity(cell, named, engine, (metric, unit), value)
        };
        let whole = (engine.spec == POPTRIE18).then_some(whole);
        match updated {
            Ok(record) => {
                replaced(&record, whole, &mut |metric, unit, value| note(metric, unit, Ok(value)))
            }
            Err(reason) => note("update", "us", Err(reason)),
        }
        note("insertion", "us", filled.map(|record| record.mean_us));
        context.step((changes.len() + inserted.len()) as f64 * 1.5e-6 + 1.5);
    }
    context.count(cell, named, "", ("inserted", ""), inserted.len() as f64);
    Ok(())
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
