//! Section 4.9: what an update replaces, and how long it takes.

use longmatch::{Change, EngineSpec, Rib};

use super::PAPER_CPU;
use crate::desk::{Desk, SEED, WRONG, row_about};
use crate::experiment::{Absence, Experiment};
use crate::experiments::updates::{Stream, stream};
use crate::inputs::Named;
use crate::model::{Cell, Column, Figure, Finding, Row};
use crate::show::{claim, column, condition, number, paper_column, plural, remark, table, text};
use longmatch_bench::BenchFamily;
use longmatch_bench::pin;
use longmatch_bench::{Replay, ReplayRecord, in_random_order};

pub(super) const UPDATES: Experiment = Experiment {
    name: "poptrie-updates",
    aliases: &["poptrie-4.9"],
    source: "Poptrie paper, section 4.9",
    title: "Updates",
    about: "How many entries of the first table, nodes and leaves an update replaces and how long \
            it takes, routes and lookup structure together; and how long it takes to insert all \
            routes one by one, in random order.",
    peers: false,
    seconds: |inputs, effort| {
        let families = [inputs.ipv4().len(), inputs.ipv6().len()];
        let updates = effort.updates.min(1_300_000) as f64 * 2.0;
        families.map(|tables| tables.min(1)).iter().sum::<usize>() as f64
            * (ENGINES.len() as f64 * (updates * 1.5e-6 + 1.5))
    },
    run,
};

/// Those that are patched under readers.
const ENGINES: [&str; 5] = ["poptrie:s=18", "folio", "dxr:d=18", "dir24_8", "tree_bitmap"];

/// Replaced for each update: entries of the first table, nodes, leaves; and microseconds.
const PAPER: [f64; 4] = [0.041, 0.48, 6.05, 2.51];
/// Microseconds for each prefix that is inserted.
const PAPER_INSERT: f64 = 5.10;

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let inputs = desk.inputs;
    let mut figures = Vec::new();
    if let Some(named) = inputs.ipv4().first() {
        let updates = inputs.updates.as_ref().map(|it| (&it.name[..], &it.ipv4[..]));
        figures.push(figure(desk, *named, updates));
    }
    if let Some(named) = inputs.ipv6().first() {
        let updates = inputs.updates.as_ref().map(|it| (&it.name[..], &it.ipv6[..]));
        figures.push(figure(desk, *named, updates));
    }
    desk.cite(&format!("RV-linx-p52; insertion of REAL-Tier1-A; {PAPER_CPU}"));
    match figures.is_empty() {
        true => Err(Absence("needs a table".into())),
        false => Ok(figures),
    }
}

/// The two measurements of an engine; why it cannot do one.
struct Line {
    spec: &'static str,
    updates: Result<ReplayRecord, String>,
    insertion: Result<ReplayRecord, String>,
}

fn figure<F: BenchFamily>(
    desk: &mut Desk<'_>,
    named: Named<'_, F>,
    updates: Option<(&str, &[Change<F>])>,
) -> Figure {
    let id = format!("poptrie-updates-{}-{}", F::NAME, named.name);
    let Stream { name, changes, .. } = stream(named.rib, updates, desk.effort.updates);
    let mut inserted = in_random_order(named.rib, SEED);
    inserted.truncate(desk.effort.updates);
    let empty = Rib::new();
    let mut lines = Vec::new();
    for spec in ENGINES {
        let updates = replay(spec, named.rib, &changes);
        let insertion = replay(spec, &empty, &inserted);
        desk.step((changes.len() + inserted.len()) as f64 * 1.5e-6 + 1.5);
        let line = Line { spec, updates, insertion };
        note(desk, &id, named, &line);
        lines.push(line);
    }
    let conditions = vec![
        condition("table", format!("{}: {}", named.name, plural(named.rib.len(), "route"))),
        condition("updates", name),
        condition(
            "inserted",
            format!(
                "{} in random order, seed {SEED}, into an empty table",
                plural(inserted.len(), "route")
            ),
        ),
        condition("commits", "one for each update, visible to readers before the next"),
        condition("threads", "the writer alone, on a CPU of its own"),
        condition(
            "the paper's",
            "RV-linx-p52, an hour of 23,446 updates; insertion of REAL-Tier1-A; Poptrie18",
        ),
    ];
    Figure {
        title: format!("Updates of {}, {}", named.name, F::NAME),
        caption: "Replaced: an average over all updates, those that change nothing among them; \
                  entries of the first table, nodes, leaves or pages or ranges. The time is that of \
                  changing the routes, patching the structure and making it visible, with a \
                  reading of the clock. Afterwards the table is compared with its routes."
            .into(),
        conditions,
        chart: None,
        table: table(columns(), lines.iter().map(row).collect()),
        findings: findings(&lines),
        id,
    }
}

fn replay<F: BenchFamily>(
    spec: &str,
    rib: &Rib<F>,
    changes: &[Change<F>],
) -> Result<ReplayRecord, String> {
    let spec: EngineSpec = spec.parse().expect("the name of an engine");
    let replay = Replay {
        rib,
        changes,
        batch: 1,
        pace: None,
        readers: 0,
        keys: &[],
        idle: core::time::Duration::ZERO,
        idle_after: false,
        verify_every: None,
        full: false,
    };
    let writer = replay.writer(&spec).map_err(|error| error.to_string())?;
    pin::to(0);
    let record = replay.run(writer, &spec, &mut |_| {}).map_err(|error| error.to_string());
    pin::free();
    match record {
        Ok(record) if !record.is_right() => Err(format!("{} {WRONG}", record.mismatches)),
        record => record,
    }
}

/// What is shown of the updates: the name of the metric, its unit, the paper's value.
fn values(record: &ReplayRecord) -> [(&'static str, &'static str, Option<f64>); 7] {
    [
        ("entries replaced", "", Some(record.entries_replaced)),
        ("nodes replaced", "", Some(record.nodes_replaced)),
        ("leaves replaced", "", Some(record.leaves_replaced)),
        ("update", "us", Some(record.mean_us)),
        ("effective update", "us", record.mean_effective_us),
        ("99th percentile", "us", Some(record.p99_us)),
        ("compiled again", "", Some(record.recompiled as f64)),
    ]
}

fn columns() -> Vec<Column> {
    let mut columns = vec![column("engine", "")];
    for (name, unit) in [
        ("entries replaced", ""),
        ("nodes replaced", ""),
        ("leaves replaced", ""),
        ("update", "us"),
    ] {
        columns.push(column(name, unit));
        columns.push(paper_column(&format!("{name}, paper"), unit));
    }
    columns.extend([
        column("update that changes something", "us"),
        column("99th percentile", "us"),
        column("compiled again", ""),
        column("insertion", "us"),
        paper_column("insertion, paper", "us"),
    ]);
    columns
}

fn row(line: &Line) -> Vec<Cell> {
    let is_papers = line.spec == "poptrie:s=18";
    let mut row = vec![text(line.spec)];
    match &line.updates {
        Ok(record) => {
            for (i, (_, _, value)) in values(record).into_iter().enumerate() {
                match i {
                    6 => row.push(Cell::Count(record.recompiled)),
                    _ => row.push(number(value, 3)),
                }
                if i < PAPER.len() {
                    row.push(number(is_papers.then_some(PAPER[i]), 3));
                }
            }
        }
        Err(why) => row.extend((0..11).map(|_| Cell::Refused(why.clone()))),
    }
    row.push(match &line.insertion {
        Ok(record) => Cell::Number(record.mean_us, 3),
        Err(why) => Cell::Refused(why.clone()),
    });
    row.push(number(is_papers.then_some(PAPER_INSERT), 2));
    row
}

fn note<F: BenchFamily>(desk: &mut Desk<'_>, figure: &str, named: Named<'_, F>, line: &Line) {
    let is_papers = line.spec == "poptrie:s=18";
    let about =
        Row { figure: figure.into(), engine: line.spec.into(), ..row_about(named.name, named.rib) };
    match &line.updates {
        Ok(record) => {
            for (i, (metric, unit, value)) in values(record).into_iter().enumerate() {
                let paper = PAPER.get(i).copied().filter(|_| is_papers);
                let (metric, unit) = (metric.into(), unit.into());
                desk.note(Row { metric, unit, value, paper, ..about.clone() });
            }
        }
        Err(why) => {
            let (metric, refused) = ("update".into(), why.clone());
            desk.note(Row { metric, refused, ..about.clone() });
        }
    }
    let (value, refused) = match &line.insertion {
        Ok(record) => (Some(record.mean_us), String::new()),
        Err(why) => (None, why.clone()),
    };
    let paper = is_papers.then_some(PAPER_INSERT);
    let (metric, unit) = ("insertion".into(), "us".into());
    desk.note(Row { metric, unit, value, refused, paper, ..about });
}

fn findings(lines: &[Line]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let poptrie = lines.iter().find(|line| line.spec == "poptrie:s=18");
    if let Some(Line { updates: Ok(record), .. }) = poptrie {
        let text = format!(
            "An update of Poptrie18 takes {:.2} microseconds and replaces {:.3} entries, {:.2} \
             nodes and {:.2} leaves; in the paper 2.51, 0.041, 0.48 and 6.05.",
            record.mean_us, record.entries_replaced, record.nodes_replaced, record.leaves_replaced
        );
        findings.push(claim(record.mean_us <= PAPER[3], text));
    }
    if let Some(Line { insertion: Ok(record), .. }) = poptrie {
        let text = format!(
            "Inserting a prefix takes Poptrie18 {:.2} microseconds; in the paper 5.10 and 4.57.",
            record.mean_us
        );
        findings.push(claim(record.mean_us <= PAPER_INSERT, text));
    }
    let rated = lines.iter().filter_map(|line| Some((line.updates.as_ref().ok()?, line.spec)));
    if let Some((record, spec)) = rated.min_by(|(a, _), (b, _)| a.mean_us.total_cmp(&b.mean_us)) {
        let text = format!("The fastest updates: {spec}, {:.2} microseconds each.", record.mean_us);
        findings.push(remark(text));
    }
    findings
}
