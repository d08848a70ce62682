//! Runs declared experiments: rates of sets of engines.

use longmatch::{Ipv4, Rib};
use longmatch_bench::{BenchFamily, RunConfig, syn1, syn2};

use crate::context::{ExperimentContext, MIB, Place};
use crate::declaration::{Absence, Axis, Rates, RunSpec, Tables};
use crate::engine_set::{EngineSet, EngineUnderTest, Measured};
use crate::inputs::{Effort, Inputs, Named};

/// Estimated seconds to compile one engine.
const COMPILE: f64 = 0.25;

/// Returns the estimated seconds of all sets of rates.
pub(crate) fn seconds(all: &[Rates], inputs: &Inputs, effort: &Effort) -> f64 {
    let one = |rates: &Rates| {
        let tables = match rates.tables {
            Tables::Ipv4 => inputs.ipv4().len(),
            Tables::Ipv6 => inputs.ipv6().len(),
            Tables::FirstIpv4 => inputs.ipv4().len().min(1),
            Tables::FirstIpv6 => inputs.ipv6().len().min(1),
            Tables::First => inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1),
            Tables::All => inputs.ipv4().len() + inputs.ipv6().len(),
            Tables::Split => 3 * inputs.ipv4().len(),
        };
        let engines = rates.engines.len();
        let runs = rates
            .runs
            .iter()
            .map(|run| places(run).len() as f64 * effort.rates(engines, run.brief));
        tables as f64 * (runs.sum::<f64>() + engines as f64 * COMPILE)
    };
    all.iter().map(one).sum()
}

/// Measures all sets of rates.
///
/// # Errors
/// If no set has a table.
pub(crate) fn run(all: &[Rates], context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    let mut tables = 0;
    for rates in all {
        let (four, six) = (context.inputs.ipv4(), context.inputs.ipv6());
        let first = match rates.tables {
            Tables::First | Tables::FirstIpv4 | Tables::FirstIpv6 => 1,
            _ => usize::MAX,
        };
        let ipv4 = !matches!(rates.tables, Tables::Ipv6 | Tables::FirstIpv6);
        let ipv6 = !matches!(rates.tables, Tables::Ipv4 | Tables::FirstIpv4 | Tables::Split);
        for named in four.into_iter().filter(|_| ipv4).take(first) {
            tables += 1;
            match rates.tables {
                Tables::Split => split(rates, context, named),
                _ => on_table(rates, context, named, ""),
            }
        }
        for named in six.into_iter().filter(|_| ipv6).take(first) {
            tables += 1;
            on_table(rates, context, named, "");
        }
    }
    if tables == 0 {
        return Err(Absence("needs a table with routes of the family".into()));
    }
    Ok(())
}

/// Measures the table, SYN1 and SYN2 as run configurations of one table.
fn split(rates: &Rates, context: &mut ExperimentContext<'_>, named: Named<'_, Ipv4>) {
    type Split = fn(&Rib<Ipv4>) -> Rib<Ipv4>;
    for (name, split) in [("the table", Rib::clone as Split), ("SYN1", syn1), ("SYN2", syn2)] {
        let rib = split(named.rib);
        on_table(rates, context, Named { rib: &rib, ..named }, name);
    }
}

fn on_table<F: BenchFamily>(
    rates: &Rates,
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
    prefix: &str,
) {
    let engines = EngineUnderTest::declared(&rates.engines);
    let set = match rates.parts.is_empty() {
        true => EngineSet::apart(named, &engines),
        false => EngineSet::new(named, &engines),
    };
    context.step(rates.engines.len() as f64 * COMPILE);
    let mut first = None;
    for run in &rates.runs {
        let name = [prefix, &run.name[..]]
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
            .join(", ");
        let Some(traffic) = context.traffic(run.traffic) else { continue };
        let Some(workload) = context.workload(&set, &traffic) else { continue };
        for x in places(run) {
            let setup = varied(run, x, context.setup(run));
            let place = Place { figure: &rates.figure, run: &name, x, at: "" };
            let measured = context.measure(place, &set, &workload, &setup);
            if x.is_none() {
                first.get_or_insert(measured);
            }
        }
    }
    // Values after the rates have columns after the rates.
    if let Some(measured) = first {
        let place = Place { figure: &rates.figure, run: prefix, ..Place::default() };
        counts(context, place, named, &set, &measured, &rates.parts);
    }
}

/// Returns the positions on the axis of a run configuration.
fn places(run: &RunSpec) -> Vec<Option<f64>> {
    match &run.axis {
        Axis::None => vec![None],
        Axis::Threads => (1..=cpus()).map(|threads| Some(threads as f64)).collect(),
        Axis::Batch(sizes) => sizes.iter().map(|size| Some(*size as f64)).collect(),
    }
}

/// Returns the number of CPUs of this process.
fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn varied(run: &RunSpec, x: Option<f64>, setup: RunConfig) -> RunConfig {
    match (&run.axis, x) {
        (Axis::Threads, Some(x)) => RunConfig { threads: x as usize, ..setup },
        (Axis::Batch(_), Some(x)) => RunConfig { batch: x as usize, ..setup },
        _ => setup,
    }
}

/// Notes the engines' memory, the items of their parts and, if there are parts, compile time.
fn counts<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    place: Place<'_>,
    named: Named<'_, F>,
    set: &EngineSet<'_, F>,
    measured: &[Measured],
    parts: &[(String, String)],
) {
    for ((engine, target), measured) in set.targets().zip(measured) {
        let (Some(target), Some(record)) = (target, measured.record()) else { continue };
        let memory = target.memory();
        let mut note =
            |metric, unit, value| context.count(place, named, &engine.spec, (metric, unit), value);
        for (part, metric) in parts {
            memory.part(part).into_iter().for_each(|own| note(metric, "", own.count as f64));
        }
        note("memory", "MiB", memory.bytes() as f64 / MIB);
        if !parts.is_empty() {
            note("compile", "ms", record.build_ms);
        }
    }
}
