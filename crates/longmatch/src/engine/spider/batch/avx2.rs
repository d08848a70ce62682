//! Vectors of eight addresses: the paper's kernels, and ours.
//!
//! The paper fuses a fixed number of vectors into one loop (Algorithm 1 for IPv4, Algorithm 2 for
//! IPv6; two vectors are its best, Spider_16w). Ours prefetches the entries of many vectors.

use core::arch::x86_64::*;
use core::array::{from_mut, from_ref};

use super::super::layout::{DIRECT, DIRECT_OCTETS, Entry, Spider};
use super::VECTORS;
use crate::net::{Family, NextHopId};
use crate::simd::prefetch;

/// Addresses in a vector.
const LANES: usize = 8;

/// Answers all addresses, `N` vectors at a time; the rest one vector at a time.
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn fused<F: Family, E: Entry, const N: usize>(
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let (vectors, rest) = addrs.as_chunks::<LANES>();
    let (out_vectors, out_rest) = out.as_chunks_mut::<LANES>();
    let (groups, vectors) = vectors.as_chunks::<N>();
    let (out_groups, out_vectors) = out_vectors.as_chunks_mut::<N>();
    for (keys, out) in groups.iter().zip(out_groups) {
        group(spider, keys, out);
    }
    for (keys, out) in vectors.iter().zip(out_vectors) {
        group(spider, from_ref(keys), from_mut(out));
    }
    partial(spider, rest, out_rest);
}

/// Answers all addresses in groups of [`VECTORS`] vectors, each level prefetched.
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn ahead<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let (vectors, rest) = addrs.as_chunks::<LANES>();
    let (out_vectors, out_rest) = out.as_chunks_mut::<LANES>();
    for (keys, out) in vectors.chunks(VECTORS).zip(out_vectors.chunks_mut(VECTORS)) {
        group_ahead(spider, keys, out);
    }
    partial(spider, rest, out_rest);
}

/// Answers all addresses, `USED` (2 or 4) at a time, in the lanes of one vector. The other lanes
/// repeat them and read nothing new.
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
pub(super) fn some_lanes<F: Family, E: Entry, const USED: usize>(
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let (groups, rest) = addrs.as_chunks::<USED>();
    let (out_groups, out_rest) = out.as_chunks_mut::<USED>();
    for (keys, out) in groups.iter().zip(out_groups) {
        group(spider, from_ref(keys), from_mut(out));
    }
    partial(spider, rest, out_rest);
}

/// Answers the rest of a batch, fewer addresses than a vector has lanes. The other lanes repeat the
/// first one.
#[inline]
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
fn partial<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    keys: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let Some(first) = keys.first() else { return };
    let mut padded = [*first; LANES];
    padded[..keys.len()].copy_from_slice(keys);
    let mut answers = [[None; LANES]];
    group(spider, &[padded], &mut answers);
    out.copy_from_slice(&answers[0][..keys.len()]);
}

/// Looks up `N` vectors with `USED` addresses in each: Algorithms 1 and 2, each line for all
/// vectors.
#[inline]
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
fn group<F: Family, E: Entry, const N: usize, const USED: usize>(
    spider: &Spider<F, E>,
    keys: &[[F::Bits; USED]; N],
    out: &mut [[Option<NextHopId>; USED]; N],
) {
    let zero = _mm256_setzero_si256();
    let mut dst = [zero; N];
    let mut res = [zero; N];
    let mut nri = [zero; N];
    for i in 0..N {
        dst[i] = four_octets::<F, _>(&keys[i], 0);
        (res[i], nri[i]) = gather(spider, direct_index(dst[i]));
    }
    for octet in DIRECT_OCTETS..F::WIDTH / 8 {
        if all_ended(nri.iter().fold(zero, |any, nri| _mm256_or_si256(any, *nri))) {
            break;
        }
        let mask = octet_mask(octet % 4);
        for i in 0..N {
            if octet % 4 == 0 {
                dst[i] = four_octets::<F, _>(&keys[i], octet / 4);
            }
            let idx = _mm256_add_epi32(_mm256_shuffle_epi8(dst[i], mask), nri[i]);
            let (nhi, next) = gather(spider, idx);
            res[i] = longer(res[i], nhi);
            nri[i] = next;
        }
    }
    for i in 0..N {
        store::<F, _>(res[i], &mut out[i]);
    }
}

/// Looks up at most [`VECTORS`] vectors of addresses, level by level.
///
/// First computes and prefetches the index of every address, then reads the entries. Only vectors
/// with an address that continues take part.
#[inline]
#[target_feature(enable = "avx2,popcnt,lzcnt,bmi1,bmi2")]
fn group_ahead<F: Family, E: Entry>(
    spider: &Spider<F, E>,
    keys: &[[F::Bits; LANES]],
    out: &mut [[Option<NextHopId>; LANES]],
) {
    let zero = _mm256_setzero_si256();
    let mut dst = [zero; VECTORS];
    let mut res = [zero; VECTORS];
    let mut nri = [zero; VECTORS];
    let mut going_on = zero;
    for (i, keys) in keys.iter().enumerate() {
        // Prefetch the addresses of the next group.
        for line in (0..LANES).step_by(64 / size_of::<F::Bits>()) {
            prefetch(keys, VECTORS * LANES + line);
        }
        dst[i] = four_octets::<F, _>(keys, 0);
        (res[i], nri[i]) = gather(spider, direct_index(dst[i]));
        going_on = _mm256_or_si256(going_on, nri[i]);
    }
    let mut idx = [[0; LANES]; VECTORS];
    let mut octet = DIRECT_OCTETS;
    while !all_ended(going_on) {
        let mask = octet_mask(octet % 4);
        for (i, keys) in keys.iter().enumerate() {
            if octet.is_multiple_of(4) {
                dst[i] = four_octets::<F, _>(keys, octet / 4);
            }
            if !all_ended(nri[i]) {
                idx[i] = lanes(_mm256_add_epi32(_mm256_shuffle_epi8(dst[i], mask), nri[i]));
                idx[i].iter().for_each(|idx| prefetch(&spider.fib, *idx as usize));
            }
        }
        going_on = zero;
        for i in 0..keys.len() {
            if !all_ended(nri[i]) {
                let (nhi, next) = gather(spider, vector(&idx[i]));
                res[i] = longer(res[i], nhi);
                nri[i] = next;
                going_on = _mm256_or_si256(going_on, next);
            }
        }
        octet += 1;
    }
    for (out, res) in out.iter_mut().zip(res) {
        store::<F, _>(res, out);
    }
}

/// Indices in the direct pointing table (Algorithm 1, lines 3 and 4).
#[inline]
#[target_feature(enable = "avx2")]
fn direct_index(dst: __m256i) -> __m256i {
    _mm256_add_epi32(_mm256_srli_epi32::<16>(dst), _mm256_set1_epi32(DIRECT as i32))
}

/// Whether all next-row indexes are 0 (line 9).
#[inline]
#[target_feature(enable = "avx2")]
fn all_ended(nri: __m256i) -> bool {
    _mm256_testz_si256(nri, nri) == 1
}

/// The results after a row: its next hops, else the previous results (lines 15 and 16).
#[inline]
#[target_feature(enable = "avx2")]
fn longer(res: __m256i, nhi: __m256i) -> __m256i {
    let nothing = _mm256_cmpeq_epi32(nhi, _mm256_setzero_si256());
    _mm256_blendv_epi8(nhi, res, nothing)
}

/// Converts the lanes of a vector to numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes(vector: __m256i) -> [u32; LANES] {
    let mut lanes = [0; LANES];
    // SAFETY: the array has the 32 bytes that the store writes.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), vector) };
    lanes
}

/// Converts numbers to the lanes of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn vector(lanes: &[u32; LANES]) -> __m256i {
    // SAFETY: the array has the 32 bytes that the load reads.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

/// Writes results as answers, in address order (Algorithm 2, lines 38 and 39).
#[inline]
#[target_feature(enable = "avx2")]
fn store<F: Family, const USED: usize>(res: __m256i, out: &mut [Option<NextHopId>; USED]) {
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let res = if F::WIDTH == 32 { res } else { _mm256_permutevar8x32_epi32(res, order) };
    let (low, out) = (_mm256_castsi256_si128(res), out.as_mut_ptr());
    const { assert!(USED == 2 || USED == 4 || USED == LANES) };
    match USED {
        // SAFETY: the array has 2 answers of four bytes, each a next hop or 0 = none.
        2 => unsafe { _mm_storel_epi64(out.cast(), low) },
        // SAFETY: the array has 4 answers of four bytes, each a next hop or 0 = none.
        4 => unsafe { _mm_storeu_si128(out.cast(), low) },
        // SAFETY: the array has 8 answers of four bytes, each a next hop or 0 = none.
        _ => unsafe { _mm256_storeu_si256(out.cast(), res) },
    }
}

/// `shuffle8` mask: moves octet 0 to 3 of each lane, counted from its highest byte, to the lowest.
/// The other bytes become zero.
#[inline]
#[target_feature(enable = "avx2")]
fn octet_mask(octet: u8) -> __m256i {
    let lowest_bytes = _mm256_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12);
    _mm256_add_epi32(lowest_bytes, _mm256_set1_epi32(0x8080_8000_u32 as i32 | i32::from(3 - octet)))
}

/// Octets `4 * part` to `4 * part + 3` of 8 addresses, or of fewer, repeated.
///
/// The first octet is in the highest byte of each lane. For IPv6 the lanes are in the order of the
/// paper's unpacking, which [`store`] undoes.
#[inline]
#[target_feature(enable = "avx2")]
fn four_octets<F: Family, const USED: usize>(keys: &[F::Bits; USED], part: u8) -> __m256i {
    const { assert!(USED == 2 || USED == 4 || USED == LANES) };
    let keys: *const __m256i = keys.as_ptr().cast();
    if F::WIDTH == 32 {
        return match USED {
            // SAFETY: the array has 2 addresses of four bytes.
            2 => _mm256_broadcastq_epi64(unsafe { _mm_loadl_epi64(keys.cast()) }),
            // SAFETY: the array has 4 addresses of four bytes.
            4 => _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(keys.cast()) }),
            // SAFETY: the array has 8 addresses of four bytes.
            _ => unsafe { _mm256_loadu_si256(keys) },
        };
    }
    let load = |i| {
        let at = keys.wrapping_add(i % (USED / 2));
        // SAFETY: a vector is two IPv6 addresses, and the array has `USED / 2` vectors.
        unsafe { _mm256_loadu_si256(at) }
    };
    let dst = [load(0), load(1), load(2), load(3)];
    // The first four octets of an address in host order are its highest 32 bits.
    if part < 2 {
        let unpack1 = _mm256_unpackhi_epi32(dst[0], dst[2]);
        let unpack2 = _mm256_unpackhi_epi32(dst[1], dst[3]);
        match part {
            0 => _mm256_unpackhi_epi32(unpack1, unpack2),
            _ => _mm256_unpacklo_epi32(unpack1, unpack2),
        }
    } else {
        let unpack1 = _mm256_unpacklo_epi32(dst[0], dst[2]);
        let unpack2 = _mm256_unpacklo_epi32(dst[1], dst[3]);
        match part {
            2 => _mm256_unpackhi_epi32(unpack1, unpack2),
            _ => _mm256_unpacklo_epi32(unpack1, unpack2),
        }
    }
}

/// Reads eight entries: next-hop indices, and next-row indices times 256. The latter are the starts
/// of the rows.
#[inline]
#[target_feature(enable = "avx2")]
fn gather<F, E: Entry>(spider: &Spider<F, E>, idx: __m256i) -> (__m256i, __m256i) {
    if E::BITS == 32 {
        // SAFETY: each index is that of an entry: of the direct pointing table, of a row that an
        // entry names, or of EoL (invariants 1, 2 and 3).
        let val = unsafe { _mm256_i32gather_epi32::<4>(spider.fib.as_ptr().cast(), idx) };
        let mask_nhi = _mm256_set1_epi32(0x0000_ffff);
        // Bytes 2 and 3 of each lane, shifted left by one byte: `shuffle8` as in the paper.
        let mask_nri = _mm256_setr_epi8(
            -1, 2, 3, -1, -1, 6, 7, -1, -1, 10, 11, -1, -1, 14, 15, -1, //
            -1, 2, 3, -1, -1, 6, 7, -1, -1, 10, 11, -1, -1, 14, 15, -1,
        );
        (_mm256_and_si256(val, mask_nhi), _mm256_shuffle_epi8(val, mask_nri))
    } else {
        // Two gathers of 4 entries, arranged so that the halves below come out in order.
        let idx = _mm256_permute4x64_epi64::<0b11_01_10_00>(idx);
        let (idx_low, idx_high) = (_mm256_castsi256_si128(idx), _mm256_extracti128_si256::<1>(idx));
        let fib = spider.fib.as_ptr().cast();
        // SAFETY: each index is that of an entry (invariants 1, 2 and 3), below 2^31 (invariant 1).
        let low = unsafe { _mm256_i32gather_epi64::<8>(fib, idx_low) };
        // SAFETY: each index is that of an entry (invariants 1, 2 and 3), below 2^31 (invariant 1).
        let high = unsafe { _mm256_i32gather_epi64::<8>(fib, idx_high) };
        let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        let nhi = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
        let nri = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
        (nhi, _mm256_slli_epi32::<8>(nri))
    }
}
