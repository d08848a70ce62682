//! Batches: the root in vectors; then the addresses that it does not answer, one after the other, so
//! that random addresses take no more steps.
//!
//! With vectors these go through the usual pages, codes and minis by gathers, some vectors at a time:
//! their gathers do not depend on each other, so that the core overlaps them. The addresses whose
//! entries lead to lines become a list: all lines are prefetched, then ranked one by one. Those at
//! rare entries go on in rounds of one step each, with the next target of each prefetched.
//!
//! Without vectors all steps are loops of independent loads.

mod flight;
mod front;
mod kernel;

use self::flight::Flight;
use self::kernel::{Arrays, Kernel};
use super::layout::View;
use super::lookup;
use crate::engine::kit::Keys;
use crate::mem::{LiveMemory, Memory};
use crate::net::{Ipv6, NextHopId};
use crate::simd::lanes::{Lanes, LanesWork};
use crate::simd::{Level, Simd};

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
    let mode = if simd.level() >= Level::Avx2 { Mode::Vectors } else { Mode::Loads };
    lookup_batch_by(table.shared(), simd, keys, mode, out);
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
    /// All steps in vectors.
    Vectors,
    /// The root in vectors, the rest in loops of loads.
    Loads,
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
        if mode == Mode::Vectors {
            let mut arrays = Arrays::new();
            groups::<L, _, N>(Kernel::<L, N, S>::new(lanes, table, keys, &mut arrays), out);
        } else {
            groups::<L, _, N>(Flight::<L, N, S>::new(lanes, table, keys), out);
        }
    }
}

/// A kernel for groups. No closure: one that is not inlined is compiled without the vectors.
trait Group {
    /// Answers the addresses from `start` on: whole vectors, as many as fit into the kernel's arrays.
    ///
    /// # Panics
    /// When there are fewer addresses than answers.
    fn group(&mut self, start: usize, out: &mut [Option<NextHopId>]);
}

/// Answers all addresses in groups of up to `N`.
#[inline(always)]
fn groups<L: Lanes, G: Group, const N: usize>(mut kernel: G, out: &mut [Option<NextHopId>]) {
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
