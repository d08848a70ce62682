//! Batch kernels: the kernel of each option at each level.
//!
//! | option | AVX-512 | AVX2 | below |
//! |---|---|---|---|
//! | `ahead` (ours) | `ahead`, groups of 512 | `ahead`, groups of 256 | `scalar`, groups of 16 |
//! | `flight=4` (ours) | `avx2`, 4 vectors of 8 | the same | `scalar`, groups of 16 |
//! | `lanes=9` to `16` (the paper's) | `avx2`, 2 vectors, lanes of both | the same | one by one |
//! | `lanes=1` to `8` (the paper's) | `avx2`, lanes of 1 vector | the same | one by one |

mod ahead;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
mod scalar;

use super::Kernel;
use super::layout::{Entry, Spider};
use crate::engine::kit::{Lookup, in_flight};
use crate::net::{Family, NextHopId};
use crate::simd::Simd;
use crate::simd::lanes::{Lanes, LanesWork};

/// Answers `addrs` into `out`, which has the same length.
pub(super) fn lookup_batch<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if papers(spider, simd, addrs, out) {
        return;
    }
    match spider.kernel {
        Kernel::Ahead => {
            if let Err(Addresses { spider, addrs, out }) =
                simd.run_lanes(Addresses { spider, addrs, out })
            {
                in_flight::run(spider, simd, addrs, out);
            }
        }
        Kernel::Flight4 => in_flight::run(spider, simd, addrs, out),
        Kernel::Lanes(_) => spider.lookup_each(simd, addrs, out),
    }
}

/// Runs a kernel of the paper if it and the level use AVX2; returns whether they do.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
fn papers<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) -> bool {
    let Some(l) = crate::simd::lanes::Avx2::new(simd) else { return false };
    match spider.kernel {
        Kernel::Ahead => return false,
        // SAFETY: `l` is proof of AVX2.
        Kernel::Flight4 => unsafe { avx2::flight4(l, spider, addrs, out) },
        Kernel::Lanes(ways) => match usize::from(ways) {
            // SAFETY: `l` is proof of AVX2.
            ways @ ..=avx2::LANES => unsafe {
                avx2::lookup_batch::<F, E, 1>(l, spider, ways, addrs, out)
            },
            // SAFETY: `l` is proof of AVX2.
            ways => unsafe { avx2::lookup_batch::<F, E, 2>(l, spider, ways, addrs, out) },
        },
    }
    true
}

/// The words of eight generated addresses: see [`Structure::iterate`].
///
/// [`Structure::iterate`]: crate::engine::Structure::iterate
type Words = [[u32; 8]; 4];

/// Looks up generated keys with the paper's kernel of `ways`: see [`Structure::iterate`].
///
/// [`Structure::iterate`]: crate::engine::Structure::iterate
pub(super) fn iterate<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    simd: Simd,
    ways: usize,
    lookups: usize,
    generate: impl FnMut() -> Words,
) -> u32 {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if let Some(l) = crate::simd::lanes::Avx2::new(simd) {
        return match ways {
            // SAFETY: `l` is proof of AVX2.
            ..=avx2::LANES => unsafe {
                avx2::iterate::<F, E, 1>(l, spider, ways, lookups, generate)
            },
            // SAFETY: `l` is proof of AVX2.
            _ => unsafe { avx2::iterate::<F, E, 2>(l, spider, ways, lookups, generate) },
        };
    }
    simd.run_scalar(scalar::Iterations { spider, ways, lookups, generate })
}

struct Addresses<'a, F: Family, E> {
    spider: &'a Spider<F, E>,
    addrs: &'a [F::Bits],
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family, E: Entry> LanesWork for Addresses<'_, F, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        ahead::lookup_batch(l, self.spider, self.addrs, self.out);
    }
}
