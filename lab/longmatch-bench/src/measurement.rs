//! The measurement of an engine, and its values as records.

use longmatch::engine::auto::Choice;

use crate::passes::PassResults;
use crate::record::Value;

/// The measurement of one engine for one kind of traffic in one mode.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// Name of the engine, or [`ROOFLINE`].
    pub engine: String,
    /// Variant of the engine; for a roofline, the engine that it belongs to.
    pub variant: String,
    /// The table, the engine and the settings of the lookups.
    pub about: Value,
    /// The passes, in million lookups a second of all threads; none if an answer was wrong.
    pub passes: PassResults,
    /// Bytes that lookups read; 0 if a peer does not state them.
    pub bytes: usize,
    /// Milliseconds to compile the table: the median of three, or one above a second.
    pub build_ms: f64,
    /// Wrong answers among those checked before the measurement.
    pub mismatches: u64,
    /// Rate of the roofline divided by that of the engine, if it was measured.
    pub roofline_ratio: Option<f64>,
    /// The choices of `auto` that led to this engine; empty if it was only named.
    pub auto: Vec<AutoChoice>,
}

/// A choice of `auto`, kept in the record of the chosen engine.
#[derive(Clone, PartialEq, Debug)]
pub struct AutoChoice {
    /// The specification that led to the choice: `auto` with its options.
    pub spec: String,
    /// The choice.
    pub choice: Choice,
    /// Rate of the chosen engine divided by the best rate of the run, and the title of the engine with that rate.
    pub best: Option<(f64, String)>,
}

/// Name of the engine in measurements of [rooflines](crate::RunConfig::roofline).
pub const ROOFLINE: &str = "roofline";

/// End of the reason why an engine with wrong answers has no rate.
pub const WRONG: &str = "wrong answers";

impl Measurement {
    /// The engine's name with its variant, for display.
    pub fn title(&self) -> String {
        format!("{} {}", self.engine, self.variant).trim_end().to_owned()
    }

    /// Median of the rates of the passes; `None` if an answer was wrong.
    pub fn mlps(&self) -> Option<f64> {
        Some(self.passes.stats()?.median)
    }

    /// Median over the passes of the time of one lookup on its thread, in nanoseconds.
    pub fn ns_per_lookup(&self) -> Option<f64> {
        Some(self.about.threads as f64 * 1e3 / self.mlps()?)
    }

    /// Returns a value with the rate, its spread and its passes, or the reason why there is none.
    pub fn rate(&self, about: Value) -> Value {
        let refused = match self.mismatches {
            0 => String::new(),
            wrong => format!("{wrong} {WRONG}"),
        };
        let about = Value { metric: "rate".into(), unit: "Mlps".into(), refused, ..about };
        self.passes.rate(about)
    }

    /// Returns the values about lookups: the rate, its share of the roofline, and for each choice of `auto` the rate
    /// and its share of the best one.
    pub fn values(&self) -> Vec<Value> {
        let share = |of: &str, about: &Value, share: Option<f64>| {
            let (metric, unit) = (format!("share of the {of}"), "%".into());
            Some(Value { metric, unit, value: Some(share? * 100.0), ..about.clone() })
        };
        let mut values = vec![self.rate(self.about.clone())];
        values.extend(share("roofline", &self.about, self.roofline_ratio.map(f64::recip)));
        for choice in &self.auto {
            let (engine, variant) = (choice.spec.clone(), self.about.engine.clone());
            let chosen = Value { engine, variant, ..self.about.clone() };
            values.extend(share("best", &chosen, choice.best.as_ref().map(|(share, _)| *share)));
            values.push(self.rate(chosen));
        }
        values
    }

    /// Returns the values about the structure: its memory and compile time. A roofline has no structure.
    pub fn structure(&self) -> Vec<Value> {
        if self.engine == ROOFLINE {
            return Vec::new();
        }
        let of = |metric: &str, unit: &str, value| {
            let (metric, unit, value) = (metric.into(), unit.into(), Some(value));
            let Value { family, routes, engine, .. } = self.about.clone();
            Value { family, routes, engine, metric, unit, value, ..Value::default() }
        };
        let mib = self.bytes as f64 / (1 << 20) as f64;
        let memory = (self.bytes > 0).then(|| of("memory", "MiB", mib));
        memory.into_iter().chain([of("compile", "ms", self.build_ms)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::EngineKind;

    fn measured() -> Measurement {
        let spec = EngineKind::Poptrie.into();
        let choice = Choice { spec, bytes: 4, refusal: None, tried: Vec::new() };
        Measurement {
            engine: "poptrie".into(),
            variant: "s=16".into(),
            about: Value { engine: "poptrie:s=16".into(), threads: 2, ..Value::default() },
            passes: PassResults {
                rates: vec![2.5, 2.0, 3.0],
                ghz: vec![4.5; 3],
                repeated: 2,
                disturbed: 1,
            },
            bytes: 1 << 21,
            build_ms: 0.5,
            mismatches: 0,
            roofline_ratio: Some(2.0),
            auto: vec![AutoChoice {
                spec: "auto:memory=1M".into(),
                choice,
                best: Some((0.75, "dxr".into())),
            }],
        }
    }

    fn shown(values: &[Value]) -> Vec<(&str, &str, &str, Option<f64>)> {
        values.iter().map(|it| (&*it.engine, &*it.variant, &*it.metric, it.value)).collect()
    }

    #[test]
    fn measurements_have_values() {
        let (auto, chosen) = ("auto:memory=1M", "poptrie:s=16");
        let values = measured().values();
        assert_eq!(
            shown(&values),
            [
                (chosen, "", "rate", Some(2.5)),
                (chosen, "", "share of the roofline", Some(50.0)),
                (auto, chosen, "share of the best", Some(75.0)),
                (auto, chosen, "rate", Some(2.5)),
            ]
        );
        let Value { spread, passes, repeated, disturbed, ghz, .. } = values[0];
        assert_eq!((spread.min, passes, repeated, disturbed), (Some(2.0), 3, 2, 1));
        assert_eq!((ghz, measured().ns_per_lookup()), (Some(4.5), Some(800.0)));
        let structure = measured().structure();
        let wanted = [(chosen, "", "memory", Some(2.0)), (chosen, "", "compile", Some(0.5))];
        assert_eq!(shown(&structure), wanted);
    }

    #[test]
    fn wrong_answers_are_refusals_and_rooflines_have_no_structure() {
        let (auto, passes) = (Vec::new(), PassResults::default());
        let wrong = Measurement { mismatches: 3, auto, passes, roofline_ratio: None, ..measured() };
        let values = wrong.values();
        assert_eq!((values.len(), values[0].value), (1, None));
        assert_eq!(values[0].refused, "3 wrong answers");
        assert!(Measurement { engine: ROOFLINE.into(), ..wrong }.structure().is_empty());
    }
}
