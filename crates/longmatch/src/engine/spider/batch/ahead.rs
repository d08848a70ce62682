//! Our kernel: it prefetches the entries of many vectors. The operations on one row are those of
//! Algorithm 1 and serve the paper's kernels too.

use core::array::from_fn;

use super::super::layout::{DIRECT, DIRECT_OCTETS, Entry, Spider};
use crate::net::{Family, NextHopId};
use crate::simd::lanes::Lanes;
use crate::simd::prefetch;

/// Vectors of a group that is prefetched together.
const VECTORS: usize = 32;
/// The most lanes of a vector.
const MOST_LANES: usize = 16;

/// The lookups of one vector.
#[derive(Clone, Copy)]
struct Lookups<V> {
    /// The current four octets of the addresses.
    dst: V,
    /// Results so far.
    res: V,
    /// Starts of the next rows; 0 in all lanes if all lookups have ended. Then, until they are
    /// read, the indices of entries in these rows.
    next: V,
}

/// Answers all addresses in groups of [`VECTORS`] vectors, each level prefetched.
#[inline(always)]
pub(super) fn lookup_batch<L: Lanes, F: Family, E: Entry>(
    l: L,
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let full = addrs.len() / L::COUNT * L::COUNT;
    let (vectors, rest) = addrs.split_at(full);
    let (out_vectors, out_rest) = out.split_at_mut(full);
    if !vectors.is_empty() {
        in_groups::<L, F, E, VECTORS>(l, spider, vectors, out_vectors);
    }
    let Some(first) = rest.first() else { return };
    // The unused lanes repeat the first address and read nothing new.
    let (mut padded, mut answers) = ([*first; MOST_LANES], [None; MOST_LANES]);
    padded[..rest.len()].copy_from_slice(rest);
    in_groups::<L, F, E, 1>(l, spider, &padded[..L::COUNT], &mut answers[..L::COUNT]);
    out_rest.copy_from_slice(&answers[..rest.len()]);
}

/// Answers whole vectors of addresses in groups of `N`.
#[inline(always)]
fn in_groups<L: Lanes, F: Family, E: Entry, const N: usize>(
    l: L,
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    let zero = l.splat(0);
    let mut lookups: [Lookups<L::V>; N] = from_fn(|_| Lookups { dst: zero, res: zero, next: zero });
    for (keys, out) in addrs.chunks(N * L::COUNT).zip(out.chunks_mut(N * L::COUNT)) {
        let lookups = &mut lookups[..keys.len() / L::COUNT];
        group::<L, F, E, N>(l, spider, keys, lookups);
        for (out, lookups) in out.chunks_exact_mut(L::COUNT).zip(lookups) {
            let res = lookups.res;
            l.answer(if F::WIDTH == 32 { res } else { l.in_order(res) }, out);
        }
    }
}

/// Looks up at most `N` vectors of addresses, level by level.
///
/// First computes and prefetches the index of every address, then reads the entries; one vector
/// alone is read at once. Only vectors with an address that continues take part.
#[inline(always)]
fn group<L: Lanes, F: Family, E: Entry, const N: usize>(
    l: L,
    spider: &Spider<F, E>,
    keys: &[F::Bits],
    lookups: &mut [Lookups<L::V>],
) {
    let mut continuing = l.splat(0);
    for (vector, v) in keys.chunks_exact(L::COUNT).zip(&mut *lookups) {
        // Prefetch the addresses of the next group.
        for line in (0..L::COUNT).step_by(64 / size_of::<F::Bits>()) {
            prefetch(vector, N * L::COUNT + line);
        }
        v.dst = l.word_as_loaded::<F>(vector, 0);
        (v.res, v.next) = gather(l, spider, direct_index(l, v.dst));
        continuing = l.or(continuing, v.next);
    }
    let mut at = DIRECT_OCTETS;
    while !l.is_zero(continuing) {
        for (vector, v) in keys.chunks_exact(L::COUNT).zip(&mut *lookups) {
            if at.is_multiple_of(4) {
                v.dst = l.word_as_loaded::<F>(vector, at / 4);
            }
            if !l.is_zero(v.next) {
                v.next = l.add(octet(l, v.dst, at), v.next);
                if N > 1 {
                    l.lanes(&v.next).iter().for_each(|idx| prefetch(&spider.fib, *idx as usize));
                }
            }
        }
        continuing = l.splat(0);
        for v in &mut *lookups {
            if !l.is_zero(v.next) {
                let (nhi, next) = gather(l, spider, v.next);
                v.res = longer(l, v.res, nhi);
                v.next = next;
                continuing = l.or(continuing, next);
            }
        }
        at += 1;
    }
}

/// Indices in the direct pointing table (Algorithm 1, lines 3 and 4).
#[inline(always)]
pub(super) fn direct_index<L: Lanes>(l: L, dst: L::V) -> L::V {
    l.add(l.shr(dst, l.splat(16)), l.splat(DIRECT as u32))
}

/// Octet `at` of the addresses, of which `dst` has the four with that one: a `shuffle8`.
#[inline(always)]
pub(super) fn octet<L: Lanes>(l: L, dst: L::V, at: u8) -> L::V {
    l.shuffle_bytes(dst, 0x8080_8000 | u32::from(3 - at % 4))
}

/// The results after a row: its next hops, else the previous results (lines 15 and 16).
#[inline(always)]
pub(super) fn longer<L: Lanes>(l: L, res: L::V, nhi: L::V) -> L::V {
    l.select(l.equal(nhi, l.splat(0)), res, nhi)
}

/// Reads entries: next-hop indices, and next-row indices times 256. The latter are the starts of
/// the rows.
#[inline(always)]
pub(super) fn gather<L: Lanes, F, E: Entry>(
    l: L,
    spider: &Spider<F, E>,
    idx: L::V,
) -> (L::V, L::V) {
    let fib = spider.fib.as_ptr().cast();
    if E::BITS == 32 {
        // SAFETY: each index is that of an entry: of the direct pointing table, of a row that an
        // entry names, or of EoL (invariants 1, 2 and 3).
        let val = unsafe { l.gather::<4>(fib, idx) };
        // Bytes 2 and 3 of each lane, shifted left by one byte: `shuffle8` as in the paper.
        (l.and(val, l.splat(0xffff)), l.shuffle_bytes(val, 0x8003_0280))
    } else {
        // SAFETY: each index is that of an entry (invariants 1, 2 and 3), below 2^31 (invariant 1).
        let [nhi, nri] = unsafe { l.gather_pairs(fib, idx) };
        (nhi, l.shl(nri, l.splat(8)))
    }
}
