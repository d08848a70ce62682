//! Memory in small pages and in huge pages.

use longmatch_bench::{BenchFamily, Mode, Traffic};

use crate::context::{ExperimentContext, FigureCell};
use crate::declaration::{CalledEngine, Skipped};
use crate::engine_set::EngineSet;
use crate::huge::{Backing, Pages, within};
use crate::inputs::{Effort, Named};

/// The kinds of pages, with the position of their values in words.
const KINDS: [(Pages, &str); 2] =
    [(Pages::Ordinary, "pages of 4 KiB"), (Pages::Huge, "huge pages")];

const FIGURE: &str = "huge-pages";

pub(super) fn seconds(engines: f64, effort: &Effort) -> f64 {
    effort.rates(2 * engines as usize, true) + 1.5
}

pub(super) fn on_table<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
) -> Result<(), Skipped> {
    let engines = context.experiment.engines.iter().filter(|it| it.exists_for::<F>());
    let twice =
        engines.flat_map(|it| KINDS.map(|(_, at)| CalledEngine { at: at.into(), ..it.clone() }));
    let mut backings: Vec<(String, &str, Backing)> = Vec::new();
    let set = EngineSet::with(named, &twice.collect::<Vec<_>>(), |comparison, engine, spec| {
        let (pages, at) = KINDS.into_iter().find(|it| it.1 == engine.at).unwrap_or(KINDS[0]);
        let (added, backing) = within(pages, || comparison.add_duplicate(spec));
        if added.is_ok() {
            backings.push((engine.spec.clone(), at, backing));
        }
        added
    });
    if backings.iter().all(|(_, at, backing)| *at == KINDS[0].1 || backing.huge == 0) {
        let why = "the system gives no huge pages: this needs Linux 6.1 or later with transparent huge pages \
                   (/sys/kernel/mm/transparent_hugepage/enabled not set to never), the GNU C library, and structures \
                   of 2 MiB or more";
        return Err(Skipped(why.into()));
    }
    context.step(1.2);
    let Some(workload) = context.workload(&set, &Traffic::Routed) else { return Ok(()) };
    let setup = context.brief(Mode::Batch);
    context.measure(
        FigureCell { figure: FIGURE, ..FigureCell::default() },
        &set,
        &workload,
        &setup,
    );
    for (spec, at, backing) in backings {
        let cell = FigureCell { figure: FIGURE, at, ..FigureCell::default() };
        context.count(cell, named, &spec, ("large blocks", "B"), backing.bytes as f64);
        context.count(cell, named, &spec, ("in huge pages", "B"), backing.huge as f64);
    }
    Ok(())
}
