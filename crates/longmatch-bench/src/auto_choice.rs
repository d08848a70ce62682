//! Choices of `auto`, and their distance from the best engine of the run.

use longmatch::engine::auto::Prediction;
use serde::Serialize;

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
