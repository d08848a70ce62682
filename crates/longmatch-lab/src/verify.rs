//! Compares an engine's answers with the ranges of the RIB, on every IPv4 address, and in every
//! range of IPv6.

use core::ops::Range;
use std::time::Instant;

use longmatch::simd::{Level, Simd};
use longmatch::{CompileError, Corrupt, Engine, EngineSpec, EngineVisitor, Family, NextHopId, Rib};

use crate::family::LabFamily;
use crate::kernel::Kernel;
use crate::probes::{Coverage, Probes};

/// How many wrong answers are kept to be shown.
const EXAMPLES: usize = 5;

/// What to verify with.
pub struct Verifier<'r, F: LabFamily> {
    rib: &'r Rib<F>,
    /// For `full`.
    probes: Probes<F>,
    /// For `brief`.
    ranges: Option<Probes<F>>,
    /// For oracles, at every level: no sweep is worth their time. Made when the first one comes.
    scan_probes: Option<Probes<F>>,
    full: Vec<Simd>,
    brief: Vec<Simd>,
    threads: usize,
}

/// What is known of an engine afterwards.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// [`Engine::NAME`].
    pub engine: &'static str,
    /// [`Engine::variant`].
    pub variant: String,
    /// What [`Engine::check`] says of the structure.
    pub check: Result<(), Corrupt>,
    /// The answers of each kernel at each level.
    pub results: Vec<Agreement>,
}

impl Verdict {
    /// Whether the structure is sound and every answer right.
    pub fn is_right(&self) -> bool {
        self.check.is_ok() && self.results.iter().all(|result| result.mismatches == 0)
    }
}

/// How far the answers of one kernel agree with the ranges of the RIB.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The kernel.
    pub kernel: Kernel,
    /// The instructions it was allowed to use.
    pub level: Level,
    /// What the addresses stand for.
    pub coverage: Coverage,
    /// How many addresses were looked up.
    pub addresses: u64,
    /// How many answers were wrong.
    pub mismatches: u64,
    /// The first wrong answers, by address.
    pub examples: Vec<Mismatch>,
    /// How long it took, comparison included.
    pub seconds: f64,
}

/// A wrong answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The address, as text.
    pub address: String,
    /// The answer of the RIB.
    pub expected: Option<NextHopId>,
    /// The answer of the engine.
    pub got: Option<NextHopId>,
}

/// How far a verification is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The kernel at work.
    pub kernel: Kernel,
    /// The level at work.
    pub level: Level,
    /// Addresses done since the last step.
    pub addresses: u64,
}

/// Called with every step, from any thread.
pub type OnStep<'a> = &'a (dyn Fn(Step) + Sync);

impl<'r, F: LabFamily> Verifier<'r, F> {
    /// Prepares to verify engines compiled from this table, at each of these levels, with as many
    /// threads as there are CPUs.
    pub fn new(rib: &'r Rib<F>, simd: impl IntoIterator<Item = Simd>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (probes, full) = (Probes::new(rib), simd.into_iter().collect());
        Self { rib, probes, ranges: None, scan_probes: None, full, brief: Vec::new(), threads }
    }

    /// Verifies at these levels too, but only in every range of addresses: for levels beside the
    /// one that is used, since a sweep of IPv4 takes its time.
    #[must_use]
    pub fn and_briefly(mut self, simd: impl IntoIterator<Item = Simd>) -> Self {
        self.brief.extend(simd);
        self.ranges = (!self.brief.is_empty()).then(|| Probes::ranges(self.rib));
        self
    }

    /// How many lookups the verification of an engine takes, for a progress display.
    pub fn lookups(&mut self, spec: &EngineSpec) -> u64 {
        self.prepare(spec);
        let rounds = self.rounds(self.scans(spec));
        rounds.map(|(probes, _)| probes.len() * Kernel::ALL.len() as u64).sum()
    }

    /// Compiles an engine and verifies it.
    ///
    /// # Errors
    /// When the engine cannot hold the table, or does not exist like this.
    pub fn verify(
        &mut self,
        spec: &EngineSpec,
        on_step: OnStep<'_>,
    ) -> Result<Verdict, CompileError> {
        self.prepare(spec);
        let visitor = Verify { verifier: &*self, scans: self.scans(spec), on_step };
        F::build(spec, self.rib, visitor)
    }

    /// Verifies an engine that is compiled already, and is no oracle.
    pub fn verify_engine<E: Engine<F>>(&self, engine: &E, on_step: OnStep<'_>) -> Verdict {
        self.judge(engine, self.rounds(None), None, on_step)
    }

    fn prepare(&mut self, spec: &EngineSpec) {
        if spec.kind.is_oracle() && self.scan_probes.is_none() {
            self.scan_probes = Some(Probes::for_scans(self.rib));
        }
    }

    /// What to verify an oracle on instead of everything else.
    fn scans(&self, spec: &EngineSpec) -> Option<&Probes<F>> {
        self.scan_probes.as_ref().filter(|_| spec.kind.is_oracle())
    }

    /// Each level with the addresses to verify it on, lowest level first.
    fn rounds<'v>(
        &'v self,
        scans: Option<&'v Probes<F>>,
    ) -> impl Iterator<Item = (&'v Probes<F>, Simd)> {
        let full = self.full.iter().map(|simd| (&self.probes, *simd));
        let brief =
            self.ranges.iter().flat_map(|ranges| self.brief.iter().map(move |s| (ranges, *s)));
        let mut rounds: Vec<_> = brief.chain(full).collect();
        rounds.sort_by_key(|(_, simd)| simd.level());
        rounds.into_iter().map(move |(probes, simd)| (scans.unwrap_or(probes), simd))
    }

    /// Verifies an engine, only in some of the parts of the addresses when told so.
    fn judge<'v, E: Engine<F>>(
        &self,
        engine: &E,
        rounds: impl Iterator<Item = (&'v Probes<F>, Simd)>,
        parts: Option<Range<usize>>,
        on_step: OnStep<'_>,
    ) -> Verdict {
        let mut results = Vec::new();
        for (probes, simd) in rounds {
            let parts = parts.clone().unwrap_or(0..probes.parts());
            for kernel in Kernel::ALL {
                let job = Job { engine, probes, kernel, simd, on_step };
                results.push(job.run(parts.clone(), self.threads));
            }
        }
        let check = engine.check(self.rib);
        Verdict { engine: E::NAME, variant: Engine::variant(engine), check, results }
    }
}

struct Verify<'a, 'r, F: LabFamily> {
    verifier: &'a Verifier<'r, F>,
    scans: Option<&'a Probes<F>>,
    on_step: OnStep<'a>,
}

impl<F: LabFamily> EngineVisitor<F> for Verify<'_, '_, F> {
    type Output = Verdict;

    fn visit<E: Engine<F>>(self, engine: E) -> Verdict {
        let Self { verifier, scans, on_step } = self;
        verifier.judge(&engine, verifier.rounds(scans), None, on_step)
    }
}

/// One kernel at one level.
struct Job<'a, F: LabFamily, E> {
    engine: &'a E,
    probes: &'a Probes<F>,
    kernel: Kernel,
    simd: Simd,
    on_step: OnStep<'a>,
}

/// What one thread has seen.
struct Seen<F: Family> {
    addresses: u64,
    mismatches: u64,
    /// At most [`EXAMPLES`]: address, expected, got.
    wrong: Vec<(F::Bits, Option<NextHopId>, Option<NextHopId>)>,
}

impl<F: LabFamily, E: Engine<F>> Job<'_, F, E> {
    fn run(&self, parts: Range<usize>, threads: usize) -> Agreement {
        let start = Instant::now();
        let seen: Vec<Seen<F>> = std::thread::scope(|scope| {
            // Neighbouring parts go to different threads: they take about the same time.
            let work = |i| self.thread(parts.clone().skip(i).step_by(threads));
            let all: Vec<_> = (0..threads).map(|i| scope.spawn(move || work(i))).collect();
            all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let mut wrong: Vec<_> = seen.iter().flat_map(|seen| seen.wrong.iter().copied()).collect();
        wrong.sort_unstable_by_key(|(addr, ..)| *addr);
        wrong.truncate(EXAMPLES);
        let examples = wrong.into_iter().map(|(addr, expected, got)| Mismatch {
            address: F::addr(addr).to_string(),
            expected,
            got,
        });
        Agreement {
            kernel: self.kernel,
            level: self.simd.level(),
            coverage: self.probes.coverage(),
            addresses: seen.iter().map(|seen| seen.addresses).sum(),
            mismatches: seen.iter().map(|seen| seen.mismatches).sum(),
            examples: examples.collect(),
            seconds: start.elapsed().as_secs_f64(),
        }
    }

    /// Looks up the addresses of some parts.
    fn thread(&self, parts: impl Iterator<Item = usize>) -> Seen<F> {
        let mut seen = Seen { addresses: 0, mismatches: 0, wrong: Vec::new() };
        let mut got = Vec::new();
        for part in parts {
            let addresses = self.probes.visit(part, |addrs, expected| {
                // What an engine leaves unwritten must not look right by chance.
                got.clear();
                got.resize(addrs.len(), NextHopId::new(u32::MAX));
                self.kernel.answer(self.engine, self.simd, addrs, &mut got);
                if got != expected {
                    seen.note(addrs, expected, &got);
                }
            });
            seen.addresses += addresses;
            let (kernel, level) = (self.kernel, self.simd.level());
            (self.on_step)(Step { kernel, level, addresses });
        }
        seen
    }
}

impl<F: Family> Seen<F> {
    #[cold]
    fn note(
        &mut self,
        addrs: &[F::Bits],
        expected: &[Option<NextHopId>],
        got: &[Option<NextHopId>],
    ) {
        for ((addr, expected), got) in addrs.iter().zip(expected).zip(got) {
            if expected != got {
                self.mismatches += 1;
                if self.wrong.len() < EXAMPLES {
                    self.wrong.push((*addr, *expected, *got));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Wrong, table4, table6};
    use longmatch::{EngineKind, Ipv4, Ipv6, engine::linear::Linear, engine::radix::Radix};

    fn wrong<F: LabFamily>(rib: &Rib<F>, at: F::Bits, batch_only: bool) -> Wrong<F, Radix<F>> {
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
        let verdict = verifier.judge(&last, verifier.rounds(None), Some(255..256), &|_| ());
        assert!(!verdict.is_right());
        for result in &verdict.results {
            assert_eq!((result.addresses, result.mismatches), (1 << 24, 1));
            assert_eq!(result.examples, mismatch("255.255.255.255", 1), "{}", result.kernel);
        }
        let first = wrong(&rib, 0, false);
        let verdict = verifier.judge(&first, verifier.rounds(None), Some(0..1), &|_| ());
        assert_eq!(verdict.results[0].examples, mismatch("0.0.0.0", 1));
    }

    #[test]
    fn a_wrong_kernel_is_told_from_a_right_one() {
        let rib = table4();
        let verifier = Verifier::<Ipv4>::new(&rib, Simd::available());
        let engine = wrong(&rib, 0xc000_0240, true);
        let verdict = verifier.judge(&engine, verifier.rounds(None), Some(192..193), &|_| ());
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
                let verdict = verifier.verify_engine(&wrong(&rib, at, false), &|_| ());
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
        let verdict = verifier.verify_engine(&engine, &|_| ());
        assert!(verdict.check.is_err() && !verdict.is_right());
        assert!(verdict.results.iter().all(|result| result.mismatches > 0));
        assert!(verdict.results.iter().all(|result| result.examples.len() == EXAMPLES));
    }

    #[test]
    fn every_engine_is_right_on_ipv6() {
        let rib = table6();
        let mut verifier = Verifier::<Ipv6>::new(&rib, Simd::available());
        for kind in EngineKind::ALL {
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
        let verdict = verifier.verify_engine(&engine, &|_| ());
        assert_eq!(verdict.results.len(), 2 * Simd::available().count());
        assert!(verdict.results.iter().all(|it| it.coverage == Coverage::EveryRange));
        assert!(verdict.results.iter().all(|it| it.mismatches == 1));
        assert!(verdict.results.is_sorted_by_key(|it| it.level));
    }

    #[test]
    fn progress_adds_up() {
        let rib = table6();
        let mut verifier =
            Verifier::<Ipv6>::new(&rib, [Simd::best()]).and_briefly(Simd::available());
        let spec = EngineKind::Radix.into();
        let total = verifier.lookups(&spec);
        let done = std::sync::atomic::AtomicU64::new(0);
        let count = |step: Step| {
            done.fetch_add(step.addresses, std::sync::atomic::Ordering::Relaxed);
        };
        verifier.verify(&spec, &count).unwrap();
        assert_eq!(done.into_inner(), total);
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
