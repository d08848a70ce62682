//! `longmatch replay`: changes a table under its readers, measures both, and compares the table
//! with its routes.

mod print;

use std::io::Write;
use std::time::Duration;

use longmatch::{Change, EngineSpec, Ipv4, Ipv6, NextHopId, Rib};
use longmatch_lab::{
    LabFamily, Machine, Replay, ReplayRecord, ReplayStep, in_random_order, reader_keys,
};

use crate::args::{EngineArgs, ReplayArgs, first_fit};
use crate::error::{CliError, Outcome, Status};
use crate::input::{Families, Routes, Served, is_stdin};
use crate::output::{Out, plural, warn};
use crate::progress::Progress;
use crate::updates::Updates;

/// The seed of the random order and of the readers' addresses: two runs do the same.
const SEED: u64 = 1;
/// How long readers look up while nothing changes.
const IDLE: Duration = Duration::from_secs(1);
/// When a table was compiled again so often, one update a commit, the user hears what helps.
const OFTEN: u64 = 100;

/// Carries out the command. A wrong answer makes the status negative.
///
/// # Errors
/// When routes or updates cannot be loaded, are of both families, or do not fit an engine.
pub fn run(args: &ReplayArgs) -> Outcome {
    let engines = args.engines();
    let (ipv4, ipv6) = (engines.specs::<Ipv4>()?, engines.specs::<Ipv6>()?);
    let families = Families::from(args.families);
    let inputs = args.routes.files.iter().chain(&args.updates);
    if inputs.filter(|path| is_stdin(path)).count() > 1 {
        return Err(CliError::new("'-' was given twice: standard input is read once"));
    }
    let routes = Routes::load(&args.routes, families)?;
    let updates = match args.from_empty {
        true => Updates::none(&routes),
        false => {
            let (paths, options) = (&args.updates, &args.routes);
            Updates::load(paths, options, &routes, families)?.of_one_family()?
        }
    };
    let six = match args.from_empty {
        true => from_empty_is_ipv6(&routes)?,
        false => updates.ipv4.is_empty(),
    };
    let out = Out::new();
    let mut command = Command { args, engines, routes: &routes, updates: &updates, out };
    command.head()?;
    let right = match six {
        true => command.family::<Ipv6>(&ipv6, &updates.ipv6)?,
        false => command.family::<Ipv4>(&ipv4, &updates.ipv4)?,
    };
    command.out.flush()?;
    Ok(Status::ok_if(right))
}

/// Which family's routes are to be inserted.
fn from_empty_is_ipv6(routes: &Routes) -> Result<bool, CliError> {
    match (routes.table.ipv4().is_empty(), routes.table.ipv6().is_empty()) {
        (true, true) => Err(CliError::input(&routes.name, "no routes to insert")),
        (false, false) => {
            Err(CliError::input(&routes.name, "routes of IPv4 and IPv6: use -4 or -6"))
        }
        (no_ipv4, _) => Ok(no_ipv4),
    }
}

struct Command<'a> {
    args: &'a ReplayArgs,
    engines: EngineArgs,
    routes: &'a Routes,
    updates: &'a Updates,
    out: Out,
}

impl Command<'_> {
    /// Says where this is, without which times mean little.
    fn head(&mut self) -> Result<(), CliError> {
        let machine = Machine::here();
        if machine.debug {
            warn("built with debug assertions: these times say nothing, build with --release");
        }
        if self.args.readers() > 0 && self.args.readers() >= machine.cpus {
            let (readers, cpus) = (self.args.readers() as u64, machine.cpus as u64);
            let who = format!("{} and the writer share", plural(readers, "reader"));
            warn(format_args!("{who} {}: their times say little", plural(cpus, "CPU")));
        }
        if !self.args.json {
            writeln!(self.out, "{machine}\n{}", self.routes.describe())?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Replays the changes with every engine; whether all answers were right.
    fn family<F: Served + LabFamily>(
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
        let mut records = Vec::new();
        for spec in specs {
            let Some(record) = self.engine(&replay, spec)? else { continue };
            if args.json {
                self.out.json(&record)?;
                self.out.flush()?;
            }
            records.push(record);
        }
        if records.is_empty() {
            let problem = format!("no {} engine was replayed: name others", F::LABEL);
            return Err(CliError::input("--engine", problem));
        }
        if !args.json {
            self.print::<F>(&records)?;
        }
        Ok(records.iter().all(ReplayRecord::is_right))
    }

    /// Replays with one engine; `None` when it cannot hold the table and nobody asked for it.
    fn engine<F: Served + LabFamily>(
        &self,
        replay: &Replay<'_, F>,
        spec: &EngineSpec,
    ) -> Result<Option<ReplayRecord>, CliError> {
        let named = self.engines.named(spec);
        let fit = first_fit(spec, named, |spec| Ok((spec.clone(), replay.writer(spec)?)));
        let (spec, writer) = match fit {
            Ok(fit) => fit,
            Err(error) if named => return Err(error.into()),
            Err(error) => {
                warn(format_args!("{} without {error}", F::LABEL));
                return Ok(None);
            }
        };
        let label = format!("replaying {} {spec}", F::LABEL);
        let total = replay.changes.len() as u64;
        let mut progress = Progress::new(label, Some(total), "updates");
        let mut told = replay.batch > 1;
        let mut on_step = |step: ReplayStep| {
            progress.set(step.done);
            if step.recompiled >= OFTEN && !told {
                told = true;
                warn(format_args!(
                    "{spec} is compiled again for each commit: '--batch 1000' commits less often"
                ));
            }
        };
        let record = replay.run(writer, &spec, &mut on_step);
        record.map(Some).map_err(|error| CliError::input(&spec, error))
    }

    /// The words of a next hop.
    fn next_hop(&self, id: Option<NextHopId>) -> &str {
        id.map_or("-", |id| self.updates.next_hops.get(id).map_or("?", |words| words))
    }

    /// What was replayed, in one line.
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
