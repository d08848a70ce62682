//! Gathers of 16 entries, several vectors in flight, the entries of `tbl24` asked for ahead.
//!
//! The vectors of a group go through each level together, so that their gathers overlap. IPv4 is
//! best with two vectors, as more is only more registers: the gathers of `tbl24` do not depend on
//! each other, and few addresses go on. IPv6 has chains of gathers and is best with six. Asking
//! ahead for a whole group at once instead of vector by vector was 10-15 % slower; 16 vectors ahead
//! were as good as 12, 32 were 10 % slower.

use core::arch::x86_64::{
    __m512i, __mmask16, _mm512_and_si512, _mm512_andnot_si512, _mm512_castsi512_si256,
    _mm512_inserti64x4, _mm512_loadu_si512, _mm512_mask_and_epi32, _mm512_mask_i32gather_epi32,
    _mm512_or_si512, _mm512_permutex2var_epi32, _mm512_set1_epi32, _mm512_setr_epi32,
    _mm512_setzero_si512, _mm512_slli_epi32, _mm512_srli_epi32, _mm512_srlv_epi32,
    _mm512_storeu_si512, _mm512_test_epi32_mask,
};

use super::super::layout::{Dir24_8, Entry, FIRST_BITS, GROUP_BITS, GROUP_SLOTS};
use super::super::lookup;
use super::ask_for;
use crate::addr::Family;
use crate::next_hop::NextHopId;

/// Addresses in a vector.
const LANES: usize = 16;
/// How many vectors ahead entries of `tbl24` are asked for.
const AHEAD: usize = 12;

type Keys<F> = [<F as Family>::Bits; LANES];
type Answers = [Option<NextHopId>; LANES];

/// Answers all addresses.
///
/// # Safety
/// An index into `tbl8` fits an `i32`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn group<F: Family, E: Entry, const V: usize>(
    tables: &Dir24_8<F, E>,
    keys: &[Keys<F>],
    at: usize,
    answers: &mut [Answers; V],
) {
    let is_group = _mm512_set1_epi32((1u32 << (E::BITS - 1)) as i32);
    let mut word = [_mm512_setzero_si512(); V];
    let mut entry = [_mm512_setzero_si512(); V];
    let mut going_on = [0; V];
    for v in 0..V {
        if let Some(later) = keys.get(at + v + AHEAD) {
            ask_for(tables, later);
        }
        word[v] = word_of::<F>(&keys[at + v], 0);
        let index = _mm512_srli_epi32::<{ 32 - FIRST_BITS as u32 }>(word[v]);
        // SAFETY: 24 bits index the table (invariant 1).
        entry[v] = unsafe { gather(&tables.tbl24, entry[v], !0, index) };
        going_on[v] = _mm512_test_epi32_mask(entry[v], is_group);
    }
    let mut depth = FIRST_BITS;
    while depth < F::WIDTH && going_on.iter().any(|mask| *mask != 0) {
        for v in 0..V {
            if going_on[v] == 0 {
                continue;
            }
            if depth.is_multiple_of(32) {
                word[v] = word_of::<F>(&keys[at + v], depth / 32);
            }
            let shift = _mm512_set1_epi32((24 - depth % 32).into());
            let slot_bits = _mm512_set1_epi32(GROUP_SLOTS as i32 - 1);
            let slot = _mm512_and_si512(_mm512_srlv_epi32(word[v], shift), slot_bits);
            let start = _mm512_andnot_si512(is_group, entry[v]);
            let index = _mm512_or_si512(_mm512_slli_epi32::<{ GROUP_BITS as u32 }>(start), slot);
            // SAFETY: the lanes that go on name groups inside `tbl8` (invariant 2), and its indices
            // fit, as the caller promises.
            entry[v] = unsafe { gather(&tables.tbl8, entry[v], going_on[v], index) };
            going_on[v] &= _mm512_test_epi32_mask(entry[v], is_group);
        }
        depth += GROUP_BITS;
    }
    for (answers, entry) in answers.iter_mut().zip(entry) {
        // SAFETY: sixteen next hops are as many `u32`, 0 for none; the entries all answer, so their
        // top bits are clear (invariant 3).
        unsafe { _mm512_storeu_si512(answers.as_mut_ptr().cast(), entry) };
    }
}

/// Word `w` of sixteen addresses, 0 being the first on the wire.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn word_of<F: Family>(keys: &Keys<F>, w: u8) -> __m512i {
    const { assert!(size_of::<F::Bits>() * 8 == F::WIDTH as usize) };
    let at = keys.as_ptr().cast::<__m512i>();
    // SAFETY: sixteen addresses of 32 bits fill one vector, of 128 bits four.
    let part = |i: usize| unsafe { _mm512_loadu_si512(at.wrapping_add(i)) };
    if F::WIDTH == 32 {
        return part(0);
    }
    let first = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0);
    let pick = _mm512_or_si512(first, _mm512_set1_epi32((3 - w).into()));
    let low = _mm512_permutex2var_epi32(part(0), pick, part(1));
    let high = _mm512_permutex2var_epi32(part(2), pick, part(3));
    _mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high))
}

/// The entries at the indices of the lanes in the mask; `other` in the other lanes.
///
/// # Safety
/// The indices of the lanes in the mask are in range.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn gather<E: Entry>(
    table: &[E],
    other: __m512i,
    mask: __mmask16,
    index: __m512i,
) -> __m512i {
    let at = table.as_ptr().cast();
    if E::BITS == 32 {
        // SAFETY: as the caller promises.
        return unsafe { _mm512_mask_i32gather_epi32::<4>(other, mask, index, at) };
    }
    let pair = _mm512_srli_epi32::<1>(index);
    // SAFETY: as the caller promises; the array has an even length, so the whole pair is inside.
    let pair = unsafe { _mm512_mask_i32gather_epi32::<4>(other, mask, pair, at) };
    let odd = _mm512_slli_epi32::<4>(_mm512_and_si512(index, _mm512_set1_epi32(1)));
    let entry = _mm512_srlv_epi32(pair, odd);
    _mm512_mask_and_epi32(other, mask, entry, _mm512_set1_epi32(u16::MAX.into()))
}
