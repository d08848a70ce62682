//! Memory in small pages and in huge pages.

use longmatch::EngineKind;
use longmatch_bench::{BenchFamily, Traffic};

use super::common::{BATCH, ours};
use crate::context::{ExperimentContext, Place};
use crate::context::{OnTable, on_first};
use crate::declaration::{Absence, ChartKind, Figure, Rows, RunSpec};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};
use crate::huge::{Backing, Pages, within};
use crate::inputs::Named;

const ENGINES: [&str; 7] = ["folio", "poptrie", "dxr", "dxr:d=21", "dir24_8", "sail", "spider"];

/// The kinds of pages, with the position of their values in words.
const KINDS: [(Pages, &str); 2] =
    [(Pages::Ordinary, "pages of 4 KiB"), (Pages::Huge, "huge pages")];

const FIGURE: &str = "huge-pages";

struct Huge;

pub(super) fn huge_pages() -> Experiment {
    ours(
        FIGURE,
        "Huge pages",
        "Each engine twice in one comparison: with its memory in the smallest pages, and in pages of 2 MiB. In small \
         pages a large structure needs more address translations than the TLB holds.",
        Work::Own((
            |context| on_first(context, &Huge),
            |inputs, effort| {
                let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
                tables as f64 * (effort.rates(2 * ENGINES.len(), true) + 1.5)
            },
        )),
        vec![Figure {
            id: FIGURE.into(),
            title: "Huge pages on and off".into(),
            caption: "Batches of routed addresses. The system reports the memory in huge pages after compiling; a \
                      block that covers no whole huge page stays in small pages. Large blocks exceed the memory that \
                      lookups read if an engine keeps spare capacity.".into(),
            chart: ChartKind::Bars("rate".into()),
            rows: Rows::Engines,
            words: Vec::new(),
        }],
    )
}

impl OnTable for Huge {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        let kind = |spec: &str| spec.split(':').next().and_then(|name| name.parse().ok());
        let has = |spec: &&str| kind(spec).is_some_and(|kind: EngineKind| F::has(kind));
        let engines = ENGINES.into_iter().filter(has).flat_map(|spec| {
            KINDS.map(|(_, at)| EngineUnderTest { at, ..EngineUnderTest::new(spec, "") })
        });
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
        let setup = context.setup(&RunSpec { brief: true, ..BATCH });
        context.measure(Place { figure: FIGURE, ..Place::default() }, &set, &workload, &setup);
        for (spec, at, backing) in backings {
            let place = Place { figure: FIGURE, at, ..Place::default() };
            context.count(place, named, &spec, ("large blocks", "B"), backing.bytes as f64);
            context.count(place, named, &spec, ("in huge pages", "B"), backing.huge as f64);
        }
        Ok(())
    }
}
