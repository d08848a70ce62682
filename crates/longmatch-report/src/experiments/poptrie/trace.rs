//! Figure 12: destinations of real packets.

use longmatch::Ipv4;

use super::PAPER_CPU;
use crate::compare::{Trial, compare};
use crate::depths::Depths;
use crate::desk::{Desk, Field};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::{entrant, fast_ipv4};
use crate::inputs::Named;
use crate::model::{Figure, Finding};
use crate::show::{claim, condition, ratio, remark};
use longmatch_bench::Mode;
use longmatch_bench::{Destinations, Traffic};
use std::sync::Arc;

pub(super) const FIGURE_12: Experiment = Experiment {
    name: "poptrie-fig12",
    aliases: &[],
    source: "Poptrie paper, Figure 12",
    title: "A packet trace",
    about: "The rate for destinations of real packets in their order, from an array, one after \
            the other as in the paper, and in batches.",
    peers: false,
    seconds: |inputs, effort| {
        inputs.ipv4().len() as f64 * (9.0 * 2.0 * (effort.seconds * 1.4 + 0.1) + 3.0)
    },
    run,
};

const ONE: &str = "one after the other";
const BATCH: &str = "batch of 256";

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let Some(trace) = desk.inputs.trace.clone().filter(|trace| !trace.ipv4.is_empty()) else {
        let advice = "needs destinations of packets: give a pcap or pcapng file, or a list of \
                      addresses, with --trace";
        return Err(Absence(advice.into()));
    };
    Ok(tables.into_iter().map(|named| figure(desk, named, &trace)).collect())
}

fn figure(desk: &mut Desk<'_>, named: Named<'_, Ipv4>, trace: &Arc<Destinations>) -> Figure {
    let id = format!("poptrie-fig12-{}", named.name);
    let mut engines = fast_ipv4();
    engines.insert(0, entrant(("tree_bitmap:stride=6", "Tree BitMap (64-ary)")));
    let mut field = Field::new(named, &engines);
    desk.step(2.0);
    let traffic = Traffic::File(Arc::clone(trace));
    let trials = [
        Trial::new(ONE, traffic.clone(), desk.setup(Mode::One)),
        Trial::new(BATCH, traffic, desk.setup(Mode::Batch)),
    ];
    let all = compare(desk, &id, &mut field, &trials);
    let mut conditions = all.conditions.clone();
    conditions.push(condition("the paper's", format!("REAL-RENET (516,100 prefixes), 97,126,495 packets of 2014; {PAPER_CPU}; its figure gives no numbers, its text ratios")));
    let mut findings = vec![depths(named, trace)];
    let rate = |spec| all.rate(ONE, spec);
    let claims = [
        ("tree_bitmap:stride=6", "Tree BitMap", 3.02),
        ("dxr:d=18", "D18R", 1.61),
        ("sail", "SAIL", 1.22),
    ];
    for (spec, name, paper) in claims {
        if let Some(times) = ratio(rate("poptrie:s=18"), rate(spec)) {
            let text = format!(
                "Poptrie18 is {times:.2} times as fast as {name}; in the paper {paper} times."
            );
            findings.push(claim(times > 1.0, text));
        }
    }
    Figure {
        title: format!("Destinations of real packets, {}", named.name),
        caption: "A trace with fewer destinations than the array begins again when it ends: a \
                  short one stays in the caches, which a long one would not."
            .into(),
        conditions,
        chart: Some(all.chart()),
        table: all.table(),
        findings,
        id,
    }
}

/// How deep the packets' addresses are, which decides the rates.
fn depths(named: Named<'_, Ipv4>, trace: &Destinations) -> Finding {
    let depths = Depths::new(named.rib);
    let deeper = |than: u8| {
        let deep = trace.ipv4.iter().filter(|addr| depths.of(**addr) > than).count();
        deep as f64 * 100.0 / trace.ipv4.len() as f64
    };
    remark(format!(
        "{:.1} % of the packets are deeper than 18 and {:.1} % deeper than 24; in the paper 32.5 % \
         and 21.8 % (4.7).",
        deeper(18),
        deeper(24)
    ))
}
