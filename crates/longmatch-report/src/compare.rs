//! The same engines under several kinds of traffic, or in several modes.

use super::desk::{Desk, Field, Measured, rate_cell};
use super::model::{Cell, Chart, Column, Condition, Table};
use super::show::{
    MIB, about_rates, column, condition, number, of, paper_column, rate_bars, table, text,
};
use longmatch_bench::BenchFamily;
use longmatch_bench::RunConfig;
use longmatch_bench::Traffic;

/// One way of measuring.
pub(crate) struct Trial<'p> {
    /// What it is called beside the others.
    pub name: String,
    /// What is looked up.
    pub traffic: Traffic,
    /// How.
    pub setup: RunConfig,
    /// The rates that the paper gives, by spec.
    pub papers: &'p [(&'static str, f64)],
}

impl<'p> Trial<'p> {
    /// One without values of a paper.
    pub fn new(name: impl Into<String>, traffic: Traffic, setup: RunConfig) -> Self {
        Self { name: name.into(), traffic, setup, papers: &[] }
    }

    /// With those of a paper.
    #[must_use]
    pub fn papers(self, papers: &'p [(&'static str, f64)]) -> Self {
        Self { papers, ..self }
    }
}

/// What came out.
pub(crate) struct Comparison {
    /// Each trial's name and measurements, of the same engines in the same order.
    pub trials: Vec<(String, Vec<Measured>)>,
    /// How it was measured.
    pub conditions: Vec<Condition>,
}

/// Measures a field in each of the ways. Traffic that has no address of the family is left out.
pub(crate) fn compare<F: BenchFamily>(
    desk: &mut Desk<'_>,
    figure: &str,
    field: &mut Field<'_, F>,
    trials: &[Trial<'_>],
) -> Comparison {
    let (mut all, mut conditions) = (Vec::new(), Vec::new());
    let mut heat: Option<longmatch_bench::Workload<F>> = None;
    for trial in trials {
        if heat.as_ref().is_none_or(|heat| *heat.traffic() != trial.traffic) {
            heat = desk.heat(&field.race, &trial.traffic);
        }
        let Some(heat) = &heat else { continue };
        field.set_papers(trial.papers);
        let measured = desk.measure(figure, field, heat, &trial.setup, "");
        let own = about_rates(field.table, &field.race, heat, &trial.setup);
        conditions.push((trial.name.clone(), own));
        all.push((trial.name.clone(), measured));
    }
    Comparison { trials: all, conditions: merged(conditions) }
}

/// Conditions that all trials share, then what distinguishes them, by the names of the trials.
pub(crate) fn merged(all: Vec<(String, Vec<Condition>)>) -> Vec<Condition> {
    let Some((_, first)) = all.first() else { return Vec::new() };
    let everywhere = |it: &Condition| all.iter().all(|(_, own)| own.contains(it));
    let mut out = Vec::new();
    for shared in first {
        if everywhere(shared) {
            out.push(shared.clone());
            continue;
        }
        for (trial, own) in &all {
            let same = own.iter().filter(|it| it.name == shared.name);
            let named = same.map(|it| condition(&format!("{}, {trial}", it.name), &it.value[..]));
            out.extend(named);
        }
    }
    out
}

impl Comparison {
    /// The measurements of a trial.
    pub fn trial(&self, name: &str) -> &[Measured] {
        let found = self.trials.iter().find(|(trial, _)| trial == name);
        found.map_or(&[], |(_, measured)| measured)
    }

    /// The rate of an engine in a trial.
    pub fn rate(&self, trial: &str, spec: &str) -> Option<f64> {
        of(self.trial(trial), spec).and_then(Measured::rate)
    }

    /// Bars, a group for each trial. Who cannot hold the table is in the first one only.
    pub fn chart(&self) -> Chart {
        let holds = |it: &&Measured| it.result.is_ok();
        let mut groups: Vec<(String, Vec<Measured>)> = self.trials.clone();
        for (_, all) in groups.iter_mut().skip(1) {
            *all = all.iter().filter(holds).cloned().collect();
        }
        rate_bars(groups.iter().map(|(name, all)| (name.clone(), &all[..])))
    }

    /// A row for each engine, a column for each trial and one for its values in the paper, and
    /// memory.
    pub fn table(&self) -> Table {
        let first = self.trials.first().map_or(&[][..], |(_, all)| all);
        let aliases = first.iter().any(|it| !it.entrant.alias.is_empty());
        let mut columns: Vec<Column> = vec![column("engine", "")];
        if aliases {
            columns.push(column("the paper's name", ""));
        }
        for (name, all) in &self.trials {
            columns.push(column(name, "Mlps"));
            if has_papers(all) {
                columns.push(paper_column(&format!("{name}, paper"), "Mlps"));
            }
        }
        columns.push(column("memory", "MiB"));
        let rows = first.iter().enumerate().map(|(i, one)| {
            let mut row = vec![text(&one.entrant.spec[..])];
            if aliases {
                row.push(text(&one.entrant.alias[..]));
            }
            for (trial, (_, all)) in self.trials.iter().enumerate() {
                // The reason is said once.
                row.push(match (trial, &all[i].result) {
                    (1.., Err(why)) if one.result.as_ref().err() == Some(why) => Cell::Empty,
                    _ => rate_cell(&all[i]),
                });
                if has_papers(all) {
                    row.push(number(all[i].entrant.paper, 1));
                }
            }
            // A peer that does not tell takes nothing.
            let bytes = one.record().map(|it| it.bytes).filter(|bytes| *bytes > 0);
            row.push(number(bytes.map(|bytes| bytes as f64 / MIB), 2));
            row
        });
        table(columns, rows.collect())
    }
}

fn has_papers(all: &[Measured]) -> bool {
    all.iter().any(|it| it.entrant.paper.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_conditions_are_said_once() {
        let of = |traffic: &str| vec![condition("table", "t"), condition("traffic", traffic)];
        let all = vec![("a".to_owned(), of("x")), ("b".to_owned(), of("y"))];
        let wanted =
            [condition("table", "t"), condition("traffic, a", "x"), condition("traffic, b", "y")];
        assert_eq!(merged(all), wanted);
        assert!(merged(Vec::new()).is_empty());
    }
}
