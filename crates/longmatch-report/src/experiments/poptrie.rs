//! H. Asai, Y. Ohara, Poptrie (SIGCOMM 2015), section 4.

use longmatch_bench::Mode;

use crate::claim::{ABOVE, Claim, Judge, Needs, Over, Q, of, rate};
use crate::experiment::{
    Axis, ChartKind, Experiment, Figure, KeySource, Papers, Rates, Rows, RunConfig, Tables,
    TrafficKind, Work,
};

/// The experiments, in the order of the paper.
pub(super) fn all() -> Vec<Experiment> {
    vec![threads(), comparison()]
}

const SETTING: &str = "Intel Core i7-4770K, 3.9 GHz, 8 MiB of L3; REAL-Tier1-A: 531,489 prefixes, 13 next hops, and \
                       REAL-Tier1-B: 524,170 prefixes, 9 next hops";

/// Random addresses one after the other, each made just before its lookup (4.2).
const JUST_IN_TIME: RunConfig = RunConfig {
    name: "just in time",
    traffic: TrafficKind::Random,
    mode: Mode::One,
    keys: KeySource::JustInTime,
    axis: Axis::None,
    brief: false,
};
const ARRAY: RunConfig =
    RunConfig { name: "from an array", keys: KeySource::Array, ..JUST_IN_TIME };
const BATCH: RunConfig = RunConfig { name: "batches of 256", mode: Mode::Batch, ..ARRAY };
const J: &str = JUST_IN_TIME.name;

const POPTRIE18: &str = "poptrie:s=18";

/// Two cores or fewer say little about scaling.
fn cores(least: f64) -> Needs {
    Needs::Fact("cores", least, "the machine has too few cores")
}

fn claim(id: &'static str, section: &'static str, text: &'static str, judge: Judge) -> Claim {
    Claim { id, section, text, family: "ipv4", needs: Vec::new(), judge }
}

fn papers(
    figure: &'static str,
    run: &'static str,
    metric: &'static str,
    values: &[(&'static str, f64)],
) -> Papers {
    Papers { figure, family: "ipv4", run, metric, x: None, values: values.to_vec() }
}

fn threads() -> Experiment {
    let figure = "poptrie-fig8";
    let at = |x, mlps| Papers { x: Some(x), ..papers(figure, J, "rate", &[(POPTRIE18, mlps)]) };
    let over = Over { engine: POPTRIE18, run: J, metric: "rate" };
    Experiment {
        name: figure,
        aliases: &[],
        source: "Poptrie paper, Figure 8",
        title: "Several threads in one table",
        about: "The rate of all threads together, each of which looks up random addresses of its own in the same table.",
        setting: SETTING,
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Ipv4,
            engines: vec![(POPTRIE18, "Poptrie18"), ("folio", "")],
            runs: vec![RunConfig { axis: Axis::Threads, ..JUST_IN_TIME }],
        }]),
        figures: vec![Figure {
            id: figure,
            title: "Rate by threads",
            caption: "Each thread stays on a CPU of its own. The paper's text gives the rates of one and of four threads.",
            chart: ChartKind::Lines("rate", ("threads", ""), [false, false]),
            rows: Rows::Places,
        }],
        papers: vec![at(1.0, 240.52), at(4.0, 914.0)],
        claims: vec![
            Claim {
                needs: vec![cores(3.0)],
                ..claim(
                    "P8.1",
                    "4.4",
                    "The rate of Poptrie18 grows linearly up to the number of cores (3.8 times with four).",
                    Judge::Linear(vec![over], 0.8),
                )
            },
            Claim {
                needs: vec![cores(4.0), Needs::Routes(450_000, 600_000)],
                ..claim(
                    "P8.2",
                    "1 and 6",
                    "Four cores look up more than 900 million addresses a second (914).",
                    rate(POPTRIE18, J).at(4.0).at_least(600.0),
                )
            },
        ],
    }
}

const ENGINES: [(&str, &str); 12] = [
    ("radix", "Radix"),
    ("tree_bitmap:stride=4", "Tree BitMap"),
    ("tree_bitmap:stride=6", "Tree BitMap (64-ary)"),
    ("dir24_8", ""),
    ("sail", "SAIL"),
    ("dxr:d=16", "D16R"),
    ("dxr:d=18", "D18R"),
    ("poptrie:s=0", "Poptrie0"),
    ("poptrie:s=16", "Poptrie16"),
    (POPTRIE18, "Poptrie18"),
    ("spider:lanes=16", ""),
    ("folio", ""),
];

/// MiB and Mlps on REAL-Tier1-A (Table 3).
const TABLE_3: [(&str, f64, f64); 9] = [
    ("radix", 30.48, 8.82),
    ("tree_bitmap:stride=4", 2.62, 56.24),
    ("tree_bitmap:stride=6", 3.10, 61.61),
    ("sail", 44.24, 158.22),
    ("dxr:d=16", 1.16, 116.63),
    ("dxr:d=18", 1.91, 179.92),
    ("poptrie:s=0", 1.49, 96.27),
    ("poptrie:s=16", 2.75, 198.28),
    (POPTRIE18, 2.40, 240.52),
];

fn comparison() -> Experiment {
    let figure = "poptrie-fig9";
    let versus = |rival| rate(POPTRIE18, J) / rate(rival, J);
    let sail_exceeds_l3 = Needs::Least(
        of("sail", "memory") - 2f64.powi(-20) * Q::Fact("L3"),
        0.0,
        "SAIL fits the L3 here",
    );
    Experiment {
        name: figure,
        aliases: &["poptrie-table3"],
        source: "Poptrie paper, Table 3 and Figure 9",
        title: "All engines on all tables",
        about: "The rate of random lookups one after the other, keys made just before as in the paper; the same with \
                keys from an array, and in batches, which the paper does not have.",
        setting: SETTING,
        work: Work::Rates(vec![Rates {
            figure,
            tables: Tables::Ipv4,
            engines: ENGINES.to_vec(),
            runs: vec![JUST_IN_TIME, ARRAY, BATCH],
        }]),
        figures: vec![Figure {
            id: figure,
            title: "Random lookups",
            caption: "Medians with quartiles. The paper's values are those of REAL-Tier1-A. Tree BitMap (64-ary) and \
                      Poptrie count bits with the CPU's instruction.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
        papers: vec![
            papers(figure, J, "rate", &TABLE_3.map(|(engine, _, mlps)| (engine, mlps))),
            papers(figure, "", "memory", &TABLE_3.map(|(engine, mib, _)| (engine, mib))),
        ],
        claims: vec![
            claim(
                "P9.1",
                "4.5",
                "Poptrie18 is 24.5 to 46.1 times as fast as the binary radix tree.",
                versus("radix").within(12.3, 92.0),
            ),
            claim(
                "P9.2",
                "4.5",
                "Poptrie18 is 3.52 to 6.78 times as fast as Tree BitMap.",
                versus("tree_bitmap:stride=4").within(2.35, 10.2),
            ),
            Claim {
                needs: vec![sail_exceeds_l3],
                ..claim(
                    "P9.3",
                    "4.5 and 5",
                    "Poptrie18 is 1.37 to 2.62 times as fast as SAIL (1.17 on a Xeon X3430).",
                    versus("sail").within(ABOVE, 5.2),
                )
            },
            claim(
                "P9.4",
                "4.5 and 5",
                "Poptrie18 is 1.04 to 1.34 times as fast as D18R (1.27 on a Xeon X3430).",
                versus("dxr:d=18").within(ABOVE, 2.0),
            ),
        ],
    }
}
