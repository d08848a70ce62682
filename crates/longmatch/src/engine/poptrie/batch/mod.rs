//! Many addresses at once:
//!
//! | option | AVX-512 | below |
//! |---|---|---|
//! | `batch=gather`, the default | `avx512`, lookups in vector lanes | `scalar`, several lookups in flight |
//! | `batch=flight` | `scalar` | `scalar` |
//! | `batch=each` | one address after the other, as in the paper | the same |

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
mod scalar;

use super::Batch;
use super::layout::{Leaf, Node, Poptrie};
use crate::engine::kit::Lookup;
use crate::net::{Family, NextHopId};
use crate::simd::{Simd, Work};

/// Answers `addrs` into `out`, which is as long.
pub(super) fn lookup_batch<F: Family, N: Node, L: Leaf>(
    poptrie: &Poptrie<F, N, L>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    match poptrie.batch {
        Batch::Each => poptrie.lookup_each(simd, addrs, out),
        Batch::Flight => simd.run(InFlight { poptrie, addrs, out }),
        Batch::Auto | Batch::Gather => best(poptrie, simd, addrs, out),
    }
}

fn best<F: Family, N: Node, L: Leaf>(
    poptrie: &Poptrie<F, N, L>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if simd.level() == crate::simd::Level::Avx512 {
        // SAFETY: the value `simd` exists with this level.
        return unsafe { avx512::lookup_batch(poptrie, addrs, out) };
    }
    simd.run(InFlight { poptrie, addrs, out });
}

struct InFlight<'a, F: Family, N: Node, L: Leaf> {
    poptrie: &'a Poptrie<F, N, L>,
    addrs: &'a [F::Bits],
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family, N: Node, L: Leaf> Work for InFlight<'_, F, N, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        scalar::in_flight(self.poptrie, self.addrs, self.out);
    }
}
