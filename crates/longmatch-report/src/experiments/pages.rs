//! Memory in small pages and in huge pages.

use longmatch_bench::{BenchFamily, Mode, Traffic};

use crate::context::{ExperimentContext, OnTable, Place, on_first};
use crate::declaration::Absence;
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::huge::{Backing, Pages, within};
use crate::inputs::{Effort, Inputs, Named};

/// The number of engines, for the estimate.
const ENGINES: usize = 7;

/// The kinds of pages, with the position of their values in words.
const KINDS: [(Pages, &str); 2] =
    [(Pages::Ordinary, "pages of 4 KiB"), (Pages::Huge, "huge pages")];

const FIGURE: &str = "huge-pages";

struct Huge;

pub(super) fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
    tables as f64 * (effort.rates(2 * ENGINES, true) + 1.5)
}

pub(super) fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    on_first(context, &Huge)
}

impl OnTable for Huge {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        let engines = EngineUnderTest::declared(&context.experiment.engines).into_iter();
        let engines = engines
            .filter(EngineUnderTest::exists_for::<F>)
            .flat_map(|it| KINDS.map(|(_, at)| EngineUnderTest { at, ..it.clone() }));
        let mut backings: Vec<(String, &str, Backing)> = Vec::new();
        let engines: Vec<_> = engines.collect();
        let set = EngineSet::with(named, &engines, &mut |comparison, engine, spec| {
            let (pages, at) = KINDS.into_iter().find(|it| it.1 == engine.at).unwrap_or(KINDS[0]);
            let (added, backing) = within(pages, || comparison.add_duplicate(spec));
            if added.is_ok() {
                backings.push((engine.spec.clone(), at, backing));
            }
            added
        });
        if backings.iter().all(|(_, at, backing)| *at == KINDS[0].1 || backing.huge == 0) {
            let why = "the system gives no huge pages: this needs Linux 6.1 or later with transparent huge pages \
                       (/sys/kernel/mm/transparent_hugepage/enabled not set to never), the GNU C library, and \
                       structures of 2 MiB or more";
            return Err(Absence(why.into()));
        }
        context.step(1.2);
        let Some(workload) = context.workload(&set, &Traffic::Routed) else { return Ok(()) };
        let setup = context.brief(Mode::Batch);
        context.measure(Place { figure: FIGURE, ..Place::default() }, &set, &workload, &setup);
        for (spec, at, backing) in backings {
            let place = Place { figure: FIGURE, at, ..Place::default() };
            context.count(place, named, &spec, ("large blocks", "B"), backing.bytes as f64);
            context.count(place, named, &spec, ("in huge pages", "B"), backing.huge as f64);
        }
        Ok(())
    }
}
