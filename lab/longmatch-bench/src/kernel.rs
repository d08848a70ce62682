//! The two methods with which every engine looks up many addresses.

use longmatch::simd::Simd;
use longmatch::{Family, Lookup, NextHopId};

/// A method of an engine to look up many addresses.
///
/// Both are checked, because they share little code in a fast engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kernel {
    /// [`Lookup::lookup_each`]: the scalar algorithm, address by address.
    Each,
    /// [`Lookup::lookup_batch_with`]: the engine's kernel for batches.
    Batch,
}

impl Kernel {
    /// Both kernels.
    pub const ALL: [Self; 2] = [Self::Each, Self::Batch];

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Each => "each",
            Self::Batch => "batch",
        }
    }

    /// Looks up `addrs` with this kernel and writes the answers to `out`.
    ///
    /// # Panics
    /// If `out` is shorter than `addrs`.
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
