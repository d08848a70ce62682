//! Figures of the page: tables and charts. `view` builds them from values; `page` renders them.

/// A table with a caption, and usually a chart.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Figure {
    /// The anchor.
    pub id: String,
    pub title: String,
    /// A description of the values, in a few sentences.
    pub caption: String,
    /// Pairs of name and value.
    pub conditions: Vec<(String, String)>,
    pub chart: Option<Chart>,
    pub table: Table,
}

/// Rows of cells under named columns; each row has a cell for every column.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<TableCell>>,
}

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Column {
    pub name: String,
    /// The unit, such as `Mlps`; may be empty.
    pub unit: String,
    /// Whether the values are from a paper.
    pub paper: bool,
}

/// A cell of a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TableCell {
    /// No value, for example because the paper states none.
    Empty,
    Text(String),
    /// A number, and how many decimals to print.
    Number(f64, u8),
    /// A median, its quartiles (lower first), and how many decimals to print.
    Spread(f64, [f64; 2], u8),
    /// The reason why there is no value.
    Refused(String),
}

/// A chart. Its numbers are finite, and positive on logarithmic axes. A grid is a second table, of counts over two axes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Chart {
    Bars(Bars),
    Lines(Lines),
    Grid(Table),
}

/// Horizontal bars.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bars {
    /// The axis of the values; linear.
    pub value: Axis,
    /// The bars, from top to bottom; those of a group stand together.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bar {
    /// The heading above the bars of its group; may be empty.
    pub group: String,
    /// The engine, which determines the colour.
    pub name: String,
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

impl Axis {
    /// Returns whether a value has a place on the axis.
    pub fn has(&self, value: f64) -> bool {
        // Arithmetic with greater numbers may overflow.
        value.abs() < 1e300 && (value > 0.0 || !self.log)
    }
}

/// Lines over a common pair of axes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Lines {
    pub x: Axis,
    pub y: Axis,
    /// The lines; each has a point.
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
    pub x: f64,
    pub y: f64,
    /// The quartiles, lower first.
    pub spread: Option<[f64; 2]>,
}
