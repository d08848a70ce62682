//! The passes of one engine or roofline.

use crate::family::TrafficFamily;
use crate::key_stream::KeyStream;
use crate::passes::{Done, Part, TimedWork};
use crate::run_config::RunConfig;
use crate::target::Pass;
use crate::traffic::Traffic;
use crate::workload::Workload;

/// Minimum number of lookups in a pass.
const MIN_LOOKUPS: usize = 1 << 16;

/// The lookups of an engine or a roofline.
pub(crate) struct Lookups<'e, F: TrafficFamily> {
    pub target: &'e dyn Pass<F>,
    pub workload: &'e Workload<F>,
    pub config: &'e RunConfig,
}

impl<'e, F: TrafficFamily> Lookups<'e, F> {
    /// The keys of one thread in one pass.
    ///
    /// Each begins at a different position, which is the same for every engine.
    fn stream(&self, Part { pass, thread, units }: Part) -> KeyStream<'e, F> {
        let Self { workload, config, .. } = *self;
        let (part, parts) = (pass * config.threads + thread, config.passes.max(1) * config.threads);
        let generated = if config.generate { workload.generated(part, units) } else { None };
        generated.unwrap_or_else(|| {
            let start = workload.keys().len() / parts * part;
            workload.stream(config.mode, start, units)
        })
    }
}

impl<F: TrafficFamily> TimedWork for Lookups<'_, F> {
    fn least_units(&self) -> usize {
        // A part of a sequential stream would cover only a part of the address space.
        match self.workload.traffic() {
            Traffic::Sequential => self.workload.keys().len(),
            _ => MIN_LOOKUPS,
        }
    }

    fn warm_up(&self, part: Part) {
        self.target.pass(self.config, self.stream(part).warm_up());
    }

    fn time(&self, part: Part) -> Done {
        let stream = self.stream(part);
        let took = self.target.pass(self.config, stream).took;
        Done { units: stream.lookups(), took }
    }

    fn runs_in_process(&self) -> bool {
        self.target.runs_in_process()
    }
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
