//! Tables of other sizes: growth, small tables, memory.

use longmatch::{EngineKind, EngineSpec, Fib, Rib};
use longmatch_bench::{BenchFamily, Mode, Traffic};

use super::common::{BATCH, ours};
use crate::context::{ExperimentContext, MIB, Place, at};
use crate::context::{OnTable, on_all, on_first};
use crate::declaration::{Absence, ChartKind, Figure, Rows, RunSpec};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};
use crate::inputs::SEED;
use crate::inputs::{Effort, Inputs, Named};
use crate::record::Value;
use crate::scaled::{Growth, renumbered, thinned};

/// Estimated seconds per route: making the table, compiling all engines, the oracle.
const PER_ROUTE: f64 = 2.0e-6;
/// An engine with more bytes than this is left out of larger tables.
const TOO_MUCH: usize = 256 << 20;

/// Returns the number of routes of the first table of each family.
fn routes(inputs: &Inputs) -> usize {
    let four = inputs.ipv4().first().map_or(0, |named| named.rib.len());
    four + inputs.ipv6().first().map_or(0, |named| named.rib.len())
}

fn figure(
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    metric: &'static str,
) -> Figure {
    let log_y = metric != "rate";
    Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        chart: ChartKind::Lines(metric.into(), ("routes".into(), "".into()), [true, log_y]),
        rows: Rows::Places,
        words: Vec::new(),
    }
}

struct Growing;

/// Returns the sizes, as multiples of the table.
fn factors(effort: &Effort) -> &'static [f64] {
    if effort.full { &[0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0] } else { &[0.25, 1.0, 4.0] }
}

const GROWING: [&str; 7] = ["folio", "poptrie", "dxr", "dir24_8", "tree_bitmap", "radix", "spider"];

pub(super) fn growth() -> Experiment {
    ours(
        "growth",
        "Growing tables",
        "Rates and memory from an eighth of the routes to eight times as many. Smaller tables are random parts of the \
         table. Larger tables add more specific routes, as deaggregation does: their lengths, and the share whose next \
         hop equals that of the covering route, are those of the table.",
        Work::Own((
            |context| on_first(context, &Growing),
            |inputs, effort| {
                let all: f64 = factors(effort).iter().sum();
                let families = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
                let rates = effort.rates(families * factors(effort).len() * GROWING.len(), true);
                routes(inputs) as f64 * all * PER_ROUTE + rates
            },
        )),
        vec![
            figure(
                "growth",
                "Rates by routes",
                "Batches of routed addresses. A wider variant replaces an engine that refuses a table.",
                "rate",
            ),
            figure(
                "growth-memory",
                "Memory by routes",
                "Bytes of the compiled structures of the same tables.",
                "memory",
            ),
        ],
    )
}

impl OnTable for Growing {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        let mut growth = Growth::new(named.rib, SEED);
        let mut engines = GROWING.to_vec();
        for factor in factors(&context.effort) {
            let wanted = (named.rib.len() as f64 * factor).round() as usize;
            let thin = (*factor < 1.0).then(|| thinned(named.rib, wanted, SEED));
            let rib = thin.as_ref().unwrap_or_else(|| growth.to(wanted));
            let sized = Named { rib, ..named };
            let set = EngineSet::apart(sized, &EngineUnderTest::unnamed(&engines));
            context.step(rib.len() as f64 * PER_ROUTE);
            let Some(workload) = context.workload(&set, &Traffic::Routed) else { continue };
            let x = Some(rib.len() as f64);
            let setup = context.setup(&RunSpec { brief: true, ..BATCH });
            let place = Place { figure: "growth", x, ..Place::default() };
            for it in context.measure(place, &set, &workload, &setup) {
                let Some(record) = it.record() else { continue };
                let place = Place { figure: "growth-memory", x, ..Place::default() };
                let mib = record.bytes as f64 / MIB;
                context.count(place, sized, &it.engine.spec, ("memory", "MiB"), mib);
                let own = |spec: &&str| it.engine.spec.split(':').next() == Some(*spec);
                if record.bytes > TOO_MUCH {
                    engines.retain(|spec| !own(spec));
                }
            }
        }
        Ok(())
    }
}

struct Small;

fn sizes(effort: &Effort) -> &'static [usize] {
    if effort.full { &[10, 100, 1000, 10_000, 100_000] } else { &[10, 1000, 100_000] }
}

const SMALL: [&str; 6] = ["radix", "tree_bitmap", "poptrie", "dxr", "folio", "dir24_8"];

pub(super) fn small_tables() -> Experiment {
    ours(
        "small-tables",
        "Small tables",
        "Random parts of the table, of ten to a hundred thousand routes: rates in batches and one by one, compile \
         time, and memory. The papers' engines are made for full tables; a simple trie can suffice here.",
        Work::Own((
            |context| on_first(context, &Small),
            |inputs, effort| {
                let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
                let sizes = sizes(effort).len();
                tables as f64 * (effort.rates(2 * sizes * SMALL.len(), true) + 0.3 * sizes as f64)
            },
        )),
        vec![figure(
            "small-tables",
            "Small tables",
            "Routed addresses from an array. Next hops are numbered from 1, as in a table of that size.",
            "rate",
        )],
    )
}

impl OnTable for Small {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        let mut before = 0;
        for routes in sizes(&context.effort) {
            let rib = renumbered(&thinned(named.rib, *routes, SEED));
            if rib.len() == before {
                break;
            }
            before = rib.len();
            let sized = Named { rib: &rib, ..named };
            let set = EngineSet::new(sized, &EngineUnderTest::unnamed(&SMALL));
            let Some(workload) = context.workload(&set, &Traffic::Routed) else { continue };
            context.step(0.3);
            let x = Some(rib.len() as f64);
            let of = |run| Place { figure: "small-tables", run, x, at: "" };
            for (run, mode) in [("batches", Mode::Batch), ("one by one", Mode::One)] {
                let setup = context.setup(&RunSpec { mode, brief: true, ..BATCH });
                let measured = context.measure(of(run), &set, &workload, &setup);
                for it in measured.iter().filter(|_| mode == Mode::One) {
                    let Some(record) = it.record() else { continue };
                    let spec = &it.engine.spec;
                    context.count(of(""), sized, spec, ("compile", "ms"), record.build_ms);
                    context.count(of(""), sized, spec, ("bytes", "B"), record.bytes as f64);
                }
            }
        }
        Ok(())
    }
}

struct Memory;

/// The sizes, as parts of each table.
const PARTS: [f64; 4] = [0.125, 0.25, 0.5, 1.0];

pub(super) fn memory() -> Experiment {
    ours(
        "memory",
        "Memory by routes",
        "The bytes of every engine's structure, for each table and for random parts of it.",
        Work::Own((
            |context| on_all(context, &Memory),
            |inputs, _| {
                let four = inputs.ipv4().iter().map(|it| it.rib.len()).sum::<usize>();
                let six = inputs.ipv6().iter().map(|it| it.rib.len()).sum::<usize>();
                PER_ROUTE * (four + six) as f64
            },
        )),
        vec![figure(
            "memory",
            "Memory by routes",
            "Counted in the compiled structures, with default options. Smaller tables are random parts of the table.",
            "bytes",
        )],
    )
}

impl OnTable for Memory {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        for part in PARTS {
            let wanted = (named.rib.len() as f64 * part).round() as usize;
            let thin = (part < 1.0).then(|| thinned(named.rib, wanted, SEED));
            let named = Named { rib: thin.as_ref().unwrap_or(named.rib), ..named };
            let x = Some(named.rib.len() as f64);
            let kinds =
                EngineKind::ALL.into_iter().filter(|kind| !kind.is_oracle() && F::has(*kind));
            for spec in kinds.map(EngineSpec::from) {
                count(context, Place { figure: "memory", x, ..Place::default() }, named, &spec);
            }
            context.step(PER_ROUTE * named.rib.len() as f64 / PARTS.iter().sum::<f64>());
        }
        Ok(())
    }
}

/// Counts the bytes of an engine; if it refuses the table, also of its narrowest wider variant that holds the table.
fn count<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    place: Place<'_>,
    named: Named<'_, F>,
    spec: &EngineSpec,
) {
    let bytes = |rib: &Rib<F>, spec: &EngineSpec| {
        let fib = Fib::compile(rib, spec.clone()).map_err(|error| error.to_string())?;
        Ok::<_, String>(fib.memory_usage().bytes() as f64)
    };
    match bytes(named.rib, spec) {
        Ok(bytes) => context.count(place, named, &spec.to_string(), ("bytes", "B"), bytes),
        Err(refused) => {
            let (engine, metric, unit) = (spec.to_string(), "bytes".into(), "B".into());
            context.note(at(
                place,
                named,
                Value { engine, metric, unit, refused, ..Value::default() },
            ));
            let wider = spec.wider().into_iter();
            let found = wider
                .filter_map(|spec| Some((spec.to_string(), bytes(named.rib, &spec).ok()?)))
                .next();
            if let Some((spec, bytes)) = found {
                context.count(place, named, &spec, ("bytes", "B"), bytes);
            }
        }
    }
}
