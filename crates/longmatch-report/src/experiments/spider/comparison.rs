//! Figure 9: Spider and the others, with random traffic and with a trace.

use super::{PAPER_CPU, PAPER_TABLES};
use crate::compare::merged;
use crate::desk::{Desk, Entrant, Field, Measured, SEED};
use crate::experiment::{Absence, Experiment};
use crate::inputs::{Inputs, Named};
use crate::model::{Figure, Finding};
use crate::show::{
    about_rates, claim, condition, fastest, like, rate_bars, rate_table, ratio, remark,
};
use crate::synthetic::spider_random;
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;
use longmatch_bench::Traffic;
use longmatch_bench::Workload;

pub(super) const FIGURE_9: Experiment = Experiment {
    name: "spider-fig9",
    aliases: &["spider-comparison"],
    source: "Spider paper, Figure 9",
    title: "Spider and the others",
    about: "Rates with random traffic and with destinations of real packets. First each engine as \
            its paper has it: Spider in batches, those whose papers look up one address after the \
            other that way. Then all in batches, which is fair to the others.",
    peers: false,
    seconds: |inputs, effort| {
        let tables = (inputs.ipv4().len() + inputs.ipv6().len()) as f64;
        tables * (2.0 * effort.usual(SPIDERS.len() + 2 * ONE_BY_ONE.len()) + 2.0)
    },
    run,
};

/// Measured in batches in both series.
const SPIDERS: [&str; 4] = ["spider:lanes=16", "spider:lanes=8", "spider:lanes=1", "folio"];
/// Their papers look up one address after the other.
const ONE_BY_ONE: [&str; 5] = ["poptrie:s=18", "poptrie:s=16", "dxr:d=18", "dxr:d=16", "dir24_8"];
/// The paper's names, in the order of both.
const NAMES: [&str; 9] = [
    "Spider 16w",
    "Spider 8w",
    "Spider 1w",
    "",
    "Poptrie18",
    "Poptrie16",
    "D18R",
    "D16R",
    "DIR-24-8",
];

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let (four, six) = (desk.inputs.ipv4(), desk.inputs.ipv6());
    let mut figures: Vec<_> = four.into_iter().map(|named| figure(desk, named)).collect();
    figures.extend(six.into_iter().map(|named| figure(desk, named)));
    if figures.is_empty() {
        return Err(Absence("needs a table of routes".into()));
    }
    Ok(figures)
}

/// What stands for real packets: the trace, if it has destinations of the family.
fn real<F: BenchFamily>(inputs: &Inputs) -> (Traffic, bool) {
    match &inputs.trace {
        Some(trace) if !F::keys_of(trace).is_empty() => (Traffic::File(trace.clone()), true),
        _ => (Traffic::Zipf, false),
    }
}

/// The rates under one traffic: each engine as its paper has it, and all in batches.
struct Rates {
    traffic: &'static str,
    as_papers: Vec<Measured>,
    batches: Vec<Measured>,
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("spider-fig9-{}-{}", F::NAME, named.name);
    let entrants = |specs: &[&'static str], names: &[&'static str]| -> Vec<Entrant> {
        specs.iter().zip(names).map(|(spec, name)| Entrant::new(*spec, *name)).collect()
    };
    let (own, others) = NAMES.split_at(SPIDERS.len());
    let fields = [
        Field::apart(named, &entrants(&SPIDERS, own)),
        Field::apart(named, &entrants(&ONE_BY_ONE, others)),
    ];
    desk.step(1.0);
    let random = spider_random(named.rib, desk.keys::<F>(), SEED);
    let (real, is_trace) = real::<F>(desk.inputs);
    let mut conditions = Vec::new();
    let mut all = Vec::new();
    for (name, traffic) in [("random", random), ("trace", real)] {
        let name = if name == "trace" && !is_trace { "zipf, no trace" } else { name };
        let heat = desk.heat(&fields[0].race, &traffic).expect("there are such keys");
        let about = about_rates(named.name, &fields[0].race, &heat, &desk.setup(Mode::Batch));
        conditions.push((name.to_owned(), about));
        all.push(measure(desk, &id, &fields, &heat, name));
        desk.step(0.5);
    }
    let mut conditions = merged(conditions);
    conditions.retain(|it| it.name != "lookups");
    conditions.push(condition("lookups", "as the groups say; batches are of 256"));
    conditions.push(condition("the paper's", format!("{PAPER_TABLES}; {PAPER_CPU}")));
    let groups: Vec<(String, &[Measured])> = all
        .iter()
        .flat_map(|it| {
            [
                (format!("{}, as the papers have it", it.traffic), &it.as_papers[..]),
                (format!("{}, all in batches", it.traffic), &it.batches[..]),
            ]
        })
        .collect();
    Figure {
        title: format!("Random traffic and a trace, {}, {}", F::NAME, named.name),
        caption: caption(is_trace),
        conditions,
        table: rate_table("traffic and way of looking up", &groups),
        chart: Some(rate_bars(groups)),
        findings: findings::<F>(&all, is_trace),
        id,
    }
}

fn measure<F: BenchFamily>(
    desk: &mut Desk<'_>,
    id: &str,
    fields: &[Field<'_, F>; 2],
    heat: &Workload<F>,
    traffic: &'static str,
) -> Rates {
    let (one, batch) = (desk.setup(Mode::One), desk.setup(Mode::Batch));
    let [spiders, others] = fields;
    let own = desk.measure(id, spiders, heat, &batch, "");
    let one_by_one = desk.measure(id, others, heat, &one, "");
    let others = desk.measure(id, others, heat, &batch, "");
    let join = |second: Vec<Measured>| own.iter().cloned().chain(second).collect();
    Rates { traffic, as_papers: join(one_by_one), batches: join(others) }
}

fn caption(is_trace: bool) -> String {
    let trace = match is_trace {
        true => "The trace is the one that was given, over and over.",
        false => {
            "NO TRACE of this family was given: synthetic zipf traffic, half a million routed \
             addresses, stands in its place and cannot show what a trace would."
        }
    };
    format!(
        "As the papers have it: Spider and Folio in batches, the others one address after the \
         other. All keys come from arrays, where the paper makes random ones just in time. Random \
         IPv6 addresses are the paper's: the first 32 bits of a random route, 32 random bits, ::1. \
         {trace} The paper's figure has no numbers; its text gives 516 Mlps (IPv4) and 188 Mlps \
         (IPv6) for Spider with 16 lanes, random traffic, ISP-A."
    )
}

fn findings<F: BenchFamily>(all: &[Rates], is_trace: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    // The second fastest of the paper, and how many times faster Spider is, for ISP-A.
    let papers = match F::WIDTH {
        32 => [("poptrie:s=18", "Poptrie18", 1.8), ("dxr:d=18", "D18R", 2.3)],
        _ => [("dir24_8", "DIR-24-8", 2.2), ("dir24_8", "DIR-24-8", 3.2)],
    };
    for (rates, (spec, name, times)) in all.iter().zip(papers) {
        let traffic = rates.traffic;
        let is_claim = traffic == "random" || is_trace;
        let rate = |all: &[Measured], spec| like(all, spec).and_then(Measured::rate);
        let of = |all: &[Measured]| ratio(rate(all, SPIDERS[0]), rate(all, spec));
        let against = |all: &[Measured], how: &str| {
            let own = of(all)?;
            let text = format!(
                "{traffic}, {how}: Spider with 16 lanes is {own:.2} times as fast as {name}; in \
                 the paper {times} times (ISP-A)."
            );
            Some(if is_claim { claim(own > 1.0, text) } else { remark(text) })
        };
        findings.extend(against(&rates.as_papers, "as the papers have it"));
        findings.extend(against(&rates.batches, "all in batches"));
        for (all, how) in
            [(&rates.as_papers, "as the papers have it"), (&rates.batches, "all in batches")]
        {
            if let Some((spec, rate)) = fastest(all) {
                let text = format!("{traffic}, {how}: the fastest is {spec}, {rate:.0} Mlps.");
                findings.push(remark(text));
            }
        }
    }
    findings
}
