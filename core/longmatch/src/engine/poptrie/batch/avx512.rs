//! Lookups in the lanes of AVX-512.
//!
//! The addresses of a group descend together, level by level, as in `scalar.rs`, and 8 of them do
//! each step at once. The direct index is gathered for 16 addresses. After a level compressing
//! vectors packs the addresses that continue, so that every vector of the next level is full.
//!
//! Against `scalar.rs` this gains 50-75 % on IPv4 keys and makes IPv6 ones 2.4 times as fast (Zen
//! 5, tables of 1 M and 246 k routes). Without success: nodes by gathers, one for each word,
//! instead of loading each node and transposing 8 of them (8-15 % slower on IPv4, 20 % on IPv6);
//! gathering the direct index in the loop that uses it, where each gather waits for the use of the
//! previous one (5-15 % slower, on IPv6 random keys 35 %); no prefetches (25 % slower on zipf
//! keys); prefetching in the loop that computes the addresses (20 % slower on IPv6).

use core::arch::x86_64::*;

use super::super::layout::{DIRECT_LEAF, K, Leaf, Node, NodeAt, View};
use super::super::lookup::{self, CHUNKS_PER_WINDOW};
use crate::net::{Bits, Family, NextHopId};
use crate::simd::prefetch;

/// Addresses looked up in the direct index at once.
const DIRECT_LANES: usize = 16;
/// Addresses looked up in their nodes at once.
const LANES: usize = 8;
/// The most addresses in a group. 128 are 20 % slower on IPv4 random keys; clearing the arrays of
/// 512 costs more than it gains: 10 % slower in batches of 256.
const GROUP: usize = 256;
/// The most addresses in a group of a small batch. Clearing the arrays of a large group would take
/// as long as its lookups.
const SMALL_GROUP: usize = 64;
/// Spare lanes after the last address of a group, for a vector that begins there.
const BEHIND: usize = DIRECT_LANES;

#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq")]
pub(super) fn lookup_batch<F: Family, N: Node, L: Leaf>(
    poptrie: &View<'_, F, N, L>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    // Fewer addresses cost more in lanes than one by one; IPv6 ones have longer paths.
    let few = if F::WIDTH == 32 { 2 * DIRECT_LANES } else { DIRECT_LANES };
    if addrs.len() < few {
        one_by_one(poptrie, addrs, out);
    } else if addrs.len() < 2 * SMALL_GROUP {
        in_groups::<F, N, L, { SMALL_GROUP + BEHIND }>(poptrie, addrs, out);
    } else {
        in_groups::<F, N, L, { GROUP + BEHIND }>(poptrie, addrs, out);
    }
}

/// As [`lookup_batch`], in groups that fit the capacity, then one by one.
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq")]
fn in_groups<F: Family, N: Node, L: Leaf, const CAPACITY: usize>(
    poptrie: &View<'_, F, N, L>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let (vectors, rest) = addrs.as_chunks::<DIRECT_LANES>();
    let (out_vectors, out_rest) = out.as_chunks_mut::<DIRECT_LANES>();
    let mut lanes =
        Lanes { node: [0; CAPACITY], position: [0; CAPACITY], window: [0; CAPACITY], count: 0 };
    let mut found = Found { leaf: [0; CAPACITY], position: [0; CAPACITY], count: 0 };
    let most = (CAPACITY - BEHIND) / DIRECT_LANES;
    for (keys, out) in vectors.chunks(most).zip(out_vectors.chunks_mut(most)) {
        group(poptrie, &mut lanes, &mut found, keys, out);
    }
    one_by_one(poptrie, rest, out_rest);
}

#[inline(always)]
fn one_by_one<F: Family, N: Node, L: Leaf>(
    &poptrie: &View<'_, F, N, L>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    for (key, out) in addrs.iter().zip(out) {
        *out = lookup::lookup(poptrie, *key);
    }
}

/// The addresses still descending, packed at the front of each array. The rest of the arrays was
/// stored with a vector and is never answered.
struct Lanes<const CAPACITY: usize> {
    /// Current node; behind the last address, any node.
    node: [u32; CAPACITY],
    /// Position of the address in the group.
    position: [u32; CAPACITY],
    /// The next address bits, left-aligned.
    window: [u64; CAPACITY],
    count: usize,
}

/// The addresses that have reached their leaf, packed like [`Lanes`].
struct Found<const CAPACITY: usize> {
    leaf: [u32; CAPACITY],
    position: [u32; CAPACITY],
    count: usize,
}

/// Addresses in one lookup of the direct index.
type Keys<F> = [<F as Family>::Bits; DIRECT_LANES];
/// Their answers.
type Answers = [Option<NextHopId>; DIRECT_LANES];

#[inline]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq")]
fn group<F: Family, N: Node, L: Leaf, const CAPACITY: usize>(
    &poptrie: &View<'_, F, N, L>,
    lanes: &mut Lanes<CAPACITY>,
    found: &mut Found<CAPACITY>,
    keys: &[Keys<F>],
    out: &mut [Answers],
) {
    begin(poptrie, lanes, keys, out);
    found.count = 0;
    let mut level = 0;
    while lanes.count > 0 {
        for node in &lanes.node[..lanes.count] {
            poptrie.nodes.prefetch(*node as usize);
        }
        if F::WIDTH > 64 && level > 0 && level % CHUNKS_PER_WINDOW == 0 {
            let keys = keys.as_flattened();
            let positions = lanes.position[..lanes.count].iter();
            for (position, window) in positions.zip(&mut lanes.window) {
                *window = keys[*position as usize].window(poptrie.s + level * K);
            }
        }
        let found_before = found.count;
        descend(poptrie, lanes, found);
        for leaf in &found.leaf[found_before..found.count] {
            poptrie.leaves.prefetch(*leaf as usize);
        }
        level += 1;
    }
    let out = out.as_flattened_mut();
    for (leaf, position) in found.leaf[..found.count].iter().zip(&found.position) {
        out[*position as usize] = lookup::leaf(poptrie, *leaf).next_hop();
    }
}

/// Reads the direct index: answers the addresses that end there, and lists the others. The entries
/// of `out` for the others are invalid until their lookups end.
#[inline]
#[target_feature(enable = "popcnt,avx512f,avx512dq,avx512vl")]
fn begin<F: Family, N: Node, L: Leaf, const CAPACITY: usize>(
    poptrie: View<'_, F, N, L>,
    lanes: &mut Lanes<CAPACITY>,
    keys: &[Keys<F>],
    out: &mut [Answers],
) {
    // All gathers first, so that none waits for the use of another's entries. Any 32 bits are a
    // valid `Option<NextHopId>`, so `out` can hold the entries meanwhile.
    for (keys, out) in keys.iter().zip(&mut *out) {
        // Prefetch the addresses of the next group: 5-10 % on IPv6, and 80 % where few have a
        // route.
        for line in (0..DIRECT_LANES).step_by(64 / size_of::<F::Bits>()) {
            prefetch(keys, GROUP + line);
        }
        store(out, direct(poptrie, keys));
    }
    let mut position = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mut count = 0;
    for (keys, out) in keys.iter().zip(out) {
        let node = load(out);
        let continuing = !_mm512_movepi32_mask(node);
        store(out, _mm512_and_si512(node, _mm512_set1_epi32(!DIRECT_LEAF as i32)));
        store_at(&mut lanes.node, count, _mm512_maskz_compress_epi32(continuing, node));
        store_at(&mut lanes.position, count, _mm512_maskz_compress_epi32(continuing, position));
        for (half, window) in windows::<F>(keys, poptrie.s).into_iter().enumerate() {
            let continuing = (continuing >> (half * LANES)) as __mmask8;
            store_at(&mut lanes.window, count, _mm512_maskz_compress_epi64(continuing, window));
            count += continuing.count_ones() as usize;
        }
        position = _mm512_add_epi32(position, _mm512_set1_epi32(DIRECT_LANES as i32));
    }
    lanes.count = count;
}

/// Descends one level in every lane: to its leaf, or to the next node.
///
/// Both are a rank: of the slot among the bits of one word, from the base that the node has for it.
/// Shifting the slot's bit to the top leaves the bits up to it; the top bit of `vector` then
/// selects the word. The node's rank includes the slot's own bit, as in the paper.
#[inline]
#[target_feature(enable = "popcnt,avx512f,avx512dq,avx512vl,avx512vpopcntdq")]
fn descend<F: Family, N: Node, L: Leaf, const CAPACITY: usize>(
    poptrie: View<'_, F, N, L>,
    lanes: &mut Lanes<CAPACITY>,
    found: &mut Found<CAPACITY>,
) {
    let (all, mut continuing, mut ended) = (lanes.count, 0, found.count);
    for at in (0..all).step_by(LANES) {
        let answered: __mmask8 = !0 >> LANES.saturating_sub(all - at);
        let node: &[u32; LANES] = lanes.node[at..].first_chunk().expect("a vector of nodes");
        let Nodes { vector, stored_leaves, bases } = load_nodes(poptrie, node);
        let position = _mm512_castsi512_si256(load_at(&lanes.position, at));
        let window = load_at(&lanes.window, at);

        let slot = _mm512_srli_epi64::<{ 64 - K as u32 }>(window);
        let above = _mm512_xor_si512(slot, _mm512_set1_epi64(63));
        let vector = _mm512_sllv_epi64(vector, above);
        let stored_leaves = _mm512_sllv_epi64(stored_leaves, above);
        let internal = _mm512_movepi64_mask(vector);
        let bits = _mm512_mask_mov_epi64(stored_leaves, internal, vector);
        // `base0` is in the lower half, `base1` in the upper one.
        let base = _mm512_mask_srli_epi64::<32>(bases, internal, bases);
        let rank = _mm512_sub_epi64(_mm512_popcnt_epi64(bits), _mm512_set1_epi64(1));
        let next = _mm512_cvtepi64_epi32(_mm512_add_epi64(base, rank));

        let ends = answered & !internal;
        let leaf = _mm256_maskz_compress_epi32(ends, next);
        store_half_at(&mut found.leaf, ended, leaf);
        let leaf_position = _mm256_maskz_compress_epi32(ends, position);
        store_half_at(&mut found.position, ended, leaf_position);
        ended += ends.count_ones() as usize;
        // Continuing lanes move to the front, never past a lane that is still to be read. Most IPv4
        // lookups end with the first node, so the branch is well predicted.
        let continues = answered & internal;
        if continues != 0 {
            store_half_at(
                &mut lanes.node,
                continuing,
                _mm256_maskz_compress_epi32(continues, next),
            );
            let position = _mm256_maskz_compress_epi32(continues, position);
            store_half_at(&mut lanes.position, continuing, position);
            let window = _mm512_slli_epi64::<{ K as u32 }>(window);
            store_at(&mut lanes.window, continuing, _mm512_maskz_compress_epi64(continues, window));
            continuing += continues.count_ones() as usize;
        }
    }
    (lanes.count, found.count) = (continuing, ended);
}

/// The words of 8 nodes.
struct Nodes {
    vector: __m512i,
    /// [`Node::stored_leaves`].
    stored_leaves: __m512i,
    /// `base0` and, in the upper halves, `base1`.
    bases: __m512i,
}

/// Loads the nodes at 8 indices, two into a vector, and transposes their words.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn load_nodes<F: Family, N: Node, L: Leaf>(
    poptrie: View<'_, F, N, L>,
    index: &[u32; LANES],
) -> Nodes {
    // Nodes 0 and 4, words `vector`, `leafvec`, bases and nothing of each; the same of 1 and 5 ...
    let [a, b, c, d] = core::array::from_fn(|i| {
        let low = _mm512_castsi256_si512(words(lookup::node(poptrie, index[i])));
        _mm512_inserti64x4::<1>(low, words(lookup::node(poptrie, index[i + 4])))
    });
    // The first words of nodes 0, 1, their third ones, the first of 4, 5, their third ones ...
    let odd = [_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d)];
    let even = [_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d)];
    let front = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let vector = _mm512_permutex2var_epi64(odd[0], front, odd[1]);
    let second = _mm512_permutex2var_epi64(even[0], front, even[1]);
    if N::LEAFVEC {
        let back = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        let third = _mm512_permutex2var_epi64(odd[0], back, odd[1]);
        Nodes { vector, stored_leaves: second, bases: third }
    } else {
        let stored_leaves = _mm512_xor_si512(vector, _mm512_set1_epi64(!0));
        Nodes { vector, stored_leaves, bases: second }
    }
}

/// Loads the words of a node, padded with zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn words<N: Node>(node: NodeAt<'_, N>) -> __m256i {
    const { assert!(size_of::<N>().is_multiple_of(8) && size_of::<N>() <= 32) };
    let mask = (1 << (size_of::<N>() / 8)) - 1;
    // SAFETY: the mask selects only the words of the node. A word that is replaced meanwhile is
    // aligned, so the load sees its old or its new value.
    unsafe { _mm256_maskz_loadu_epi64(mask, node.as_ptr().cast()) }
}

/// Gathers the entries of the direct index for 16 addresses.
#[inline]
#[target_feature(enable = "avx512f")]
fn direct<F: Family, N: Node, L: Leaf>(poptrie: View<'_, F, N, L>, keys: &Keys<F>) -> __m512i {
    let top = if F::WIDTH == 32 {
        quarter::<F>(keys, 0)
    } else {
        let pick = _mm512_setr_epi32(3, 7, 11, 15, 19, 23, 27, 31, 0, 0, 0, 0, 0, 0, 0, 0);
        let part = |i| quarter::<F>(keys, i);
        let low = _mm512_permutex2var_epi32(part(0), pick, part(1));
        let high = _mm512_permutex2var_epi32(part(2), pick, part(3));
        _mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high))
    };
    let index = _mm512_srl_epi32(top, _mm_cvtsi32_si128(32 - i32::from(poptrie.s)));
    // SAFETY: an index has `s` bits, since a shift by 32 leaves 0, and the table has 2^s entries
    // (invariant 1).
    unsafe { _mm512_i32gather_epi32::<4>(index, poptrie.direct.as_ptr().cast()) }
}

/// [`Bits::window`] at bit `s` of 16 addresses.
#[inline]
#[target_feature(enable = "avx512f")]
fn windows<F: Family>(keys: &Keys<F>, s: u8) -> [__m512i; 2] {
    let part = |i| quarter::<F>(keys, i);
    if F::WIDTH == 32 {
        let shift = _mm_cvtsi32_si128(32 + i32::from(s));
        let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(part(0)));
        let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(part(0)));
        return [_mm512_sll_epi64(low, shift), _mm512_sll_epi64(high, shift)];
    }
    let low = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    let high = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    let (left, right) = (_mm_cvtsi32_si128(s.into()), _mm_cvtsi32_si128(64 - i32::from(s)));
    [(part(0), part(1)), (part(2), part(3))].map(|(a, b)| {
        let (low, high) =
            (_mm512_permutex2var_epi64(a, low, b), _mm512_permutex2var_epi64(a, high, b));
        _mm512_or_si512(_mm512_sll_epi64(high, left), _mm512_srl_epi64(low, right))
    })
}

/// Loads 64 bytes of addresses: 16 of IPv4, 4 of IPv6.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarter<F: Family>(keys: &Keys<F>, i: usize) -> __m512i {
    debug_assert!(i * 64 < size_of::<Keys<F>>());
    let at = keys.as_ptr().cast::<__m512i>().wrapping_add(i);
    // SAFETY: 16 IPv4 addresses fill one vector, of which only the first is requested; 16 IPv6 ones
    // fill four.
    unsafe { _mm512_loadu_si512(at) }
}

/// Loads the 16 values in the place of answers.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(answers: &Answers) -> __m512i {
    // SAFETY: `answers` has 16 answers of 32 bits; `Option<NextHopId>` is a `u32`, 0 for none.
    unsafe { _mm512_loadu_si512(answers.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(answers: &mut Answers, value: __m512i) {
    // SAFETY: `answers` has 16 answers of 32 bits; `Option<NextHopId>` is a `u32`, 0 for none.
    unsafe { _mm512_storeu_si512(answers.as_mut_ptr().cast(), value) }
}

/// Integers for which any bits are a valid value.
trait LaneWord: Copy {}
impl LaneWord for u32 {}
impl LaneWord for u64 {}

/// Writes a vector into an array.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_at<T: LaneWord, const CAPACITY: usize>(
    array: &mut [T; CAPACITY],
    at: usize,
    value: __m512i,
) {
    let to = &mut array[at..][..64 / size_of::<T>()];
    // SAFETY: `to` has 64 bytes of integers.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), value) }
}

/// Writes half a vector into an array.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_half_at<T: LaneWord, const CAPACITY: usize>(
    array: &mut [T; CAPACITY],
    at: usize,
    value: __m256i,
) {
    let to = &mut array[at..][..32 / size_of::<T>()];
    // SAFETY: `to` has 32 bytes of integers.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), value) }
}

/// Reads a vector from an array.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_at<T: LaneWord, const CAPACITY: usize>(array: &[T; CAPACITY], at: usize) -> __m512i {
    let from = &array[at..][..64 / size_of::<T>()];
    // SAFETY: `from` has 64 bytes of integers.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}
