//! The lookups of one engine or roofline: the check of their answers, and their passes.

use longmatch::{KeyLayout, Keys, NextHopId};

use crate::engine_under_test::EngineUnderTest;
use crate::family::TrafficFamily;
use crate::generator::BLOCK;
use crate::kernel::Kernel;
use crate::key_stream::{KeyBlocks, KeyStream};
use crate::mode::Mode;
use crate::oracle::Oracle;
use crate::passes::{Done, Part, TimedWork};
use crate::roofline::Roofline;
use crate::run_config::RunConfig;
use crate::target::{BenchTarget, Pass};
use crate::traffic::Traffic;
use crate::workload::Workload;

/// Minimum number of lookups in a pass.
const MIN_LOOKUPS: usize = 1 << 16;
/// Number of generated keys that are checked: no multiple of a usual batch, so that the last one is
/// shorter.
const GENERATED_CHECKED: usize = (1 << 16) - 3;

/// The subject of one measurement: an engine or its roofline.
pub(crate) struct Subject<'a, F: TrafficFamily> {
    pub engine: &'a EngineUnderTest<F>,
    pub workload: &'a Workload<F>,
    pub config: &'a RunConfig,
    pub roofline: Option<&'a Roofline>,
}

impl<'a, F: TrafficFamily> Subject<'a, F> {
    fn target(&self) -> &'a dyn Pass<F> {
        match self.roofline {
            Some(roofline) => roofline,
            None => &*self.engine.target,
        }
    }

    /// Number of wrong answers.
    pub fn mismatches(&self, oracle: &Oracle<F>) -> u64 {
        match self.roofline {
            Some(roofline) => roofline.mismatches(self.workload, self.config),
            None => mismatches(&*self.engine.target, self.workload, oracle, self.config),
        }
    }

    /// The keys of one thread in one pass.
    ///
    /// Each begins at a different position, which is the same for every engine.
    fn stream(&self, Part { pass, thread, units }: Part) -> KeyStream<'a, F> {
        let Self { workload, config, .. } = *self;
        let (part, parts) = (pass * config.threads + thread, config.passes.max(1) * config.threads);
        let generated = if config.generate { workload.generated(part, units) } else { None };
        generated.unwrap_or_else(|| {
            let start = workload.keys().len() / parts * part;
            workload.stream(config.mode, start, units)
        })
    }
}

impl<F: TrafficFamily> TimedWork for Subject<'_, F> {
    fn least_units(&self) -> usize {
        // A part of a sequential stream would cover only a part of the address space.
        match self.workload.traffic() {
            Traffic::Sequential => self.workload.keys().len(),
            _ => MIN_LOOKUPS,
        }
    }

    fn warm_up(&self, part: Part) {
        self.target().pass(self.config, self.stream(part).warm_up());
    }

    fn time(&self, part: Part) -> Done {
        let stream = self.stream(part);
        let took = self.target().pass(self.config, stream).took;
        Done { units: stream.lookups(), took }
    }

    fn runs_in_process(&self) -> bool {
        self.target().runs_in_process()
    }
}

/// Counts the wrong answers of both kernels and of encoded keys.
///
/// A wrong sum of the loop to be timed counts as one more.
fn mismatches<F: TrafficFamily>(
    target: &dyn BenchTarget<F>,
    workload: &Workload<F>,
    oracle: &Oracle<F>,
    config: &RunConfig,
) -> u64 {
    let RunConfig { mode, simd, batch, .. } = *config;
    let (keys, answers) = workload.checked_keys();
    let count = |got: Vec<Option<NextHopId>>| {
        got.iter().zip(answers).filter(|(got, right)| got != right).count() as u64
    };
    let mut wrong = 0;
    for kernel in Kernel::ALL {
        wrong += count(target.answers(kernel, simd, batch, Keys::host(keys)));
    }
    let encoded = workload.checked_batch_keys();
    if encoded.layout() != KeyLayout::Host {
        wrong += count(target.answers(Kernel::Batch, simd, batch, encoded));
    }
    let every = if mode == Mode::Batch { batch } else { 1 };
    let is_wrong = |stream, answers: &[Option<NextHopId>]| {
        let summed = answers.chunks(every).map(|batch| NextHopId::to_raw(batch[batch.len() - 1]));
        target.pass(config, stream).sum != summed.fold(0, |sum, answer| sum ^ answer)
    };
    wrong += u64::from(is_wrong(workload.checked_stream(mode), answers));
    let generated = config.generate.then(|| workload.generated(0, GENERATED_CHECKED)).flatten();
    if let Some(stream @ KeyStream::Generated { rule, seed, lookups }) = generated {
        let block = if mode == Mode::Batch { batch } else { BLOCK };
        let keys = KeyBlocks::<F>::generated(rule, seed, lookups, block).collect();
        wrong += u64::from(is_wrong(stream, &oracle.answers(&keys)));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use crate::comparison::Comparison;
    use crate::run_config::RunConfig;
    use crate::testing::table4;
    use crate::threads::testing::refusing;
    use crate::workload::CHECKED;
    use crate::{Mode, Traffic};
    use longmatch::EngineKind;

    #[test]
    fn a_refused_thread_ends_the_measurement() {
        let rib = table4();
        let mut comparison = Comparison::new(&rib);
        comparison.add(&EngineKind::Radix.into()).unwrap();
        let workload = comparison.workload_of(&Traffic::Random, 1, 1000, CHECKED).unwrap();
        let config = RunConfig { threads: 3, seconds: 0.01, ..RunConfig::new(Mode::One) };
        let error = refusing(2, || comparison.run(&workload, &config)).unwrap_err();
        assert_eq!((error.started, error.wanted), (2, 3));
        assert_eq!(comparison.run(&workload, &config).unwrap().len(), 1, "the next run works");
    }
}
