//! The blocks of comparisons with other packages and programs, from the records of their `compare.py`.
//!
//! A value names the program in `engine`, the call in `run`, and for addresses their type in `keys`. The condition `job`
//! of a figure says what is done, `beside` names the program that the others are compared with.

use core::fmt::Write as _;

use crate::page::short;
use crate::record::Value;

use super::blocks::links;
use super::published::{Machine, Published};

/// The metric by which programs are compared.
const RATE: &str = "rate";

/// Returns the tables of a comparison or of one of its figures.
///
/// # Errors
/// If there are no such records.
pub(super) fn content(published: &Published, id: &str) -> Result<String, String> {
    for own in &published.comparisons {
        let mut figures: Vec<&str> = Vec::new();
        for (outcome, values) in &own.records.experiments {
            for value in values.iter().filter(|it| it.figure == id || outcome.experiment == id) {
                if !figures.contains(&value.figure.as_str()) {
                    figures.push(&value.figure);
                }
            }
        }
        if figures.is_empty() {
            continue;
        }
        let mut out = circumstances(own);
        for figure in figures {
            if let Ok(job) = own.condition(figure, "job") {
                let _ = write!(out, "\n\n**{job}:**");
            }
            let _ = write!(out, "\n\n{}", table(own, figure).trim_end());
        }
        return Ok(out);
    }
    Err(format!("no records of the comparison `{id}`"))
}

/// States the machine and the settings.
fn circumstances(own: &Machine) -> String {
    let run = &own.records.run;
    let pairs =
        run.machine.iter().chain(&run.inputs).map(|(name, value)| format!("{name} {value}"));
    format!(
        "Medians, contenders in turn, all answers compared. {}.",
        pairs.collect::<Vec<_>>().join("; ")
    )
}

/// Tabulates a figure: a row for each program, call, type of addresses and number of threads.
fn table(own: &Machine, figure: &str) -> String {
    let key = |it: &Value| (it.engine.clone(), it.run.clone(), it.keys.clone(), it.threads);
    let values: Vec<&Value> = own.figure(figure).collect();
    let (mut keys, mut metrics) = (Vec::new(), Vec::new());
    for value in &values {
        if !keys.contains(&key(value)) {
            keys.push(key(value));
        }
        let metric = (value.metric.as_str(), value.unit.as_str());
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    let has_keys = keys.iter().any(|it| !it.2.is_empty());
    let has_threads = keys.iter().any(|it| it.3 > 0);
    let base = own.condition(figure, "beside").ok().and_then(|name| {
        let rate = |it: &&&Value| it.metric == RATE && it.engine.starts_with(name);
        values.iter().find(rate).and_then(|it| Some((name, it.value?)))
    });
    let mut heads = vec!["program".to_owned(), "call".into()];
    heads.extend(has_keys.then(|| "addresses as".into()));
    heads.extend(has_threads.then(|| "threads".into()));
    heads.extend(metrics.iter().map(|(metric, unit)| format!("{metric}, {unit}")));
    heads.extend(base.map(|(name, _)| format!("rate / {name}")));
    let rows = keys.iter().map(|row| {
        let of = |metric: &str| values.iter().find(|it| key(it) == *row && it.metric == metric);
        let mut cells = vec![row.0.clone(), row.1.clone()];
        cells.extend(has_keys.then(|| row.2.clone()));
        cells.extend(has_threads.then(|| row.3.to_string()));
        cells.extend(
            metrics
                .iter()
                .map(|(metric, _)| of(metric).map_or_else(|| "–".into(), |it| with_spread(it))),
        );
        let ratio = |(_, base)| of(RATE).and_then(|it| it.value).map(|it| short(it / base));
        cells.extend(base.map(|base| ratio(base).unwrap_or_else(|| "–".into())));
        cells
    });
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    links(&heads, rows.collect())
}

/// Formats a value with its quartiles, or the reason why there is none.
fn with_spread(it: &Value) -> String {
    match (it.value, it.quartiles()) {
        (None, _) => it.refused.clone(),
        (Some(value), Some([low, high])) if it.passes > 1 => {
            format!("{} ({} to {})", short(value), short(low), short(high))
        }
        (Some(value), _) => short(value),
    }
}
