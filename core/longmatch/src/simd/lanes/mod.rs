//! Operations on vectors of 32-bit lanes, so that a kernel is written once for all levels.
//!
//! A token (`Portable`, `Avx2`, `Avx512`) is made from a [`crate::simd::Simd`], so it proves
//! that the CPU has its instructions, and its arithmetic is safe to call. Every method must be
//! inlined into code compiled for the level (inside [`crate::simd::Simd::run`]): otherwise each
//! instruction becomes a call. A kernel that needs vector instructions or has a scalar alternative
//! is a [`LanesWork`].
//!
//! Vector gathers are machine loads outside the language's memory model. In a live table a gather
//! may read an aligned word while one store replaces it; it gets the old word or the new one. It
//! may also read bytes beside its item while they are written; its caller masks these bytes off.
//! The scalar gathers of `Portable` are atomic loads of aligned words and codes, and read no other
//! bytes.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
mod portable;
#[cfg(test)]
mod tests;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use avx2::Avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use avx512::Avx512;
pub(crate) use portable::Portable;

use super::{Simd, Work};
use crate::net::{Family, NextHopId};

/// Vectors of [`Lanes::COUNT`] lanes of 32 bits.
///
/// # Safety
/// A vector consists of [`Lanes::COUNT`] initialised `u32`.
pub unsafe trait Lanes: Copy {
    /// A vector.
    type V: Copy;
    /// A mask: a choice of lanes.
    type M: Copy;
    /// Number of lanes in a vector.
    const COUNT: usize;

    /// Runs a piece of work compiled for these instructions, as [`Simd::run`] does.
    fn run<W: Work>(self, work: W) -> W::Output;

    /// The same value in every lane.
    fn splat(self, value: u32) -> Self::V;
    /// The sum, wrapping.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// The difference, wrapping.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// The low half of the product.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// The high half of the product, unsigned.
    fn mul_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// The bits set in both.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// The bits set in either.
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// The bits of `a` that are not set in `b`.
    fn without(self, a: Self::V, b: Self::V) -> Self::V;
    /// The lesser value of each pair of lanes, unsigned.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each lane shifted to the left by its own count; 0 from 32 on.
    fn shl(self, a: Self::V, by: Self::V) -> Self::V;
    /// Each lane shifted to the right by its own count; 0 from 32 on.
    fn shr(self, a: Self::V, by: Self::V) -> Self::V;

    /// The mask of all lanes.
    fn all(self) -> Self::M;
    /// The lanes whose bit `bit` is set; bit 0 is the lowest.
    fn with_bit(self, a: Self::V, bit: u32) -> Self::M;
    /// The lanes whose top bit is set.
    fn negative(self, a: Self::V) -> Self::M;
    /// The lanes in which `a` is less than `b`, both signed.
    fn less(self, a: Self::V, b: Self::V) -> Self::M;
    /// The lanes in which `a` and `b` are equal.
    fn equal(self, a: Self::V, b: Self::V) -> Self::M;
    /// The lanes chosen by both masks.
    fn both(self, a: Self::M, b: Self::M) -> Self::M;
    /// The bits set in any lane.
    fn union(self, a: Self::V) -> u32;
    /// Whether any lane is chosen.
    fn any(self, mask: Self::M) -> bool;
    /// The chosen lanes as bits, lane 0 lowest.
    fn bits(self, mask: Self::M) -> u32;

    /// Whether all lanes are 0.
    fn is_zero(self, a: Self::V) -> bool;
    /// `yes` in the chosen lanes, `no` in the others.
    fn select(self, mask: Self::M, yes: Self::V, no: Self::V) -> Self::V;

    /// Loads each lane's four bytes at `base + SCALE * lane`, little-endian, aligned or not.
    ///
    /// # Safety
    /// `base` is aligned to 4 bytes, 4 bytes from each item on are readable, and no lane is above
    /// `i32::MAX`.
    unsafe fn gather<const SCALE: i32>(self, base: *const u8, lane: Self::V) -> Self::V;

    /// Gathers in the chosen lanes; the others get `other`.
    ///
    /// # Safety
    /// As [`Lanes::gather`], for the chosen lanes.
    unsafe fn gather_where<const SCALE: i32>(
        self,
        mask: Self::M,
        base: *const u8,
        lane: Self::V,
        other: Self::V,
    ) -> Self::V;

    /// [`Lanes::gather_where`] that leaves the bits above the item undefined.
    ///
    /// # Safety
    /// As [`Lanes::gather`], for the chosen lanes.
    #[inline(always)]
    unsafe fn gather_codes_where<const SCALE: i32>(
        self,
        mask: Self::M,
        base: *const u8,
        lane: Self::V,
        other: Self::V,
    ) -> Self::V {
        // SAFETY: this method's contract on the chosen lanes is that of `gather_where`.
        unsafe { self.gather_where::<SCALE>(mask, base, lane, other) }
    }

    /// Gathers words in native order that a writer may replace at the same time.
    ///
    /// # Safety
    /// As [`Lanes::gather`].
    #[inline(always)]
    unsafe fn gather_published(self, words: *const u32, lane: Self::V) -> Self::V {
        // SAFETY: this method's contract is that of `gather`.
        unsafe { self.gather::<4>(words.cast(), lane) }
    }

    /// Loads one `u32` per lane.
    ///
    /// # Safety
    /// `at` points to [`Lanes::COUNT`] readable `u32`, aligned or not.
    unsafe fn load(self, at: *const u8) -> Self::V;

    /// Loads words 0 and 1, or with `UPPER` words 2 and 3, of one record per lane.
    ///
    /// A record is four words of 32 bits. The cheapest shuffles permute the records;
    /// [`Lanes::in_order`] restores their order.
    ///
    /// # Safety
    /// `at` points to [`Lanes::COUNT`] readable records.
    unsafe fn load_records<const UPPER: bool>(self, at: *const u8) -> [Self::V; 2];

    /// Restores the order of records that [`Lanes::load_records`] has loaded.
    fn in_order(self, a: Self::V) -> Self::V;

    /// Reverses the bytes of each lane.
    #[inline(always)]
    fn swap_bytes(self, a: Self::V) -> Self::V {
        self.shuffle_bytes(a, 0x0001_0203)
    }

    /// Rearranges the bytes of each lane. Each byte of `from` names the byte that comes to its
    /// place: 0 is the lowest, 0x80 gives zero.
    fn shuffle_bytes(self, a: Self::V, from: u32) -> Self::V;

    /// Loads the first words, and the second ones, of each lane's pair at `base + 8 * lane`,
    /// little-endian.
    ///
    /// # Safety
    /// `base` is aligned to 4 bytes, each pair is readable, and no lane is above `i32::MAX`.
    #[inline(always)]
    unsafe fn gather_pairs(self, base: *const u8, lane: Self::V) -> [Self::V; 2] {
        // SAFETY: the caller guarantees that the pairs, which begin with these words, are readable.
        let first = unsafe { self.gather::<8>(base, lane) };
        // SAFETY: the caller guarantees that the pairs, which end with these words, are readable.
        [first, unsafe { self.gather::<8>(base.wrapping_add(4), lane) }]
    }

    /// Loads the four words of each lane's record at `base + 16 * lane`, little-endian.
    ///
    /// # Safety
    /// `base` is aligned to 4 bytes, each record is readable, and no lane is above `i32::MAX / 2`.
    #[inline(always)]
    unsafe fn gather_records(self, base: *const u8, lane: Self::V) -> [Self::V; 4] {
        let pair = self.add(lane, lane);
        // SAFETY: the caller guarantees that the records, which begin with these pairs, are readable.
        let [first, second] = unsafe { self.gather_pairs(base, pair) };
        // SAFETY: the caller guarantees that the records, which end with these pairs, are readable.
        let [third, fourth] = unsafe { self.gather_pairs(base.wrapping_add(8), pair) };
        [first, second, third, fourth]
    }

    /// The lanes of a vector in memory.
    #[inline(always)]
    fn lanes(self, a: &Self::V) -> &[u32] {
        const { assert!(align_of::<Self::V>() >= align_of::<u32>()) };
        // SAFETY: a vector consists of `COUNT` words (contract of the trait), whose alignment does
        // not exceed its own.
        unsafe { core::slice::from_raw_parts(core::ptr::from_ref(a).cast(), Self::COUNT) }
    }

    /// Stores one `u32` per lane.
    ///
    /// # Safety
    /// `at` points to [`Lanes::COUNT`] writable `u32`, aligned or not.
    unsafe fn store(self, at: *mut u32, a: Self::V);

    /// The first of `count` descending words, from word `start` on, that is at most `word`.
    ///
    /// The words beside them, in the same cache lines, may be replaced at the same time and have no
    /// influence.
    ///
    /// # Safety
    /// `words` begins a cache line. `count` is 2, 4, 8, 16 or 32, `start` a multiple of it, and the
    /// cache lines of these words are readable. The last word, or one before zeros, is at most
    /// `word`.
    unsafe fn first_at_most(self, words: *const u32, start: u32, count: u32, word: u32) -> u32;

    /// Number of the first `N` little-endian numbers of 16 bits in a cache line that are less than
    /// `number`. They ascend.
    ///
    /// # Safety
    /// `line` points to a readable cache line, and begins it.
    unsafe fn rank_u16<const N: usize>(self, line: *const u32, number: u16) -> u32;

    /// Stores the chosen lanes one after the other, and returns their number.
    ///
    /// The words after them may be overwritten.
    ///
    /// # Panics
    /// When `to` is shorter than a vector.
    #[inline(always)]
    fn store_chosen(self, mask: Self::M, a: Self::V, to: &mut [u32]) -> usize {
        // SAFETY: `to` has a vector's words, by the slicing.
        unsafe { self.store_chosen_at(mask, a, to[..Self::COUNT].as_mut_ptr()) }
    }

    /// [`Lanes::store_chosen`] to words that may be uninitialised.
    ///
    /// # Safety
    /// `to` points to [`Lanes::COUNT`] writable words.
    #[inline(always)]
    unsafe fn store_chosen_at(self, mask: Self::M, a: Self::V, to: *mut u32) -> usize {
        let chosen = self.select(mask, self.splat(1), self.splat(0));
        let mut count = 0;
        for (value, chosen) in self.lanes(&a).iter().zip(self.lanes(&chosen)) {
            // SAFETY: `count` is at most the number of this lane.
            unsafe { to.wrapping_add(count).write(*value) };
            count += *chosen as usize;
        }
        count
    }

    /// Word `w` of [`Lanes::COUNT`] addresses, in their order.
    ///
    /// Word 0 is first on the wire.
    ///
    /// # Panics
    /// When `keys` has fewer addresses.
    #[inline(always)]
    fn word<F: Family>(self, keys: &[F::Bits], w: u8) -> Self::V {
        let word = self.word_as_loaded::<F>(keys, w);
        if F::WIDTH == 32 { word } else { self.in_order(word) }
    }

    /// [`Lanes::word`] before [`Lanes::in_order`], which addresses of more than one word need.
    ///
    /// # Panics
    /// When `keys` has fewer addresses.
    #[inline(always)]
    fn word_as_loaded<F: Family>(self, keys: &[F::Bits], w: u8) -> Self::V {
        let at = keys[..Self::COUNT].as_ptr().cast();
        if F::WIDTH == 32 {
            // SAFETY: `at` points to `COUNT` addresses of 32 bits, by the slicing above.
            return unsafe { self.load(at) };
        }
        const { assert!(F::WIDTH == 32 || size_of::<F::Bits>() == 16) };
        let in_memory = if cfg!(target_endian = "little") { 3 - w } else { w };
        let [even, odd] = if in_memory >= 2 {
            // SAFETY: `at` points to `COUNT` addresses of four words, by the slicing above.
            unsafe { self.load_records::<true>(at) }
        } else {
            // SAFETY: `at` points to `COUNT` addresses of four words, by the slicing above.
            unsafe { self.load_records::<false>(at) }
        };
        if in_memory % 2 == 0 { even } else { odd }
    }

    /// Stores raw next hops as [`Lanes::COUNT`] answers.
    ///
    /// # Panics
    /// When `out` is shorter.
    #[inline(always)]
    fn answer(self, hops: Self::V, out: &mut [Option<NextHopId>]) {
        let out = out[..Self::COUNT].as_mut_ptr();
        // SAFETY: `out` has `COUNT` answers; `Option<NextHopId>` is a `u32` with 0 for `None`.
        unsafe { self.store(out.cast(), hops) };
    }
}

/// A kernel over [`Lanes`] that has a better form without vector instructions.
///
/// See [`Simd::run_lanes`].
pub trait LanesWork {
    /// The result of the work.
    type Output;

    /// Does the work. Without `#[inline(always)]` every operation becomes a call.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

impl Simd {
    /// Runs work in this level's vectors, compiled for the level as by [`Simd::run`].
    ///
    /// # Errors
    /// Returns the work if the level has no vector instructions.
    #[doc(hidden)]
    #[inline(always)]
    pub fn run_lanes<W: LanesWork>(self, work: W) -> Result<W::Output, W> {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        {
            if let Some(lanes) = Avx512::new(self) {
                return Ok(lanes.run(InLanes { work, lanes }));
            }
            if let Some(lanes) = Avx2::new(self) {
                return Ok(lanes.run(InLanes { work, lanes }));
            }
        }
        Err(work)
    }

    /// Runs work in this level's vectors, or in [`Portable`] ones if it has none.
    #[inline(always)]
    pub(crate) fn run_in_lanes<W: LanesWork>(self, work: W) -> W::Output {
        let portable = |work| self.run_scalar(InLanes { work, lanes: Portable });
        self.run_lanes(work).unwrap_or_else(portable)
    }
}

/// A [`LanesWork`] with its lanes.
struct InLanes<W, L> {
    work: W,
    lanes: L,
}

impl<W: LanesWork, L: Lanes> Work for InLanes<W, L> {
    type Output = W::Output;

    #[inline(always)]
    fn run(self) -> W::Output {
        self.work.run(self.lanes)
    }
}
