//! Sections of the page: experiments with their figures and judged claims.

use crate::claim::{Claim, Judgement, Names, Values, Verdict};
use crate::experiment::Experiment;
use crate::model::Figure;
use crate::record::{Outcome, Value};
use crate::records::Records;
use crate::view;

/// An experiment with its figures and judged claims.
pub(super) struct Section<'r> {
    pub experiment: &'static Experiment,
    pub outcome: &'r Outcome,
    pub figures: Vec<Figure>,
    /// Each claim with the table that it is judged on (empty if none) and the judgement.
    pub claims: Vec<(&'static Claim, String, Judgement)>,
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
    outcome: &'r Outcome,
    values: &'r [Value],
    records: &'r Records,
) -> Section<'r> {
    let all: Vec<&Value> = values.iter().collect();
    let figures = view::figures(experiment, &all, outcome);
    let mut claims = Vec::new();
    for claim in &experiment.claims {
        if !outcome.absent.is_empty() {
            let judgement = Judgement::not_comparable(&outcome.absent);
            claims.push((claim, String::new(), judgement));
            continue;
        }
        let tables = tables(&all, &claim.family, &experiment.names, records);
        let names: Vec<String> =
            tables.iter().map(|it| it.all.first().map_or("", |it| &it.table).to_owned()).collect();
        for (table, judgement) in claim.judge(&tables) {
            claims.push((claim, table.map_or_else(String::new, |i| names[i].clone()), judgement));
        }
    }
    Section { experiment, outcome, figures, claims }
}

/// Groups the values of a family by table.
fn tables<'v>(
    values: &[&'v Value],
    family: &str,
    names: &'v Names,
    records: &'v Records,
) -> Vec<Values<'v>> {
    let mut tables: Vec<Values<'v>> = Vec::new();
    for value in values.iter().filter(|it| it.family == family) {
        match tables.iter_mut().find(|it| it.all[0].table == value.table) {
            Some(table) => table.all.push(value),
            None => tables.push(Values { all: vec![value], facts: &records.run.facts, names }),
        }
    }
    tables
}

/// Counts the claims that hold, that do not hold, and that are not comparable.
pub fn claims(records: &Records) -> [usize; 3] {
    counted(&sections(records))
}

/// Counts the claims of sections by verdict, in the order of [`claims`].
pub(super) fn counted(sections: &[Section<'_>]) -> [usize; 3] {
    [Verdict::Holds, Verdict::DoesNotHold, Verdict::NotComparable].map(|verdict| {
        let all = sections.iter().flat_map(|it| &it.claims);
        all.filter(|(.., judgement)| judgement.verdict == verdict).count()
    })
}

pub(super) fn verdict_in_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::DoesNotHold => "does not hold",
        Verdict::NotComparable => "not comparable",
    }
}

pub(super) fn title(records: &Records) -> String {
    let tables = records.run.inputs.iter().filter_map(|(name, _)| name.strip_prefix("table "));
    format!("longmatch report: {}", tables.collect::<Vec<_>>().join(", "))
}

/// Summarises the machine, the version and the date in a line.
pub(super) fn machine_in_a_line(records: &Records) -> String {
    let value = |name: &str| {
        records.run.machine.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    };
    let parts = [
        value("CPU"),
        value("instructions"),
        Some(records.run.version.as_str()),
        Some(records.run.date.as_str()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
