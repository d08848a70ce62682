//! Gathers of 8 entries, several vectors in flight, the entries of `tbl24` asked for ahead: the
//! AVX-512 kernel with half the lanes, and with vectors for masks.

use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8, _mm256_castsi256_ps,
    _mm256_loadu_si256, _mm256_mask_i32gather_epi32, _mm256_movemask_ps, _mm256_or_si256,
    _mm256_set1_epi32, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_slli_epi32,
    _mm256_srai_epi32, _mm256_srli_epi32, _mm256_srlv_epi32, _mm256_storeu_si256,
};

use super::super::layout::{Dir24_8, Entry, FIRST_BITS, GROUP_BITS, GROUP_SLOTS};
use super::super::lookup;
use super::ask_for;
use crate::addr::{Bits, Family};
use crate::next_hop::NextHopId;

/// Addresses in a vector.
const LANES: usize = 8;
/// How many vectors ahead entries of `tbl24` are asked for.
const AHEAD: usize = 24;

type Keys<F> = [<F as Family>::Bits; LANES];
type Answers = [Option<NextHopId>; LANES];

/// Answers all addresses.
///
/// # Safety
/// An index into `tbl8` fits an `i32`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn lookup_batch<F: Family, E: Entry>(
    tables: &Dir24_8<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    if F::WIDTH == 32 {
        // SAFETY: as the caller promises.
        unsafe { in_groups::<F, E, 2>(tables, addrs, out) }
    } else {
        // SAFETY: as the caller promises.
        unsafe { in_groups::<F, E, 6>(tables, addrs, out) }
    }
}

/// As [`lookup_batch`], in groups of `V` vectors, then of one, then address by address.
#[target_feature(enable = "avx2")]
unsafe fn in_groups<F: Family, E: Entry, const V: usize>(
    tables: &Dir24_8<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let (keys, rest) = addrs.as_chunks::<LANES>();
    let (answers, out_rest) = out.as_chunks_mut::<LANES>();
    let (groups, singles) = answers.as_chunks_mut::<V>();
    let mut at = 0;
    for answers in groups {
        // SAFETY: as the caller promises.
        unsafe { group(tables, keys, at, answers) };
        at += V;
    }
    for answers in singles {
        // SAFETY: as the caller promises.
        unsafe { group(tables, keys, at, core::array::from_mut(answers)) };
        at += 1;
    }
    for (key, out) in rest.iter().zip(out_rest) {
        *out = lookup::lookup(tables, *key);
    }
}

/// Answers the `V` vectors of addresses from `at` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn group<F: Family, E: Entry, const V: usize>(
    tables: &Dir24_8<F, E>,
    keys: &[Keys<F>],
    at: usize,
    answers: &mut [Answers; V],
) {
    let is_group = _mm256_set1_epi32((1u32 << (E::BITS - 1)) as i32);
    let mut word = [_mm256_setzero_si256(); V];
    let mut entry = [_mm256_setzero_si256(); V];
    let mut going_on = [_mm256_setzero_si256(); V];
    for v in 0..V {
        if let Some(later) = keys.get(at + v + AHEAD) {
            ask_for(tables, later);
        }
        word[v] = word_of::<F>(&keys[at + v], 0);
        let index = _mm256_srli_epi32::<{ 32 - FIRST_BITS as i32 }>(word[v]);
        let all = _mm256_set1_epi32(-1);
        // SAFETY: 24 bits index the table (invariant 1).
        entry[v] = unsafe { gather(&tables.tbl24, entry[v], all, index) };
        going_on[v] = groups::<E>(entry[v]);
    }
    let mut depth = FIRST_BITS;
    while depth < F::WIDTH && going_on.iter().any(|mask| any(*mask)) {
        for v in 0..V {
            if !any(going_on[v]) {
                continue;
            }
            if depth.is_multiple_of(32) {
                word[v] = word_of::<F>(&keys[at + v], depth / 32);
            }
            let shift = _mm256_set1_epi32((24 - depth % 32).into());
            let slot_bits = _mm256_set1_epi32(GROUP_SLOTS as i32 - 1);
            let slot = _mm256_and_si256(_mm256_srlv_epi32(word[v], shift), slot_bits);
            let start = _mm256_andnot_si256(is_group, entry[v]);
            let index = _mm256_or_si256(_mm256_slli_epi32::<{ GROUP_BITS as i32 }>(start), slot);
            // SAFETY: the lanes that go on name groups inside `tbl8` (invariant 2), and its indices
            // fit, as the caller promises.
            entry[v] = unsafe { gather(&tables.tbl8, entry[v], going_on[v], index) };
            going_on[v] = _mm256_and_si256(going_on[v], groups::<E>(entry[v]));
        }
        depth += GROUP_BITS;
    }
    for (answers, entry) in answers.iter_mut().zip(entry) {
        // SAFETY: eight next hops are as many `u32`, 0 for none; the entries all answer, so their
        // top bits are clear (invariant 3).
        unsafe { _mm256_storeu_si256(answers.as_mut_ptr().cast(), entry) };
    }
}

/// All ones in the lanes whose entries name groups.
#[inline]
#[target_feature(enable = "avx2")]
fn groups<E: Entry>(entry: __m256i) -> __m256i {
    let top = if E::BITS == 32 { entry } else { _mm256_slli_epi32::<16>(entry) };
    _mm256_srai_epi32::<31>(top)
}

/// Whether a lane of the mask is set.
#[inline]
#[target_feature(enable = "avx2")]
fn any(mask: __m256i) -> bool {
    _mm256_movemask_ps(_mm256_castsi256_ps(mask)) != 0
}

/// Word `w` of eight addresses, 0 being the first on the wire.
#[inline]
#[target_feature(enable = "avx2")]
fn word_of<F: Family>(keys: &Keys<F>, w: u8) -> __m256i {
    if F::WIDTH == 32 {
        // SAFETY: eight addresses of 32 bits fill one vector.
        return unsafe { _mm256_loadu_si256(keys.as_ptr().cast()) };
    }
    let word = |i: usize| keys[i].extract(32 * w, 32) as i32;
    _mm256_setr_epi32(word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7))
}

/// The entries at the indices of the lanes in the mask; `other` in the other lanes.
///
/// # Safety
/// The indices of the lanes in the mask are in range.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn gather<E: Entry>(table: &[E], other: __m256i, mask: __m256i, index: __m256i) -> __m256i {
    let at = table.as_ptr().cast();
    if E::BITS == 32 {
        // SAFETY: as the caller promises.
        return unsafe { _mm256_mask_i32gather_epi32::<4>(other, at, index, mask) };
    }
    let pair = _mm256_srli_epi32::<1>(index);
    // SAFETY: as the caller promises; the array has an even length, so the whole pair is inside.
    let pair = unsafe { _mm256_mask_i32gather_epi32::<4>(other, at, pair, mask) };
    let odd = _mm256_slli_epi32::<4>(_mm256_and_si256(index, _mm256_set1_epi32(1)));
    let entry = _mm256_srlv_epi32(pair, odd);
    let entry = _mm256_and_si256(entry, _mm256_set1_epi32(u16::MAX.into()));
    _mm256_blendv_epi8(other, entry, mask)
}
