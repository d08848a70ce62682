//! Batches: kernels that read the root, then the codes, of many addresses at once.
//!
//! | mode | root | codes | levels |
//! |---|---|---|---|
//! | `gather` | gathers of some vectors in flight | gathers | `avx512`, `avx2` |
//! | `ring` | gathers, 96 addresses ahead; then the pages are prefetched | gathers | `avx512`, `avx2` |
//! | `ring-loads` | the same | scalar loads | `avx512`, `avx2` |
//! | `flight` | scalar loads, 64 addresses ahead; then the pages are prefetched | scalar loads | all |
//!
//! Without a requested mode, fewer than 64 addresses are looked up one by one.
//!
//! A kernel turns codes into answers while they are in registers; a second pass over the answers
//! cost a quarter of the rate. Addresses whose code escapes are collected without a branch, and
//! answered together, with their escapes prefetched.
//!
//! One kernel serves all widths of codes: positions are shifted to bytes. While most pages lie in
//! the second-level cache, plain gathers are fastest; misses of a larger table fill their queue, so
//! that a ring of prefetches is faster.

// The kernels in vectors.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod chunks;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod steps;

use super::layout::{Pages, View};
use super::lookup::{self, InPlace};
use crate::engine::kit::{Batch, KeyLayout, Keys};
use crate::mem::{Memory, Readable};
use crate::net::{Ipv4, NextHopId};
use crate::simd::{Simd, Work, prefetch_bytes};

/// Addresses between the two reads of the scalar kernel.
const FLIGHT_AHEAD: usize = 64;
/// Minimum batch size for the ring.
const RING: usize = 96;
/// The bytes of pages from which on a ring is faster than gathers.
const RING_BYTES: usize = 9 << 19;
/// Batches of fewer addresses are looked up one by one: the CPU overlaps more such lookups than
/// addresses of one or two gathers.
const FEW: usize = 64;

/// Answers `keys` into `out`, which has the same length.
///
/// Inlined into its callers: each instruction between two small batches keeps the CPU from
/// overlapping their reads.
#[inline(always)]
pub(super) fn lookup_batch<M: Memory>(
    pages: &Pages<M>,
    simd: Simd,
    keys: Keys<'_, Ipv4>,
    out: &mut [Option<NextHopId>],
) {
    // Separate values, not `keys`: the struct would be loaded a vector at a time right after it was
    // stored word by word. The CPU can do that only after all earlier instructions retire.
    let swap = keys.layout() == KeyLayout::Network && cfg!(target_endian = "little");
    let keys = InPlace { from: keys.as_ptr(), swap };
    if out.len() < FEW && pages.batch == Batch::Auto {
        simd.run_scalar(Each { pages, keys, out });
    } else {
        many(pages, simd, keys, out);
    }
}

/// Answers any number of addresses.
#[inline(never)]
fn many<M: Memory>(pages: &Pages<M>, simd: Simd, keys: InPlace, out: &mut [Option<NextHopId>]) {
    let table = &pages.view().shared();
    let mode = match pages.batch {
        Batch::Auto if out.len() < RING || pages.codes.count() < RING_BYTES => Batch::Gather,
        Batch::Auto => Batch::Ring,
        mode => mode,
    };
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if !matches!(mode, Batch::Each | Batch::Flight) {
        use self::chunks::Chunks;
        use crate::simd::lanes::{Avx2, Avx512, Lanes};
        if let Some(lanes) = Avx512::new(simd)
            && out.len() >= Avx512::COUNT
        {
            return lanes.run(Chunks { lanes, table, keys, mode, out });
        }
        if let Some(lanes) = Avx2::new(simd)
            && out.len() >= Avx2::COUNT
        {
            return lanes.run(Chunks { lanes, table, keys, mode, out });
        }
    }
    match mode {
        Batch::Each => simd.run_scalar(Each { pages, keys, out }),
        _ if out.len() < FLIGHT_AHEAD => simd.run_scalar(Each { pages, keys, out }),
        _ => simd.run_scalar(Flight { table, keys, out }),
    }
}

/// A batch looked up one by one. There are as many keys as answers.
struct Each<'a, M: Memory> {
    pages: &'a Pages<M>,
    keys: InPlace,
    out: &'a mut [Option<NextHopId>],
}

impl<M: Memory> Work for Each<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let table = self.pages.view();
        for (i, out) in self.out.iter_mut().enumerate() {
            // SAFETY: there are as many keys as answers.
            *out = lookup::lookup(table, unsafe { self.keys.get(i) });
        }
    }
}

/// The kernel `flight`, without vectors. There are as many keys as answers.
struct Flight<'a> {
    table: &'a View<'a>,
    keys: InPlace,
    out: &'a mut [Option<NextHopId>],
}

impl Work for Flight<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.table.log2 {
            0 => self.flight::<0>(),
            1 => self.flight::<1>(),
            _ => self.flight::<2>(),
        }
    }
}

impl Flight<'_> {
    /// Looks up all addresses, each some addresses after its root entry was read.
    #[inline(always)]
    fn flight<const LOG2: u8>(self) {
        let (len, fixed) = (self.out.len(), self.table.fixed);
        let mut positions = [0u32; FLIGHT_AHEAD];
        for (i, position) in positions.iter_mut().enumerate() {
            *position = self.position::<LOG2>(i);
        }
        for i in 0..len {
            let position = &mut positions[i % FLIGHT_AHEAD];
            // SAFETY: `position` is that of the code of address `i`.
            let code = unsafe { lookup::code::<_, LOG2>(*self.table, *position) };
            self.out[i] = match code == fixed.escape_code {
                // SAFETY: there are as many keys as answers.
                true => lookup::lookup(*self.table, unsafe { self.keys.get(i) }),
                false => NextHopId::new(fixed.decode(code)),
            };
            if i + FLIGHT_AHEAD < len {
                *position = self.position::<LOG2>(i + FLIGHT_AHEAD);
            }
        }
    }

    /// Reads the root and prefetches the code of an address, whose position it returns.
    #[inline(always)]
    fn position<const LOG2: u8>(&self, i: usize) -> u32 {
        debug_assert!(i < self.out.len());
        // SAFETY: there are as many keys as answers.
        let addr = unsafe { self.keys.get(i) };
        let table = *self.table;
        let position = lookup::entry(table, addr).position(addr, table.below_root);
        prefetch_bytes(self.table.codes.as_ptr().wrapping_add((position as usize) << LOG2));
        position
    }
}
