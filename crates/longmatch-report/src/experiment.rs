//! Experiments: their measurements, figures and claims.
//!
//! An experiment reproduces a table or figure of a paper, or answers a question of our own. Most experiments only
//! compare rates and are declared; the others have a function that measures. All produce only values, from which
//! figures and verdicts are made.

use crate::claim::Claim;
use crate::context::ExperimentContext;
use crate::declaration::{Absence, Figure, Papers, Rates};
use crate::inputs::{Effort, Inputs};
use crate::rates;

/// A table or figure of a paper, or a question of our own.
pub struct Experiment {
    /// The name, with which it can be run alone.
    pub name: &'static str,
    /// Other names: the tables and figures that it reproduces.
    pub aliases: &'static [&'static str],
    /// Its source, such as `Poptrie paper, Table 2`.
    pub source: &'static str,
    /// The subject, in a few words.
    pub title: &'static str,
    /// The question and the method, in a few sentences.
    pub about: &'static str,
    /// The paper's setting: tables, CPU.
    pub(crate) setting: &'static str,
    pub(crate) work: Work,
    pub(crate) figures: Vec<Figure>,
    pub(crate) papers: Vec<Papers>,
    pub(crate) claims: Vec<Claim>,
}

/// The measurement of an experiment.
pub(crate) enum Work {
    /// Rates of sets of engines.
    Rates(Vec<Rates>),
    /// Rates of sets of engines, in a full report only.
    FullRates(Vec<Rates>),
    /// A function that measures, and a function that estimates its seconds.
    Own(fn(&mut ExperimentContext<'_>) -> Result<(), Absence>, fn(&Inputs, &Effort) -> f64),
}

impl Work {
    /// Measures the values.
    ///
    /// # Errors
    /// If the measurement is impossible with these inputs or on this machine.
    pub fn run(&self, context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
        match self {
            Self::FullRates(_) if !context.effort.full => {
                Err(Absence("is measured only with --full".into()))
            }
            Self::Rates(all) | Self::FullRates(all) => rates::run(all, context),
            Self::Own(run, _) => run(context),
        }
    }

    /// Returns the estimated seconds.
    pub fn seconds(&self, inputs: &Inputs, effort: &Effort) -> f64 {
        match self {
            Self::FullRates(_) if !effort.full => 0.0,
            Self::Rates(all) | Self::FullRates(all) => rates::seconds(all, inputs, effort),
            Self::Own(_, seconds) => seconds(inputs, effort),
        }
    }
}
