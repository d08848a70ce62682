//! The number of ways: Figure 6.

use super::common::{DIR_24_8, ONE, POPTRIE18, SETTING, SIXTEEN, claim, with_vectors};
use crate::claim::{Judge, Over, rate};
use crate::context::{ExperimentContext, OnTable, Place, on_first};
use crate::declaration::{Absence, ChartKind, Figure, Papers, Rows, RunSpec, TrafficKind};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};
use crate::inputs::Named;
use longmatch_bench::BenchFamily;

struct Ways;

const WAYS: &str = "spider-fig6";
/// The greatest number of ways.
const MOST_WAYS: usize = 16;

pub(super) fn ways() -> Experiment {
    let (over, run) = (Over { engine: "spider", run: "", metric: "rate" }, "");
    let gain =
        |low, high| (rate("spider", run).at(16.0) / rate("spider", run).at(1.0)).within(low, high);
    let paper = |family, mlps| Papers {
        figure: WAYS,
        family,
        run,
        metric: "rate",
        x: Some(16.0),
        values: vec![("spider", mlps)],
    };
    Experiment {
        name: WAYS,
        aliases: &["spider-parallelism"],
        source: "Spider paper, Figure 6",
        title: "Spider's rate by its number of ways",
        about: "The rate of Spider under random traffic with 1 to 16 ways: addresses that it looks up at once in the \
                lanes of vectors.",
        setting: SETTING,
        work: Work::Own(
            |context| on_first(context, &Ways),
            |inputs, effort| {
                let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
                tables as f64 * (effort.rates(MOST_WAYS + 4, true) + 4.0)
            },
        ),
        figures: vec![Figure {
            id: WAYS,
            title: "Rate by ways",
            caption: "A batch has as many addresses as Spider has ways. Dashed: the others, one address after the \
                      other.",
            chart: ChartKind::Lines("rate", ("ways", ""), [false, false]),
            rows: Rows::Places,
        }],
        papers: vec![paper("ipv4", 516.0), paper("ipv6", 188.0)],
        claims: [
            claim("S6.1", "V-B", "ipv4", "16 ways are 6.9 times as fast as one.", gain(4.6, 10.4)),
            claim("S6.2", "V-B", "ipv6", "16 ways are 8.2 times as fast as one.", gain(5.5, 12.3)),
            claim(
                "S6.3",
                "V-B",
                "ipv4",
                "The rate grows with the number of ways.",
                Judge::Monotone(over, 0.06),
            ),
            claim(
                "S6.4",
                "V-B",
                "ipv6",
                "The rate grows with the number of ways.",
                Judge::Monotone(over, 0.06),
            ),
            claim(
                "S6.5",
                "V-B",
                "ipv6",
                "From 8 to 9 ways the rate stagnates, because the generator runs twice.",
                (rate("spider", run).at(9.0) / rate("spider", run).at(8.0)).within(0.75, 1.06),
            ),
            claim(
                "S6.6",
                "V-B",
                "ipv4",
                "Spider is faster than the others with 8 or more ways, and slower with 6 or fewer.",
                Judge::Crossover(
                    over,
                    [POPTRIE18, "dxr:d=18", DIR_24_8].map(|it| rate(it, run)).to_vec(),
                    6.0,
                    8.0,
                ),
            ),
            claim(
                "S6.7",
                "V-B",
                "ipv6",
                "Spider is faster than the others with 7 or more ways (the paper does not say with how many it is \
                 slower).",
                Judge::Crossover(
                    over,
                    [POPTRIE18, DIR_24_8].map(|it| rate(it, run)).to_vec(),
                    0.0,
                    7.0,
                ),
            ),
        ]
        .map(with_vectors)
        .into(),
    }
}

impl OnTable for Ways {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        let Some(traffic) = context.traffic(TrafficKind::SpiderRandom) else {
            return Ok(());
        };
        let mut others = vec![(POPTRIE18, "Poptrie18"), (DIR_24_8, "DIR-24-8")];
        if F::WIDTH == 32 {
            others.push(("dxr:d=18", "D18R"));
        }
        let set = EngineSet::apart(named, &EngineUnderTest::all(&others));
        let place = Place { figure: WAYS, ..Place::default() };
        if let Some(workload) = context.workload(&set, &traffic) {
            let setup = context.setup(&RunSpec { brief: true, ..ONE });
            context.measure(place, &set, &workload, &setup);
        }
        context.step(2.0);
        for ways in 1..=MOST_WAYS {
            let engine = EngineUnderTest::new(format!("spider:lanes={ways}"), "Spider");
            let mut set = EngineSet::apart(named, &[engine]);
            let Some(workload) = context.workload(&set, &traffic) else { continue };
            // All numbers of ways are one line of the chart, so they share an engine.
            set.members.iter_mut().for_each(|(engine, _)| engine.spec = "spider".into());
            let setup = context.setup(&RunSpec { batch: ways, brief: true, ..SIXTEEN });
            context.measure(Place { x: Some(ways as f64), ..place }, &set, &workload, &setup);
        }
        Ok(())
    }
}
