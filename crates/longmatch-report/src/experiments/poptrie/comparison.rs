//! Table 3 and Figure 9: all engines on all tables; and the other two synthetic patterns (4.5).

use longmatch::Ipv4;

use super::PAPER_CPU;
use crate::compare::{Comparison, Trial, compare};
use crate::desk::{Desk, Field, Measured, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::{all_ipv4, fast_ipv4};
use crate::inputs::{Effort, Inputs, Named};
use crate::model::{Cell, Figure, Finding, Table};
use crate::show::{
    MIB, claim, column, condition, number, of, paper_column, ratio, remark, table, text,
};
use longmatch_bench::Mode;
use longmatch_bench::Traffic;

pub(super) const TABLE_3: Experiment = Experiment {
    name: "poptrie-fig9",
    aliases: &["poptrie-table3"],
    source: "Poptrie paper, Table 3 and Figure 9",
    title: "All engines on all tables",
    about: "The rate of random lookups one after the other, keys made just before as the paper has \
            it; the same with keys from an array; and in batches, which the paper does not have.",
    peers: false,
    seconds: |inputs, effort| cost(inputs, effort, 12 * 3),
    run: run_table_3,
};

pub(super) const LOCALITY: Experiment = Experiment {
    name: "poptrie-locality",
    aliases: &["poptrie-4.5"],
    source: "Poptrie paper, section 4.5",
    title: "Sequential and repeated traffic",
    about: "Rates under traffic of high locality: a walk upwards through all addresses, and random \
            addresses each of which is asked for sixteen times in a row.",
    peers: false,
    seconds: |inputs, effort| cost(inputs, effort, 8 * 2),
    run: run_locality,
};

fn cost(inputs: &Inputs, effort: &Effort, measured: usize) -> f64 {
    inputs.ipv4().len() as f64 * (measured as f64 * (effort.seconds * 1.4 + 0.1) + 4.0)
}

/// Memory in MiB and Mlps on REAL-Tier1-A, then on REAL-Tier1-B.
const PAPER: [(&str, [f64; 4]); 9] = [
    ("radix", [30.48, 8.82, 29.34, 8.92]),
    ("tree_bitmap:stride=4", [2.62, 56.24, 2.54, 62.13]),
    ("tree_bitmap:stride=6", [3.10, 61.61, 2.89, 68.82]),
    ("sail", [44.24, 158.22, 42.62, 159.39]),
    ("dxr:d=16", [1.16, 116.63, 0.93, 114.30]),
    ("dxr:d=18", [1.91, 179.92, 1.71, 168.80]),
    ("poptrie:s=0", [1.49, 96.27, 1.32, 92.99]),
    ("poptrie:s=16", [2.75, 198.28, 1.87, 191.83]),
    ("poptrie:s=18", [2.40, 240.52, 2.25, 218.97]),
];

const JUST_IN_TIME: &str = "just in time";
const ARRAY: &str = "from an array";
const BATCH: &str = "batch of 256";

fn run_table_3(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let figures = tables.into_iter().map(|named| table_3(desk, named)).collect();
    desk.cite(&format!("REAL-Tier1-A; {PAPER_CPU}"));
    Ok(figures)
}

fn table_3(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("poptrie-fig9-{}", named.name);
    let mut field = Field::new(named, &all_ipv4());
    desk.step(2.0);
    let rates = PAPER.map(|(spec, values)| (spec, values[1]));
    let trials = [
        Trial::new(JUST_IN_TIME, Traffic::Random, desk.just_in_time()).papers(&rates),
        Trial::new(ARRAY, Traffic::Random, desk.setup(Mode::One)),
        Trial::new(BATCH, Traffic::Random, desk.setup(Mode::Batch)),
    ];
    let all = compare(desk, &id, &mut field, &trials);
    for (entrant, engine) in field.engines() {
        if let Some(engine) = engine {
            let paper = PAPER.iter().find(|(spec, _)| *spec == entrant.spec);
            let mib = engine.memory().bytes() as f64 / MIB;
            desk.count(&id, named, &entrant.spec, ("memory", "MiB"), mib, paper.map(|it| it.1[0]));
        }
    }
    let mut conditions = all.conditions.clone();
    conditions.push(condition(
        "the paper's",
        format!("REAL-Tier1-A (531,489 prefixes), REAL-Tier1-B (524,170); {PAPER_CPU}"),
    ));
    Figure {
        title: format!("Random lookups, {}", named.name),
        caption: "Median rates with quartiles; mean and standard deviation of the first column \
                  stand beside it, as the paper has error bars of ten runs. Tree BitMap \
                  (64-ary) and Poptrie count bits with the CPU's instruction."
            .into(),
        conditions,
        chart: Some(all.chart()),
        table: table_of_3(&all),
        findings: findings_3(&all),
        id,
    }
}

fn table_of_3(all: &Comparison) -> Table {
    let columns = vec![
        column("engine", ""),
        column("the paper's name", ""),
        column("memory", "MiB"),
        paper_column("memory, A", "MiB"),
        paper_column("memory, B", "MiB"),
        column(JUST_IN_TIME, "Mlps"),
        column("mean", "Mlps"),
        column("standard deviation", "Mlps"),
        paper_column("rate, A", "Mlps"),
        paper_column("rate, B", "Mlps"),
        column(ARRAY, "Mlps"),
        column(BATCH, "Mlps"),
    ];
    let rates = |trial, spec: &str| of(all.trial(trial), spec).map_or(Cell::Empty, rate_cell);
    let row = |measured: &Measured| {
        let spec = &measured.entrant.spec[..];
        let record = measured.record();
        let paper = PAPER.iter().find(|(name, _)| *name == spec).map(|(_, values)| values);
        let paper = |i: usize| number(paper.map(|values| values[i]), 2);
        vec![
            text(spec),
            text(&measured.entrant.alias[..]),
            number(record.map(|it| it.bytes as f64 / MIB), 2),
            paper(0),
            paper(2),
            rates(JUST_IN_TIME, spec),
            number(record.and_then(|it| it.mlps_mean), 1),
            number(record.and_then(|it| it.mlps_sd), 2),
            paper(1),
            paper(3),
            rates(ARRAY, spec),
            rates(BATCH, spec),
        ]
    };
    table(columns, all.trial(JUST_IN_TIME).iter().map(row).collect())
}

fn findings_3(all: &Comparison) -> Vec<Finding> {
    let rate = |spec| all.rate(JUST_IN_TIME, spec);
    let mut findings = Vec::new();
    // How many times faster Poptrie18 is than each in the paper, over its 35 tables.
    let claims = [
        ("radix", "Radix", 24.5, 46.1),
        ("tree_bitmap:stride=4", "Tree BitMap", 3.52, 6.78),
        ("sail", "SAIL", 1.37, 2.62),
        ("dxr:d=18", "D18R", 1.04, 1.34),
    ];
    for (spec, name, low, high) in claims {
        if let Some(times) = ratio(rate("poptrie:s=18"), rate(spec)) {
            let text = format!(
                "Poptrie18 is {times:.2} times as fast as {name}; in the paper {low} to {high} \
                 times."
            );
            findings.push(claim(times > 1.0, text));
        }
    }
    let best = |trial: &str| {
        let rated = all.trial(trial).iter().filter_map(|it| Some((it.rate()?, it)));
        rated.max_by(|(a, _), (b, _)| a.total_cmp(b))
    };
    for trial in [JUST_IN_TIME, ARRAY, BATCH] {
        if let Some((mlps, best)) = best(trial) {
            let name = &best.entrant.spec;
            findings.push(remark(format!("The fastest, {trial}: {name} with {mlps:.0} Mlps.")));
        }
    }
    findings
}

/// Mlps on REAL-Tier1-B.
const SEQUENTIAL: [(&str, f64); 5] = [
    ("sail", 1264.0),
    ("dxr:d=16", 628.0),
    ("dxr:d=18", 911.0),
    ("poptrie:s=16", 955.0),
    ("poptrie:s=18", 1122.0),
];
const REPEATED: [(&str, f64); 5] = [
    ("sail", 492.0),
    ("dxr:d=16", 382.0),
    ("dxr:d=18", 454.0),
    ("poptrie:s=16", 470.0),
    ("poptrie:s=18", 480.0),
];

fn run_locality(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let figures = tables.into_iter().map(|named| locality(desk, named)).collect();
    desk.cite(&format!("REAL-Tier1-B; {PAPER_CPU}"));
    Ok(figures)
}

fn locality(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("poptrie-locality-{}", named.name);
    let mut field = Field::new(named, &fast_ipv4());
    desk.step(2.0);
    let one = desk.setup(Mode::One);
    let trials = [
        Trial::new("sequential", Traffic::Sequential, one).papers(&SEQUENTIAL),
        Trial::new("repeated", Traffic::Repeated, one).papers(&REPEATED),
    ];
    let all = compare(desk, &id, &mut field, &trials);
    let mut conditions = all.conditions.clone();
    let paper = format!("REAL-Tier1-B: 524,170 prefixes, 9 next hops; {PAPER_CPU}");
    conditions.push(condition("the paper's", paper));
    let mut findings = Vec::new();
    for (trial, paper) in [("sequential", SEQUENTIAL), ("repeated", REPEATED)] {
        let rates =
            all.trial(trial).iter().filter(|it| paper.iter().any(|p| p.0 == it.entrant.spec));
        let best = rates.max_by(|a, b| a.rate().unwrap_or(0.0).total_cmp(&b.rate().unwrap_or(0.0)));
        if let Some(best) = best {
            let text = format!(
                "Of the paper's engines SAIL is the fastest under {trial} traffic there; here it is {}.",
                best.entrant.spec
            );
            findings.push(claim(best.entrant.spec == "sail", text));
        }
    }
    Figure {
        title: format!("Sequential and repeated lookups, {}", named.name),
        caption: "One after the other, keys from an array: the walk upwards is in runs of 4,096 \
                  consecutive addresses spread over the space, as all 2^32 would not fit an array; \
                  the paper computes its addresses."
            .into(),
        conditions,
        chart: Some(all.chart()),
        table: all.table(),
        findings,
        id,
    }
}
