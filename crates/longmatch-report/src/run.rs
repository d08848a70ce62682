//! Runs experiments one after the other, and keeps their records in one file.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::time::Instant;

use longmatch_bench::machine::{self, Machine};

use crate::context::{ExperimentContext, WRONG};
use crate::experiment::{Absence, Experiment, Work};
use crate::files::replace;
use crate::inputs::{Effort, Inputs};
use crate::page;
use crate::rates;
use crate::record::{Line, Outcome, Run, Value, read_ndjson, write_ndjson};
use crate::surroundings::{facts, surroundings};

/// The files of a report, in its directory.
pub const FILES: [&str; 2] = ["report.html", "records.ndjson"];

/// A report to be made.
pub struct Report<'a> {
    /// Tables, updates, traces, peers.
    pub inputs: &'a Inputs,
    /// How thorough it is.
    pub effort: Effort,
    /// The experiments, in this order.
    pub experiments: Vec<&'static Experiment>,
}

/// How far a report is.
#[derive(Clone, Copy)]
pub struct ReportStep {
    /// The experiment that runs.
    pub experiment: &'static Experiment,
    /// Seconds of estimated work done.
    pub done: f64,
    /// All seconds of estimated work, without the experiments that an earlier run has left.
    pub total: f64,
}

/// The records of a report.
#[derive(Clone, Default, Debug)]
pub struct Records {
    /// The circumstances.
    pub run: Run,
    /// The experiments with their values, in the order of the report.
    pub experiments: Vec<(Outcome, Vec<Value>)>,
}

impl Records {
    /// Sorts lines by experiment; values without an end of their experiment are left out.
    pub fn of(lines: Vec<Line>) -> Self {
        let mut records = Self::default();
        let mut values: Vec<Value> = Vec::new();
        for line in lines {
            match line {
                Line::Run(run) => records.run = run,
                Line::Value(value) => values.push(*value),
                Line::Experiment(outcome) => {
                    values.retain(|value| value.experiment == outcome.experiment);
                    records.experiments.push((outcome, core::mem::take(&mut values)));
                }
            }
        }
        records
    }

    /// The lines of the file of records.
    pub fn lines(&self) -> Vec<Line> {
        let experiments = self.experiments.iter().flat_map(|(outcome, values)| {
            let values = values.iter().cloned().map(|value| Line::Value(Box::new(value)));
            values.chain([Line::Experiment(outcome.clone())])
        });
        core::iter::once(Line::Run(self.run.clone())).chain(experiments).collect()
    }

    /// Values that are missing because answers were wrong.
    pub fn wrong(&self) -> usize {
        self.experiments
            .iter()
            .flat_map(|(_, values)| values)
            .filter(|value| value.refused.ends_with(WRONG))
            .count()
    }

    /// Reads the records of a report from its directory.
    ///
    /// # Errors
    /// If the file cannot be read, or has a line that is no record.
    pub fn read(dir: &Path) -> io::Result<Self> {
        Ok(Self::of(read_ndjson(&fs::read(dir.join(FILES[1]))?[..])?))
    }

    /// The page as HTML, with its charts inside.
    pub fn html(&self) -> String {
        page::html(self)
    }

    /// The page as Markdown, without charts.
    pub fn markdown(&self) -> String {
        page::markdown(self)
    }

    /// The claims of all experiments by verdict: those that hold, that do not, and that are not comparable.
    pub fn claims(&self) -> [usize; 3] {
        page::claims(self)
    }

    /// Writes the records and the page into a directory, each file as a whole.
    ///
    /// # Errors
    /// If a file cannot be written: the error names it. The other file is written.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let mut records = Vec::new();
        write_ndjson(&self.lines(), &mut records)?;
        let [html, ndjson] = FILES;
        let written = replace(&dir.join(ndjson), &records);
        replace(&dir.join(html), self.html().as_bytes()).and(written)
    }
}

impl Report<'_> {
    /// Runs all experiments that an earlier run with the same settings has not left in the directory. `on_end` is
    /// called with the records whenever one has ended, and they are written.
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
        let mut earlier: BTreeMap<String, (Outcome, Vec<Value>)> = earlier
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
        let left = self.experiments.iter().filter(|it| !earlier.contains_key(it.name));
        let total = left.map(|it| self.seconds(it)).sum();
        let mut records = Records { run: self.about(), experiments: Vec::new() };
        let (mut before, mut kept) = (0.0, 0);
        for experiment in self.experiments.iter().copied() {
            if let Some(own) = earlier.remove(experiment.name) {
                kept += 1;
                records.experiments.push(own);
                continue;
            }
            let own = self.seconds(experiment);
            let mut step =
                |done: f64| on_step(ReportStep { experiment, done: before + done.min(own), total });
            step(0.0);
            records.experiments.push(self.one(experiment, &mut step));
            before += own;
            records.write(dir)?;
        }
        records.write(dir)?;
        Ok((records, kept))
    }

    fn seconds(&self, experiment: &Experiment) -> f64 {
        match &experiment.work {
            Work::Rates(all) => rates::seconds(all, self.inputs, &self.effort),
            Work::Own(_, seconds) => seconds(self.inputs, &self.effort),
        }
    }

    fn one(
        &self,
        experiment: &'static Experiment,
        on_step: &mut dyn FnMut(f64),
    ) -> (Outcome, Vec<Value>) {
        let started = Instant::now();
        let mut context = ExperimentContext::new(self.inputs, self.effort, experiment, on_step);
        let ended = match &experiment.work {
            Work::Rates(all) => rates::run(all, &mut context),
            Work::Own(run, _) => run(&mut context),
        };
        let (mut values, mut conditions) = context.finish();
        let absent = ended.err().map_or_else(String::new, |Absence(reason)| reason);
        if !absent.is_empty() {
            (values, conditions) = (Vec::new(), Vec::new());
        }
        let seconds = started.elapsed().as_secs_f64();
        let (name, settings) = (experiment.name.to_owned(), self.settings(experiment));
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

    fn about(&self) -> Run {
        Run {
            version: format!("{}, {}", env!("CARGO_PKG_VERSION"), Machine::here().build()),
            date: machine::now(),
            machine: surroundings(),
            inputs: self.inputs.in_words(&self.effort),
            facts: facts(self.inputs),
        }
    }

    /// A hash of everything that the values of an experiment depend on.
    fn settings(&self, experiment: &Experiment) -> String {
        let machine = Machine::here();
        let peers = if experiment.name == "peers" {
            format!("{:?}", self.inputs.peers.commands)
        } else {
            String::new()
        };
        let mut hasher = DefaultHasher::new();
        (env!("CARGO_PKG_VERSION"), format!("{:?}", self.effort), peers).hash(&mut hasher);
        (&machine.cpu, machine.build(), self.inputs.fingerprint()).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}
