//! Section III-C of the Spider paper: updates in batches; each batch compiles the table again.

use std::time::Instant;

use longmatch::Change;
use longmatch_bench::{BenchFamily, Stats, reader_keys};

use crate::context::{ExperimentContext, FigureCell, anchor, at};
use crate::declaration::Skipped;
use crate::experiments::batcher::BatchedTable;
use crate::experiments::updates::{stream, two_cpus};
use crate::inputs::{Effort, Named, SEED};
use crate::record::{Spread, Value};

/// Updates in a batch.
const CHANGES: usize = 1000;
/// Number of timed rebuilds.
const REBUILDS: usize = 5;

const FIGURE: &str = "batched-updates";

/// Intervals of each kind, and the seconds of one.
fn intervals(effort: &Effort) -> (usize, f64) {
    if effort.full { (5, 1.0) } else { (2, effort.seconds.min(0.2)) }
}

pub(in super::super) fn seconds(engines: f64, effort: &Effort) -> f64 {
    let (count, seconds) = intervals(effort);
    engines * (2.0 * count as f64 * seconds + 1.5)
}

pub(in super::super) fn on_table<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
) -> Result<(), Skipped> {
    two_cpus()?;
    let (count, seconds) = intervals(&context.effort);
    let (name, changes) = stream(named, (count + REBUILDS) * CHANGES);
    let keys = reader_keys(named.rib, SEED);
    let anchor = anchor::<F>(FIGURE, named.name);
    context.condition(&anchor, "updates", format!("{name}; {CHANGES} in a batch"));
    context.condition(&anchor, "intervals", format!("{count} of each kind, {seconds} s each"));
    context.condition(&anchor, "threads", "one reader and one that compiles");
    let cell = FigureCell { figure: FIGURE, ..FigureCell::default() };
    context.count(cell, named, "", ("interval", "s"), seconds);
    let engines = &context.experiment.engines;
    for engine in engines.iter().filter(|it| it.exists_for::<F>()) {
        match measure(&engine.spec, named, &changes, &keys, (count, seconds)) {
            Ok(values) => values.into_iter().for_each(|value| {
                let (engine, alias) = (engine.spec.clone(), engine.alias.clone());
                context.note(at(cell, named, Value { engine, alias, ..value }));
            }),
            Err(reason) => {
                context.quantity(cell, named, engine, ("rate with updates", ""), Err(reason));
            }
        }
        context.step(2.0 * count as f64 * seconds + 1.5);
    }
    Ok(())
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
    Value {
        metric: metric.into(),
        unit: unit.into(),
        value: stats.map(|it| it.median),
        spread: stats.map_or_else(Spread::default, Spread::from),
        passes: all.len() as u64,
        ..Value::default()
    }
}
