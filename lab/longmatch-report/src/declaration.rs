//! The parts of a declared experiment: engines, run configurations, axes, figures, the papers' values.

use std::collections::BTreeMap;

use longmatch::simd::Level;
use longmatch::{EngineKind, EngineSpec};
use longmatch_bench::{BenchFamily, Mode, RunConfig, Traffic};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::claim::ValueRef;
use crate::record::Value;

/// The reason why an experiment cannot run with these inputs or on this machine, and the remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped(pub String);

/// Rates of a set of engines under run configurations, on tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rates {
    /// The figure that shows them; usually the one with the name of the experiment.
    #[serde(default)]
    pub figure: String,
    pub tables: TableChoice,
    /// The engines, which take turns in one comparison.
    pub engines: Vec<CalledEngine>,
    /// The names of the run configurations.
    #[serde(default, rename = "runs")]
    pub run_names: Vec<String>,
    /// The run configurations; without any, only the memory is counted.
    #[serde(skip)]
    pub runs: Vec<RunSpec>,
    /// Parts of the structures whose items are counted, each with the name of the count.
    #[serde(default)]
    pub parts: Vec<(String, String)>,
    /// Whether compile time is a value, as it is beside counts of parts.
    #[serde(default)]
    pub compile: bool,
    /// Whether implementations of others take turns with the engines.
    #[serde(default)]
    pub peers: bool,
    /// Whether each engine's roofline is measured too.
    #[serde(default)]
    pub roofline: bool,
    /// Sizes of tables to measure instead of each table, its random parts. A quick report has every second of these
    /// sizes, from the second on.
    #[serde(default)]
    pub routes: Vec<usize>,
    /// The same as multiples of the table; a larger table has more specific routes.
    #[serde(default)]
    pub times: Vec<f64>,
}

/// An engine of an experiment, with the call that the paper makes.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(from = "String")]
pub(crate) struct CalledEngine {
    /// The engine with its options, or the name of a peer.
    pub spec: String,
    /// The paper's name for it; empty if it has none.
    pub alias: String,
    /// Its name in the records: the spec, or a name that several variants share as one line of a chart.
    pub name: String,
    /// Keys in a batch, if it is called in batches whatever the mode of the others.
    pub batch: Option<usize>,
    /// The position of its values on the axis, if it is a variant with a varied option.
    pub x: Option<f64>,
    /// The position in words of its values, unless they have another, such as `huge pages`.
    pub at: String,
}

impl From<String> for CalledEngine {
    fn from(spec: String) -> Self {
        Self { name: spec.clone(), spec, ..Self::default() }
    }
}

impl CalledEngine {
    /// Returns an engine without a name in a paper.
    pub fn new(spec: impl Into<String>) -> Self {
        let spec: String = spec.into();
        Self::from(spec)
    }

    /// Returns a wider variant, which stands in for an engine that refuses the table.
    pub fn wider(&self, spec: &EngineSpec) -> Self {
        let alias = if self.alias.is_empty() { "" } else { ", modified" };
        let name = if self.name == self.spec { spec.to_string() } else { self.name.clone() };
        Self {
            spec: spec.to_string(),
            alias: format!("{}{alias}", self.alias),
            name,
            ..self.clone()
        }
    }

    /// Returns whether the engine has the family at all.
    pub fn exists_for<F: BenchFamily>(&self) -> bool {
        let name = self.spec.split(':').next().unwrap_or_default();
        name.parse::<EngineKind>().is_ok_and(F::has)
    }

    /// Returns the settings of its lookups.
    pub fn config(&self, usual: &RunConfig) -> RunConfig {
        match self.batch {
            Some(batch) => RunConfig { mode: Mode::Batch, batch, ..*usual },
            None => *usual,
        }
    }
}

/// The tables of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TableChoice {
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

impl TableChoice {
    /// Returns the greatest numbers of IPv4 and of IPv6 tables.
    pub fn most(self) -> [usize; 2] {
        match self {
            Self::Ipv4 | Self::Split => [usize::MAX, 0],
            Self::Ipv6 => [0, usize::MAX],
            Self::First => [1, 1],
            Self::FirstIpv4 => [1, 0],
            Self::FirstIpv6 => [0, 1],
            Self::All => [usize::MAX; 2],
        }
    }

    /// Returns the reason why an experiment cannot run without any of them.
    pub fn missing(self) -> Skipped {
        let routes = match self.most() {
            [_, 0] => "ipv4 routes",
            [0, _] => "ipv6 routes",
            _ => "routes",
        };
        Skipped(format!("needs a table with {routes}"))
    }
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
    /// The traffic; none means the destinations of a packet trace.
    #[serde(deserialize_with = "traffic")]
    pub traffic: Option<Traffic>,
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
    pub axis: Varied,
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

fn traffic<'de, D: Deserializer<'de>>(name: D) -> Result<Option<Traffic>, D::Error> {
    let name = String::deserialize(name)?;
    let generated = [
        Traffic::Random,
        Traffic::Sequential,
        Traffic::Repeated,
        Traffic::Routed,
        Traffic::Zipf,
        Traffic::DxrRepeated,
        Traffic::RandomIn8,
        Traffic::SpiderRandom,
    ];
    let found = generated.into_iter().find(|it| it.name() == name);
    if found.is_none() && name != "trace" {
        return Err(D::Error::custom(format!("no traffic {name}")));
    }
    Ok(found)
}

/// The parameter that a run configuration varies.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Varied {
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
pub(crate) struct FigureSpec {
    /// The anchor, without the family and the table that are appended to it.
    #[serde(default)]
    pub id: String,
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
    /// A table of a count over two named axes.
    Grid(String, [String; 2]),
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

/// A table of a paper; its values are shown beside ours.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperTable {
    /// The figure with our values; usually the one with the name of the experiment.
    #[serde(default)]
    pub figure: String,
    /// The family.
    #[serde(default = "crate::claim::ipv4")]
    pub family: String,
    /// Quantities, as in claims but without engines: `rate() in 'just in time' at 4`.
    pub columns: Vec<ValueRef>,
    /// A value for each column, by engine or by a position such as `at 16`; `nan` where the paper has none.
    pub values: BTreeMap<String, Vec<f64>>,
}

/// Returns the paper's value for the same engine, figure and position as our value.
pub(crate) fn paper(tables: &[PaperTable], ours: &Value) -> Option<f64> {
    let own = tables.iter().filter(|it| it.figure == ours.figure && it.family == ours.family);
    let one = |it: &PaperTable| {
        let (row, x) = match (it.values.get(&ours.engine), ours.x) {
            (Some(row), x) => (row, x),
            (None, Some(x)) if ours.engine.is_empty() => (it.values.get(&format!("at {x}"))?, None),
            _ => return None,
        };
        let is = |pick: &ValueRef| {
            (&pick.run, &pick.metric, pick.xs.first()) == (&ours.run, &ours.metric, x.as_ref())
        };
        Some(row[it.columns.iter().position(is)?]).filter(|value| !value.is_nan())
    };
    own.filter_map(one).next()
}
