//! The records of a comparison with other packages or programs: of one run, in lines of JSON.

use serde_json::Value as Json;

/// The records of one run of `crates/longmatch-python/compare/compare.py` or of `crates/longmatch-cli/compare/compare.py`.
pub struct Comparison {
    records: Vec<Json>,
}

impl Comparison {
    /// Parses the lines of the file.
    ///
    /// # Errors
    /// If a line is malformed, or the first is not about the run.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parse = |(i, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", i + 1))
        };
        let records = text.lines().enumerate().map(parse).collect::<Result<Vec<Json>, _>>()?;
        match records.first() {
            Some(first) if first["record"] == "run" => Ok(Self { records }),
            _ => Err("the first line is not about the run".into()),
        }
    }

    /// The record about the run.
    pub(super) fn run(&self) -> &Json {
        &self.records[0]
    }

    /// The records of a kind, in order.
    pub(super) fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Json> {
        self.records.iter().filter(move |record| record["record"] == kind)
    }
}

/// Returns the quartiles of the passes' seconds.
pub fn quartiles(record: &Json) -> Result<[f64; 3], String> {
    let seconds = record["seconds"].as_array().ok_or("a record without `seconds`")?;
    let mut seconds: Vec<f64> = seconds.iter().filter_map(Json::as_f64).collect();
    seconds.sort_by(f64::total_cmp);
    let last = seconds.len().checked_sub(1).ok_or("a record without a pass")?;
    Ok([1, 2, 3].map(|quarter| seconds[last * quarter / 4]))
}

/// Returns a field that is text.
pub fn text<'a>(record: &'a Json, field: &str) -> Result<&'a str, String> {
    record[field].as_str().ok_or_else(|| format!("a {} without `{field}`", record["record"]))
}

/// Returns a field that is a whole number.
pub fn whole(record: &Json, field: &str) -> Result<u64, String> {
    record[field].as_u64().ok_or_else(|| format!("a {} without `{field}`", record["record"]))
}
