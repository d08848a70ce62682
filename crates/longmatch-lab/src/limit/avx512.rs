//! Gathers of 16 words.

use core::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_castsi512_si256, _mm512_i32gather_epi32, _mm512_inserti64x4,
    _mm512_loadu_si512, _mm512_mask_blend_epi32, _mm512_mul_epu32, _mm512_mullo_epi32,
    _mm512_or_si512, _mm512_permutex2var_epi32, _mm512_set1_epi32, _mm512_set4_epi32,
    _mm512_setr_epi32, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_srli_epi32,
    _mm512_srli_epi64, _mm512_storeu_si512, _mm512_xor_si512,
};

use longmatch::simd::{Level, Simd};

use super::shape::{Kernel, Shape};
use super::{FOLD, Limit, Table, WORDS_AHEAD, prefetch, prefetch_keys};

/// Keys in a vector.
const LANES: usize = 16;

/// The kernel, once its instructions are proven to be there.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    /// The kernel, if the level has it.
    pub fn of(simd: Simd) -> Option<Self> {
        (simd.level() >= Level::Avx512).then_some(Self(()))
    }
}

impl Kernel for Avx512 {
    const LANES: usize = LANES;

    unsafe fn read<S: Shape>(self, limit: &Limit, keys: *const u8, out: &mut [u32]) {
        // SAFETY: `self` exists only where the CPU has the instructions; the keys are as the caller
        // promises.
        unsafe { read::<S>(limit, keys, out.as_chunks_mut().0) }
    }
}

/// # Safety
/// As many keys as `out` has places begin at `keys`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn answers<S: Shape>(tables: &[Table], keys: *const u8) -> [u32; LANES] {
    // SAFETY: as the caller promises.
    let lead = unsafe { lead::<S>(keys) };
    let mut answer = _mm512_setzero_si512();
    for table in tables {
        let (index, at) = (index(table, lead), table.words.as_ptr().cast());
        // SAFETY: every index is below the number of words, which fits an `i32`.
        let word = unsafe { _mm512_i32gather_epi32::<4>(index, at) };
        answer = _mm512_xor_si512(answer, word);
    }
    lanes(answer)
}

/// As [`Table::index`], of which this is the upper half of a product of 64 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn index(table: &Table, lead: __m512i) -> __m512i {
    let hash = _mm512_mullo_epi32(lead, _mm512_set1_epi32(table.multiplier as i32));
    let count = _mm512_set1_epi32(table.words.len() as i32);
    let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(hash, count));
    let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(hash), count);
    _mm512_mask_blend_epi32(0xaaaa, even, odd)
}

/// As [`super::lead`].
///
/// # Safety
/// A vector of keys begins at `keys`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn lead<S: Shape>(keys: *const u8) -> __m512i {
    // SAFETY: a vector of keys is one vector of words, or four, as the caller promises.
    let part = |i: usize| unsafe { _mm512_loadu_si512(keys.cast::<__m512i>().wrapping_add(i)) };
    if S::WORDS == 1 {
        return _mm512_srli_epi32::<8>(in_order::<S>(part(0)));
    }
    let of_each = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0);
    let word = |w: usize| {
        let pick = _mm512_or_si512(of_each, _mm512_set1_epi32(w as i32));
        let low = _mm512_permutex2var_epi32(part(0), pick, part(1));
        let high = _mm512_permutex2var_epi32(part(2), pick, part(3));
        in_order::<S>(_mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high)))
    };
    let first = _mm512_mullo_epi32(word(S::FIRST), _mm512_set1_epi32(FOLD as i32));
    _mm512_add_epi32(first, _mm512_srli_epi32::<16>(word(S::SECOND)))
}

/// The words as numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn in_order<S: Shape>(words: __m512i) -> __m512i {
    if !S::SWAP {
        return words;
    }
    let reverse = _mm512_set4_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203);
    _mm512_shuffle_epi8(words, reverse)
}

/// The lanes of a vector as numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn lanes(vector: __m512i) -> [u32; LANES] {
    let mut lanes = [0; LANES];
    // SAFETY: the array has room for the 64 bytes.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), vector) };
    lanes
}
