//! Table 1: memory.

use longmatch::Ipv4;

use super::{ISP_A, PAPER_CPU, PAPER_TABLES};
use crate::desk::{Desk, Entrant, Field};
use crate::experiment::{Absence, Experiment};
use crate::inputs::Named;
use crate::model::{Bar, BarGroup, Bars, Cell, Chart, Figure, Finding};
use crate::show::{
    MIB, about_table, axis, claim, column, condition, number, paper_column, ratio, remark, table,
    text,
};

pub(super) const TABLE_1: Experiment = Experiment {
    name: "spider-table1",
    aliases: &["spider-memory"],
    source: "Spider paper, Table 1",
    title: "Memory",
    about: "Bytes of the compiled structures of each IPv4 table.",
    peers: false,
    seconds: |inputs, _| 0.6 * inputs.ipv4().len() as f64,
    run,
};

/// An engine, the paper's name for it, and MiB for ISP-A and ISP-B.
const LINES: [(&str, &str, Option<[f64; 2]>); 6] = [
    ("poptrie:s=18", "Poptrie18", Some([1.25, 1.35])),
    ("dxr:d=18", "D18R", Some([1.29, 1.40])),
    ("spider:lanes=16", "Spider 16w", Some([9.32, 11.61])),
    ("dir24_8:entry=32", "DIR-24-8", Some([64.15, 64.34])),
    ("dir24_8", "", None),
    ("folio", "", None),
];

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let figures = tables.into_iter().map(|named| figure(desk, named)).collect();
    desk.cite(ISP_A);
    Ok(figures)
}

fn figure(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("spider-table1-{}", named.name);
    let entrants = LINES.map(|(spec, alias, paper)| Entrant {
        paper: paper.map(|[isp_a, _]| isp_a),
        ..Entrant::new(spec, alias)
    });
    let field = Field::apart(named, &entrants);
    desk.step(0.6);
    let (mut rows, mut bars, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    for (entrant, engine) in field.engines() {
        let mib = engine.map(|engine| engine.memory().bytes() as f64 / MIB);
        let refusal = field.refusal(&entrant.spec);
        let isp_b = LINES.iter().find(|line| line.0 == entrant.spec).and_then(|line| line.2);
        let cell = |value: Option<f64>, decimals| match &refusal {
            Some(why) => Cell::Refused(why.clone()),
            None => number(value, decimals),
        };
        rows.push(vec![
            text(&entrant.spec),
            text(&entrant.alias),
            cell(mib, 2),
            cell(mib.map(|mib| mib * MIB / named.rib.len().max(1) as f64), 1),
            number(entrant.paper, 2),
            number(isp_b.map(|[_, isp_b]| isp_b), 2),
        ]);
        bars.push(Bar {
            name: entrant.spec.clone(),
            value: mib,
            spread: None,
            paper: entrant.paper,
            note: refusal.clone().unwrap_or_default(),
        });
        counted.push((entrant.spec.clone(), mib, entrant.paper));
    }
    for (spec, mib, paper) in &counted {
        if let Some(mib) = mib {
            desk.count(&id, named, spec, ("memory", "MiB"), *mib, *paper);
        }
    }
    let columns = vec![
        column("engine", ""),
        column("the paper's name", ""),
        column("memory", "MiB"),
        column("memory", "B/route"),
        paper_column("ISP-A, paper", "MiB"),
        paper_column("ISP-B, paper", "MiB"),
    ];
    Figure {
        title: format!("Memory, {}", named.name),
        caption:
            "Counted in the compiled structures. The paper's DIR-24-8 is DPDK's, with entries \
                  of 32 bits; without the option it has 16 where they suffice. The marks are the \
                  paper's ISP-A."
                .into(),
        conditions: vec![
            about_table(named.name, &field.race),
            condition("the paper's", format!("{PAPER_TABLES}; {PAPER_CPU}")),
        ],
        chart: Some(Chart::Bars(Bars {
            value: axis("memory", "MiB"),
            groups: vec![BarGroup { name: String::new(), bars }],
        })),
        table: table(columns, rows),
        findings: findings(&counted),
        id,
    }
}

fn findings(counted: &[(String, Option<f64>, Option<f64>)]) -> Vec<Finding> {
    let mib = |name: &str| counted.iter().find(|it| it.0.starts_with(name) && it.1.is_some())?.1;
    let mut findings = Vec::new();
    if let Some(times) = ratio(mib("spider"), mib("poptrie")) {
        let text = format!(
            "Spider takes {times:.1} times the memory of Poptrie18; in the paper 7.5 (ISP-A) and \
             8.6 times (ISP-B)."
        );
        findings.push(claim(times > 2.0, text));
    }
    if let Some(times) = ratio(mib("folio"), mib("poptrie")) {
        findings.push(remark(format!("Folio takes {times:.2} times the memory of Poptrie18.")));
    }
    findings
}
