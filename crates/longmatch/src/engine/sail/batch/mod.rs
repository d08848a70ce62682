//! Many addresses at once, in the order of preference: `avx512` and `avx2`, a gather a level;
//! `scalar`, several addresses in flight. With `batch=each` one address follows the other, as in
//! the paper; `batch=flight` is `scalar` at every level.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
mod scalar;

use super::Batch;
use super::layout::Sail;
use crate::engine::Lookup;
use crate::next_hop::NextHopId;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::simd::Level;
use crate::simd::{Simd, Work};

/// Answers `addrs` into `out`, which is as long.
pub(super) fn lookup_batch(sail: &Sail, simd: Simd, addrs: &[u32], out: &mut [Option<NextHopId>]) {
    match sail.batch {
        Batch::Each => sail.lookup_each(simd, addrs, out),
        Batch::Flight => simd.run(InFlight { sail, addrs, out }),
        Batch::Auto => best(sail, simd, addrs, out),
    }
}

fn best(sail: &Sail, simd: Simd, addrs: &[u32], out: &mut [Option<NextHopId>]) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    match simd.level() {
        // SAFETY: the value `simd` exists with this level.
        Level::Avx512 => return unsafe { avx512::lookup_batch(sail, addrs, out) },
        // SAFETY: as above.
        Level::Avx2 => return unsafe { avx2::lookup_batch(sail, addrs, out) },
        _ => {}
    }
    simd.run(InFlight { sail, addrs, out });
}

struct InFlight<'a> {
    sail: &'a Sail,
    addrs: &'a [u32],
    out: &'a mut [Option<NextHopId>],
}

impl Work for InFlight<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        scalar::in_flight(self.sail, self.addrs, self.out);
    }
}
