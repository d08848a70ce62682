//! The parts of a declared experiment: engines, run configurations, axes, figures, the papers' values.

use longmatch_bench::Mode;

use crate::record::Value;

/// The reason why an experiment cannot run with these inputs or on this machine, and the remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Absence(pub String);

/// Rates of a set of engines under run configurations, on tables.
pub(crate) struct Rates {
    /// The figure that shows them.
    pub figure: &'static str,
    /// The tables.
    pub tables: Tables,
    /// The engines, each with the paper's name for it.
    pub engines: Vec<(&'static str, &'static str)>,
    /// The run configurations.
    pub runs: Vec<RunSpec>,
    /// Parts of the structures whose items are counted, each with the name of the count. If there are any, compile time
    /// is a value too.
    pub parts: &'static [(&'static str, &'static str)],
}

/// The tables of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tables {
    /// Every IPv4 table.
    Ipv4,
    /// Every IPv6 table.
    Ipv6,
    /// The first table of each family.
    First,
    /// Every table of each family.
    All,
    /// SYN1 and SYN2 of every IPv4 table.
    Split,
}

/// A run configuration: traffic, order of lookups, source of keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSpec {
    /// The name in figures.
    pub name: &'static str,
    /// The traffic.
    pub traffic: TrafficKind,
    /// The order of lookups: one by one, in batches, or dependent.
    pub mode: Mode,
    /// Keys in a batch.
    pub batch: usize,
    /// Whether the timed loop generates the keys, if the traffic has a generator; otherwise they come from an array.
    pub just_in_time: bool,
    /// The varied parameter.
    pub axis: Axis,
    /// Whether each rate takes half the usual time, as for a line of many points.
    pub brief: bool,
}

/// Traffic of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    /// Nothing.
    None,
    /// Threads, from one to the number of CPUs.
    Threads,
    /// Keys in a batch.
    Batch(&'static [usize]),
}

/// A figure of an experiment, drawn for each family and table.
pub(crate) struct Figure {
    /// The anchor, without the family and the table that are appended to it.
    pub id: &'static str,
    /// The title.
    pub title: &'static str,
    /// The meaning of the values, in a few sentences.
    pub caption: &'static str,
    /// The kind of chart.
    pub chart: ChartKind,
    /// The rows of the table.
    pub rows: Rows,
}

/// The kind of chart of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChartKind {
    /// No chart.
    None,
    /// Bars of a quantity, one group per run configuration.
    Bars(&'static str),
    /// Lines of a quantity over an axis with a name and a unit; whether the x and the y axis are logarithmic.
    Lines(&'static str, (&'static str, &'static str), [bool; 2]),
    /// Distribution functions over an axis with a name and a unit.
    Steps(&'static str, (&'static str, &'static str)),
    /// Boxes of a quantity over an axis with a name and a unit.
    Boxes(&'static str, (&'static str, &'static str)),
    /// A map of counts over two named axes.
    HeatMap(&'static str, [&'static str; 2]),
    /// A drawing of a setup. The figure has no values: its table describes the setup.
    Diagram(&'static Diagram),
}

/// The setups of an experiment, the paper's and ours, as drawings and in words.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Diagram {
    /// The setups.
    pub flows: &'static [Flow],
    /// Descriptions: a subject, and its description in each setup.
    pub facts: &'static [(&'static str, &'static [&'static str])],
}

/// A setup: stages through which packets pass.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Flow {
    /// The name.
    pub name: &'static str,
    /// The stages, from the first to the last.
    pub stages: &'static [Stage],
}

/// A stage of a setup: a machine, a program or a store.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Stage {
    /// The name.
    pub name: &'static str,
    /// Its description, in lines.
    pub lines: &'static [&'static str],
    /// What it sends to the next stage; empty if nothing.
    pub forth: &'static str,
    /// What the next stage sends back; empty if nothing.
    pub back: &'static str,
}

/// The rows of a figure's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rows {
    /// One row per engine; columns for run configurations, positions and quantities.
    Engines,
    /// One row per run configuration; columns for quantities.
    Runs,
    /// One row per position; columns for engines.
    Places,
    /// One row per table of a family; columns for the engines that the paper names. The values are the rates of
    /// another figure under one run configuration. The figure is omitted for a single table.
    Tables {
        /// The other figure.
        of: &'static str,
        /// The run configuration.
        run: &'static str,
    },
}

/// Values of a paper, shown beside ours.
pub(crate) struct Papers {
    /// The figure.
    pub figure: &'static str,
    /// The family, or empty for both.
    pub family: &'static str,
    /// The run configuration.
    pub run: &'static str,
    /// The quantity.
    pub metric: &'static str,
    /// The position on the axis.
    pub x: Option<f64>,
    /// The values of engines.
    pub values: Vec<(&'static str, f64)>,
}

/// Returns the paper's value for the same engine, figure and position as our value.
pub(crate) fn paper(papers: &[Papers], value: &Value) -> Option<f64> {
    let own = |it: &&Papers| {
        it.figure == value.figure
            && (it.family.is_empty() || it.family == value.family)
            && it.run == value.run
            && it.metric == value.metric
            && it.x == value.x
    };
    let mut found = papers.iter().filter(own).flat_map(|it| &it.values);
    found.find(|(engine, _)| *engine == value.engine).map(|(_, paper)| *paper)
}
