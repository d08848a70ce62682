//! A few verbs on vectors of 32-bit lanes, so that a kernel is written once for all levels.
//!
//! A token ([`Plain`], [`Avx2`], [`Avx512`]) is made from a [`crate::simd::Simd`], so it proves
//! that the CPU has its instructions, and its arithmetic is safe to call. Every method must be
//! inlined into code that is compiled for the level (inside [`crate::simd::Simd::run`]): an
//! instruction that the surrounding function may not use becomes a call. A kernel that wants vector
//! instructions or none at all is a [`LanesWork`].
//!
//! Vector gathers are loads of the machine outside the language's memory model: of several bytes at
//! places that a plain load does not name. In a table that changes under readers a gather may read
//! a word that is being replaced by one store, and gets the old one or the new one, as it is aligned;
//! and beside the code that it is for, bytes that are being written, which its caller masks off. The
//! scalar gathers of [`Plain`] are atomic loads of aligned words and codes, and read nothing else.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
mod plain;
#[cfg(test)]
mod tests;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use avx2::Avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use avx512::Avx512;
pub(crate) use plain::Plain;

use super::Simd;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::Work;
use crate::net::{Family, NextHopId};

/// A translation of 8-bit codes to 16 bits, with two bytes more, as a read of 32 bits at the last
/// of them goes that far.
#[repr(C, align(64))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Book {
    values: [u16; 256],
    padding: u16,
}

impl Book {
    /// Codes without a value translate to 0.
    pub fn new(values: [u16; 256]) -> Self {
        Self { values, padding: 0 }
    }

    /// What the code stands for.
    #[inline(always)]
    pub fn value(&self, code: u8) -> u16 {
        self.values[usize::from(code)]
    }
}

/// Vectors of [`Lanes::COUNT`] lanes of 32 bits.
pub(crate) trait Lanes: Copy {
    /// A vector.
    type V: Copy;
    /// A choice of lanes.
    type M: Copy;
    /// How many lanes a vector has.
    const COUNT: usize;

    /// The same value in every lane.
    fn splat(self, value: u32) -> Self::V;
    /// The sum, wrapping.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// The difference, wrapping.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// The low half of the product.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bits that both have.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bits that either has.
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bits of `a` that `b` does not have.
    fn without(self, a: Self::V, b: Self::V) -> Self::V;
    /// The lesser of each two lanes, unsigned.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each lane shifted to the left by its own count; 0 from 32 on.
    fn shl(self, a: Self::V, by: Self::V) -> Self::V;
    /// Each lane shifted to the right by its own count; 0 from 32 on.
    fn shr(self, a: Self::V, by: Self::V) -> Self::V;

    /// All lanes.
    fn all(self) -> Self::M;
    /// The lanes whose bit `bit` is set, 0 being the lowest.
    fn with_bit(self, a: Self::V, bit: u32) -> Self::M;
    /// The lanes whose top bit is set.
    fn negative(self, a: Self::V) -> Self::M;
    /// The lanes in which `a` is less, both taken as signed.
    fn less(self, a: Self::V, b: Self::V) -> Self::M;
    /// The lanes in which both are the same.
    fn equal(self, a: Self::V, b: Self::V) -> Self::M;
    /// The lanes of both choices.
    fn both(self, a: Self::M, b: Self::M) -> Self::M;
    /// Whether a lane is chosen.
    fn any(self, mask: Self::M) -> bool;
    /// `yes` in the chosen lanes, `no` in the others.
    fn select(self, mask: Self::M, yes: Self::V, no: Self::V) -> Self::V;

    /// The item of `SCALE` bytes at `base + SCALE * lane` of each lane, little-endian; above it other
    /// bits, unless it is a word.
    ///
    /// # Safety
    /// `base` is aligned to 4 bytes, 4 bytes from the item on can be read, and no lane is above
    /// `i32::MAX`.
    unsafe fn gather<const SCALE: i32>(self, base: *const u8, lane: Self::V) -> Self::V;

    /// The same in the chosen lanes, `other` in the others.
    ///
    /// # Safety
    /// As [`Lanes::gather`], of the chosen lanes.
    unsafe fn gather_where<const SCALE: i32>(
        self,
        mask: Self::M,
        base: *const u8,
        lane: Self::V,
        other: Self::V,
    ) -> Self::V;

    /// [`Lanes::gather_where`] where the bits above the item need not be read: what they are is not
    /// defined.
    ///
    /// # Safety
    /// As [`Lanes::gather`], of the chosen lanes; the memory has at least one item.
    #[inline(always)]
    unsafe fn gather_codes_where<const SCALE: i32>(
        self,
        mask: Self::M,
        base: *const u8,
        lane: Self::V,
        other: Self::V,
    ) -> Self::V {
        // SAFETY: as the caller promises.
        unsafe { self.gather_where::<SCALE>(mask, base, lane, other) }
    }

    /// Words in the order of the machine that a writer may replace meanwhile.
    ///
    /// # Safety
    /// As [`Lanes::gather`].
    #[inline(always)]
    unsafe fn gather_published(self, words: *const u32, lane: Self::V) -> Self::V {
        // SAFETY: as the caller promises.
        unsafe { self.gather::<4>(words.cast(), lane) }
    }

    /// As many `u32` as there are lanes.
    ///
    /// # Safety
    /// They can be read.
    unsafe fn load(self, at: *const u8) -> Self::V;

    /// Words 0 and 1, or with `UPPER` words 2 and 3, of as many records of four words of 32 bits as
    /// there are lanes. Which record comes to which lane is for [`Lanes::in_order`] to undo: the
    /// cheapest shuffles do not keep the order.
    ///
    /// # Safety
    /// The records can be read.
    unsafe fn load_records<const UPPER: bool>(self, at: *const u8) -> [Self::V; 2];

    /// The lanes in the order of the records from which [`Lanes::load_records`] has loaded them.
    fn in_order(self, a: Self::V) -> Self::V;

    /// The bytes of each lane in the opposite order.
    fn swap_bytes(self, a: Self::V) -> Self::V;

    /// Writes as many `u32` as there are lanes.
    ///
    /// # Safety
    /// They can be written.
    unsafe fn store(self, at: *mut u32, a: Self::V);

    /// What a table says at each lane, of which the low five bits count; lanes are below 32.
    fn look_up(self, table: &[u32; 32], lane: Self::V) -> Self::V;

    /// The values of codes, which are all below 256.
    fn translate(self, book: &Book, codes: [Self::V; 2]) -> [Self::V; 2];

    /// Word `w` of [`Lanes::COUNT`] addresses, in their order; 0 is the first on the wire.
    ///
    /// # Panics
    /// When there are fewer addresses.
    #[inline(always)]
    fn word<F: Family>(self, keys: &[F::Bits], w: u8) -> Self::V {
        let at = keys[..Self::COUNT].as_ptr().cast();
        if F::WIDTH == 32 {
            // SAFETY: addresses of 32 bits, as many as there are lanes.
            return unsafe { self.load(at) };
        }
        const { assert!(F::WIDTH == 32 || size_of::<F::Bits>() == 16) };
        let in_memory = if cfg!(target_endian = "little") { 3 - w } else { w };
        let [even, odd] = if in_memory >= 2 {
            // SAFETY: addresses of four words, as many as there are lanes.
            unsafe { self.load_records::<true>(at) }
        } else {
            // SAFETY: as above.
            unsafe { self.load_records::<false>(at) }
        };
        self.in_order(if in_memory % 2 == 0 { even } else { odd })
    }

    /// Writes raw next hops as [`Lanes::COUNT`] answers.
    ///
    /// # Panics
    /// When there is room for fewer.
    #[inline(always)]
    fn answer(self, hops: Self::V, out: &mut [Option<NextHopId>]) {
        let out = out[..Self::COUNT].as_mut_ptr();
        // SAFETY: as many answers as there are lanes; `Option<NextHopId>` is a `u32`, 0 for none.
        unsafe { self.store(out.cast(), hops) };
    }
}

/// Something written in the words of [`Lanes`] that has a better form where there are no vector
/// instructions; see [`Simd::run_lanes`].
#[cfg_attr(
    not(all(target_arch = "x86_64", target_feature = "sse2")),
    allow(dead_code, reason = "no level has vector instructions there")
)]
pub(crate) trait LanesWork {
    /// What comes out.
    type Output;

    /// Does it. Implementations are `#[inline(always)]`, or every word becomes a call.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

impl Simd {
    /// Runs a piece of work in this level's vectors, compiled for the level as by [`Simd::run`].
    ///
    /// # Errors
    /// The work is handed back where the level has no vector instructions.
    #[inline]
    pub(crate) fn run_lanes<W: LanesWork>(self, work: W) -> Result<W::Output, W> {
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
}

/// A [`LanesWork`] with its lanes.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
struct InLanes<W, L> {
    work: W,
    lanes: L,
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
impl<W: LanesWork, L: Lanes> Work for InLanes<W, L> {
    type Output = W::Output;

    #[inline(always)]
    fn run(self) -> W::Output {
        self.work.run(self.lanes)
    }
}
