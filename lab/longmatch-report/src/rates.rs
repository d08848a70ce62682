//! Runs declared experiments: rates of sets of engines.

use core::time::Duration;

use longmatch::simd::{Level, Simd};
use longmatch::{Ipv4, Rib};
use longmatch_bench::{
    BenchFamily, RunConfig, Traffic, Workload, known_peers, peer_directory_name, pin, syn1, syn2,
};

use crate::context::{ExperimentContext, FigureCell, MIB, anchor};
use crate::declaration::{CalledEngine, Rates, RunSpec, Skipped, TableChoice, Varied};
use crate::engine_set::{EngineSet, Measured};
use crate::inputs::{Effort, Inputs, Named, SEED};
use crate::scaled::{Growth, renumbered, thinned};
use crate::synthetic::missing;

/// Estimated seconds to compile one engine, and per route of a derived table.
const COMPILE: f64 = 0.25;
const PER_ROUTE: f64 = 3e-7;
/// An engine with more bytes than this is left out of larger derived tables.
const TOO_MUCH: usize = 256 << 20;
/// Beside peers: keys of each traffic (some peers need a hundred bytes for a key), answers that are checked (some take
/// ten microseconds for one), and the time limit for an answer: `rte_lpm` looks for each route among all of its length, and
/// takes minutes to build a full table.
const PEER_KEYS: usize = 1 << 20;
const PEER_CHECKED: usize = 1 << 17;
const PEER_LIMITS: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(900)];

/// Returns the estimated seconds of all sets of rates.
pub(crate) fn seconds(all: &[Rates], inputs: &Inputs, effort: &Effort) -> f64 {
    let one = |rates: &Rates| {
        let (four, six) = inputs.chosen(rates.tables);
        let routes = four.iter().map(|it| it.rib.len()).chain(six.iter().map(|it| it.rib.len()));
        let peers = if rates.peers { inputs.peers.commands.len() } else { 0 };
        let engines = rates.engines.len() + peers;
        let runs = runs(rates, effort).map(|run| {
            let places = places(run).len() as f64;
            places * effort.rates(engines * (1 + usize::from(rates.roofline)), run.brief)
        });
        let measured = runs.sum::<f64>() + engines as f64 * COMPILE + peers as f64 * 3.0;
        let on_table = |routes: usize| {
            let sizes = sizes(rates, effort, routes);
            let copies = if rates.tables == TableChoice::Split { 3 } else { sizes.len().max(1) };
            let derived = sizes.iter().sum::<usize>() as f64 * PER_ROUTE * engines as f64;
            copies as f64 * measured + derived
        };
        routes.map(on_table).sum::<f64>()
    };
    all.iter().map(one).sum()
}

/// Measures all sets of rates.
///
/// # Errors
/// If no set has a table.
pub(crate) fn run(all: &[Rates], context: &mut ExperimentContext<'_>) -> Result<(), Skipped> {
    let mut tables = 0;
    for rates in all {
        let (four, six) = context.inputs.chosen(rates.tables);
        tables += four.len() + six.len();
        for named in four {
            match rates.tables {
                TableChoice::Split => split(rates, context, named),
                _ => sized(rates, context, named),
            }
        }
        six.into_iter().for_each(|named| sized(rates, context, named));
    }
    if tables == 0 {
        return Err(Skipped("needs a table with routes of the family".into()));
    }
    Ok(())
}

/// Returns the run configurations of this effort.
fn runs<'r>(rates: &'r Rates, effort: &Effort) -> impl Iterator<Item = &'r RunSpec> {
    let full = effort.full;
    rates.runs.iter().filter(move |run| full || !run.full)
}

/// Returns the sizes of tables derived from one with this number of routes: a quick report has every second one, from the
/// second on.
fn sizes(rates: &Rates, effort: &Effort, routes: usize) -> Vec<usize> {
    let times = rates.times.iter().map(|times| (routes as f64 * times).round() as usize);
    let all = rates.routes.iter().copied().chain(times).enumerate();
    all.filter(|(i, _)| effort.full || i % 2 == 1).map(|(_, size)| size).collect()
}

/// Measures the table, SYN1 and SYN2 as run configurations of one table.
fn split(rates: &Rates, context: &mut ExperimentContext<'_>, named: Named<'_, Ipv4>) {
    type Split = fn(&Rib<Ipv4>) -> Rib<Ipv4>;
    for (run, split) in [("the table", Rib::clone as Split), ("SYN1", syn1), ("SYN2", syn2)] {
        let rib = split(named.rib);
        let cell = FigureCell { figure: &rates.figure, run, ..FigureCell::default() };
        on_table(rates, context, Named { rib: &rib, ..named }, &rates.engines, cell);
    }
}

/// Measures the table, or the tables of other sizes derived from it.
fn sized<F: BenchFamily>(rates: &Rates, context: &mut ExperimentContext<'_>, named: Named<'_, F>) {
    let mut engines = rates.engines.clone();
    engines.retain(|it| it.exists_for::<F>());
    let cell = FigureCell { figure: &rates.figure, ..FigureCell::default() };
    let sizes = sizes(rates, &context.effort, named.rib.len());
    if sizes.is_empty() {
        on_table(rates, context, named, &engines, cell);
    }
    let (mut growth, mut before) = (None, 0);
    for wanted in sizes {
        let part = || thinned(named.rib, wanted, SEED);
        let rib = match rates.times.is_empty() {
            true => renumbered(&part()),
            false if wanted <= named.rib.len() => part(),
            false => growth.get_or_insert_with(|| Growth::new(named.rib, SEED)).to(wanted).clone(),
        };
        if rib.len() == before {
            continue;
        }
        before = rib.len();
        let cell = FigureCell { x: Some(rib.len() as f64), ..cell };
        let big = on_table(rates, context, Named { rib: &rib, ..named }, &engines, cell);
        engines.retain(|it| !big.iter().any(|spec| kind(spec) == kind(&it.spec)));
        context.step(rib.len() as f64 * PER_ROUTE * engines.len() as f64);
    }
}

/// Returns the name of an engine without its options.
fn kind(spec: &str) -> Option<&str> {
    spec.split(':').next()
}

/// Measures the engines on one table; returns those that are too large for larger tables.
fn on_table<F: BenchFamily>(
    rates: &Rates,
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
    engines: &[CalledEngine],
    cell: FigureCell<'_>,
) -> Vec<String> {
    let mut set = match rates.compile {
        true => EngineSet::new(named, engines),
        false => EngineSet::apart(named, engines),
    };
    context.step(rates.engines.len() as f64 * COMPILE);
    let usual = context.effort;
    if rates.peers {
        start_peers(context, &mut set, cell.figure);
        let (keys, checked) = (usual.keys.min(PEER_KEYS), usual.checked.min(PEER_CHECKED));
        context.effort = Effort { keys, checked, ..usual };
    }
    let mut first = None;
    let mut last: Option<(Option<Traffic>, Workload<F>)> = None;
    for run in runs(rates, &usual) {
        for (x, level) in places(run) {
            let misses = x.filter(|_| matches!(run.axis, Varied::Misses(_)));
            // Successive runs with the same traffic share its keys.
            if misses.is_some() || last.as_ref().is_none_or(|it| it.0 != run.traffic) {
                let traffic = traffic(context, named, run, misses);
                let workload = traffic.and_then(|traffic| context.workload(&set, &traffic));
                last = workload.map(|workload| (run.traffic.clone(), workload));
            }
            let Some((_, workload)) = &last else { continue };
            let measured = at_place(rates, context, &set, workload, run, cell, (x, level));
            first = first.or(measured.filter(|_| x.is_none()));
            last = last.filter(|_| misses.is_none());
        }
    }
    context.effort = usual;
    // Values after the rates have columns after the rates.
    counts(rates, context, cell, named, &set, first.as_deref().unwrap_or_default())
}

/// Returns the traffic of a run configuration, with this share of misses in percent if it varies it; `None` if it has no
/// address of the family.
fn traffic<F: BenchFamily>(
    context: &ExperimentContext<'_>,
    named: Named<'_, F>,
    run: &RunSpec,
    misses: Option<f64>,
) -> Option<Traffic> {
    let Some(percent) = misses else {
        let trace = || Some(Traffic::File(context.inputs.trace.clone()?));
        return run.traffic.clone().or_else(trace);
    };
    // Without misses there is nothing to compare.
    missing(named.rib, 100, 1, SEED)?;
    missing(named.rib, percent as usize, F::KEYS.min(context.effort.keys), SEED)
}

/// A position on the axis of a run configuration, or a SIMD level.
type RunPlace = (Option<f64>, Option<Level>);

/// Measures at a place of a run configuration, unless the CPU does not have its SIMD level.
fn at_place<F: BenchFamily>(
    rates: &Rates,
    context: &mut ExperimentContext<'_>,
    set: &EngineSet<'_, F>,
    workload: &Workload<F>,
    run: &RunSpec,
    cell: FigureCell<'_>,
    (x, level): RunPlace,
) -> Option<Vec<Measured>> {
    let names = [cell.run, &run.name[..], level.map_or("", |it| it.name())];
    let name: Vec<_> = names.into_iter().filter(|it| !it.is_empty()).collect();
    let figure = if run.figure.is_empty() { cell.figure } else { &run.figure };
    let cell = FigureCell { figure, run: &name.join(", "), x: x.or(cell.x), at: cell.at };
    let mut config = RunConfig { roofline: rates.roofline, ..context.setup(run) };
    match (&run.axis, x) {
        (Varied::Threads, Some(x)) => config.threads = x as usize,
        (Varied::Batch(_), Some(x)) => config.batch = x as usize,
        _ => {}
    }
    match level.map(Simd::forced) {
        Some(Err(unsupported)) => {
            context.refuse(cell, set, workload, &config, unsupported);
            return None;
        }
        Some(Ok(simd)) => config.simd = simd,
        None => {}
    }
    let measured = context.measure(cell, set, workload, &config);
    if run.latency {
        context.state_latencies(measured.len());
    }
    Some(measured)
}

/// Returns the places of a run configuration.
fn places(run: &RunSpec) -> Vec<RunPlace> {
    let at = |x: usize| (Some(x as f64), None);
    match &run.axis {
        Varied::None => vec![(None, None)],
        Varied::Threads => (1..=cpus()).map(at).collect(),
        Varied::Batch(all) | Varied::Misses(all) => all.iter().copied().map(at).collect(),
        Varied::Levels(levels) => levels.iter().map(|level| (None, Some(*level))).collect(),
    }
}

/// Returns the number of CPUs of this process.
fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Notes the engines' memory, the items of their parts and compile time; returns the engines that are too large.
fn counts<F: BenchFamily>(
    rates: &Rates,
    context: &mut ExperimentContext<'_>,
    cell: FigureCell<'_>,
    named: Named<'_, F>,
    set: &EngineSet<'_, F>,
    measured: &[Measured],
) -> Vec<String> {
    let mut big = Vec::new();
    // Rates along an axis have no row for a count.
    if measured.is_empty() && !rates.runs.is_empty()
        || set.members.iter().any(|it| it.0.x.is_some())
    {
        return big;
    }
    for (i, (engine, target)) in set.targets().enumerate() {
        let Some(target) = target else { continue };
        let memory = target.memory();
        if memory.bytes() > TOO_MUCH {
            big.push(engine.spec.clone());
        }
        let mut note = |metric: &str, unit, value| {
            context.count(cell, named, &engine.name, (metric, unit), value)
        };
        for (part, metric) in &rates.parts {
            memory.part(part).into_iter().for_each(|own| note(metric, "", own.count as f64));
        }
        match cell.x {
            // Not every peer can state its memory.
            _ if memory.parts.is_empty() => {}
            // Derived tables may be too small for a MiB.
            Some(_) => note("bytes", "B", memory.bytes() as f64),
            None => note("memory", "MiB", memory.bytes() as f64 / MIB),
        }
        if let Some(record) = measured.get(i).and_then(Measured::record).filter(|_| rates.compile) {
            note("compile", "ms", record.build_ms);
        }
    }
    big
}

/// Starts all peers that have the family, on the CPU of the measurements.
fn start_peers<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    set: &mut EngineSet<'_, F>,
    figure: &str,
) {
    let peers = &context.inputs.peers;
    let of_family = |name: &str| {
        let known = known_peers().iter().find(|peer| peer.name == name);
        known.is_none_or(|peer| peer.families.contains(&F::NAME))
    };
    let limit = PEER_LIMITS[usize::from(context.effort.full)];
    let anchor = anchor::<F>(figure, set.table.name);
    pin::to(0);
    for (i, command) in peers.commands.iter().enumerate().filter(|(_, it)| of_family(&it.name)) {
        let dir = peers.scratch.join(peer_directory_name(i, F::NAME));
        if let Some(about) = set.add_peer(command, &dir, limit) {
            context.condition(&anchor, &command.name, about);
        }
    }
    pin::free();
    for (name, how) in peers.missing.iter().filter(|(name, _)| of_family(name)) {
        set.members.push((CalledEngine::new(&name[..]), Err(how.clone())));
    }
    context.step(3.0 * peers.commands.len() as f64);
}
