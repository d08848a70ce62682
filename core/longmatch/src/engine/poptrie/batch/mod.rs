//! Batch kernels:
//!
//! | option | AVX-512 | below |
//! |---|---|---|
//! | `batch=gather`, the default | `avx512`, lookups in vector lanes | `scalar`, several lookups in flight |
//! | `batch=flight` | `scalar` | `scalar` |
//!
//! `batch=each` is [`lookup_each`](crate::engine::Lookup::lookup_each), as in the paper.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
mod scalar;

use super::Batch;
use super::layout::{Leaf, Node, View};
use crate::engine::kit::in_flight;
use crate::net::{Family, NextHopId};
use crate::simd::Simd;

/// Answers `addrs` into `out`, which has the same length, in every mode but [`Batch::Each`].
pub(super) fn lookup_batch<F: Family, N: Node, L: Leaf>(
    poptrie: &View<'_, F, N, L>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    match poptrie.batch {
        Batch::Flight => in_flight::run(poptrie, simd, addrs, out),
        _ => best(poptrie, simd, addrs, out),
    }
}

fn best<F: Family, N: Node, L: Leaf>(
    poptrie: &View<'_, F, N, L>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if simd.level() == crate::simd::Level::Avx512 {
        // SAFETY: `simd` is proof that the CPU supports this level.
        return unsafe { avx512::lookup_batch(poptrie, addrs, out) };
    }
    in_flight::run(poptrie, simd, addrs, out);
}
