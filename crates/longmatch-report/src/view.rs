//! Builds figures from values: each has a table of its values and usually a chart of one quantity.

use crate::declaration::{ChartKind, Figure as Spec, Rows};
use crate::experiment::Experiment;
use crate::model::{
    Axis, Bar, BarGroup, Bars, Cell, Chart, Column, Figure, HeatMap, Lines, Point, Series, Table,
};
use crate::record::{Outcome, Value};

/// Builds the figures of an experiment: one for each figure, family and table with values, in the order of the values,
/// after the tables in words.
pub(crate) fn figures(
    experiment: &Experiment,
    values: &[&Value],
    outcome: &Outcome,
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
            all.extend(["ipv4", "ipv6"].into_iter().filter_map(|it| over_tables(spec, it, &rates)));
        }
    }
    all
}

/// Builds the figure of a table in words; `None` if it is a figure of values.
fn in_words(spec: &Spec) -> Option<Figure> {
    let (headings, rows) = spec.words.split_first()?;
    let column = |name: &String| Column { name: name.clone(), unit: String::new(), paper: false };
    let row = |row: &Vec<String>| row.iter().cloned().map(Cell::Text).collect();
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
fn over_tables(spec: &Spec, family: &str, rates: &[&Value]) -> Option<Figure> {
    let named = rates.iter().filter(|it| it.family == family && !it.alias.is_empty());
    let by_table = named.map(|it| Value {
        figure: spec.id.clone(),
        run: it.table.clone(),
        table: String::new(),
        paper: None,
        ..(*it).clone()
    });
    let own: Vec<Value> = by_table.collect();
    let own: Vec<&Value> = own.iter().collect();
    let several = distinct(&own, |it| it.run.clone()).len() > 1;
    several.then(|| figure(&Spec { rows: Rows::Runs, ..spec.clone() }, &own, &Outcome::default()))
}

/// Groups values by figure, family and table.
pub(crate) fn groups<'v>(values: &[&'v Value]) -> Vec<Vec<&'v Value>> {
    let mut groups: Vec<Vec<&Value>> = Vec::new();
    for value in values {
        let same = |group: &&mut Vec<&Value>| {
            let first = group[0];
            first.figure == value.figure
                && first.family == value.family
                && first.table == value.table
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(value),
            None => groups.push(vec![value]),
        }
    }
    groups
}

/// Returns the anchor of a value's figure: the figure's id, the family and the table.
pub(crate) fn anchor(value: &Value) -> String {
    let parts = [&value.figure, &value.family, &value.table];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("-")
}

/// Builds the figure of a group of values.
pub(crate) fn figure(spec: &Spec, values: &[&Value], outcome: &Outcome) -> Figure {
    let id = anchor(values[0]);
    let place = [&values[0].family, &values[0].table].into_iter().filter(|it| !it.is_empty());
    let place = place.map(|it| format!(", {it}")).collect::<String>();
    let own = outcome.conditions.iter().filter(|[figure, ..]| *figure == id);
    let own = own.map(|[_, name, value]| (name.clone(), value.clone()));
    Figure {
        title: format!("{}{place}", spec.title),
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
    let unit = |values: &[&Value]| values.first().map_or_else(String::new, |it| it.unit.clone());
    let axis =
        |(name, unit): &(String, String), log| Axis { name: name.clone(), unit: unit.clone(), log };
    match kind {
        ChartKind::None => None,
        ChartKind::Bars(metric) => Some(Chart::Bars(bars(metric, &of(metric)))),
        ChartKind::Lines(metric, x, [log_x, log_y]) => {
            let own = of(metric);
            let y = axis(&(metric.clone(), unit(&own)), *log_y);
            Some(Chart::Lines(Lines { x: axis(x, *log_x), y, series: series(&own), steps: false }))
        }
        ChartKind::Steps(metric, x) => {
            let own = of(metric);
            let y = axis(&(metric.clone(), unit(&own)), false);
            Some(Chart::Lines(Lines { x: axis(x, false), y, series: series(&own), steps: true }))
        }
        ChartKind::HeatMap(metric, [x, y]) => {
            let [x, y] = [x, y].map(|name| axis(&(name.clone(), String::new()), false));
            Some(Chart::HeatMap(heat_map(&of(metric), x, y)))
        }
    }
}

/// Returns the distinct keys of values, in the order of their first appearance.
fn distinct<K: PartialEq>(values: &[&Value], key: impl Fn(&Value) -> K) -> Vec<K> {
    let mut keys = Vec::new();
    for value in values {
        let key = key(value);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Builds bars of a quantity, with a group for each run configuration and place.
pub(crate) fn bars(metric: &str, values: &[&Value]) -> Bars {
    let unit = values.first().map_or_else(String::new, |it| it.unit.clone());
    Bars { value: Axis { name: metric.into(), unit, log: false }, groups: bar_groups(values) }
}

fn bar_groups(values: &[&Value]) -> Vec<BarGroup> {
    let mut refused: Vec<(&str, &str)> = Vec::new();
    let mut groups = Vec::new();
    for run in distinct(values, label) {
        let mut bars = Vec::new();
        for value in values.iter().filter(|it| label(it) == run) {
            // Only the first group states an engine's reason; later groups omit the bar.
            let reason = (value.engine.as_str(), value.refused.as_str());
            if value.value.is_none() && refused.contains(&reason) {
                continue;
            }
            if value.value.is_none() {
                refused.push(reason);
            }
            bars.push(Bar {
                name: value.engine.clone(),
                value: value.value,
                spread: value.quartiles(),
                paper: value.paper,
                note: value.refused.clone(),
            });
        }
        groups.push(BarGroup { name: run, bars });
    }
    groups
}

/// Returns the run configuration and the place of a value as text.
fn label(value: &Value) -> String {
    let x = value.x.map_or_else(String::new, |x| x.to_string());
    let at = if value.at.is_empty() { x } else { value.at.clone() };
    [value.run.clone(), at].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ")
}

fn series(values: &[&Value]) -> Vec<Series> {
    let several_runs = distinct(values, |it| it.run.clone()).len() > 1;
    let name = |it: &Value| match several_runs && !it.run.is_empty() {
        true if it.engine.is_empty() => it.run.clone(),
        true => format!("{}, {}", it.engine, it.run),
        false => it.engine.clone(),
    };
    let xs: Vec<f64> = values.iter().filter_map(|it| it.x).collect();
    let ends =
        [xs.iter().copied().fold(f64::INFINITY, f64::min), xs.iter().copied().fold(0.0, f64::max)];
    let mut lines: Vec<Series> = Vec::new();
    let mut add = |name: String, dashed: bool, points: Vec<Point>| match lines
        .iter_mut()
        .find(|it| it.name == name)
    {
        Some(line) => line.points.extend(points),
        None => lines.push(Series { name, dashed, points }),
    };
    for it in values {
        let point = |x, y, spread| Point { x, y, spread };
        match (it.x, it.value) {
            (Some(x), Some(y)) => add(name(it), false, vec![point(x, y, it.quartiles())]),
            // A value without a place is a level: a horizontal line.
            (None, Some(y)) => add(name(it), true, ends.map(|x| point(x, y, None)).into()),
            (_, None) => {}
        }
    }
    for it in values {
        if let (Some(x), Some(y)) = (it.x, it.paper) {
            add(format!("{}, paper", name(it)), true, vec![Point { x, y, spread: None }]);
        }
    }
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    lines
}

/// Builds a heat map of counts: [`Value::at`] is the column, [`Value::x`] the row.
fn heat_map(values: &[&Value], x: Axis, y: Axis) -> HeatMap {
    let columns = distinct(values, |it| it.at.clone());
    // Rows without a cell are included, so that the axis is linear.
    let ends = values.iter().filter_map(|it| it.x).fold(None, |ends, x| {
        let (low, high) = ends.unwrap_or((x, x));
        Some((f64::min(low, x), f64::max(high, x)))
    });
    let rows: Vec<f64> = ends.map_or_else(Vec::new, |(low, high)| {
        (low as i64..=high as i64).map(|x| x as f64).collect()
    });
    let cell = |it: &&Value| {
        let column = columns.iter().position(|at| *at == it.at)?;
        let row = rows.iter().position(|x| Some(*x) == it.x)?;
        Some((column, row, it.value? as u64))
    };
    let cells = values.iter().filter_map(cell).collect();
    let unit = values.first().map_or_else(String::new, |it| it.metric.clone());
    HeatMap { x, y, rows: rows.iter().map(f64::to_string).collect(), unit, cells, columns }
}

/// Key of a column in a table of values.
#[derive(Clone, PartialEq)]
struct Key {
    engine: String,
    run: String,
    place: String,
    metric: String,
    unit: String,
}

fn table(spec: &Spec, values: &[&Value]) -> Table {
    let hidden = match &spec.chart {
        ChartKind::Steps(metric, _) | ChartKind::HeatMap(metric, _) => metric.as_str(),
        _ => "",
    };
    let values: Vec<&Value> = values.iter().copied().filter(|it| it.metric != hidden).collect();
    let place = |it: &Value| label(&Value { run: String::new(), ..it.clone() });
    let engines = spec.rows == Rows::Engines;
    let runs = spec.rows == Rows::Runs;
    let row_of = |it: &Value| match &spec.rows {
        Rows::Engines => it.engine.clone(),
        Rows::Runs | Rows::Tables { .. } => it.run.clone(),
        Rows::Places => place(it),
    };
    let key_of = |it: &Value| Key {
        engine: if engines { String::new() } else { it.engine.clone() },
        run: if runs { String::new() } else { it.run.clone() },
        place: if spec.rows == Rows::Places { String::new() } else { place(it) },
        metric: it.metric.clone(),
        unit: it.unit.clone(),
    };
    let (rows, keys) = (distinct(&values, row_of), distinct(&values, key_of));
    let alias_of = |row: &String| {
        let named = values.iter().find(|it| row_of(it) == *row && !it.alias.is_empty());
        named.map_or_else(String::new, |it| it.alias.clone())
    };
    let aliases = engines && rows.iter().any(|row| !alias_of(row).is_empty());
    let papers: Vec<bool> = keys
        .iter()
        .map(|key| values.iter().any(|it| key_of(it) == *key && it.paper.is_some()))
        .collect();
    let first = if engines { "engine" } else { "" };
    let mut columns = vec![Column { name: first.into(), unit: String::new(), paper: false }];
    if aliases {
        columns.push(Column { name: "the paper's name".into(), unit: String::new(), paper: false });
    }
    let names = names(&keys);
    for ((key, name), paper) in keys.iter().zip(&names).zip(&papers) {
        columns.push(Column { name: name.clone(), unit: key.unit.clone(), paper: false });
        if *paper {
            columns.push(Column {
                name: format!("{name}, paper"),
                unit: key.unit.clone(),
                paper: true,
            });
        }
    }
    let row = |row: &String| {
        let mut cells = vec![Cell::Text(row.clone())];
        if aliases {
            cells.push(Cell::Text(alias_of(row)));
        }
        let mut reason = "";
        for (key, paper) in keys.iter().zip(&papers) {
            let found = values.iter().find(|it| row_of(it) == *row && key_of(it) == *key);
            cells.push(match found {
                // A row states a reason once.
                Some(it) if it.value.is_none() && it.refused == reason => Cell::Empty,
                Some(it) => cell(it),
                None => Cell::Empty,
            });
            if let Some(it) = found.filter(|it| it.value.is_none()) {
                reason = &it.refused;
            }
            if *paper {
                let paper = found.and_then(|it| Some(Cell::Number(it.paper?, decimals(it))));
                cells.push(paper.unwrap_or(Cell::Empty));
            }
        }
        cells
    };
    Table { rows: rows.iter().map(row).collect(), columns }
}

/// Returns the headings: the parts of the keys that differ between columns.
fn names(keys: &[Key]) -> Vec<String> {
    let parts = |key: &Key| [&key.engine, &key.run, &key.place, &key.metric].map(String::clone);
    let all: Vec<[String; 4]> = keys.iter().map(parts).collect();
    let differs = |i: usize| all.iter().any(|parts| parts[i] != all[0][i]);
    let name = |parts: &[String; 4]| {
        let shown = (0..4)
            .filter(|i| (differs(*i) || *i == 3 && !(0..3).any(differs)) && !parts[*i].is_empty());
        shown.map(|i| parts[i].as_str()).collect::<Vec<_>>().join(", ")
    };
    all.iter().map(name).collect()
}

fn cell(it: &Value) -> Cell {
    match (it.value, it.quartiles()) {
        (None, _) => Cell::Refused(it.refused.clone()),
        (Some(value), Some(quartiles)) => Cell::Spread(value, quartiles, decimals(it)),
        (Some(value), None) if decimals(it) == 0 && value.fract() == 0.0 => {
            Cell::Count(value as u64)
        }
        (Some(value), None) => Cell::Number(value, decimals(it)),
    }
}

/// Returns the number of decimals of a value, by its unit.
fn decimals(it: &Value) -> u8 {
    match it.unit.as_str() {
        "Mlps" | "Mpps" | "ms" => 1,
        "MiB" | "%" => 2,
        "us" => 3,
        "cycles" | "B" => 0,
        "" if it.value.is_some_and(|value| value > 0.0 && value < 0.01) => 7,
        _ if it.value.is_none_or(|value| value.fract() == 0.0)
            && it.paper.is_none_or(|paper| paper.fract() == 0.0) =>
        {
            0
        }
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec {
            id: "f".into(),
            title: "Rates".into(),
            caption: "c".into(),
            chart: ChartKind::Bars("rate".into()),
            rows: Rows::Engines,
            words: Vec::new(),
        }
    }

    fn value(engine: &str, run: &str, rate: Option<f64>) -> Value {
        Value {
            figure: "f".into(),
            family: "ipv4".into(),
            engine: engine.into(),
            run: run.into(),
            metric: "rate".into(),
            unit: "Mlps".into(),
            value: rate,
            refused: if rate.is_none() { "too long".into() } else { String::new() },
            ..Value::default()
        }
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
        let figure = figure(&spec(), &own.iter().collect::<Vec<_>>(), &Outcome::default());
        assert_eq!((figure.id.as_str(), figure.title.as_str()), ("f-ipv4", "Rates, ipv4"));
        assert_eq!(headings(&figure.table), ["engine", "one", "one, paper", "batch"]);
        assert_eq!(
            figure.table.rows,
            [
                vec![
                    Cell::Text("a".into()),
                    Cell::Number(2.0, 1),
                    Cell::Number(2.5, 1),
                    Cell::Number(3.0, 1)
                ],
                vec![
                    Cell::Text("b".into()),
                    Cell::Refused("too long".into()),
                    Cell::Empty,
                    Cell::Empty
                ],
            ]
        );
        let Some(Chart::Bars(bars)) = figure.chart else { panic!("no bars") };
        assert_eq!(bars.groups.iter().map(|group| group.bars.len()).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn lines_have_the_papers_points_and_levels() {
        let at = |x, rate| Value { x: Some(x), ..value("a", "", Some(rate)) };
        let own =
            [at(2.0, 5.0), Value { paper: Some(4.0), ..at(1.0, 3.0) }, value("b", "", Some(7.0))];
        let all = series(&own.iter().collect::<Vec<_>>());
        let points =
            |line: &Series| line.points.iter().map(|point| (point.x, point.y)).collect::<Vec<_>>();
        let shown: Vec<_> =
            all.iter().map(|line| (line.name.as_str(), line.dashed, points(line))).collect();
        assert_eq!(
            shown,
            [
                ("a", false, vec![(1.0, 3.0), (2.0, 5.0)]),
                ("b", true, vec![(1.0, 7.0), (2.0, 7.0)]),
                ("a, paper", true, vec![(1.0, 4.0)]),
            ]
        );
    }

    #[test]
    fn tables_can_be_rows() {
        let of = |table: &str, rate| Value {
            table: table.into(),
            alias: "A".into(),
            ..value("a", "one", Some(rate))
        };
        let unnamed = Value { alias: String::new(), ..of("t", 1.0) };
        let own = [of("t", 2.0), unnamed, of("u", 3.0)];
        let spec = Spec { rows: Rows::Tables { of: "f".into(), run: "one".into() }, ..spec() };
        let figure = over_tables(&spec, "ipv4", &own.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(headings(&figure.table), ["", "rate"]);
        let row = |name: &str, rate| vec![Cell::Text(name.into()), Cell::Number(rate, 1)];
        assert_eq!(figure.table.rows, [row("t", 2.0), row("u", 3.0)]);
        let one: Vec<&Value> = own[..2].iter().collect();
        assert!(over_tables(&spec, "ipv4", &one).is_none());
        assert!(over_tables(&spec, "ipv6", &own.iter().collect::<Vec<_>>()).is_none());
    }

    #[test]
    fn places_can_be_rows() {
        let at = |engine, x| Value { x: Some(x), ..value(engine, "", Some(x)) };
        let own = [at("a", 8.0), at("b", 8.0), at("a", 16.0)];
        let spec = Spec { rows: Rows::Places, ..spec() };
        let table = table(&spec, &own.iter().collect::<Vec<_>>());
        assert_eq!(headings(&table), ["", "a", "b"]);
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[1], [Cell::Text("16".into()), Cell::Number(16.0, 1), Cell::Empty]);
    }

    #[test]
    fn heat_maps_have_columns_and_rows() {
        let at =
            |at: &str, x, count| Value { at: at.into(), x: Some(x), ..value("", "", Some(count)) };
        let own = [at("/8", 11.0, 5.0), at("/8", 9.0, 1.0), at("/9", 9.0, 2.0)];
        let axis = || Axis { name: String::new(), unit: String::new(), log: false };
        let map = heat_map(&own.iter().collect::<Vec<_>>(), axis(), axis());
        assert_eq!(
            (map.columns, map.rows),
            (vec!["/8".to_owned(), "/9".into()], vec!["9".to_owned(), "10".into(), "11".into()])
        );
        assert_eq!(map.cells, [(0, 2, 5), (0, 0, 1), (1, 0, 2)]);
    }
}
