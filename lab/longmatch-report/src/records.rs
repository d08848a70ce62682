//! The records of a report, grouped by experiment.

use std::fs;
use std::io;
use std::path::Path;

use longmatch_bench::WRONG;

use crate::record::{ExperimentEnd, Line, Run, Value, read_ndjson};

/// The names of a report's files in its directory.
pub const FILES: [&str; 2] = ["report.html", "records.ndjson"];

/// The families, in the order of pages and documents.
pub(crate) const FAMILIES: [&str; 2] = ["ipv4", "ipv6"];

/// Returns the name of a family for readers.
pub(crate) fn family_name(family: &str) -> &'static str {
    if family == "ipv6" { "IPv6" } else { "IPv4" }
}

/// The records of a report.
#[derive(Clone, Default, Debug)]
pub struct Records {
    /// The circumstances of the run.
    pub run: Run,
    /// The experiments with their values, in the order of the report.
    pub experiments: Vec<(ExperimentEnd, Vec<Value>)>,
}

impl Records {
    /// Groups lines by experiment; drops values of an experiment without an outcome.
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

    /// Returns the lines of the record file.
    pub fn lines(&self) -> Vec<Line> {
        let experiments = self.experiments.iter().flat_map(|(outcome, values)| {
            let values = values.iter().cloned().map(|value| Line::Value(Box::new(value)));
            values.chain([Line::Experiment(outcome.clone())])
        });
        core::iter::once(Line::Run(self.run.clone())).chain(experiments).collect()
    }

    /// Returns the values of all experiments.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.experiments.iter().flat_map(|(_, values)| values)
    }

    /// Counts the values that are missing because of wrong answers.
    pub fn wrong(&self) -> usize {
        self.values().filter(|value| value.refused.ends_with(WRONG)).count()
    }

    /// Reads the records of a report from its directory.
    ///
    /// # Errors
    /// If the file cannot be read, or a line is not a record.
    pub fn read(dir: &Path) -> io::Result<Self> {
        Ok(Self::of(read_ndjson(&fs::read(dir.join(FILES[1]))?[..])?))
    }
}
