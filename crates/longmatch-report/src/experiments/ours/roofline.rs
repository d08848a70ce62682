//! Rates beside the roofline of the machine.

use longmatch_bench::{BenchFamily, Traffic};

use super::common::{BATCH, ours};
use crate::context::{ExperimentContext, OnTable, Place, at, on_all};
use crate::declaration::{Absence, ChartKind, Figure, Rows};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};
use crate::inputs::Named;
use crate::record::Value;

struct Roofline;

pub(super) fn roofline() -> Experiment {
    let id = "roofline";
    ours(
        id,
        "The machine's roofline",
        "The roofline of an engine with a fixed number of reads: as many independent reads, from tables of the same \
         sizes, for the same addresses, in the same run. Time beyond the roofline comes from dependent reads and from \
         instructions, not from the size of memory.",
        Work::Own((
            |context| on_all(context, &Roofline),
            |inputs, effort| {
                let tables = inputs.ipv4().len() + inputs.ipv6().len();
                tables as f64 * (2.0 * effort.rates(8, false) + 3.0)
            },
        )),
        vec![Figure {
            id: id.into(),
            title: "Rates beside their rooflines".into(),
            caption: "Batches of 256. An engine can exceed its roofline for two reasons. The roofline scatters \
                      addresses over its tables, while an engine may find neighbours in one cache line. The roofline \
                      makes every read for every address, while many lookups end earlier.".into(),
            chart: ChartKind::Bars("rate".into()),
            rows: Rows::Engines,
            words: Vec::new(),
        }],
    )
}

impl OnTable for Roofline {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        let engines = EngineUnderTest::unnamed(&["folio", "dir24_8", "spider", "poptrie"]);
        let set = EngineSet::apart(named, &engines);
        context.step(2.0);
        for (name, traffic) in [("random", Traffic::Random), ("routed", Traffic::Routed)] {
            let Some(workload) = context.workload(&set, &traffic) else { continue };
            let setup = longmatch_bench::RunConfig { roofline: true, ..context.setup(&BATCH) };
            let place = Place { figure: "roofline", run: name, ..Place::default() };
            for it in context.measure(place, &set, &workload, &setup) {
                let (Some(roofline), Some(record)) = (&it.roofline, it.record()) else { continue };
                let engine = format!("roofline of {}", it.engine.spec);
                let value = Value { engine, mode: "batch".into(), ..Value::default() };
                context.note(at(place, named, roofline.rate(value)));
                if let Some((rate, most)) = record.mlps.zip(roofline.mlps) {
                    let name = ("share of the roofline", "%");
                    context.count(place, named, &it.engine.spec, name, 100.0 * rate / most);
                }
            }
        }
        Ok(())
    }
}
