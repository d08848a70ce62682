//! Addresses without a route.

use longmatch_bench::BenchFamily;

use super::common::{BATCH, ours};
use crate::context::{ExperimentContext, OnTable, Place, on_first};
use crate::declaration::{Absence, ChartKind, Figure, Rows, RunSpec};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};
use crate::inputs::{Named, SEED};
use crate::synthetic::missing;

struct Misses;

pub(super) fn misses() -> Experiment {
    let id = "misses";
    ours(
        id,
        "Addresses without a route",
        "Rates when none, half or all of the addresses have no route. A routed address is a random route with random \
         host bits; the others are random among all addresses outside all routes.",
        Work::Own((
            |context| on_first(context, &Misses),
            |inputs, effort| {
                let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
                tables as f64 * (effort.rates(3 * 6, true) + 1.5)
            },
        )),
        vec![Figure {
            id: id.into(),
            title: "Rates by the share of misses".into(),
            caption: "Batches. Addresses with and without a route are mixed at random, so that no branch is \
                      predictable.".into(),
            chart: ChartKind::Lines("rate".into(), ("addresses without a route".into(), "%".into()), [false, false]),
            rows: Rows::Places,
            words: Vec::new(),
        }],
    )
}

impl OnTable for Misses {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        if missing(named.rib, 100, 1, SEED).is_none() {
            return Ok(());
        }
        let engines = ["folio", "poptrie", "dxr", "dir24_8", "tree_bitmap", "radix"];
        let set = EngineSet::apart(named, &EngineUnderTest::unnamed(&engines));
        context.step(0.6);
        let setup = context.setup(&RunSpec { brief: true, ..BATCH });
        for percent in [0, 50, 100] {
            let traffic = missing(named.rib, percent, F::KEYS.min(context.effort.keys), SEED);
            let Some(traffic) = traffic else { continue };
            let Some(workload) = context.workload(&set, &traffic) else { continue };
            context.step(0.3);
            let place = Place { figure: "misses", x: Some(percent as f64), ..Place::default() };
            context.measure(place, &set, &workload, &setup);
        }
        Ok(())
    }
}
