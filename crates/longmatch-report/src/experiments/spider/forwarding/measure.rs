//! The measurement of Figure 8.

use std::sync::Arc;

use longmatch::simd::Simd;
use longmatch::{EngineKind, Prefix, Rib, Route};
use longmatch_bench::ticks::Counter;
use longmatch_bench::{Mode, Oracle, PassResults, RunConfig, TimedWork, measure};
use longmatch_forward::Port;
use longmatch_forward::io::{GeneratedFrames, Null};

use super::{
    BATCH_TIMES, BATCHES, CAPTURE, DEFAULT_ROUTE, ENGINES, FEW_ENGINES, FIGURE, FROM_CAPTURE,
    ONE_DEFAULT, ONE_FULL, QUICK_BATCHES, QUICK_ENGINES, QUICK_FEW_ENGINES, SHARES, TWO_DEFAULT,
    TWO_DEFAULT_ROUTE, TWO_FULL, TWO_THREADS,
};
use crate::context::{ExperimentContext, Place, WRONG, anchor, at};
use crate::declaration::{Absence, TrafficKind};
use crate::engine_set::EngineUnderTest;
use crate::forwarding::{
    CapturedFrames, ForwardFamily, ForwardedPackets, ForwardingTable, FrameSource, GeneratedSource,
    PORTS, batch_ticks, with_default, wrong,
};
use crate::inputs::{Effort, Inputs, Named, SEED};
use crate::record::{Spread, Value};
use crate::scaled::{NEIGHBOURS, with_neighbours};

/// Destinations of the packets, which come again and again.
const DESTINATIONS: usize = 1 << 20;
/// Estimated seconds to compile one table.
const COMPILE: f64 = 0.4;
/// Estimated seconds for the times of the batches of one size.
const TIMED: f64 = 0.25;
/// The most and the fewest batches whose times are measured.
const MOST: usize = 1 << 18;
const FEWEST: usize = 1 << 10;

/// The batch sizes and the numbers of engines.
struct Extent {
    batches: &'static [usize],
    engines: usize,
    few_engines: usize,
}

impl Extent {
    fn of(effort: &Effort) -> Self {
        match effort.full {
            true => Self { batches: &BATCHES, engines: ENGINES.len(), few_engines: FEW_ENGINES },
            false => Self {
                batches: &QUICK_BATCHES,
                engines: QUICK_ENGINES,
                few_engines: QUICK_FEW_ENGINES,
            },
        }
    }

    /// Returns the number of engines in a figure.
    fn engines(&self, series: Series) -> usize {
        if series.few { self.few_engines } else { self.engines }
    }
}

/// Rates of an experiment's figure.
#[derive(Clone, Copy)]
struct Series {
    figure: &'static str,
    run: &'static str,
    threads: usize,
    /// Whether only a few engines are measured.
    few: bool,
}

const FULL_TABLE: [Series; 2] = [
    Series { figure: FIGURE, run: ONE_FULL, threads: 1, few: false },
    Series { figure: TWO_THREADS, run: TWO_FULL, threads: 2, few: true },
];
const FROM_MEMORY: Series = Series { figure: CAPTURE, run: FROM_CAPTURE, threads: 1, few: true };
const ONE_ROUTE: [Series; 2] = [
    Series { figure: DEFAULT_ROUTE, run: ONE_DEFAULT, threads: 1, few: false },
    Series { figure: TWO_DEFAULT_ROUTE, run: TWO_DEFAULT, threads: 2, few: true },
];

/// Returns the estimated seconds.
pub(in super::super::super) fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let families = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
    let extent = Extent::of(effort);
    let all = FULL_TABLE.into_iter().chain(ONE_ROUTE).chain([FROM_MEMORY]);
    let rates: f64 = all.map(|series| effort.rates(extent.engines(series), true)).sum();
    let timed = extent.engines as f64 * TIMED;
    let compiled = 2.0 * extent.engines as f64 * COMPILE;
    families as f64 * (compiled + extent.batches.len() as f64 * (rates + timed))
}

/// Measures the rates of forwarding and the times of batches.
pub(in super::super::super) fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    let inputs = context.inputs;
    if inputs.ipv4().is_empty() && inputs.ipv6().is_empty() {
        return Err(Absence("needs a table of routes".into()));
    }
    if let Some(named) = inputs.ipv4().first() {
        on_table(context, *named)?;
    }
    if let Some(named) = inputs.ipv6().first() {
        on_table(context, *named)?;
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
    fn new(context: &ExperimentContext<'_>, rib: &Rib<F>) -> Result<Self, Absence> {
        let ports = Null::ports(PORTS);
        let traffic = context.traffic(TrafficKind::SpiderRandom);
        let count = DESTINATIONS.min(context.effort.keys);
        let mut destinations = traffic.map_or_else(Vec::new, |it| it.keys(rib, count, SEED));
        destinations.retain(|addr| F::is_forwarded(*addr));
        let frames = F::frames(&ports, &destinations)
            .ok_or_else(|| Absence("no random destination is one that routers forward".into()))?;
        Ok(Self { ports, destinations, frames })
    }
}

fn on_table<F: ForwardFamily>(
    context: &mut ExperimentContext<'_>,
    given: Named<'_, F>,
) -> Result<(), Absence> {
    let failed = |error: std::io::Error| Absence(format!("a capture in memory failed: {error}"));
    let packets = Packets::new(context, given.rib)?;
    let captured = CapturedFrames::new(&packets.frames).map_err(failed)?;
    let generated = GeneratedSource(packets.frames.clone());
    let full = with_default(&with_neighbours(given.rib));
    let tables = Tables::new(context, Named { rib: &full, ..given }, &packets);
    for series in FULL_TABLE {
        tables.rates(context, series, &generated);
    }
    tables.rates(context, FROM_MEMORY, &captured);
    tables.times(context, &generated);
    drop(tables);
    let default_route = full.iter().filter(|route| route.prefix == Prefix::DEFAULT);
    let alone: Rib<F> = default_route.collect::<Vec<Route<F>>>().into_iter().collect();
    let tables = Tables::new(context, Named { rib: &alone, ..given }, &packets);
    for series in ONE_ROUTE {
        tables.rates(context, series, &generated);
    }
    Ok(())
}

/// The tables of all engines, and what their packets need.
struct Tables<'a, F: ForwardFamily> {
    named: Named<'a, F>,
    oracle: Oracle<F>,
    packets: &'a Packets<F>,
    all: Vec<ForwardingTable>,
}

impl<'a, F: ForwardFamily> Tables<'a, F> {
    fn new(
        context: &mut ExperimentContext<'_>,
        named: Named<'a, F>,
        packets: &'a Packets<F>,
    ) -> Self {
        let has = |spec: &str| {
            let kind = spec.split(':').next().and_then(|name| name.parse().ok());
            kind.is_some_and(|kind: EngineKind| F::has(kind))
        };
        let extent = Extent::of(&context.effort);
        let engines = ENGINES[..extent.engines].iter().copied().filter(|(spec, _)| has(spec));
        let all = ForwardingTable::all(named, &packets.ports, &engines.collect::<Vec<_>>());
        context.step(extent.engines as f64 * COMPILE);
        Self { named, oracle: Oracle::new(named.rib), packets, all }
    }

    /// Measures and notes the rates of a figure; nothing if there are more threads than CPUs.
    fn rates<S: FrameSource>(
        &self,
        context: &mut ExperimentContext<'_>,
        series: Series,
        source: &S,
    ) {
        if std::thread::available_parallelism().map_or(1, usize::from) < series.threads {
            return;
        }
        let setup = context.brief(Mode::Batch);
        let config = RunConfig { threads: series.threads, ..setup };
        let extent = Extent::of(&context.effort);
        let checked = context.effort.checked / extent.batches.len();
        let tables: Vec<&ForwardingTable> = self.first(extent.engines(series)).collect();
        self.conditions(context, series, &config, checked);
        for batch in extent.batches.iter().copied() {
            let all = self.measured(&tables, source, batch, &config, checked);
            for (table, result) in tables.iter().zip(all) {
                if is_stated(table, batch) {
                    continue;
                }
                let place = Place {
                    figure: series.figure,
                    run: series.run,
                    x: Some(batch as f64),
                    ..Place::default()
                };
                let about = about(&table.engine, batch, series.threads);
                let value = rate(result, about);
                context.note(at(place, self.named, value));
            }
            context.step(context.effort.rates(tables.len(), true));
        }
    }

    /// The first engines of the list, with their wider variants.
    fn first(&self, engines: usize) -> impl Iterator<Item = &ForwardingTable> {
        let wanted: Vec<&str> = ENGINES[..engines].iter().map(|(spec, _)| *spec).collect();
        let is = move |table: &&ForwardingTable| {
            let own = table.engine.spec.as_str();
            wanted.iter().any(|spec| own == *spec || own.starts_with(&format!("{spec}:")))
        };
        self.all.iter().filter(is)
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
            .map(|table| {
                let compiled = table.compiled.as_ref().map_err(Clone::clone)?;
                let checked = (batch, checked);
                match wrong(compiled, ports, source, destinations, &self.oracle, checked) {
                    Ok(0) => Ok(ForwardedPackets::new(compiled, ports, source, batch, parts)),
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
        series: Series,
        config: &RunConfig,
        checked: usize,
    ) {
        let anchor = anchor::<F>(series.figure, self.named.name);
        let pass_ms = config.seconds * 1e3 / (config.passes + 1) as f64;
        let pairs = [
            ("table", self.table_in_words()),
            ("destinations", self.destinations_in_words()),
            ("frames", self.frames_in_words()),
            (
                "threads",
                format!("{}, each pinned to a CPU, with queues of its own", series.threads),
            ),
            ("passes", format!("{} of {pass_ms:.0} ms, interleaved", config.passes)),
            (
                "packets checked",
                format!("{checked} of each engine and batch size; in the passes, their number"),
            ),
        ];
        for (name, value) in pairs {
            context.condition(&anchor, name, value);
        }
    }

    fn table_in_words(&self) -> String {
        let (name, routes) = (self.named.name, self.named.rib.len());
        format!(
            "{name}: {routes} routes with the default route, at most {NEIGHBOURS} next hops besides; {PORTS} ports"
        )
    }

    fn destinations_in_words(&self) -> String {
        let count = self.packets.destinations.len();
        let of = match F::WIDTH {
            32 => "random addresses",
            _ => "the first 32 bits of a random route, 32 random bits, ::1",
        };
        format!("{count}, {of}, without {}; seed {SEED}", F::LEFT_OUT)
    }

    fn frames_in_words(&self) -> String {
        let len = self.packets.frames.frame_len();
        format!("UDP, {len} bytes, {} on the wire with the frame check sequence", len + 4)
    }

    /// Measures and notes the times of batches.
    fn times(&self, context: &mut ExperimentContext<'_>, source: &GeneratedSource) {
        let place = Place { figure: BATCH_TIMES, ..Place::default() };
        let anchor = anchor::<F>(BATCH_TIMES, self.named.name);
        for batch in Extent::of(&context.effort).batches.iter().copied() {
            let count = (context.effort.cycles / batch).clamp(FEWEST, MOST);
            let place = Place { x: Some(batch as f64), ..place };
            for table in &self.all {
                if is_stated(table, batch) {
                    continue;
                }
                let about = about(&table.engine, batch, 1);
                let timed = table.compiled.as_ref().map_err(Clone::clone).and_then(|compiled| {
                    let timed = batch_ticks(compiled, &self.packets.ports, source, (batch, count));
                    timed.map_err(|error| error.to_string())
                });
                for value in times(timed, about) {
                    context.note(at(place, self.named, value));
                }
            }
            context.condition(&anchor, "batches", format!("{count} of {batch}"));
            context.step(self.all.len() as f64 * TIMED);
        }
        let clock = "time stamp counter between fences; its own time is subtracted";
        context.condition(&anchor, "clock", clock);
        context.condition(&anchor, "table", self.table_in_words());
        context.condition(&anchor, "destinations", self.destinations_in_words());
        context.condition(&anchor, "frames", self.frames_in_words());
        context.condition(&anchor, "threads", "1, pinned to a CPU");
    }
}

/// Whether the row of an earlier batch size states why the engine has no table.
fn is_stated(table: &ForwardingTable, batch: usize) -> bool {
    table.compiled.is_err() && batch > BATCHES[0]
}

/// Returns the values of the times of batches: their percentiles, or the reason why there are none.
fn times(timed: Result<(Counter, Vec<u64>), String>, about: Value) -> Vec<Value> {
    match timed {
        Err(refused) => vec![Value { metric: SHARES[0].0.into(), refused, ..about }],
        Ok((counter, mut ticks)) => {
            ticks.sort_unstable();
            let value = |(metric, share): (&str, f64)| Value {
                metric: metric.into(),
                unit: "ns".into(),
                value: Some(counter.nanoseconds(percentile(&ticks, share)).round()),
                ..about.clone()
            };
            SHARES.map(value).into()
        }
    }
}

/// Returns the least of the sorted numbers that this share of them does not exceed; 0 without numbers.
fn percentile(sorted: &[u64], share: f64) -> u64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

/// Returns a value without a quantity.
fn about(engine: &EngineUnderTest, batch: usize, threads: usize) -> Value {
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
            spread: Spread {
                min: Some(stats.min),
                q1: Some(stats.q1),
                q3: Some(stats.q3),
                max: Some(stats.max),
                mean: Some(stats.mean),
                std_dev: Some(stats.std_dev),
                ..Spread::default()
            },
            passes: passes.rates.len() as u64,
            repeated: passes.repeated as u64,
            disturbed: passes.disturbed as u64,
            ..about
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_sorted_numbers() {
        let sorted: Vec<u64> = (1..=1000).collect();
        let shares = SHARES.map(|(_, share)| percentile(&sorted, share));
        assert_eq!(shares, [500, 900, 990, 999]);
        assert_eq!((percentile(&[7], 0.999), percentile(&[], 0.5)), (7, 0));
    }
}
