//! Records: the form in which every measurement is stored, and from which pages and documents are made.
//!
//! A record file is NDJSON: a line for the run, then for each experiment its values and its outcome. Later versions
//! read earlier files: fields are only added.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use crate::stats::Stats;

/// A line of a record file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub enum Line {
    /// The run to which the following lines belong.
    Run(Run),
    /// A value.
    Value(Box<Value>),
    /// The outcome of an experiment, after its values.
    Experiment(ExperimentEnd),
}

/// The circumstances of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Version and commit of longmatch.
    pub version: String,
    /// Date and time of the start, UTC.
    pub date: String,
    /// Machine and system: pairs of name and value.
    pub machine: Vec<(String, String)>,
    /// Tables, updates, traces and effort: pairs of name and value.
    pub inputs: Vec<(String, String)>,
    /// Facts on which claims depend, by name.
    #[serde(default)]
    pub facts: BTreeMap<String, f64>,
}

/// The outcome of an experiment.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ExperimentEnd {
    /// The name of the experiment.
    pub experiment: String,
    /// A hash of everything that the values depend on. A later run with an equal hash keeps the values.
    pub settings: String,
    /// Its duration in seconds.
    pub seconds: f64,
    /// Date and time of its end, UTC.
    pub date: String,
    /// Conditions of figures: the figure's id, a name, a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<[String; 3]>,
    /// The reason why there are no values; empty if there are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub absent: String,
}

/// Declares a record whose empty fields are not written, and the names of its fields.
macro_rules! sparse {
    ($(#[$about:meta])* pub struct $record:ident {
        $($(#[$attribute:meta])* pub $field:ident: $type:ty,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
        #[serde(default)]
        pub struct $record {
            $($(#[$attribute])* #[serde(skip_serializing_if = "is_empty")] pub $field: $type,)*
        }

        impl $record {
            const FIELDS: &[&str] = &[$(stringify!($field)),*];
        }
    };
}

fn is_empty<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}

sparse! {
    /// One value, with everything that it depends on.
    pub struct Value {
        /// The experiment.
        pub experiment: String,
        /// The figure of the experiment that shows it.
        pub figure: String,
        /// The name of the table of routes.
        pub table: String,
        /// `ipv4` or `ipv6`; empty if the value belongs to neither.
        pub family: String,
        /// Routes in the table.
        pub routes: u64,
        /// The engine with its options, as `--engine` takes it.
        pub engine: String,
        /// The engine with all options, including those that it chose itself; empty if equal to `engine`.
        pub variant: String,
        /// The paper's name for the engine.
        pub alias: String,
        /// The name of the run configuration, such as `just in time`.
        pub run: String,
        /// The kind of traffic.
        pub traffic: String,
        /// The source of the keys: `array` or `xorshift`.
        pub keys: String,
        /// `one`, `batch` or `dependent`.
        pub mode: String,
        /// Keys in a batch.
        pub batch: u64,
        /// Threads that looked up concurrently.
        pub threads: u64,
        /// The highest SIMD level that was allowed.
        pub simd: String,
        /// The position on the axis of the varied parameter.
        pub x: Option<f64>,
        /// The position in words, if the number is not enough.
        pub at: String,
        /// The quantity that was measured or counted, such as `rate`, `bytes` or `cycles`.
        pub metric: String,
        /// Its unit.
        pub unit: String,
        /// The value: the median of several passes.
        pub value: Option<f64>,
        /// The spread of the passes or, without passes, of the distribution whose median is the value.
        #[serde(flatten)]
        pub spread: Spread,
        /// Passes that count.
        pub passes: u64,
        /// Passes that were repeated because of a disturbance.
        pub repeated: u64,
        /// Passes that count despite a disturbance.
        pub disturbed: u64,
        /// Median over the passes of the CPU's frequency, in GHz.
        pub ghz: Option<f64>,
        /// The paper's value.
        pub paper: Option<f64>,
        /// The reason why there is no value; empty if there is one.
        pub refused: String,
    }
}

sparse! {
    /// The spread around a median.
    #[derive(Copy)]
    pub struct Spread {
        /// The least value.
        pub min: Option<f64>,
        /// The 5th percentile.
        pub p5: Option<f64>,
        /// The lower quartile.
        pub q1: Option<f64>,
        /// The upper quartile.
        pub q3: Option<f64>,
        /// The 95th percentile.
        pub p95: Option<f64>,
        /// The greatest value.
        pub max: Option<f64>,
        /// The mean.
        pub mean: Option<f64>,
        /// The standard deviation.
        pub std_dev: Option<f64>,
    }
}

impl From<Stats> for Spread {
    fn from(stats: Stats) -> Self {
        let Stats { min, q1, q3, max, mean, std_dev, .. } = stats;
        let [min, q1, q3, max, mean, std_dev] = [min, q1, q3, max, mean, std_dev].map(Some);
        Self { min, q1, q3, max, mean, std_dev, ..Self::default() }
    }
}

impl Value {
    /// Returns the quartiles, lower first.
    pub fn quartiles(&self) -> Option<[f64; 2]> {
        Some([self.spread.q1?, self.spread.q3?])
    }
}

/// Writes lines as NDJSON.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_ndjson(lines: &[Line], out: &mut impl Write) -> io::Result<()> {
    for line in lines {
        serde_json::to_writer(&mut *out, line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Reads the lines of a record file.
///
/// # Errors
/// If `input` cannot be read, or a line is not a record; the error has the number of the line.
pub fn read_ndjson(input: impl BufRead) -> io::Result<Vec<Line>> {
    let parse = |(i, line): (usize, io::Result<String>)| {
        let line = line?;
        serde_json::from_str(&line).map_err(|error| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("line {}: no record: {error}", i + 1),
            )
        })
    };
    input.lines().enumerate().map(parse).collect()
}

/// The columns of CSV: the fields of [`Value`] in their order.
fn columns() -> impl Iterator<Item = &'static str> {
    let fields = Value::FIELDS.iter().flat_map(|field| match *field {
        "spread" => Spread::FIELDS,
        _ => core::slice::from_ref(field),
    });
    fields.copied()
}

/// Writes the values as CSV, with a column for each field that any value has.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_csv(lines: &[Line], out: impl Write) -> io::Result<()> {
    let objects = lines.iter().filter_map(|line| match line {
        Line::Value(value) => serde_json::to_value(value).ok(),
        Line::Run(_) | Line::Experiment(_) => None,
    });
    let objects: Vec<_> = objects.collect();
    let used = |name: &&str| objects.iter().any(|object| object.get(name).is_some());
    let names: Vec<_> = columns().filter(used).collect();
    let mut out = csv::Writer::from_writer(out);
    out.write_record(&names)?;
    for object in &objects {
        out.write_record(names.iter().map(|name| match &object[name] {
            serde_json::Value::Null => String::new(),
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        }))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<Line> {
        let value = Value { metric: "rate".into(), value: Some(1.5), ..Value::default() };
        let refused = Value { refused: "a, \"b\"".into(), x: Some(2.0), ..value.clone() };
        let spread = Spread { p5: Some(0.5), ..Spread::default() };
        let end =
            ExperimentEnd { experiment: "e".into(), seconds: 2.0, ..ExperimentEnd::default() };
        vec![
            Line::Run(Run { date: "now".into(), ..Run::default() }),
            Line::Value(Box::new(value)),
            Line::Value(Box::new(Value { value: None, ..refused })),
            Line::Value(Box::new(Value { spread, ..Value::default() })),
            Line::Experiment(end),
        ]
    }

    #[test]
    fn lines_are_read_as_written() {
        let mut text = Vec::new();
        write_ndjson(&lines(), &mut text).unwrap();
        assert_eq!(read_ndjson(&text[..]).unwrap(), lines());
        let first = text.split(|byte| *byte == b'\n').nth(1).unwrap();
        assert_eq!(first, br#"{"record":"value","metric":"rate","value":1.5}"#);
        text.truncate(text.len() - 5);
        let error = read_ndjson(&text[..]).unwrap_err().to_string();
        assert!(error.starts_with("line 5: no record"), "{error}");
    }

    #[test]
    fn csv_has_the_columns_that_are_used() {
        let mut text = Vec::new();
        write_csv(&lines(), &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "x,metric,value,p5,refused\n,rate,1.5,,\n2.0,rate,,,\"a, \"\"b\"\"\"\n,,,0.5,\n"
        );
    }
}
