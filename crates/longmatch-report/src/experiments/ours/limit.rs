//! How far each engine is from what the machine can do.

use crate::compare::merged;
use crate::desk::{Desk, Field, Measured, rate_cell, row_about, with_rate};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::entrant;
use crate::inputs::Named;
use crate::model::{Bar, BarGroup, Bars, Cell, Chart, Figure, Finding, Row};
use crate::show::{MIB, about_rates, column, number, of, rate_axis, rate_bar, remark, table, text};
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;
use longmatch_bench::RunConfig;
use longmatch_bench::Traffic;

pub(super) const ROOFLINE: Experiment = Experiment {
    name: "limit",
    aliases: &[],
    source: "ours",
    title: "The machine's own limit",
    about: "Beside each engine that makes a fixed number of reads: as many independent reads from \
            tables of the same sizes, for the same addresses, in the same run. What the engine \
            takes longer it spends on waiting and on work, not on the size of its memory.",
    peers: false,
    seconds: |inputs, effort| {
        let tables = inputs.ipv4().len() + inputs.ipv6().len();
        tables as f64 * (2.0 * 8.0 * (effort.seconds * 1.4 + 0.2) + 3.0)
    },
    run,
};

const ENGINES: [(&str, &str); 4] =
    [("folio", ""), ("dir24_8", ""), ("spider:lanes=16", ""), ("poptrie:s=18", "")];

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let inputs = desk.inputs;
    let mut figures = Vec::new();
    for named in inputs.ipv4() {
        figures.push(figure(desk, named));
    }
    for named in inputs.ipv6() {
        figures.push(figure(desk, named));
    }
    Ok(figures)
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("limit-{}-{}", F::NAME, named.name);
    let field = Field::new(named, &ENGINES.map(entrant));
    desk.step(2.0);
    let setup = RunConfig { roofline: true, ..desk.setup(Mode::Batch) };
    let mut groups = Vec::new();
    let mut rows = Vec::new();
    let mut conditions = Vec::new();
    let mut findings = Vec::new();
    for traffic in [Traffic::Random, Traffic::Routed] {
        let heat = desk.heat(&field.race, &traffic).expect("made traffic has keys");
        let mut all = desk.measure(&id, &field, &heat, &setup, "");
        // An engine that does not state its reads has nothing to stand beside.
        all.retain(|it| it.limit.is_some());
        for measured in &all {
            note(desk, &id, named, measured, traffic.name());
        }
        findings.extend(finding(&all, traffic.name()));
        conditions
            .push((traffic.name().to_owned(), about_rates(named.name, &field.race, &heat, &setup)));
        rows.extend(all.iter().map(|it| row(it, traffic.name())));
        let bars = all.iter().flat_map(|it| [rate_bar(it), limit_bar(it)]).collect();
        groups.push(BarGroup { name: traffic.name().into(), bars });
    }
    Figure {
        title: format!("Rates beside the machine's limit, {}, {}", named.name, F::NAME),
        caption: "Batches of 256. The limit scatters the addresses over its tables, where an \
                  engine may find neighbours in one cache line, and makes every read for every \
                  address, where many lookups end earlier: so an engine can be faster than its \
                  limit."
            .into(),
        conditions: merged(conditions),
        chart: Some(Chart::Bars(Bars { value: rate_axis(), groups })),
        table: table(
            vec![
                column("traffic", ""),
                column("engine", ""),
                column("reads", ""),
                column("memory", "MiB"),
                column("rate", "Mlps"),
                column("limit", "Mlps"),
                column("share of the limit", "%"),
            ],
            rows,
        ),
        findings,
        id,
    }
}

fn limit_bar(measured: &Measured) -> Bar {
    let limit = measured.limit.as_ref();
    Bar {
        name: format!("limit of {}", measured.entrant.spec),
        value: limit.and_then(|it| it.mlps),
        spread: limit.and_then(|it| Some([it.mlps_q1?, it.mlps_q3?])),
        paper: None,
        note: String::new(),
    }
}

fn share(measured: &Measured) -> Option<f64> {
    Some(100.0 * measured.rate()? / measured.limit.as_ref()?.mlps?)
}

fn row(measured: &Measured, traffic: &str) -> Vec<Cell> {
    let record = measured.record();
    let limit = measured.limit.as_ref();
    let spread = limit.and_then(|it| Some(Cell::Spread(it.mlps?, [it.mlps_q1?, it.mlps_q3?], 1)));
    vec![
        text(traffic),
        text(&measured.entrant.spec[..]),
        Cell::Count(record.map_or(0, |it| it.reads.len()) as u64),
        number(record.map(|it| it.bytes as f64 / MIB), 2),
        rate_cell(measured),
        spread.unwrap_or(Cell::Empty),
        number(share(measured), 0),
    ]
}

fn note<F: BenchFamily>(
    desk: &mut Desk<'_>,
    figure: &str,
    named: Named<'_, F>,
    measured: &Measured,
    traffic: &str,
) {
    let Some(limit) = &measured.limit else { return };
    let row = Row {
        figure: figure.into(),
        engine: format!("limit of {}", measured.entrant.spec),
        traffic: traffic.into(),
        keys: limit.keys.name().into(),
        mode: limit.mode.into(),
        batch: limit.batch as u64,
        threads: limit.threads as u64,
        simd: limit.simd.into(),
        metric: "rate".into(),
        unit: "Mlps".into(),
        ..row_about(named.name, named.rib)
    };
    desk.note(with_rate(limit, row));
}

fn finding(all: &[Measured], traffic: &str) -> Option<Finding> {
    let folio = of(all, "folio")?;
    let (share, mlps) = (share(folio)?, folio.rate()?);
    Some(remark(format!(
        "Under {traffic} traffic folio reaches {share:.0} % of the limit of its own reads, with \
         {mlps:.0} Mlps."
    )))
}
