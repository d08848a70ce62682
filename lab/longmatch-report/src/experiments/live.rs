//! The rate of a reader by the rate of updates.

use core::time::Duration;

use longmatch::Change;
use longmatch_bench::{BenchFamily, Replay, reader_keys};

use crate::context::{ExperimentContext, FigureCell, anchor, at};
use crate::declaration::{CalledEngine, Skipped};
use crate::experiments::batcher::{BatchedTable, ReaderRates};
use crate::experiments::updates::{replayed, stream, two_cpus};
use crate::inputs::{Effort, Named, SEED};
use crate::record::Value;

/// The engines without a patch, which a [`BatchedTable`] compiles again.
const COMPILED_AGAIN: [&str; 2] = ["spider", "sail"];
/// How many engines a quick report has.
const QUICK_ENGINES: usize = 3;
/// Updates a second; 0 means as many as possible.
const RATES: [u32; 4] = [1_000, 10_000, 100_000, 0];
const QUICK_RATES: [u32; 2] = [10_000, 0];
/// Seconds of updates at each rate, if there are enough updates.
const FULL: f64 = 1.5;
const QUICK: f64 = 0.3;

const FIGURE: &str = "live";

/// The number of engines, the rates of updates, and the seconds of each.
fn series(effort: &Effort) -> (usize, &'static [u32], f64) {
    match effort.full {
        true => (usize::MAX, &RATES, FULL),
        false => (QUICK_ENGINES, &QUICK_RATES, QUICK),
    }
}

pub(super) fn seconds(engines: f64, effort: &Effort) -> f64 {
    let (most, rates, seconds) = series(effort);
    engines.min(most as f64) * rates.len() as f64 * (2.0 * seconds + 1.2)
}

pub(super) fn on_table<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
) -> Result<(), Skipped> {
    two_cpus()?;
    let (name, changes) = stream(named, context.effort.updates);
    let keys = &reader_keys(named.rib, SEED)[..];
    let (most, rates, seconds) = series(&context.effort);
    let anchor = anchor::<F>(FIGURE, named.name);
    context.condition(&anchor, "updates", name);
    let lookups = "batches of 256 random routed addresses, quiescent after each";
    context.condition(&anchor, "lookups", lookups);
    context.condition(&anchor, "threads", "one reader and the writer");
    let time = format!("{seconds} s at each rate, after as long without updates");
    context.condition(&anchor, "time", time);
    let engines = context.experiment.engines.iter().take(most);
    for engine in engines.filter(|it| it.exists_for::<F>()) {
        for wanted in rates.iter().copied() {
            let most = if wanted == 0 { f64::INFINITY } else { f64::from(wanted) * seconds };
            let changes = &changes[..changes.len().min(most as usize)];
            let churn = Churn { named, changes, keys, wanted, seconds };
            let result = match COMPILED_AGAIN.contains(&&engine.spec[..]) {
                true => churn.compiled_again(&engine.spec),
                false => churn.patched(&engine.spec),
            };
            note(context, named, engine, wanted, result);
            context.step(2.0 * seconds + 1.2);
        }
    }
    Ok(())
}

/// The reader's rate and the updates at one point of a line.
struct UpdatePoint {
    /// Updates that became visible, a second.
    updates: f64,
    /// Million lookups a second.
    rate: Option<f64>,
    /// The same without updates.
    rate_without: Option<f64>,
    /// The 99.99th percentile of the time of a batch, in nanoseconds.
    slowest: Option<u64>,
    /// The same without updates.
    slowest_without: Option<u64>,
}

/// Updates at a rate, beside a reader.
struct Churn<'a, F: BenchFamily> {
    named: Named<'a, F>,
    changes: &'a [Change<F>],
    keys: &'a [F::Bits],
    /// Updates a second; 0 means as many as possible.
    wanted: u32,
    /// Seconds without updates, before them.
    seconds: f64,
}

impl<F: BenchFamily> Churn<'_, F> {
    /// Measures an engine that is patched.
    fn patched(&self, spec: &str) -> Result<UpdatePoint, String> {
        let &Self { named, changes, keys, wanted, seconds } = self;
        let record = replayed(
            spec,
            &Replay {
                pace: (wanted > 0).then(|| Duration::from_secs(1) / wanted),
                readers: 1,
                keys,
                idle: Duration::from_secs_f64(seconds),
                ..Replay::new(named.rib, changes)
            },
        )?;
        // Fewer than wanted if each takes longer.
        let possible = 1e6 / record.mean_us;
        Ok(UpdatePoint {
            updates: if wanted == 0 { possible } else { possible.min(f64::from(wanted)) },
            rate: record.reader_mlps_churn,
            rate_without: record.reader_mlps_idle,
            slowest: record.reader_p9999_ns_churn,
            slowest_without: record.reader_p9999_ns_idle,
        })
    }

    /// Measures an engine that is compiled again.
    fn compiled_again(&self, spec: &str) -> Result<UpdatePoint, String> {
        let mut table = BatchedTable::start(spec, self.named, self.keys)?;
        let rate_without = Some(table.rate(self.seconds));
        let per_second = (self.wanted > 0).then_some(self.wanted);
        let ReaderRates { reader, updates } = table.rates(self.changes, per_second)?;
        table.finish()?;
        let rate = Some(reader);
        Ok(UpdatePoint { updates, rate, rate_without, slowest: None, slowest_without: None })
    }
}

fn note<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
    engine: &CalledEngine,
    wanted: u32,
    result: Result<UpdatePoint, String>,
) {
    let cell = FigureCell { figure: FIGURE, ..FigureCell::default() };
    let about = Value {
        engine: engine.spec.clone(),
        traffic: "routed".into(),
        keys: "array".into(),
        mode: "batch".into(),
        batch: 256,
        threads: 1,
        ..Value::default()
    };
    let point = match result {
        Ok(point) => point,
        Err(refused) => {
            let (metric, x) = ("rate".into(), Some(f64::from(wanted)));
            return context.note(at(cell, named, Value { metric, x, refused, ..about }));
        }
    };
    let mut note = |metric: &str, unit: &str, value: Option<f64>| {
        let (metric, unit, x) = (metric.into(), unit.into(), Some(point.updates.round()));
        if value.is_some() {
            context.note(at(cell, named, Value { metric, unit, x, value, ..about.clone() }));
        }
    };
    note("rate", "Mlps", point.rate);
    note("rate without updates", "Mlps", point.rate_without);
    let ns = |it: Option<u64>| it.map(|ns| ns as f64);
    note("99.99th percentile of a batch", "ns", ns(point.slowest));
    note("99.99th percentile without updates", "ns", ns(point.slowest_without));
}
