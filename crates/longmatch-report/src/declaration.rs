//! The parts of a declared experiment: engines, run configurations, axes, figures, the papers' values.

use longmatch::simd::Level;
use longmatch_bench::Mode;
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::record::Value;

/// The reason why an experiment cannot run with these inputs or on this machine, and the remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Absence(pub String);

/// Rates of a set of engines under run configurations, on tables.
pub(crate) struct Rates {
    /// The figure that shows them.
    pub figure: String,
    /// The tables.
    pub tables: Tables,
    /// The engines, which take turns in one comparison.
    pub engines: Vec<DeclaredEngine>,
    /// The run configurations; without any, only the memory is counted.
    pub runs: Vec<RunSpec>,
    /// Parts of the structures whose items are counted, each with the name of the count.
    pub parts: Vec<(String, String)>,
    /// Whether compile time is a value.
    pub compile: bool,
    /// Whether implementations of others take turns with the engines.
    pub peers: bool,
    /// Whether each engine's roofline is measured too.
    pub roofline: bool,
    /// Sizes of tables to measure instead of each table, its random parts. A quick report has every second of these
    /// sizes, from the second on.
    pub routes: Vec<usize>,
    /// The same as multiples of the table; a larger table has more specific routes.
    pub times: Vec<f64>,
}

/// An engine of an experiment, with the call that the paper makes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DeclaredEngine {
    /// The engine with its options.
    pub spec: String,
    /// The paper's name for it; empty if it has none.
    pub alias: String,
    /// The engine's name in the records; usually the spec. Variants that are one line of a chart share it.
    pub name: String,
    /// Keys in a batch, if the engine is called in batches whatever the mode of the run configuration.
    pub batch: Option<usize>,
    /// The position on the axis, for a variant with this value of the varied option.
    pub x: Option<f64>,
}

/// The tables of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tables {
    /// Every IPv4 table.
    Ipv4,
    /// Every IPv6 table.
    Ipv6,
    /// The first table of each family.
    First,
    /// The first IPv4 table.
    FirstIpv4,
    /// The first IPv6 table.
    FirstIpv6,
    /// Every table of each family.
    All,
    /// SYN1 and SYN2 of every IPv4 table.
    Split,
}

/// A run configuration: traffic, order of lookups, source of keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSpec {
    /// The name in figures.
    #[serde(default)]
    pub name: String,
    /// The figure, if not that of the set of rates.
    #[serde(default)]
    pub figure: String,
    /// The traffic.
    pub traffic: TrafficKind,
    /// The order of lookups: one by one, in batches, or dependent.
    #[serde(deserialize_with = "mode")]
    pub mode: Mode,
    /// Keys in a batch.
    #[serde(default = "usual_batch")]
    pub batch: usize,
    /// Whether the timed loop generates the keys, if the traffic has a generator; otherwise they come from an array.
    #[serde(default)]
    pub just_in_time: bool,
    /// The varied parameter.
    #[serde(default)]
    pub axis: Axis,
    /// Whether each rate takes half the usual time, as for a line of many points.
    #[serde(default)]
    pub brief: bool,
    /// Whether only a full report measures it.
    #[serde(default)]
    pub full: bool,
    /// Whether the value is the latency of a lookup instead of the rate.
    #[serde(default)]
    pub latency: bool,
    /// Whether the timed loop stores the answers of single lookups.
    #[serde(default)]
    pub store: bool,
}

fn usual_batch() -> usize {
    256
}

fn mode<'de, D: Deserializer<'de>>(text: D) -> Result<Mode, D::Error> {
    String::deserialize(text)?.parse().map_err(D::Error::custom)
}

/// Traffic of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrafficKind {
    /// Random addresses of all of IPv4, or of 2000::/3.
    Random,
    /// Ascending addresses.
    Sequential,
    /// Random addresses, each repeated 16 times.
    Repeated,
    /// Random addresses, each repeated 8 times, as on the DXR page.
    DxrRepeated,
    /// Random routes with random host bits.
    Routed,
    /// A fixed number of routed addresses, drawn with Zipf's distribution.
    Zipf,
    /// The destinations of a packet trace.
    Trace,
    /// Random addresses as in the Spider paper: all of IPv4; IPv6 inside routes.
    SpiderRandom,
    /// Random addresses of 2000::/8, as in the Poptrie paper.
    RandomIn8,
}

/// The parameter that a run configuration varies.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Axis {
    /// Nothing.
    #[default]
    None,
    /// Threads, from one to the number of CPUs.
    Threads,
    /// Keys in a batch.
    Batch(Vec<usize>),
    /// The share of addresses without a route, in percent; the others are routed.
    Misses(Vec<usize>),
    /// The SIMD level.
    #[serde(deserialize_with = "levels")]
    Levels(Vec<Level>),
}

fn levels<'de, D: Deserializer<'de>>(names: D) -> Result<Vec<Level>, D::Error> {
    let names = Vec::<String>::deserialize(names)?;
    names.iter().map(|name| name.parse().map_err(|_| D::Error::custom(name))).collect()
}

/// A figure of an experiment, drawn for each family and table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// The anchor, without the family and the table that are appended to it.
    #[serde(default)]
    pub id: String,
    /// The title.
    pub title: String,
    /// The meaning of the values, in a few sentences.
    pub caption: String,
    /// The kind of chart.
    #[serde(default)]
    pub chart: ChartKind,
    /// The rows of the table.
    #[serde(default)]
    pub rows: Rows,
    /// A table in words, which describes a setup and has no values; its first row has the headings.
    #[serde(default)]
    pub words: Vec<Vec<String>>,
}

/// The kind of chart of a figure.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChartKind {
    /// No chart.
    #[default]
    None,
    /// Bars of a quantity, one group per run configuration.
    Bars(String),
    /// Lines of a quantity over an axis with a name and a unit; whether the x and the y axis are logarithmic.
    Lines(String, (String, String), [bool; 2]),
    /// Distribution functions over an axis with a name and a unit.
    Steps(String, (String, String)),
    /// A map of counts over two named axes.
    HeatMap(String, [String; 2]),
}

/// The rows of a figure's table.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rows {
    /// One row per engine; columns for run configurations, positions and quantities.
    #[default]
    Engines,
    /// One row per run configuration; columns for quantities.
    Runs,
    /// One row per position; columns for engines.
    Places,
    /// One row per table of a family; columns for the engines that the paper names. The values are the rates of
    /// another figure under one run configuration. The figure is omitted for a single table.
    Tables {
        /// The other figure.
        of: String,
        /// The run configuration.
        run: String,
    },
}

/// A value of a paper, shown beside ours.
#[derive(Debug)]
pub(crate) struct PaperValue {
    /// The figure.
    pub figure: String,
    /// The family.
    pub family: String,
    /// The engine; empty for the table.
    pub engine: String,
    /// The run configuration.
    pub run: String,
    /// The quantity.
    pub metric: String,
    /// The position on the axis.
    pub x: Option<f64>,
    /// The value.
    pub value: f64,
}

/// Returns the paper's value for the same engine, figure and position as our value.
pub(crate) fn paper(papers: &[PaperValue], value: &Value) -> Option<f64> {
    let own = |it: &&PaperValue| {
        it.figure == value.figure
            && it.family == value.family
            && it.engine == value.engine
            && it.run == value.run
            && it.metric == value.metric
            && it.x == value.x
    };
    papers.iter().find(own).map(|it| it.value)
}
