//! Experiments: their measurements, figures and claims.
//!
//! An experiment reproduces a table or figure of a paper, or answers a question of our own. Files in `experiments/`
//! declare them. Most experiments only compare rates; the others name a function that measures. All produce only
//! values, from which figures and verdicts are made.

use serde::Deserialize;

use crate::claim::{Claim, Names};
use crate::declaration::{CalledEngine, FigureSpec, PaperTable, Rates};

/// A table or figure of a paper, or a question of our own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The name, with which it can be run alone.
    pub name: String,
    /// Other names: the tables and figures that it reproduces.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Its source, such as `Poptrie paper, Table 2`.
    #[serde(default)]
    pub source: String,
    /// The subject, in a few words.
    pub title: String,
    /// The question and the method, in a few sentences.
    pub about: String,
    /// The paper's setting: tables, CPU.
    #[serde(default)]
    pub(crate) setting: String,
    /// Whether a quick report of all experiments omits it.
    #[serde(default)]
    pub(crate) full: bool,
    /// Rates of sets of engines, unless a function measures.
    #[serde(default)]
    pub(crate) rates: Vec<Rates>,
    /// The name of a function that measures.
    pub(crate) measure: Option<String>,
    /// The engines of the function.
    #[serde(default)]
    pub(crate) engines: Vec<CalledEngine>,
    /// The reason why nobody can measure it here.
    pub(crate) absent: Option<String>,
    #[serde(default)]
    pub(crate) figures: Vec<FigureSpec>,
    #[serde(default)]
    pub(crate) papers: Vec<PaperTable>,
    #[serde(default)]
    pub(crate) claims: Vec<Claim>,
    /// The engines' names in records, by the paper's names.
    #[serde(skip)]
    pub(crate) names: Names,
}
