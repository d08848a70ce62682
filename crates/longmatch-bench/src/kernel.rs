//! The two ways in which every engine answers many addresses.

use core::fmt;

use longmatch::simd::Simd;
use longmatch::{Family, Lookup, NextHopId};

/// One of the two ways. Both are checked, since they share little code in a fast engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kernel {
    /// [`Lookup::lookup_each`]: the engine's plain algorithm, address by address.
    Each,
    /// [`Lookup::lookup_batch_with`]: what the engine has for batches.
    Batch,
}

impl Kernel {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Each, Self::Batch];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Each => "each",
            Self::Batch => "batch",
        }
    }

    /// Answers addresses in this way.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    #[inline]
    pub fn answer<F: Family, E: Lookup<F>>(
        self,
        engine: &E,
        simd: Simd,
        addrs: &[F::Bits],
        out: &mut [Option<NextHopId>],
    ) {
        match self {
            Self::Each => engine.lookup_each(simd, addrs, out),
            Self::Batch => engine.lookup_batch_with(simd, addrs, out),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
