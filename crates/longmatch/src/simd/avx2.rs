//! [`Lanes`] of AVX2: 8 in a vector; a set of lanes is a vector too, in which the top bit of each lane
//! counts.

use core::arch::x86_64::*;

use super::words::Lanes;
use crate::addr::{Bits, Family};
use crate::next_hop::NextHopId;

/// Proof that the CPU has the instructions of [`super::Level::Avx2`].
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The CPU has the instructions.
    pub(super) unsafe fn new() -> Self {
        Self(())
    }
}

/// An intrinsic that touches no memory, called with `self` at hand.
macro_rules! proven {
    ($call:expr) => {
        // SAFETY: a value of `Avx2` exists only where the CPU has the instruction.
        unsafe { $call }
    };
}

impl Lanes for Avx2 {
    const COUNT: usize = 8;
    type Vector = __m256i;
    type Mask = __m256i;

    #[inline(always)]
    fn splat(self, value: u32) -> __m256i {
        proven!(_mm256_set1_epi32(value as i32))
    }

    #[inline(always)]
    fn word<F: Family>(self, keys: &[F::Bits], w: u8) -> __m256i {
        let keys = &keys[..Self::COUNT];
        if F::WIDTH == 32 {
            // SAFETY: 8 addresses of 32 bits fill one vector; `self` proves the instruction.
            return unsafe { _mm256_loadu_si256(keys.as_ptr().cast()) };
        }
        let word = |i: usize| keys[i].extract(32 * w, 32) as i32;
        let (low, high) =
            ([word(0), word(1), word(2), word(3)], [word(4), word(5), word(6), word(7)]);
        let ([a, b, c, d], [e, f, g, h]) = (low, high);
        proven!(_mm256_setr_epi32(a, b, c, d, e, f, g, h))
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_and_si256(a, b))
    }

    #[inline(always)]
    fn without(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_andnot_si256(b, a))
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_or_si256(a, b))
    }

    #[inline(always)]
    fn left(self, a: __m256i, by: u8) -> __m256i {
        let by = proven!(_mm_cvtsi32_si128(by.into()));
        proven!(_mm256_sll_epi32(a, by))
    }

    #[inline(always)]
    fn right(self, a: __m256i, by: u8) -> __m256i {
        let by = proven!(_mm_cvtsi32_si128(by.into()));
        proven!(_mm256_srl_epi32(a, by))
    }

    #[inline(always)]
    fn right_each(self, a: __m256i, by: __m256i) -> __m256i {
        proven!(_mm256_srlv_epi32(a, by))
    }

    #[inline(always)]
    fn all(self) -> __m256i {
        self.splat(u32::MAX)
    }

    #[inline(always)]
    fn with_bit(self, a: __m256i, n: u32) -> __m256i {
        self.left(a, 31 - n as u8)
    }

    #[inline(always)]
    fn both(self, a: __m256i, b: __m256i) -> __m256i {
        self.and(a, b)
    }

    #[inline(always)]
    fn any(self, lanes: __m256i) -> bool {
        let lanes = proven!(_mm256_castsi256_ps(lanes));
        proven!(_mm256_movemask_ps(lanes)) != 0
    }

    #[inline(always)]
    fn select(self, lanes: __m256i, a: __m256i, other: __m256i) -> __m256i {
        let (a, other) = (proven!(_mm256_castsi256_ps(a)), proven!(_mm256_castsi256_ps(other)));
        let lanes = proven!(_mm256_castsi256_ps(lanes));
        let selected = proven!(_mm256_blendv_ps(other, a, lanes));
        proven!(_mm256_castps_si256(selected))
    }

    #[inline(always)]
    unsafe fn gather<T>(
        self,
        array: &[T],
        index: __m256i,
        lanes: __m256i,
        other: __m256i,
    ) -> __m256i {
        const { assert!(size_of::<T>() == 2 || size_of::<T>() == 4) };
        let at = array.as_ptr().cast();
        if size_of::<T>() == 2 {
            // SAFETY: as the caller promises.
            unsafe { _mm256_mask_i32gather_epi32::<2>(other, at, index, lanes) }
        } else {
            // SAFETY: as the caller promises.
            unsafe { _mm256_mask_i32gather_epi32::<4>(other, at, index, lanes) }
        }
    }

    #[inline(always)]
    fn store(self, hops: __m256i, out: &mut [Option<NextHopId>]) {
        let out = out[..Self::COUNT].as_mut_ptr();
        // SAFETY: 8 answers; `Option<NextHopId>` is a `u32`, 0 for none. `self` proves the
        // instruction.
        unsafe { _mm256_storeu_si256(out.cast(), hops) };
    }
}
