//! Results of verifying an engine.

use longmatch::Corrupt;
use longmatch::simd::Level;

use crate::kernel::Kernel;
use crate::tally::Mismatch;
use crate::test_addresses::Coverage;

/// The result of verifying one engine.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// [`longmatch::Structure::NAME`].
    pub engine: &'static str,
    /// [`longmatch::Structure::variant`].
    pub variant: String,
    /// Result of [`longmatch::Engine::check`].
    pub check: Result<(), Corrupt>,
    /// Results of each kernel at each SIMD level, lowest level first.
    pub results: Vec<KernelResult>,
}

impl Verdict {
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
