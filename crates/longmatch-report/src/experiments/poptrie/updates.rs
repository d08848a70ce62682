//! Section 4.9: what an update replaces, and how long it takes.

use longmatch::Rib;
use longmatch_bench::{BenchFamily, ReplayRecord, in_random_order};

use super::common::{POPTRIE18, claim, papers};
use crate::claim::{Claim, Needs, Q, of};
use crate::context::{ExperimentContext, Place, anchor, at};
use crate::declaration::{Absence, ChartKind, Figure, Rows};
use crate::experiment::{Experiment, Work};
use crate::experiments::updates::{Given, OnUpdates, Stream, on_updates, replay, stream, tables};
use crate::inputs::{Effort, Inputs, Named, SEED};
use crate::record::Value;
use crate::whole_runs::written;

/// The engines that are patched.
const ENGINES: [(&str, &str); 5] = [
    (POPTRIE18, "Poptrie18"),
    ("folio", ""),
    ("dxr:d=18", "D18R"),
    ("dir24_8", ""),
    ("tree_bitmap", ""),
];

const FIGURE: &str = "poptrie-updates";

pub(super) fn updates() -> Experiment {
    let paper = |metric, value| papers(FIGURE, "", metric, &[(POPTRIE18, value)]);
    Experiment {
        name: FIGURE,
        aliases: &["poptrie-4.9"],
        source: "Poptrie paper, section 4.9",
        title: "Updates",
        about: "The number of direct-entry arrays, nodes and leaves that an update replaces, and the time that it takes \
                in the RIB and the FIB together; and the time to insert all routes one by one, in random order.",
        setting: "RV-linx-p52, an hour of 23,446 updates; insertion of REAL-Tier1-A: 531,489 prefixes; Intel Core \
                  i7-4770K, 3.9 GHz",
        work: Work::Own(run, seconds),
        figures: vec![Figure {
            id: FIGURE,
            title: "Updates",
            caption: "Averages over all updates, including those that change nothing. Arrays replaced: updates of a \
                      route shorter than /18, for which the paper replaces the whole array; ours replaces only the \
                      entries that differ (entries replaced). Nodes and leaves replaced: every element of each run \
                      that is written again; pages and codes for Folio, ranges for DXR. The time covers the change of \
                      the RIB, the patch of the FIB and its publication. The table is compared with its routes \
                      afterwards.",
            chart: ChartKind::None,
            rows: Rows::Engines,
        }],
        papers: vec![
            paper("arrays replaced", 0.041),
            paper("nodes replaced", 0.48),
            paper("leaves replaced", 6.05),
            paper("update", 2.51),
            paper("insertion", 5.10),
        ],
        claims: claims(),
    }
}

fn claims() -> Vec<Claim> {
    let value = |metric| of(POPTRIE18, metric);
    let real = || Needs::Fact("real updates", 1.0, "needs real updates");
    let effective = || {
        let share = of(POPTRIE18, "updates that change something");
        Needs::Least(share, 50.0, "more than half of the updates change nothing")
    };
    let with = |needs, id, text, judge| Claim { needs, ..claim(id, "4.9", text, judge) };
    let bytes: Q = Q::Sum(vec![24.0 * value("nodes replaced"), 2.0 * value("leaves replaced")]);
    vec![
        with(
            vec![real(), effective()],
            "PU.1",
            "One update in 24 replaces the array of direct entries (0.041).",
            value("arrays replaced").within(0.01, 0.16),
        ),
        with(
            vec![real(), effective()],
            "PU.2",
            "An update replaces 6.05 leaves.",
            value("leaves replaced").within(2.0, 18.0),
        ),
        with(
            vec![real(), effective()],
            "PU.3",
            "An update replaces 0.48 internal nodes.",
            value("nodes replaced").within(0.16, 1.44),
        ),
        with(
            vec![real(), effective()],
            "PU.4",
            "An update takes 2.51 us.",
            value("update").within(0.63, 5.0),
        ),
        with(
            vec![Needs::Least(
                of("", "inserted"),
                300_000.0,
                "needs a whole table of 300,000 routes: --full",
            )],
            "PU.5",
            "Inserting a table in random order takes 4.57 to 5.10 us a prefix.",
            value("insertion").within(1.15, 10.2),
        ),
        with(
            vec![real(), effective()],
            "PU.6",
            "An update replaces 24 bytes of nodes and leaves.",
            bytes.within(8.0, 71.0),
        ),
    ]
}

fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let updates = effort.updates.min(1_300_000) as f64 * 2.0;
    tables(inputs) * (ENGINES.len() as f64 * (updates * 1.5e-6 + 1.5))
}

fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
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
