//! Runs experiments one after the other and writes their records to one file.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::time::Instant;

use longmatch_bench::machine::{self, Machine};

use crate::context::ExperimentContext;
use crate::declaration::Skipped;
use crate::environment::{environment, facts};
use crate::experiment::Experiment;
use crate::files::replace;
use crate::inputs::{Effort, Inputs};
use crate::page;
use crate::record::{ExperimentEnd, Run, Value, write_ndjson};
use crate::records::{FILES, Records};

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
type ByName = BTreeMap<String, (ExperimentEnd, Vec<Value>)>;

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
        machine: environment(),
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
        let earlier = Records::read(dir).map(|it| it.experiments).unwrap_or_default();
        let is_kept = |(outcome, _): &(ExperimentEnd, Vec<Value>)| {
            let known = Experiment::named(&outcome.experiment);
            known.is_some_and(|it| outcome.settings == self.settings(it))
                && outcome.absent.is_empty()
        };
        let kept = earlier.into_iter().filter(is_kept);
        // Each write includes the kept values, so that an interruption does not lose them.
        let mut all: ByName = kept.map(|it| (it.0.experiment.clone(), it)).collect();
        let kept = all.len();
        let left = self.experiments.iter().filter(|it| !all.contains_key(&it.name));
        let papers = self.inputs.of_papers();
        let inputs = |it: &Experiment| if it.source == "ours" { self.inputs } else { &*papers };
        let seconds = |it: &Experiment| match self.omits(it) {
            true => 0.0,
            false => it.seconds(inputs(it), &self.effort),
        };
        let total = left.map(|it| seconds(it)).sum();
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
    ) -> (ExperimentEnd, Vec<Value>) {
        let started = Instant::now();
        let mut context = ExperimentContext::new(inputs, self.effort, experiment, on_step);
        let ended = match self.omits(experiment) {
            true => Err(Skipped("is measured only with --full or --only".into())),
            false => experiment.run(&mut context),
        };
        let ((values, conditions), absent) = match ended {
            Ok(()) => (context.finish(), String::new()),
            Err(Skipped(reason)) => (Default::default(), reason),
        };
        let outcome = ExperimentEnd {
            experiment: experiment.name.clone(),
            settings: self.settings(experiment),
            seconds: started.elapsed().as_secs_f64(),
            date: machine::now(),
            conditions,
            absent,
        };
        (outcome, values)
    }

    /// Returns whether a quick report of all experiments omits one that takes long.
    fn omits(&self, experiment: &Experiment) -> bool {
        let every = self.experiments.len() == Experiment::all().count();
        experiment.full && every && !self.effort.full
    }

    fn about(&self) -> Run {
        Run { facts: facts(self.inputs), ..about(self.inputs.in_words(&self.effort)) }
    }

    /// Returns a hash of everything that the values of an experiment depend on.
    fn settings(&self, experiment: &Experiment) -> String {
        let machine = Machine::here();
        let peers = (experiment.name == "peers").then_some(&self.inputs.peers.commands);
        let mut hasher = DefaultHasher::new();
        let code = (env!("CARGO_PKG_VERSION"), env!("LONGMATCH_COMMIT"));
        (code, format!("{:?} {peers:?}", self.effort)).hash(&mut hasher);
        (&machine.cpu, machine.build(), self.inputs.fingerprint()).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}
