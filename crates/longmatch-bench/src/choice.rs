//! What `auto` chose, and how far that was from the best.

use longmatch::engine::auto::Prediction;
use serde::Serialize;

use crate::record::{ROOFLINE, Record};

/// A choice of `auto`, in the record of the engine that was chosen.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Choice {
    /// `auto` with its options.
    pub spec: String,
    /// The candidate that was proposed and taken, as it can be given to `--engine`.
    pub chosen: String,
    /// The cycles of a lookup that the model predicts, on the CPU that it was made on.
    pub cycles: f64,
    /// The bytes that it predicts.
    pub bytes: u64,
    /// The rate as a share of the best one among the engines of the same run; nothing where this
    /// or none was measured.
    pub of_best: Option<f64>,
    /// The engine that had the best rate, with its variant.
    pub best: Option<String>,
}

impl Choice {
    /// Not compared yet.
    pub(crate) fn new(spec: String, prediction: &Prediction) -> Self {
        let Prediction { spec: chosen, cycles, bytes, .. } = prediction;
        let chosen = chosen.to_string();
        Self { spec, chosen, cycles: *cycles, bytes: *bytes, of_best: None, best: None }
    }
}

/// Compares the choices among the records of one run with the best engine there.
pub(crate) fn compare(records: &mut [Record]) {
    let engines = records.iter().filter(|record| record.engine != ROOFLINE);
    let rates = engines.filter_map(|record| Some((record.mlps?, record.title())));
    let Some((best, title)) = rates.max_by(|(a, _), (b, _)| a.total_cmp(b)) else { return };
    for record in records {
        for choice in &mut record.auto {
            choice.of_best = record.mlps.map(|mlps| mlps / best);
            choice.best = Some(title.clone());
        }
    }
}
