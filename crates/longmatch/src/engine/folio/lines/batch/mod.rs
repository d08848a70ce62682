//! Batch kernel in the verbs of [`crate::simd::lanes`], compiled for each set.
//!
//! A group of up to 128 addresses reads the root in lanes, and those that lead to trees are sorted by
//! depth. Then a loop for each depth descends one line with all addresses of that depth or a
//! greater one: one comparison and one population count a line with AVX-512, two comparisons with
//! AVX2. The lines of different addresses do not depend on each other, so that the core overlaps
//! their loads and comparisons.

mod kernel;

use self::kernel::Kernel;
use super::super::layout::Code;
use super::layout::View;
use super::lookup;
use crate::engine::kit::Keys;
use crate::net::{Ipv6, NextHopId};
use crate::simd::lanes::{Lanes, Portable};
use crate::simd::{Simd, Work};

/// Addresses in a group.
const GROUP: usize = 128;
/// Addresses in a group of a small batch: clearing the arrays of a large group would take as long as
/// its lookups.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const SMALL_GROUP: usize = 32;
/// Words of the widest vector.
const VECTOR: usize = 16;

/// Answers `addrs` one by one into `out`, which has the same length.
pub(super) fn lookup_each<C: Code>(
    lines: View<'_, C>,
    simd: Simd,
    addrs: &[u128],
    out: &mut [Option<NextHopId>],
) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use crate::simd::lanes::{Avx2, Avx512};
        if let Some(lanes) = Avx512::new(simd) {
            return lanes.run(Each { lanes, lines: &lines, addrs, out });
        }
        if let Some(lanes) = Avx2::new(simd) {
            return lanes.run(Each { lanes, lines: &lines, addrs, out });
        }
    }
    simd.run_scalar(Each { lanes: Portable, lines: &lines, addrs, out });
}

/// Answers `keys` into `out`, which has the same length.
pub(super) fn lookup_batch<C: Code>(
    lines: View<'_, C>,
    simd: Simd,
    keys: Keys<'_, Ipv6>,
    out: &mut [Option<NextHopId>],
) {
    // References, not the structs: see the kernels of pages.
    let (lines, keys) = (&lines, &keys);
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use crate::simd::lanes::{Avx2, Avx512};
        if let Some(lanes) = Avx512::new(simd)
            && out.len() >= Avx512::COUNT
        {
            return match out.len() <= SMALL_GROUP {
                true => lanes.run(Groups::<_, C, SMALL_GROUP, { SMALL_GROUP + VECTOR }> {
                    lanes,
                    lines,
                    keys,
                    out,
                }),
                false => {
                    lanes.run(Groups::<_, C, GROUP, { GROUP + VECTOR }> { lanes, lines, keys, out })
                }
            };
        }
        if let Some(lanes) = Avx2::new(simd)
            && out.len() >= Avx2::COUNT
        {
            return match out.len() <= SMALL_GROUP {
                true => lanes.run(Groups::<_, C, SMALL_GROUP, { SMALL_GROUP + VECTOR }> {
                    lanes,
                    lines,
                    keys,
                    out,
                }),
                false => {
                    lanes.run(Groups::<_, C, GROUP, { GROUP + VECTOR }> { lanes, lines, keys, out })
                }
            };
        }
    }
    match out.len() < Portable::COUNT {
        true => simd.run_scalar(Few { lines, keys, out }),
        false => {
            simd.run_scalar(Groups::<_, C, GROUP, { GROUP + VECTOR }> {
                lanes: Portable,
                lines,
                keys,
                out,
            });
        }
    }
}

/// Addresses looked up one by one.
struct Each<'a, L, C> {
    lanes: L,
    lines: &'a View<'a, C>,
    addrs: &'a [u128],
    out: &'a mut [Option<NextHopId>],
}

impl<L: Lanes, C: Code> Work for Each<'_, L, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (addr, out) in self.addrs.iter().zip(self.out) {
            *out = NextHopId::new(lookup::lookup(self.lanes, *self.lines, *addr));
        }
    }
}

/// Fewer addresses than the narrowest vector has lanes, looked up one by one.
struct Few<'a, C> {
    lines: &'a View<'a, C>,
    keys: &'a Keys<'a, Ipv6>,
    out: &'a mut [Option<NextHopId>],
}

impl<C: Code> Work for Few<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (i, out) in self.out.iter_mut().enumerate() {
            *out = NextHopId::new(lookup::lookup(Portable, *self.lines, self.keys.get(i)));
        }
    }
}

/// A batch that fills at least one vector, looked up in groups of up to `N` addresses. `keys` has as
/// many addresses as `out` has answers.
struct Groups<'a, L, C, const N: usize, const S: usize> {
    lanes: L,
    lines: &'a View<'a, C>,
    keys: &'a Keys<'a, Ipv6>,
    out: &'a mut [Option<NextHopId>],
}

impl<L: Lanes, C: Code, const N: usize, const S: usize> Work for Groups<'_, L, C, N, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { lanes, lines, keys, out } = self;
        let mut kernel = Kernel::<L, C, N, S>::new(lanes, lines, keys);
        let len = out.len();
        let mut at = 0;
        while at < len {
            // Whole vectors; the last one answers some of the previous addresses again.
            let vectors = ((len - at) / L::COUNT).clamp(1, N / L::COUNT);
            let count = vectors * L::COUNT;
            let start = at.min(len - count);
            kernel.group(start, &mut out[start..][..count]);
            at = start + count;
        }
    }
}
