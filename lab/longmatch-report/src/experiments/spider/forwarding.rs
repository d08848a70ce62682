//! Packets forwarded by batch size: Figures 7 and 8 of the Spider paper.

use std::sync::Arc;

use longmatch::simd::Simd;
use longmatch::{Prefix, Rib};
use longmatch_bench::{Mode, Oracle, PassResults, RunConfig, TimedWork, Traffic, measure};
use longmatch_forward::Port;
use longmatch_forward::io::{GeneratedFrames, Null};

use crate::context::{ExperimentContext, FigureCell, WRONG, anchor, at};
use crate::declaration::{CalledEngine, Skipped};
use crate::distribution::Ticks;
use crate::forwarding::{
    Batches, CapturedFrames, ForwardFamily, ForwardedPackets, ForwardingTable, FrameSource, PORTS,
    forwarding_tables, with_default,
};
use crate::inputs::{Effort, Named, SEED};
use crate::record::Value;
use crate::scaled::{NEIGHBOURS, with_neighbours};

const BATCH_TIMES: &str = "spider-fig8-latency";
/// The shares of batches in the figure of their times.
const SHARES: [(&str, f64); 4] = [
    ("50th percentile", 0.5),
    ("90th percentile", 0.9),
    ("99th percentile", 0.99),
    ("99.9th percentile", 0.999),
];
/// Packets in a batch.
const BATCHES: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const QUICK_BATCHES: [usize; 4] = [1, 16, 32, 256];
/// The numbers of engines with one thread, and with two threads or from a capture.
const ENGINES: [usize; 2] = [usize::MAX, 3];
const QUICK_ENGINES: [usize; 2] = [3, 2];
/// Destinations of the packets, which come again and again.
const DESTINATIONS: usize = 1 << 20;
/// Estimated seconds to compile one table.
const COMPILE: f64 = 0.4;
/// Estimated seconds for the times of the batches of one size.
const TIMED: f64 = 0.25;
/// The most and the fewest batches whose times are measured.
const MOST: usize = 1 << 18;
const FEWEST: usize = 1 << 10;

/// Returns the batch sizes and the numbers of engines.
fn extent(effort: &Effort) -> (&'static [usize], [usize; 2]) {
    if effort.full { (&BATCHES, ENGINES) } else { (&QUICK_BATCHES, QUICK_ENGINES) }
}

/// Rates of a figure.
#[derive(Clone, Copy)]
struct ForwardingSeries {
    figure: &'static str,
    run: &'static str,
    threads: usize,
    /// Whether only a few engines are measured.
    few: bool,
}

const FULL_TABLE: [ForwardingSeries; 2] = [
    ForwardingSeries {
        figure: "spider-fig8",
        run: "one thread, full table",
        threads: 1,
        few: false,
    },
    ForwardingSeries {
        figure: "spider-fig8-two",
        run: "two threads, full table",
        threads: 2,
        few: true,
    },
];
const FROM_MEMORY: ForwardingSeries = ForwardingSeries {
    figure: "spider-fig8-capture",
    run: "from a capture",
    threads: 1,
    few: true,
};
const ONE_ROUTE: [ForwardingSeries; 2] = [
    ForwardingSeries {
        figure: "spider-fig8-default",
        run: "one thread, default route",
        threads: 1,
        few: false,
    },
    ForwardingSeries {
        figure: "spider-fig8-two-default",
        run: "two threads, default route",
        threads: 2,
        few: true,
    },
];

pub(in super::super) fn seconds(engines: f64, effort: &Effort) -> f64 {
    let (batches, most) = extent(effort);
    let [all, few] = most.map(|most| most.min(engines as usize));
    let series = FULL_TABLE.into_iter().chain(ONE_ROUTE).chain([FROM_MEMORY]);
    let rates: f64 = series.map(|it| effort.rates(if it.few { few } else { all }, true)).sum();
    all as f64 * 2.0 * COMPILE + batches.len() as f64 * (rates + all as f64 * TIMED)
}

/// Measures the rates of forwarding and the times of batches.
pub(in super::super) fn on_table<F: ForwardFamily>(
    context: &mut ExperimentContext<'_>,
    given: Named<'_, F>,
) -> Result<(), Skipped> {
    let failed = |error: std::io::Error| Skipped(format!("a capture in memory failed: {error}"));
    let packets = Packets::new(context, given.rib)?;
    let captured = CapturedFrames::new(&packets.frames).map_err(failed)?;
    let full = with_default(&with_neighbours(given.rib));
    let tables = ForwardingTables::new(context, Named { rib: &full, ..given }, &packets);
    for series in FULL_TABLE {
        tables.rates(context, series, &packets.frames);
    }
    tables.rates(context, FROM_MEMORY, &captured);
    tables.times(context);
    drop(tables);
    let alone: Rib<F> = full.iter().filter(|route| route.prefix == Prefix::DEFAULT).collect();
    let tables = ForwardingTables::new(context, Named { rib: &alone, ..given }, &packets);
    for series in ONE_ROUTE {
        tables.rates(context, series, &packets.frames);
    }
    Ok(())
}

/// The packets of a family.
struct Packets<F: ForwardFamily> {
    ports: Vec<Arc<Port>>,
    destinations: Vec<F::Bits>,
    frames: GeneratedFrames,
}

impl<F: ForwardFamily> Packets<F> {
    /// Makes the packets; the reason if there are none.
    fn new(context: &ExperimentContext<'_>, rib: &Rib<F>) -> Result<Self, Skipped> {
        let ports = Null::ports(PORTS);
        let count = DESTINATIONS.min(context.effort.keys);
        let mut destinations = Traffic::SpiderRandom.keys(rib, count, SEED);
        destinations.retain(|addr| F::is_forwarded(*addr));
        let frames = F::frames(&ports, &destinations)
            .ok_or_else(|| Skipped("no random destination is one that routers forward".into()))?;
        Ok(Self { ports, destinations, frames })
    }
}

/// The tables of all engines, and the data for their packets.
struct ForwardingTables<'a, F: ForwardFamily> {
    named: Named<'a, F>,
    oracle: Oracle<F>,
    packets: &'a Packets<F>,
    all: Vec<ForwardingTable>,
}

impl<'a, F: ForwardFamily> ForwardingTables<'a, F> {
    fn new(
        context: &mut ExperimentContext<'_>,
        named: Named<'a, F>,
        packets: &'a Packets<F>,
    ) -> Self {
        let (_, [most, _]) = extent(&context.effort);
        let engines = context.experiment.engines.iter().take(most);
        let engines: Vec<_> = engines.filter(|it| it.exists_for::<F>()).cloned().collect();
        let all = forwarding_tables(named, &packets.ports, &engines);
        context.step(engines.len() as f64 * COMPILE);
        Self { named, oracle: Oracle::new(named.rib), packets, all }
    }

    /// Measures and notes the rates of a figure; nothing if there are more threads than CPUs.
    fn rates<S: FrameSource>(
        &self,
        context: &mut ExperimentContext<'_>,
        series: ForwardingSeries,
        source: &S,
    ) {
        if std::thread::available_parallelism().map_or(1, usize::from) < series.threads {
            return;
        }
        let setup = context.brief(Mode::Batch);
        let config = RunConfig { threads: series.threads, ..setup };
        let ForwardingSeries { figure, run, threads, few } = series;
        let (batches, most) = extent(&context.effort);
        let checked = context.effort.checked / batches.len();
        let engines = &context.experiment.engines;
        let wanted = &engines[..engines.len().min(most[usize::from(few)])];
        let tables: Vec<_> = self.all.iter().filter(|it| is_of(&it.0, wanted)).collect();
        self.conditions(context, series, &config, checked);
        for batch in batches.iter().copied() {
            let all = self.measured(&tables, source, batch, &config, checked);
            for (table, result) in tables.iter().zip(all) {
                if is_stated(table, batch) {
                    continue;
                }
                let cell =
                    FigureCell { figure, run, x: Some(batch as f64), ..FigureCell::default() };
                let value = rate(result, about(&table.0, batch, threads));
                context.note(at(cell, self.named, value));
            }
            context.step(context.effort.rates(tables.len(), true));
        }
    }

    /// Checks packets of every table, then measures those without a wrong one; the reason for the others.
    fn measured<S: FrameSource>(
        &self,
        tables: &[&ForwardingTable],
        source: &S,
        batch: usize,
        config: &RunConfig,
        checked: usize,
    ) -> Vec<Result<PassResults, String>> {
        let Packets { ports, destinations, .. } = self.packets;
        let parts = (config.threads, config.passes);
        let works: Vec<_> = tables
            .iter()
            .map(|(_, compiled)| {
                let compiled = compiled.as_ref().map_err(Clone::clone)?;
                let batches = Batches { compiled, ports, source, batch };
                match batches.wrong(destinations, &self.oracle, checked) {
                    Ok(0) => Ok(ForwardedPackets::new(batches, parts)),
                    Ok(wrong) => Err(format!("{wrong} {WRONG}")),
                    Err(error) => Err(error.to_string()),
                }
            })
            .collect();
        let right: Vec<&dyn TimedWork> =
            works.iter().filter_map(|work| Some(work.as_ref().ok()? as &dyn TimedWork)).collect();
        let measured = measure(&right, config).map_err(|error| error.to_string());
        let mut results = measured.as_ref().map(|all| all.iter()).unwrap_or_default();
        let result = |work: &Result<ForwardedPackets<'_, S>, String>| match work {
            Err(reason) => Err(reason.clone()),
            Ok(work) => match (results.next(), &measured) {
                _ if work.stopped() > 0 => Err(format!("{} {WRONG}", work.stopped())),
                (Some(result), _) => Ok(result.clone()),
                (None, Err(reason)) => Err(reason.clone()),
                (None, Ok(_)) => Err("was not measured".into()),
            },
        };
        works.iter().map(result).collect()
    }

    fn conditions(
        &self,
        context: &mut ExperimentContext<'_>,
        series: ForwardingSeries,
        config: &RunConfig,
        checked: usize,
    ) {
        let ForwardingSeries { figure, threads, .. } = series;
        let anchor = anchor::<F>(figure, self.named.name);
        self.setup(context, &anchor);
        let threads = format!("{threads}, each pinned to a CPU, with queues of its own");
        context.condition(&anchor, "threads", threads);
        let ms = config.seconds * 1e3 / (config.passes + 1) as f64;
        let passes = format!("{} of {ms:.0} ms, interleaved", config.passes);
        context.condition(&anchor, "passes", passes);
        let checked =
            format!("{checked} of each engine and batch size; in the passes, their number");
        context.condition(&anchor, "packets checked", checked);
    }

    /// Notes the table and the packets of a figure.
    fn setup(&self, context: &mut ExperimentContext<'_>, anchor: &str) {
        let (name, routes) = (self.named.name, self.named.rib.len());
        let table = format!(
            "{name}: {routes} routes with the default route, at most {NEIGHBOURS} next hops besides; {PORTS} ports"
        );
        context.condition(anchor, "table", table);
        let of = match F::WIDTH {
            32 => "random addresses",
            _ => "the first 32 bits of a random route, 32 random bits, ::1",
        };
        let count = self.packets.destinations.len();
        let destinations = format!("{count}, {of}, without {}; seed {SEED}", F::LEFT_OUT);
        context.condition(anchor, "destinations", destinations);
        let len = self.packets.frames.frame_len();
        let frames =
            format!("UDP, {len} bytes, {} on the wire with the frame check sequence", len + 4);
        context.condition(anchor, "frames", frames);
    }

    /// Measures and notes the times of batches.
    fn times(&self, context: &mut ExperimentContext<'_>) {
        let cell = FigureCell { figure: BATCH_TIMES, ..FigureCell::default() };
        let anchor = anchor::<F>(BATCH_TIMES, self.named.name);
        for batch in extent(&context.effort).0.iter().copied() {
            let count = (context.effort.cycles / batch).clamp(FEWEST, MOST);
            let cell = FigureCell { x: Some(batch as f64), ..cell };
            for table in &self.all {
                if is_stated(table, batch) {
                    continue;
                }
                let (engine, compiled) = table;
                let timed = compiled.as_ref().map_err(Clone::clone).and_then(|compiled| {
                    let Packets { ports, frames: source, .. } = self.packets;
                    let batches = Batches { compiled, ports, source, batch };
                    batches.ticks(count).map_err(|error| error.to_string())
                });
                for value in times(timed, about(engine, batch, 1)) {
                    context.note(at(cell, self.named, value));
                }
            }
            context.condition(&anchor, "batches", format!("{count} of {batch}"));
            context.step(self.all.len() as f64 * TIMED);
        }
        let clock = "time stamp counter between fences; its own time is subtracted";
        context.condition(&anchor, "clock", clock);
        self.setup(context, &anchor);
        context.condition(&anchor, "threads", "1, pinned to a CPU");
    }
}

/// Whether the row of an earlier batch size states why the engine has no table.
fn is_stated(table: &ForwardingTable, batch: usize) -> bool {
    table.1.is_err() && batch > BATCHES[0]
}

/// Returns whether an engine is one of the wanted ones, or the wider variant of one.
fn is_of(engine: &CalledEngine, wanted: &[CalledEngine]) -> bool {
    let own = &engine.spec;
    wanted.iter().any(|it| *own == it.spec || own.starts_with(&format!("{}:", it.spec)))
}

/// Returns the values of the times of batches: their percentiles, or the reason why there are none.
fn times(timed: Result<Ticks<u64>, String>, about: Value) -> Vec<Value> {
    match timed {
        Err(refused) => vec![Value { metric: SHARES[0].0.into(), refused, ..about }],
        Ok(ticks) => {
            let value = |(metric, share): (&str, f64)| Value {
                metric: metric.into(),
                unit: "ns".into(),
                value: Some(ticks.nanoseconds(share)),
                ..about.clone()
            };
            SHARES.map(value).into()
        }
    }
}

/// Returns a value without a quantity.
fn about(engine: &CalledEngine, batch: usize, threads: usize) -> Value {
    Value {
        engine: engine.spec.clone(),
        alias: engine.alias.clone(),
        traffic: "spider-random".into(),
        keys: "array".into(),
        mode: "batch".into(),
        batch: batch as u64,
        threads: threads as u64,
        simd: Simd::best().level().name().into(),
        ..Value::default()
    }
}

/// Returns the value with the rate of passes.
fn rate(result: Result<PassResults, String>, about: Value) -> Value {
    let about = Value { metric: "rate".into(), unit: "Mpps".into(), ..about };
    let stats = result.and_then(|it| Ok((it.stats().ok_or("was not measured")?, it)));
    match stats {
        Err(refused) => Value { refused, ..about },
        Ok((stats, passes)) => Value {
            value: Some(stats.median),
            spread: stats.into(),
            passes: passes.rates.len() as u64,
            repeated: passes.repeated as u64,
            disturbed: passes.disturbed as u64,
            ..about
        },
    }
}
