//! Figure 10, Table 4 and Figure 11: the cycles of single lookups.

use longmatch::Ipv4;

use super::PAPER_CPU;
use crate::depths::Depths;
use crate::desk::{Desk, Field, SEED, row_about};
use crate::distribution::{Ticks, Timed, time};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::entrant;
use crate::inputs::Named;
use crate::model::{BoxSeries, Boxes, Cell, Chart, Condition, Figure, Finding, Lines, Row};
use crate::show::{
    about_table, axis, claim, column, condition, number, paper_column, table, text, thousands,
};
use longmatch_bench::Iteration;
use longmatch_bench::Xorshift;
use longmatch_bench::ticks::Counter;

pub(super) const FIGURE_10: Experiment = Experiment {
    name: "poptrie-cycles",
    aliases: &["poptrie-fig10", "poptrie-table4", "poptrie-fig11"],
    source: "Poptrie paper, Figure 10, Table 4 and Figure 11",
    title: "Cycles of single lookups",
    about: "How long each single lookup takes, where it waits for everything before it and \
            nothing overlaps: the distribution, its percentiles, and how both depend on the \
            binary radix depth of the address.",
    peers: false,
    seconds: |inputs, effort| {
        inputs.ipv4().len() as f64 * (6.0 * effort.cycles as f64 * 110e-9 + 4.0)
    },
    run,
};

const ENGINES: [(&str, &str); 6] = [
    ("sail", "SAIL"),
    ("dxr:d=16", "D16R"),
    ("dxr:d=18", "D18R"),
    ("poptrie:s=16", "Poptrie16"),
    ("poptrie:s=18", "Poptrie18"),
    ("folio", ""),
];

/// Mean, 50th, 75th, 95th and 99th percentile on REAL-Tier1-A, then on REAL-Tier1-B.
const PAPER: [(&str, [f64; 5], [f64; 5]); 5] = [
    ("sail", [57.43, 22.0, 76.0, 279.0, 299.0], [56.34, 22.0, 75.0, 279.0, 290.0]),
    ("dxr:d=16", [60.92, 44.0, 49.0, 189.0, 255.0], [61.86, 44.0, 50.0, 182.0, 277.0]),
    ("dxr:d=18", [54.84, 46.0, 48.0, 154.0, 207.0], [56.88, 47.0, 49.0, 154.0, 187.0]),
    ("poptrie:s=16", [54.58, 43.0, 48.0, 150.0, 192.0], [55.53, 43.0, 48.0, 141.0, 167.0]),
    ("poptrie:s=18", [53.59, 46.0, 48.0, 150.0, 169.0], [55.82, 46.0, 48.0, 150.0, 166.0]),
];
const SHARES: [(&str, f64); 4] = [("50th", 0.5), ("75th", 0.75), ("95th", 0.95), ("99th", 0.99)];
/// Where the plot of the distribution ends, as in the paper about.
const UP_TO: f64 = 400.0;

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let figures = tables.into_iter().flat_map(|named| figures(desk, named)).collect();
    desk.cite(&format!("REAL-Tier1-A; {PAPER_CPU}"));
    Ok(figures)
}

fn figures(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> [Figure; 2] {
    let field = Field::new(named, &ENGINES.map(entrant));
    let depths = depths(named, desk.effort.cycles);
    desk.step(3.0);
    let seconds = desk.effort.cycles as f64 * 110e-9;
    let count = desk.effort.cycles;
    let (counter, timed) = time(&field, &|_| Iteration::One, count, &mut || desk.step(seconds));
    let mut conditions = about_cycles(&counter, count);
    conditions.insert(0, about_table(named.name, &field.race));
    let all: Vec<_> =
        timed.iter().map(|it| Ticks::count(counter, it.ticks.iter().copied())).collect();
    let by_depth: Vec<_> = timed.iter().map(|it| by_depth(it, counter, &depths)).collect();
    note(desk, named, &timed, &all, &by_depth);
    [distribution(named, &timed, &all, &conditions), boxes(named, &timed, &by_depth, conditions)]
}

/// The depth of each of the addresses that are going to be looked up.
fn depths(named: Named<'_, Ipv4>, count: usize) -> Vec<u8> {
    let depths = Depths::new(named.rib);
    let mut random = Xorshift::new(SEED);
    (0..count).map(|_| depths.of(random.next_u32())).collect()
}

/// How cycles were counted.
pub(in crate::experiments) fn about_cycles(counter: &Counter, count: usize) -> Vec<Condition> {
    let Counter { cycles_per_tick, overhead, step } = *counter;
    let cycles = |ticks: u64| ticks as f64 * cycles_per_tick;
    vec![
        condition("traffic", format!("{} random addresses, seed {SEED}", thousands(count as u64))),
        condition("keys", "made just before, by xorshift; making them is not in the time"),
        condition(
            "clock",
            format!(
                "time stamp counter between fences; one tick is {cycles_per_tick:.2} cycles, the \
                 smallest step {:.0} cycles; {:.0} cycles of overhead are subtracted",
                cycles(step),
                cycles(overhead)
            ),
        ),
        condition("threads", "1, on a CPU of its own"),
    ]
}

fn by_depth(timed: &Timed, counter: Counter, depths: &[u8]) -> Vec<Ticks> {
    let mut all: Vec<_> = (0..33).map(|_| Ticks::count(counter, [])).collect();
    for (ticks, depth) in timed.ticks.iter().zip(depths) {
        all[usize::from(*depth)].note(*ticks);
    }
    all
}

fn note(
    desk: &mut Desk<'_>,
    named: Named<'_, Ipv4>,
    timed: &[Timed],
    all: &[Ticks],
    by_depth: &[Vec<Ticks>],
) {
    let row = |engine: &str, at: String, value| Row {
        engine: engine.into(),
        traffic: "random".into(),
        keys: "xorshift".into(),
        mode: "dependent".into(),
        batch: 1,
        threads: 1,
        at,
        metric: "cycles".into(),
        unit: "cycles".into(),
        value: Some(value),
        ..row_about(named.name, named.rib)
    };
    let (figure10, figure11) =
        (format!("poptrie-fig10-{}", named.name), format!("poptrie-fig11-{}", named.name));
    for ((timed, ticks), by_depth) in timed.iter().zip(all).zip(by_depth) {
        let spec = &timed.entrant.spec;
        let paper = |i: usize| PAPER.iter().find(|it| it.0 == *spec).map(|it| it.1[i]);
        let mean = row(spec, "mean".into(), ticks.mean());
        desk.note(Row { figure: figure10.clone(), paper: paper(0), ..mean });
        for (i, (name, share)) in SHARES.iter().enumerate() {
            let row = row(spec, format!("percentile={name}"), ticks.percentile(*share));
            desk.note(Row { figure: figure10.clone(), paper: paper(i + 1), ..row });
        }
        for (depth, ticks) in by_depth.iter().enumerate().filter(|(_, it)| it.len() > 0) {
            for share in [0.05, 0.25, 0.5, 0.75, 0.95] {
                let at = format!("depth={depth} percentile={:.0}", share * 100.0);
                let row = row(spec, at, ticks.percentile(share));
                desk.note(Row { figure: figure11.clone(), ..row });
            }
        }
    }
}

fn distribution(
    named: Named<'_, Ipv4>,
    timed: &[Timed],
    all: &[Ticks],
    conditions: &[Condition],
) -> Figure {
    let mut columns = vec![column("engine", ""), column("the paper's name", "")];
    for name in ["mean", "50th", "75th", "95th", "99th"] {
        columns.push(column(name, "cycles"));
        columns.push(paper_column(&format!("{name}, paper A"), "cycles"));
        columns.push(paper_column(&format!("{name}, paper B"), "cycles"));
    }
    let rows = timed.iter().zip(all).map(|(timed, ticks)| {
        let spec = &timed.entrant.spec[..];
        let paper = PAPER.iter().find(|it| it.0 == spec);
        let mut row = vec![text(spec), text(&timed.entrant.alias[..])];
        let values = [ticks.mean()].into_iter().chain(SHARES.map(|it| ticks.percentile(it.1)));
        for (i, value) in values.enumerate() {
            row.push(Cell::Number(value, if i == 0 { 1 } else { 0 }));
            row.push(number(paper.map(|it| it.1[i]), if i == 0 { 2 } else { 0 }));
            row.push(number(paper.map(|it| it.2[i]), if i == 0 { 2 } else { 0 }));
        }
        row
    });
    let lines =
        timed.iter().zip(all).map(|(it, ticks)| ticks.distribution(&it.entrant.spec, UP_TO));
    let mut conditions = conditions.to_vec();
    conditions.push(condition(
        "the paper's",
        "REAL-Tier1-A and B; Intel Core i7-4770K, an operating system of their own with a single \
         task, 83 cycles of overhead subtracted",
    ));
    Figure {
        id: format!("poptrie-fig10-{}", named.name),
        title: format!("Distribution of cycles per lookup, {}", named.name),
        caption: "The share of lookups that took no more than so many cycles. Each lookup begins \
                  when everything before it has ended, and ends when its answer is there. \
                  Interrupts are in the tail; the 95th percentile does not see them."
            .into(),
        conditions,
        chart: Some(Chart::Lines(Lines {
            x: axis("cycles", ""),
            y: axis("share of lookups", ""),
            series: lines.collect(),
            steps: true,
        })),
        table: table(columns, rows.collect()),
        findings: findings(timed, all),
    }
}

fn findings(timed: &[Timed], all: &[Ticks]) -> Vec<Finding> {
    let of = |spec| timed.iter().position(|it| it.entrant.spec == spec).map(|i| &all[i]);
    let mut findings = Vec::new();
    if let (Some(poptrie), Some(sail)) = (of("poptrie:s=18"), of("sail")) {
        let (ours, theirs) = (poptrie.percentile(0.99), sail.percentile(0.99));
        findings.push(claim(
            theirs > ours,
            format!(
                "At the 99th percentile SAIL takes {theirs:.0} cycles and Poptrie18 {ours:.0}; in \
                 the paper 299 and 169 (A), 290 and 166 (B)."
            ),
        ));
    }
    if let (Some(poptrie), Some(dxr)) = (of("poptrie:s=18"), of("dxr:d=18")) {
        let (ours, theirs) = (poptrie.percentile(0.99), dxr.percentile(0.99));
        findings.push(claim(
            theirs > ours,
            format!(
                "At the 99th percentile D18R takes {theirs:.0} cycles and Poptrie18 {ours:.0}; in \
                 the paper 207 and 169 (A), 187 and 166 (B)."
            ),
        ));
    }
    findings
}

fn boxes(
    named: Named<'_, Ipv4>,
    timed: &[Timed],
    by_depth: &[Vec<Ticks>],
    conditions: Vec<Condition>,
) -> Figure {
    let seen = |depth: &usize| by_depth.iter().any(|all| all[*depth].len() > 0);
    let depths: Vec<usize> = (0..33).filter(seen).collect();
    let five = |ticks: &Ticks| {
        (ticks.len() > 0)
            .then(|| [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| ticks.percentile(share)))
    };
    let series = timed.iter().zip(by_depth).map(|(timed, all)| BoxSeries {
        name: timed.entrant.spec.clone(),
        boxes: depths.iter().map(|depth| five(&all[*depth])).collect(),
    });
    let mut columns = vec![column("depth", "bits"), column("lookups", "")];
    columns.extend(timed.iter().map(|it| column(&it.entrant.spec, "cycles")));
    let rows = depths.iter().map(|depth| {
        let lookups = by_depth.first().map_or(0, |all| all[*depth].len());
        let mut row = vec![text(depth.to_string()), Cell::Count(lookups)];
        row.extend(by_depth.iter().map(|all| match five(&all[*depth]) {
            Some([_, low, median, high, _]) => Cell::Spread(median, [low, high], 0),
            None => Cell::Empty,
        }));
        row
    });
    let worst = |spec: &str| {
        let all = timed.iter().position(|it| it.entrant.spec == spec).map(|i| &by_depth[i])?;
        let many = all.iter().filter(|ticks| ticks.len() >= 1000);
        many.map(|ticks| ticks.percentile(0.95)).max_by(f64::total_cmp)
    };
    let findings = worst("poptrie:s=18").map(|cycles| {
        claim(
            cycles <= 172.0,
            format!(
                "The 95th percentile of Poptrie18 is at most {cycles:.0} cycles at any depth with \
                 1,000 lookups or more; in the paper at most 172."
            ),
        )
    });
    Figure {
        id: format!("poptrie-fig11-{}", named.name),
        title: format!("Cycles per lookup by binary radix depth, {}", named.name),
        caption: "Boxes are quartiles with the median, whiskers the 5th and the 95th percentile. \
                  The same lookups as in the distribution, put apart by the depth of their \
                  address (4.1)."
            .into(),
        conditions,
        chart: Some(Chart::Boxes(Boxes {
            x: axis("binary radix depth", "bits"),
            y: axis("cycles", ""),
            places: depths.iter().map(usize::to_string).collect(),
            series: series.collect(),
        })),
        table: table(columns, rows.collect()),
        findings: findings.into_iter().collect(),
    }
}
