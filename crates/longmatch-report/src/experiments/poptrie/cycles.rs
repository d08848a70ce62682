//! The cycles of single lookups: Figure 10, Table 4 and Figure 11.

use longmatch::Ipv4;
use longmatch_bench::{Iteration, Xorshift};

use super::common::{POPTRIE18, claim};
use crate::claim::{ABOVE, BELOW, Claim, Judge, Needs, Pick, Q};
use crate::context::{ExperimentContext, Place, about_table, anchor, at};
use crate::declaration::{Absence, ChartKind, Figure, Papers, Rows};
use crate::depths::Depths;
use crate::distribution::{SHARES, Ticks, about_clock, cycles, refusals, time};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};
use crate::inputs::{Named, SEED};

const ENGINES: [(&str, &str); 6] = [
    ("sail", "SAIL"),
    ("dxr:d=16", "D16R"),
    ("dxr:d=18", "D18R"),
    ("poptrie:s=16", "Poptrie16"),
    (POPTRIE18, "Poptrie18"),
    ("folio", ""),
];

/// Mean, 50th, 75th, 95th and 99th percentile on REAL-Tier1-A (Table 4).
const TABLE_4: [(&str, [f64; 5]); 5] = [
    ("sail", [57.43, 22.0, 76.0, 279.0, 299.0]),
    ("dxr:d=16", [60.92, 44.0, 49.0, 189.0, 255.0]),
    ("dxr:d=18", [54.84, 46.0, 48.0, 154.0, 207.0]),
    ("poptrie:s=16", [54.58, 43.0, 48.0, 150.0, 192.0]),
    (POPTRIE18, [53.59, 46.0, 48.0, 150.0, 169.0]),
];

const FIGURE_10: &str = "poptrie-fig10";
const FIGURE_11: &str = "poptrie-fig11";

/// The least number of lookups at a depth for a percentile.
const MANY: u64 = 1000;

pub(super) fn cycles_of_lookups() -> Experiment {
    let names = ["mean", "50th", "75th", "95th", "99th"];
    let paper = |i: usize| Papers {
        figure: FIGURE_10,
        family: "ipv4",
        run: names[i],
        metric: "cycles",
        x: None,
        values: TABLE_4.map(|(engine, values)| (engine, values[i])).to_vec(),
    };
    Experiment {
        name: "poptrie-cycles",
        aliases: &[FIGURE_10, "poptrie-table4", FIGURE_11],
        source: "Poptrie paper, Figure 10, Table 4 and Figure 11",
        title: "Cycles of single lookups",
        about: "The cycles of each single lookup, which starts when everything before it has ended: the distribution, \
                its percentiles, and the cycles by the binary radix depth of the address.",
        setting: "REAL-Tier1-A; Intel Core i7-4770K, a single-task operating system of the authors, 2^24 random \
                  addresses, 83 cycles of overhead subtracted",
        work: Work::Own(run, |inputs, effort| {
            inputs.ipv4().len() as f64 * (6.0 * effort.cycles as f64 * 110e-9 + 4.0)
        }),
        figures: vec![
            Figure {
                id: FIGURE_10,
                title: "Distribution of cycles per lookup",
                caption: "The share of lookups that take at most this many cycles. Interrupts are in the tail, beyond \
                          the 95th percentile.",
                chart: ChartKind::Steps("share of lookups", ("cycles", "")),
                rows: Rows::Engines,
            },
            Figure {
                id: FIGURE_11,
                title: "Cycles per lookup by binary radix depth",
                caption: "The same lookups by the depth of their address (4.1). Boxes are quartiles with the median, \
                          whiskers the 5th and the 95th percentile.",
                chart: ChartKind::Boxes("cycles", ("binary radix depth", "bits")),
                rows: Rows::Places,
            },
        ],
        papers: (0..names.len()).map(paper).collect(),
        claims: claims(),
    }
}

fn claims() -> Vec<Claim> {
    let of = |engine, run| Q::Of(Pick { engine, run, metric: "cycles", x: None });
    let by_depth = |engine, metric, depth| Q::Of(Pick { engine, run: "", metric, x: Some(depth) });
    let versus = |rival, run| of(rival, run) / of(POPTRIE18, run);
    let same = |dxr, poptrie, run| (of(dxr, run) / of(poptrie, run), 0.8, 1.25);
    let fine = |run| Needs::FineClock(of(POPTRIE18, run));
    let most = Q::Max(
        (1..=32).map(|depth| by_depth(POPTRIE18, "95th percentile", f64::from(depth))).collect(),
    );
    let deep = ["sail", "dxr:d=16", "dxr:d=18"]
        .into_iter()
        .flat_map(|engine| [24.0, 25.0].map(|depth| by_depth(engine, "95th percentile", depth)));
    let at_21 = |engine| by_depth(engine, "cycles", 21.0);
    let shallow = |engine: &str| {
        let all = ENGINES.iter().map(|it| it.0).filter(|it| *it == engine);
        let medians = all.flat_map(|it| (1..16).map(move |depth| (it, f64::from(depth))));
        medians.map(|(it, depth)| by_depth(it, "cycles", depth)).collect::<Vec<_>>()
    };
    let of_paper = || ENGINES.iter().map(|it| it.0).filter(|it| *it != "folio");
    let all_shallow: Vec<Q> = of_paper().flat_map(shallow).collect();
    let others = of_paper().filter(|it| *it != "dxr:d=16");
    let with = |needs, id, text, judge: Judge| Claim { needs, ..claim(id, "4.6", text, judge) };
    vec![
        with(
            vec![fine("99th")],
            "P10.1",
            "At the 99th percentile SAIL takes 1.75 to 1.77 times the cycles of Poptrie18.",
            versus("sail", "99th").within(1.16, 2.65),
        ),
        with(
            vec![fine("99th")],
            "P10.2",
            "At the 99th percentile D18R takes 1.13 to 1.22 times the cycles of Poptrie18.",
            versus("dxr:d=18", "99th").within(ABOVE, 1.85),
        ),
        with(
            vec![
                fine("50th"),
                Needs::Least(
                    1.0 * Q::Fact("L2"),
                    131_072.0,
                    "SAIL's first level exceeds the L2 here",
                ),
                Needs::Most(
                    1.0 * Q::Fact("L2"),
                    1_048_576.0,
                    "the direct entries of Poptrie18 fit the L2 here",
                ),
            ],
            "P10.3",
            "SAIL's median is half of Poptrie18's (0.48 times), because SAIL's first level fits the L2.",
            versus("sail", "50th").within(0.32, 0.72),
        ),
        with(
            vec![fine("95th")],
            "P10.4",
            "At the 95th percentile SAIL takes 1.86 times the cycles of Poptrie18.",
            versus("sail", "95th").within(1.24, 2.8),
        ),
        with(
            vec![fine("50th")],
            "P10.5",
            "Below 120 cycles D16R and Poptrie16, and D18R and Poptrie18, have almost the same distribution (medians \
             and 75th percentiles 1.00 to 1.02; the band is ours).",
            Judge::Within(vec![
                same("dxr:d=16", "poptrie:s=16", "50th"),
                same("dxr:d=16", "poptrie:s=16", "75th"),
                same("dxr:d=18", POPTRIE18, "50th"),
                same("dxr:d=18", POPTRIE18, "75th"),
            ]),
        ),
        with(
            vec![fine("95th")],
            "P11.1",
            "The 95th percentiles of SAIL and DXR at depths 24 and 25 far exceed that of Poptrie18 at any depth (234 \
             and 172; the band is ours).",
            (Q::Min(deep.collect()) / most).at_least(1.1),
        ),
        with(
            vec![Needs::FineClock(at_21(POPTRIE18))],
            "P11.2",
            "At depth 21 the median of D18R is below that of Poptrie18 (no number).",
            (at_21("dxr:d=18") / at_21(POPTRIE18)).within(0.4, BELOW),
        ),
        with(
            vec![Needs::FineClock(Q::Min(all_shallow.clone()))],
            "P11.3",
            "Below depth 16 all algorithms take similarly few cycles (medians below 50; here: within 2.5 times).",
            (Q::Max(all_shallow.clone()) / Q::Min(all_shallow.clone())).at_most(2.5),
        ),
        with(
            vec![Needs::FineClock(Q::Min(all_shallow))],
            "P11.4",
            "Below depth 16 the median of D16R is the greatest (no number).",
            Judge::Greater(
                others.map(|it| (Q::Max(shallow("dxr:d=16")), Q::Max(shallow(it)))).collect(),
            ),
        ),
    ]
}

fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    for named in context.inputs.some_ipv4()? {
        on_table(context, named);
    }
    Ok(())
}

fn on_table(context: &mut ExperimentContext<'_>, named: Named<'_, Ipv4>) {
    let set = EngineSet::apart(named, &EngineUnderTest::all(&ENGINES));
    let count = context.effort.cycles;
    let depths = Depths::new(named.rib);
    let mut random = Xorshift::new(SEED);
    let depths: Vec<u8> = (0..count).map(|_| depths.of(random.next_u32())).collect();
    context.step(3.0);
    let seconds = count as f64 * 110e-9;
    let (counter, timed) = time(&set, &|_| Iteration::One, count, &mut || context.step(seconds));
    for figure in [FIGURE_10, FIGURE_11] {
        let anchor = anchor::<Ipv4>(figure, named.name);
        context.condition(&anchor, "table", about_table(&set));
        about_clock(context, &anchor, &counter, count);
    }
    refusals(context, Place { figure: FIGURE_10, ..Place::default() }, named, &set);
    for engine in &timed {
        let all = Ticks::count(counter, engine.ticks.iter().copied());
        let place = Place { figure: FIGURE_10, ..Place::default() };
        cycles(context, place, named, &engine.engine, &all);
        let mut by_depth: Vec<_> = (0..33).map(|_| Ticks::count(counter, [])).collect();
        for (ticks, depth) in engine.ticks.iter().zip(&depths) {
            by_depth[usize::from(*depth)].note(*ticks);
        }
        for (depth, ticks) in by_depth.iter().enumerate().filter(|(_, ticks)| ticks.len() > 0) {
            let place = Place { figure: FIGURE_11, x: Some(depth as f64), ..Place::default() };
            context.note(at(place, named, ticks.value(&engine.engine)));
            if ticks.len() >= MANY {
                let value = ticks.percentile(SHARES[3].1);
                context.count(
                    place,
                    named,
                    &engine.engine.spec,
                    ("95th percentile", "cycles"),
                    value,
                );
            }
        }
    }
}
