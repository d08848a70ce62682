//! Rates by the frequency of the CPU: Figures 1 and 11 of the Spider paper.

use std::path::Path;

use longmatch_bench::BenchFamily;

use super::{D18R, DIR_24_8, ONE, POPTRIE18, SIXTEEN, SPIDER};
use crate::context::{ExperimentContext, Place, anchor};
use crate::context::{OnTable, on_first};
use crate::declaration::{Absence, TrafficKind};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::frequency::{CPUS, Frequency};
use crate::inputs::Named;

const FIGURE: &str = "spider-fig11";
const LOWEST: &str = "rate at the lowest frequency";
const HIGHEST: &str = "rate at the highest frequency";
const GAIN: &str = "gain as a share of the gain in frequency";
const ESTIMATE: &str = "estimate at 5 GHz";

struct AllFrequencies(Frequency);

/// Measures the rates at every frequency.
pub(super) fn run(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
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
            rivals.push((D18R, "D18R"));
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
                let config = context.setup(&run);
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
