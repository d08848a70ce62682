//! Counts of tables: Table 1 and Figure 7 of the Poptrie paper.

use std::collections::HashSet;

use longmatch::Ipv4;
use longmatch_bench::{BenchFamily, syn1, syn2};

use crate::context::{ExperimentContext, FigureCell, at};
use crate::declaration::Skipped;
use crate::depths::{Depths, blocks};
use crate::inputs::Named;
use crate::record::Value;

/// Counts the prefixes and next hops of a table, and of its shorter prefixes split in the paper's two ways.
pub(in super::super) fn count_with_split(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, Ipv4>,
) -> Result<(), Skipped> {
    count_as(context, named, "the table");
    for (run, rib) in [("SYN1", syn1(named.rib)), ("SYN2", syn2(named.rib))] {
        count_as(context, Named { rib: &rib, ..named }, run);
    }
    context.step(2.0);
    Ok(())
}

/// Counts the prefixes and next hops of a table.
pub(in super::super) fn count<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
) -> Result<(), Skipped> {
    count_as(context, named, "the table");
    context.step(2.0);
    Ok(())
}

fn count_as<F: BenchFamily>(context: &mut ExperimentContext<'_>, named: Named<'_, F>, run: &str) {
    let usual = if F::WIDTH == 32 { 24 } else { 48 };
    let long = named.rib.iter().filter(|route| route.prefix.len() > usual).count();
    let next_hops: HashSet<_> = named.rib.iter().map(|route| route.next_hop).collect();
    let counts = [
        ("prefixes", named.rib.len()),
        ("next hops", next_hops.len()),
        ("long prefixes", long),
        ("ranges", named.rib.ranges().coalesced().count()),
    ];
    let cell = FigureCell { figure: "poptrie-table1", run, ..FigureCell::default() };
    for (metric, count) in counts {
        context.count(cell, named, "", (metric, ""), count as f64);
    }
}

/// Columns of the map: no route, then the lengths 0 to 32.
const COLUMNS: usize = 34;
const DEPTHS: usize = 33;

/// Counts the addresses by matching length and depth.
pub(in super::super) fn count_depths(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, Ipv4>,
) -> Result<(), Skipped> {
    let mut counts = [[0u64; DEPTHS]; COLUMNS];
    blocks(named.rib, &mut |block| {
        let column = block.matched.map_or(0, |len| usize::from(len) + 1);
        counts[column][usize::from(block.depth)] += 1 << (32 - block.prefix.len());
    });
    let cell = FigureCell { figure: "poptrie-fig7", ..FigureCell::default() };
    for (column, depths) in counts.iter().enumerate() {
        let name = if column == 0 { "none".to_owned() } else { format!("/{}", column - 1) };
        for (depth, count) in depths.iter().enumerate().filter(|(_, count)| **count > 0) {
            let value = Value {
                x: Some(depth as f64),
                at: name.clone(),
                metric: "addresses".into(),
                value: Some(*count as f64),
                ..Value::default()
            };
            context.note(at(cell, named, value));
        }
    }
    let deeper = |than: usize| counts.iter().flat_map(|depths| &depths[than + 1..]).sum::<u64>();
    let percent = |count: u64| count as f64 * 100.0 / 2f64.powi(32);
    let long = named.rib.iter().filter(|route| route.prefix.len() > 24).count();
    for (metric, unit, value) in [
        ("deeper than 18", "%", percent(deeper(18))),
        ("deeper than 24", "%", percent(deeper(24))),
        ("longer than /24", "%", long as f64 * 100.0 / named.rib.len() as f64),
        ("/8 at depth 24", "", counts[9][24] as f64),
    ] {
        context.count(cell, named, "", (metric, unit), value);
    }
    context.step(1.0);
    let Some(trace) = &context.inputs.trace else { return Ok(()) };
    let depths = Depths::new(named.rib);
    let packets: Vec<u8> = trace.ipv4.iter().map(|address| depths.of(*address)).collect();
    for (metric, than) in [("packets deeper than 18", 18), ("packets deeper than 24", 24)] {
        let deeper = packets.iter().filter(|depth| **depth > than).count();
        let percent = deeper as f64 * 100.0 / packets.len().max(1) as f64;
        context.count(cell, named, "", (metric, "%"), percent);
    }
    Ok(())
}
