//! Verification of engines on every IPv4 address and in every IPv6 range.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use longmatch::simd::Simd;
use longmatch::{CompileError, Engine, EngineSpec, EngineVisitor, Rib};

use crate::family::TrafficFamily;
use crate::kernel::Kernel;
use crate::sorted::{RangeSource, RibEngine, SortedRoutes};
use crate::test_addresses::TestAddresses;
use crate::threads::ThreadError;
use crate::verdict::{KernelResult, Verdict};

/// A verifier of engines compiled from one table, with the right answers.
pub struct Verifier<'r, F: TrafficFamily> {
    rib: &'r Rib<F>,
    /// The addresses for `full_levels`.
    addresses: TestAddresses<F>,
    /// The addresses for `range_levels` and for engines without a kernel for batches.
    ///
    /// `None` if `addresses` are the same.
    ranges: Option<TestAddresses<F>>,
    /// The addresses for oracles, which are too slow for a sweep.
    ///
    /// The first oracle initialises them.
    scan_addresses: Option<TestAddresses<F>>,
    full_levels: Vec<Simd>,
    range_levels: Vec<Simd>,
    threads: usize,
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
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VerifyError {
    /// The engine does not exist with these options or cannot hold the table.
    Compile(CompileError),
    /// The system did not start all threads.
    Threads(ThreadError),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compile(error) => error.fmt(f),
            Self::Threads(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for VerifyError {}

impl From<CompileError> for VerifyError {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}

impl From<ThreadError> for VerifyError {
    fn from(error: ThreadError) -> Self {
        Self::Threads(error)
    }
}

/// Progress callback; any thread may call it.
pub type OnStep<'a> = &'a (dyn Fn(VerifyStep) + Sync);

impl<'r, F: TrafficFamily> Verifier<'r, F> {
    /// A verifier of engines compiled from `rib`, at each of the SIMD levels.
    ///
    /// It uses as many threads as there are CPUs. O(routes).
    pub fn new(rib: &'r Rib<F>, simd: impl IntoIterator<Item = Simd>) -> Self {
        Self::with_reference(rib, rib, simd)
    }

    /// A verifier whose right answers come from `reference` instead of the RIB.
    pub fn with_reference(
        rib: &'r Rib<F>,
        reference: &impl RangeSource<F>,
        simd: impl IntoIterator<Item = Simd>,
    ) -> Self {
        Self {
            rib,
            addresses: TestAddresses::new(reference),
            ranges: F::SWEEPABLE.then(|| TestAddresses::ranges(reference)),
            scan_addresses: None,
            full_levels: simd.into_iter().collect(),
            range_levels: Vec::new(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Adds levels that are verified only in ranges, to avoid long sweeps of IPv4.
    #[must_use]
    pub fn and_ranges_at(mut self, simd: impl IntoIterator<Item = Simd>) -> Self {
        self.range_levels.extend(simd);
        self
    }

    /// Verifies a compiled engine that is not an oracle.
    ///
    /// # Errors
    /// If the system does not start all threads.
    pub fn verify_engine<E: Engine<F>>(
        &self,
        engine: &E,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, ThreadError> {
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
    ) -> Result<Verdict, ThreadError> {
        let mut tests = self.kernel_tests(false, true);
        let highest = tests.last().map(|test| test.simd.level());
        tests.retain(|test| Some(test.simd.level()) == highest);
        self.run(&RibEngine::new(self.rib, reference), tests, None, on_step)
    }

    /// The tests of one engine, lowest level first.
    fn kernel_tests(&self, is_oracle: bool, batches: bool) -> Vec<KernelTest<'_, F>> {
        let ranges = self.ranges.as_ref().unwrap_or(&self.addresses);
        let full = self.full_levels.iter().map(|simd| (*simd, &self.addresses));
        let mut levels: Vec<_> =
            self.range_levels.iter().map(|simd| (*simd, ranges)).chain(full).collect();
        levels.sort_by_key(|(simd, _)| simd.level());
        let test = |simd, addresses, kernel| {
            // Without a kernel for batches, `Batch` runs the code of `Each`. Its ranges are still
            // verified, in case the engine states that wrongly.
            let same_code = kernel == Kernel::Batch && !batches;
            let addresses = if same_code { ranges } else { addresses };
            let scan_addresses = self.scan_addresses.as_ref().filter(|_| is_oracle);
            KernelTest { simd, kernel, addresses: scan_addresses.unwrap_or(addresses) }
        };
        let kernels = |(simd, addresses)| Kernel::ALL.map(|kernel| test(simd, addresses, kernel));
        levels.into_iter().flat_map(kernels).collect()
    }

    /// Runs the tests, on all parts of the addresses or on some, and `Engine::check`.
    fn run<E: Engine<F>>(
        &self,
        engine: &E,
        tests: Vec<KernelTest<'_, F>>,
        parts: Option<Range<usize>>,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, ThreadError> {
        let total = tests.iter().map(|test| test.addresses.len()).sum();
        let run = |KernelTest { simd, kernel, addresses }: KernelTest<'_, F>| {
            let start = Instant::now();
            let parts = parts.clone().unwrap_or(0..addresses.parts());
            let lookup =
                || move |addrs: &[_], got: &mut [_]| kernel.answer(engine, simd, addrs, got);
            let step = |addresses| on_step(VerifyStep { addresses, total });
            let tally = addresses.compare(parts, self.threads, lookup, step)?;
            Ok(KernelResult {
                kernel,
                level: simd.level(),
                coverage: addresses.coverage(),
                addresses: tally.addresses,
                mismatches: tally.mismatches,
                examples: tally.examples(),
                seconds: start.elapsed().as_secs_f64(),
            })
        };
        let results = tests.into_iter().map(run).collect::<Result<_, _>>()?;
        let check = engine.check(self.rib);
        Ok(Verdict { engine: E::NAME, variant: engine.variant(), check, results })
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
    verifier: &mut Verifier<'_, F>,
    spec: &EngineSpec,
    on_step: OnStep<'_>,
) -> Result<Verdict, VerifyError> {
    let is_oracle = spec.kind.is_oracle();
    if is_oracle && verifier.scan_addresses.is_none() {
        verifier.scan_addresses = Some(TestAddresses::for_scans(verifier.rib));
    }
    let verifier = &*verifier;
    Ok(F::build(spec, verifier.rib, VerifyVisitor { verifier, is_oracle, on_step })??)
}

impl<F: TrafficFamily> EngineVisitor<F> for VerifyVisitor<'_, '_, F> {
    type Output = Result<Verdict, ThreadError>;

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        let Self { verifier, is_oracle, on_step } = self;
        verifier.run(&engine, verifier.kernel_tests(is_oracle, E::BATCHES), None, on_step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{EXAMPLES, Mismatch};
    use crate::test_addresses::Coverage;
    use crate::testing::{WrongEngine, table4, table6};
    use crate::threads::testing::refusing;
    use longmatch::{
        EngineKind, Family, Ipv4, Ipv6, NextHopId, engine::linear::Linear, engine::radix::Radix,
    };

    fn wrong<F: TrafficFamily>(
        rib: &Rib<F>,
        at: F::Bits,
        batch_only: bool,
    ) -> WrongEngine<F, Radix<F>> {
        WrongEngine { engine: Radix::compile(rib, &()).unwrap(), at, batch_only }
    }

    fn mismatch(address: &str, expected: u32) -> Vec<Mismatch> {
        let got = NextHopId::new(expected + 1);
        vec![Mismatch { address: address.into(), expected: NextHopId::new(expected), got }]
    }

    /// One part suffices, because another test shows that the parts are complete.
    #[test]
    fn one_wrong_ipv4_address_is_found() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, [Simd::best()]);
        let last = wrong(&rib, u32::MAX, false);
        let verdict = verifier
            .run(&last, verifier.kernel_tests(false, true), Some(255..256), &|_| ())
            .unwrap();
        assert!(!verdict.is_right());
        for result in &verdict.results {
            assert_eq!((result.addresses, result.mismatches), (1 << 24, 1));
            assert_eq!(result.examples, mismatch("255.255.255.255", 1), "{}", result.kernel);
        }
        let first = wrong(&rib, 0, false);
        let verdict =
            verifier.run(&first, verifier.kernel_tests(false, true), Some(0..1), &|_| ()).unwrap();
        assert_eq!(verdict.results[0].examples, mismatch("0.0.0.0", 1));
    }

    #[test]
    fn only_the_wrong_kernel_has_mismatches() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, Simd::available());
        let engine = wrong(&rib, 0xc000_0240, true);
        let verdict = verifier
            .run(&engine, verifier.kernel_tests(false, true), Some(192..193), &|_| ())
            .unwrap();
        assert_eq!(verdict.results.len(), 2 * Simd::available().count());
        for result in &verdict.results {
            assert_eq!(result.mismatches, u64::from(result.kernel == Kernel::Batch));
        }
    }

    #[test]
    fn a_wrong_end_of_an_ipv6_range_is_found() {
        let rib = table6();
        let verifier = Verifier::<Ipv6>::new(&rib, [Simd::best()]);
        for range in rib.ranges() {
            for at in [range.first, range.last] {
                let verdict = verifier.verify_engine(&wrong(&rib, at, false), &|_| ()).unwrap();
                let result = &verdict.results[0];
                assert_eq!((result.mismatches, result.coverage), (1, Coverage::EveryRange));
                assert_eq!(result.examples[0].address, Ipv6::addr(at).to_string());
            }
        }
    }

    #[test]
    fn a_failed_check_is_reported() {
        let (rib, other) = (table6(), Rib::new());
        let verifier = Verifier::<Ipv6>::new(&rib, [Simd::best()]);
        let engine = Linear::<Ipv6>::compile(&other, &()).unwrap();
        let verdict = verifier.verify_engine(&engine, &|_| ()).unwrap();
        assert!(verdict.check.is_err() && !verdict.is_right());
        assert!(verdict.results.iter().all(|result| result.mismatches > 0));
        assert!(verdict.results.iter().all(|result| result.examples.len() == EXAMPLES));
    }

    #[test]
    fn a_refused_thread_is_an_error() {
        let rib = table6();
        let mut verifier = Verifier { threads: 3, ..Verifier::<Ipv6>::new(&rib, [Simd::best()]) };
        let spec = EngineKind::Radix.into();
        let error = refusing(2, || verifier.verify(&spec, &|_| ())).unwrap_err();
        assert!(matches!(error, VerifyError::Threads(ThreadError { started: 2, wanted: 3, .. })));
        assert!(verifier.verify(&spec, &|_| ()).unwrap().is_right());
    }

    #[test]
    fn levels_can_be_verified_in_ranges_only() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, []).and_ranges_at(Simd::available());
        let engine = wrong(&rib, 0xffff_ffef, false);
        let verdict = verifier.verify_engine(&engine, &|_| ()).unwrap();
        assert_eq!(verdict.results.len(), 2 * Simd::available().count());
        assert!(verdict.results.iter().all(|it| it.coverage == Coverage::EveryRange));
        assert!(verdict.results.iter().all(|it| it.mismatches == 1));
        assert!(verdict.results.is_sorted_by_key(|it| it.level));
    }

    /// Batches are swept only if the engine has a kernel for them.
    #[test]
    fn batches_without_a_kernel_are_not_swept_twice() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, [Simd::best()]);
        let coverage = |batches| {
            let tests = verifier.kernel_tests(false, batches);
            tests.iter().map(|test| test.addresses.coverage()).collect::<Vec<_>>()
        };
        assert_eq!(coverage(true), [Coverage::EveryAddress; 2]);
        assert_eq!(coverage(false), [Coverage::EveryAddress, Coverage::EveryRange]);
    }
}
