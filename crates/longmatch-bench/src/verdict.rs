//! What verifying an engine finds out.

use longmatch::simd::Level;
use longmatch::{Corrupt, NextHopId};

use crate::kernel::Kernel;
use crate::probes::Coverage;

/// What is known of an engine afterwards.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// [`longmatch::Structure::NAME`].
    pub engine: &'static str,
    /// [`longmatch::Structure::variant`].
    pub variant: String,
    /// What [`longmatch::Engine::check`] says of the structure.
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
