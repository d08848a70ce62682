//! Repeats the experiments of the papers and reports the results.
//!
//! An [`Experiment`] declares its measurements, its figures, the papers' values and the papers' claims. A [`Report`]
//! runs experiments and stores [`Records`]. The page, with its figures and verdicts, is made from the records alone.
#![deny(unsafe_code)]

mod claim;
mod context;
mod declaration;
mod depths;
mod distribution;
mod documents;
mod engine_set;
mod environment;
mod experiment;
mod experiment_file;
mod experiments;
mod files;
mod forwarding;
mod frequency;
#[allow(unsafe_code, reason = "madvise, prctl and mallopt on Linux")]
mod huge;
mod inputs;
mod model;
mod page;
mod rates;
mod records;
mod run;
mod scaled;
mod synthetic;
mod view;
mod whole_runs;

pub use declaration::Skipped;
pub use documents::documents;
pub use experiment::Experiment;
pub use files::remove_leftovers;
pub use inputs::{Effort, Inputs, Peers, SEED, Subject, UpdateStream};
pub use longmatch_bench::record;
pub use page::{claims, html, markdown};
pub use record::{ExperimentEnd, Line, Run, Spread, Value, read_ndjson, write_csv, write_ndjson};
pub use records::{FILES, Records};
pub use run::{Report, ReportStep, about, write};
