//! Our kernel: it prefetches the entries of many vectors. The operations on one row are those of
//! Algorithm 1 and serve the paper's kernels too.

use core::mem::MaybeUninit;
use core::ptr;

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
    let out = &mut out[..addrs.len()];
    if let Some(last) = addrs.len().checked_sub(L::COUNT) {
        let full = addrs.len() / L::COUNT * L::COUNT;
        in_groups::<L, F, E, VECTORS>(l, spider, &addrs[..full], &mut out[..full]);
        if full < addrs.len() {
            // Answers some addresses again.
            in_groups::<L, F, E, 1>(l, spider, &addrs[last..], &mut out[last..]);
        }
        return;
    }
    let Some(first) = addrs.first() else { return };
    // The unused lanes repeat the first address and read nothing new.
    let (mut padded, mut answers) = ([*first; MOST_LANES], [None; MOST_LANES]);
    padded[..addrs.len()].copy_from_slice(addrs);
    in_groups::<L, F, E, 1>(l, spider, &padded[..L::COUNT], &mut answers[..L::COUNT]);
    out.copy_from_slice(&answers[..addrs.len()]);
}

/// Answers whole vectors of addresses in groups of `N`.
#[inline(always)]
fn in_groups<L: Lanes, F: Family, E: Entry, const N: usize>(
    l: L,
    spider: &Spider<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    // Not initialised: a small batch uses few of them.
    let mut memory = [const { MaybeUninit::uninit() }; N];
    for (keys, out) in addrs.chunks(N * L::COUNT).zip(out.chunks_mut(N * L::COUNT)) {
        let lookups = direct::<L, F, E, N>(l, spider, keys, &mut memory);
        descend::<L, F, E, N>(l, spider, keys, lookups);
        for (out, lookups) in out.chunks_exact_mut(L::COUNT).zip(lookups) {
            let res = lookups.res;
            l.answer(if F::WIDTH == 32 { res } else { l.in_order(res) }, out);
        }
    }
}

/// Looks up at most `N` vectors of addresses in the direct pointing table, and prefetches the
/// addresses of the next group.
#[inline(always)]
fn direct<'m, L: Lanes, F: Family, E: Entry, const N: usize>(
    l: L,
    spider: &Spider<F, E>,
    keys: &[F::Bits],
    memory: &'m mut [MaybeUninit<Lookups<L::V>>; N],
) -> &'m mut [Lookups<L::V>] {
    let memory = &mut memory[..keys.len() / L::COUNT];
    for (vector, lookups) in keys.chunks_exact(L::COUNT).zip(&mut *memory) {
        for line in (0..L::COUNT).step_by(64 / size_of::<F::Bits>()) {
            prefetch(vector, N * L::COUNT + line);
        }
        let dst = l.word_as_loaded::<F>(vector, 0);
        let (res, next) = gather(l, spider, direct_index(l, dst));
        lookups.write(Lookups { dst, res, next });
    }
    // SAFETY: the loop has written every element, because there are as many vectors as elements.
    unsafe { &mut *(ptr::from_mut(memory) as *mut [Lookups<L::V>]) }
}

/// Looks up at most `N` vectors in the rows below the direct pointing table, level by level.
///
/// First computes and prefetches the index of every address, then reads the entries; one vector
/// alone is read at once. Only vectors with an address that continues take part.
#[inline(always)]
fn descend<L: Lanes, F: Family, E: Entry, const N: usize>(
    l: L,
    spider: &Spider<F, E>,
    keys: &[F::Bits],
    lookups: &mut [Lookups<L::V>],
) {
    let mut continuing = l.splat(0);
    for lookups in &*lookups {
        continuing = l.or(continuing, lookups.next);
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
