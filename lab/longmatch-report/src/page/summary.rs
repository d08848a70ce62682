//! Summary at the top of the page: the fastest engines under each kind of traffic.

use core::fmt::Write as _;

use crate::claim::TIE;
use crate::model::{Chart, Column, Table, TableCell};
use crate::record::Value;
use crate::records::{FAMILIES, Records, family_name};
use crate::view::{self, grouped};

use super::number::short;
use super::text::escape;
use super::{chart, table};

/// The kinds of traffic in the summary; the section of the experiment has all.
const TRAFFIC: [&str; 3] = ["routed", "random", "zipf"];
/// The modes with their names for readers.
const MODES: [(&str, &str); 2] = [("batch", "in batches"), ("one", "one by one")];

/// Renders a sentence and tables about the fastest engines, and a chart of all engines.
pub(super) fn html(records: &Records) -> String {
    let tables = grouped(values(records, "traffic", "rate"), |it| (&*it.family, &*it.table));
    let first = FAMILIES.map(|family| tables.iter().find(|it| it.0.0 == family));
    let first: Vec<&[&Value]> = first.into_iter().flatten().map(|it| &it.1[..]).collect();
    if first.is_empty() {
        return String::new();
    }
    let rooflines: Vec<&Value> = values(records, "roofline", "share of the roofline").collect();
    let answers: Vec<String> = first.iter().filter_map(|own| answer(own)).collect();
    let mut out = format!(
        "<section id=\"page-summary\" class=\"summary\">\n<h2>The fastest engines</h2>\n\
         <p class=\"lead\">Routed addresses: {}.</p>\n<div class=\"winners\">\n",
        answers.join("; ")
    );
    for own in &first {
        let title = format!("{}, {}", family_name(&own[0].family), own[0].table);
        let table = table::html(&winners(own, &rooflines), &title);
        let _ = write!(out, "<div>\n<h3>{}</h3>\n{table}</div>\n", escape(&title));
    }
    let shown = |it: &&Value| it.mode == "batch" && TRAFFIC[..2].contains(&&*it.run);
    let shown: Vec<&Value> = first[0].iter().copied().filter(shown).collect();
    let title = format!("Rates in batches, {}", family_name(&first[0][0].family));
    let chart = chart::html(&Chart::Bars(view::bars("rate", &shown)), "page-summary", &title);
    out + &format!("</div>\n<h3>{title}</h3>\n{chart}</section>\n")
}

/// Returns the values of a quantity of an experiment.
fn values<'r>(
    records: &'r Records,
    experiment: &str,
    metric: &str,
) -> impl Iterator<Item = &'r Value> {
    let own = records.experiments.iter().filter(move |it| it.0.experiment == experiment);
    own.flat_map(|(_, values)| values).filter(move |it| it.metric == metric)
}

/// Returns the rates under a kind of traffic in a mode, in descending order.
fn ranking<'v>(own: &[&'v Value], run: &str, mode: &str) -> Vec<&'v Value> {
    let is = |it: &&&Value| it.run == run && it.mode == mode && it.value.is_some();
    let mut found: Vec<&Value> = own.iter().filter(is).copied().collect();
    found.sort_by(|a, b| b.value.unwrap_or_default().total_cmp(&a.value.unwrap_or_default()));
    found
}

/// States the fastest engine for routed addresses in each mode.
fn answer(own: &[&Value]) -> Option<String> {
    let winner = |(mode, words): (&str, &str)| {
        let best = *ranking(own, TRAFFIC[0], mode).first()?;
        let rate = short(best.value?);
        Some(format!("<b>{}</b> {words} ({rate} million lookups a second)", escape(&best.engine)))
    };
    let both: Vec<String> = MODES.into_iter().filter_map(winner).collect();
    (!both.is_empty()).then(|| format!("{}: {}", family_name(&own[0].family), both.join(", ")))
}

/// Builds a table with a row for each mode and kind of traffic.
fn winners(own: &[&Value], rooflines: &[&Value]) -> Table {
    let columns = [
        ("lookups", ""),
        ("fastest", ""),
        ("rate", "Mlps"),
        ("lead", ""),
        ("share of its roofline", "%"),
    ];
    let column =
        |(name, unit): (&str, &str)| Column { name: name.into(), unit: unit.into(), paper: false };
    let mut rows = Vec::new();
    for (mode, words) in MODES {
        for run in TRAFFIC {
            let all = ranking(own, run, mode);
            let Some(best) = all.first() else { continue };
            let rate = best.value.unwrap_or_default();
            let next = all.get(1).and_then(|it| Some((it.engine.as_str(), rate / it.value?)));
            let (fastest, lead) = match next {
                None => (best.engine.clone(), "only engine".into()),
                Some((next, lead)) if lead < 1.0 + TIE => {
                    (format!("{} and {next}", best.engine), "no difference".into())
                }
                Some((next, lead)) => (best.engine.clone(), format!("{lead:.2} × {next}")),
            };
            let roofline = rooflines.iter().find(|it| {
                let same = (&it.engine, &it.family, &it.table, it.run.as_str());
                mode == "batch" && same == (&best.engine, &best.family, &best.table, run)
            });
            rows.push(vec![
                TableCell::Text(format!("{run}, {words}")),
                TableCell::Text(fastest),
                TableCell::Number(rate, 0),
                TableCell::Text(lead),
                roofline
                    .and_then(|it| it.value)
                    .map_or(TableCell::Empty, |it| TableCell::Number(it, 0)),
            ]);
        }
    }
    Table { rows, columns: columns.map(column).into() }
}
