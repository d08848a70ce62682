//! [`Lanes`] of AVX-512: 16 in a vector; a set of lanes is a bit for each.

use core::arch::x86_64::*;

use super::words::Lanes;
use crate::addr::Family;
use crate::next_hop::NextHopId;

/// Proof that the CPU has the instructions of [`super::Level::Avx512`].
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The CPU has the instructions.
    pub(super) unsafe fn new() -> Self {
        Self(())
    }
}

/// An intrinsic that touches no memory, called with `self` at hand.
macro_rules! proven {
    ($call:expr) => {
        // SAFETY: a value of `Avx512` exists only where the CPU has the instruction.
        unsafe { $call }
    };
}

impl Lanes for Avx512 {
    const COUNT: usize = 16;
    type Vector = __m512i;
    type Mask = __mmask16;

    #[inline(always)]
    fn splat(self, value: u32) -> __m512i {
        proven!(_mm512_set1_epi32(value as i32))
    }

    #[inline(always)]
    fn word<F: Family>(self, keys: &[F::Bits], w: u8) -> __m512i {
        let at = keys[..Self::COUNT].as_ptr().cast::<__m512i>();
        // SAFETY: 16 addresses of 32 bits fill one vector, of 128 bits four. `self` proves the
        // instruction.
        let part = |i: usize| unsafe { _mm512_loadu_si512(at.wrapping_add(i).cast()) };
        if F::WIDTH == 32 {
            return part(0);
        }
        // Every fourth of 32 numbers: those of 8 addresses. In host order the first is the highest.
        let fourth =
            proven!(_mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0));
        let pick = self.or(fourth, self.splat((3 - w).into()));
        let low = proven!(_mm512_permutex2var_epi32(part(0), pick, part(1)));
        let high = proven!(_mm512_permutex2var_epi32(part(2), pick, part(3)));
        let high = proven!(_mm512_castsi512_si256(high));
        proven!(_mm512_inserti64x4::<1>(low, high))
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn without(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_andnot_si512(b, a))
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_or_si512(a, b))
    }

    #[inline(always)]
    fn left(self, a: __m512i, by: u8) -> __m512i {
        let by = proven!(_mm_cvtsi32_si128(by.into()));
        proven!(_mm512_sll_epi32(a, by))
    }

    #[inline(always)]
    fn right(self, a: __m512i, by: u8) -> __m512i {
        let by = proven!(_mm_cvtsi32_si128(by.into()));
        proven!(_mm512_srl_epi32(a, by))
    }

    #[inline(always)]
    fn right_each(self, a: __m512i, by: __m512i) -> __m512i {
        proven!(_mm512_srlv_epi32(a, by))
    }

    #[inline(always)]
    fn all(self) -> __mmask16 {
        !0
    }

    #[inline(always)]
    fn with_bit(self, a: __m512i, n: u32) -> __mmask16 {
        let bit = self.splat(1 << n);
        proven!(_mm512_test_epi32_mask(a, bit))
    }

    #[inline(always)]
    fn both(self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }

    #[inline(always)]
    fn any(self, lanes: __mmask16) -> bool {
        lanes != 0
    }

    #[inline(always)]
    fn select(self, lanes: __mmask16, a: __m512i, other: __m512i) -> __m512i {
        proven!(_mm512_mask_mov_epi32(other, lanes, a))
    }

    #[inline(always)]
    unsafe fn gather<T>(
        self,
        array: &[T],
        index: __m512i,
        lanes: __mmask16,
        other: __m512i,
    ) -> __m512i {
        const { assert!(size_of::<T>() == 2 || size_of::<T>() == 4) };
        let at = array.as_ptr().cast();
        if size_of::<T>() == 2 {
            // SAFETY: as the caller promises.
            unsafe { _mm512_mask_i32gather_epi32::<2>(other, lanes, index, at) }
        } else {
            // SAFETY: as the caller promises.
            unsafe { _mm512_mask_i32gather_epi32::<4>(other, lanes, index, at) }
        }
    }

    #[inline(always)]
    fn store(self, hops: __m512i, out: &mut [Option<NextHopId>]) {
        let out = out[..Self::COUNT].as_mut_ptr();
        // SAFETY: 16 answers; `Option<NextHopId>` is a `u32`, 0 for none. `self` proves the
        // instruction.
        unsafe { _mm512_storeu_si512(out.cast(), hops) };
    }
}
