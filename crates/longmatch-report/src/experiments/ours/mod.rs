//! Questions that the papers do not ask, and users do.

mod batches;
mod live;
mod pages;
mod peers;
mod sizes;

use longmatch_bench::{BenchFamily, Mode, Traffic};

use crate::context::{ExperimentContext, Place, SEED, at, with_rate};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{
    Absence, Axis, ChartKind, Experiment, Figure, Rates, Rows, RunSpec, Tables, TrafficKind, Work,
};
use crate::inputs::{Named, OnTable, on_all, on_first};
use crate::record::Value;
use crate::synthetic::missing;

/// The experiments, those that tell most first.
pub(super) fn all() -> Vec<Experiment> {
    vec![
        traffic(),
        roofline(),
        peers::peers(),
        live::live(),
        sizes::growth(),
        batch_size(),
        batches::sources(),
        batches::variants(),
        sizes::small_tables(),
        misses(),
        sizes::memory(),
        pages::huge_pages(),
    ]
}

const SOURCE: &str = "ours";

const BATCH: RunSpec = RunSpec {
    name: "routed",
    traffic: TrafficKind::Routed,
    mode: Mode::Batch,
    batch: 256,
    just_in_time: false,
    axis: Axis::None,
    brief: false,
};

/// An experiment of ours: it has neither values nor claims of a paper.
fn ours(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    work: Work,
    figures: Vec<Figure>,
) -> Experiment {
    Experiment {
        name,
        aliases: &[],
        source: SOURCE,
        title,
        about,
        setting: "",
        work,
        figures,
        papers: Vec::new(),
        claims: Vec::new(),
    }
}

/// Engines in their default variants.
const DEFAULTS: [(&str, &str); 8] = [
    ("folio", ""),
    ("poptrie", ""),
    ("dxr", ""),
    ("spider", ""),
    ("sail", ""),
    ("dir24_8", ""),
    ("tree_bitmap", ""),
    ("radix", ""),
];

fn traffic() -> Experiment {
    let kinds = [
        ("random", TrafficKind::Random),
        ("routed", TrafficKind::Routed),
        ("zipf", TrafficKind::Zipf),
        ("sequential", TrafficKind::Sequential),
        ("repeated", TrafficKind::Repeated),
        ("trace", TrafficKind::Trace),
    ];
    let run = |mode| kinds.map(|(name, traffic)| RunSpec { name, traffic, mode, ..BATCH }).to_vec();
    let of = |figure, mode| Rates {
        figure,
        tables: Tables::All,
        engines: DEFAULTS.to_vec(),
        runs: run(mode),
        parts: &[],
    };
    let figure = |id, title| Figure {
        id,
        title,
        caption: "Keys from an array. random: uniform over IPv4, or over 2000::/3, where most addresses have no route. \
                  routed: inside a random route. zipf: routed, by Zipf's law. sequential: upwards. repeated: random, \
                  sixteen times each. trace: destinations of real packets.",
        chart: ChartKind::Bars("rate"),
        rows: Rows::Engines,
    };
    ours(
        "traffic",
        "Which engine is the fastest",
        "Every engine in its default variant under every kind of traffic, in batches of 256 and one address after the \
         other.",
        Work::Rates(vec![of("traffic-batch", Mode::Batch), of("traffic-one", Mode::One)]),
        vec![
            figure("traffic-batch", "Rates in batches of 256"),
            figure("traffic-one", "Rates one by one"),
        ],
    )
}

fn batch_size() -> Experiment {
    let id = "batch-size";
    ours(
        id,
        "Batch size",
        "How many addresses must be looked up at once until an engine reaches its full rate. A batch of one is a call \
         for each address.",
        Work::Rates(vec![Rates {
            figure: id,
            tables: Tables::First,
            engines: vec![
                ("folio", ""),
                ("poptrie", ""),
                ("dxr", ""),
                ("spider", ""),
                ("dir24_8", ""),
            ],
            runs: vec![RunSpec {
                axis: Axis::Batch(&[1, 4, 16, 64, 256, 1024, 4096]),
                brief: true,
                ..BATCH
            }],
            parts: &[],
        }]),
        vec![Figure {
            id,
            title: "Rates by batch size",
            caption: "Routed addresses from an array; answers are written to an array of the size of a batch.",
            chart: ChartKind::Lines("rate", ("addresses in a batch", ""), [true, false]),
            rows: Rows::Places,
        }],
    )
}

struct Roofline;

fn roofline() -> Experiment {
    let id = "roofline";
    ours(
        id,
        "The machine's roofline",
        "Beside each engine with a fixed number of reads: as many independent reads from tables of the same sizes, for \
         the same addresses, in the same run. The rest of an engine's time is spent waiting and working, not on the \
         size of its memory.",
        Work::Own(
            |context| on_all(context, &Roofline),
            |inputs, effort| {
                let tables = inputs.ipv4().len() + inputs.ipv6().len();
                tables as f64 * (2.0 * effort.rates(8, false) + 3.0)
            },
        ),
        vec![Figure {
            id,
            title: "Rates beside their rooflines",
            caption: "Batches of 256. The roofline scatters addresses over its tables, where an engine may find \
                      neighbours in one cache line, and makes every read for every address, where many lookups end \
                      earlier: so an engine can exceed its roofline.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
    )
}

impl OnTable for Roofline {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        let engines = EngineUnderTest::unnamed(&["folio", "dir24_8", "spider", "poptrie"]);
        let set = EngineSet::apart(named, &engines);
        context.step(2.0);
        for (name, traffic) in [("random", Traffic::Random), ("routed", Traffic::Routed)] {
            let Some(workload) = context.workload(&set, &traffic) else { continue };
            let setup = longmatch_bench::RunConfig { roofline: true, ..context.setup(&BATCH) };
            let place = Place { figure: "roofline", run: name, ..Place::default() };
            for it in context.measure(place, &set, &workload, &setup) {
                let (Some(roofline), Some(record)) = (&it.roofline, it.record()) else { continue };
                let engine = format!("roofline of {}", it.engine.spec);
                let (metric, unit) = ("rate".into(), "Mlps".into());
                let value =
                    Value { engine, metric, unit, mode: "batch".into(), ..Value::default() };
                context.note(at(place, named, with_rate(roofline, value)));
                if let Some((rate, most)) = record.mlps.zip(roofline.mlps) {
                    let name = ("share of the roofline", "%");
                    context.count(place, named, &it.engine.spec, name, 100.0 * rate / most);
                }
            }
        }
        Ok(())
    }
}

struct Misses;

fn misses() -> Experiment {
    let id = "misses";
    ours(
        id,
        "Addresses without a route",
        "Rates when none, some and all addresses have no route. Routed ones are a random route and random bits below \
         it; the others are random among all addresses outside of all routes.",
        Work::Own(
            |context| on_first(context, &Misses),
            |inputs, effort| {
                let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
                tables as f64 * (effort.rates(3 * 6, true) + 1.5)
            },
        ),
        vec![Figure {
            id,
            title: "Rates by the share of misses",
            caption: "Batches; whether an address has a route is random, so that no branch on it can be predicted.",
            chart: ChartKind::Lines("rate", ("addresses without a route", "%"), [false, false]),
            rows: Rows::Places,
        }],
    )
}

impl OnTable for Misses {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        if missing(named.rib, 100, 1, SEED).is_none() {
            return Ok(());
        }
        let engines = ["folio", "poptrie", "dxr", "dir24_8", "tree_bitmap", "radix"];
        let set = EngineSet::apart(named, &EngineUnderTest::unnamed(&engines));
        context.step(0.6);
        let setup = context.setup(&RunSpec { brief: true, ..BATCH });
        for percent in [0, 50, 100] {
            let traffic = missing(named.rib, percent, F::KEYS.min(context.effort.keys), SEED);
            let Some(traffic) = traffic else { continue };
            let Some(workload) = context.workload(&set, &traffic) else { continue };
            context.step(0.3);
            let place = Place { figure: "misses", x: Some(percent as f64), ..Place::default() };
            context.measure(place, &set, &workload, &setup);
        }
        Ok(())
    }
}
