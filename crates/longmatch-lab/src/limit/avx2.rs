//! Gathers of 8 words.

use core::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_blend_epi32, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_i32gather_epi32, _mm256_loadu_si256, _mm256_mul_epu32, _mm256_mullo_epi32,
    _mm256_permutevar8x32_epi32, _mm256_set_epi32, _mm256_set1_epi32, _mm256_setr_epi32,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_shuffle_ps, _mm256_srli_epi32,
    _mm256_srli_epi64, _mm256_storeu_si256, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
    _mm256_xor_si256,
};

use longmatch::simd::{Level, Simd};

use super::shape::{Kernel, Shape};
use super::{FOLD, Limit, Table, WORDS_AHEAD, prefetch, prefetch_keys};

/// Keys in a vector.
const LANES: usize = 8;

/// The kernel, once its instructions are proven to be there.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// The kernel, if the level has it.
    pub fn of(simd: Simd) -> Option<Self> {
        (simd.level() >= Level::Avx2).then_some(Self(()))
    }
}

impl Kernel for Avx2 {
    const LANES: usize = LANES;

    unsafe fn read<S: Shape>(self, limit: &Limit, keys: *const u8, out: &mut [u32]) {
        // SAFETY: `self` exists only where the CPU has the instructions; the keys are as the caller
        // promises.
        unsafe { read::<S>(limit, keys, out.as_chunks_mut().0) }
    }
}

/// # Safety
/// As many keys as `out` has places begin at `keys`.
#[target_feature(enable = "avx2")]
unsafe fn read<S: Shape>(limit: &Limit, keys: *const u8, out: &mut [[u32; LANES]]) {
    let bytes = LANES * S::WORDS * size_of::<u32>();
    let ahead = limit.asked().next().is_some();
    let asked = if ahead { WORDS_AHEAD / LANES } else { 0 };
    let vector = |v: usize| keys.wrapping_add(v * bytes);
    for v in 0..asked.min(out.len()) {
        // SAFETY: as the caller promises.
        unsafe { ask::<S>(limit, vector(v)) };
    }
    for v in 0..out.len() {
        prefetch_keys(vector(v), bytes);
        if ahead && v + asked < out.len() {
            // SAFETY: as the caller promises.
            unsafe { ask::<S>(limit, vector(v + asked)) };
        }
        // SAFETY: as the caller promises.
        out[v] = unsafe { answers::<S>(&limit.tables, vector(v)) };
    }
}

/// Asks for the words of a vector of keys.
///
/// # Safety
/// A vector of keys begins at `keys`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn ask<S: Shape>(limit: &Limit, keys: *const u8) {
    // SAFETY: as the caller promises.
    let lead = unsafe { lead::<S>(keys) };
    for table in limit.asked() {
        for i in lanes(index(table, lead)) {
            prefetch(table.at(i as usize));
        }
    }
}

/// The answers to a vector of keys.
///
/// # Safety
/// A vector of keys begins at `keys`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn answers<S: Shape>(tables: &[Table], keys: *const u8) -> [u32; LANES] {
    // SAFETY: as the caller promises.
    let lead = unsafe { lead::<S>(keys) };
    let mut answer = _mm256_setzero_si256();
    for table in tables {
        let (index, at) = (index(table, lead), table.words.as_ptr().cast());
        // SAFETY: every index is below the number of words, which fits an `i32`.
        let word = unsafe { _mm256_i32gather_epi32::<4>(at, index) };
        answer = _mm256_xor_si256(answer, word);
    }
    lanes(answer)
}

/// As [`Table::index`], of which this is the upper half of a product of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn index(table: &Table, lead: __m256i) -> __m256i {
    let hash = _mm256_mullo_epi32(lead, _mm256_set1_epi32(table.multiplier as i32));
    let count = _mm256_set1_epi32(table.words.len() as i32);
    let even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(hash, count));
    let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(hash), count);
    _mm256_blend_epi32::<0b1010_1010>(even, odd)
}

/// As [`super::lead`].
///
/// # Safety
/// A vector of keys begins at `keys`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn lead<S: Shape>(keys: *const u8) -> __m256i {
    // SAFETY: a vector of keys is one vector of words, or four, as the caller promises.
    let part = |i: usize| unsafe { _mm256_loadu_si256(keys.cast::<__m256i>().wrapping_add(i)) };
    if S::WORDS == 1 {
        return _mm256_srli_epi32::<8>(in_order::<S>(part(0)));
    }
    // The halves of keys 0, 2, 1, 3 that hold the first 64 bits, and those of keys 4, 6, 5, 7.
    let [low, high] = [(part(0), part(1)), (part(2), part(3))].map(|(a, b)| {
        let half =
            if S::FIRST >= 2 { _mm256_unpackhi_epi64(a, b) } else { _mm256_unpacklo_epi64(a, b) };
        _mm256_castsi256_ps(in_order::<S>(half))
    });
    let even = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
    let odd = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
    let (first, second) = if S::FIRST % 2 == 0 { (even, odd) } else { (odd, even) };
    let first = _mm256_mullo_epi32(first, _mm256_set1_epi32(FOLD as i32));
    let lead = _mm256_add_epi32(first, _mm256_srli_epi32::<16>(second));
    // The lanes are those of keys 0, 2, 4, 6, 1, 3, 5, 7.
    _mm256_permutevar8x32_epi32(lead, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
}

/// The words as numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn in_order<S: Shape>(words: __m256i) -> __m256i {
    if !S::SWAP {
        return words;
    }
    let [a, b, c, d] = [0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203];
    _mm256_shuffle_epi8(words, _mm256_set_epi32(a, b, c, d, a, b, c, d))
}

/// The lanes of a vector as numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes(vector: __m256i) -> [u32; LANES] {
    let mut lanes = [0; LANES];
    // SAFETY: the array has room for the 32 bytes.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), vector) };
    lanes
}
