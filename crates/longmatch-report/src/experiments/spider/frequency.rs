//! Rates by the frequency of the CPU: Figures 1 and 11 of the Spider paper.

use std::path::Path;

use longmatch_bench::BenchFamily;

use super::common::{DIR_24_8, ONE, POPTRIE18, SETTING, SIXTEEN, SPIDER, claim};
use crate::claim::{ABOVE, Claim, Judge, Needs, Over, of, rate};
use crate::context::{ExperimentContext, Place, anchor};
use crate::context::{OnTable, on_first};
use crate::declaration::{Absence, ChartKind, Figure, Papers, Rows, RunSpec, TrafficKind};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};
use crate::frequency::{CPUS, Frequency};
use crate::inputs::Named;

const FIGURE: &str = "spider-fig11";
const LOWEST: &str = "rate at the lowest frequency";
const HIGHEST: &str = "rate at the highest frequency";
const GAIN: &str = "gain as a share of the frequency's";
const ESTIMATE: &str = "estimate at 5 GHz";
/// Packets a second of 100 Gbit/s, in millions.
const WIRE_100G: f64 = 148.8;

pub(super) fn frequency() -> Experiment {
    let paper = |family, x, mlps| Papers {
        figure: FIGURE,
        family,
        run: "",
        metric: "rate",
        x: Some(x),
        values: vec![(SPIDER, mlps)],
    };
    Experiment {
        name: FIGURE,
        aliases: &["spider-fig1"],
        source: "Spider paper, Figures 1 and 11",
        title: "Rates by the frequency of the CPU",
        about: "The rates at frequencies from the lowest to the highest, with lines fitted to them.",
        setting: SETTING,
        work: Work::Own(run, |_, _| 0.1),
        figures: vec![Figure {
            id: FIGURE,
            title: "Rates by frequency",
            caption: "Spider looks up iterations of sixteen addresses, the others one address after the other. The \
                      estimate at 5 GHz lies on the fitted line through the origin (Figure 1).",
            chart: ChartKind::Lines("rate", ("frequency", "GHz"), [false, false]),
            rows: Rows::Places,
        }],
        papers: vec![
            paper("ipv4", 1.0, 158.0),
            paper("ipv4", 2.1, 318.0),
            paper("ipv6", 1.0, 58.0),
            paper("ipv6", 2.1, 117.0),
        ],
        claims: claims(),
    }
}

fn claims() -> Vec<Claim> {
    let over = |engine| Over { engine, run: "", metric: "rate" };
    let linear = |engines: &[&'static str]| {
        Judge::Linear(engines.iter().map(|engine| over(engine)).collect(), 0.85)
    };
    let at = |metric, engine, rival| of(engine, metric) / of(rival, metric);
    let five = |engine| of(engine, ESTIMATE);
    let slow = Needs::Most(of("", "lowest frequency"), 1.2, "the lowest frequency exceeds 1.2 GHz");
    let wide = Needs::Least(
        of("", "frequency ratio"),
        1.5,
        "the highest frequency is below 1.5 times the lowest",
    );
    vec![
        claim(
            "S11.1",
            "V-E",
            "ipv4",
            "The rates of Spider, Poptrie18 and D18R are proportional to the frequency.",
            linear(&[SPIDER, POPTRIE18, "dxr:d=18"]),
        ),
        claim(
            "S11.2",
            "V-E",
            "ipv6",
            "The rates of Spider, Poptrie18 and DIR-24-8 are proportional to the frequency.",
            linear(&[SPIDER, POPTRIE18, DIR_24_8]),
        ),
        Claim {
            needs: vec![wide],
            ..claim(
                "S11.3",
                "V-E",
                "ipv4",
                "The rate of DIR-24-8 grows less than the frequency (0.64 of the factor).",
                of(DIR_24_8, GAIN).within(0.42, 0.9),
            )
        },
        Claim {
            needs: vec![slow],
            ..claim(
                "S11.4",
                "V-E",
                "ipv4",
                "DIR-24-8 is faster than Poptrie18 and D18R at the lowest frequency and slower at the highest.",
                Judge::Greater(vec![
                    (of(DIR_24_8, LOWEST), of(POPTRIE18, LOWEST)),
                    (of(DIR_24_8, LOWEST), of("dxr:d=18", LOWEST)),
                    (of(POPTRIE18, HIGHEST), of(DIR_24_8, HIGHEST)),
                    (of("dxr:d=18", HIGHEST), of(DIR_24_8, HIGHEST)),
                ]),
            )
        },
        claim(
            "S11.5",
            "V-E",
            "ipv4",
            "Spider is 1.8 times as fast as DIR-24-8 at 1.0 GHz and 2.7 times at 2.1 GHz.",
            Judge::Within(vec![
                (at(LOWEST, SPIDER, DIR_24_8), ABOVE, 3.6),
                (at(HIGHEST, SPIDER, DIR_24_8), 1.35, 5.4),
            ]),
        ),
        claim(
            "S11.6",
            "V-E",
            "ipv6",
            "Spider is 2.3 times as fast as DIR-24-8 at the lowest and at the highest frequency.",
            Judge::Within(vec![
                (at(LOWEST, SPIDER, DIR_24_8), 1.15, 4.6),
                (at(HIGHEST, SPIDER, DIR_24_8), 1.15, 4.6),
            ]),
        ),
        claim(
            "S11.7",
            "V-E",
            "ipv6",
            "DIR-24-8 is faster than Poptrie18 at every frequency (here: at the lowest and the highest).",
            Judge::Greater(vec![
                (of(DIR_24_8, LOWEST), of(POPTRIE18, LOWEST)),
                (of(DIR_24_8, HIGHEST), of(POPTRIE18, HIGHEST)),
            ]),
        ),
        claim(
            "SF1.1",
            "I",
            "ipv4",
            "At 5 GHz Spider would reach 400 Gbit/s, 595.2 million packets a second (790).",
            five(SPIDER).at_least(4.0 * WIRE_100G),
        ),
        claim(
            "SF1.2",
            "I",
            "ipv4",
            "At 5 GHz Poptrie18 and D18R would not reach 400 Gbit/s.",
            Judge::Within(vec![
                (five(POPTRIE18), 0.0, 4.0 * WIRE_100G),
                (five("dxr:d=18"), 0.0, 4.0 * WIRE_100G),
            ]),
        ),
    ]
}

/// Returns the claim of Figure 1 that needs one frequency only; the rates of Figure 9 judge it.
pub(super) fn at_full_frequency() -> Claim {
    Claim {
        needs: vec![
            Needs::Least(fact(), 3.4, "the clock is below 3.4 GHz"),
            Needs::Most(fact(), 4.0, "the clock is above 4.0 GHz"),
        ],
        ..claim(
            "SF1.3",
            "I",
            "ipv4",
            "At 3.7 GHz Poptrie18 and D18R stay below 200 Gbit/s, 297.6 million packets a second.",
            Judge::Within(vec![
                (rate(POPTRIE18, ONE.name), 0.0, 2.0 * WIRE_100G),
                (rate("dxr:d=18", ONE.name), 0.0, 2.0 * WIRE_100G),
            ]),
        )
    }
}

fn fact() -> crate::claim::Q {
    crate::claim::Q::Fact("GHz")
}

struct AllFrequencies(Frequency);

fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    let frequency = Frequency::take(Path::new(CPUS))
        .map_err(|reason| Absence(format!("cannot be measured on this machine: {reason}")))?;
    on_first(context, &AllFrequencies(frequency))
}

impl OnTable for AllFrequencies {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        let mut rivals = vec![(POPTRIE18, "Poptrie18"), (DIR_24_8, "DIR-24-8")];
        if F::WIDTH == 32 {
            rivals.push(("dxr:d=18", "D18R"));
        }
        let sets = [(vec![(SPIDER, "Spider_16w")], SIXTEEN), (rivals, ONE)];
        let mut rates: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for (engines, run) in sets {
            let set = EngineSet::apart(named, &EngineUnderTest::all(&engines));
            let Some(traffic) = context.traffic(TrafficKind::SpiderRandom) else { continue };
            let Some(workload) = context.workload(&set, &traffic) else { continue };
            let mut own: Vec<_> = engines.iter().map(|it| (it.0.to_owned(), Vec::new())).collect();
            for khz in &self.0.choices {
                self.0.set(*khz).map_err(|error| Absence(format!("{khz} kHz: {error}")))?;
                let x = *khz as f64 / 1e6;
                let config = context.setup(&RunSpec { brief: true, ..run });
                let place = Place { figure: FIGURE, x: Some(x), ..Place::default() };
                let all = context.measure(place, &set, &workload, &config);
                for (measured, (_, rates)) in all.iter().zip(&mut own) {
                    rates.extend(measured.record().and_then(|it| it.mlps).map(|mlps| (x, mlps)));
                }
            }
            rates.append(&mut own);
        }
        for (engine, rates) in &rates {
            for (metric, unit, value) in fitted(rates) {
                let place = Place { figure: FIGURE, ..Place::default() };
                context.count(place, named, engine, (metric, unit), value);
            }
        }
        let ghz = |khz: Option<&u64>| khz.map_or(0.0, |khz| *khz as f64 / 1e6);
        let [low, high] = [self.0.choices.first(), self.0.choices.last()].map(ghz);
        let place = Place { figure: FIGURE, ..Place::default() };
        context.count(place, named, "", ("lowest frequency", "GHz"), low);
        context.count(place, named, "", ("frequency ratio", ""), high / low);
        context.condition(
            &anchor::<F>(FIGURE, named.name),
            "frequencies",
            format!("{:?} kHz", self.0.choices),
        );
        Ok(())
    }
}

/// Returns the rates at both ends, the gain between them, and the estimate from the line through the origin.
fn fitted(rates: &[(f64, f64)]) -> Vec<(&'static str, &'static str, f64)> {
    let [first, .., last] = rates else { return Vec::new() };
    let products: f64 = rates.iter().map(|(ghz, mlps)| ghz * mlps).sum();
    let squares: f64 = rates.iter().map(|(ghz, _)| ghz * ghz).sum();
    vec![
        (LOWEST, "Mlps", first.1),
        (HIGHEST, "Mlps", last.1),
        (GAIN, "", (last.1 / first.1) / (last.0 / first.0)),
        (ESTIMATE, "Mlps", 5.0 * products / squares),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's rates of Spider.
    #[test]
    fn lines_are_fitted_through_the_origin() {
        let fitted = fitted(&[(1.0, 158.0), (2.1, 318.0)]);
        let of = |metric| fitted.iter().find(|it| it.0 == metric).unwrap().2;
        assert_eq!((of(LOWEST), of(HIGHEST)), (158.0, 318.0));
        assert!((of(GAIN) - 0.958).abs() < 0.001);
        assert!((of(ESTIMATE) - 5.0 * (158.0 + 667.8) / 5.41).abs() < 1e-9);
        assert!(super::fitted(&[(1.0, 158.0)]).is_empty());
    }
}
