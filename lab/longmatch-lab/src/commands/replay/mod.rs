//! `longmatch-lab replay`: updates a table under readers, measures both, and compares the table with
//! its routes.

mod print;

use std::io::Write;
use std::time::Duration;

use longmatch::{Change, EngineSpec, Ipv4, Ipv6, NextHopId, Rib};
use longmatch_bench::{
    BenchFamily, Machine, Replay, ReplayError, ReplayRecord, ReplayStep, in_random_order,
    reader_keys,
};
use longmatch_cli::error::{CliError, Outcome, Status};
use longmatch_cli::families::{CliFamily, Families};
use longmatch_cli::input::LoadedRoutes;
use longmatch_cli::output::{Out, plural, warn};
use longmatch_cli::paths::one_stdin;
use longmatch_cli::progress::Progress;

use crate::args::{EngineArgs, ReplayArgs};
use crate::routes;
use crate::updates::Updates;
use crate::widen::{Failed, Failure, no_results, try_wider};

/// Seed of the random order and of the readers' addresses, so that runs repeat each other.
const SEED: u64 = 1;
/// Time for which readers look up without updates.
const IDLE: Duration = Duration::from_secs(1);
/// Number of recompilations, one for each commit, after which a note advises `--batch`.
const ADVISED_RECOMPILATIONS: u64 = 100;

/// Runs the command. A wrong answer makes the status negative, and so does an engine that fails
/// beside others.
///
/// # Errors
/// If routes or updates cannot be loaded, are of both families, or fit no engine; if the system
/// does not start the threads.
pub fn run(args: &ReplayArgs) -> Outcome {
    let engines = args.engines();
    let (ipv4, ipv6) = (engines.specs::<Ipv4>()?, engines.specs::<Ipv6>()?);
    let families = Families::from(args.families);
    one_stdin(args.routes.source.files.iter().chain(&args.updates))?;
    let routes = routes::load(&args.routes, families)?;
    let updates = match args.from_empty {
        true => Updates::empty(&routes),
        false => {
            let (paths, options) = (&args.updates, &args.routes);
            Updates::load(paths, &options.source.read, &routes, families)?.of_one_family()?
        }
    };
    let is_ipv6 = match args.from_empty {
        true => from_empty_is_ipv6(&routes, families)?,
        false => updates.ipv4.is_empty(),
    };
    if let (false, Err(none)) = (args.from_empty, routes.require_routes(families)) {
        warn(format_args!("{none}; the updates begin with an empty table"));
    }
    let out = Out::new();
    let mut command = Command { args, engines, routes: &routes, updates: &updates, out };
    command.head()?;
    let right = match is_ipv6 {
        true => command.family::<Ipv6>(&ipv6, &updates.ipv6)?,
        false => command.family::<Ipv4>(&ipv4, &updates.ipv4)?,
    };
    command.out.flush()?;
    Ok(Status::ok_if(right))
}

/// Returns the family of the routes to insert.
fn from_empty_is_ipv6(routes: &LoadedRoutes, families: Families) -> Result<bool, CliError> {
    routes.require_routes(families)?;
    let no_ipv4 = routes.table.ipv4().is_empty();
    if !no_ipv4 && !routes.table.ipv6().is_empty() {
        return Err(CliError::input(&routes.name, "routes of IPv4 and IPv6: use -4 or -6"));
    }
    Ok(no_ipv4)
}

struct Command<'a> {
    args: &'a ReplayArgs,
    engines: EngineArgs,
    routes: &'a LoadedRoutes,
    updates: &'a Updates,
    out: Out,
}

impl Command<'_> {
    /// Prints the machine and the table, which times need as context.
    fn head(&mut self) -> Result<(), CliError> {
        let machine = Machine::here();
        if machine.debug {
            warn(
                "built with debug assertions: these times are not meaningful, build with --release",
            );
        }
        if self.args.readers() > 0 && self.args.readers() >= machine.cpus {
            let (readers, cpus) = (self.args.readers() as u64, machine.cpus as u64);
            let (readers, cpus) = (plural(readers, "reader"), plural(cpus, "CPU"));
            warn(format_args!(
                "{readers} and the writer share {cpus}: their times include waiting for each other"
            ));
        }
        if !self.args.json {
            writeln!(self.out, "{machine}\n{}", self.routes.describe())?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Replays the updates with every engine; returns whether all answers were right.
    fn family<F: CliFamily + BenchFamily>(
        &mut self,
        specs: &[EngineSpec],
        changes: &[Change<F>],
    ) -> Result<bool, CliError> {
        let (args, routes) = (self.args, self.routes.rib::<F>());
        let (empty, inserted) = match args.from_empty {
            true => (Some(Rib::new()), in_random_order(routes, SEED)),
            false => (None, Vec::new()),
        };
        let keys = match args.readers() {
            0 => Vec::new(),
            _ => reader_keys(routes, SEED),
        };
        let replay = Replay {
            rib: empty.as_ref().unwrap_or(routes),
            changes: if args.from_empty { &inserted } else { changes },
            batch: args.batch,
            pace: None,
            readers: args.readers(),
            keys: &keys,
            idle: IDLE,
            idle_after: args.from_empty,
            verify_every: args.verify_every,
            full: args.full,
        };
        let (mut records, mut failed) = (Vec::new(), Vec::new());
        for spec in specs {
            match self.engine(&replay, spec)? {
                Ok(record) => {
                    if args.json {
                        self.out.json(&record)?;
                    }
                    records.push(record);
                }
                Err(failure) => {
                    if args.json {
                        self.out.json(&failure)?;
                    }
                    failed.push(failure);
                }
            }
            self.out.flush()?;
        }
        if records.is_empty() {
            let none = || format!("no {} engine was replayed: name others", F::LABEL);
            let problem = no_results("replayed", &failed).unwrap_or_else(none);
            return Err(CliError::input("--engine", problem));
        }
        if !args.json {
            self.print::<F>(&records, &failed)?;
        }
        let named = failed.iter().any(|it| it.named);
        Ok(!named && records.iter().all(ReplayRecord::is_right))
    }

    /// Replays with one engine. If the table exceeds a limit of it, starts again with a wider form.
    fn engine<F: CliFamily + BenchFamily>(
        &self,
        replay: &Replay<'_, F>,
        spec: &EngineSpec,
    ) -> Result<Result<ReplayRecord, Failed>, CliError> {
        let named = self.engines.named(spec);
        match try_wider::<F, _, _>(spec, named, |spec| self.attempt(replay, spec)) {
            Ok(widened) => Ok(Ok(widened.report())),
            Err(error) => match error.threads() {
                Some(threads) if self.args.readers() > 0 => {
                    let option = format!("--readers {}", self.args.readers());
                    Err(CliError::threads(option, threads))
                }
                Some(threads) => Err(CliError::threads("--full", threads)),
                None => Ok(Err(Failed::new(self.routes.rib::<F>(), spec, named, &error))),
            },
        }
    }

    fn attempt<F: CliFamily + BenchFamily>(
        &self,
        replay: &Replay<'_, F>,
        spec: &EngineSpec,
    ) -> Result<ReplayRecord, ReplayError> {
        let label = format!("replaying {} {spec}", F::LABEL);
        let total = replay.changes.len() as u64;
        let mut progress = Progress::new(label, Some(total), "updates");
        let mut advised = replay.batch > 1;
        let mut on_step = |step: ReplayStep| {
            progress.set(step.done);
            if step.recompiled >= ADVISED_RECOMPILATIONS && !advised {
                advised = true;
                warn(format_args!(
                    "{spec} is compiled again for each commit: '--batch 1000' commits less often"
                ));
            }
        };
        replay.run(spec, &mut on_step)
    }

    /// Returns the text of a next hop.
    fn next_hop(&self, id: Option<NextHopId>) -> &str {
        id.map_or("-", |id| self.updates.next_hops.get(id).map_or("?", |text| text))
    }

    /// Describes the updates in one line.
    fn source(&self, updates: u64) -> String {
        match self.args.from_empty {
            true => {
                let routes = plural(updates, "route");
                format!("{routes} in random order, seed {SEED}, into an empty table")
            }
            false => {
                let name = longmatch_feed::printable(&self.updates.name);
                format!("{name}: {}", plural(updates, "update"))
            }
        }
    }
}
