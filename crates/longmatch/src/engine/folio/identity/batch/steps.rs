//! The steps of all kernels, for one vector of addresses.

use crate::engine::folio::identity::layout::{DROP, DROP_BITS, Decode, Fixed, Vectors};
use crate::engine::folio::identity::lookup::InPlace;
use crate::simd::lanes::Lanes;
use crate::simd::prefetch_bytes;

/// Prefetch distance of addresses, in bytes: the hardware's prefetching stops at the end of a
/// memory page.
const KEYS_AHEAD: usize = 4096;

/// A table's arrays, addresses and their writable answers.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a, L> {
    pub lanes: L,
    pub root: *const u32,
    pub codes: *const u8,
    pub fixed: &'a Fixed,
    pub keys: InPlace,
    pub to: *mut u32,
}

impl<L: Lanes> Steps<'_, L> {
    /// Reads the root: the positions of the codes of a vector of addresses.
    ///
    /// # Safety
    /// `at` is the first address of a vector in the batch.
    #[inline(always)]
    pub unsafe fn positions(&self, at: usize) -> L::V {
        let (l, fixed) = (self.lanes, self.fixed);
        let from = self.keys.from.wrapping_add(4 * at);
        prefetch_bytes(from.wrapping_add(KEYS_AHEAD));
        // SAFETY: the vector's addresses are readable.
        let key = unsafe { l.load(from) };
        let key = if self.keys.swap { l.swap_bytes(key) } else { key };
        let block = l.shr(key, l.splat(fixed.root_shift));
        // SAFETY: the root has an entry for every block (invariant 1).
        let entry = unsafe { l.gather_published(self.root, block) };
        let below = l.and(key, l.splat(fixed.below_root));
        let slot = l.shr(below, l.and(entry, l.splat(DROP)));
        l.add(l.shr(entry, l.splat(DROP_BITS)), slot)
    }

    /// Gathers codes.
    ///
    /// # Safety
    /// The lanes are positions of codes of pages that the root leads to.
    #[inline(always)]
    pub unsafe fn codes(&self, positions: L::V) -> L::V {
        let l = self.lanes;
        let bytes = l.shl(positions, l.splat(self.fixed.log2.into()));
        // SAFETY: positions are those of codes, which have 4 readable bytes (invariant 2), below
        // 2^29 bytes.
        let read = unsafe { l.gather::<1>(self.codes, bytes) };
        l.and(read, l.splat(self.fixed.escape_code))
    }

    /// Replaces codes with next hops.
    #[inline(always)]
    pub fn decode<const N: usize>(&self, codes: &mut [L::V; N]) {
        let l = self.lanes;
        match &self.fixed.decode {
            Decode::Raw => {}
            Decode::Table(_, Vectors::Patches(patches)) => {
                for (code, raw) in patches {
                    let (code, raw) = (l.splat(*code), l.splat(*raw));
                    for codes in &mut *codes {
                        *codes = l.select(l.equal(*codes, code), raw, *codes);
                    }
                }
            }
            Decode::Table(_, Vectors::Book(book)) => {
                for v in (0..N).step_by(2) {
                    let w = (v + 1).min(N - 1);
                    let [a, b] = l.look_up_u16(book.table(), [codes[v], codes[w]]);
                    (codes[v], codes[w]) = (a, if v == w { a } else { b });
                }
            }
            Decode::Table(hops, Vectors::Gather) => {
                for codes in codes {
                    // SAFETY: the table has a next hop for every code, the escape among them.
                    *codes = unsafe { l.gather::<4>(hops.as_ptr().cast(), *codes) };
                }
            }
        }
    }

    /// Prefetches the codes of a vector.
    ///
    /// # Safety
    /// A vector of positions lies at `positions`.
    #[inline(always)]
    pub unsafe fn prefetch_pages(&self, positions: *const u32) {
        let (codes, log2) = (self.codes, self.fixed.log2);
        for i in 0..L::COUNT {
            // SAFETY: there are `COUNT` positions.
            let position = unsafe { positions.wrapping_add(i).read() } as usize;
            prefetch_bytes(codes.wrapping_add(position << log2));
        }
    }

    /// Reads the codes of a vector.
    ///
    /// # Safety
    /// A vector of positions of codes that the root leads to lies at `positions`.
    #[inline(always)]
    pub unsafe fn codes_at<const LOADS: bool>(&self, positions: *const u32) -> L::V {
        if !LOADS {
            // SAFETY: there is a vector of positions.
            let positions = unsafe { self.lanes.load(positions.cast()) };
            // SAFETY: they are those of codes.
            return unsafe { self.codes(positions) };
        }
        match self.fixed.log2 {
            // SAFETY: positions are those of codes (invariant 2).
            0 => unsafe { self.lanes.load_each::<1>(self.codes, positions) },
            // SAFETY: positions are those of codes (invariant 2).
            1 => unsafe { self.lanes.load_each::<2>(self.codes, positions) },
            // SAFETY: positions are those of codes (invariant 2).
            _ => unsafe { self.lanes.load_each::<4>(self.codes, positions) },
        }
    }
}
