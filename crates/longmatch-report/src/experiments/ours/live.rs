//! Updates per second against the rate of a reader.

use core::time::Duration;

use longmatch::{Change, EngineSpec};
use longmatch_bench::{BenchFamily, Replay, ReplayRecord, reader_keys};

use super::common::ours;
use crate::context::{ExperimentContext, Place, WRONG, anchor, at};
use crate::declaration::{Absence, ChartKind, Figure, Rows};
use crate::experiment::{Experiment, Work};
use crate::experiments::updates::{Stream, stream};
use crate::inputs::SEED;
use crate::inputs::{Effort, Inputs, Named};
use crate::record::Value;

const ENGINES: [&str; 5] = ["folio", "poptrie", "dxr", "dir24_8", "tree_bitmap"];
/// How many of them a quick report has.
const QUICK_ENGINES: usize = 3;
/// Updates a second; 0 stands for as many as possible.
const RATES: [u32; 4] = [1_000, 10_000, 100_000, 0];
const QUICK_RATES: [u32; 2] = [10_000, 0];
/// Seconds of each, if there are so many updates.
const FULL: f64 = 1.5;
const QUICK: f64 = 0.3;

const FIGURE: &str = "live";

pub(super) fn live() -> Experiment {
    let experiment = ours(
        FIGURE,
        "Updates per second against lookups per second",
        "One thread looks up as fast as it can while another changes the table: never, a thousand times a second and \
         more, and as fast as it can. Each change is visible to the reader before the next.",
        Work::Own(run, seconds),
        vec![Figure {
            id: FIGURE,
            title: "A reader under updates",
            caption: "The rate of the reader by the number of updates a second, one a commit. The last point of each \
                      line is a writer that does nothing else. Afterwards the table is compared with its routes.",
            chart: ChartKind::Lines("rate", ("updates a second", ""), [true, false]),
            rows: Rows::Places,
        }],
    );
    Experiment { aliases: &["updates-against-lookups"], ..experiment }
}

/// The engines, and the updates a second.
fn series(effort: &Effort) -> (&'static [&'static str], &'static [u32], f64) {
    match effort.full {
        true => (&ENGINES, &RATES, FULL),
        false => (&ENGINES[..QUICK_ENGINES], &QUICK_RATES, QUICK),
    }
}

fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let (engines, rates, seconds) = series(effort);
    let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
    tables as f64 * (engines.len() * rates.len()) as f64 * (2.0 * seconds + 1.2)
}

fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return Err(Absence(
            "needs two CPUs: a reader and a writer that share one say little".into(),
        ));
    }
    let inputs = context.inputs;
    let updates = inputs.updates.as_ref();
    if let Some(named) = inputs.ipv4().first() {
        on_table(context, *named, updates.map(|it| (&it.name[..], &it.ipv4[..])));
    }
    if let Some(named) = inputs.ipv6().first() {
        on_table(context, *named, updates.map(|it| (&it.name[..], &it.ipv6[..])));
    }
    Ok(())
}

fn on_table<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
    given: Option<(&str, &[Change<F>])>,
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
        format!("{seconds} s at each rate, and as long without updates before"),
    );
    for engine in engines {
        for wanted in rates.iter().copied() {
            let result = replay(engine, named, &stream, &keys, wanted, seconds);
            note(context, named, engine, wanted, result);
            context.step(2.0 * seconds + 1.2);
        }
    }
}

fn replay<F: BenchFamily>(
    spec: &str,
    named: Named<'_, F>,
    stream: &Stream<F>,
    keys: &[F::Bits],
    wanted: u32,
    seconds: f64,
) -> Result<ReplayRecord, String> {
    let spec: EngineSpec = spec.parse().expect("a spec of an engine");
    let most = match wanted {
        0 => stream.changes.len(),
        wanted => (f64::from(wanted) * seconds) as usize,
    };
    let replay = Replay {
        rib: named.rib,
        changes: &stream.changes[..most.min(stream.changes.len())],
        batch: 1,
        pace: (wanted > 0).then(|| Duration::from_secs(1) / wanted),
        readers: 1,
        keys,
        idle: Duration::from_secs_f64(seconds),
        idle_after: false,
        verify_every: None,
        full: false,
    };
    let writer = replay.writer(&spec).map_err(|error| error.to_string())?;
    let record = replay.run(writer, &spec, &mut |_| {}).map_err(|error| error.to_string())?;
    if record.is_right() { Ok(record) } else { Err(format!("{} {WRONG}", record.mismatches)) }
}

fn note<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
    engine: &str,
    wanted: u32,
    result: Result<ReplayRecord, String>,
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
    let record = match result {
        Ok(record) => record,
        Err(refused) => {
            let (metric, x) = ("rate".into(), Some(f64::from(wanted)));
            return context.note(at(place, named, Value { metric, x, refused, ..about }));
        }
    };
    // The updates that there were: as many as wanted, unless each takes longer.
    let possible = 1e6 / record.mean_us;
    let updates = if wanted == 0 { possible } else { possible.min(f64::from(wanted)) };
    let mut note = |metric: &str, unit: &str, value: Option<f64>| {
        let (metric, unit, x) = (metric.into(), unit.into(), Some(updates.round()));
        if value.is_some() {
            context.note(at(place, named, Value { metric, unit, x, value, ..about.clone() }));
        }
    };
    note("rate", "Mlps", record.reader_mlps_churn);
    note("rate without updates", "Mlps", record.reader_mlps_idle);
    let ns = |it: Option<u64>| it.map(|ns| ns as f64);
    note("99.99th percentile of a batch", "ns", ns(record.reader_p9999_ns_churn));
    note("99.99th percentile without updates", "ns", ns(record.reader_p9999_ns_idle));
}
