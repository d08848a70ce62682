//! Experiments: what is measured, how it is shown, and what the papers claim of it.
//!
//! An experiment reproduces a table or figure of a paper, or asks a question of our own. Most of them only compare
//! rates and are declared; the others have a function that measures. All of them leave nothing but values, from which
//! figures and verdicts are made.

use crate::claim::Claim;
use crate::context::ExperimentContext;
use crate::declaration::{Absence, Figure, Papers, Rates};
use crate::inputs::{Effort, Inputs};

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
    /// A function of its own, and an estimate of the seconds that it takes.
    Own(fn(&mut ExperimentContext<'_>) -> Result<(), Absence>, fn(&Inputs, &Effort) -> f64),
}
