//! Choices of `auto`, and their distance from the best engine of the run.

use longmatch::engine::auto::{Choice, Prediction};

/// A choice of `auto`, kept in the record of the chosen engine.
#[derive(Clone, PartialEq, Debug)]
pub struct AutoChoice {
    /// The specification that led to the choice: `auto` with its options.
    pub spec: String,
    /// The specification of the chosen engine, as `--engine` takes it.
    pub chosen: String,
    /// Predicted cycles of a lookup, on the planned CPU.
    pub cycles: f64,
    /// Predicted bytes.
    pub bytes: u64,
    /// Rate of the chosen engine divided by the best rate of the run, if both exist.
    pub of_best: Option<f64>,
    /// Title of the engine with the best rate.
    pub best: Option<String>,
    /// The engines that `auto:try=` measured before it chose.
    pub tried: Vec<TriedEngine>,
}

/// An engine that `auto:try=` measured.
#[derive(Clone, PartialEq, Debug)]
pub struct TriedEngine {
    /// The specification, as `--engine` takes it.
    pub engine: String,
    /// Median nanoseconds of a lookup.
    pub ns_per_lookup: f64,
}

impl AutoChoice {
    /// A choice that was not yet compared with the best engine.
    pub(crate) fn new(spec: String, choice: Choice) -> Self {
        let Prediction { spec: chosen, cycles, bytes, .. } = choice.prediction;
        let tried = choice
            .tried
            .into_iter()
            .map(|it| TriedEngine { engine: it.spec.to_string(), ns_per_lookup: it.nanoseconds });
        let (chosen, tried) = (chosen.to_string(), tried.collect());
        Self { spec, chosen, cycles, bytes, of_best: None, best: None, tried }
    }
}
