//! Experiments: what is measured, how it is shown, and what the papers claim of it.
//!
//! An experiment reproduces a table or figure of a paper, or asks a question of our own. Most of them only compare
//! rates and are declared; the others have a function that measures. All of them leave nothing but values, from which
//! figures and verdicts are made.

use crate::claim::Claim;
use crate::context::ExperimentContext;
use crate::declaration::{Absence, Figure, Papers, Rates};
use crate::inputs::{Effort, Inputs};
use crate::rates;

/// A table or figure of a paper, or a question of our own.
pub struct Experiment {
    /// The name, by which it is run alone.
    pub name: &'static str,
    /// Other names: the numbers of all tables and figures that it reproduces.
    pub aliases: &'static [&'static str],
    /// Its source, such as `Poptrie paper, Table 2`.
    pub source: &'static str,
    /// The subject, in a few words.
    pub title: &'static str,
    /// The question, and how it is answered, in a few sentences.
    pub about: &'static str,
    /// The paper's setting: tables, CPU.
    pub(crate) setting: &'static str,
    pub(crate) work: Work,
    pub(crate) figures: Vec<Figure>,
    pub(crate) papers: Vec<Papers>,
    pub(crate) claims: Vec<Claim>,
}

/// How the values of an experiment come about.
pub(crate) enum Work {
    /// Rates of sets of engines.
    Rates(Vec<Rates>),
    /// The same, in a full report only.
    FullRates(Vec<Rates>),
    /// A function of its own, and an estimate of the seconds that it takes.
    Own(fn(&mut ExperimentContext<'_>) -> Result<(), Absence>, fn(&Inputs, &Effort) -> f64),
}

impl Work {
    /// Measures.
    ///
    /// # Errors
    /// If it cannot be measured with these inputs or here.
    pub fn run(&self, context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
        match self {
            Self::FullRates(_) if !context.effort.full => {
                Err(Absence("is measured with --full only".into()))
            }
            Self::Rates(all) | Self::FullRates(all) => rates::run(all, context),
            Self::Own(run, _) => run(context),
        }
    }

    /// The seconds that it takes, about.
    pub fn seconds(&self, inputs: &Inputs, effort: &Effort) -> f64 {
        match self {
            Self::FullRates(_) if !effort.full => 0.0,
            Self::Rates(all) | Self::FullRates(all) => rates::seconds(all, inputs, effort),
            Self::Own(_, seconds) => seconds(inputs, effort),
        }
    }
}
