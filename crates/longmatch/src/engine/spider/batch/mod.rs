//! Batch kernels: the kernel of each option at each level.
//!
//! | option | AVX-512 | AVX2 | below |
//! |---|---|---|---|
//! | `ahead` (ours) | `avx512`, groups of 512 | `avx2`, groups of 256 | `scalar`, groups of 16 |
//! | `flight=4` (ours) | `avx2`, 4 vectors of 8 | the same | `scalar`, groups of 16 |
//! | `lanes=16` (the paper's) | `avx2`, 2 vectors of 8 | the same | one by one |
//! | `lanes=8`, `4`, `2` | `avx2`, 1 vector, all or some of its lanes | the same | one by one |
//! | `lanes=1` | one by one | the same | the same |

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
mod scalar;

use super::Kernel;
use super::layout::{Entry, Spider};
use crate::engine::kit::{Lookup, in_flight};
use crate::net::{Family, NextHopId};
use crate::simd::Simd;

/// Vectors of a group that is prefetched together.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const VECTORS: usize = 32;

/// Answers `addrs` into `out`, which has the same length.
pub(super) fn lookup_batch<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if vectors(spider, simd, addrs, out) {
        return;
    }
    match spider.kernel {
        Kernel::Flight4 | Kernel::Ahead => in_flight::run(spider, simd, addrs, out),
        _ => spider.lookup_each(simd, addrs, out),
    }
}

/// Runs the vector kernel if the level has it; returns whether it did.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
fn vectors<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) -> bool {
    use crate::simd::Level;
    match (spider.kernel, simd.level()) {
        (Kernel::Lanes1, _) | (_, Level::Portable | Level::Scalar) => return false,
        // SAFETY: `simd` is proof that the CPU supports this level.
        (Kernel::Ahead, Level::Avx512) => unsafe { avx512::ahead(spider, addrs, out) },
        // SAFETY: `simd` is proof that the CPU supports this level.
        (Kernel::Ahead, Level::Avx2) => unsafe { avx2::ahead(spider, addrs, out) },
        // SAFETY: `simd` is proof of AVX2 at least, which AVX-512 contains.
        (Kernel::Flight4, _) => unsafe { avx2::fused::<F, E, 4>(spider, addrs, out) },
        // SAFETY: `simd` is proof of AVX2 at least, which AVX-512 contains.
        (Kernel::Lanes16, _) => unsafe { avx2::fused::<F, E, 2>(spider, addrs, out) },
        // SAFETY: `simd` is proof of AVX2 at least, which AVX-512 contains.
        (Kernel::Lanes8, _) => unsafe { avx2::fused::<F, E, 1>(spider, addrs, out) },
        // SAFETY: `simd` is proof of AVX2 at least, which AVX-512 contains.
        (Kernel::Lanes4, _) => unsafe { avx2::some_lanes::<F, E, 4>(spider, addrs, out) },
        // SAFETY: `simd` is proof of AVX2 at least, which AVX-512 contains.
        (Kernel::Lanes2, _) => unsafe { avx2::some_lanes::<F, E, 2>(spider, addrs, out) },
    }
    true
}
