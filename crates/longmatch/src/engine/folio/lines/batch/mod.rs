//! Batch kernel in the verbs of [`crate::simd::lanes`], compiled for each set.
//!
//! A group of up to 128 addresses reads the root in lanes, and those that lead to trees are sorted by
//! depth. Then a loop for each depth descends one line with all addresses of that depth or a
//! greater one: one comparison and one population count a line with AVX-512, two comparisons with
//! AVX2. The lines of different addresses do not depend on each other, so that the core overlaps
//! their loads and comparisons.

mod kernel;

use self::kernel::{Arrays, Kernel};
use super::super::layout::Code;
use super::layout::View;
use super::lookup;
use crate::engine::kit::Keys;
use crate::net::{Ipv6, NextHopId};
use crate::simd::Simd;
use crate::simd::lanes::{Lanes, LanesWork};

/// Addresses in a group.
const GROUP: usize = 128;
/// Addresses in a group of a small batch: clearing the arrays of a large group would take as long as
/// its lookups.
const SMALL_GROUP: usize = 32;
/// The most addresses of a small batch: two small groups.
const SMALL: usize = 2 * SMALL_GROUP;
/// Words of the widest vector. Fewer addresses are looked up one by one.
const VECTOR: usize = 16;

/// Answers `keys` into `out`, which has the same length, one by one.
pub(super) fn lookup_each<C: Code>(
    table: View<'_, C>,
    simd: Simd,
    keys: Keys<'_, Ipv6>,
    out: &mut [Option<NextHopId>],
) {
    // References, not the structs: see the kernels of pages.
    simd.run_in_lanes(Each { table: &table, keys: &keys, out });
}

/// Answers `keys` into `out`, which has the same length.
pub(super) fn lookup_batch<C: Code>(
    table: View<'_, C>,
    simd: Simd,
    keys: Keys<'_, Ipv6>,
    out: &mut [Option<NextHopId>],
) {
    let (table, keys) = (&table, &keys);
    match out.len() {
        0..VECTOR => simd.run_in_lanes(Each { table, keys, out }),
        VECTOR..=SMALL => simd.run_in_lanes(Groups::<C, SMALL_GROUP, { SMALL_GROUP + VECTOR }> {
            table,
            keys,
            out,
        }),
        _ => simd.run_in_lanes(Groups::<C, GROUP, { GROUP + VECTOR }> { table, keys, out }),
    }
}

/// Addresses looked up one by one. There are as many as answers.
struct Each<'a, C> {
    table: &'a View<'a, C>,
    keys: &'a Keys<'a, Ipv6>,
    out: &'a mut [Option<NextHopId>],
}

impl<C: Code> LanesWork for Each<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let (table, keys) = (*self.table, *self.keys);
        for (i, out) in self.out.iter_mut().enumerate() {
            *out = lookup::lookup(lanes, table, keys.get(i));
        }
    }
}

/// At least [`VECTOR`] addresses, looked up in groups of up to `N`. There are as many as answers.
struct Groups<'a, C, const N: usize, const S: usize> {
    table: &'a View<'a, C>,
    keys: &'a Keys<'a, Ipv6>,
    out: &'a mut [Option<NextHopId>],
}

impl<C: Code, const N: usize, const S: usize> LanesWork for Groups<'_, C, N, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { table, keys, out } = self;
        let mut arrays = Arrays::new();
        let mut kernel = Kernel::<L, C, N, S>::new(lanes, table, keys, &mut arrays);
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
