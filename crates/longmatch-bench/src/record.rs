//! Records: the form in which every measurement is stored, and from which pages and documents are made.
//!
//! A record file is NDJSON: a line for the run, then for each experiment its values and its outcome. Later versions
//! read earlier files: fields are only added.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

/// A line of a record file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub enum Line {
    /// The run to which the following lines belong.
    Run(Run),
    /// A value.
    Value(Box<Value>),
    /// The outcome of an experiment, after its values.
    Experiment(Outcome),
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
pub struct Outcome {
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

/// One value, with everything that it depends on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Value {
    /// The experiment.
    pub experiment: String,
    /// The figure of the experiment that shows it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub figure: String,
    /// The name of the table of routes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub table: String,
    /// `ipv4` or `ipv6`; empty if the value belongs to neither.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub family: String,
    /// Routes in the table.
    #[serde(skip_serializing_if = "is_zero")]
    pub routes: u64,
    /// The engine with its options, as `--engine` takes it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// The engine with all options, including those that it chose itself; empty if equal to `engine`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// The paper's name for the engine.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub alias: String,
    /// The name of the run configuration, such as `just in time`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// The kind of traffic.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub traffic: String,
    /// The source of the keys: `array` or `xorshift`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub keys: String,
    /// `one`, `batch` or `dependent`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mode: String,
    /// Keys in a batch.
    #[serde(skip_serializing_if = "is_zero")]
    pub batch: u64,
    /// Threads that looked up concurrently.
    #[serde(skip_serializing_if = "is_zero")]
    pub threads: u64,
    /// The highest SIMD level that was allowed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub simd: String,
    /// The position on the axis of the varied parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// The position in words, if the number is not enough.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// The quantity that was measured or counted, such as `rate`, `bytes` or `cycles`.
    pub metric: String,
    /// Its unit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The value: the median of several passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The spread of the passes or, without passes, of the distribution whose median is the value.
    #[serde(flatten)]
    pub spread: Spread,
    /// Passes that count.
    #[serde(skip_serializing_if = "is_zero")]
    pub passes: u64,
    /// Passes that were repeated because of a disturbance.
    #[serde(skip_serializing_if = "is_zero")]
    pub repeated: u64,
    /// Passes that count despite a disturbance.
    #[serde(skip_serializing_if = "is_zero")]
    pub disturbed: u64,
    /// Median over the passes of the CPU's frequency, in GHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ghz: Option<f64>,
    /// The paper's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// The reason why there is no value; empty if there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub refused: String,
}

/// The spread around a median.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// The least value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The 5th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p5: Option<f64>,
    /// The lower quartile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q1: Option<f64>,
    /// The upper quartile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q3: Option<f64>,
    /// The 95th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<f64>,
    /// The greatest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// The standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub std_dev: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the attribute passes a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
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
const COLUMNS: [&str; 34] = [
    "experiment",
    "figure",
    "table",
    "family",
    "routes",
    "engine",
    "variant",
    "alias",
    "run",
    "traffic",
    "keys",
    "mode",
    "batch",
    "threads",
    "simd",
    "x",
    "at",
    "metric",
    "unit",
    "value",
    "min",
    "p5",
    "q1",
    "q3",
    "p95",
    "max",
    "mean",
    "std_dev",
    "passes",
    "repeated",
    "disturbed",
    "ghz",
    "paper",
    "refused",
];

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
    let names: Vec<_> = COLUMNS.into_iter().filter(used).collect();
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

    /// A value with every field.
    fn full() -> Value {
        let text = || String::from("x");
        let some = Some(1.0);
        let (min, p5, q1, q3, p95, max, mean, std_dev) =
            (some, some, some, some, some, some, some, some);
        Value {
            experiment: text(),
            figure: text(),
            table: text(),
            family: text(),
            routes: 1,
            engine: text(),
            variant: text(),
            alias: text(),
            run: text(),
            traffic: text(),
            keys: text(),
            mode: text(),
            batch: 1,
            threads: 1,
            simd: text(),
            x: some,
            at: text(),
            metric: text(),
            unit: text(),
            value: some,
            spread: Spread { min, p5, q1, q3, p95, max, mean, std_dev },
            passes: 1,
            repeated: 1,
            disturbed: 1,
            ghz: some,
            paper: some,
            refused: text(),
        }
    }

    fn lines() -> Vec<Line> {
        let value = Value { metric: "rate".into(), value: Some(1.5), ..Value::default() };
        let refused = Value { refused: "a, \"b\"".into(), x: Some(2.0), ..value.clone() };
        let end = Outcome { experiment: "e".into(), seconds: 2.0, ..Outcome::default() };
        vec![
            Line::Run(Run { date: "now".into(), ..Run::default() }),
            Line::Value(Box::new(value)),
            Line::Value(Box::new(Value { value: None, ..refused })),
            Line::Value(Box::new(full())),
            Line::Experiment(end),
        ]
    }

    #[test]
    fn lines_are_read_as_written() {
        let mut text = Vec::new();
        write_ndjson(&lines(), &mut text).unwrap();
        assert_eq!(read_ndjson(&text[..]).unwrap(), lines());
        let first = text.split(|byte| *byte == b'\n').nth(1).unwrap();
        assert_eq!(first, br#"{"record":"value","experiment":"","metric":"rate","value":1.5}"#);
        text.truncate(text.len() - 5);
        let error = read_ndjson(&text[..]).unwrap_err().to_string();
        assert!(error.starts_with("line 5: no record"), "{error}");
    }

    #[test]
    fn csv_has_the_columns_that_are_used() {
        let mut text = Vec::new();
        write_csv(&lines()[..3], &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let all = serde_json::to_value(full()).unwrap();
        let mut columns = COLUMNS;
        columns.sort_unstable();
        assert!(all.as_object().unwrap().keys().eq(&columns));
        assert_eq!(
            text,
            "experiment,x,metric,value,refused\n,,rate,1.5,\n,2.0,rate,,\"a, \"\"b\"\"\"\n"
        );
    }
}
