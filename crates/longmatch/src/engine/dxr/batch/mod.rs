//! Batch kernels, in order of preference:
//!
//! | kernel | | |
//! |---|---|---|
//! | `avx512` | IPv4 | gathers for the direct table and the searches, or `line` |
//! | `avx2` | IPv4 | the same without `line` |
//! | `avx512_ipv6` | IPv6 | binary searches in the lanes |
//! | `scalar` | | several binary searches in flight |
//!
//! `batch=gather` and `batch=line` force one of the two, `batch=flight` forces `scalar`; where the
//! level or the family lacks the requested kernel, `scalar` answers. `batch=each` looks up one
//! address at a time, as in the papers.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512_ipv6;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod line;
mod scalar;

use super::Batch;
use super::direct::DirectView;
use super::layout::{Format, Long, Original, View, Wide, Xl};
use crate::engine::kit::in_flight;
use crate::net::NextHopId;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::simd::Level;
use crate::simd::Simd;

/// Answers `addrs` into `out`, which has the same length.
pub(super) fn lookup_batch<E: Format, V: DirectView>(
    dxr: View<'_, E, V>,
    simd: Simd,
    addrs: &[E::Word],
    out: &mut [Option<NextHopId>],
) {
    if dxr.batch == Batch::Each {
        in_flight::run_each(dxr, simd, addrs, out);
    } else if !E::vectors(dxr, simd, addrs, out) {
        in_flight::run(dxr, simd, addrs, out);
    }
}

/// The vector kernels of a format. Sealed, as [`Format`] is.
pub trait Kernels: Sized {
    /// Answers all addresses if level, format and batch option have a kernel.
    ///
    /// Returns whether they have one; otherwise writes nothing.
    fn vectors<V: DirectView>(
        dxr: View<'_, Self, V>,
        simd: Simd,
        addrs: &[<Self as Format>::Word],
        out: &mut [Option<NextHopId>],
    ) -> bool
    where
        Self: Format;
}

macro_rules! kernels {
    ($format:ty, $family:ident) => {
        impl Kernels for $format {
            fn vectors<V: DirectView>(
                dxr: View<'_, Self, V>,
                simd: Simd,
                addrs: &[<Self as Format>::Word],
                out: &mut [Option<NextHopId>],
            ) -> bool {
                $family(dxr, simd, addrs, out)
            }
        }
    };
}

kernels!(Original, ipv4);
kernels!(Wide, ipv4);
kernels!(Long, ipv6);
kernels!(Xl, ipv6);

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
fn ipv4<E: Format<Word = u32>, V: DirectView>(
    dxr: View<'_, E, V>,
    simd: Simd,
    addrs: &[u32],
    out: &mut [Option<NextHopId>],
) -> bool {
    match (simd.level(), dxr.batch) {
        (Level::Avx512, Batch::Auto | Batch::Gather | Batch::Line) => {
            // SAFETY: `simd` is proof that the CPU supports this level.
            unsafe { avx512::lookup_batch(dxr, addrs, out) };
        }
        (Level::Avx2, Batch::Auto | Batch::Gather) => {
            // SAFETY: `simd` is proof that the CPU supports this level.
            unsafe { avx2::lookup_batch(dxr, addrs, out) };
        }
        _ => return false,
    }
    true
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
fn ipv6<E: Format<Word = u128>, V: DirectView>(
    dxr: View<'_, E, V>,
    simd: Simd,
    addrs: &[u128],
    out: &mut [Option<NextHopId>],
) -> bool {
    match (simd.level(), dxr.batch) {
        (Level::Avx512, Batch::Auto | Batch::Gather) => {
            // SAFETY: `simd` is proof that the CPU supports this level.
            unsafe { avx512_ipv6::lookup_batch(dxr, addrs, out) };
            true
        }
        _ => false,
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
fn ipv4<E: Format<Word = u32>, V: DirectView>(
    _: View<'_, E, V>,
    _: Simd,
    _: &[u32],
    _: &mut [Option<NextHopId>],
) -> bool {
    false
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
fn ipv6<E: Format<Word = u128>, V: DirectView>(
    _: View<'_, E, V>,
    _: Simd,
    _: &[u128],
    _: &mut [Option<NextHopId>],
) -> bool {
    false
}
