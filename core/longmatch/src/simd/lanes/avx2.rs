//! Eight lanes in a register of 256 bits. A mask is a vector in which the top bit of each lane
//! decides, as the gathers and blends of AVX2 read it.

use core::arch::x86_64::*;

use super::Lanes;
use crate::simd::{Level, Simd, Work, run_avx2};

/// Executes an instruction that the token proves the CPU has.
macro_rules! proven {
    ($instruction:expr) => {{
        // SAFETY: `self` exists only where the CPU has AVX2.
        unsafe { $instruction }
    }};
}

/// AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Makes the token if the level is proven.
    #[inline(always)]
    pub fn new(simd: Simd) -> Option<Self> {
        (simd.level() >= Level::Avx2).then_some(Self(()))
    }
}

/// The numbers of the lanes that each mask chooses, a byte each, lowest first.
static CHOSEN: [u64; 256] = {
    let mut chosen = [0; 256];
    let mut mask = 0;
    while mask < chosen.len() {
        let (mut lane, mut count) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                chosen[mask] |= (lane as u64) << (8 * count);
                count += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    chosen
};

// SAFETY: a vector consists of 8 words.
unsafe impl Lanes for Avx2 {
    type V = __m256i;
    type M = __m256i;
    const COUNT: usize = 8;

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        proven!(run_avx2(work))
    }

    #[inline(always)]
    fn splat(self, value: u32) -> __m256i {
        proven!(_mm256_set1_epi32(value as i32))
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_add_epi32(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_sub_epi32(a, b))
    }

    #[inline(always)]
    fn mul(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_mullo_epi32(a, b))
    }

    #[inline(always)]
    fn mul_high(self, a: __m256i, b: __m256i) -> __m256i {
        // Not a shift: a shuffle of equal lanes takes no instruction.
        let odd = |v| proven!(_mm256_shuffle_epi32::<0b11_11_01_01>(v));
        let even_high = odd(proven!(_mm256_mul_epu32(a, b)));
        let odd_high = proven!(_mm256_mul_epu32(odd(a), odd(b)));
        proven!(_mm256_blend_epi32::<0b1010_1010>(even_high, odd_high))
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_and_si256(a, b))
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_or_si256(a, b))
    }

    #[inline(always)]
    fn without(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_andnot_si256(b, a))
    }

    #[inline(always)]
    fn min(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_min_epu32(a, b))
    }

    #[inline(always)]
    fn shl(self, a: __m256i, by: __m256i) -> __m256i {
        proven!(_mm256_sllv_epi32(a, by))
    }

    #[inline(always)]
    fn shr(self, a: __m256i, by: __m256i) -> __m256i {
        proven!(_mm256_srlv_epi32(a, by))
    }

    #[inline(always)]
    fn all(self) -> __m256i {
        self.splat(u32::MAX)
    }

    #[inline(always)]
    fn with_bit(self, a: __m256i, bit: u32) -> __m256i {
        self.negative(self.shl(a, self.splat(31 - bit)))
    }

    #[inline(always)]
    fn negative(self, a: __m256i) -> __m256i {
        a
    }

    #[inline(always)]
    fn less(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_cmpgt_epi32(b, a))
    }

    #[inline(always)]
    fn equal(self, a: __m256i, b: __m256i) -> __m256i {
        proven!(_mm256_cmpeq_epi32(a, b))
    }

    #[inline(always)]
    fn both(self, a: __m256i, b: __m256i) -> __m256i {
        self.and(a, b)
    }

    #[inline(always)]
    fn union(self, a: __m256i) -> u32 {
        let half = proven!(_mm256_extracti128_si256::<1>(a));
        let a = proven!(_mm_or_si128(_mm256_castsi256_si128(a), half));
        let a = proven!(_mm_or_si128(a, _mm_shuffle_epi32::<0b1110>(a)));
        let a = proven!(_mm_or_si128(a, _mm_shuffle_epi32::<0b01>(a)));
        proven!(_mm_cvtsi128_si32(a)) as u32
    }

    #[inline(always)]
    fn any(self, mask: __m256i) -> bool {
        self.bits(mask) != 0
    }

    #[inline(always)]
    fn bits(self, mask: __m256i) -> u32 {
        proven!(_mm256_movemask_ps(_mm256_castsi256_ps(mask))) as u32
    }

    #[inline(always)]
    fn is_zero(self, a: __m256i) -> bool {
        proven!(_mm256_testz_si256(a, a)) == 1
    }

    #[inline(always)]
    fn select(self, mask: __m256i, yes: __m256i, no: __m256i) -> __m256i {
        let yes = proven!(_mm256_castsi256_ps(yes));
        let no = proven!(_mm256_castsi256_ps(no));
        let mask = proven!(_mm256_castsi256_ps(mask));
        let chosen = proven!(_mm256_blendv_ps(no, yes, mask));
        proven!(_mm256_castps_si256(chosen))
    }

    #[inline(always)]
    unsafe fn gather<const SCALE: i32>(self, base: *const u8, lane: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2; the caller guarantees 4 readable bytes at each lane's
        // address.
        unsafe { _mm256_i32gather_epi32::<SCALE>(base.cast(), lane) }
    }

    #[inline(always)]
    unsafe fn gather_where<const SCALE: i32>(
        self,
        mask: __m256i,
        base: *const u8,
        lane: __m256i,
        other: __m256i,
    ) -> __m256i {
        // SAFETY: `self` proves AVX2; the caller guarantees 4 readable bytes at each chosen lane's
        // address.
        unsafe { _mm256_mask_i32gather_epi32::<SCALE>(other, base.cast(), lane, mask) }
    }

    #[inline(always)]
    unsafe fn load(self, at: *const u8) -> __m256i {
        // SAFETY: `self` proves AVX2; the caller guarantees 32 readable bytes at `at`.
        unsafe { _mm256_loadu_si256(at.cast()) }
    }

    #[inline(always)]
    unsafe fn load_records<const UPPER: bool>(self, at: *const u8) -> [__m256i; 2] {
        // SAFETY: the caller guarantees eight readable records of 16 bytes: four vectors, of which
        // this is 0.
        let a = unsafe { self.load(at) };
        // SAFETY: vector 1 of the four that the caller guarantees.
        let b = unsafe { self.load(at.wrapping_add(32)) };
        // SAFETY: vector 2 of the four that the caller guarantees.
        let c = unsafe { self.load(at.wrapping_add(64)) };
        // SAFETY: vector 3 of the four that the caller guarantees.
        let d = unsafe { self.load(at.wrapping_add(96)) };
        let [ab, cd] = if UPPER {
            [proven!(_mm256_unpackhi_epi64(a, b)), proven!(_mm256_unpackhi_epi64(c, d))]
        } else {
            [proven!(_mm256_unpacklo_epi64(a, b)), proven!(_mm256_unpacklo_epi64(c, d))]
        };
        self.even_and_odd(ab, cd)
    }

    #[inline(always)]
    fn in_order(self, a: __m256i) -> __m256i {
        let from = proven!(_mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        proven!(_mm256_permutevar8x32_epi32(a, from))
    }

    #[inline(always)]
    fn shuffle_bytes(self, a: __m256i, from: u32) -> __m256i {
        // The instruction counts the bytes of four lanes.
        let lane = proven!(_mm_setr_epi32(0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c));
        let from = self.add(proven!(_mm256_broadcastsi128_si256(lane)), self.splat(from));
        proven!(_mm256_shuffle_epi8(a, from))
    }

    /// Two gathers of four pairs, arranged so that the shuffles of halves restore the order.
    #[inline(always)]
    unsafe fn gather_pairs(self, base: *const u8, lane: __m256i) -> [__m256i; 2] {
        let lane = proven!(_mm256_permute4x64_epi64::<0b11_01_10_00>(lane));
        let low = proven!(_mm256_castsi256_si128(lane));
        let high = proven!(_mm256_extracti128_si256::<1>(lane));
        // SAFETY: `self` proves AVX2; the caller guarantees a readable pair for each lane.
        let low = unsafe { _mm256_i32gather_epi64::<8>(base.cast(), low) };
        // SAFETY: `self` proves AVX2; the caller guarantees a readable pair for each lane.
        let high = unsafe { _mm256_i32gather_epi64::<8>(base.cast(), high) };
        self.even_and_odd(low, high)
    }

    /// Eight loads of records. Four gathers of pairs would be twice as many operations on Zen 3.
    #[inline(always)]
    unsafe fn gather_records(self, base: *const u8, lane: __m256i) -> [__m256i; 4] {
        let lanes = self.lanes(&lane);
        let half = |record: usize| {
            let at = base.wrapping_add(16 * lanes[record] as usize);
            // SAFETY: `self` proves AVX2; the caller guarantees a readable record for each lane.
            unsafe { _mm_loadu_si128(at.cast()) }
        };
        // Records 0 and 4, 1 and 5, and so on, so that the shuffles of halves leave them in order.
        let two = |record| proven!(_mm256_set_m128i(half(record + 4), half(record)));
        let (a, b, c, d) = (two(0), two(1), two(2), two(3));
        let lower = [proven!(_mm256_unpacklo_epi64(a, b)), proven!(_mm256_unpacklo_epi64(c, d))];
        let upper = [proven!(_mm256_unpackhi_epi64(a, b)), proven!(_mm256_unpackhi_epi64(c, d))];
        let [first, second] = self.even_and_odd(lower[0], lower[1]);
        let [third, fourth] = self.even_and_odd(upper[0], upper[1]);
        [first, second, third, fourth]
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u32, a: __m256i) {
        // SAFETY: `self` proves AVX2; the caller guarantees 32 writable bytes at `at`.
        unsafe { _mm256_storeu_si256(at.cast(), a) }
    }

    /// One comparison of up to 16 numbers, two of more. AVX2 has no unsigned ones, so a number is
    /// compared with the greater of it and `number`. The bytes behind the numbers are loaded and
    /// masked off.
    #[inline(always)]
    unsafe fn rank_u16<const N: usize>(self, line: *const u32, number: u16) -> u32 {
        const { assert!(N <= 32) };
        let number = proven!(_mm256_set1_epi16(number.cast_signed()));
        let not_less = |at: usize| {
            // SAFETY: 32 bytes of the line, which the caller guarantees to be readable.
            let group = unsafe { self.load(line.cast::<u8>().wrapping_add(2 * at)) };
            let equal = proven!(_mm256_cmpeq_epi16(_mm256_max_epu16(group, number), group));
            u64::from(proven!(_mm256_movemask_epi8(equal)).cast_unsigned()) << (2 * at)
        };
        let not_less = if N <= 16 { not_less(0) } else { not_less(0) | not_less(N - 16) };
        N as u32 - (not_less & (u64::MAX >> (64 - 2 * N))).count_ones() / 2
    }

    #[inline(always)]
    unsafe fn first_at_most(self, words: *const u32, start: u32, count: u32, word: u32) -> u32 {
        let line = words.wrapping_add((start & !15) as usize);
        let key = self.splat(word);
        let at_most = |at: usize| {
            // SAFETY: the caller guarantees readable lines.
            let group = unsafe { self.load(line.wrapping_add(at).cast()) };
            let equal = self.equal(proven!(_mm256_max_epu32(group, key)), key);
            proven!(_mm256_movemask_ps(_mm256_castsi256_ps(equal))).cast_unsigned()
        };
        let mut found = at_most(0) | at_most(8) << 8;
        if count > 16 {
            found |= at_most(16) << 16 | at_most(24) << 24;
        }
        let at = start.wrapping_add((found >> (start & 15)).trailing_zeros()) as usize;
        // SAFETY: one of the words, as the caller guarantees that one is at most `word`.
        unsafe { words.wrapping_add(at).read() }
    }

    #[inline(always)]
    unsafe fn store_chosen_at(self, mask: __m256i, a: __m256i, to: *mut u32) -> usize {
        let bits = self.bits(mask);
        let lanes = proven!(_mm_cvtsi64_si128(CHOSEN[bits as usize & 255].cast_signed()));
        let lanes = proven!(_mm256_cvtepu8_epi32(lanes));
        let chosen = proven!(_mm256_permutevar8x32_epi32(a, lanes));
        // SAFETY: the caller guarantees a vector's writable words.
        unsafe { self.store(to, chosen) };
        bits.count_ones() as usize
    }
}

impl Avx2 {
    /// The even lanes of `a` and `b`, and the odd ones, of each half of the registers.
    #[inline(always)]
    fn even_and_odd(self, a: __m256i, b: __m256i) -> [__m256i; 2] {
        let (a, b) = (proven!(_mm256_castsi256_ps(a)), proven!(_mm256_castsi256_ps(b)));
        let even = proven!(_mm256_castps_si256(_mm256_shuffle_ps::<0x88>(a, b)));
        let odd = proven!(_mm256_castps_si256(_mm256_shuffle_ps::<0xdd>(a, b)));
        [even, odd]
    }
}
