//! Parts of the declaration of an experiment: engines, run configurations, axes, figures, the papers' values.

use longmatch_bench::Mode;

use crate::record::Value;

/// The reason why an experiment cannot be run with these inputs or here, and how that can be changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Absence(pub String);

/// Rates of a set of engines in some run configurations, on some tables.
pub(crate) struct Rates {
    /// The figure that shows them.
    pub figure: &'static str,
    /// The tables.
    pub tables: Tables,
    /// The engines, each with the paper's name for it.
    pub engines: Vec<(&'static str, &'static str)>,
    /// The run configurations.
    pub runs: Vec<RunSpec>,
    /// Parts of the structures whose items are counted, each with the name of the count. With any of them, the time of
    /// compiling is a value too.
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

/// A way to look up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSpec {
    /// The name, as figures have it.
    pub name: &'static str,
    /// The traffic.
    pub traffic: TrafficKind,
    /// How lookups follow each other.
    pub mode: Mode,
    /// Keys in a batch.
    pub batch: usize,
    /// Whether keys are made in the timed loop, where the traffic has a rule for them; otherwise they come from an array.
    pub just_in_time: bool,
    /// What is varied.
    pub axis: Axis,
    /// Half the usual time for each rate, where many rates make one line.
    pub brief: bool,
}

/// Traffic of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TrafficKind {
    /// Random addresses: all of IPv4, 2000::/3.
    Random,
    /// A walk upwards.
    Sequential,
    /// Random addresses, 16 times each.
    Repeated,
    /// The same, 8 times each, as on the DXR page.
    DxrRepeated,
    /// Random routes and random host bits.
    Routed,
    /// Few destinations, unevenly.
    Zipf,
    /// The destinations of packets.
    Trace,
    /// Random addresses as the Spider paper makes them: all of IPv4; IPv6 inside routes.
    SpiderRandom,
    /// Random addresses of 2000::/8, as the Poptrie paper makes them.
    RandomIn8,
}

/// What a run configuration varies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    /// Nothing.
    None,
    /// Threads, from one to the number of CPUs.
    Threads,
    /// Keys in a batch.
    Batch(&'static [usize]),
}

/// A figure of an experiment: how its values are shown, for each table and family.
pub(crate) struct Figure {
    /// The anchor, to which the family and the table are added.
    pub id: &'static str,
    /// The title.
    pub title: &'static str,
    /// What the values are, in a few sentences.
    pub caption: &'static str,
    /// The picture.
    pub chart: ChartKind,
    /// The rows of the table.
    pub rows: Rows,
}

/// The picture of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChartKind {
    /// None.
    None,
    /// Bars of a quantity, a group for each run configuration.
    Bars(&'static str),
    /// Lines of a quantity over an axis with a name and a unit; whether each step multiplies, across and upwards.
    Lines(&'static str, (&'static str, &'static str), [bool; 2]),
    /// Distribution functions over an axis with a name and a unit.
    Steps(&'static str, (&'static str, &'static str)),
    /// Boxes of a quantity over an axis with a name and a unit.
    Boxes(&'static str, (&'static str, &'static str)),
    /// A map of counts over two axes with names.
    HeatMap(&'static str, [&'static str; 2]),
}

/// The rows of a figure's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rows {
    /// One for each engine; columns for run configurations, places and quantities.
    Engines,
    /// One for each run configuration; columns for quantities.
    Runs,
    /// One for each place; columns for engines.
    Places,
    /// One for each table of a family; columns for the engines to which the paper gives a name. The values are the
    /// rates of another figure in a run configuration, where it has several tables.
    Tables {
        /// The other figure.
        of: &'static str,
        /// The run configuration.
        run: &'static str,
    },
}

/// Values of a paper, beside which ours are shown.
pub(crate) struct Papers {
    /// The figure.
    pub figure: &'static str,
    /// The family, or empty for both.
    pub family: &'static str,
    /// The run configuration.
    pub run: &'static str,
    /// The quantity.
    pub metric: &'static str,
    /// The place on the axis.
    pub x: Option<f64>,
    /// The values of engines.
    pub values: Vec<(&'static str, f64)>,
}

/// The paper's value beside a value of ours.
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
