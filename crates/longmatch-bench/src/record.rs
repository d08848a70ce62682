//! What a measurement says: one line of NDJSON.

use core::fmt;

use serde::Serialize;

use crate::choice::Choice;

/// Where the keys of a measurement came from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeySource {
    /// An array made beforehand; reading it is measured.
    Array,
    /// Made just before each lookup; making them is measured.
    Xorshift,
}

impl KeySource {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Xorshift => "xorshift",
        }
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One engine under one kind of traffic in one mode. The names of the fields are the keys of the
/// NDJSON, which others read: they do not change.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Record {
    /// The engine, or [`ROOFLINE`].
    pub engine: String,
    /// The choices made when compiling it; whose roofline it is.
    pub variant: String,
    /// `ipv4` or `ipv6`.
    pub family: &'static str,
    /// Routes in the table.
    pub routes: usize,
    /// Different next hops in the table.
    pub next_hops: usize,
    /// The kind of traffic, or the name of its file.
    pub traffic: String,
    /// `one`, `batch` or `dependent`.
    pub mode: &'static str,
    /// Keys in a batch; 1 in the other modes.
    pub batch: usize,
    /// Threads that looked up at the same time.
    pub threads: usize,
    /// The instructions that were allowed.
    pub simd: &'static str,
    /// Million lookups a second of all threads together: the median of the passes. Nothing when an
    /// answer was wrong.
    pub mlps: Option<f64>,
    /// The slowest pass.
    pub mlps_min: Option<f64>,
    /// A quarter of the passes was not faster.
    pub mlps_q1: Option<f64>,
    /// A quarter of the passes was not slower.
    pub mlps_q3: Option<f64>,
    /// The fastest pass.
    pub mlps_max: Option<f64>,
    /// The mean of the passes, which the Poptrie paper reports.
    pub mlps_mean: Option<f64>,
    /// Their standard deviation.
    pub mlps_sd: Option<f64>,
    /// Nanoseconds a lookup took on its thread: the median of the passes.
    pub ns_per_lookup: Option<f64>,
    /// Bytes that lookups read.
    pub bytes: usize,
    /// Milliseconds to compile the table: the median of three, or one if that took long.
    pub build_ms: f64,
    /// Wrong answers among those that were checked before the measurement.
    pub mismatches: u64,
    /// Where the keys came from.
    pub keys: KeySource,
    /// Passes that count.
    pub passes: usize,
    /// Passes that were thrown away and repeated, as the CPU was slower than it can be, or ran
    /// something else meanwhile.
    pub repeated: usize,
    /// Passes that count although that was so, as repeating them has not helped.
    pub disturbed: usize,
    /// The frequency of the CPU, in GHz: the median over the passes.
    pub ghz: Option<f64>,
    /// How the keys lie in memory: `host`, `halves` or `network`.
    pub form: &'static str,
    /// Bytes that each of the dependent reads of a lookup reads from, as the engine states them;
    /// empty where it does not. The roofline makes as many that do not wait.
    pub reads: Vec<usize>,
    /// How many times the rate of the engine its roofline has; nothing where that was not measured.
    pub roofline_ratio: Option<f64>,
    /// The choices of `auto` that led to this engine; none where it was only named.
    pub auto: Vec<Choice>,
}

/// What stands in the place of an engine's name in the record of a roofline: see
/// [`crate::Setup::roofline`].
pub const ROOFLINE: &str = "roofline";

impl Record {
    /// The record as one line of JSON, without the end of the line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("names, numbers and nothing else")
    }

    /// The engine with its variant, as it is shown to people.
    pub fn title(&self) -> String {
        format!("{} {}", self.engine, self.variant).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_those_that_others_read() {
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
            auto: vec![Choice {
                spec: "auto:use=one".into(),
                chosen: "radix".into(),
                cycles: 3.5,
                bytes: 4,
                of_best: Some(0.75),
                best: None,
            }],
        };
        let wanted = concat!(
            r#"{"engine":"radix","variant":"","family":"ipv4","routes":2,"next_hops":1,"#,
            r#""traffic":"random","mode":"one","batch":1,"threads":1,"simd":"scalar","#,
            r#""mlps":2.5,"mlps_min":null,"mlps_q1":null,"mlps_q3":null,"mlps_max":null,"#,
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
