//! The rate of a reader by the rate of updates.

use core::time::Duration;

use longmatch::{Change, EngineSpec};
use longmatch_bench::{BenchFamily, Replay, reader_keys};

use crate::context::{ExperimentContext, Place, WRONG, anchor, at};
use crate::declaration::Absence;
use crate::engine_set::has;
use crate::experiments::batcher::{BatchedTable, Rates};
use crate::experiments::updates::{Given, OnUpdates, on_updates, stream, tables, two_cpus};
use crate::inputs::{Effort, Inputs, Named, SEED};
use crate::record::Value;

/// The engines, and whether a [`BatchedTable`] compiles them again: they have no patch.
const ENGINES: [(&str, bool); 7] = [
    ("folio", false),
    ("poptrie", false),
    ("dxr", false),
    ("dir24_8", false),
    ("tree_bitmap", false),
    ("spider", true),
    ("sail", true),
];
/// How many of them a quick report has.
const QUICK_ENGINES: usize = 3;
/// Updates a second; 0 stands for as many as possible.
const RATES: [u32; 4] = [1_000, 10_000, 100_000, 0];
const QUICK_RATES: [u32; 2] = [10_000, 0];
/// Seconds of updates at each rate, if there are so many updates.
const FULL: f64 = 1.5;
const QUICK: f64 = 0.3;

const FIGURE: &str = "live";

/// The engines, the rates of updates, and the seconds of each.
fn series(effort: &Effort) -> (&'static [(&'static str, bool)], &'static [u32], f64) {
    match effort.full {
        true => (&ENGINES, &RATES, FULL),
        false => (&ENGINES[..QUICK_ENGINES], &QUICK_RATES, QUICK),
    }
}

pub(super) fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let (engines, rates, seconds) = series(effort);
    tables(inputs) * (engines.len() * rates.len()) as f64 * (2.0 * seconds + 1.2)
}

pub(super) fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    two_cpus()?;
    on_updates(context, &Live);
    Ok(())
}

struct Live;

impl OnUpdates for Live {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
        given: Given<'_, F>,
    ) {
        let stream = stream(named.rib, given, context.effort.updates);
        let keys = reader_keys(named.rib, SEED);
        let (engines, rates, seconds) = series(&context.effort);
        let anchor = anchor::<F>(FIGURE, named.name);
        context.condition(&anchor, "updates", &stream.name[..]);
        context.condition(
            &anchor,
            "lookups",
            "batches of 256 random routed addresses, quiescent after each",
        );
        context.condition(&anchor, "threads", "one reader and the writer");
        context.condition(
            &anchor,
            "time",
            format!("{seconds} s at each rate, after as long without updates"),
        );
        for (engine, compiled_again) in engines {
            if !has::<F>(engine) {
                continue;
            }
            let measure = if *compiled_again { compiled_again_under_updates } else { replayed };
            for wanted in rates.iter().copied() {
                let changes = first(&stream.changes, wanted, seconds);
                let result = measure(engine, named, changes, &keys, wanted, seconds);
                note(context, named, engine, wanted, result);
                context.step(2.0 * seconds + 1.2);
            }
        }
    }
}

/// The updates of so many seconds; all if there is no rate.
fn first<F: BenchFamily>(changes: &[Change<F>], wanted: u32, seconds: f64) -> &[Change<F>] {
    let most = if wanted == 0 { usize::MAX } else { (f64::from(wanted) * seconds) as usize };
    &changes[..most.min(changes.len())]
}

/// The reader's rate and the updates at one point of a line.
struct Point {
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

/// Measures an engine that is patched.
fn replayed<F: BenchFamily>(
    spec: &str,
    named: Named<'_, F>,
    changes: &[Change<F>],
    keys: &[F::Bits],
    wanted: u32,
    seconds: f64,
) -> Result<Point, String> {
    let spec: EngineSpec = spec.parse().expect("a spec of an engine");
    let replay = Replay {
        pace: (wanted > 0).then(|| Duration::from_secs(1) / wanted),
        readers: 1,
        keys,
        idle: Duration::from_secs_f64(seconds),
        ..Replay::new(named.rib, changes)
    };
    let record = replay.run(&spec, &mut |_| {}).map_err(|error| error.to_string())?;
    if !record.is_right() {
        return Err(format!("{} {WRONG}", record.mismatches));
    }
    // Fewer than wanted if each takes longer.
    let possible = 1e6 / record.mean_us;
    Ok(Point {
        updates: if wanted == 0 { possible } else { possible.min(f64::from(wanted)) },
        rate: record.reader_mlps_churn,
        rate_without: record.reader_mlps_idle,
        slowest: record.reader_p9999_ns_churn,
        slowest_without: record.reader_p9999_ns_idle,
    })
}

/// Measures an engine that is compiled again.
fn compiled_again_under_updates<F: BenchFamily>(
    spec: &str,
    named: Named<'_, F>,
    changes: &[Change<F>],
    keys: &[F::Bits],
    wanted: u32,
    seconds: f64,
) -> Result<Point, String> {
    let mut table = BatchedTable::start(spec, named, keys)?;
    let rate_without = Some(table.rate(seconds));
    let Rates { reader, updates } = table.rates(changes, (wanted > 0).then_some(wanted))?;
    table.finish()?;
    Ok(Point { updates, rate: Some(reader), rate_without, slowest: None, slowest_without: None })
}

fn note<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
    engine: &str,
    wanted: u32,
    result: Result<Point, String>,
) {
    let place = Place { figure: FIGURE, ..Place::default() };
    let about = Value {
        engine: engine.into(),
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
            return context.note(at(place, named, Value { metric, x, refused, ..about }));
        }
    };
    let mut note = |metric: &str, unit: &str, value: Option<f64>| {
        let (metric, unit, x) = (metric.into(), unit.into(), Some(point.updates.round()));
        if value.is_some() {
            context.note(at(place, named, Value { metric, unit, x, value, ..about.clone() }));
        }
    };
    note("rate", "Mlps", point.rate);
    note("rate without updates", "Mlps", point.rate_without);
    let ns = |it: Option<u64>| it.map(|ns| ns as f64);
    note("99.99th percentile of a batch", "ns", ns(point.slowest));
    note("99.99th percentile without updates", "ns", ns(point.slowest_without));
}
