//! Summary at the top of the page: the fastest engines under each kind of traffic.

use core::fmt::Write as _;

use crate::claim::TIE;
use crate::model::{Cell, Chart, Column, Table};
use crate::record::Value;
use crate::records::Records;
use crate::view;

use super::number::short;
use super::text::escape;
use super::{chart, table};

/// The experiment that the summary is about.
const EXPERIMENT: &str = "traffic";

/// The kinds of traffic in the summary; the section of the experiment has all.
const TRAFFIC: [&str; 3] = ["routed", "random", "zipf"];
/// The modes with their names for readers.
const MODES: [(&str, &str); 2] = [("batch", "in batches"), ("one", "one by one")];

/// Renders a sentence and tables about the fastest engines, and a chart of all engines.
pub(super) fn html(records: &Records) -> String {
    let values = rates(records, EXPERIMENT);
    let rooflines = rates(records, "roofline");
    let mut out = String::from(
        "<section id=\"page-summary\" class=\"summary\">\n<h2>The fastest engines</h2>\n",
    );
    let first: Vec<_> =
        ["ipv4", "ipv6"].into_iter().filter_map(|family| first_table(&values, family)).collect();
    if first.is_empty() {
        return String::new();
    }
    let answers: Vec<String> = first.iter().filter_map(|own| answer(own)).collect();
    let _ = writeln!(out, "<p class=\"lead\">Routed addresses: {}.</p>", answers.join("; "));
    out += "<div class=\"winners\">\n";
    for own in &first {
        let title = format!("{}, {}", family(own[0]), own[0].table);
        let _ = writeln!(out, "<div>\n<h3>{}</h3>", escape(&title));
        out += &table::html(&winners(own, &rooflines), &title);
        out += "</div>\n";
    }
    out += "</div>\n";
    let batches: Vec<&Value> = first[0].iter().copied().filter(|it| it.mode == "batch").collect();
    let shown = batches.into_iter().filter(|it| TRAFFIC[..2].contains(&it.run.as_str()));
    let bars = view::bars("rate", &shown.collect::<Vec<_>>());
    let title = format!("Rates in batches, {}", family(first[0][0]));
    let _ = writeln!(out, "<h3>{title}</h3>");
    out += &chart::html(&Chart::Bars(bars), "page-summary", &title);
    out + "</section>\n"
}

/// Returns the values of a family's first table.
fn first_table<'v>(values: &[&'v Value], family: &str) -> Option<Vec<&'v Value>> {
    let first = values.iter().find(|it| it.family == family)?;
    let same = |it: &&&Value| it.family == family && it.table == first.table;
    Some(values.iter().filter(same).copied().collect())
}

fn rates<'r>(records: &'r Records, experiment: &str) -> Vec<&'r Value> {
    let found = records.experiments.iter().find(|(outcome, _)| outcome.experiment == experiment);
    let values = found.iter().flat_map(|(_, values)| values);
    values.filter(|it| it.metric == "rate" || it.metric == "share of the roofline").collect()
}

fn family(value: &Value) -> &'static str {
    if value.family == "ipv6" { "IPv6" } else { "IPv4" }
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
    (!both.is_empty()).then(|| format!("{}: {}", family(own[0]), both.join(", ")))
}

/// Builds a table with a row for each mode and kind of traffic.
fn winners(own: &[&Value], rooflines: &[&Value]) -> Table {
    let column =
        |name: &str, unit: &str| Column { name: name.into(), unit: unit.into(), paper: false };
    let columns = vec![
        column("lookups", ""),
        column("fastest", ""),
        column("rate", "Mlps"),
        column("lead", ""),
        column("share of its roofline", "%"),
    ];
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
                it.metric != "rate"
                    && mode == "batch"
                    && same == (&best.engine, &best.family, &best.table, run)
            });
            rows.push(vec![
                Cell::Text(format!("{run}, {words}")),
                Cell::Text(fastest),
                Cell::Number(rate, 0),
                Cell::Text(lead),
                roofline.and_then(|it| it.value).map_or(Cell::Empty, |it| Cell::Number(it, 0)),
            ]);
        }
    }
    Table { rows, columns }
}
