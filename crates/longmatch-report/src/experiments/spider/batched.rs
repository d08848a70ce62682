//! Section III-C of the Spider paper: updates in batches, each of which compiles the table again.

use std::time::Instant;

use longmatch::{Change, EngineKind};
use longmatch_bench::{BenchFamily, Stats, reader_keys};

use crate::context::{ExperimentContext, Place, anchor, at};
use crate::declaration::Absence;
use crate::experiments::batcher::BatchedTable;
use crate::experiments::updates::{Given, OnUpdates, on_updates, stream, tables, two_cpus};
use crate::inputs::{Effort, Inputs, Named, SEED};
use crate::record::{Spread, Value};

/// The engines that are compiled again, and two that are patched.
const ENGINES: [(&str, &str); 4] =
    [("spider:lanes=16", "Spider_16w"), ("sail", "SAIL"), ("poptrie", ""), ("folio", "")];
/// Updates in a batch.
const CHANGES: usize = 1000;
/// Number of timed rebuilds.
const REBUILDS: usize = 5;

const FIGURE: &str = "batched-updates";

/// Intervals of each kind, and the seconds of one.
fn intervals(effort: &Effort) -> (usize, f64) {
    if effort.full { (5, 1.0) } else { (2, effort.seconds.min(0.2)) }
}

pub(in super::super) fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let (count, seconds) = intervals(effort);
    tables(inputs) * ENGINES.len() as f64 * (2.0 * count as f64 * seconds + 1.5)
}

pub(in super::super) fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    two_cpus()?;
    on_updates(context, &BatchedUpdates);
    Ok(())
}

struct BatchedUpdates;

impl OnUpdates for BatchedUpdates {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
        given: Given<'_, F>,
    ) {
        let (count, seconds) = intervals(&context.effort);
        let stream = stream(named.rib, given, (count + REBUILDS) * CHANGES);
        let keys = reader_keys(named.rib, SEED);
        let anchor = anchor::<F>(FIGURE, named.name);
        context.condition(&anchor, "updates", format!("{}; {CHANGES} in a batch", stream.name));
        context.condition(&anchor, "intervals", format!("{count} of each kind, {seconds} s each"));
        context.condition(&anchor, "threads", "one reader and one that compiles");
        let place = Place { figure: FIGURE, ..Place::default() };
        context.count(place, named, "", ("interval", "s"), seconds);
        for (spec, alias) in ENGINES {
            let kind: Option<EngineKind> =
                spec.split(':').next().and_then(|name| name.parse().ok());
            if !kind.is_some_and(F::has) {
                continue;
            }
            let measured = measure(spec, named, &stream.changes, &keys, (count, seconds));
            let values = match measured {
                Ok(values) => values.to_vec(),
                Err(reason) => vec![Value {
                    metric: "rate with updates".into(),
                    refused: reason,
                    ..Value::default()
                }],
            };
            for value in values {
                let value = Value { engine: spec.into(), alias: alias.into(), ..value };
                context.note(at(place, named, value));
            }
            context.step(2.0 * count as f64 * seconds + 1.5);
        }
    }
}

/// The delay of a batch, and the rates of a reader without and with updates.
fn measure<F: BenchFamily>(
    spec: &str,
    named: Named<'_, F>,
    changes: &[Change<F>],
    keys: &[F::Bits],
    (count, seconds): (usize, f64),
) -> Result<[Value; 3], String> {
    let mut table = BatchedTable::start(spec, named, keys)?;
    let mut batches = changes.chunks(CHANGES).cycle();
    let mut next = || batches.next().unwrap_or_default();
    let (mut delays, mut without, mut with) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..REBUILDS {
        let started = Instant::now();
        table.apply(next())?;
        table.flush()?;
        delays.push(started.elapsed().as_secs_f64() * 1e3);
    }
    for _ in 0..count {
        without.push(table.rate(seconds));
        table.apply(next())?;
        with.push(table.rate(seconds));
        table.flush()?;
    }
    table.finish()?;
    Ok([
        value("delay", "ms", &delays),
        value("rate without updates", "Mlps", &without),
        value("rate with updates", "Mlps", &with),
    ])
}

fn value(metric: &str, unit: &str, all: &[f64]) -> Value {
    let stats = Stats::of(all);
    let (metric, unit) = (metric.into(), unit.into());
    let Some(Stats { min, q1, median, q3, max, mean, std_dev }) = stats else {
        return Value::default();
    };
    let some = Some;
    let spread = Spread {
        min: some(min),
        q1: some(q1),
        q3: some(q3),
        max: some(max),
        mean: some(mean),
        std_dev: some(std_dev),
        ..Spread::default()
    };
    Value {
        metric,
        unit,
        value: some(median),
        spread,
        passes: all.len() as u64,
        ..Value::default()
    }
}
