//! Figures as they are drawn: tables of cells and charts, made from values by `view`.

/// A table, and usually a chart of it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Figure {
    /// The anchor in the page.
    pub id: String,
    /// The title.
    pub title: String,
    /// What the values are, in a few sentences.
    pub caption: String,
    /// The conditions: pairs of name and value.
    pub conditions: Vec<(String, String)>,
    /// The picture.
    pub chart: Option<Chart>,
    /// The values.
    pub table: Table,
}

/// Rows of cells under named columns.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// As many cells as columns in each row.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    /// The heading.
    pub name: String,
    /// The unit, such as `Mlps`; may be empty.
    pub unit: String,
    /// Whether it has values of a paper.
    pub paper: bool,
}

/// A cell of a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    /// No value, as where a paper gives none.
    Empty,
    /// Text.
    Text(String),
    /// A count.
    Count(u64),
    /// A number with a number of decimals.
    Number(f64, u8),
    /// A median with its quartiles, lower first, and a number of decimals.
    Spread(f64, [f64; 2], u8),
    /// The reason why there can be no value.
    Refused(String),
}

/// A picture.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Chart {
    /// Horizontal bars.
    Bars(Bars),
    /// Lines through points, or steps of a distribution.
    Lines(Lines),
    /// Boxes of quartiles with whiskers.
    Boxes(Boxes),
    /// A map of counts.
    Heat(Heat),
}

/// Horizontal bars in groups.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bars {
    /// The axis of the values.
    pub value: Axis,
    /// The groups, from top to bottom.
    pub groups: Vec<BarGroup>,
}

/// Bars beside each other.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct BarGroup {
    /// The name; empty if there is one group only.
    pub name: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bar {
    /// The engine; it decides the colour.
    pub name: String,
    /// The length.
    pub value: Option<f64>,
    /// The quartiles, lower first.
    pub spread: Option<[f64; 2]>,
    /// The paper's value, which is marked.
    pub paper: Option<f64>,
    /// The reason why there is no value; may be empty.
    pub note: String,
}

/// An axis of a chart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Axis {
    /// The name, such as `rate`.
    pub name: String,
    /// The unit, such as `Mlps`; may be empty.
    pub unit: String,
    /// Whether each step multiplies.
    pub log: bool,
}

/// Lines over a common axis.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Lines {
    /// The axis of the quantity that is varied.
    pub x: Axis,
    /// The axis of the values.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// Whether values stay the same up to the next point, and points have no marks.
    pub steps: bool,
}

/// A line.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Series {
    /// The engine; it decides the colour.
    pub name: String,
    /// Whether it is dashed: values of a paper, and levels.
    pub dashed: bool,
    /// The points, leftmost first.
    pub points: Vec<Point>,
}

/// A point of a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Point {
    /// The place on the axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The quartiles, lower first.
    pub spread: Option<[f64; 2]>,
}

/// Boxes: for each place on the axis one of each series.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Boxes {
    /// The axis of the places.
    pub x: Axis,
    /// The axis of the values.
    pub y: Axis,
    /// The places, leftmost first.
    pub places: Vec<String>,
    /// The series.
    pub series: Vec<BoxSeries>,
}

/// Boxes of one engine.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct BoxSeries {
    /// The engine; it decides the colour.
    pub name: String,
    /// For each place the 5th, 25th, 50th, 75th and 95th percentile.
    pub boxes: Vec<Option<[f64; 5]>>,
}

/// A map of counts over two axes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Heat {
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from bottom to top.
    pub y: Axis,
    /// The columns.
    pub columns: Vec<String>,
    /// The rows, lowest first.
    pub rows: Vec<String>,
    /// The quantity that is counted, such as `addresses`.
    pub unit: String,
    /// Fields that are not zero: column, row, count.
    pub cells: Vec<(usize, usize, u64)>,
}
