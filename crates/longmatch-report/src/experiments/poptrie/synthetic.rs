//! Table 5: tables larger than any real one.

use super::PAPER_CPU;
use crate::compare::merged;
use crate::desk::{Desk, Field, Measured, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::entrant;
use crate::inputs::Named;
use crate::model::{Cell, Condition, Figure, Finding};
use crate::show::{
    MIB, about_rates, claim, column, condition, number, of, paper_column, rate_bars, table, text,
};
use longmatch_bench::Traffic;
use longmatch_bench::{syn1, syn2};

pub(super) const TABLE_5: Experiment = Experiment {
    name: "poptrie-table5",
    aliases: &[],
    source: "Poptrie paper, Table 5",
    title: "Synthetic large tables",
    about: "Rates of random lookups on tables whose prefixes were split into two or four (SYN1), \
            and into two, four or eight (SYN2; 4.1), and which engines can hold such tables.",
    peers: false,
    seconds: |inputs, effort| {
        inputs.ipv4().len() as f64 * (2.0 * 6.0 * (effort.seconds * 1.4 + 0.2) + 16.0)
    },
    run,
};

/// Mlps on SYN1-Tier1-A, SYN1-Tier1-B, SYN2-Tier1-A and SYN2-Tier1-B.
const PAPER: [(&str, [Option<f64>; 4]); 3] = [
    ("sail", [Some(102.86), Some(99.98), None, None]),
    ("dxr:d=18", [Some(115.45), Some(117.48), Some(102.59), Some(104.22)]),
    ("poptrie:s=18", [Some(188.02), Some(187.69), Some(174.42), Some(175.04)]),
];

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let mut figures = Vec::new();
    for named in tables {
        let id = format!("poptrie-table5-{}", named.name);
        let mut all = Vec::new();
        let mut conditions = Vec::new();
        for (kind, rib) in [("SYN1", syn1(named.rib)), ("SYN2", syn2(named.rib))] {
            let name = format!("{kind} of {}", named.name);
            let measured =
                measure(desk, &id, Named { name: &name, rib: &rib, memory: named.memory });
            conditions.push((kind.to_owned(), measured.1));
            all.push((kind, measured.0));
        }
        figures.push(figure(id, named.name, &all, merged(conditions)));
    }
    desk.cite(&format!("SYN1-Tier1-A, SYN2-Tier1-A; {PAPER_CPU}"));
    Ok(figures)
}

fn measure(
    desk: &mut Desk<'_>,
    id: &str,
    named: Named<'_, longmatch::Ipv4>,
) -> (Vec<Measured>, Vec<Condition>) {
    let engines = [
        ("sail", "SAIL"),
        ("dxr:d=18", "D18R"),
        ("poptrie:s=18", "Poptrie18"),
        ("dir24_8", "DIR-24-8"),
        ("spider:lanes=16", "Spider 16w"),
        ("folio", ""),
    ];
    let mut field = Field::apart(named, &engines.map(entrant));
    let of_kind = usize::from(named.name.starts_with("SYN2")) * 2;
    let papers: Vec<_> =
        PAPER.iter().filter_map(|(spec, all)| Some((*spec, all[of_kind]?))).collect();
    field.set_papers(&papers);
    desk.step(6.0);
    let heat = desk.heat(&field.race, &Traffic::Random).expect("random traffic has keys");
    let setup = desk.just_in_time();
    let measured = desk.measure(id, &field, &heat, &setup, "");
    (measured, about_rates(named.name, &field.race, &heat, &setup))
}

fn figure(
    id: String,
    name: &str,
    all: &[(&str, Vec<Measured>)],
    mut conditions: Vec<Condition>,
) -> Figure {
    conditions.push(condition(
        "the paper's",
        format!(
            "SYN1-Tier1-A (764,847 prefixes) and B (756,406), SYN2-Tier1-A (885,645) and B \
             (876,944); {PAPER_CPU}"
        ),
    ));
    let columns = vec![
        column("table", ""),
        column("engine", ""),
        column("the paper's name", ""),
        column("rate", "Mlps"),
        paper_column("paper, A", "Mlps"),
        paper_column("paper, B", "Mlps"),
        column("memory", "MiB"),
    ];
    let rows = all.iter().enumerate().flat_map(|(i, (kind, all))| {
        all.iter().map(move |it| {
            let paper = PAPER.iter().find(|(spec, _)| *spec == it.entrant.spec);
            let paper = |of: usize| match paper.map(|(_, values)| values[2 * i + of]) {
                Some(None) => Cell::Refused("N/A".into()),
                value => number(value.flatten(), 2),
            };
            vec![
                text(*kind),
                text(&it.entrant.spec[..]),
                text(&it.entrant.alias[..]),
                rate_cell(it),
                paper(0),
                paper(1),
                number(it.record().map(|record| record.bytes as f64 / MIB), 2),
            ]
        })
    });
    Figure {
        title: format!("Random lookups in split tables, {name}"),
        caption: "One after the other, keys made just before. An engine that cannot hold a table \
                  says which limit of its structure that is; DXR's modified form is wider, as the \
                  paper widened it too."
            .into(),
        conditions,
        chart: Some(rate_bars(all.iter().map(|(kind, all)| ((*kind).to_owned(), &all[..])))),
        table: table(columns, rows.collect()),
        findings: findings(all),
        id,
    }
}

fn findings(all: &[(&str, Vec<Measured>)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (kind, all) in all {
        let refused = |spec| of(all, spec).is_some_and(|it| it.result.is_err());
        let says = |refused| if refused { "cannot hold" } else { "holds" };
        let sail = refused("sail");
        if *kind == "SYN2" {
            let text = format!("SAIL {} SYN2; in the paper it cannot.", says(sail));
            findings.push(claim(sail, text));
        }
        let fastest = |it: &&Measured| {
            ["sail", "dxr:d=18", "poptrie:s=18"].contains(&&it.entrant.spec[..])
                || it.entrant.spec.starts_with("dxr:d=18")
        };
        let rated = all.iter().filter(fastest).filter_map(|it| Some((it.rate()?, it)));
        if let Some((mlps, best)) = rated.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
            let text = format!(
                "Of the paper's three engines {} is the fastest on {kind}, with {mlps:.0} Mlps; in \
                 the paper Poptrie18.",
                best.entrant.spec
            );
            findings.push(claim(best.entrant.spec == "poptrie:s=18", text));
        }
    }
    findings
}
