//! The cycles of single lookups and of iterations: Figures 10 and 11 of the Poptrie paper, Figure 10 of the Spider paper.

use longmatch::Ipv4;
use longmatch_bench::Xorshift;

use crate::context::{ExperimentContext, FigureCell, about_table, anchor, at};
use crate::declaration::Skipped;
use crate::depths::Depths;
use crate::distribution::{CYCLES, SHARES, Ticks, Timed, about_clock, cycles, time};
use crate::engine_set::EngineSet;
use crate::inputs::{Effort, Named, SEED};

/// Estimated seconds of a lookup.
const LOOKUP: f64 = 110e-9;
/// The least number of lookups at a depth for a percentile.
const MANY: usize = 1000;

pub(super) fn seconds(engines: f64, effort: &Effort) -> f64 {
    engines * effort.cycles as f64 * LOOKUP + 4.0
}

/// Times the engines of the experiment. Its first figure has the distributions, its second one the depths, if it has
/// one.
pub(super) fn on_table(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, Ipv4>,
) -> Result<(), Skipped> {
    let experiment = context.experiment;
    let set = EngineSet::apart(named, &experiment.engines);
    let count = context.effort.cycles;
    context.step(3.0);
    let seconds = count as f64 * LOOKUP;
    let (counter, timed) = time(&set, count, &mut || context.step(seconds));
    for figure in &experiment.figures {
        let anchor = anchor::<Ipv4>(&figure.id, named.name);
        context.condition(&anchor, "table", about_table(&set));
        about_clock(context, &anchor, &counter, count);
    }
    let cell = FigureCell { figure: &experiment.figures[0].id, ..FigureCell::default() };
    for (engine, result) in &set.members {
        if let Err(reason) = result {
            let cell = FigureCell { run: "mean", ..cell };
            context.quantity(cell, named, engine, CYCLES, Err(reason.clone()));
        }
    }
    for Timed { engine, ticks } in &timed {
        cycles(context, cell, named, engine, &Ticks::new(counter, ticks.clone()));
    }
    let Some(figure) = experiment.figures.get(1) else { return Ok(()) };
    let depths = Depths::new(named.rib);
    let mut random = Xorshift::new(SEED);
    let depths: Vec<u8> = (0..count).map(|_| depths.of(random.next_u32())).collect();
    for Timed { engine, ticks } in &timed {
        let mut by_depth = vec![Vec::new(); 33];
        ticks.iter().zip(&depths).for_each(|(own, depth)| by_depth[usize::from(*depth)].push(*own));
        for (depth, ticks) in by_depth.into_iter().enumerate().filter(|(_, it)| !it.is_empty()) {
            let cell =
                FigureCell { figure: &figure.id, x: Some(depth as f64), ..FigureCell::default() };
            let ticks = Ticks::new(counter, ticks);
            context.note(at(cell, named, ticks.value(engine)));
            if ticks.len() >= MANY {
                let value = ticks.percentile(SHARES[3].1);
                context.count(cell, named, &engine.spec, ("95th percentile", "cycles"), value);
            }
        }
    }
    Ok(())
}
