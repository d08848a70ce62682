//! What can be measured: the list of experiments, and what each needs.

use super::desk::Desk;
use super::experiments;
use super::inputs::{Effort, Inputs};
use super::model::Figure;

/// One experiment: a table or a figure of a paper, or several that come from the same
/// measurements; or one of our own.
pub struct Experiment {
    /// The name, by which it is run alone.
    pub name: &'static str,
    /// Other names by which it can be asked for: the numbers of all that it reproduces.
    pub aliases: &'static [&'static str],
    /// What it reproduces, such as `Poptrie paper, Table 2`.
    pub source: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// The question, and how it is answered, in a few sentences.
    pub about: &'static str,
    /// Whether it is about the peers: it is to be carried out again when there are others.
    pub(super) peers: bool,
    /// Seconds that it takes about.
    pub(super) seconds: fn(&Inputs, &Effort) -> f64,
    /// Carries it out.
    pub(super) run: fn(&mut Desk<'_>) -> Result<Vec<Figure>, Absence>,
}

/// Why an experiment cannot be carried out with these inputs, or here; with what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Absence(pub String);

impl Experiment {
    /// All of them, in the order of the report.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        experiments::ALL.iter().copied().flatten()
    }

    /// The one with this name or alias.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|it| it.name == name || it.aliases.contains(&name))
    }
}
