//! Experiments: their measurements, figures and claims.
//!
//! An experiment reproduces a table or figure of a paper, or answers a question of our own. Files in `experiments/`
//! declare them. Most experiments only compare rates; the others name a function that measures. All produce only
//! values, from which figures and verdicts are made.

use crate::claim::Claim;
use crate::declaration::{DeclaredEngine, Figure, PaperValue, Rates};

/// A table or figure of a paper, or a question of our own.
pub struct Experiment {
    /// The name, with which it can be run alone.
    pub name: String,
    /// Other names: the tables and figures that it reproduces.
    pub aliases: Vec<String>,
    /// Its source, such as `Poptrie paper, Table 2`.
    pub source: String,
    /// The subject, in a few words.
    pub title: String,
    /// The question and the method, in a few sentences.
    pub about: String,
    /// The paper's setting: tables, CPU.
    pub(crate) setting: String,
    pub(crate) work: Work,
    /// The engines of a function that measures.
    pub(crate) engines: Vec<DeclaredEngine>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) papers: Vec<PaperValue>,
    pub(crate) claims: Vec<Claim>,
}

/// The measurement of an experiment.
pub(crate) enum Work {
    /// Rates of sets of engines.
    Rates(Vec<Rates>),
    /// Rates of sets of engines, in a full report only.
    FullRates(Vec<Rates>),
    /// The name of a function that measures.
    Function(String),
    /// None: the reason why nobody can measure it here.
    Absent(String),
}
