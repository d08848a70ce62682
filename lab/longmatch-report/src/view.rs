//! Builds figures from values: each has a table of its values and usually a chart of one quantity.

use crate::declaration::{ChartKind, FigureSpec, Rows};
use crate::experiment::Experiment;
use crate::model::{
    Axis, Bar, Bars, Chart, Column, Figure, Lines, Point, Series, Table, TableCell,
};
use crate::record::{ExperimentEnd, Value};
use crate::records::FAMILIES;

/// Groups items by a key, in the order of the keys' first appearance.
pub(crate) fn grouped<T: Copy, K: PartialEq>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(item);
        // Items of a group are usually adjacent.
        match groups.iter_mut().rev().find(|group| group.0 == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// Returns the distinct items, in the order of their first appearance.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}

/// Joins the parts that are not empty.
pub(crate) fn joined<'a>(parts: impl IntoIterator<Item = &'a str>, by: &str) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(by)
}

/// Builds the figures of an experiment: one for each figure, family and table with values, in the order of the values,
/// after the tables in words.
pub(crate) fn figures(
    experiment: &Experiment,
    values: &[&Value],
    outcome: &ExperimentEnd,
) -> Vec<Figure> {
    let own = groups(values).into_iter().filter_map(|own| {
        let spec = experiment.figures.iter().find(|spec| spec.id == own[0].figure)?;
        Some(figure(spec, &own, outcome))
    });
    let words = experiment.figures.iter().filter_map(in_words).filter(|_| !values.is_empty());
    let mut all: Vec<Figure> = words.chain(own).collect();
    for spec in &experiment.figures {
        if let Rows::Tables { of, run } = &spec.rows {
            let rates = values.iter().filter(|it| it.figure == *of && it.run == *run);
            let rates: Vec<_> = rates.filter(|it| it.metric == "rate").copied().collect();
            all.extend(FAMILIES.into_iter().filter_map(|it| over_tables(spec, it, &rates)));
        }
    }
    all
}

/// Builds the figure of a table in words; `None` if it is a figure of values.
fn in_words(spec: &FigureSpec) -> Option<Figure> {
    let (headings, rows) = spec.words.split_first()?;
    let column = |name: &String| Column { name: name.clone(), ..Column::default() };
    let row = |row: &Vec<String>| row.iter().cloned().map(TableCell::Text).collect();
    Some(Figure {
        id: spec.id.clone(),
        title: spec.title.clone(),
        caption: spec.caption.clone(),
        conditions: Vec::new(),
        chart: None,
        table: Table {
            columns: headings.iter().map(column).collect(),
            rows: rows.iter().map(row).collect(),
        },
    })
}

/// Builds the figure of a family's rates by table; `None` if the family has only one table.
fn over_tables(spec: &FigureSpec, family: &str, rates: &[&Value]) -> Option<Figure> {
    let named = rates.iter().filter(|it| it.family == family && !it.alias.is_empty());
    let by_table = named.map(|it| Value {
        figure: spec.id.clone(),
        run: it.table.clone(),
        table: String::new(),
        paper: None,
        ..(*it).clone()
    });
    let own: Vec<Value> = by_table.collect();
    let several = distinct(own.iter().map(|it| &it.run)).len() > 1;
    several.then(|| figure(spec, &own.iter().collect::<Vec<_>>(), &ExperimentEnd::default()))
}

/// Groups values by figure, family and table.
pub(crate) fn groups<'v>(values: &[&'v Value]) -> Vec<Vec<&'v Value>> {
    let key = |it: &'v Value| (&it.figure, &it.family, &it.table);
    grouped(values.iter().copied(), key).into_iter().map(|(_, group)| group).collect()
}

/// Returns the anchor of a value's figure: the figure's id, the family and the table.
pub(crate) fn anchor(value: &Value) -> String {
    joined([&*value.figure, &value.family, &value.table], "-")
}

/// Builds the figure of a group of values.
pub(crate) fn figure(spec: &FigureSpec, values: &[&Value], outcome: &ExperimentEnd) -> Figure {
    let id = anchor(values[0]);
    let own = outcome.conditions.iter().filter(|[figure, ..]| *figure == id);
    let own = own.map(|[_, name, value]| (name.clone(), value.clone()));
    Figure {
        title: joined([&*spec.title, &values[0].family, &values[0].table], ", "),
        caption: spec.caption.clone(),
        conditions: own.chain(disturbances(values)).collect(),
        chart: chart(&spec.chart, values),
        table: table(spec, values),
        id,
    }
}

/// States how many passes were disturbed and repeated; `None` if no pass was timed.
fn disturbances(values: &[&Value]) -> Option<(String, String)> {
    let sum = |of: fn(&Value) -> u64| values.iter().map(|it| of(it)).sum::<u64>();
    let passes = sum(|it| it.passes);
    let (disturbed, repeated) = (sum(|it| it.disturbed), sum(|it| it.repeated));
    let text = format!("{disturbed} of {passes} passes; {repeated} more were repeated");
    (passes > 0).then(|| ("disturbed".into(), text))
}

fn chart(kind: &ChartKind, values: &[&Value]) -> Option<Chart> {
    let of = |metric: &str| -> Vec<&Value> {
        values.iter().copied().filter(|it| it.metric == metric).collect()
    };
    Some(match kind {
        ChartKind::None => return None,
        ChartKind::Bars(metric) => Chart::Bars(bars(metric, &of(metric))),
        ChartKind::Lines(metric, x, log) => Chart::Lines(lines(metric, &of(metric), x, *log)),
        ChartKind::Steps(metric, x) => {
            Chart::Lines(Lines { steps: true, ..lines(metric, &of(metric), x, [false; 2]) })
        }
        ChartKind::Grid(metric, axes) => Chart::Grid(grid(&of(metric), axes)),
    })
}

/// Returns the axis of the values of a quantity.
fn axis(metric: &str, values: &[&Value], log: bool) -> Axis {
    let unit = values.first().map_or_else(String::new, |it| it.unit.clone());
    Axis { name: metric.into(), unit, log }
}

/// Returns the quartiles of a value if the axis has both.
fn spread(value: &Value, axis: &Axis) -> Option<[f64; 2]> {
    value.quartiles().filter(|ends| ends.iter().all(|end| axis.has(*end)))
}

/// Builds bars of a quantity, with a group for each run configuration and place.
pub(crate) fn bars(metric: &str, values: &[&Value]) -> Bars {
    let axis = axis(metric, values, false);
    let (mut bars, mut refused) = (Vec::new(), Vec::new());
    for (group, own) in grouped(values.iter().copied(), label) {
        for it in own {
            // Only the first group states an engine's reason; later groups omit the bar.
            let reason = (&it.engine, &it.refused);
            if it.value.is_none() && refused.contains(&reason) {
                continue;
            }
            if it.value.is_none() {
                refused.push(reason);
            }
            bars.push(Bar {
                group: group.clone(),
                name: it.engine.clone(),
                value: it.value.filter(|value| axis.has(*value)),
                spread: spread(it, &axis),
                paper: it.paper.filter(|paper| axis.has(*paper)),
                note: it.refused.clone(),
            });
        }
    }
    Bars { value: axis, bars }
}

/// Returns the place of a value on the axis of the varied parameter as text.
fn place(value: &Value) -> String {
    match value.x {
        Some(x) if value.at.is_empty() => x.to_string(),
        _ => value.at.clone(),
    }
}

/// Returns the run configuration and the place of a value as text.
fn label(value: &Value) -> String {
    joined([&*value.run, &place(value)], ", ")
}

/// Builds lines of a quantity over an axis with a name and a unit, without the points that the axes lack.
fn lines(metric: &str, values: &[&Value], x: &(String, String), log: [bool; 2]) -> Lines {
    let (name, unit) = x.clone();
    let (x, y) = (Axis { name, unit, log: log[0] }, axis(metric, values, log[1]));
    let several_runs = distinct(values.iter().map(|it| &it.run)).len() > 1;
    let name =
        |it: &Value| joined([&*it.engine, if several_runs { &it.run[..] } else { "" }], ", ");
    let mut points = Vec::new();
    let mut add = |name: String, dashed, at, value, spread| {
        if x.has(at) && y.has(value) {
            points.push((name, dashed, Point { x: at, y: value, spread }));
        }
    };
    let places = || values.iter().filter_map(|it| it.x);
    let ends = [places().fold(f64::INFINITY, f64::min), places().fold(0.0, f64::max)];
    for it in values {
        match (it.x, it.value) {
            (Some(at), Some(value)) => add(name(it), false, at, value, spread(it, &y)),
            // A value without a place is a level: a horizontal line.
            (None, Some(value)) => ends.iter().for_each(|at| add(name(it), true, *at, value, None)),
            (_, None) => {}
        }
    }
    for it in values {
        if let (Some(at), Some(paper)) = (it.x, it.paper) {
            add(format!("{}, paper", name(it)), true, at, paper, None);
        }
    }
    let series = grouped(&points, |it| &it.0).into_iter().map(|(name, own)| {
        let mut points: Vec<Point> = own.iter().map(|it| it.2).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: name.clone(), dashed: own[0].1, points }
    });
    Lines { series: series.collect(), x, y, steps: false }
}

/// Builds a table of counts: [`Value::at`] is the column, [`Value::x`] the row.
fn grid(values: &[&Value], [column, row]: &[String; 2]) -> Table {
    let names = distinct(values.iter().map(|it| &it.at));
    let mut rows = grouped(values.iter().copied(), |it| it.x.map(|x| x as i64));
    rows.sort_by_key(|it| it.0);
    let count = |own: &[&Value], name: &String| {
        let value = own.iter().find(|it| it.at == *name).and_then(|it| it.value);
        value.map_or(TableCell::Empty, |count| TableCell::Number(count, 0))
    };
    let cells = |(x, own): &(Option<i64>, Vec<&Value>)| {
        let head = TableCell::Text(x.map_or_else(String::new, |x| x.to_string()));
        core::iter::once(head).chain(names.iter().map(|name| count(own, name))).collect()
    };
    let heads =
        core::iter::once(format!("{row} by {column}")).chain(names.iter().map(|it| (*it).clone()));
    let columns = heads.map(|name| Column { name, ..Column::default() }).collect();
    Table { rows: rows.iter().map(cells).collect(), columns }
}

/// The subject of a value, in the order of headings (engine, run configuration, place, quantity), and its unit.
type Key = [String; 5];

fn key(value: &Value) -> Key {
    let [engine, run, metric, unit] =
        [&value.engine, &value.run, &value.metric, &value.unit].map(String::clone);
    [engine, run, place(value), metric, unit]
}

fn table(spec: &FigureSpec, values: &[&Value]) -> Table {
    let hidden = match &spec.chart {
        ChartKind::Steps(metric, _) | ChartKind::Grid(metric, _) => metric.as_str(),
        _ => "",
    };
    let values: Vec<&Value> = values.iter().copied().filter(|it| it.metric != hidden).collect();
    let (row_part, first) = match &spec.rows {
        Rows::Engines => (0, "engine"),
        Rows::Runs | Rows::Tables { .. } => (1, ""),
        Rows::Places => (2, ""),
    };
    let row_of = |it: &Value| core::mem::take(&mut key(it)[row_part]);
    let column_of = |it: &Value| {
        let mut key = key(it);
        key[row_part].clear();
        key
    };
    let rows = grouped(values.iter().copied(), row_of);
    let alias = |own: &[&Value]| own.iter().map(|it| &it.alias).find(|it| !it.is_empty()).cloned();
    let aliases = row_part == 0 && rows.iter().any(|(_, own)| alias(own).is_some());
    let named = |name: &str| Column { name: name.into(), ..Column::default() };
    let mut columns = vec![named(first)];
    columns.extend(aliases.then(|| named("the paper's name")));
    // The columns of values: their keys, and whether they have the paper's values.
    let mut shown = Vec::new();
    let keys = grouped(values.iter().copied(), column_of);
    for ((key, own), name) in keys.iter().zip(names(&keys)) {
        let papers = own.iter().any(|it| it.paper.is_some());
        let second = papers.then(|| (format!("{name}, paper"), true));
        for (name, paper) in [(name, false)].into_iter().chain(second) {
            columns.push(Column { name, unit: key[4].clone(), paper });
            shown.push((key, paper));
        }
    }
    let row = |(name, own): &(String, Vec<&Value>)| {
        let mut cells = vec![TableCell::Text(name.clone())];
        cells.extend(aliases.then(|| TableCell::Text(alias(own).unwrap_or_default())));
        let mut reason = "";
        for (key, paper) in &shown {
            cells.push(match own.iter().find(|it| column_of(it) == **key) {
                None => TableCell::Empty,
                Some(it) if *paper => it
                    .paper
                    .map_or(TableCell::Empty, |paper| TableCell::Number(paper, decimals(it))),
                // A row states a reason once.
                Some(it) if it.value.is_none() && it.refused == reason => TableCell::Empty,
                Some(it) => {
                    if it.value.is_none() {
                        reason = &it.refused;
                    }
                    cell(it)
                }
            });
        }
        cells
    };
    Table { rows: rows.iter().map(row).collect(), columns }
}

/// Returns the headings: the parts of the keys that differ between columns, or the quantity.
fn names(keys: &[(Key, Vec<&Value>)]) -> Vec<String> {
    let differs = |i: usize| keys.iter().any(|(key, _)| key[i] != keys[0].0[i]);
    let shown = (0..4).filter(|i| differs(*i) || *i == 3 && !(0..3).any(differs));
    let shown: Vec<usize> = shown.collect();
    let name = |(key, _): &(Key, _)| joined(shown.iter().map(|i| &*key[*i]), ", ");
    keys.iter().map(name).collect()
}

fn cell(it: &Value) -> TableCell {
    match (it.value, it.quartiles()) {
        (None, _) => TableCell::Refused(it.refused.clone()),
        (Some(value), Some(quartiles)) => TableCell::Spread(value, quartiles, decimals(it)),
        (Some(value), None) => TableCell::Number(value, decimals(it)),
    }
}

/// Returns the number of decimals of a value, by its unit.
fn decimals(it: &Value) -> u8 {
    let whole = |value: Option<f64>| value.is_none_or(|value| value.fract() == 0.0);
    match it.unit.as_str() {
        "Mlps" | "Mpps" | "ms" => 1,
        "MiB" | "%" => 2,
        "us" => 3,
        "cycles" | "B" => 0,
        "" if it.value.is_some_and(|value| value > 0.0 && value < 0.01) => 7,
        _ if whole(it.value) && whole(it.paper) => 0,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::TableCell::{Empty, Number, Refused, Text};
    use super::*;

    fn spec(rows: Rows) -> FigureSpec {
        let (id, title, caption) = ("f".into(), "Rates".into(), "c".into());
        FigureSpec {
            id,
            title,
            caption,
            chart: ChartKind::Bars("rate".into()),
            rows,
            words: Vec::new(),
        }
    }

    fn value(engine: &str, run: &str, rate: Option<f64>) -> Value {
        let [figure, family, engine, run] = ["f", "ipv4", engine, run].map(str::to_owned);
        let (metric, unit) = ("rate".into(), "Mlps".into());
        let refused = if rate.is_none() { "too long".into() } else { String::new() };
        Value {
            figure,
            family,
            engine,
            run,
            metric,
            unit,
            value: rate,
            refused,
            ..Value::default()
        }
    }

    fn at(engine: &str, x: f64, rate: f64) -> Value {
        Value { x: Some(x), ..value(engine, "", Some(rate)) }
    }

    fn all(values: &[Value]) -> Vec<&Value> {
        values.iter().collect()
    }

    fn headings(table: &Table) -> Vec<&str> {
        table.columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn runs_and_the_papers_values_have_columns() {
        let own = [
            Value { paper: Some(2.5), ..value("a", "one", Some(2.0)) },
            value("a", "batch", Some(3.0)),
            value("b", "one", None),
            value("b", "batch", None),
        ];
        let figure = figure(&spec(Rows::Engines), &all(&own), &ExperimentEnd::default());
        assert_eq!((figure.id.as_str(), figure.title.as_str()), ("f-ipv4", "Rates, ipv4"));
        assert_eq!(headings(&figure.table), ["engine", "one", "one, paper", "batch"]);
        let a = vec![Text("a".into()), Number(2.0, 1), Number(2.5, 1), Number(3.0, 1)];
        let b = vec![Text("b".into()), Refused("too long".into()), Empty, Empty];
        assert_eq!(figure.table.rows, [a, b]);
        let Some(Chart::Bars(bars)) = figure.chart else { panic!("no bars") };
        let groups: Vec<_> = bars.bars.iter().map(|bar| bar.group.as_str()).collect();
        assert_eq!(groups, ["one", "one", "batch"]);
    }

    #[test]
    fn lines_have_the_papers_points_and_levels() {
        let own = [
            at("a", 2.0, 5.0),
            Value { paper: Some(4.0), ..at("a", 1.0, 3.0) },
            value("b", "", Some(7.0)),
            at("c", 1.0, f64::NAN),
        ];
        let lines = lines("rate", &all(&own), &("n".into(), String::new()), [false; 2]);
        let points = |it: &Series| it.points.iter().map(|it| (it.x, it.y)).collect::<Vec<_>>();
        let shown = lines.series.iter().map(|it| (it.name.as_str(), it.dashed, points(it)));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                ("a", false, vec![(1.0, 3.0), (2.0, 5.0)]),
                ("b", true, vec![(1.0, 7.0), (2.0, 7.0)]),
                ("a, paper", true, vec![(1.0, 4.0)]),
            ]
        );
        let has = |log, value| Axis { log, ..lines.x.clone() }.has(value);
        assert!(has(false, -1.0) && has(true, 1e-9) && !has(true, 0.0));
        assert!([f64::NAN, f64::INFINITY, f64::MAX].iter().all(|it| !has(false, *it)));
    }

    #[test]
    fn tables_can_be_rows() {
        let of = |table: &str, alias: &str, rate| {
            let (table, alias) = (table.into(), alias.into());
            Value { table, alias, ..value("a", "one", Some(rate)) }
        };
        let own = [of("t", "A", 2.0), of("t", "", 1.0), of("u", "A", 3.0)];
        let spec = spec(Rows::Tables { of: "f".into(), run: "one".into() });
        let figure = over_tables(&spec, "ipv4", &all(&own)).unwrap();
        assert_eq!(headings(&figure.table), ["", "rate"]);
        let row = |name: &str, rate| vec![Text(name.into()), Number(rate, 1)];
        assert_eq!(figure.table.rows, [row("t", 2.0), row("u", 3.0)]);
        assert!(over_tables(&spec, "ipv4", &all(&own[..2])).is_none());
        assert!(over_tables(&spec, "ipv6", &all(&own)).is_none());
    }

    #[test]
    fn places_can_be_rows() {
        let own = [at("a", 8.0, 8.0), at("b", 8.0, 8.0), at("a", 16.0, 16.0)];
        let table = table(&spec(Rows::Places), &all(&own));
        assert_eq!(headings(&table), ["", "a", "b"]);
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[1], [Text("16".into()), Number(16.0, 1), Empty]);
    }

    #[test]
    fn grids_have_columns_and_rows() {
        let at = |place: &str, x, count| Value { at: place.into(), ..at("", x, count) };
        let own = [at("/8", 11.0, 5.0), at("/8", 9.0, 1.0), at("/9", 9.0, 2.0)];
        let grid = grid(&all(&own), &["length".into(), "depth".into()]);
        assert_eq!(headings(&grid), ["depth by length", "/8", "/9"]);
        let row = |head: &str, a, b| vec![Text(head.into()), a, b];
        let rows = [row("9", Number(1.0, 0), Number(2.0, 0)), row("11", Number(5.0, 0), Empty)];
        assert_eq!(grid.rows, rows);
    }
}
