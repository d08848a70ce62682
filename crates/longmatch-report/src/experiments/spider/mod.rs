//! Y. Ueno, R. Nakamura, Y. Kuga, H. Esaki, Spider (IEEE Access 2020), section V.

mod batched;
mod cores;
mod cycles;
mod frequency;

use longmatch_bench::{BenchFamily, Mode};

use crate::claim::{Claim, Judge, Needs, Over, Q, of, rate};
use crate::context::{ExperimentContext, MIB, Place};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{
    Absence, Axis, ChartKind, Experiment, Figure, Papers, Rates, Rows, RunSpec, Tables,
    TrafficKind, Work,
};
use crate::inputs::{Named, OnTable, on_first};

/// The experiments, in the order of the paper.
pub(super) fn all() -> Vec<Experiment> {
    vec![
        frequency::frequency(),
        memory(),
        ways(),
        comparison(),
        cycles::cycles_of_iterations(),
        cores::cores(),
        batched::batched_updates(),
    ]
}

const SETTING: &str = "Intel Xeon Gold 6130, 16 cores, 2.1 GHz (3.7 with turbo), 22 MiB of L3; full tables of two ISPs: \
                       IPv4 773,822 and 776,684 routes, IPv6 77,674 and 78,156; values of ISP-A where the paper names one";

const SPIDER: &str = "spider:lanes=16";
const POPTRIE18: &str = "poptrie:s=18";
/// The paper's DIR-24-8 is that of DPDK, with entries of 32 bits.
const DIR_24_8: &str = "dir24_8:entry=32";

/// One after the other, each key made just before (V-A).
const ONE: RunSpec = RunSpec {
    name: "random",
    traffic: TrafficKind::SpiderRandom,
    mode: Mode::One,
    batch: 1,
    just_in_time: true,
    axis: Axis::None,
    brief: false,
};
/// An iteration of Spider: sixteen keys made just before.
const SIXTEEN: RunSpec = RunSpec { mode: Mode::Batch, batch: 16, ..ONE };

fn claim(
    id: &'static str,
    section: &'static str,
    family: &'static str,
    text: &'static str,
    judge: Judge,
) -> Claim {
    Claim { id, section, text, family, needs: Vec::new(), judge }
}

fn memory() -> Experiment {
    let figure = "spider-table1";
    let ratio = |rival| of(SPIDER, "memory") / of(rival, "memory");
    let full = || vec![Needs::Routes(300_000, u64::MAX)];
    let on = |id, text, needs, judge| Claim { needs, ..claim(id, "V-B", "ipv4", text, judge) };
    Experiment {
        name: figure,
        aliases: &[],
        source: "Spider paper, Table 1",
        title: "Memory",
        about: "Bytes of the structures, counted.",
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
                "DIR-24-8 is by far the largest, then Spider, then Poptrie18 and D18R.",
                Vec::new(),
                Judge::Greater(vec![
                    (of(DIR_24_8, "memory"), of(SPIDER, "memory")),
                    (of(SPIDER, "memory"), of(POPTRIE18, "memory")),
                    (of(SPIDER, "memory"), of("dxr:d=18", "memory")),
                ]),
            ),
            on(
                "S1.4",
                "A node of Spider is a row of 256 entries of 4 bytes; 257 more rows come with every table.",
                Vec::new(),
                Judge::Exact(vec![(of(SPIDER, "bytes beside rows"), 0.0, 0)]),
            ),
            on(
                "S1.5",
                "Spider fits the last cache (22 MiB).",
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

struct Ways;

const WAYS: &str = "spider-fig6";
/// The numbers of ways.
const MOST_WAYS: usize = 16;

fn ways() -> Experiment {
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
        about: "How the rate of Spider grows with the addresses that are looked up at the same time in the lanes of \
                vectors, from 1 to 16, with random traffic.",
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
            caption: "Batches of as many addresses as ways. Dashed: the others, one address after the other.",
            chart: ChartKind::Lines("rate", ("ways", ""), [false, false]),
            rows: Rows::Places,
        }],
        papers: vec![paper("ipv4", 516.0), paper("ipv6", 188.0)],
        claims: vec![
            claim("S6.1", "V-B", "ipv4", "16 ways are 6.9 times as fast as one.", gain(4.6, 10.4)),
            claim("S6.2", "V-B", "ipv6", "16 ways are 8.2 times as fast as one.", gain(5.5, 12.3)),
            claim(
                "S6.3",
                "V-B",
                "ipv4",
                "The rate grows with the ways.",
                Judge::Monotone(over, 0.06),
            ),
            claim(
                "S6.4",
                "V-B",
                "ipv6",
                "The rate grows with the ways.",
                Judge::Monotone(over, 0.06),
            ),
            claim(
                "S6.5",
                "V-B",
                "ipv6",
                "From 8 to 9 ways the rate stagnates, as the generator runs twice.",
                (rate("spider", run).at(9.0) / rate("spider", run).at(8.0)).within(0.75, 1.06),
            ),
            claim(
                "S6.6",
                "V-B",
                "ipv4",
                "With 8 ways or more Spider is faster than the others, with 6 or fewer slower.",
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
                "With 7 ways or more Spider is faster than the others (fewer: not said).",
                Judge::Crossover(
                    over,
                    [POPTRIE18, DIR_24_8].map(|it| rate(it, run)).to_vec(),
                    0.0,
                    7.0,
                ),
            ),
        ],
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
            // One line of the chart: the number of ways is its place.
            set.members.iter_mut().for_each(|(engine, _)| engine.spec = "spider".into());
            let setup = context.setup(&RunSpec { batch: ways, brief: true, ..SIXTEEN });
            context.measure(Place { x: Some(ways as f64), ..place }, &set, &workload, &setup);
        }
        Ok(())
    }
}

/// The rivals, each with the paper's name.
const RIVALS: [(&str, &str); 5] = [
    (POPTRIE18, "Poptrie18"),
    ("poptrie:s=16", "Poptrie16"),
    ("dxr:d=18", "D18R"),
    ("dxr:d=16", "D16R"),
    (DIR_24_8, "DIR-24-8"),
];

fn comparison() -> Experiment {
    let figure = "spider-fig9";
    let trace = |run: RunSpec| RunSpec {
        name: "trace",
        traffic: TrafficKind::Trace,
        just_in_time: false,
        ..run
    };
    let of = |tables, engines: &[(&'static str, &'static str)], run| Rates {
        figure,
        tables,
        engines: engines.to_vec(),
        runs: vec![run, trace(run)],
        parts: &[],
    };
    let rivals = |keep: fn(&str) -> bool| {
        RIVALS.into_iter().filter(|(spec, _)| keep(spec)).collect::<Vec<_>>()
    };
    let (four, six) = (rivals(|_| true), rivals(|spec| !spec.starts_with("dxr")));
    let spider = [(SPIDER, "Spider_16w")];
    let versus = |rival, run| rate(SPIDER, run) / rate(rival, run);
    let packets = |family| {
        Needs::Fact(
            if family == "ipv4" { "ipv4 packets" } else { "ipv6 packets" },
            1e6,
            "needs a trace of a million packets",
        )
    };
    let second = |best, all: &[&'static str], run| {
        let pair = |rival| (rate(best, run), rate(rival, run));
        Judge::Greater(all.iter().copied().filter(|it| *it != best).map(pair).collect())
    };
    let first = |rivals: &[&'static str]| {
        let pair = |rival, run| (rate(SPIDER, run), rate(rival, run));
        let both = rivals.iter().flat_map(|it| [pair(*it, "random"), pair(*it, "trace")]);
        Judge::AllTables(Box::new(Judge::Greater(both.collect())), 2)
    };
    let all_four = RIVALS.map(|(spec, _)| spec);
    Experiment {
        name: figure,
        aliases: &["spider-comparison"],
        source: "Spider paper, Figure 9",
        title: "Spider and the others",
        about: "Random traffic and a trace, as the paper looks up: Spider in iterations of sixteen addresses, the others one \
                address after the other.",
        setting: SETTING,
        work: Work::Rates(vec![
            of(Tables::Ipv4, &spider, SIXTEEN),
            of(Tables::Ipv4, &four, ONE),
            of(Tables::Ipv6, &spider, SIXTEEN),
            of(Tables::Ipv6, &six, ONE),
        ]),
        figures: vec![Figure {
            id: figure,
            title: "Spider and the others",
            caption: "IPv6 addresses are the paper's: the first 32 bits of a random route, 32 random bits, ::1. The paper's \
                      text gives ratios, no rates.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
        papers: Vec::new(),
        claims: vec![
            claim(
                "S9.1",
                "V-D",
                "ipv4",
                "With random traffic Spider is 1.8 to 2.0 times as fast as Poptrie18.",
                versus(POPTRIE18, "random").within(1.2, 3.0),
            ),
            Claim {
                needs: vec![packets("ipv4")],
                ..claim(
                    "S9.2",
                    "V-D",
                    "ipv4",
                    "With a trace Spider is 2.3 to 2.6 times as fast as D18R.",
                    versus("dxr:d=18", "trace").within(1.5, 3.9),
                )
            },
            claim(
                "S9.3",
                "V-D",
                "ipv6",
                "With random traffic Spider is 2.2 times as fast as DIR-24-8.",
                versus(DIR_24_8, "random").within(1.1, 4.4),
            ),
            Claim {
                needs: vec![packets("ipv6")],
                ..claim(
                    "S9.4",
                    "V-D",
                    "ipv6",
                    "With a trace Spider is 3.2 times as fast as DIR-24-8.",
                    versus(DIR_24_8, "trace").within(1.6, 6.4),
                )
            },
            claim(
                "S9.5a",
                "V-D",
                "ipv4",
                "Spider is the fastest with random traffic and with a trace (on both tables).",
                first(&all_four),
            ),
            claim(
                "S9.5b",
                "V-D",
                "ipv6",
                "Spider is the fastest with random traffic and with a trace (on both tables).",
                first(&[POPTRIE18, "poptrie:s=16", DIR_24_8]),
            ),
            Claim {
                needs: vec![packets("ipv4")],
                ..claim(
                    "S9.7",
                    "V-D",
                    "ipv4",
                    "With a trace D18R is the second.",
                    second("dxr:d=18", &all_four, "trace"),
                )
            },
            Claim {
                needs: vec![packets("ipv6")],
                ..claim(
                    "S9.9",
                    "V-D",
                    "ipv6",
                    "Every method is much faster with a trace (no number; here 1.1 times), for lack of the generator.",
                    Judge::Within(
                        [SPIDER, POPTRIE18, DIR_24_8]
                            .map(|it| (rate(it, "trace") / rate(it, "random"), 1.1, f64::INFINITY))
                            .to_vec(),
                    ),
                )
            },
            frequency::at_full_frequency(),
            claim(
                "S9.6",
                "V-D",
                "ipv4",
                "With random traffic Poptrie18 is the second.",
                second(POPTRIE18, &all_four, "random"),
            ),
            claim(
                "S9.8",
                "V-D",
                "ipv6",
                "With random traffic DIR-24-8 is the second.",
                second(DIR_24_8, &[POPTRIE18, "poptrie:s=16", DIR_24_8], "random"),
            ),
        ],
    }
}
