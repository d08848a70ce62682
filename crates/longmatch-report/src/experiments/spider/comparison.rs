//! Spider and the others: Figure 9.

use super::common::{DIR_24_8, ONE, POPTRIE18, SETTING, SIXTEEN, SPIDER, claim, with_vectors};
use super::frequency;
use crate::claim::{Claim, Judge, Needs, rate};
use crate::declaration::{ChartKind, Figure, Rates, Rows, RunSpec, Tables, TrafficKind};
use crate::experiment::{Experiment, Work};

/// The rivals, each with the paper's name.
const RIVALS: [(&str, &str); 5] = [
    (POPTRIE18, "Poptrie18"),
    ("poptrie:s=16", "Poptrie16"),
    ("dxr:d=18", "D18R"),
    ("dxr:d=16", "D16R"),
    (DIR_24_8, "DIR-24-8"),
];

pub(super) fn comparison() -> Experiment {
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
        about: "Rates with random traffic and with a trace: Spider in iterations of sixteen addresses, the others one \
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
            caption: "IPv6 addresses are made as in the paper: the first 32 bits of a random route, 32 random bits, \
                      ::1. The paper's text gives ratios, no rates.",
            chart: ChartKind::Bars("rate"),
            rows: Rows::Engines,
        }],
        papers: Vec::new(),
        claims: vec![
            with_vectors(claim(
                "S9.1",
                "V-D",
                "ipv4",
                "With random traffic Spider is 1.8 to 2.0 times as fast as Poptrie18.",
                versus(POPTRIE18, "random").within(1.2, 3.0),
            )),
            with_vectors(Claim {
                needs: vec![packets("ipv4")],
                ..claim(
                    "S9.2",
                    "V-D",
                    "ipv4",
                    "With a trace Spider is 2.3 to 2.6 times as fast as D18R.",
                    versus("dxr:d=18", "trace").within(1.5, 3.9),
                )
            }),
            with_vectors(claim(
                "S9.3",
                "V-D",
                "ipv6",
                "With random traffic Spider is 2.2 times as fast as DIR-24-8.",
                versus(DIR_24_8, "random").within(1.1, 4.4),
            )),
            with_vectors(Claim {
                needs: vec![packets("ipv6")],
                ..claim(
                    "S9.4",
                    "V-D",
                    "ipv6",
                    "With a trace Spider is 3.2 times as fast as DIR-24-8.",
                    versus(DIR_24_8, "trace").within(1.6, 6.4),
                )
            }),
            with_vectors(claim(
                "S9.5a",
                "V-D",
                "ipv4",
                "Spider is the fastest with random traffic and with a trace (on both tables).",
                first(&all_four),
            )),
            with_vectors(claim(
                "S9.5b",
                "V-D",
                "ipv6",
                "Spider is the fastest with random traffic and with a trace (on both tables).",
                first(&[POPTRIE18, "poptrie:s=16", DIR_24_8]),
            )),
            Claim {
                needs: vec![packets("ipv4")],
                ..claim(
                    "S9.7",
                    "V-D",
                    "ipv4",
                    "With a trace D18R is the second fastest.",
                    second("dxr:d=18", &all_four, "trace"),
                )
            },
            with_vectors(Claim {
                needs: vec![packets("ipv6")],
                ..claim(
                    "S9.9",
                    "V-D",
                    "ipv6",
                    "Every method is much faster with a trace, which needs no generator (no number; here: 1.1 times).",
                    Judge::Within(
                        [SPIDER, POPTRIE18, DIR_24_8]
                            .map(|it| (rate(it, "trace") / rate(it, "random"), 1.1, f64::INFINITY))
                            .to_vec(),
                    ),
                )
            }),
            frequency::at_full_frequency(),
            claim(
                "S9.6",
                "V-D",
                "ipv4",
                "With random traffic Poptrie18 is the second fastest.",
                second(POPTRIE18, &all_four, "random"),
            ),
            claim(
                "S9.8",
                "V-D",
                "ipv6",
                "With random traffic DIR-24-8 is the second fastest.",
                second(DIR_24_8, &[POPTRIE18, "poptrie:s=16", DIR_24_8], "random"),
            ),
        ],
    }
}
