//! The record of a measurement: one line of NDJSON.

use core::fmt;

use serde::Serialize;

use crate::auto_choice::AutoChoice;

/// The source of the keys of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
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

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The measurement of one engine for one kind of traffic in one mode.
///
/// The names of the fields are the keys of the NDJSON. They are stable, because other programs read
/// them.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Record {
    /// Name of the engine, or [`ROOFLINE`].
    pub engine: String,
    /// Variant of the engine; for a roofline, the engine that it belongs to.
    pub variant: String,
    /// `ipv4` or `ipv6`.
    pub family: &'static str,
    /// Number of routes in the table.
    pub routes: usize,
    /// Number of different next hops in the table.
    pub next_hops: usize,
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
    /// The microarchitecture, by which records of several machines are told apart: the name of a
    /// [`Microarch`](longmatch::simd::Microarch).
    pub microarch: &'static str,
    /// Median of the rates of the passes; `None` if an answer was wrong.
    ///
    /// Rates are in million lookups a second of all threads together.
    pub mlps: Option<f64>,
    /// Rate of the slowest pass.
    pub mlps_min: Option<f64>,
    /// First quartile of the rates.
    pub mlps_q1: Option<f64>,
    /// Third quartile of the rates.
    pub mlps_q3: Option<f64>,
    /// Rate of the fastest pass.
    pub mlps_max: Option<f64>,
    /// Mean of the rates, which the Poptrie paper reports.
    pub mlps_mean: Option<f64>,
    /// Standard deviation of the rates.
    pub mlps_sd: Option<f64>,
    /// Median over the passes of the time of one lookup on its thread, in nanoseconds.
    pub ns_per_lookup: Option<f64>,
    /// Bytes that lookups read.
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
    /// Bytes of the table that each dependent read of a lookup accesses.
    ///
    /// Empty if the engine does not state its reads. The roofline makes the same number of
    /// independent reads.
    pub reads: Vec<usize>,
    /// Rate of the roofline divided by that of the engine, if it was measured.
    pub roofline_ratio: Option<f64>,
    /// The choices of `auto` that led to this engine; empty if it was only named.
    pub auto: Vec<AutoChoice>,
}

/// Name of the engine in records of [rooflines](crate::RunConfig::roofline).
pub const ROOFLINE: &str = "roofline";

impl Record {
    /// The record as one line of JSON, without a newline.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("every field is a string, a number or a list of them")
    }

    /// The engine's name with its variant, for display.
    pub fn title(&self) -> String {
        format!("{} {}", self.engine, self.variant).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keys_are_stable() {
        let record = Record {
            engine: "radix".into(),
            variant: String::new(),
            family: "ipv4",
            routes: 2,
            next_hops: 1,
            traffic: "random".into(),
            mode: "one",
            batch: 1,
            threads: 1,
            simd: "scalar",
            microarch: "zen4",
            mlps: Some(2.5),
            mlps_min: None,
            mlps_q1: None,
            mlps_q3: None,
            mlps_max: None,
            mlps_mean: None,
            mlps_sd: None,
            ns_per_lookup: None,
            bytes: 3,
            build_ms: 0.5,
            mismatches: 0,
            keys: KeySource::Array,
            passes: 5,
            repeated: 2,
            disturbed: 1,
            ghz: Some(4.5),
            form: "host",
            reads: vec![7, 8],
            roofline_ratio: Some(1.5),
            auto: vec![AutoChoice {
                spec: "auto:use=one".into(),
                chosen: "radix".into(),
                cycles: 3.5,
                bytes: 4,
                of_best: Some(0.75),
                best: None,
                tried: Vec::new(),
            }],
        };
        let wanted = concat!(
            r#"{"engine":"radix","variant":"","family":"ipv4","routes":2,"next_hops":1,"#,
            r#""traffic":"random","mode":"one","batch":1,"threads":1,"simd":"scalar","#,
            r#""microarch":"zen4","mlps":2.5,"mlps_min":null,"mlps_q1":null,"mlps_q3":null,"mlps_max":null,"#,
            r#""mlps_mean":null,"mlps_sd":null,"ns_per_lookup":null,"#,
            r#""bytes":3,"build_ms":0.5,"mismatches":0,"keys":"array","passes":5,"#,
            r#""repeated":2,"disturbed":1,"ghz":4.5,"#,
            r#""form":"host","reads":[7,8],"roofline_ratio":1.5,"#,
            r#""auto":[{"spec":"auto:use=one","chosen":"radix","cycles":3.5,"bytes":4,"#,
            r#""of_best":0.75,"best":null}]}"#
        );
        assert_eq!(record.to_json(), wanted);
        assert_eq!(record.title(), "radix");
        assert_eq!(KeySource::Xorshift.to_string(), "xorshift");
    }
}
