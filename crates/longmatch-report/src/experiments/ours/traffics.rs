//! All engines under every kind of traffic.

use std::sync::Arc;

use crate::compare::{Comparison, Trial, compare};
use crate::desk::{Desk, Entrant, Field, Measured};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::{all_ipv4, all_ipv6};
use crate::inputs::{Effort, Inputs, Named};
use crate::model::{Figure, Finding};
use crate::show::remark;
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;
use longmatch_bench::Traffic;

pub(super) const TRAFFICS: Experiment = Experiment {
    name: "traffic",
    aliases: &[],
    source: "ours",
    title: "The traffic decides",
    about: "Every engine under every kind of traffic, one address after the other and in batches: \
            which engine wins depends on what is asked.",
    peers: false,
    seconds,
    run,
};

fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let kinds = if effort.full { 12.0 } else { 4.0 };
    let tables = inputs.ipv4().len() + inputs.ipv6().len();
    tables as f64 * (kinds * 12.0 * (effort.seconds * 1.4 + 0.1) + 3.0)
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let inputs = desk.inputs;
    let mut figures = Vec::new();
    for named in inputs.ipv4() {
        figures.extend(both(desk, named, &all_ipv4()));
    }
    for named in inputs.ipv6() {
        figures.extend(both(desk, named, &all_ipv6()));
    }
    Ok(figures)
}

fn both<F: BenchFamily>(
    desk: &mut Desk<'_>,
    named: Named<'_, F>,
    engines: &[Entrant],
) -> [Figure; 2] {
    let mut field = Field::new(named, engines);
    desk.step(2.0);
    [Mode::One, Mode::Batch].map(|mode| figure(desk, named, &mut field, mode))
}

fn figure<F: BenchFamily>(
    desk: &mut Desk<'_>,
    named: Named<'_, F>,
    field: &mut Field<'_, F>,
    mode: Mode,
) -> Figure {
    let id = format!("traffic-{mode}-{}-{}", F::NAME, named.name);
    let setup = desk.setup(mode);
    let mut kinds = match desk.effort.full {
        true => Traffic::NAMED.to_vec(),
        false => vec![Traffic::Routed, Traffic::Zipf],
    };
    kinds.extend(desk.inputs.trace.as_ref().map(|trace| Traffic::File(Arc::clone(trace))));
    let trials: Vec<_> = kinds
        .into_iter()
        .map(|traffic| Trial::new(traffic.name().to_owned(), traffic, setup))
        .collect();
    let all = compare(desk, &id, field, &trials);
    let how = if mode == Mode::One { "one after the other" } else { "in batches of 256" };
    Figure {
        title: format!("Rates {how}, {}, {}", named.name, F::NAME),
        caption: "Keys from an array. random: uniform over IPv4, or over 2000::/3, where most \
                  addresses have no route. sequential: upwards. repeated: random, each sixteen \
                  times. routed: inside a random route. zipf: routed, asked for with Zipf's law. \
                  A trace: destinations of real packets."
            .into(),
        conditions: all.conditions.clone(),
        chart: Some(all.chart()),
        table: all.table(),
        findings: findings(&all),
        id,
    }
}

/// Who wins under what, and by how much.
fn findings(all: &Comparison) -> Vec<Finding> {
    let winner = |(name, measured): &(String, Vec<_>)| {
        let mut rated: Vec<(f64, &str)> = measured
            .iter()
            .filter_map(|it: &Measured| Some((it.rate()?, &it.entrant.spec[..])))
            .collect();
        rated.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let [(first, best), (second, next), ..] = rated[..] else { return None };
        let times = first / second;
        Some(remark(format!(
            "Under {name} traffic {best} is the fastest with {first:.0} Mlps, {times:.2} times \
             {next}."
        )))
    };
    all.trials.iter().filter_map(winner).collect()
}
