//! Rates and latencies by the frequency of the CPU: Figures 1 and 11 of the Spider paper.

use std::path::Path;

use longmatch_bench::{BenchFamily, Mode, RunConfig, Traffic, gigahertz};

use crate::context::{ExperimentContext, FigureCell, anchor};
use crate::declaration::{CalledEngine, Skipped};
use crate::distribution::{Ticks, time};
use crate::engine_set::EngineSet;
use crate::frequency::{CPUS, Frequency};
use crate::inputs::{Effort, Named};

const FIGURE_1: &str = "spider-fig1";
const FIGURE_11: &str = "spider-fig11";
/// The frequencies of Figure 1, in GHz.
const PAPERS: [f64; 4] = [1.0, 2.1, 3.7, 5.0];
/// A measured frequency that is so close to one of the paper's needs no estimate.
const CLOSE: f64 = 0.03;
/// The most iterations of each engine whose latency is measured at a frequency.
const ITERATIONS: usize = 1 << 20;

pub(in super::super) fn seconds(engines: f64, effort: &Effort) -> f64 {
    effort.rates(engines as usize, true) + engines * latencies(effort) + 1.0
}

fn latencies(effort: &Effort) -> f64 {
    effort.cycles.min(ITERATIONS) as f64 * 200e-9
}

/// An engine at a frequency.
#[derive(Clone, Copy, PartialEq, Debug)]
struct FrequencyPoint {
    ghz: f64,
    mlps: f64,
    /// Latency of an iteration, in nanoseconds.
    ns: f64,
}

impl FrequencyPoint {
    /// Estimates the point at another frequency, to which rate and latency are proportional (I).
    fn at(self, ghz: f64) -> Self {
        let factor = ghz / self.ghz;
        Self { ghz, mlps: self.mlps * factor, ns: self.ns / factor }
    }
}

/// Measures at the frequencies that can be set, or at the one at hand.
pub(in super::super) fn on_table<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
) -> Result<(), Skipped> {
    let control = Frequency::take(Path::new(CPUS));
    let choices: Vec<f64> = match &control {
        Ok(frequency) => frequency.choices.iter().map(|khz| *khz as f64 / 1e6).collect(),
        Err(_) => vec![gigahertz()],
    };
    let mut engines = context.experiment.engines.clone();
    // The paper has DXR for IPv4 only.
    engines.retain(|it| F::WIDTH == 32 || !it.spec.starts_with("dxr"));
    let set = EngineSet::apart(named, &engines);
    let Some(workload) = context.workload(&set, &Traffic::SpiderRandom) else { return Ok(()) };
    let mut all: Vec<(CalledEngine, Vec<FrequencyPoint>)> =
        set.members.iter().map(|(engine, _)| (engine.clone(), Vec::new())).collect();
    let config = RunConfig { generate: true, ..context.brief(Mode::One) };
    for ghz in choices.iter().copied() {
        if let Ok(frequency) = &control {
            let set = frequency.set((ghz * 1e6) as u64);
            set.map_err(|error| Skipped(format!("{ghz} GHz: {error}")))?;
        }
        let cell = FigureCell { figure: FIGURE_11, x: Some(ghz), ..FigureCell::default() };
        let measured = context.measure(cell, &set, &workload, &config);
        let count = context.effort.cycles.min(ITERATIONS);
        let step = latencies(&context.effort);
        let (counter, timed) = time(&set, count, &mut || context.step(step));
        for it in timed {
            let record = measured.iter().find(|own| own.engine.spec == it.engine.spec);
            let mlps = record.and_then(|own| own.record()?.mlps());
            let own = all.iter_mut().find(|own| own.0.spec == it.engine.spec);
            let (Some(mlps), Some((_, points))) = (mlps, own) else { continue };
            points.push(FrequencyPoint { ghz, mlps, ns: Ticks::new(counter, it.ticks).mean_ns() });
        }
    }
    for (engine, points) in &all {
        note(context, named, engine, points);
    }
    if let [low, .., high] = &choices[..] {
        let cell = FigureCell { figure: FIGURE_11, ..FigureCell::default() };
        context.count(cell, named, "", ("lowest frequency", "GHz"), *low);
        context.count(cell, named, "", ("frequency ratio", ""), high / low);
    }
    let note = match &control {
        Ok(_) => format!("{choices:?} GHz"),
        Err(reason) => format!("the one at hand: {reason}"),
    };
    for figure in [FIGURE_1, FIGURE_11] {
        context.condition(&anchor::<F>(figure, named.name), "frequencies", &note[..]);
    }
    Ok(())
}

/// Records an engine's points of Figure 1, and the values that the claims about Figure 11 compare.
fn note<F: BenchFamily>(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, F>,
    engine: &CalledEngine,
    points: &[FrequencyPoint],
) {
    for (point, at) in figure_1(points) {
        let cell = FigureCell { figure: FIGURE_1, run: "", x: Some(point.mlps), at: &at };
        context.count(cell, named, &engine.name, ("latency of an iteration", "ns"), point.ns);
    }
    let cell = FigureCell { figure: FIGURE_11, ..FigureCell::default() };
    for (metric, unit, value) in fitted(points) {
        context.count(cell, named, &engine.name, (metric, unit), value);
    }
}

/// Returns the measured points, and estimates at the paper's other frequencies, each with its frequency in words.
fn figure_1(points: &[FrequencyPoint]) -> Vec<(FrequencyPoint, String)> {
    let is_measured = |ghz: f64| points.iter().any(|it| (it.ghz / ghz - 1.0).abs() <= CLOSE);
    let estimated = PAPERS.into_iter().filter(|ghz| !is_measured(*ghz));
    let estimated = estimated.filter_map(|ghz| Some(points.first()?.at(ghz)));
    let measured = points.iter().map(|it| (*it, format!("{:.1} GHz", it.ghz)));
    let mut all: Vec<_> =
        measured.chain(estimated.map(|it| (it, format!("{:.1} GHz, estimated", it.ghz)))).collect();
    all.sort_by(|a, b| a.0.ghz.total_cmp(&b.0.ghz));
    all
}

/// Returns the estimate at 5 GHz from the line through the origin and, for several frequencies, the rates at both ends
/// and the gain between them.
fn fitted(points: &[FrequencyPoint]) -> Vec<(&'static str, &'static str, f64)> {
    let products: f64 = points.iter().map(|it| it.ghz * it.mlps).sum();
    let squares: f64 = points.iter().map(|it| it.ghz * it.ghz).sum();
    let mut all = Vec::new();
    if squares > 0.0 {
        all.push(("estimate at 5 GHz", "Mlps", 5.0 * products / squares));
    }
    if let [first, .., last] = points {
        let gain = (last.mlps / first.mlps) / (last.ghz / first.ghz);
        all.push(("rate at the lowest frequency", "Mlps", first.mlps));
        all.push(("rate at the highest frequency", "Mlps", last.mlps));
        all.push(("gain as a share of the gain in frequency", "", gain));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's rates of Spider, and its mean of 200 cycles an iteration.
    const SPIDER: [FrequencyPoint; 2] = [
        FrequencyPoint { ghz: 1.0, mlps: 158.0, ns: 200.0 },
        FrequencyPoint { ghz: 2.1, mlps: 318.0, ns: 95.0 },
    ];

    #[test]
    fn lines_are_fitted_through_the_origin() {
        let of = |points: &[FrequencyPoint], metric| {
            fitted(points).iter().find(|it| it.0 == metric).map(|it| it.2)
        };
        assert_eq!(of(&SPIDER, "rate at the lowest frequency"), Some(158.0));
        assert_eq!(of(&SPIDER, "rate at the highest frequency"), Some(318.0));
        let gain = of(&SPIDER, "gain as a share of the gain in frequency").unwrap();
        assert!((gain - 0.958).abs() < 0.001);
        let estimate = of(&SPIDER, "estimate at 5 GHz").unwrap();
        assert!((estimate - 5.0 * (158.0 + 667.8) / 5.41).abs() < 1e-9);
        assert_eq!(fitted(&SPIDER[..1]), [("estimate at 5 GHz", "Mlps", 790.0)]);
        assert!(fitted(&[]).is_empty());
    }

    #[test]
    fn other_frequencies_are_estimated() {
        let shown: Vec<_> =
            figure_1(&SPIDER).into_iter().map(|(it, at)| (it.mlps, it.ns, at)).collect();
        let of = |mlps, ns, at: &str| (mlps, ns, at.to_owned());
        assert_eq!(shown[..2], [of(158.0, 200.0, "1.0 GHz"), of(318.0, 95.0, "2.1 GHz")]);
        assert_eq!(shown[3], of(790.0, 40.0, "5.0 GHz, estimated"));
        assert_eq!(shown.len(), 4);
        assert!(figure_1(&[]).is_empty());
    }
}
