//! Y. Ueno, R. Nakamura, Y. Kuga, H. Esaki, Spider (IEEE Access 2020), section V.

use longmatch::Ipv4;
use longmatch_bench::{BenchFamily, Iteration, Mode};

use crate::claim::{Claim, Judge, Needs, Over, Pick, Q, of, rate};
use crate::context::{ExperimentContext, MIB, Place, about_table, anchor};
use crate::distribution::{Ticks, about_clock, cycles, time};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{
    Absence, Axis, ChartKind, Experiment, Figure, KeySource, Papers, Rates, Rows, RunSpec, Tables,
    TrafficKind, Work,
};
use crate::inputs::{Named, OnTable, on_first};

/// The experiments, in the order of the paper.
pub(super) fn all() -> Vec<Experiment> {
    vec![frequency(), memory(), ways(), comparison(), cycles_of_iterations(), cores()]
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
    keys: KeySource::JustInTime,
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

/// The reason why Figures 1 and 11 are absent.
const ABSENT: &str = "cannot be measured on this machine: the frequency of its CPUs cannot be set (no \
                      /sys/devices/system/cpu/cpu0/cpufreq/scaling_setspeed, as in a virtual machine)";

fn frequency() -> Experiment {
    Experiment {
        name: "spider-fig11",
        aliases: &["spider-fig1"],
        source: "Spider paper, Figures 1 and 11",
        title: "Rates by the frequency of the CPU",
        about: "The rates at frequencies from the lowest to the highest, and lines fitted to them.",
        setting: SETTING,
        work: Work::Own(|_| Err(Absence(ABSENT.into())), |_, _| 0.1),
        figures: Vec::new(),
        papers: Vec::new(),
        claims: Vec::new(),
    }
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
        let Some(traffic) = context.traffic(TrafficKind::SpiderRandom, named.rib) else {
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
        keys: KeySource::Array,
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

const CYCLES: &str = "spider-fig10";

/// Mean, 50th, 75th, 90th and 99th percentile of an iteration (Table 2).
const TABLE_2: [(&str, [f64; 5]); 3] = [
    (POPTRIE18, [60.69, 58.0, 58.0, 60.0, 172.0]),
    ("dxr:d=18", [54.24, 52.0, 52.0, 54.0, 186.0]),
    (SPIDER, [200.27, 192.0, 214.0, 238.0, 352.0]),
];

fn cycles_of_iterations() -> Experiment {
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
        about: "How long an iteration takes, where it waits for everything before it: one address for Poptrie18 and D18R, \
                sixteen for Spider and for Folio.",
        setting: SETTING,
        work: Work::Own(run_cycles, |inputs, effort| {
            inputs.ipv4().len() as f64 * (4.0 * effort.cycles as f64 * 200e-9 + 2.0)
        }),
        figures: vec![Figure {
            id: CYCLES,
            title: "Distribution of cycles per iteration",
            caption: "The share of iterations that take no more than so many cycles.",
            chart: ChartKind::Steps("share of lookups", ("cycles", "")),
            rows: Rows::Engines,
        }],
        papers: (0..names.len()).map(paper).collect(),
        claims: vec![
            with(
                "S10.1",
                "An iteration of Spider takes 3.3 times the cycles of one of Poptrie18 (the text: four times or more).",
                "mean",
                (of(SPIDER, "mean") / of(POPTRIE18, "mean")).within(2.2, 6.0),
            ),
            with(
                "S10.2",
                "An iteration of Spider takes 3.7 times the cycles of one of D18R (the text: four times or more).",
                "mean",
                (of(SPIDER, "mean") / of("dxr:d=18", "mean")).within(2.45, 6.0),
            ),
            with(
                "S10.3",
                "The median of D18R is slightly below that of Poptrie18 (1.12 times).",
                "50th",
                (of(POPTRIE18, "50th") / of("dxr:d=18", "50th")).within(1.0, 1.67),
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
        for it in &timed {
            let ticks = Ticks::count(counter, it.ticks.iter().copied());
            let place = Place { figure: CYCLES, ..Place::default() };
            cycles(context, place, named, &it.engine, &ticks);
        }
    }
    Ok(())
}

fn cores() -> Experiment {
    let figure = "spider-fig12";
    let run = |run: RunSpec| RunSpec { name: "", axis: Axis::Threads, ..run };
    let of = |tables, engines: &[(&'static str, &'static str)], config| Rates {
        figure,
        tables,
        engines: engines.to_vec(),
        runs: vec![run(config)],
        parts: &[],
    };
    let paper = |family, x, values: &[(&'static str, f64)]| Papers {
        figure,
        family,
        run: "",
        metric: "rate",
        x: Some(x),
        values: values.to_vec(),
    };
    let four = [(POPTRIE18, "Poptrie18"), ("dxr:d=18", "D18R"), (DIR_24_8, "DIR-24-8")];
    let six = [(POPTRIE18, "Poptrie18"), (DIR_24_8, "DIR-24-8")];
    let cores = |least| Needs::Fact("cores", least, "the machine has too few cores");
    let over = |engine| Over { engine, run: "", metric: "rate" };
    let linear = |id, family, text, engines: &[&'static str], least| Claim {
        needs: vec![cores(3.0)],
        ..claim(
            id,
            "V-F",
            family,
            text,
            Judge::Linear(engines.iter().map(|it| over(it)).collect(), least),
        )
    };
    let at_16 = |engine| rate(engine, "").at(16.0);
    let versus = |rival| at_16(SPIDER) / at_16(rival);
    Experiment {
        name: figure,
        aliases: &["spider-cores"],
        source: "Spider paper, Figure 12",
        title: "Several cores",
        about: "The rate of all threads together in one table, as the paper looks up.",
        setting: "as above, turbo off",
        work: Work::Rates(vec![
            of(Tables::Ipv4, &[(SPIDER, "Spider_16w")], SIXTEEN),
            of(Tables::Ipv4, &four, ONE),
            of(Tables::Ipv6, &[(SPIDER, "Spider_16w")], SIXTEEN),
            of(Tables::Ipv6, &six, ONE),
        ]),
        figures: vec![Figure {
            id: figure,
            title: "Rates by threads",
            caption: "Each thread stays on a CPU of its own.",
            chart: ChartKind::Lines("rate", ("threads", ""), [false, false]),
            rows: Rows::Places,
        }],
        papers: vec![
            paper("ipv4", 1.0, &[(SPIDER, 318.0)]),
            paper(
                "ipv4",
                16.0,
                &[(SPIDER, 5074.0), (POPTRIE18, 2532.0), ("dxr:d=18", 2325.0), (DIR_24_8, 1680.0)],
            ),
            paper("ipv6", 1.0, &[(SPIDER, 117.0)]),
            paper("ipv6", 16.0, &[(SPIDER, 1857.0), (POPTRIE18, 496.0), (DIR_24_8, 823.0)]),
        ],
        claims: vec![
            linear("S12.1", "ipv4", "Spider scales with the cores.", &[SPIDER], 0.8),
            linear("S12.2", "ipv6", "Spider scales with the cores.", &[SPIDER], 0.8),
            linear(
                "S12.3",
                "ipv4",
                "All methods scale with the cores.",
                &[POPTRIE18, "dxr:d=18", DIR_24_8],
                0.7,
            ),
            Claim {
                needs: vec![cores(16.0)],
                ..claim(
                    "S12.4",
                    "V-F",
                    "ipv4",
                    "With 16 cores Spider is 2.0, 2.2 and 3.0 times as fast as Poptrie18, D18R and DIR-24-8.",
                    Judge::Within(vec![
                        (versus(POPTRIE18), 1.3, 3.0),
                        (versus("dxr:d=18"), 1.45, 3.3),
                        (versus(DIR_24_8), 1.5, 6.0),
                    ]),
                )
            },
            Claim {
                needs: vec![cores(16.0)],
                ..claim(
                    "S12.6",
                    "V-F",
                    "ipv4",
                    "16 cores look up 5 billion addresses a second (5,074 million).",
                    at_16(SPIDER).at_least(3380.0),
                )
            },
        ],
    }
}
