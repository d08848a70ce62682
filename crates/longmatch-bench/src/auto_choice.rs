//! Choices of `auto`, and their distance from the best engine of the run.

use longmatch::engine::auto::Prediction;
use serde::Serialize;

use crate::record::{ROOFLINE, Record};

/// A choice of `auto`, kept in the record of the chosen engine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AutoChoice {
    /// The specification that led to the choice: `auto` with its options.
    pub spec: String,
    /// The specification of the chosen engine, as `--engine` takes it.
    pub chosen: String,
    /// Predicted cycles of a lookup, on the CPU of the model.
    pub cycles: f64,
    /// Predicted bytes.
    pub bytes: u64,
    /// Rate of the chosen engine divided by the best rate of the run, if both exist.
    pub of_best: Option<f64>,
    /// Title of the engine with the best rate.
    pub best: Option<String>,
}

impl AutoChoice {
    /// A choice that was not yet compared with the best engine.
    pub(crate) fn new(spec: String, prediction: &Prediction) -> Self {
        let Prediction { spec: chosen, cycles, bytes, .. } = prediction;
        let chosen = chosen.to_string();
        Self { spec, chosen, cycles: *cycles, bytes: *bytes, of_best: None, best: None }
    }
}

/// Compares the choices in the records of one run with the best engine of that run.
pub(crate) fn compare_with_best(records: &mut [Record]) {
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
