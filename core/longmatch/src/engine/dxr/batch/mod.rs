//! Batch kernels, in order of preference:
//!
//! | kernel | | |
//! |---|---|---|
//! | `line` | IPv4, AVX-512 | by group of addresses: `gather`, or one address at a time |
//! | `gather` | IPv4, AVX2 | gathers for the direct table and the searches |
//! | `avx512_ipv6` | IPv6, AVX-512 | the same |
//! | `scalar` | | several binary searches in flight |
//!
//! `batch=gather` and `batch=line` force one of the two, `batch=flight` forces `scalar`; where the
//! level or the family lacks the requested kernel, `scalar` answers. `batch=each` looks up one
//! address at a time, as in the papers. The kernels search as
//! [`BranchFree`](super::BranchFree) does; a table with `search=paper` uses none.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512_ipv6;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod gather;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod line;
mod scalar;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use self::{avx512_ipv6::Gather128, gather::Gather, line::LineKernel};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::Batch;
use super::direct::DirectView;
use super::layout::{Format, Long, Original, View, Wide, Xl};
use crate::engine::kit::in_flight;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::engine::kit::in_flight::Vectors;
use crate::net::NextHopId;
use crate::simd::Simd;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::simd::lanes::{Avx2, Avx512, Lanes};

/// Vectors in flight.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const VECTORS: usize = 4;

/// Answers `addrs` into `out`, which has the same length, in every mode but
/// [`Batch::Each`](super::Batch::Each).
pub(super) fn lookup_batch<E: Format, V: DirectView>(
    dxr: &View<'_, E, V>,
    simd: Simd,
    addrs: &[E::Word],
    out: &mut [Option<NextHopId>],
) {
    if !E::vectors(dxr, simd, addrs, out) {
        in_flight::run(dxr, simd, addrs, out);
    }
}

/// The vector kernels of a format. Sealed, as [`Format`] is.
pub trait Kernels: Sized {
    /// Answers all addresses if level, format and batch option have a kernel.
    ///
    /// Returns whether they have one; otherwise writes nothing.
    fn vectors<V: DirectView>(
        dxr: &View<'_, Self, V>,
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
                dxr: &View<'_, Self, V>,
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
    dxr: &View<'_, E, V>,
    simd: Simd,
    addrs: &[u32],
    out: &mut [Option<NextHopId>],
) -> bool {
    let gathers = matches!(dxr.batch, Batch::Auto | Batch::Gather);
    if let Some(lanes) = Avx512::new(simd)
        && (gathers || dxr.batch == Batch::Line)
    {
        lanes.run(Vectors::<_, VECTORS> { structure: LineKernel(lanes, dxr), addrs, out });
    } else if let Some(lanes) = Avx2::new(simd)
        && gathers
    {
        lanes.run(Vectors::<_, VECTORS> { structure: Gather(lanes, dxr), addrs, out });
    } else {
        return false;
    }
    true
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
fn ipv6<E: Format<Word = u128>, V: DirectView>(
    dxr: &View<'_, E, V>,
    simd: Simd,
    addrs: &[u128],
    out: &mut [Option<NextHopId>],
) -> bool {
    let Some(lanes) = Avx512::new(simd) else { return false };
    let gathers = matches!(dxr.batch, Batch::Auto | Batch::Gather);
    if gathers {
        lanes.run(Vectors::<_, VECTORS> { structure: Gather128(lanes, dxr), addrs, out });
    }
    gathers
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
fn ipv4<E: Format<Word = u32>, V: DirectView>(
    _: &View<'_, E, V>,
    _: Simd,
    _: &[u32],
    _: &mut [Option<NextHopId>],
) -> bool {
    false
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
fn ipv6<E: Format<Word = u128>, V: DirectView>(
    _: &View<'_, E, V>,
    _: Simd,
    _: &[u128],
    _: &mut [Option<NextHopId>],
) -> bool {
    false
}
