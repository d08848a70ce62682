//! The lookups of one engine or roofline: the check of their answers, and their passes.

use longmatch::{KeyLayout, Keys, NextHopId};

use crate::engine_under_test::EngineUnderTest;
use crate::family::TrafficFamily;
use crate::generator::BLOCK;
use crate::kernel::Kernel;
use crate::key_stream::{KeyBlocks, KeyStream, pass_sum};
use crate::mode::Mode;
use crate::oracle::Oracle;
use crate::passes::{Done, LEAST, Part, TimedWork};
use crate::roofline::Roofline;
use crate::run_config::RunConfig;
use crate::target::Pass;
use crate::traffic::Traffic;
use crate::workload::Workload;

/// Number of generated keys that are checked: no multiple of a usual batch, so that the last one is
/// shorter.
const GENERATED_CHECKED: usize = (1 << 16) - 3;

/// The subject of one measurement: an engine or its roofline.
pub(crate) struct TimedEngine<'a, F: TrafficFamily> {
    pub engine: &'a EngineUnderTest<F>,
    pub workload: &'a Workload<F>,
    pub config: &'a RunConfig,
    pub roofline: Option<&'a Roofline>,
}

impl<'a, F: TrafficFamily> TimedEngine<'a, F> {
    fn target(&self) -> &'a dyn Pass<F> {
        match self.roofline {
            Some(roofline) => roofline,
            None => &*self.engine.target,
        }
    }

    /// Counts the wrong answers of the roofline, or of both kernels and of encoded keys.
    ///
    /// A wrong sum of the loop to be timed counts as one more.
    pub fn mismatches(&self, oracle: &Oracle<F>) -> u64 {
        let Self { engine, workload, config, .. } = *self;
        if let Some(roofline) = self.roofline {
            return roofline.mismatches(workload, config);
        }
        let target = &engine.target;
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
        let is_wrong = |stream, answers: &[Option<NextHopId>]| {
            target.pass(config, stream).sum != pass_sum(answers, mode, batch, 0, answers.len())
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

impl<F: TrafficFamily> TimedWork for TimedEngine<'_, F> {
    fn least_units(&self) -> usize {
        // A part of a sequential stream would cover only a part of the address space.
        match self.workload.traffic() {
            Traffic::Sequential => self.workload.keys().len(),
            _ => LEAST,
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
