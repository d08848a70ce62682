//! Compares an engine's answers with the ranges of the RIB, on every IPv4 address, and in every
//! range of IPv6.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use longmatch::simd::Simd;
use longmatch::{CompileError, Engine, EngineSpec, EngineVisitor, NextHopId, Rib};

use crate::family::BenchFamily;
use crate::kernel::Kernel;
use crate::probes::Probes;
use crate::sorted::{RangeSource, RibEngine, SortedRoutes};
use crate::tally::Tally;
use crate::threads::{ThreadError, together};
use crate::verdict::{Agreement, Verdict};

/// What to verify with.
pub struct Verifier<'r, F: BenchFamily> {
    rib: &'r Rib<F>,
    /// For `full`.
    probes: Probes<F>,
    /// For `brief`, and for batches without a kernel of their own; `None` where it is the same.
    ranges: Option<Probes<F>>,
    /// For oracles, at every level: no sweep is worth their time. Made when the first one comes.
    scan_probes: Option<Probes<F>>,
    full: Vec<Simd>,
    brief: Vec<Simd>,
    threads: usize,
}

/// How far the verification of an engine is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Lookups done since the last step.
    pub addresses: u64,
    /// Lookups that there are to do, from the first step to the last.
    pub total: u64,
}

/// Why an engine was not verified.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VerifyError {
    /// The engine cannot hold the table, or does not exist like this.
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

/// Called with every step, from any thread.
pub type OnStep<'a> = &'a (dyn Fn(Step) + Sync);

impl<'r, F: BenchFamily> Verifier<'r, F> {
    /// Prepares to verify engines compiled from this table, at each of these levels, with as many
    /// threads as there are CPUs.
    pub fn new(rib: &'r Rib<F>, simd: impl IntoIterator<Item = Simd>) -> Self {
        Self::with_text(rib, rib, simd)
    }

    /// Prepares the same with right answers from another source than the RIB from which engines
    /// are compiled: the text of its table.
    pub fn with_text(
        rib: &'r Rib<F>,
        text: &impl RangeSource<F>,
        simd: impl IntoIterator<Item = Simd>,
    ) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let ranges = F::SWEEPABLE.then(|| Probes::ranges(text));
        let (probes, full) = (Probes::new(text), simd.into_iter().collect());
        Self { rib, probes, ranges, scan_probes: None, full, brief: Vec::new(), threads }
    }

    /// Verifies at these levels too, but only in every range of addresses: for levels beside the
    /// one that is used, since a sweep of IPv4 takes its time.
    #[must_use]
    pub fn and_briefly(mut self, simd: impl IntoIterator<Item = Simd>) -> Self {
        self.brief.extend(simd);
        self
    }

    /// Compiles an engine and verifies it.
    ///
    /// # Errors
    /// When the engine cannot hold the table, or does not exist like this; when the system does not
    /// start all threads.
    pub fn verify(
        &mut self,
        spec: &EngineSpec,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, VerifyError> {
        if spec.kind.is_oracle() && self.scan_probes.is_none() {
            self.scan_probes = Some(Probes::for_scans(self.rib));
        }
        F::verify(self, spec, on_step)
    }

    /// Verifies an engine that is compiled already, and is no oracle.
    ///
    /// # Errors
    /// When the system does not start all threads.
    pub fn verify_engine<E: Engine<F>>(
        &self,
        engine: &E,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, ThreadError> {
        self.judge(engine, self.rounds(false, E::BATCHES), None, on_step)
    }

    /// Verifies the RIB itself against the sorted text of its table, at the highest of the levels:
    /// the RIB chooses its instructions by itself.
    ///
    /// # Errors
    /// When the system does not start all threads.
    pub fn verify_rib(
        &self,
        text: Arc<SortedRoutes<F>>,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, ThreadError> {
        let mut rounds = self.rounds(false, true);
        let highest = rounds.last().map(|round| round.simd.level());
        rounds.retain(|round| Some(round.simd.level()) == highest);
        self.judge(&RibEngine::new(self.rib, text), rounds, None, on_step)
    }

    /// What to do with an engine, lowest level first.
    fn rounds(&self, is_oracle: bool, batches: bool) -> Vec<Round<'_, F>> {
        let ranges = self.ranges.as_ref().unwrap_or(&self.probes);
        let full = self.full.iter().map(|simd| (*simd, &self.probes));
        let mut levels: Vec<_> =
            self.brief.iter().map(|simd| (*simd, ranges)).chain(full).collect();
        levels.sort_by_key(|(simd, _)| simd.level());
        let round = |simd, probes, kernel| {
            // Without a kernel of their own batches take the very way that `Each` takes. The
            // ranges would show if an engine claimed that wrongly.
            let same = kernel == Kernel::Batch && !batches;
            let probes = if same { ranges } else { probes };
            let scan_probes = self.scan_probes.as_ref().filter(|_| is_oracle);
            Round { simd, kernel, probes: scan_probes.unwrap_or(probes) }
        };
        let kernels = |(simd, probes)| Kernel::ALL.map(|kernel| round(simd, probes, kernel));
        levels.into_iter().flat_map(kernels).collect()
    }

    /// Does it; only in some of the parts of the addresses when told so.
    fn judge<E: Engine<F>>(
        &self,
        engine: &E,
        rounds: Vec<Round<'_, F>>,
        parts: Option<Range<usize>>,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, ThreadError> {
        let total = rounds.iter().map(|round| round.probes.len()).sum();
        let run = |round: Round<'_, F>| {
            let parts = parts.clone().unwrap_or(0..round.probes.parts());
            Job { engine, round, total, on_step }.run(parts, self.threads)
        };
        let results = rounds.into_iter().map(run).collect::<Result<_, _>>()?;
        let check = engine.check(self.rib);
        Ok(Verdict { engine: E::NAME, variant: engine.variant(), check, results })
    }
}

/// One kernel at one level, and what to look up with it.
#[derive(Clone, Copy)]
struct Round<'v, F: BenchFamily> {
    simd: Simd,
    kernel: Kernel,
    probes: &'v Probes<F>,
}

struct Verify<'a, 'r, F: BenchFamily> {
    verifier: &'a Verifier<'r, F>,
    is_oracle: bool,
    on_step: OnStep<'a>,
}

/// Compiles an engine and verifies it.
pub(crate) fn compile<F: BenchFamily>(
    verifier: &Verifier<'_, F>,
    spec: &EngineSpec,
    on_step: OnStep<'_>,
) -> Result<Verdict, VerifyError> {
    let is_oracle = spec.kind.is_oracle();
    Ok(F::build(spec, verifier.rib, Verify { verifier, is_oracle, on_step })??)
}

impl<F: BenchFamily> EngineVisitor<F> for Verify<'_, '_, F> {
    type Output = Result<Verdict, ThreadError>;

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        let Self { verifier, is_oracle, on_step } = self;
        verifier.judge(&engine, verifier.rounds(is_oracle, E::BATCHES), None, on_step)
    }
}

/// A round at work.
struct Job<'a, F: BenchFamily, E> {
    engine: &'a E,
    round: Round<'a, F>,
    /// Lookups of all rounds.
    total: u64,
    on_step: OnStep<'a>,
}

impl<F: BenchFamily, E: Engine<F>> Job<'_, F, E> {
    fn run(&self, parts: Range<usize>, threads: usize) -> Result<Agreement, ThreadError> {
        let start = Instant::now();
        // Neighbouring parts go to different threads: they take about the same time.
        let work = |i| self.thread(parts.clone().skip(i).step_by(threads));
        let tally: Tally<F> = together(threads, work)?.into_iter().collect();
        Ok(Agreement {
            kernel: self.round.kernel,
            level: self.round.simd.level(),
            coverage: self.round.probes.coverage(),
            addresses: tally.addresses,
            mismatches: tally.mismatches,
            examples: tally.examples(),
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Looks up the addresses of some parts.
    fn thread(&self, parts: impl Iterator<Item = usize>) -> Tally<F> {
        let mut tally = Tally::new();
        let Round { simd, kernel, probes } = self.round;
        let mut got = Vec::new();
        for part in parts {
            let addresses = probes.visit(part, |addrs, expected| {
                // What an engine leaves unwritten must not look right by chance.
                got.clear();
                got.resize(addrs.len(), NextHopId::new(u32::MAX));
                kernel.answer(self.engine, simd, addrs, &mut got);
                tally.compare(addrs, expected, &got);
            });
            (self.on_step)(Step { addresses, total: self.total });
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::Coverage;
    use crate::tally::EXAMPLES;
    use crate::testing::{Wrong, table4, table6};
    use crate::threads::testing::refusing;
    use crate::verdict::Mismatch;
    use longmatch::{
        EngineKind, Engines, Family, Ipv4, Ipv6, engine::linear::Linear, engine::radix::Radix,
    };
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    fn wrong<F: BenchFamily>(rib: &Rib<F>, at: F::Bits, batch_only: bool) -> Wrong<F, Radix<F>> {
        Wrong { engine: Radix::compile(rib, &()).unwrap(), at, batch_only }
    }

    fn mismatch(address: &str, expected: u32) -> Vec<Mismatch> {
        let got = NextHopId::new(expected + 1);
        vec![Mismatch { address: address.into(), expected: NextHopId::new(expected), got }]
    }

    /// A part of 2^24 addresses is enough here: that parts leave nothing out is tested apart.
    #[test]
    fn one_wrong_ipv4_address_is_found() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, [Simd::best()]);
        let last = wrong(&rib, u32::MAX, false);
        let verdict =
            verifier.judge(&last, verifier.rounds(false, true), Some(255..256), &|_| ()).unwrap();
        assert!(!verdict.is_right());
        for result in &verdict.results {
            assert_eq!((result.addresses, result.mismatches), (1 << 24, 1));
            assert_eq!(result.examples, mismatch("255.255.255.255", 1), "{}", result.kernel);
        }
        let first = wrong(&rib, 0, false);
        let verdict =
            verifier.judge(&first, verifier.rounds(false, true), Some(0..1), &|_| ()).unwrap();
        assert_eq!(verdict.results[0].examples, mismatch("0.0.0.0", 1));
    }

    #[test]
    fn a_wrong_kernel_is_told_from_a_right_one() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, Simd::available());
        let engine = wrong(&rib, 0xc000_0240, true);
        let verdict =
            verifier.judge(&engine, verifier.rounds(false, true), Some(192..193), &|_| ()).unwrap();
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
    fn lower_levels_can_be_verified_briefly() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, []).and_briefly(Simd::available());
        let engine = wrong(&rib, 0xffff_ffef, false);
        let verdict = verifier.verify_engine(&engine, &|_| ()).unwrap();
        assert_eq!(verdict.results.len(), 2 * Simd::available().count());
        assert!(verdict.results.iter().all(|it| it.coverage == Coverage::EveryRange));
        assert!(verdict.results.iter().all(|it| it.mismatches == 1));
        assert!(verdict.results.is_sorted_by_key(|it| it.level));
    }

    /// Where there is no kernel for batches, they are swept only where there is something to find.
    #[test]
    fn batches_without_a_kernel_are_not_swept_twice() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, [Simd::best()]);
        let coverage = |batches| {
            let rounds = verifier.rounds(false, batches);
            rounds.iter().map(|round| round.probes.coverage()).collect::<Vec<_>>()
        };
        assert_eq!(coverage(true), [Coverage::EveryAddress; 2]);
        assert_eq!(coverage(false), [Coverage::EveryAddress, Coverage::EveryRange]);
    }

    #[test]
    fn progress_adds_up() {
        let rib = table6();
        let mut verifier =
            Verifier::<Ipv6>::new(&rib, [Simd::best()]).and_briefly(Simd::available());
        for kind in EngineKind::ALL.into_iter().filter(|kind| Ipv6::has(*kind)) {
            let done = AtomicU64::new(0);
            let total = AtomicU64::new(0);
            let count = |step: Step| {
                done.fetch_add(step.addresses, Relaxed);
                total.store(step.total, Relaxed);
            };
            let verdict = verifier.verify(&kind.into(), &count).unwrap();
            let looked_up: u64 = verdict.results.iter().map(|result| result.addresses).sum();
            assert_eq!((done.into_inner(), total.into_inner()), (looked_up, looked_up));
        }
    }

    /// The whole of IPv4, as the command line does it.
    #[test]
    #[ignore = "takes minutes without optimisation"]
    fn every_engine_is_right_on_every_ipv4_address() {
        let rib = table4();
        let mut verifier = Verifier::<Ipv4>::new(&rib, [Simd::best()]);
        let right = |kind: EngineKind| verifier.verify(&kind.into(), &|_| ()).unwrap().is_right();
        assert!(EngineKind::ALL.into_iter().all(right));
    }
}
