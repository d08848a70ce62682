//! The cycles of single lookups and of iterations: Figures 10 and 11 of the Poptrie paper, Figure 10 of the Spider paper.

use longmatch::Ipv4;
use longmatch_bench::{Iteration, Xorshift};

use crate::context::{ExperimentContext, Place, about_table, anchor, at};
use crate::declaration::Absence;
use crate::depths::Depths;
use crate::distribution::{SHARES, Ticks, Timed, about_clock, cycles, refusals, time};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::inputs::{Effort, Inputs, Named, SEED};

/// Estimated seconds of a lookup.
const LOOKUP: f64 = 110e-9;
/// The least number of lookups at a depth for a percentile.
const MANY: u64 = 1000;

/// Returns the estimated seconds.
pub(super) fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    inputs.ipv4().len() as f64 * (6.0 * effort.cycles as f64 * LOOKUP + 4.0)
}

/// Times the engines of the experiment. Its first figure has the distributions, its second one the depths, if it has
/// one.
pub(super) fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    for named in context.inputs.some_ipv4()? {
        on_table(context, named);
    }
    Ok(())
}

fn on_table(context: &mut ExperimentContext<'_>, named: Named<'_, Ipv4>) {
    let experiment = context.experiment;
    let set = EngineSet::apart(named, &EngineUnderTest::declared(&experiment.engines));
    let count = context.effort.cycles;
    context.step(3.0);
    let iteration = |it: &EngineUnderTest| it.batch.map_or(Iteration::One, Iteration::Batch);
    let seconds = count as f64 * LOOKUP;
    let (counter, timed) = time(&set, &iteration, count, &mut || context.step(seconds));
    for figure in &experiment.figures {
        let anchor = anchor::<Ipv4>(&figure.id, named.name);
        context.condition(&anchor, "table", about_table(&set));
        about_clock(context, &anchor, &counter, count);
    }
    let place = Place { figure: &experiment.figures[0].id, ..Place::default() };
    refusals(context, place, named, &set);
    for engine in &timed {
        let all = Ticks::count(counter, engine.ticks.iter().copied());
        cycles(context, place, named, &engine.engine, &all);
    }
    if let Some(figure) = experiment.figures.get(1) {
        let depths = Depths::new(named.rib);
        let mut random = Xorshift::new(SEED);
        let depths: Vec<u8> = (0..count).map(|_| depths.of(random.next_u32())).collect();
        for engine in &timed {
            let mut all: Vec<_> = (0..33).map(|_| Ticks::count(counter, [])).collect();
            for (ticks, depth) in engine.ticks.iter().zip(&depths) {
                all[usize::from(*depth)].note(*ticks);
            }
            by_depth(context, &figure.id, named, engine, &all);
        }
    }
}

fn by_depth(
    context: &mut ExperimentContext<'_>,
    figure: &str,
    named: Named<'_, Ipv4>,
    Timed { engine, .. }: &Timed,
    all: &[Ticks],
) {
    for (depth, ticks) in all.iter().enumerate().filter(|(_, ticks)| ticks.len() > 0) {
        let place = Place { figure, x: Some(depth as f64), ..Place::default() };
        context.note(at(place, named, ticks.value(engine)));
        if ticks.len() >= MANY {
            let value = ticks.percentile(SHARES[3].1);
            context.count(place, named, &engine.spec, ("95th percentile", "cycles"), value);
        }
    }
}
