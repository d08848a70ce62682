//! Sections of the page: experiments with their figures and judged claims.

use crate::claim::{Claim, ClaimResult, Judgement, Values};
use crate::experiment::Experiment;
use crate::model::Figure;
use crate::record::{ExperimentEnd, Run, Value};
use crate::records::Records;
use crate::view::{self, grouped, joined};

/// An experiment with its figures and judged claims.
pub(super) struct Section<'r> {
    pub experiment: &'static Experiment,
    pub outcome: &'r ExperimentEnd,
    pub figures: Vec<Figure>,
    /// Each claim with the table that it is judged on (empty if none) and the judgement.
    pub claims: Vec<(&'static Claim, String, Judgement)>,
}

impl Section<'_> {
    pub fn is_measured(&self) -> bool {
        self.outcome.absent.is_empty()
    }
}

/// Returns a section for each experiment of the records that this version knows.
pub(super) fn sections(records: &Records) -> Vec<Section<'_>> {
    let known = records.experiments.iter().filter_map(|(outcome, values)| {
        Some(section(Experiment::named(&outcome.experiment)?, outcome, values, records))
    });
    known.collect()
}

fn section<'r>(
    experiment: &'static Experiment,
    outcome: &'r ExperimentEnd,
    values: &'r [Value],
    records: &'r Records,
) -> Section<'r> {
    let all: Vec<&Value> = values.iter().collect();
    let figures = view::figures(experiment, &all, outcome);
    let mut claims = Vec::new();
    for claim in &experiment.claims {
        if !outcome.absent.is_empty() {
            claims.push((claim, String::new(), Judgement::not_comparable(&outcome.absent)));
            continue;
        }
        let own = values.iter().filter(|it| it.family == claim.family);
        let tables = grouped(own, |it| &it.table).into_iter();
        let (names, tables): (Vec<&String>, Vec<Values<'_>>) = tables
            .map(|(name, all)| {
                (name, Values { all, facts: &records.run.facts, names: &experiment.names })
            })
            .unzip();
        for (table, judgement) in claim.judge(&tables) {
            claims.push((claim, table.map_or_else(String::new, |i| names[i].clone()), judgement));
        }
    }
    Section { experiment, outcome, figures, claims }
}

/// Counts the claims that hold, that do not hold, and that are not comparable.
pub fn claims(records: &Records) -> [usize; 3] {
    counted(&sections(records))
}

/// Counts the claims of sections by verdict, in the order of [`claims`].
pub(super) fn counted(sections: &[Section<'_>]) -> [usize; 3] {
    [ClaimResult::Holds, ClaimResult::DoesNotHold, ClaimResult::NotComparable].map(|verdict| {
        let all = sections.iter().flat_map(|it| &it.claims);
        all.filter(|(.., judgement)| judgement.verdict == verdict).count()
    })
}

/// Returns a verdict in words, and its class in the style sheet.
pub(super) fn in_words(verdict: ClaimResult) -> (&'static str, &'static str) {
    match verdict {
        ClaimResult::Holds => ("holds", "yes"),
        ClaimResult::DoesNotHold => ("does not hold", "no"),
        ClaimResult::NotComparable => ("not comparable", "note"),
    }
}

pub(super) fn title(records: &Records) -> String {
    let tables = records.run.inputs.iter().filter_map(|(name, _)| name.strip_prefix("table "));
    format!("longmatch report: {}", tables.collect::<Vec<_>>().join(", "))
}

/// Summarises the machine, the version and the date in a line.
pub(super) fn machine_in_a_line(records: &Records) -> String {
    let Run { machine, version, date, .. } = &records.run;
    let value = |name: &str| machine.iter().find(|it| it.0 == name).map_or("", |it| &it.1);
    joined([value("CPU"), value("instructions"), version, date], "; ")
}
