//! Batches: addresses in vectors through the root and the usual pages, level by level, some vectors at
//! a time. Their gathers do not depend on each other, so that the core overlaps them.
//!
//! Codes and minis are gathered too. The addresses whose entries lead to lines become a list: all
//! lines are prefetched, then ranked one by one. Those at rare entries go on in rounds of one step
//! each, with the next target of each prefetched.

//!
//! Gathers of eight lanes are slower than loads (Zen 3), so with AVX2 and without vectors only the
//! root is read in vectors; the addresses that it does not answer go through all steps in loops of
//! independent loads.

mod flight;
mod kernel;

use self::flight::Flight;
use self::kernel::{Arrays, Kernel};
use super::layout::View;
use super::lookup;
use crate::engine::kit::Keys;
use crate::mem::{LiveMemory, Memory};
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
pub(super) fn lookup_each<M: Memory>(
    table: View<'_, M>,
    simd: Simd,
    keys: Keys<'_, Ipv6>,
    out: &mut [Option<NextHopId>],
) {
    // References, not the structs: see the kernels of pages.
    simd.run_in_lanes(Each { table: &table, keys: &keys, out });
}

/// Answers `keys` into `out`, which has the same length.
pub(super) fn lookup_batch<M: Memory>(
    table: View<'_, M>,
    simd: Simd,
    keys: Keys<'_, Ipv6>,
    out: &mut [Option<NextHopId>],
) {
    lookup_batch_by(table.shared(), simd, keys, Mode::Auto, out);
}

/// Does the same with a kernel.
pub(super) fn lookup_batch_by(
    table: View<'_, LiveMemory>,
    simd: Simd,
    keys: Keys<'_, Ipv6>,
    mode: Mode,
    out: &mut [Option<NextHopId>],
) {
    let (table, keys) = (&table, &keys);
    match out.len() {
        0..VECTOR => simd.run_in_lanes(Each { table, keys, out }),
        VECTOR..=SMALL => simd.run_in_lanes(Groups::<SMALL_GROUP, { SMALL_GROUP + VECTOR }> {
            table,
            keys,
            mode,
            out,
        }),
        _ => simd.run_in_lanes(Groups::<GROUP, { GROUP + VECTOR }> { table, keys, mode, out }),
    }
}

/// Addresses looked up one by one. There are as many as answers.
struct Each<'a, M> {
    table: &'a View<'a, M>,
    keys: &'a Keys<'a, Ipv6>,
    out: &'a mut [Option<NextHopId>],
}

impl<M: Memory> LanesWork for Each<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let (table, keys) = (*self.table, *self.keys);
        for (i, out) in self.out.iter_mut().enumerate() {
            *out = lookup::lookup(lanes, table, keys.get(i));
        }
    }
}

/// The kernel of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// All steps in vectors where they have 16 lanes, else the root alone.
    Auto,
    /// All steps in vectors.
    #[cfg(test)]
    Vectors,
}

/// At least [`VECTOR`] addresses, looked up in groups of up to `N`. There are as many as answers.
struct Groups<'a, const N: usize, const S: usize> {
    table: &'a View<'a, LiveMemory>,
    keys: &'a Keys<'a, Ipv6>,
    mode: Mode,
    out: &'a mut [Option<NextHopId>],
}

impl<const N: usize, const S: usize> LanesWork for Groups<'_, N, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { table, keys, mode, out } = self;
        if L::COUNT == VECTOR || mode != Mode::Auto {
            let mut arrays = Arrays::new();
            let mut kernel = Kernel::<L, N, S>::new(lanes, table, keys, &mut arrays);
            return groups::<L, N>(out, |start, out| kernel.group(start, out));
        }
        let mut flight = Flight::<L, N, S>::new(lanes, table, keys);
        groups::<L, N>(out, |start, out| flight.group(start, out));
    }
}

/// Calls `group` for the answers of each group, and the number of the first.
#[inline(always)]
fn groups<L: Lanes, const N: usize>(
    out: &mut [Option<NextHopId>],
    mut group: impl FnMut(usize, &mut [Option<NextHopId>]),
) {
    let len = out.len();
    let mut at = 0;
    while at < len {
        // Whole vectors; the last one answers some of the previous addresses again.
        let vectors = ((len - at) / L::COUNT).clamp(1, N / L::COUNT);
        let count = vectors * L::COUNT;
        let start = at.min(len - count);
        group(start, &mut out[start..][..count]);
        at = start + count;
    }
}
