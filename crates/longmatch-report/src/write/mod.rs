//! How a report is written: one page of HTML with its charts inside, the same as Markdown, and the
//! records as NDJSON and CSV.
//!
//! The same input makes the same bytes. Whatever the input says, the page stays a page: text is
//! escaped, numbers that are none are left out, and long words are shortened or broken.

mod chart;
mod html;
mod markdown;
mod number;
mod records;
#[cfg(test)]
mod sample;
mod table;
#[cfg(test)]
mod tests;
mod text;

use serde::{Deserialize, Serialize};

use super::model::{Condition, Finding, Section};

pub use records::{csv, ndjson};

/// A whole report.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Page {
    /// One line.
    pub title: String,
    /// What this is, in a few paragraphs.
    pub lead: Vec<String>,
    /// Where it was measured.
    pub machine: Vec<Condition>,
    /// What was asked for: tables, traffic, passes, seed.
    pub settings: Vec<Condition>,
    /// What a reader should know who reads nothing else.
    pub summary: Vec<Finding>,
    /// The experiments, in their order.
    pub sections: Vec<Section>,
    /// The experiments that are not there.
    pub absent: Vec<Absent>,
}

/// An experiment that was not done.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Absent {
    /// Its name.
    pub experiment: String,
    /// What it reproduces.
    pub source: String,
    /// What it is about.
    pub title: String,
    /// Why it is not there, and how to get it.
    pub why: String,
}

impl Page {
    /// The page as one HTML file, which needs nothing beside it: no network, no scripts, no fonts.
    /// It is well-formed XML too. Linear in the number of cells and of points.
    #[must_use]
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// The same as GitHub-flavoured Markdown, without the charts: their values are in the tables.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::page(self)
    }

    /// How many of the findings, those of the summary aside, say that a claim holds, and how many
    /// that one does not.
    fn claims(&self) -> (usize, usize) {
        let figures = self.sections.iter().flat_map(|section| &section.figures);
        let findings = figures.flat_map(|figure| &figure.findings);
        findings.fold((0, 0), |(hold, fail), finding| match finding.holds {
            Some(true) => (hold + 1, fail),
            Some(false) => (hold, fail + 1),
            None => (hold, fail),
        })
    }
}

/// The word before a finding.
fn mark(finding: &Finding) -> &'static str {
    match finding.holds {
        Some(true) => "holds",
        Some(false) => "does not hold",
        None => "note",
    }
}
