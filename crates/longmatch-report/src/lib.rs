//! The report: every table and figure of the papers, measured here.
//!
//! An [`Experiment`] is what one table or figure of a paper asks. It is carried out at a desk,
//! where it finds the [`Inputs`], measures with [`longmatch_bench::Comparison`] like everything else,
//! and notes every value as a [`Row`]. What it returns are [`Figure`]s, in the words of the `model`.
//! A [`Report`] carries experiments out and keeps their sections in a folder.
#![deny(unsafe_code)]

mod compare;
mod depths;
mod desk;
mod distribution;
mod disturbance;
mod experiment;
mod experiments;
#[allow(unsafe_code, reason = "advice on memory, on Linux")]
mod huge;
mod inputs;
mod model;
mod page;
mod run;
mod scaled;
mod show;
mod store;
mod surroundings;
mod synthetic;
#[cfg(test)]
mod trials;
mod write;

pub use desk::SEED;
pub use experiment::{Absence, Experiment};
pub use inputs::{Effort, Inputs, Peers, Subject, UpdateStream};
pub use model::{
    Axis, Bar, BarGroup, Bars, BoxSeries, Boxes, Cell, Chart, Column, Condition, Figure, Finding,
    Heat, Lines, Point, Row, Section, Series, Table,
};
pub use page::FILES;
pub use run::{Findings, Report, ReportStep};
pub use store::remove_leftovers;
pub use write::{Absent, Page, csv, ndjson};
