//! Sixteen lanes in a register of 512 bits.

use core::arch::x86_64::*;

use super::Lanes;
use crate::simd::{Level, Simd, Work, run_avx512};

/// Executes an instruction that the token proves the CPU has.
macro_rules! proven {
    ($instruction:expr) => {{
        // SAFETY: `self` exists only where the CPU has AVX-512 F, BW, DQ, VL and VBMI.
        unsafe { $instruction }
    }};
}

/// AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Makes the token if the level is proven.
    #[inline(always)]
    pub fn new(simd: Simd) -> Option<Self> {
        (simd.level() == Level::Avx512).then_some(Self(()))
    }
}

// SAFETY: a vector consists of 16 words.
unsafe impl Lanes for Avx512 {
    type V = __m512i;
    type M = __mmask16;
    const COUNT: usize = 16;

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        proven!(run_avx512(work))
    }

    #[inline(always)]
    fn splat(self, value: u32) -> __m512i {
        proven!(_mm512_set1_epi32(value as i32))
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_add_epi32(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_sub_epi32(a, b))
    }

    #[inline(always)]
    fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_mullo_epi32(a, b))
    }

    #[inline(always)]
    fn mul_high(self, a: __m512i, b: __m512i) -> __m512i {
        // Not a shift: a shuffle of equal lanes takes no instruction.
        let odd = |v| proven!(_mm512_shuffle_epi32::<0b11_11_01_01>(v));
        let even_high = odd(proven!(_mm512_mul_epu32(a, b)));
        let odd_high = proven!(_mm512_mul_epu32(odd(a), odd(b)));
        self.select(0b1010_1010_1010_1010, odd_high, even_high)
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_or_si512(a, b))
    }

    #[inline(always)]
    fn without(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_andnot_si512(b, a))
    }

    #[inline(always)]
    fn min(self, a: __m512i, b: __m512i) -> __m512i {
        proven!(_mm512_min_epu32(a, b))
    }

    #[inline(always)]
    fn shl(self, a: __m512i, by: __m512i) -> __m512i {
        proven!(_mm512_sllv_epi32(a, by))
    }

    #[inline(always)]
    fn shr(self, a: __m512i, by: __m512i) -> __m512i {
        proven!(_mm512_srlv_epi32(a, by))
    }

    #[inline(always)]
    fn all(self) -> __mmask16 {
        !0
    }

    #[inline(always)]
    fn with_bit(self, a: __m512i, bit: u32) -> __mmask16 {
        proven!(_mm512_test_epi32_mask(a, self.splat(1 << bit)))
    }

    #[inline(always)]
    fn negative(self, a: __m512i) -> __mmask16 {
        proven!(_mm512_movepi32_mask(a))
    }

    #[inline(always)]
    fn less(self, a: __m512i, b: __m512i) -> __mmask16 {
        proven!(_mm512_cmplt_epi32_mask(a, b))
    }

    #[inline(always)]
    fn equal(self, a: __m512i, b: __m512i) -> __mmask16 {
        proven!(_mm512_cmpeq_epi32_mask(a, b))
    }

    #[inline(always)]
    fn both(self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }

    #[inline(always)]
    fn union(self, a: __m512i) -> u32 {
        proven!(_mm512_reduce_or_epi32(a)) as u32
    }

    #[inline(always)]
    fn any(self, mask: __mmask16) -> bool {
        mask != 0
    }

    #[inline(always)]
    fn bits(self, mask: __mmask16) -> u32 {
        mask.into()
    }

    /// Packs the numbers in a register: a packing store to memory is many times slower on Zen 4.
    #[inline(always)]
    fn is_zero(self, a: __m512i) -> bool {
        proven!(_mm512_test_epi32_mask(a, a)) == 0
    }

    #[inline(always)]
    fn select(self, mask: __mmask16, yes: __m512i, no: __m512i) -> __m512i {
        proven!(_mm512_mask_blend_epi32(mask, no, yes))
    }

    #[inline(always)]
    unsafe fn gather<const SCALE: i32>(self, base: *const u8, lane: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512; the caller guarantees 4 readable bytes at each lane's
        // address.
        unsafe { _mm512_i32gather_epi32::<SCALE>(lane, base.cast()) }
    }

    #[inline(always)]
    unsafe fn gather_where<const SCALE: i32>(
        self,
        mask: __mmask16,
        base: *const u8,
        lane: __m512i,
        other: __m512i,
    ) -> __m512i {
        // SAFETY: `self` proves AVX-512; the caller guarantees 4 readable bytes at chosen lanes'
        // addresses.
        unsafe { _mm512_mask_i32gather_epi32::<SCALE>(other, mask, lane, base.cast()) }
    }

    #[inline(always)]
    unsafe fn load(self, at: *const u8) -> __m512i {
        // SAFETY: `self` proves AVX-512; the caller guarantees 64 readable bytes at `at`.
        unsafe { _mm512_loadu_si512(at.cast()) }
    }

    /// Transposes 4 by 4 records.
    #[inline(always)]
    unsafe fn load_records<const UPPER: bool>(self, at: *const u8) -> [__m512i; 2] {
        // SAFETY: the caller guarantees sixteen readable records of 16 bytes: four vectors; this is
        // vector 0.
        let a = unsafe { self.load(at) };
        // SAFETY: vector 1 of the four that the caller guarantees.
        let b = unsafe { self.load(at.wrapping_add(64)) };
        // SAFETY: vector 2 of the four that the caller guarantees.
        let c = unsafe { self.load(at.wrapping_add(128)) };
        // SAFETY: vector 3 of the four that the caller guarantees.
        let d = unsafe { self.load(at.wrapping_add(192)) };
        let [ab, cd] = if UPPER {
            [proven!(_mm512_unpackhi_epi64(a, b)), proven!(_mm512_unpackhi_epi64(c, d))]
        } else {
            [proven!(_mm512_unpacklo_epi64(a, b)), proven!(_mm512_unpacklo_epi64(c, d))]
        };
        let (ab, cd) = (proven!(_mm512_castsi512_ps(ab)), proven!(_mm512_castsi512_ps(cd)));
        let even = proven!(_mm512_castps_si512(_mm512_shuffle_ps::<0x88>(ab, cd)));
        let odd = proven!(_mm512_castps_si512(_mm512_shuffle_ps::<0xdd>(ab, cd)));
        [even, odd]
    }

    #[inline(always)]
    fn in_order(self, a: __m512i) -> __m512i {
        let from = proven!(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
        proven!(_mm512_permutexvar_epi32(from, a))
    }

    #[inline(always)]
    fn shuffle_bytes(self, a: __m512i, from: u32) -> __m512i {
        // The instruction counts the bytes of four lanes.
        let lane = proven!(_mm512_set4_epi32(0x0c0c_0c0c, 0x0808_0808, 0x0404_0404, 0));
        proven!(_mm512_shuffle_epi8(a, self.add(lane, self.splat(from))))
    }

    #[inline(always)]
    unsafe fn gather_pairs(self, base: *const u8, lane: __m512i) -> [__m512i; 2] {
        let low = proven!(_mm512_castsi512_si256(lane));
        let high = proven!(_mm512_extracti64x4_epi64::<1>(lane));
        // SAFETY: `self` proves AVX-512; the caller guarantees a readable pair for each lane.
        let low = unsafe { _mm512_i32gather_epi64::<8>(low, base.cast()) };
        // SAFETY: `self` proves AVX-512; the caller guarantees a readable pair for each lane.
        let high = unsafe { _mm512_i32gather_epi64::<8>(high, base.cast()) };
        let first =
            proven!(_mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
        let second = self.or(first, self.splat(1));
        let first = proven!(_mm512_permutex2var_epi32(low, first, high));
        [first, proven!(_mm512_permutex2var_epi32(low, second, high))]
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u32, a: __m512i) {
        // SAFETY: `self` proves AVX-512; the caller guarantees 64 writable bytes at `at`.
        unsafe { _mm512_storeu_si512(at.cast(), a) }
    }

    #[inline(always)]
    unsafe fn first_at_most(self, words: *const u32, start: u32, count: u32, word: u32) -> u32 {
        let line = words.wrapping_add((start & !15) as usize);
        // The same line again, unless there are two.
        let next = line.wrapping_add(((count / 2) & 16) as usize);
        let key = self.splat(word);
        // SAFETY: the caller guarantees readable lines.
        let [line, next] = [line, next].map(|line| unsafe { self.load(line.cast()) });
        let line = proven!(_mm512_cmple_epu32_mask(line, key));
        let next = proven!(_mm512_cmple_epu32_mask(next, key));
        let found = proven!(_mm512_kunpackw(next.into(), line.into())) >> (start & 15);
        let at = start.wrapping_add(found.trailing_zeros()) as usize;
        // SAFETY: one of the words, as the caller guarantees that one is at most `word`.
        unsafe { words.wrapping_add(at).read() }
    }

    #[inline(always)]
    unsafe fn rank_u16<const N: usize>(self, line: *const u32, number: u16) -> u32 {
        const { assert!(N <= 32) };
        let first = const { u32::MAX >> (32 - N) };
        // SAFETY: the caller guarantees a readable line, which is one vector.
        let group = unsafe { self.load(line.cast()) };
        let number = proven!(_mm512_set1_epi16(number.cast_signed()));
        proven!(_mm512_mask_cmplt_epu16_mask(first, group, number)).count_ones()
    }

    #[inline(always)]
    unsafe fn store_chosen_at(self, mask: __mmask16, a: __m512i, to: *mut u32) -> usize {
        let chosen = proven!(_mm512_maskz_compress_epi32(mask, a));
        // SAFETY: the caller guarantees a vector's writable words.
        unsafe { self.store(to, chosen) };
        mask.count_ones() as usize
    }
}
