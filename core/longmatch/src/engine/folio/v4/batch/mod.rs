//! Batches: each step for several vectors of addresses at once, so that their reads overlap.
//!
//! 1. The root, and the entries of pages where any address needs one.
//! 2. The codes of all addresses but those that have an answer or a list.
//! 3. The lists, after the gathers of many addresses: their loads wait for no gather then.
//!
//! Without vectors, and for less than a vector, addresses are looked up one by one; the reads of
//! tables that lie outside of the caches are prefetched (`stages.rs`).

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod chunk;
mod stages;

use super::layout::{Folio4, Single, View};
use super::lookup;
use crate::engine::kit::{KeyLayout, Keys};
use crate::mem::Memory;
use crate::net::{Ipv4, NextHopId};
use crate::simd::Simd;
use crate::simd::lanes::{Lanes, LanesWork};

/// Addresses of four bytes where the caller has them.
#[derive(Clone, Copy)]
pub(super) struct InPlace {
    pub from: *const u8,
    /// Whether their bytes are in the other order.
    pub swap: bool,
}

impl InPlace {
    /// Reads address `i`.
    ///
    /// # Safety
    /// There are more than `i` addresses.
    #[inline(always)]
    pub unsafe fn get(self, i: usize) -> u32 {
        // SAFETY: address `i` is readable.
        let key = unsafe { self.from.cast::<u32>().wrapping_add(i).read_unaligned() };
        if self.swap { key.swap_bytes() } else { key }
    }
}

/// Answers `keys` into `out`, which has the same length.
///
/// Inlined into its callers: each instruction between two small batches keeps the CPU from
/// overlapping their reads.
#[inline(always)]
pub(super) fn lookup_batch<M: Memory>(
    table: &Folio4<M>,
    simd: Simd,
    keys: Keys<'_, Ipv4>,
    out: &mut [Option<NextHopId>],
) {
    let swap = keys.layout() == KeyLayout::Network && cfg!(target_endian = "little");
    let keys = InPlace { from: keys.as_ptr(), swap };
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        let to = out.as_mut_ptr().cast();
        // SAFETY: there are as many keys as answers.
        if unsafe { chunk::run(simd, table.shared(), keys.from, to, out.len(), keys.swap) } {
            return;
        }
    }
    stages::lookup_batch(table.view(), simd, keys, out);
}

/// Answers `keys` into `out`, which has the same length, one by one.
pub(super) fn lookup_each<M: Memory>(
    table: View<'_, M>,
    simd: Simd,
    keys: InPlace,
    out: &mut [Option<NextHopId>],
) {
    simd.run_in_lanes(Each { table: &table, keys, out });
}

/// Addresses looked up one by one. There are as many keys as answers.
struct Each<'a, M> {
    table: &'a View<'a, M>,
    keys: InPlace,
    out: &'a mut [Option<NextHopId>],
}

impl<M: Memory> LanesWork for Each<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { table, keys, out } = self;
        let table = *table;
        match table.fixed.single {
            Single::Plain => each(keys, out, |addr| lookup::plain(table, addr)),
            Single::Branches => each(keys, out, |addr| lookup::branches(lanes, table, addr)),
            Single::Flat => each(keys, out, |addr| lookup::flat(lanes, table, addr)),
        }
    }
}

/// Looks up as many addresses as there are answers.
#[inline(always)]
fn each(keys: InPlace, out: &mut [Option<NextHopId>], lookup: impl Fn(u32) -> Option<NextHopId>) {
    for (i, out) in out.iter_mut().enumerate() {
        // SAFETY: there are as many keys as answers.
        *out = lookup(unsafe { keys.get(i) });
    }
}
