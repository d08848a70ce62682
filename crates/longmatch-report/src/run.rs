//! Carries experiments out, one after the other, and keeps what they have found.

use std::io;
use std::path::Path;
use std::time::Instant;

use super::desk::{Desk, WRONG};
use super::disturbance::add_disturbances;
use super::experiment::{Absence, Experiment};
use super::inputs::{Effort, Inputs};
use super::model::Section;
use super::show::condition;
use super::store::Store;
use super::surroundings::in_a_line;
use longmatch_bench::machine::{self, Machine};

/// A report to be made.
pub struct Report<'a> {
    /// What it is about.
    pub inputs: &'a Inputs,
    /// How thorough it is.
    pub effort: Effort,
    /// What is measured, in this order.
    pub experiments: Vec<&'static Experiment>,
}

/// How far a report is.
#[derive(Clone, Copy)]
pub struct ReportStep {
    /// What is being carried out.
    pub experiment: &'static Experiment,
    /// Seconds of estimated work that are done.
    pub done: f64,
    /// All seconds of estimated work; those that were kept from an earlier run are not in it.
    pub total: f64,
}

/// What came out.
pub struct Findings {
    /// What each experiment has found that could be carried out.
    pub sections: Vec<Section>,
    /// Those that could not.
    pub absent: Vec<(&'static Experiment, Absence)>,
    /// How many sections are from an earlier run.
    pub kept: usize,
}

impl Findings {
    /// Values that are not there because answers were wrong.
    pub fn wrong(&self) -> usize {
        let rows = self.sections.iter().flat_map(|section| &section.records);
        rows.filter(|row| row.refused.ends_with(WRONG)).count()
    }
}

impl Report<'_> {
    /// Carries out all experiments that an earlier run with the same settings has not left in the
    /// folder. `on_end` is called with what there is whenever one has ended.
    ///
    /// # Errors
    /// When the folder cannot be written, or `on_end` fails.
    pub fn run(
        &self,
        folder: &Path,
        on_step: &mut dyn FnMut(ReportStep),
        on_end: &mut dyn FnMut(&Findings) -> io::Result<()>,
    ) -> io::Result<Findings> {
        let store = Store::new(folder.to_owned())?;
        let settings = self.settings();
        let settings = |it: &Experiment| match it.peers {
            true => format!("{settings} {:?}", self.inputs.peers.commands),
            false => settings.clone(),
        };
        let earlier = |it: &&Experiment| store.load(it.name, &settings(it));
        let kept: Vec<_> = self.experiments.iter().map(earlier).collect();
        let seconds = |it: &Experiment| (it.seconds)(self.inputs, &self.effort);
        let left = self.experiments.iter().zip(&kept).filter(|(_, kept)| kept.is_none());
        let total = left.map(|(it, _)| seconds(it)).sum();
        let mut findings = Findings { sections: Vec::new(), absent: Vec::new(), kept: 0 };
        let mut before = 0.0;
        for (experiment, kept) in self.experiments.iter().copied().zip(kept) {
            if let Some(section) = kept {
                findings.kept += 1;
                findings.sections.push(section);
                continue;
            }
            let own = seconds(experiment);
            let mut step = |done: f64| {
                on_step(ReportStep { experiment, done: before + done.min(own), total });
            };
            step(0.0);
            match self.section(experiment, &mut step) {
                Ok(section) => {
                    store.save(&section, &settings(experiment))?;
                    findings.sections.push(section);
                }
                Err(why) => findings.absent.push((experiment, why)),
            }
            before += own;
            on_end(&findings)?;
        }
        on_end(&findings)?;
        Ok(findings)
    }

    fn section(
        &self,
        experiment: &'static Experiment,
        on_step: &mut dyn FnMut(f64),
    ) -> Result<Section, Absence> {
        let started = Instant::now();
        let mut desk = Desk::new(self.inputs, self.effort, experiment.name, on_step);
        let mut figures = (experiment.run)(&mut desk)?;
        let machine = condition("machine", in_a_line());
        let records = desk.into_rows();
        add_disturbances(&mut figures, &records);
        figures.iter_mut().for_each(|figure| figure.conditions.push(machine.clone()));
        Ok(Section {
            experiment: experiment.name.into(),
            source: experiment.source.into(),
            title: experiment.title.into(),
            about: experiment.about.into(),
            figures,
            records,
            seconds: started.elapsed().as_secs_f64(),
            date: machine::now(),
        })
    }

    /// Everything that a section depends on, peers aside.
    fn settings(&self) -> String {
        let machine = Machine::here();
        format!(
            "{} {:?} {} {} {:016x}",
            env!("CARGO_PKG_VERSION"),
            self.effort,
            machine.cpu,
            machine.build(),
            self.inputs.fingerprint()
        )
    }
}
