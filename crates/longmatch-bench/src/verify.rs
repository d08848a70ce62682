//! The verification of an engine by its name.

use longmatch::EngineSpec;

use crate::engine_loops::BenchFamily;
use crate::verdict::Verdict;
use crate::verifier::{OnStep, Verifier, VerifyError};

impl<F: BenchFamily> Verifier<'_, F> {
    /// Compiles an engine and verifies it.
    ///
    /// # Errors
    /// If the engine does not exist with these options or cannot hold the table, or if the system
    /// does not start all threads.
    pub fn verify(
        &mut self,
        spec: &EngineSpec,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, VerifyError> {
        F::verify(self, spec, on_step)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{table4, table6};
    use crate::{Verifier, VerifyStep};
    use longmatch::simd::Simd;
    use longmatch::{EngineKind, Engines, Ipv4, Ipv6};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[test]
    fn every_engine_is_right_on_ipv6() {
        let rib = table6();
        let mut verifier = Verifier::<Ipv6>::new(&rib, Simd::available());
        for kind in EngineKind::ALL.into_iter().filter(|kind| Ipv6::has(*kind)) {
            let verdict = verifier.verify(&kind.into(), &|_| ()).unwrap();
            assert!(verdict.is_right(), "{verdict:?}");
            assert_eq!(verdict.engine, kind.name());
        }
    }

    #[test]
    fn steps_add_up_to_the_total() {
        let rib = table6();
        let mut verifier =
            Verifier::<Ipv6>::new(&rib, [Simd::best()]).and_ranges_at(Simd::available());
        for kind in EngineKind::ALL.into_iter().filter(|kind| Ipv6::has(*kind)) {
            let done = AtomicU64::new(0);
            let total = AtomicU64::new(0);
            let count = |step: VerifyStep| {
                done.fetch_add(step.addresses, Relaxed);
                total.store(step.total, Relaxed);
            };
            let verdict = verifier.verify(&kind.into(), &count).unwrap();
            let looked_up: u64 = verdict.results.iter().map(|result| result.addresses).sum();
            assert_eq!((done.into_inner(), total.into_inner()), (looked_up, looked_up));
        }
    }

    /// The full sweep of `longmatch verify`.
    #[test]
    #[ignore = "takes minutes without optimisation"]
    fn every_engine_is_right_on_every_ipv4_address() {
        let rib = table4();
        let mut verifier = Verifier::<Ipv4>::new(&rib, [Simd::best()]);
        let right = |kind: EngineKind| verifier.verify(&kind.into(), &|_| ()).unwrap().is_right();
        assert!(EngineKind::ALL.into_iter().all(right));
    }
}
