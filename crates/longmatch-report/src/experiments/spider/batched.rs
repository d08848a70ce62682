//! Updates in batches: engines that are compiled again, and swapped under a reader.

use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use longmatch::live::{Batcher, Reader, Writer};
use longmatch::{Change, EngineKind, EngineSpec, NextHopId};
use longmatch_bench::{BenchFamily, Stats, pin, reader_keys};

use super::common::SPIDER;
use crate::claim::{Claim, Needs, of};
use crate::context::{ExperimentContext, Place, anchor, at};
use crate::declaration::{Absence, ChartKind, Figure, Rows};
use crate::experiment::{Experiment, Work};
use crate::experiments::updates::stream;
use crate::inputs::SEED;
use crate::inputs::{Effort, Inputs, Named};
use crate::record::{Spread, Value};

/// The engines without a patch of their own, and two that have one.
const ENGINES: [(&str, &str); 4] =
    [(SPIDER, "Spider_16w"), ("sail", "SAIL"), ("poptrie", ""), ("folio", "")];
/// Addresses in a call of the reader.
const BATCH: usize = 256;
/// Changes in a batch of updates.
const CHANGES: usize = 1000;
/// Rebuilds of which the median is taken.
const REBUILDS: usize = 5;

const FIGURE: &str = "batched-updates";

pub(super) fn batched_updates() -> Experiment {
    Experiment {
        name: FIGURE,
        aliases: &["spider-updates"],
        source: "Spider paper, section III-C",
        title: "Updates in batches",
        about: "Changes are collected, and one thread builds the whole table again and swaps it while another looks up. \
                The paper waits for some seconds between two batches and gives no numbers.",
        setting: "none",
        work: Work::Own(run, seconds),
        figures: vec![Figure {
            id: FIGURE,
            title: "A reader under batches of updates",
            caption: "The rate of one reader in batches of 256 routed addresses, with a batch of updates in each interval \
                      and without; medians over the intervals, which alternate. The delay is the time from a change \
                      until it is visible: the whole batch, with the RIB.",
            chart: ChartKind::None,
            rows: Rows::Engines,
        }],
        papers: Vec::new(),
        claims: vec![Claim {
            id: "SU.1",
            section: "III-C",
            text: "Updates in batches do not slow lookups down (Spider).",
            family: "ipv4",
            needs: vec![
                Needs::Fact("cores", 2.0, "a reader and a writer need a core each"),
                Needs::Least(
                    of("", "interval"),
                    1.0,
                    "the paper waits for seconds between batches",
                ),
                Needs::Most(of(SPIDER, "delay"), 1000.0, "a batch takes longer than the interval"),
            ],
            judge: (of(SPIDER, "rate with updates") / of(SPIDER, "rate without updates"))
                .within(0.9, 1.05),
        }],
    }
}

/// Intervals of each kind, and the seconds of one.
fn intervals(effort: &Effort) -> (usize, f64) {
    if effort.full { (5, 1.0) } else { (2, effort.seconds.min(0.2)) }
}

fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
    let (count, seconds) = intervals(effort);
    (tables * ENGINES.len()) as f64 * (2.0 * count as f64 * seconds + 1.5)
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
    let (count, seconds) = intervals(&context.effort);
    let stream = stream(named.rib, given, (count + REBUILDS) * CHANGES);
    let keys = reader_keys(named.rib, SEED);
    let anchor = anchor::<F>(FIGURE, named.name);
    context.condition(&anchor, "updates", format!("{}; {CHANGES} in a batch", stream.name));
    context.condition(&anchor, "intervals", format!("{count} of each kind, {seconds} s each"));
    context.condition(&anchor, "threads", "one reader, and one that builds");
    let place = Place { figure: FIGURE, ..Place::default() };
    context.count(place, named, "", ("interval", "s"), seconds);
    for (spec, alias) in ENGINES {
        let kind: Option<EngineKind> = spec.split(':').next().and_then(|name| name.parse().ok());
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

/// The delay of a batch, and the rates of a reader without and with updates.
fn measure<F: BenchFamily>(
    spec: &str,
    named: Named<'_, F>,
    changes: &[Change<F>],
    keys: &[F::Bits],
    (count, seconds): (usize, f64),
) -> Result<[Value; 3], String> {
    let mut spec: EngineSpec = spec.parse().expect("a spec of an engine");
    spec.memory = named.memory;
    // The thread of the batcher stays on the CPU on which it is started.
    pin::to(1);
    let writer = Writer::new(named.rib.clone(), spec).map_err(|error| error.to_string())?;
    let mut reader = writer.reader();
    let batcher = Batcher::new(writer, Duration::ZERO).map_err(|error| error.to_string())?;
    pin::to(0);
    let apply = |changes: &[Change<F>]| {
        changes.iter().try_for_each(|change| batcher.apply(*change)).map_err(|it| it.to_string())
    };
    let mut batches = changes.chunks(CHANGES).cycle();
    let mut next = || batches.next().unwrap_or_default();
    let (mut delays, mut without, mut with) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..REBUILDS {
        let started = Instant::now();
        apply(next())?;
        batcher.flush().map_err(|error| error.to_string())?;
        delays.push(started.elapsed().as_secs_f64() * 1e3);
    }
    for _ in 0..count {
        without.push(rate(&mut reader, keys, seconds));
        apply(next())?;
        with.push(rate(&mut reader, keys, seconds));
        batcher.flush().map_err(|error| error.to_string())?;
    }
    pin::free();
    let writer = batcher.end();
    if !agrees(&mut reader, writer.rib(), keys) {
        return Err(format!("1 {}", crate::context::WRONG));
    }
    Ok([
        value("delay", "ms", &delays),
        value("rate without updates", "Mlps", &without),
        value("rate with updates", "Mlps", &with),
    ])
}

/// Million lookups a second over an interval.
fn rate<F: BenchFamily>(reader: &mut Reader<F>, keys: &[F::Bits], seconds: f64) -> f64 {
    let mut out = [None; BATCH];
    let mut batches = keys.chunks_exact(BATCH).cycle();
    let mut online = reader.online();
    let (started, limit, mut lookups) = (Instant::now(), Duration::from_secs_f64(seconds), 0);
    while started.elapsed() < limit {
        for keys in batches.by_ref().take(64) {
            online.table().lookup_batch(keys, &mut out);
            online.quiescent();
            black_box(&out);
            lookups += BATCH;
        }
    }
    lookups as f64 / started.elapsed().as_secs_f64() / 1e6
}

/// Whether the table that the reader sees has the routes.
fn agrees<F: BenchFamily>(
    reader: &mut Reader<F>,
    rib: &longmatch::Rib<F>,
    keys: &[F::Bits],
) -> bool {
    let mut out = vec![None; keys.len()];
    reader.pin().lookup_batch(keys, &mut out);
    let right = |(key, got): (&F::Bits, &Option<NextHopId>)| {
        rib.get_lpm(F::addr(*key)).map(|route| route.next_hop) == *got
    };
    keys.iter().zip(&out).take(1 << 16).all(right)
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
