//! The report: the tables and figures of the papers, measured here.
//!
//! An [`Experiment`] declares what it measures, how its values are shown, the papers' values beside them and the
//! papers' claims. A [`Report`] runs experiments and keeps nothing but [`Records`]; the page with its figures and
//! verdicts is made from records alone.
#![deny(unsafe_code)]

mod claim;
mod context;
mod depths;
mod distribution;
mod engine_set;
mod experiment;
mod experiments;
mod files;
mod frequency;
#[allow(unsafe_code, reason = "advice on memory, on Linux")]
mod huge;
mod inputs;
mod model;
mod page;
mod rates;
mod record;
mod run;
mod scaled;
mod surroundings;
mod synthetic;
mod view;

pub use context::SEED;
pub use experiment::{Absence, Experiment};
pub use files::remove_leftovers;
pub use inputs::{Effort, Inputs, Peers, Subject, UpdateStream};
pub use record::{Line, Outcome, Run, Spread, Value, read_ndjson, write_csv, write_ndjson};
pub use run::{FILES, Records, Report, ReportStep};
