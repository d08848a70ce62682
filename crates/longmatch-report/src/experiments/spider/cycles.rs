//! The cycles of iterations: Figure 10 and Table 2.

use longmatch::Ipv4;
use longmatch_bench::Iteration;

use super::common::{POPTRIE18, SETTING, SPIDER, claim};
use crate::claim::{Claim, Judge, Needs, Pick, Q};
use crate::context::{ExperimentContext, Place, about_table, anchor};
use crate::declaration::{Absence, ChartKind, Figure, Papers, Rows};
use crate::distribution::{Ticks, about_clock, cycles, refusals, time};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};

const CYCLES: &str = "spider-fig10";

/// Mean, 50th, 75th, 90th and 99th percentile of an iteration (Table 2).
const TABLE_2: [(&str, [f64; 5]); 3] = [
    (POPTRIE18, [60.69, 58.0, 58.0, 60.0, 172.0]),
    ("dxr:d=18", [54.24, 52.0, 52.0, 54.0, 186.0]),
    (SPIDER, [200.27, 192.0, 214.0, 238.0, 352.0]),
];

pub(super) fn cycles_of_iterations() -> Experiment {
    let names = ["mean", "50th", "75th", "90th", "99th"];
    let paper = |i: usize| Papers {
        figure: CYCLES,
        family: "ipv4",
        run: names[i],
        metric: "cycles",
        x: None,
        values: TABLE_2.map(|(engine, values)| (engine, values[i])).to_vec(),
    };
    let of = |engine, run| Q::Of(Pick { engine, run, metric: "cycles", x: None });
    let fine = |run| vec![Needs::FineClock(of("dxr:d=18", run))];
    let with =
        |id, text, run, judge| Claim { needs: fine(run), ..claim(id, "V-D", "ipv4", text, judge) };
    Experiment {
        name: CYCLES,
        aliases: &["spider-table2"],
        source: "Spider paper, Figure 10 and Table 2",
        title: "Cycles of an iteration",
        about: "The cycles of one iteration that starts when everything before it has ended: one address for Poptrie18 \
                and D18R, sixteen for Spider and Folio.",
        setting: SETTING,
        work: Work::Own(run_cycles, |inputs, effort| {
            inputs.ipv4().len() as f64 * (4.0 * effort.cycles as f64 * 200e-9 + 2.0)
        }),
        figures: vec![Figure {
            id: CYCLES,
            title: "Distribution of cycles per iteration",
            caption: "The share of iterations that take at most this many cycles.",
            chart: ChartKind::Steps("share of lookups", ("cycles", "")),
            rows: Rows::Engines,
        }],
        papers: (0..names.len()).map(paper).collect(),
        claims: vec![
            with(
                "S10.1",
                "An iteration of Spider takes 3.3 times the cycles of one of Poptrie18 (the paper's text: four or \
                 more).",
                "mean",
                (of(SPIDER, "mean") / of(POPTRIE18, "mean")).within(2.2, 6.0),
            ),
            with(
                "S10.2",
                "An iteration of Spider takes 3.7 times the cycles of one of D18R (the paper's text: four or more).",
                "mean",
                (of(SPIDER, "mean") / of("dxr:d=18", "mean")).within(2.45, 6.0),
            ),
            with(
                "S10.3",
                "The median of D18R is slightly below that of Poptrie18 (1.12 times).",
                "50th",
                (of(POPTRIE18, "50th") / of("dxr:d=18", "50th")).within(1.0, 1.67),
            ),
            with(
                "S10.4",
                "Up to the 90th percentile Poptrie18 and D18R hardly vary (1.03 and 1.04 times the median).",
                "50th",
                Judge::Within(
                    [POPTRIE18, "dxr:d=18"]
                        .map(|it| (of(it, "90th") / of(it, "50th"), 1.0, 1.55))
                        .to_vec(),
                ),
            ),
        ],
    }
}

fn run_cycles(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    for named in context.inputs.some_ipv4()? {
        let engines =
            [(POPTRIE18, "Poptrie18"), ("dxr:d=18", "D18R"), (SPIDER, "Spider_16w"), ("folio", "")];
        let set = EngineSet::apart(named, &EngineUnderTest::all(&engines));
        context.step(2.0);
        let count = context.effort.cycles;
        let sixteen = |engine: &EngineUnderTest| match engine.spec.as_str() {
            SPIDER | "folio" => Iteration::Batch(16),
            _ => Iteration::One,
        };
        let (counter, timed) =
            time(&set, &sixteen, count, &mut || context.step(count as f64 * 200e-9));
        let anchor = anchor::<Ipv4>(CYCLES, named.name);
        context.condition(&anchor, "table", about_table(&set));
        about_clock(context, &anchor, &counter, count);
        let place = Place { figure: CYCLES, ..Place::default() };
        refusals(context, place, named, &set);
        for it in &timed {
            let ticks = Ticks::count(counter, it.ticks.iter().copied());
            cycles(context, place, named, &it.engine, &ticks);
        }
    }
    Ok(())
}
