//! Several cores: Figure 12.

use super::common::{DIR_24_8, ONE, POPTRIE18, SIXTEEN, SPIDER, claim, with_vectors};
use crate::claim::{Claim, Judge, Needs, Over, rate};
use crate::declaration::{Axis, ChartKind, Figure, Papers, Rates, Rows, RunSpec, Tables};
use crate::experiment::{Experiment, Work};

pub(super) fn cores() -> Experiment {
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
        about: "The total rate of all threads in one table: Spider in iterations of sixteen addresses, the others one \
                address after the other.",
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
            caption: "Each thread is pinned to its own CPU.",
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
            with_vectors(linear(
                "S12.1",
                "ipv4",
                "Spider scales with the number of cores.",
                &[SPIDER],
                0.8,
            )),
            with_vectors(linear(
                "S12.2",
                "ipv6",
                "Spider scales with the number of cores.",
                &[SPIDER],
                0.8,
            )),
            linear(
                "S12.3",
                "ipv4",
                "All methods scale with the number of cores.",
                &[POPTRIE18, "dxr:d=18", DIR_24_8],
                0.7,
            ),
            with_vectors(Claim {
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
            }),
            with_vectors(Claim {
                needs: vec![cores(16.0)],
                ..claim(
                    "S12.5",
                    "V-F",
                    "ipv6",
                    "With 16 cores Spider is 3.7 and 2.3 times as fast as Poptrie18 and DIR-24-8.",
                    Judge::Within(vec![
                        (versus(POPTRIE18), 2.5, 5.6),
                        (versus(DIR_24_8), 1.1, 4.5),
                    ]),
                )
            }),
            with_vectors(Claim {
                needs: vec![cores(16.0)],
                ..claim(
                    "S12.6",
                    "V-F",
                    "ipv4",
                    "16 cores look up 5 billion addresses a second (5,074 million).",
                    at_16(SPIDER).at_least(3380.0),
                )
            }),
        ],
    }
}
