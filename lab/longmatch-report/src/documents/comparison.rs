//! The blocks of comparisons with other packages and programs, from the records of their `compare.py`.
//!
//! A value names the program in `engine`, the call in `run`, and for addresses their type in `keys`. The condition `job`
//! of a figure states the task, `beside` names the program that the others are compared with.

use core::fmt::Write as _;

use crate::page::{rows, short};
use crate::record::Value;
use crate::view::{distinct, grouped};

use super::published::{Published, PublishedRun};

/// The metric by which programs are compared.
const RATE: &str = "rate";

/// Returns the tables of a comparison or of one of its figures.
///
/// # Errors
/// If there are no such records.
pub(super) fn content(published: &Published, id: &str) -> Result<String, String> {
    for own in &published.comparisons {
        let values = own.records.values().filter(|it| it.figure == id || it.experiment == id);
        let figures = distinct(values.map(|it| it.figure.as_str()));
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
fn circumstances(own: &PublishedRun) -> String {
    let run = &own.records.run;
    let pairs =
        run.machine.iter().chain(&run.inputs).map(|(name, value)| format!("{name} {value}"));
    format!(
        "Medians, contenders in turn, all answers compared. {}.",
        pairs.collect::<Vec<_>>().join("; ")
    )
}

/// Tabulates a figure: a row for each program, call, type of addresses and number of threads.
fn table(own: &PublishedRun, figure: &str) -> String {
    let values: Vec<&Value> = own.figure(figure).collect();
    let metrics = distinct(values.iter().map(|it| (it.metric.as_str(), it.unit.as_str())));
    let has_keys = values.iter().any(|it| !it.keys.is_empty());
    let has_threads = values.iter().any(|it| it.threads > 0);
    let base = own.condition(figure, "beside").ok().and_then(|name| {
        let rate = |it: &&&Value| it.metric == RATE && it.engine.starts_with(name);
        values.iter().find(rate).and_then(|it| Some((name, it.value?)))
    });
    let mut heads = vec!["program".to_owned(), "call".into()];
    heads.extend(has_keys.then(|| "addresses as".into()));
    heads.extend(has_threads.then(|| "threads".into()));
    heads.extend(metrics.iter().map(|(metric, unit)| format!("{metric}, {unit}")));
    heads.extend(base.map(|(name, _)| format!("rate / {name}")));
    let own = grouped(values, |it| (&it.engine, &it.run, &it.keys, it.threads));
    let none = || "–".to_owned();
    let cells = own.into_iter().map(|((engine, run, keys, threads), own)| {
        let of = |metric: &str| own.iter().find(|it| it.metric == metric);
        let mut cells = vec![engine.clone(), run.clone()];
        cells.extend(has_keys.then(|| keys.clone()));
        cells.extend(has_threads.then(|| threads.to_string()));
        cells.extend(metrics.iter().map(|it| of(it.0).map_or_else(none, |it| with_spread(it))));
        let rate = of(RATE).and_then(|it| it.value);
        cells.extend(base.map(|(_, base)| rate.map_or_else(none, |rate| short(rate / base))));
        cells
    });
    rows(&heads.join(" | "), cells)
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
