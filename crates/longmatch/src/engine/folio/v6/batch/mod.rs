//! Batches: the root in vectors; then the addresses that it does not answer, one after the other, so
//! that random addresses take no more steps.
//!
//! With vectors these go through the usual pages, codes and minis by gathers, some vectors at a time:
//! their gathers do not depend on each other, so that the core overlaps them. The addresses whose
//! entries lead to lines become a list: all lines are prefetched, then ranked one by one after the first
//! steps of the next group. Those at rare entries go on in rounds of one step each, with the next target
//! of each prefetched.
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
use crate::simd::lanes::{Lanes, LanesWork, Portable};
use crate::simd::{Simd, Work};

/// Addresses in a group.
const GROUP: usize = 64;
/// Words of the widest vector. Fewer addresses are looked up one by one.
const VECTOR: usize = 16;
/// Words of a list of addresses of a group, with space for a vector after the last one.
const SPACE: usize = GROUP + VECTOR;

/// Answers `keys` into `out`, which has the same length, one by one.
pub(super) fn lookup_each<M: Memory>(
    table: View<'_, M>,
    simd: Simd,
    keys: Keys<'_, Ipv6>,
    out: &mut [Option<NextHopId>],
) {
    // References, not the structs: a call into code of another level copies its arguments.
    simd.run_in_lanes(Each { table: &table, keys: &keys, out });
}

/// Answers `keys` into `out`, which has the same length.
pub(super) fn lookup_batch<M: Memory>(
    table: View<'_, M>,
    simd: Simd,
    keys: Keys<'_, Ipv6>,
    out: &mut [Option<NextHopId>],
) {
    let (table, keys) = (&table.shared(), &keys);
    let left = match out.len() {
        0..VECTOR => return simd.run_in_lanes(Each { table, keys, out }),
        VECTOR..=GROUP => simd.run_lanes(Vectors::<1> { table, keys, out }).err().map(Loads::of),
        _ => simd.run_lanes(Vectors::<2> { table, keys, out }).err().map(Loads::of),
    };
    if let Some(loads) = left {
        simd.run_scalar(loads);
    }
}

/// Does the same by the kernel in vectors, in vectors of words: tests of the kernel need no CPU that has others.
#[cfg(test)]
pub(super) fn lookup_batch_in_words(
    table: View<'_, LiveMemory>,
    keys: Keys<'_, Ipv6>,
    out: &mut [Option<NextHopId>],
) {
    assert!(out.len() >= VECTOR, "a batch has a vector at least");
    Vectors::<2> { table: &table, keys: &keys, out }.run(Portable);
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

/// At least [`VECTOR`] addresses, of which `D` groups are on their way at a time. There are as many as answers.
struct Vectors<'a, const D: usize> {
    table: &'a View<'a, LiveMemory>,
    keys: &'a Keys<'a, Ipv6>,
    out: &'a mut [Option<NextHopId>],
}

impl<const D: usize> LanesWork for Vectors<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut arrays = Arrays::new();
        let kernel = Kernel::<L, D>::new(lanes, self.table, self.keys, &mut arrays);
        groups::<L, _>(kernel, self.out);
    }
}

/// The same where the level has no vectors. A type of its own, so that the kernel in vectors is compiled only for levels
/// that have them: without them its machine code would be ten times as long.
struct Loads<'a> {
    table: &'a View<'a, LiveMemory>,
    keys: &'a Keys<'a, Ipv6>,
    out: &'a mut [Option<NextHopId>],
}

impl<'a> Loads<'a> {
    fn of<const D: usize>(vectors: Vectors<'a, D>) -> Self {
        let Vectors { table, keys, out } = vectors;
        Self { table, keys, out }
    }
}

impl Work for Loads<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        groups::<Portable, _>(Flight::new(Portable, self.table, self.keys), self.out);
    }
}

/// A kernel for groups. No closure: one that is not inlined is compiled without the vectors.
trait Group {
    /// Looks up some addresses from `start` on: whole vectors, as many as fit into the kernel's arrays. Their answers
    /// may be complete only at the end.
    ///
    /// # Panics
    /// When there are fewer addresses or answers.
    fn group(&mut self, start: usize, count: usize, out: &mut [Option<NextHopId>]);

    /// Completes all answers.
    fn end(&mut self, out: &mut [Option<NextHopId>]);
}

/// Answers all addresses in groups of up to [`GROUP`].
#[inline(always)]
fn groups<L: Lanes, G: Group>(mut kernel: G, out: &mut [Option<NextHopId>]) {
    let len = out.len();
    let mut at = 0;
    while at < len {
        // Whole vectors; the last one answers some of the previous addresses again.
        let vectors = ((len - at) / L::COUNT).clamp(1, GROUP / L::COUNT);
        let count = vectors * L::COUNT;
        let start = at.min(len - count);
        kernel.group(start, count, out);
        at = start + count;
    }
    kernel.end(out);
}
