//! Verification of engines on every IPv4 address and in every IPv6 range.

use core::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use longmatch::simd::{Level, Simd};
use longmatch::{CompileError, Corrupt, Engine, EngineSpec, EngineVisitor, Rib};

use crate::family::TrafficFamily;
use crate::kernel::Kernel;
use crate::mismatches::Mismatch;
use crate::sorted::{RangeSource, RibEngine, SortedRoutes};
use crate::test_addresses::{Coverage, TestAddresses};
use crate::threads::ThreadError;

/// A verifier of engines compiled from one table, with the right answers.
pub struct Verifier<'r, F: TrafficFamily> {
    rib: &'r Rib<F>,
    /// The addresses for full tests.
    addresses: TestAddresses<F>,
    /// The addresses for brief tests and for engines without a kernel for batches.
    ///
    /// `None` if `addresses` are the same.
    ranges: Option<TestAddresses<F>>,
    /// The addresses for oracles, which are too slow for a sweep.
    scan_addresses: OnceLock<TestAddresses<F>>,
    /// The levels, lowest first, each with whether all `addresses` are tested.
    levels: Vec<(Simd, bool)>,
    threads: usize,
}

/// The result of verifying one engine.
#[derive(Clone, Debug)]
pub struct EngineResult {
    /// [`longmatch::Structure::NAME`].
    pub engine: &'static str,
    /// [`longmatch::Structure::variant`].
    pub variant: String,
    /// Result of [`longmatch::Engine::check`].
    pub check: Result<(), Corrupt>,
    /// Results of each kernel at each SIMD level, lowest level first.
    pub results: Vec<KernelResult>,
}

impl EngineResult {
    /// Whether the structure is sound and every answer is right.
    pub fn is_right(&self) -> bool {
        self.check.is_ok() && self.results.iter().all(|result| result.mismatches == 0)
    }
}

/// The result of verifying one kernel at one SIMD level.
#[derive(Clone, Debug)]
pub struct KernelResult {
    /// The kernel.
    pub kernel: Kernel,
    /// The SIMD level.
    pub level: Level,
    /// Coverage of the address space.
    pub coverage: Coverage,
    /// Number of addresses looked up.
    pub addresses: u64,
    /// Number of wrong answers.
    pub mismatches: u64,
    /// The first wrong answers, sorted by address.
    pub examples: Vec<Mismatch>,
    /// Time of the lookups and comparisons, in seconds.
    pub seconds: f64,
}

/// Progress of the verification of one engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerifyStep {
    /// Lookups since the last step.
    pub addresses: u64,
    /// Lookups of the whole verification.
    pub total: u64,
}

/// Error of verifying an engine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The engine does not exist with these options or cannot hold the table.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The system did not start all threads.
    #[error(transparent)]
    Threads(#[from] ThreadError),
}

/// Progress callback; any thread may call it.
pub type OnStep<'a> = &'a (dyn Fn(VerifyStep) + Sync);

impl<'r, F: TrafficFamily> Verifier<'r, F> {
    /// A verifier of engines compiled from `rib`; the right answers come from `reference`.
    ///
    /// It tests the `brief` levels only in ranges, to avoid long sweeps of IPv4, and uses as many
    /// threads as there are CPUs. O(routes).
    pub fn new(
        rib: &'r Rib<F>,
        reference: &impl RangeSource<F>,
        full: &[Simd],
        brief: &[Simd],
    ) -> Self {
        let brief = brief.iter().map(|simd| (*simd, false));
        let mut levels: Vec<_> = brief.chain(full.iter().map(|simd| (*simd, true))).collect();
        levels.sort_by_key(|(simd, _)| simd.level());
        Self {
            rib,
            addresses: TestAddresses::new(reference),
            ranges: F::SWEEPABLE.then(|| TestAddresses::ranges(reference)),
            scan_addresses: OnceLock::new(),
            levels,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Verifies a compiled engine that is not an oracle.
    ///
    /// # Errors
    /// If the system does not start all threads.
    pub fn verify_engine<E: Engine<F>>(
        &self,
        engine: &E,
        on_step: OnStep<'_>,
    ) -> Result<EngineResult, ThreadError> {
        self.run(engine, self.kernel_tests(false, E::BATCHES), None, on_step)
    }

    /// Verifies the RIB itself against the sorted routes of its table.
    ///
    /// It runs only at the highest level, because the RIB selects its level itself.
    ///
    /// # Errors
    /// If the system does not start all threads.
    pub fn verify_rib(
        &self,
        reference: Arc<SortedRoutes<F>>,
        on_step: OnStep<'_>,
    ) -> Result<EngineResult, ThreadError> {
        let mut tests = self.kernel_tests(false, true);
        let highest = tests.last().map(|test| test.simd.level());
        tests.retain(|test| Some(test.simd.level()) == highest);
        self.run(&RibEngine::new(self.rib, reference), tests, None, on_step)
    }

    /// The tests of one engine, lowest level first.
    fn kernel_tests(&self, is_oracle: bool, batches: bool) -> Vec<KernelTest<'_, F>> {
        let ranges = self.ranges.as_ref().unwrap_or(&self.addresses);
        let scan = || self.scan_addresses.get_or_init(|| TestAddresses::for_scans(self.rib));
        let scan_addresses = is_oracle.then(scan);
        let test = |simd, full, kernel| {
            // Without a kernel for batches, `Batch` runs the code of `Each`. Its ranges are still
            // verified, in case the engine states that wrongly.
            let full = full && (batches || kernel == Kernel::Each);
            let addresses = if full { &self.addresses } else { ranges };
            KernelTest { simd, kernel, addresses: scan_addresses.unwrap_or(addresses) }
        };
        let kernels =
            |(simd, full): &(Simd, bool)| Kernel::ALL.map(|kernel| test(*simd, *full, kernel));
        self.levels.iter().flat_map(kernels).collect()
    }

    /// Runs the tests, on all parts of the addresses or on some, and `Engine::check`.
    fn run<E: Engine<F>>(
        &self,
        engine: &E,
        tests: Vec<KernelTest<'_, F>>,
        parts: Option<Range<usize>>,
        on_step: OnStep<'_>,
    ) -> Result<EngineResult, ThreadError> {
        let total = tests.iter().map(|test| test.addresses.len()).sum();
        let run = |KernelTest { simd, kernel, addresses }: KernelTest<'_, F>| {
            let start = Instant::now();
            let parts = parts.clone().unwrap_or(0..addresses.parts());
            let lookup =
                || move |addrs: &[_], got: &mut [_]| kernel.answer(engine, simd, addrs, got);
            let step = |addresses| on_step(VerifyStep { addresses, total });
            let counts = addresses.compare(parts, self.threads, lookup, step)?;
            Ok(KernelResult {
                kernel,
                level: simd.level(),
                coverage: addresses.coverage(),
                addresses: counts.addresses,
                mismatches: counts.mismatches,
                examples: counts.examples(),
                seconds: start.elapsed().as_secs_f64(),
            })
        };
        let results = tests.into_iter().map(run).collect::<Result<_, _>>()?;
        let check = engine.check(self.rib);
        Ok(EngineResult { engine: E::NAME, variant: engine.variant(), check, results })
    }
}

/// A test of one kernel at one SIMD level.
#[derive(Clone, Copy)]
struct KernelTest<'v, F: TrafficFamily> {
    simd: Simd,
    kernel: Kernel,
    addresses: &'v TestAddresses<F>,
}

struct VerifyVisitor<'a, 'r, F: TrafficFamily> {
    verifier: &'a Verifier<'r, F>,
    is_oracle: bool,
    on_step: OnStep<'a>,
}

/// Compiles an engine and verifies it.
pub(crate) fn compile<F: TrafficFamily>(
    verifier: &Verifier<'_, F>,
    spec: &EngineSpec,
    on_step: OnStep<'_>,
) -> Result<EngineResult, VerifyError> {
    let is_oracle = spec.kind.is_oracle();
    Ok(F::build(spec, verifier.rib, VerifyVisitor { verifier, is_oracle, on_step })??)
}

impl<F: TrafficFamily> EngineVisitor<F> for VerifyVisitor<'_, '_, F> {
    type Output = Result<EngineResult, ThreadError>;

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        let Self { verifier, is_oracle, on_step } = self;
        verifier.run(&engine, verifier.kernel_tests(is_oracle, E::BATCHES), None, on_step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_loops::BenchFamily;
    use crate::mismatches::EXAMPLES;
    use crate::testing::{WrongEngine, table4, table6};
    use crate::threads::testing::refusing;
    use longmatch::{
        EngineKind, Engines, Family, Ipv4, Ipv6, NextHopId, engine::linear::Linear,
        engine::radix::Radix,
    };
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Every engine is right at every level, and its steps add up to the total.
    #[test]
    fn every_engine_is_right_on_ipv6() {
        let rib = table6();
        let levels: Vec<_> = Simd::available().collect();
        let verifier = Verifier::<Ipv6>::new(&rib, &rib, &[Simd::best()], &levels);
        for kind in EngineKind::ALL.into_iter().filter(|kind| Ipv6::has(*kind)) {
            let (done, total) = (AtomicU64::new(0), AtomicU64::new(0));
            let count = |step: VerifyStep| {
                done.fetch_add(step.addresses, Relaxed);
                total.store(step.total, Relaxed);
            };
            let verdict = Ipv6::verify(&verifier, &kind.into(), &count).unwrap();
            assert!(verdict.is_right(), "{verdict:?}");
            assert_eq!(verdict.engine, kind.name());
            let looked_up: u64 = verdict.results.iter().map(|result| result.addresses).sum();
            assert_eq!((done.into_inner(), total.into_inner()), (looked_up, looked_up));
        }
    }

    /// The full sweep of `longmatch-lab verify`.
    #[test]
    #[ignore = "takes minutes without optimisation"]
    fn every_engine_is_right_on_every_ipv4_address() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, &rib, &[Simd::best()], &[]);
        let verdict = |kind: EngineKind| Ipv4::verify(&verifier, &kind.into(), &|_| ()).unwrap();
        assert!(EngineKind::ALL.into_iter().all(|kind| verdict(kind).is_right()));
    }

    fn wrong<F: TrafficFamily>(
        rib: &Rib<F>,
        at: F::Bits,
        batch_only: bool,
    ) -> WrongEngine<F, Radix<F>> {
        WrongEngine { engine: Radix::compile(rib, &()).unwrap(), at, batch_only }
    }

    /// Verifies an engine with a wrong answer on the IPv4 addresses with the same first 12 bits.
    ///
    /// One part suffices, because another test shows that the parts are complete.
    fn verified_in_part(levels: &[Simd], at: u32, batch_only: bool) -> Vec<KernelResult> {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, &rib, levels, &[]);
        let (tests, part) = (verifier.kernel_tests(false, true), (at >> 20) as usize);
        let engine = wrong(&rib, at, batch_only);
        let verdict = verifier.run(&engine, tests, Some(part..part + 1), &|_| ()).unwrap();
        assert!(!verdict.is_right());
        verdict.results
    }

    #[test]
    fn one_wrong_ipv4_address_is_found() {
        for (at, address) in [(0, "0.0.0.0"), (u32::MAX, "255.255.255.255")] {
            for result in verified_in_part(&[Simd::best()], at, false) {
                assert_eq!((result.addresses, result.mismatches), (1 << 20, 1));
                let [expected, got] = [1, 2].map(NextHopId::new);
                let mismatch = Mismatch { address: address.into(), expected, got };
                assert_eq!(result.examples, [mismatch], "{}", result.kernel);
            }
        }
    }

    #[test]
    fn only_the_wrong_kernel_has_mismatches() {
        let levels: Vec<_> = Simd::available().collect();
        let results = verified_in_part(&levels, 0xc000_0240, true);
        assert_eq!(results.len(), 2 * levels.len());
        for result in &results {
            assert_eq!(result.mismatches, u64::from(result.kernel == Kernel::Batch));
        }
    }

    #[test]
    fn a_wrong_end_of_an_ipv6_range_is_found() {
        let rib = table6();
        let verifier = Verifier::<Ipv6>::new(&rib, &rib, &[Simd::best()], &[]);
        for at in rib.ranges().flat_map(|range| [range.first, range.last]) {
            let verdict = verifier.verify_engine(&wrong(&rib, at, false), &|_| ()).unwrap();
            let result = &verdict.results[0];
            assert_eq!((result.mismatches, result.coverage), (1, Coverage::EveryRange));
            assert_eq!(result.examples[0].address, Ipv6::addr(at).to_string());
        }
    }

    #[test]
    fn a_failed_check_is_reported() {
        let (rib, other) = (table6(), Rib::new());
        let verifier = Verifier::<Ipv6>::new(&rib, &rib, &[Simd::best()], &[]);
        let engine = Linear::<Ipv6>::compile(&other, &()).unwrap();
        let verdict = verifier.verify_engine(&engine, &|_| ()).unwrap();
        assert!(verdict.check.is_err() && !verdict.is_right());
        assert!(verdict.results.iter().all(|result| result.mismatches > 0));
        assert!(verdict.results.iter().all(|result| result.examples.len() == EXAMPLES));
    }

    #[test]
    fn a_refused_thread_is_an_error() {
        let rib = table6();
        let verifier = Verifier::<Ipv6>::new(&rib, &rib, &[Simd::best()], &[]);
        let verifier = Verifier { threads: 3, ..verifier };
        let verify = || Ipv6::verify(&verifier, &EngineKind::Radix.into(), &|_| ());
        let error = refusing(2, verify).unwrap_err();
        assert!(matches!(error, VerifyError::Threads(ThreadError { started: 2, wanted: 3, .. })));
        assert!(verify().unwrap().is_right());
    }

    #[test]
    fn levels_can_be_verified_in_ranges_only() {
        let rib = table4();
        let levels: Vec<_> = Simd::available().collect();
        let verifier = Verifier::<Ipv4>::new(&rib, &rib, &[], &levels);
        let engine = wrong(&rib, 0xffff_ffef, false);
        let verdict = verifier.verify_engine(&engine, &|_| ()).unwrap();
        assert_eq!(verdict.results.len(), 2 * levels.len());
        assert!(verdict.results.iter().all(|it| it.coverage == Coverage::EveryRange));
        assert!(verdict.results.iter().all(|it| it.mismatches == 1));
        assert!(verdict.results.is_sorted_by_key(|it| it.level));
    }

    /// Batches are swept only if the engine has a kernel for them.
    #[test]
    fn batches_without_a_kernel_are_not_swept_twice() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, &rib, &[Simd::best()], &[]);
        let coverage = |batches| {
            let tests = verifier.kernel_tests(false, batches);
            tests.iter().map(|test| test.addresses.coverage()).collect::<Vec<_>>()
        };
        assert_eq!(coverage(true), [Coverage::EveryAddress; 2]);
        assert_eq!(coverage(false), [Coverage::EveryAddress, Coverage::EveryRange]);
    }
}
