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
use crate::simd::lanes::{Lanes, LanesWork};
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
    if out.len() < VECTOR {
        return simd.run_in_lanes(Each { table, keys, out });
    }
    let batch = Batch { table, keys, out };
    let done = match batch.out.len() {
        ..=GROUP => simd.run_lanes(Vectors::<1>(batch)).map_err(|Vectors(batch)| batch),
        _ => simd.run_lanes(Vectors::<2>(batch)).map_err(|Vectors(batch)| batch),
    };
    done.unwrap_or_else(|batch| simd.run_scalar(batch));
}

/// Does the same with the kernel in vectors, on a little-endian CPU without them: a vector is an array of words.
#[cfg(test)]
pub(super) fn lookup_batch_in_words(
    table: View<'_, LiveMemory>,
    keys: Keys<'_, Ipv6>,
    out: &mut [Option<NextHopId>],
) {
    assert!(out.len() >= VECTOR, "a batch has a vector at least");
    Vectors::<2>(Batch { table: &table, keys: &keys, out }).run(crate::simd::lanes::Portable);
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

/// At least [`VECTOR`] addresses, and as many answers. As [`Work`] without vectors: a kernel of its own, because the
/// machine code of the other is many times as long where a vector is an array of words.
struct Batch<'a> {
    table: &'a View<'a, LiveMemory>,
    keys: &'a Keys<'a, Ipv6>,
    out: &'a mut [Option<NextHopId>],
}

impl Work for Batch<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        groups(Flight::new(self.table, self.keys), self.out);
    }
}

/// A batch in vectors, with `D` groups in flight.
struct Vectors<'a, const D: usize>(Batch<'a>);

impl<const D: usize> LanesWork for Vectors<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Batch { table, keys, out } = self.0;
        let mut arrays = Arrays::new();
        groups(Kernel::<L, D>::new(lanes, table, keys, &mut arrays), out);
    }
}

/// A kernel for groups. No closure: one that is not inlined is compiled without the vectors.
trait Group {
    /// The addresses of a vector.
    const VECTOR: usize;

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
fn groups<G: Group>(mut kernel: G, out: &mut [Option<NextHopId>]) {
    let len = out.len();
    let mut at = 0;
    while at < len {
        // Whole vectors; the last one answers some of the previous addresses again.
        let vectors = ((len - at) / G::VECTOR).clamp(1, GROUP / G::VECTOR);
        let count = vectors * G::VECTOR;
        let start = at.min(len - count);
        kernel.group(start, count, out);
        at = start + count;
    }
    kernel.end(out);
}
