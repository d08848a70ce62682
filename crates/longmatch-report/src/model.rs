//! Figures of the page: tables and charts. `view` builds them from values; `page` renders them.

/// A table with a caption, and usually a chart.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Figure {
    /// The anchor.
    pub id: String,
    /// The title.
    pub title: String,
    /// A description of the values, in a few sentences.
    pub caption: String,
    /// The conditions: pairs of name and value.
    pub conditions: Vec<(String, String)>,
    /// The chart.
    pub chart: Option<Chart>,
    /// The values.
    pub table: Table,
}

/// Rows of cells under named columns.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; each has a cell for every column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    /// The heading.
    pub name: String,
    /// The unit, such as `Mlps`; may be empty.
    pub unit: String,
    /// Whether the values are from a paper.
    pub paper: bool,
}

/// A cell of a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    /// No value, for example because the paper states none.
    Empty,
    /// Text.
    Text(String),
    /// A count.
    Count(u64),
    /// A number, and how many decimals to print.
    Number(f64, u8),
    /// A median, its quartiles (lower first), and how many decimals to print.
    Spread(f64, [f64; 2], u8),
    /// The reason why there is no value.
    Refused(String),
}

/// A chart.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Chart {
    /// Horizontal bars.
    Bars(Bars),
    /// Lines through points, or step functions.
    Lines(Lines),
    /// A heat map of counts.
    HeatMap(HeatMap),
}

/// Horizontal bars in groups.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bars {
    /// The axis of the values.
    pub value: Axis,
    /// The groups, from top to bottom.
    pub groups: Vec<BarGroup>,
}

/// Bars under a common heading.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct BarGroup {
    /// The heading; may be empty if there is only one group.
    pub name: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bar {
    /// The engine, which determines the colour.
    pub name: String,
    /// The length.
    pub value: Option<f64>,
    /// The quartiles, lower first.
    pub spread: Option<[f64; 2]>,
    /// The paper's value, drawn as a mark.
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
    /// Whether the scale is logarithmic.
    pub log: bool,
}

/// Lines over a common pair of axes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Lines {
    /// The axis of the varied quantity.
    pub x: Axis,
    /// The axis of the values.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// Whether the lines are step functions, constant up to the next point and without a mark at each point.
    pub steps: bool,
}

/// A line.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Series {
    /// The engine, which determines the colour.
    pub name: String,
    /// Whether the line is dashed, as the values of a paper and levels are.
    pub dashed: bool,
    /// The points, leftmost first.
    pub points: Vec<Point>,
}

/// A point of a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Point {
    /// The place on the x axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The quartiles, lower first.
    pub spread: Option<[f64; 2]>,
}

/// A heat map of counts over two axes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct HeatMap {
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from bottom to top.
    pub y: Axis,
    /// The columns.
    pub columns: Vec<String>,
    /// The rows, lowest first.
    pub rows: Vec<String>,
    /// The counted quantity, such as `addresses`.
    pub unit: String,
    /// The non-zero cells: column, row, count.
    pub cells: Vec<(usize, usize, u64)>,
}
