//! Gathers of vectors of words, for every level with vector instructions.

use longmatch::simd::Simd;
use longmatch::simd::lanes::{Lanes, LanesWork};
use longmatch::{Family, KeyLayout, Keys};

use super::{FOLD, Roofline, Table, WORDS_AHEAD, prefetch, prefetch_keys};

/// Answers keys into `out`, which is as long, or returns it if the level has no vectors.
pub(super) fn read<'a, F: Family>(
    roofline: &'a Roofline,
    simd: Simd,
    keys: Keys<'a, F>,
    out: &'a mut [u32],
) -> Result<(), &'a mut [u32]> {
    match (F::WIDTH, keys.layout()) {
        (32, KeyLayout::Host) => run::<F, 0, false>(roofline, simd, keys, out),
        (_, KeyLayout::Host) => run::<F, 3, false>(roofline, simd, keys, out),
        (_, KeyLayout::U64Pairs) => run::<F, 1, false>(roofline, simd, keys, out),
        (_, KeyLayout::Network) => run::<F, 0, true>(roofline, simd, keys, out),
    }
}

fn run<'a, F: Family, const FIRST: usize, const SWAP: bool>(
    roofline: &'a Roofline,
    simd: Simd,
    keys: Keys<'a, F>,
    out: &'a mut [u32],
) -> Result<(), &'a mut [u32]> {
    simd.run_lanes(Vectors::<F, FIRST, SWAP> { roofline, keys, out }).map_err(|work| work.out)
}

/// Keys to answer. Word `FIRST` of a key holds its first 32 bits, the other word of the same 64
/// bits the next 32; the bytes of a word are in network order if `SWAP`.
///
/// Each layout is a function of its own: all in one need more registers than there are.
struct Vectors<'a, F: Family, const FIRST: usize, const SWAP: bool> {
    roofline: &'a Roofline,
    keys: Keys<'a, F>,
    out: &'a mut [u32],
}

impl<F: Family, const FIRST: usize, const SWAP: bool> LanesWork for Vectors<'_, F, FIRST, SWAP> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Self { roofline, keys, out } = self;
        assert!(keys.len() >= out.len(), "a key for each answer");
        let count = out.len() / L::COUNT;
        let (vectors, rest) = out.split_at_mut(count * L::COUNT);
        // The rest is first, so that its variables take no registers from the loop below.
        for (i, out) in rest.iter_mut().enumerate() {
            *out = roofline.answer::<F>(keys.get(count * L::COUNT + i));
        }
        let bytes = L::COUNT * usize::from(F::WIDTH) / 8;
        let vector = |v: usize| keys.as_ptr().wrapping_add(v * bytes);
        let ahead = roofline.asked().next().is_some();
        let asked = if ahead { WORDS_AHEAD / L::COUNT } else { 0 };
        for v in 0..asked.min(count) {
            // SAFETY: `v` is below `count`, and there are so many vectors of keys.
            ask(l, roofline, unsafe { lead::<L, F, FIRST, SWAP>(l, vector(v)) });
        }
        for (v, out) in vectors.chunks_exact_mut(L::COUNT).enumerate() {
            prefetch_keys(vector(v), bytes);
            if ahead && v + asked < count {
                // SAFETY: `v + asked` is below `count`, and there are so many vectors of keys.
                ask(l, roofline, unsafe { lead::<L, F, FIRST, SWAP>(l, vector(v + asked)) });
            }
            // SAFETY: `v` is below `count`, and there are so many vectors of keys.
            let lead = unsafe { lead::<L, F, FIRST, SWAP>(l, vector(v)) };
            let mut sum = l.splat(0);
            for table in &roofline.tables {
                // SAFETY: every index is below the number of words, which fits an `i32`.
                sum = l.add(sum, unsafe { l.gather::<4>(table.at(0), index(l, table, lead)) });
            }
            out.copy_from_slice(l.lanes(&sum));
        }
    }
}

/// Asks for the words of a vector of keys.
#[inline(always)]
fn ask<L: Lanes>(l: L, roofline: &Roofline, lead: L::V) {
    for table in roofline.asked() {
        l.lanes(&index(l, table, lead)).iter().for_each(|i| prefetch(table.at(*i as usize)));
    }
}

/// As [`Table::index`].
#[inline(always)]
fn index<L: Lanes>(l: L, table: &Table, lead: L::V) -> L::V {
    let hash = l.mul(lead, l.splat(table.multiplier));
    l.mul_high(hash, l.splat(table.words.len() as u32))
}

/// As [`super::lead`].
///
/// # Safety
/// A vector of keys begins at `keys`.
#[inline(always)]
unsafe fn lead<L: Lanes, F: Family, const FIRST: usize, const SWAP: bool>(
    l: L,
    keys: *const u8,
) -> L::V {
    let host = |words| if SWAP { l.swap_bytes(words) } else { words };
    if F::WIDTH == 32 {
        // SAFETY: a vector of keys is one word for each lane, as the caller promises.
        return l.shr(host(unsafe { l.load(keys) }), l.splat(8));
    }
    let [even, odd] = if FIRST >= 2 {
        // SAFETY: a vector of keys is one record for each lane, as the caller promises.
        unsafe { l.load_records::<true>(keys) }
    } else {
        // SAFETY: a vector of keys is one record for each lane, as the caller promises.
        unsafe { l.load_records::<false>(keys) }
    };
    let [first, second] = if FIRST.is_multiple_of(2) { [even, odd] } else { [odd, even] };
    let first = l.mul(host(first), l.splat(FOLD));
    l.in_order(l.add(first, l.shr(host(second), l.splat(16))))
}
