//! The measurement of an engine, and its values as records.

use crate::auto_choice::AutoChoice;
use crate::record::{Spread, Value};

/// The source of the keys of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeySource {
    /// An array; the time includes reading it.
    Array,
    /// A xorshift generator in the timed loop; the time includes it.
    Xorshift,
    /// A linear congruential generator in the timed loop; the time includes it.
    Lcg,
    /// A counter in the timed loop.
    Counter,
}

impl KeySource {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Xorshift => "xorshift",
            Self::Lcg => "lcg",
            Self::Counter => "counter",
        }
    }
}

/// The measurement of one engine for one kind of traffic in one mode.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// Name of the engine, or [`ROOFLINE`].
    pub engine: String,
    /// Variant of the engine; for a roofline, the engine that it belongs to.
    pub variant: String,
    /// `ipv4` or `ipv6`.
    pub family: &'static str,
    /// Number of routes in the table.
    pub routes: usize,
    /// Name of the traffic or of its file.
    pub traffic: String,
    /// `one`, `batch` or `dependent`.
    pub mode: &'static str,
    /// Keys in a batch; 1 in the other modes.
    pub batch: usize,
    /// Threads that looked up at the same time.
    pub threads: usize,
    /// The SIMD level.
    pub simd: &'static str,
    /// Median of the rates of the passes; `None` if an answer was wrong.
    ///
    /// Rates are in million lookups a second of all threads together.
    pub mlps: Option<f64>,
    /// Spread of the rates of the passes.
    pub spread: Spread,
    /// Median over the passes of the time of one lookup on its thread, in nanoseconds.
    pub ns_per_lookup: Option<f64>,
    /// Bytes that lookups read; 0 if a peer does not state them.
    pub bytes: usize,
    /// Milliseconds to compile the table: the median of three, or one above a second.
    pub build_ms: f64,
    /// Wrong answers among those checked before the measurement.
    pub mismatches: u64,
    /// The source of the keys.
    pub keys: KeySource,
    /// Passes that count.
    pub passes: usize,
    /// Passes that were disturbed, discarded and repeated.
    pub repeated: usize,
    /// Passes that count although the last repetition was disturbed too.
    pub disturbed: usize,
    /// Median over the passes of the CPU's frequency, in GHz.
    pub ghz: Option<f64>,
    /// Layout of the keys in memory: `host`, `pairs` or `network`.
    pub form: &'static str,
    /// Rate of the roofline divided by that of the engine, if it was measured.
    pub roofline_ratio: Option<f64>,
    /// The choices of `auto` that led to this engine; empty if it was only named.
    pub auto: Vec<AutoChoice>,
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

    /// Returns a value with the rate, its spread and its passes, or the reason why there is none.
    pub fn rate(&self, value: Value) -> Value {
        let value = Value { metric: "rate".into(), unit: "Mlps".into(), ..value };
        if self.mismatches > 0 {
            return Value { refused: format!("{} {WRONG}", self.mismatches), ..value };
        }
        Value {
            value: self.mlps,
            spread: self.spread,
            passes: self.passes as u64,
            repeated: self.repeated as u64,
            disturbed: self.disturbed as u64,
            ghz: self.ghz,
            ..value
        }
    }

    /// Returns the values about lookups: the rate, its share of the roofline, and for each choice of `auto` the rate
    /// and its share of the best one.
    pub fn values(&self) -> Vec<Value> {
        let own = self.placed(self.engine_with_options());
        let keys = match self.form {
            "host" => self.keys.name().into(),
            form => format!("{}, {form}", self.keys),
        };
        let own = Value {
            run: self.traffic.clone(),
            traffic: self.traffic.clone(),
            keys,
            mode: self.mode.into(),
            batch: self.batch as u64,
            threads: self.threads as u64,
            simd: self.simd.into(),
            ..own
        };
        let share = |of: &str, engine: &Value, share: Option<f64>| {
            let (metric, unit) = (format!("share of the {of}"), "%".into());
            Some(Value { metric, unit, value: Some(share? * 100.0), ..engine.clone() })
        };
        let mut values = vec![self.rate(own.clone())];
        values.extend(share("roofline", &own, self.roofline_ratio.map(f64::recip)));
        for choice in &self.auto {
            let (engine, variant) = (choice.spec.clone(), self.engine_with_options());
            let chosen = Value { engine, variant, ..own.clone() };
            values.extend(share("best", &chosen, choice.of_best));
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
            let (metric, unit) = (metric.into(), unit.into());
            let own = self.placed(self.engine_with_options());
            Value { metric, unit, value: Some(value), ..own }
        };
        let mib = self.bytes as f64 / (1 << 20) as f64;
        let memory = (self.bytes > 0).then(|| of("memory", "MiB", mib));
        memory.into_iter().chain([of("compile", "ms", self.build_ms)]).collect()
    }

    fn placed(&self, engine: String) -> Value {
        let (family, routes) = (self.family.into(), self.routes as u64);
        Value { family, routes, engine, ..Value::default() }
    }

    /// The engine as `--engine` takes it, or the roofline of an engine.
    fn engine_with_options(&self) -> String {
        let title = self.title();
        match title.strip_prefix("roofline of ") {
            Some(engine) => format!("{ROOFLINE} of {}", engine.replace(' ', ":")),
            None => title.replace(' ', ":"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Measurement {
        Measurement {
            engine: "poptrie".into(),
            variant: "s=16".into(),
            family: "ipv4",
            routes: 2,
            traffic: "random".into(),
            mode: "one",
            batch: 1,
            threads: 1,
            simd: "scalar",
            mlps: Some(2.5),
            spread: Spread { min: Some(2.0), ..Spread::default() },
            ns_per_lookup: None,
            bytes: 1 << 21,
            build_ms: 0.5,
            mismatches: 0,
            keys: KeySource::Array,
            passes: 5,
            repeated: 2,
            disturbed: 1,
            ghz: Some(4.5),
            form: "pairs",
            roofline_ratio: Some(2.0),
            auto: vec![AutoChoice {
                spec: "auto:use=one".into(),
                chosen: "poptrie".into(),
                cycles: 3.5,
                bytes: 4,
                of_best: Some(0.75),
                best: None,
                tried: Vec::new(),
            }],
        }
    }

    fn shown(values: &[Value]) -> Vec<(&str, &str, &str, Option<f64>)> {
        values.iter().map(|it| (&*it.engine, &*it.variant, &*it.metric, it.value)).collect()
    }

    #[test]
    fn measurements_have_values() {
        let (auto, chosen) = ("auto:use=one", "poptrie:s=16");
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
        let rate = &values[0];
        assert_eq!((rate.spread.min, rate.passes, rate.disturbed), (Some(2.0), 5, 1));
        assert_eq!((rate.ghz, &*rate.keys, &*rate.run), (Some(4.5), "array, pairs", "random"));
        let structure = measured().structure();
        let wanted = [(chosen, "", "memory", Some(2.0)), (chosen, "", "compile", Some(0.5))];
        assert_eq!(shown(&structure), wanted);
    }

    #[test]
    fn wrong_answers_are_refusals_and_rooflines_have_no_structure() {
        let wrong =
            Measurement { mismatches: 3, auto: Vec::new(), roofline_ratio: None, ..measured() };
        let values = wrong.values();
        assert_eq!((values.len(), values[0].value), (1, None));
        assert_eq!(values[0].refused, "3 wrong answers");
        let roofline =
            Measurement { engine: ROOFLINE.into(), variant: "of spider".into(), ..wrong };
        assert_eq!(roofline.values()[0].engine, "roofline of spider");
        assert!(roofline.structure().is_empty());
    }
}
