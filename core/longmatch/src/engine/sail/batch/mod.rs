//! Batch kernels, in order of preference.
//!
//! `gather`: one gather a level, with AVX-512 or AVX2. `scalar`: several addresses in flight.
//! `batch=each` looks up one address at a time, as the paper does; `batch=flight` forces `scalar`.

mod gather;
mod scalar;

use self::gather::Gather;
use super::Batch;
use super::layout::Sail;
use crate::engine::kit::{Lookup, in_flight};
use crate::net::NextHopId;
use crate::simd::Simd;
use crate::simd::lanes::{Lanes, LanesWork};

/// Vectors in flight.
const VECTORS: usize = 4;

/// Answers `addrs` into `out`, which has the same length.
pub(super) fn lookup_batch(sail: &Sail, simd: Simd, addrs: &[u32], out: &mut [Option<NextHopId>]) {
    match sail.batch {
        Batch::Each => sail.lookup_each(simd, addrs, out),
        Batch::Flight => in_flight::run(sail, simd, addrs, out),
        _ => {
            if let Err(Addresses { sail, addrs, out }) =
                simd.run_lanes(Addresses { sail, addrs, out })
            {
                in_flight::run(sail, simd, addrs, out);
            }
        }
    }
}

struct Addresses<'a> {
    sail: &'a Sail,
    addrs: &'a [u32],
    out: &'a mut [Option<NextHopId>],
}

impl LanesWork for Addresses<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        in_flight::in_vectors::<_, VECTORS>(Gather(l, self.sail), self.addrs, self.out);
    }
}
