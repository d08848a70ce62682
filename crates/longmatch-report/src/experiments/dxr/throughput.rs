//! The throughput of DXR, DIR-24-8 and the BSD radix tree.

use longmatch::Ipv4;

use super::PAPER_TABLE;
use crate::desk::{Desk, Entrant, Field, Measured, SEED, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::inputs::Named;
use crate::model::{Cell, Column, Condition, Figure, Finding};
use crate::show::{
    about_rates, claim, column, condition, fastest, number, of, paper_column, rate_bars, remark,
    table, text,
};
use crate::synthetic::{DXR_REPEATS, dxr_repeated};
use longmatch_bench::Mode;
use longmatch_bench::Traffic;

pub(super) const THROUGHPUT: Experiment = Experiment {
    name: "dxr-throughput",
    aliases: &["dxr-seq", "dxr-rnd", "dxr-rep"],
    source: "DXR page, SEQ, RND and REP tests",
    title: "Throughput of DXR",
    about: "Uniformly random keys in three tests. SEQ: each lookup waits for the answer before. \
            RND: lookups do not depend on each other, so that the CPU overlaps them. REP: as RND, \
            each key eight times in a row.",
    peers: false,
    seconds: |inputs, effort| inputs.ipv4().len() as f64 * (3.0 * effort.usual(8) + 1.5),
    run,
};

/// The page's machines. The first one's values stand at the bars.
const MACHINES: [&str; 4] = ["i7-4771", "E5-1650", "FX-8350", "i5-3210M"];

/// An engine, the page's name for it, and its values: for each test those of [`MACHINES`].
struct Line(&'static str, &'static str, [[f64; 4]; 3]);

const LINES: [Line; 7] = [
    Line("radix", "BSD", [[4.9, 4.7, 4.7, 4.1], [4.9, 4.8, 4.8, 4.1], [8.8, 8.9, 9.1, 8.2]]),
    Line(
        "dir24_8",
        "DIR-24-8",
        [[19.9, 27.5, 24.8, 16.1], [137.8, 135.0, 75.2, 92.1], [307.8, 223.1, 148.5, 186.4]],
    ),
    Line(
        "dxr:d=16",
        "D16R",
        [[88.5, 67.1, 71.7, 72.0], [123.5, 93.7, 102.7, 95.1], [172.0, 128.0, 162.5, 129.3]],
    ),
    Line(
        "dxr:d=18",
        "D18R",
        [[79.3, 57.0, 72.7, 69.2], [179.1, 134.4, 144.9, 140.9], [294.6, 210.5, 232.0, 212.2]],
    ),
    Line(
        "dxr:d=20",
        "D20R",
        [[79.3, 62.1, 86.6, 82.4], [273.3, 211.5, 190.5, 230.4], [465.2, 327.3, 297.9, 312.4]],
    ),
    Line(
        "dxr:d=21",
        "D21R",
        [[76.5, 63.1, 62.1, 29.7], [308.5, 248.7, 171.9, 118.5], [490.7, 361.2, 267.8, 217.1]],
    ),
    Line(
        "dxr:d=22",
        "D22R",
        [[37.8, 60.6, 45.3, 19.1], [141.6, 247.6, 122.2, 99.9], [206.9, 290.5, 194.2, 191.3]],
    ),
];

/// The tests, and how lookups are done in them.
const TESTS: [(&str, Mode); 3] = [("SEQ", Mode::Dependent), ("RND", Mode::One), ("REP", Mode::One)];

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let figures = tables.into_iter().map(|named| figure(desk, named)).collect();
    desk.cite(&format!("{PAPER_TABLE}; Intel {}", MACHINES[0]));
    Ok(figures)
}

fn figure(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("dxr-throughput-{}", named.name);
    let entrant = |line: &Line| Entrant::new(line.0, line.1);
    let mut entrants: Vec<_> = LINES.iter().map(entrant).collect();
    entrants.push(Entrant::new("folio", ""));
    let mut field = Field::new(named, &entrants);
    desk.step(1.5);
    let random = desk.heat(&field.race, &Traffic::Random).expect("random traffic has keys");
    let repeated = dxr_repeated::<Ipv4>(desk.keys::<Ipv4>(), SEED);
    let repeated = desk.heat(&field.race, &repeated).expect("as many keys as were made");
    let mut all = Vec::new();
    let mut conditions = Vec::new();
    for (i, (test, mode)) in TESTS.into_iter().enumerate() {
        field.set_papers(&LINES.each_ref().map(|line| (line.0, line.2[i][0])));
        let heat = if test == "REP" { &repeated } else { &random };
        let setup = desk.setup(mode);
        all.push(desk.measure(&id, &field, heat, &setup, &format!("test={test}")));
        if i == 1 {
            conditions = about_rates(named.name, &field.race, heat, &setup);
        }
    }
    conditions.retain(|it| it.name != "lookups");
    conditions.extend(tests_as_conditions());
    let groups = TESTS.iter().zip(&all).map(|((test, _), all)| ((*test).to_owned(), &all[..]));
    Figure {
        title: format!("SEQ, RND and REP, {}", named.name),
        caption: "Keys come from an array in all three tests. The mark at a bar is the page's \
                  value on an Intel Core i7-4771; the table has those of its other machines too. \
                  A variant of DXR that the page does not have stands in for one that refuses the \
                  table."
            .into(),
        conditions,
        chart: Some(rate_bars(groups)),
        table: table(columns(), rows(&all)),
        findings: findings(&all),
        id,
    }
}

/// The page's values of an engine.
fn paper(spec: &str) -> Option<&'static [[f64; 4]; 3]> {
    LINES.iter().find(|line| line.0 == spec).map(|line| &line.2)
}

fn tests_as_conditions() -> Vec<Condition> {
    vec![
        condition("SEQ", "each address depends on the answer before"),
        condition("RND", "one after the other, the CPU may overlap them"),
        condition("REP", format!("as RND, each address {DXR_REPEATS} times in a row")),
        condition(
            "the paper's",
            format!(
                "{PAPER_TABLE}; Intel Core i7-4771 (3.5 to 3.9 GHz, 8 MB of L3), Intel Xeon \
                 E5-1650 (3.2 GHz, 12 MB), AMD FX-8350 (4.0 GHz, 8 MB), Intel Core i5-3210M (2.5 \
                 to 3.1 GHz, 3 MB); one thread"
            ),
        ),
    ]
}

fn columns() -> Vec<Column> {
    let mut columns = vec![
        column("test", ""),
        column("engine", ""),
        column("the paper's name", ""),
        column("rate", "Mlps"),
    ];
    columns.extend(MACHINES.map(|machine| paper_column(&format!("{machine}, paper"), "Mlps")));
    columns
}

fn rows(all: &[Vec<Measured>]) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (i, ((test, _), all)) in TESTS.iter().zip(all).enumerate() {
        for measured in all {
            let Entrant { spec, alias, .. } = &measured.entrant;
            let mut row = vec![text(*test), text(spec), text(alias), rate_cell(measured)];
            let values = paper(spec).map(|values| values[i]);
            row.extend((0..4).map(|machine| number(values.map(|it| it[machine]), 1)));
            rows.push(row);
        }
    }
    rows
}

fn findings(all: &[Vec<Measured>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let rnd = &all[1];
    let dxr = |all: &[Measured]| {
        let of_dxr = all.iter().filter(|it| it.entrant.spec.starts_with("dxr"));
        of_dxr.filter_map(|it| Some((it.entrant.spec.clone(), it.rate()?))).collect::<Vec<_>>()
    };
    let best = |all: &[Measured]| dxr(all).into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    if let Some(rate) = of(rnd, "dxr:d=16").and_then(Measured::rate) {
        let text = format!(
            "D16R makes {rate:.0} Mlps on one core with uniformly random queries; the page: \
             exceeds 100."
        );
        findings.push(claim(rate > 100.0, text));
    }
    if let Some((spec, rate)) = best(rnd) {
        let text = format!(
            "The fastest DXR, {spec}, makes {rate:.0} Mlps on one core; the page: some exceed 200."
        );
        findings.push(claim(rate > 200.0, text));
    }
    for ((test, _), all) in TESTS.iter().zip(all) {
        let dir = of(all, "dir24_8").and_then(Measured::rate);
        if let (Some((spec, rate)), Some(dir)) = (best(all), dir) {
            let slower = dxr(all).iter().filter(|(_, rate)| *rate < dir).count();
            let text = format!(
                "{test}: {spec} is {:.1} times as fast as DIR-24-8 ({rate:.0} and {dir:.0} Mlps), \
                 {slower} of {} configurations are slower than it; the page: DXR significantly \
                 outperforms DIR-24-8.",
                rate / dir,
                dxr(all).len()
            );
            findings.push(claim(rate > 1.2 * dir, text));
        }
        if let Some((spec, rate)) = fastest(all) {
            findings.push(remark(format!("{test}: the fastest is {spec}, {rate:.0} Mlps.")));
        }
    }
    findings
}
