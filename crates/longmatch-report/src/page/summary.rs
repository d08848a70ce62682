//! The first screen: the fastest engines under each traffic, and a chart of them.

use crate::model::{Cell, Chart, Column, Table};
use crate::record::Value;
use crate::run::Records;
use crate::view;

use super::{chart, table};

/// The experiment with every kind of traffic.
const EXPERIMENT: &str = "traffic";

/// The table of winners with their distance to the next engine, and a chart of all engines.
pub(super) fn html(records: &Records) -> String {
    let found = records.experiments.iter().find(|(outcome, _)| outcome.experiment == EXPERIMENT);
    let values: Vec<&Value> =
        found.iter().flat_map(|(_, values)| values).filter(|it| it.metric == "rate").collect();
    if values.is_empty() {
        return String::new();
    }
    let rooflines =
        records.experiments.iter().find(|(outcome, _)| outcome.experiment == "roofline");
    let rooflines: Vec<&Value> = rooflines.iter().flat_map(|(_, values)| values).collect();
    let mut out = String::from(
        "<section id=\"page-summary\" class=\"summary\">\n<h2>The fastest engines</h2>\n",
    );
    let winners = winners(&values, &rooflines);
    out += &table::html(&winners, "The fastest engines");
    let first = view::groups(&values).into_iter().next().unwrap_or_default();
    let batch: Vec<&Value> =
        first.into_iter().filter(|it| it.mode == "batch" || it.mode.is_empty()).collect();
    out +=
        &chart::html(&Chart::Bars(view::bars("rate", &batch)), "page-summary", "Rates in batches");
    out + "</section>\n"
}

/// A row for each family, table, traffic and mode.
fn winners(values: &[&Value], rooflines: &[&Value]) -> Table {
    let column =
        |name: &str, unit: &str| Column { name: name.into(), unit: unit.into(), paper: false };
    let columns = vec![
        column("lookups", ""),
        column("fastest", ""),
        column("rate", "Mlps"),
        column("next", ""),
        column("times as fast as the next", ""),
        column("share of its roofline", "%"),
    ];
    let same =
        |a: &Value, b: &Value| (&a.family, &a.table, &a.run) == (&b.family, &b.table, &b.run);
    let mut contests: Vec<Vec<&Value>> = Vec::new();
    for value in values.iter().copied().filter(|it| it.value.is_some()) {
        match contests.iter_mut().find(|own| same(own[0], value)) {
            Some(own) => own.push(value),
            None => contests.push(vec![value]),
        }
    }
    let row = |own: &mut Vec<&Value>| {
        own.sort_by(|a, b| b.value.unwrap_or_default().total_cmp(&a.value.unwrap_or_default()));
        let (best, next) = (own[0], own.get(1));
        let rate = best.value.unwrap_or_default();
        let roofline = rooflines.iter().find(|it| {
            it.metric == "share of the roofline" && it.engine == best.engine && same(it, best)
        });
        vec![
            Cell::Text(format!("{}, {}, {}", best.family, best.table, best.run)),
            Cell::Text(best.engine.clone()),
            Cell::Number(rate, 0),
            next.map_or(Cell::Empty, |it| Cell::Text(it.engine.clone())),
            next.and_then(|it| it.value).map_or(Cell::Empty, |it| Cell::Number(rate / it, 2)),
            roofline.and_then(|it| it.value).map_or(Cell::Empty, |it| Cell::Number(it, 0)),
        ]
    };
    Table { rows: contests.iter_mut().map(row).collect(), columns }
}
