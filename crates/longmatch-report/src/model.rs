//! What a report is made of, whichever way it is written: sections of figures, each figure a table
//! of cells and mostly a chart of the same values, beside the raw records.
//!
//! Everything here can be stored as JSON and read again, so that a report that was interrupted
//! goes on where it was.

use serde::{Deserialize, Serialize};

/// What one experiment has found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Section {
    /// The name of the experiment, such as `poptrie-table2`; an anchor in the page.
    pub experiment: String,
    /// What it reproduces, such as `Poptrie paper, Table 2`.
    pub source: String,
    /// What it is about, in a few words.
    pub title: String,
    /// The question, and how it is answered, in a few sentences.
    pub about: String,
    /// What came out.
    pub figures: Vec<Figure>,
    /// Every value that was measured or counted.
    pub records: Vec<Row>,
    /// Seconds that the experiment took.
    pub seconds: f64,
    /// When it ended, such as `2026-01-31 12:00 UTC`.
    pub date: String,
}

/// A table, and mostly a chart of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// An anchor in the page, unlike that of any other figure: `poptrie-table2-ipv4-full`.
    pub id: String,
    /// One line.
    pub title: String,
    /// What was measured and how.
    pub caption: String,
    /// Under which conditions: table, traffic, seed, keys, mode, passes and the like.
    pub conditions: Vec<Condition>,
    /// The picture.
    pub chart: Option<Chart>,
    /// The values.
    pub table: Table,
    /// What a reader may take from it, made from the values.
    pub findings: Vec<Finding>,
}

/// One condition of a measurement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Condition {
    /// Such as `traffic`.
    pub name: String,
    /// Such as `random, xorshift seed 1, made just before each lookup`.
    pub value: String,
}

/// A sentence about a figure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Whether a claim of a paper holds here; nothing where the sentence is no claim.
    pub holds: Option<bool>,
    /// The sentence, with numbers.
    pub text: String,
}

/// Rows of cells under named columns.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// As many cells as there are columns, in each.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// The unit, such as `Mlps`; empty where there is none.
    pub unit: String,
    /// Whether these are values that the paper gives.
    pub paper: bool,
}

/// A value in a table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Cell {
    /// There is nothing to say, as where a paper gives no value.
    Empty,
    /// Words.
    Text(String),
    /// A number of things.
    Count(u64),
    /// A number, to be shown with so many decimals.
    Number(f64, u8),
    /// A median with its quartiles, lower first, to be shown with so many decimals.
    Spread(f64, [f64; 2], u8),
    /// There can be no value, for this reason: the engine refuses the table.
    Refused(String),
}

/// A picture.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Chart {
    /// Horizontal bars.
    Bars(Bars),
    /// Lines through points, or steps of a distribution.
    Lines(Lines),
    /// Boxes of quartiles with whiskers.
    Boxes(Boxes),
    /// A map of counts.
    Heat(Heat),
}

/// Horizontal bars in groups. Bars of the same series have the same colour everywhere.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bars {
    /// What the bars say.
    pub value: Axis,
    /// The groups, from top to bottom.
    pub groups: Vec<BarGroup>,
}

/// Bars beside each other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BarGroup {
    /// What they have in common; empty where there is only one group.
    pub name: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bar {
    /// What it stands for: an engine with its variant, mostly. Decides the colour.
    pub name: String,
    /// Its length; nothing where the value is missing, and then `note` says why.
    pub value: Option<f64>,
    /// The quartiles, lower first.
    pub spread: Option<[f64; 2]>,
    /// The paper's value, to be marked.
    pub paper: Option<f64>,
    /// Why there is no value, or what else is to be said in a word or two; may be empty.
    pub note: String,
}

/// What a direction of a chart says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Axis {
    /// Such as `lookup rate`.
    pub name: String,
    /// Such as `Mlps`; empty where there is none.
    pub unit: String,
    /// Whether each step multiplies.
    pub log: bool,
}

/// Lines over a common axis.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lines {
    /// The axis of what was varied.
    pub x: Axis,
    /// The axis of what came out.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// Whether values stay the same up to the next point, and points have no marks: the
    /// distribution functions.
    pub steps: bool,
}

/// One line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Series {
    /// What it stands for: an engine with its variant, mostly. Decides the colour.
    pub name: String,
    /// Whether this is what a paper gives, or a limit: drawn dashed.
    pub dashed: bool,
    /// The points, leftmost first.
    pub points: Vec<Point>,
}

/// A point of a line.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// What was varied.
    pub x: f64,
    /// What came out.
    pub y: f64,
    /// Its quartiles, lower first.
    pub spread: Option<[f64; 2]>,
}

/// Boxes: for each place on the axis one of each series.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Boxes {
    /// What the places are.
    pub x: Axis,
    /// What the boxes say.
    pub y: Axis,
    /// The places, leftmost first.
    pub places: Vec<String>,
    /// The series.
    pub series: Vec<BoxSeries>,
}

/// Boxes of one engine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BoxSeries {
    /// What it stands for: an engine with its variant, mostly. Decides the colour.
    pub name: String,
    /// For each place the 5th, 25th, 50th, 75th and 95th percentile; nothing where nothing fell.
    pub boxes: Vec<Option<[f64; 5]>>,
}

/// A map of counts over two axes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Heat {
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from bottom to top.
    pub y: Axis,
    /// The steps of the first axis.
    pub columns: Vec<String>,
    /// The steps of the second axis, lowest first.
    pub rows: Vec<String>,
    /// What is counted, such as `addresses`.
    pub unit: String,
    /// Fields that are not zero: column, row, count.
    pub cells: Vec<(usize, usize, u64)>,
}

/// One value, with all that it depends on: a line of the records. The names of the fields are the
/// keys of the NDJSON and the columns of the CSV, which others read: they do not change.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// The experiment.
    pub experiment: String,
    /// The figure that shows it.
    pub figure: String,
    /// The name of the table.
    pub table: String,
    /// `ipv4` or `ipv6`; empty where it is about neither.
    pub family: String,
    /// Routes in the table.
    pub routes: u64,
    /// The engine, with its variant.
    pub engine: String,
    /// The kind of traffic; empty where nothing was looked up.
    pub traffic: String,
    /// Where the keys came from: `array`, `xorshift`, or empty.
    pub keys: String,
    /// `one`, `batch` or `dependent`; empty where nothing was looked up.
    pub mode: String,
    /// Keys in a batch.
    pub batch: u64,
    /// Threads that looked up at the same time.
    pub threads: u64,
    /// The instructions that were allowed.
    pub simd: String,
    /// What was varied, and to what: `depth=24`; empty where nothing was.
    pub at: String,
    /// What was measured or counted, such as `rate`, `bytes` or `cycles`.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The value: the median where there were several passes. Nothing where there can be none.
    pub value: Option<f64>,
    /// The lowest of the passes.
    pub min: Option<f64>,
    /// The lower quartile of the passes.
    pub q1: Option<f64>,
    /// The upper quartile of the passes.
    pub q3: Option<f64>,
    /// The highest of the passes.
    pub max: Option<f64>,
    /// The mean of the passes.
    pub mean: Option<f64>,
    /// The standard deviation of the passes.
    pub std_dev: Option<f64>,
    /// Passes that count.
    pub passes: u64,
    /// Passes that were thrown away and repeated, since the machine was disturbed meanwhile.
    pub repeated: u64,
    /// Passes that count although the machine was disturbed, also when they were repeated.
    pub disturbed: u64,
    /// The value that the paper gives.
    pub paper: Option<f64>,
    /// Where the paper has it from: its table of routes, its CPU.
    pub paper_of: String,
    /// Why there is no value.
    pub refused: String,
}
