//! `longmatch` without a command: compiles the embedded tables with every engine, checks answers, and prints the rates.

use std::io::Write;
use std::net::Ipv4Addr;
use std::time::Instant;

use longmatch::{EngineKind, EngineSpec, Ipv4, Ipv6};
use longmatch_bench::{BenchFamily, Comparison, Machine, Measurement, Mode, RunConfig, Traffic};
use longmatch_cli::args::SourceArgs;
use longmatch_cli::error::{CliError, Outcome, Status};
use longmatch_cli::families::{CliFamily, Families};
use longmatch_cli::input::LoadedRoutes;
use longmatch_cli::output::{Align, Grid, Out, bytes, plural, thousands, warn};
use longmatch_cli::progress::Progress;
use longmatch_feed::printable;

use super::bench::{SEED, milliseconds, rate, rate_bar};
use crate::args::default_memory;
use crate::widen::{Failed, try_wider};

/// The kinds of traffic, and their names.
const TRAFFICS: [(Traffic, &str); 2] = [(Traffic::Random, "random"), (Traffic::Routed, "routed")];
/// The address that is looked up first.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(8, 8, 8, 8);
/// Characters of the longest bar.
const BAR: usize = 10;
/// Maximum time to measure an engine under one kind of traffic.
const SECONDS: f64 = 0.5;
/// Approximate time of all measurements, for any number of engines.
const BUDGET: f64 = 15.0;

/// Introduction to the printed tables.
const INTRODUCTION: [&str; 4] = [
    "Two real tables of the Internet, compiled by every engine. First each",
    "engine's answers are checked; then its lookups are timed, in batches, on one core.",
    "random: addresses from anywhere. routed: addresses inside the table's routes.",
    "The numbers are million lookups a second, the median of 5 passes.",
];

/// Runs the command. A wrong answer makes the status negative.
///
/// # Errors
/// If standard output cannot be written.
pub fn run() -> Outcome {
    let started = Instant::now();
    let mut out = Out::new();
    let machine = Machine::here();
    writeln!(out, "{}: longest-prefix match for IPv4 and IPv6", out.bold("longmatch"))?;
    writeln!(out, "{}\n", out.dim(&machine))?;
    for line in INTRODUCTION {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    if machine.debug {
        warn("built with debug assertions: these rates are not meaningful, build with --release");
    }
    let routes = LoadedRoutes::load(&SourceArgs::default(), Families::BOTH)?;
    first_answer(&routes, started, &mut out)?;
    let mut right = family::<Ipv4>(&routes, &mut out)?;
    right &= family::<Ipv6>(&routes, &mut out)?;
    next_steps(&mut out, started)?;
    Ok(Status::ok_if(right))
}

/// Prints the answer for one address, long before the first rate.
fn first_answer(routes: &LoadedRoutes, started: Instant, out: &mut Out) -> Result<(), CliError> {
    let Some(route) = routes.rib::<Ipv4>().get_lpm(FIRST_ADDRESS) else { return Ok(()) };
    let next_hop = printable(routes.next_hop(route.next_hop));
    let seconds = started.elapsed().as_secs_f64();
    let count = thousands(routes.table.len() as u64);
    writeln!(out, "\n{FIRST_ADDRESS} is in {}, next hop {next_hop}", out.bold(route.prefix))?;
    let note = format!("the longest match among {count} routes, {seconds:.1} s after the start");
    writeln!(out, "  {}", out.dim(note))?;
    out.flush()?;
    Ok(())
}

/// Measures and prints the engines of a family; returns whether all answers were right.
fn family<F: CliFamily + BenchFamily>(
    routes: &LoadedRoutes,
    out: &mut Out,
) -> Result<bool, CliError> {
    let (comparison, failed) = compiled::<F>(routes);
    let (checked, mut rows) = measured(&comparison)?;
    rows.sort_by(|a, b| f64::total_cmp(&total(b), &total(a)));
    let table = plural(routes.rib::<F>().len() as u64, "route");
    let hop = if routes.invented::<F>() { "invented next hop" } else { "next hop" };
    let hops = plural(comparison.next_hops() as u64, hop);
    writeln!(out, "\n{}  {}", out.bold(F::LABEL), out.dim(format!("{table}, {hops}")))?;
    print(out, checked, &rows, &failed)?;
    out.flush()?;
    Ok(rows.iter().flatten().all(|record| record.mismatches == 0))
}

/// Compiles the engines; returns those that hold the table and the errors of the others.
fn compiled<F: CliFamily + BenchFamily>(routes: &LoadedRoutes) -> (Comparison<'_, F>, Vec<Failed>) {
    let kinds = EngineKind::ALL.into_iter().filter(|kind| F::has(*kind) && !kind.is_oracle());
    let kinds: Vec<_> = kinds.collect();
    let mut comparison = Comparison::<F>::new(routes.rib::<F>());
    let label = format!("compiling {}", F::LABEL);
    let mut progress = Progress::new(label, Some(kinds.len() as u64), "engines");
    let mut failed = Vec::new();
    for (i, kind) in kinds.into_iter().enumerate() {
        progress.set(i as u64);
        let spec = EngineSpec { memory: default_memory(), ..kind.into() };
        if let Err(error) = try_wider::<F, _, _>(&spec, false, |spec| comparison.add(spec)) {
            failed.push(Failed::new(comparison.rib(), &spec, false, &error));
        }
    }
    (comparison, failed)
}

/// Measures the engines. Returns the number of answers checked for each record, and each engine's
/// records, one for each kind of traffic.
///
/// # Errors
/// If the system does not start a thread.
fn measured<F: CliFamily + BenchFamily>(
    comparison: &Comparison<'_, F>,
) -> Result<(usize, Vec<Vec<Measurement>>), CliError> {
    let label = format!("measuring {}", F::LABEL);
    let mut progress = Progress::new(label, Some(TRAFFICS.len() as u64), "traffics");
    let share = BUDGET / (2 * TRAFFICS.len() * comparison.len().max(1)) as f64;
    let config = RunConfig { seconds: share.min(SECONDS), ..RunConfig::new(Mode::Batch) };
    let (mut checked, mut rows) = (0, vec![Vec::new(); comparison.len()]);
    for (i, (traffic, _)) in TRAFFICS.iter().enumerate() {
        progress.set(i as u64);
        let Some(workload) = comparison.workload(traffic, SEED) else { continue };
        // Both kernels answer all keys.
        checked += 2 * workload.checked();
        let records = comparison.run(&workload, &config);
        let records = records.map_err(|error| CliError::threads("measuring", &error))?;
        rows.iter_mut().zip(records).for_each(|(row, record)| row.push(record));
    }
    Ok((checked, rows))
}

/// The sum of an engine's rates, by which the engines are ordered.
fn total(row: &[Measurement]) -> f64 {
    row.iter().filter_map(Measurement::mlps).sum()
}

fn print(
    out: &mut Out,
    checked: usize,
    rows: &[Vec<Measurement>],
    failed: &[Failed],
) -> Result<(), CliError> {
    let best = rows.iter().flatten().filter_map(Measurement::mlps).fold(0.0, f64::max);
    let [(_, first), (_, second)] = TRAFFICS;
    let mut grid = Grid::new([
        ("engine", Align::Left),
        ("", Align::Left),
        (first, Align::Right),
        ("", Align::Left),
        (second, Align::Right),
        ("memory", Align::Right),
        ("build", Align::Right),
    ]);
    for row in rows {
        let [first, second] = &row[..] else { continue };
        grid.row([
            out.bold(first.title()),
            rate_bar(out, first, best, BAR),
            rate(first),
            rate_bar(out, second, best, BAR),
            rate(second),
            bytes(first.bytes as u64),
            milliseconds(first.build_ms),
        ]);
    }
    failed.iter().for_each(|it| it.row(&mut grid, out));
    grid.print(out)?;
    let wrong: u64 = rows.iter().flatten().map(|record| record.mismatches).sum();
    let checked = thousands(checked as u64);
    let verdict = match wrong {
        0 => out.dim(format!("{checked} answers of each engine were checked: all right")),
        wrong => out.red(format!("{} WRONG", plural(wrong, "answer"))),
    };
    writeln!(out, "  {verdict}")?;
    Ok(())
}

/// Prints commands to try next.
fn next_steps(out: &mut Out, started: Instant) -> Result<(), CliError> {
    let next = [
        ("longmatch lookup 8.8.8.8 2001:4860:4860::8888", "the longest match of an address"),
        ("longmatch-lab verify", "every engine on every IPv4 address"),
        ("longmatch-lab bench --routes FILE", "your own table (--help: traffic, modes)"),
    ];
    writeln!(out, "\nTry next:")?;
    for (command, effect) in next {
        writeln!(out, "  {}  {}", out.bold(format_args!("{command:<45}")), out.dim(effect))?;
    }
    let seconds = started.elapsed().as_secs_f64();
    writeln!(out, "\n{}", out.dim(format!("{seconds:.0} seconds in total")))?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{IpPrefix, Table};

    /// SAIL stores a next hop in 15 bits.
    #[test]
    fn engines_that_cannot_hold_the_table_are_rows() {
        let mut table = Table::<Box<str>>::new();
        for i in 0..33_000u32 {
            let prefix = format!("{}.{}.0.0/24", 1 + (i >> 8), i & 255);
            table.insert(prefix.parse::<IpPrefix>().unwrap(), i.to_string().into()).unwrap();
        }
        let routes = LoadedRoutes::new(table, String::new());
        let (comparison, failed) = compiled::<Ipv4>(&routes);
        let failed: Vec<_> = failed.iter().map(|it| serde_json::to_value(it).unwrap()).collect();
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert_eq!(failed[0]["engine"], "sail");
        assert!(failed[0]["error"].as_str().unwrap().contains("33,000"), "{failed:?}");
        assert!(comparison.len() >= 6);
    }
}
