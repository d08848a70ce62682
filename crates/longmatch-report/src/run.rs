//! Runs experiments one after the other and writes their records to one file.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::time::Instant;

use longmatch_bench::machine::{self, Machine};

use crate::context::ExperimentContext;
use crate::declaration::Absence;
use crate::experiment::{Experiment, Work};
use crate::files::replace;
use crate::inputs::{Effort, Inputs};
use crate::page;
use crate::record::{Outcome, Run, Value, read_ndjson, write_ndjson};
use crate::records::{FILES, Records};
use crate::surroundings::{facts, surroundings};

/// The inputs, effort and experiments of a report.
pub struct Report<'a> {
    /// Tables, updates, trace, peers.
    pub inputs: &'a Inputs,
    /// The effort.
    pub effort: Effort,
    /// The experiments, in the order of execution.
    pub experiments: Vec<&'static Experiment>,
}

/// The progress of a report.
#[derive(Clone, Copy)]
pub struct ReportStep {
    /// The current experiment.
    pub experiment: &'static Experiment,
    /// Seconds of estimated work done.
    pub done: f64,
    /// All seconds of estimated work, without experiments kept from an earlier run.
    pub total: f64,
}

/// Experiments with their values, by name.
type ByName = BTreeMap<String, (Outcome, Vec<Value>)>;

/// Returns the records in the order of the report.
fn ordered(run: &Run, all: &ByName) -> Records {
    let experiments = Experiment::all().filter_map(|it| all.get(&it.name).cloned());
    Records { run: run.clone(), experiments: experiments.collect() }
}

/// Writes the records and the page into a directory, each file as a whole.
///
/// # Errors
/// If a file cannot be written; the error names the file. The other file is still written.
pub fn write(records: &Records, dir: &Path) -> io::Result<()> {
    let mut lines = Vec::new();
    write_ndjson(&records.lines(), &mut lines)?;
    let [html, ndjson] = FILES;
    let written = replace(&dir.join(ndjson), &lines);
    replace(&dir.join(html), page::html(records).as_bytes()).and(written)
}

/// Describes a run with these inputs that starts now: version, date, machine.
pub fn about(inputs: Vec<(String, String)>) -> Run {
    Run {
        version: format!("{}, {}", env!("CARGO_PKG_VERSION"), Machine::here().build()),
        date: machine::now(),
        machine: surroundings(),
        inputs,
        ..Run::default()
    }
}

impl Report<'_> {
    /// Runs the experiments and writes the records after each of them.
    ///
    /// Values in the directory that have the same settings are kept and not measured again. Returns the records and the
    /// number of kept experiments.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn run(
        &self,
        dir: &Path,
        on_step: &mut dyn FnMut(ReportStep),
    ) -> io::Result<(Records, usize)> {
        let earlier =
            fs::read(dir.join(FILES[1])).ok().and_then(|text| read_ndjson(&text[..]).ok());
        let mut earlier: ByName = earlier
            .map(|lines| Records::of(lines).experiments)
            .into_iter()
            .flatten()
            .map(|it| (it.0.experiment.clone(), it))
            .collect();
        earlier.retain(|name, (outcome, _)| {
            let known = Experiment::named(name);
            known.is_some_and(|it| outcome.settings == self.settings(it))
                && outcome.absent.is_empty()
        });
        let left = self.experiments.iter().filter(|it| !earlier.contains_key(&it.name));
        let papers = self.inputs.of_papers();
        let inputs = |it: &Experiment| if it.source == "ours" { self.inputs } else { &*papers };
        let seconds = |it: &Experiment| match self.omits(it) {
            true => 0.0,
            false => it.work.seconds(inputs(it), &self.effort),
        };
        let total = left.map(|it| seconds(it)).sum();
        let kept = earlier.len();
        // Each write includes the kept values, so that an interruption does not lose them.
        let mut all = earlier;
        let (about, mut before) = (self.about(), 0.0);
        for experiment in self.experiments.iter().copied() {
            if all.contains_key(&experiment.name) {
                continue;
            }
            let own = seconds(experiment);
            let mut step =
                |done: f64| on_step(ReportStep { experiment, done: before + done.min(own), total });
            step(0.0);
            let done = self.one(experiment, inputs(experiment), &mut step);
            all.insert(experiment.name.clone(), done);
            before += own;
            write(&ordered(&about, &all), dir)?;
        }
        let records = ordered(&about, &all);
        write(&records, dir)?;
        Ok((records, kept))
    }

    fn one(
        &self,
        experiment: &'static Experiment,
        inputs: &Inputs,
        on_step: &mut dyn FnMut(f64),
    ) -> (Outcome, Vec<Value>) {
        let started = Instant::now();
        let mut context = ExperimentContext::new(inputs, self.effort, experiment, on_step);
        let ended = match self.omits(experiment) {
            true => Err(Absence("is measured only with --full or --only".into())),
            false => experiment.work.run(&mut context),
        };
        let (mut values, mut conditions) = context.finish();
        let absent = ended.err().map_or_else(String::new, |Absence(reason)| reason);
        if !absent.is_empty() {
            (values, conditions) = (Vec::new(), Vec::new());
        }
        let seconds = started.elapsed().as_secs_f64();
        let (name, settings) = (experiment.name.clone(), self.settings(experiment));
        (
            Outcome {
                experiment: name,
                settings,
                seconds,
                date: machine::now(),
                conditions,
                absent,
            },
            values,
        )
    }

    /// Returns whether a quick report of all experiments omits one that takes long.
    fn omits(&self, experiment: &Experiment) -> bool {
        let every = self.experiments.len() == Experiment::all().count();
        matches!(experiment.work, Work::FullRates(_)) && every && !self.effort.full
    }

    fn about(&self) -> Run {
        Run { facts: facts(self.inputs), ..about(self.inputs.in_words(&self.effort)) }
    }

    /// Returns a hash of everything that the values of an experiment depend on.
    fn settings(&self, experiment: &Experiment) -> String {
        let machine = Machine::here();
        let peers = if experiment.name == "peers" {
            format!("{:?}", self.inputs.peers.commands)
        } else {
            String::new()
        };
        let mut hasher = DefaultHasher::new();
        let code = (env!("CARGO_PKG_VERSION"), env!("LONGMATCH_COMMIT"));
        (code, format!("{:?}", self.effort), peers).hash(&mut hasher);
        (&machine.cpu, machine.build(), self.inputs.fingerprint()).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}
