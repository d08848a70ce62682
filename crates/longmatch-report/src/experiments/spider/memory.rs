//! Memory: Table 1.

use super::common::{DIR_24_8, POPTRIE18, SETTING, SPIDER, claim};
use crate::claim::{Claim, Judge, Needs, Q, of};
use crate::context::{ExperimentContext, MIB, Place};
use crate::declaration::{Absence, ChartKind, Figure, Papers, Rows};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};

pub(super) fn memory() -> Experiment {
    let figure = "spider-table1";
    let ratio = |rival| of(SPIDER, "memory") / of(rival, "memory");
    let full = || vec![Needs::Routes(300_000, u64::MAX)];
    let on = |id, text, needs, judge| Claim { needs, ..claim(id, "V-B", "ipv4", text, judge) };
    Experiment {
        name: figure,
        aliases: &[],
        source: "Spider paper, Table 1",
        title: "Memory",
        about: "The bytes of the structures.",
        setting: SETTING,
        work: Work::Own(count, |inputs, _| inputs.ipv4().len() as f64),
        figures: vec![Figure {
            id: figure,
            title: "Memory",
            caption: "Counted in the compiled structures.",
            chart: ChartKind::Bars("memory"),
            rows: Rows::Engines,
        }],
        papers: vec![Papers {
            figure,
            family: "ipv4",
            run: "",
            metric: "memory",
            x: None,
            values: vec![(POPTRIE18, 1.25), ("dxr:d=18", 1.29), (SPIDER, 9.32), (DIR_24_8, 64.15)],
        }],
        claims: vec![
            on(
                "S1.1",
                "Spider takes 7.5 to 8.6 times the memory of Poptrie18.",
                full(),
                ratio(POPTRIE18).within(5.0, 12.9),
            ),
            on(
                "S1.2",
                "Spider takes 7.2 to 8.3 times the memory of D18R.",
                full(),
                ratio("dxr:d=18").within(4.8, 12.4),
            ),
            on(
                "S1.3",
                "DIR-24-8 is by far the largest structure, followed by Spider, then Poptrie18 and D18R.",
                Vec::new(),
                Judge::Greater(vec![
                    (of(DIR_24_8, "memory"), of(SPIDER, "memory")),
                    (of(SPIDER, "memory"), of(POPTRIE18, "memory")),
                    (of(SPIDER, "memory"), of("dxr:d=18", "memory")),
                ]),
            ),
            on(
                "S1.4",
                "A node of Spider is a row of 256 entries of 4 bytes; every table has 257 further rows.",
                Vec::new(),
                Judge::Exact(vec![(of(SPIDER, "bytes beside rows"), 0.0, 0)]),
            ),
            on(
                "S1.5",
                "Spider fits the last-level cache (22 MiB).",
                vec![Needs::Routes(0, 900_000)],
                (2f64.powi(20) * of(SPIDER, "memory") / Q::Fact("L3")).at_most(1.0),
            ),
        ],
    }
}

fn count(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    for named in context.inputs.some_ipv4()? {
        let engines = [
            (POPTRIE18, "Poptrie18"),
            ("dxr:d=18", "D18R"),
            (SPIDER, "Spider_16w"),
            (DIR_24_8, "DIR-24-8"),
            ("folio", ""),
        ];
        let set = EngineSet::apart(named, &EngineUnderTest::all(&engines));
        let place = Place { figure: "spider-table1", ..Place::default() };
        for (engine, target) in set.targets() {
            let Some(target) = target else { continue };
            let mib = target.memory().bytes() as f64 / MIB;
            context.count(place, named, &engine.spec, ("memory", "MiB"), mib);
            if engine.spec == SPIDER {
                let besides = target.memory().bytes() % (256 * size_of::<u32>());
                context.count(place, named, SPIDER, ("bytes beside rows", ""), besides as f64);
            }
        }
        context.step(1.0);
    }
    Ok(())
}
