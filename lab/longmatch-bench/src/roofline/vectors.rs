//! The roofline's vector loop with gathers, for every level with vectors.

use longmatch::simd::Simd;
use longmatch::simd::lanes::{Lanes, LanesWork};
use longmatch::{Family, KeyLayout, Keys};

use super::tables::{FOLD, Roofline, Table, WORDS_AHEAD, prefetch, prefetch_keys};

/// Writes the answers of `keys` to `out`, which has the same length.
///
/// Returns `out` as the error if the level has no vectors.
pub(super) fn read<'a, F: Family>(
    tables: &'a Roofline,
    simd: Simd,
    keys: Keys<'a, F>,
    out: &'a mut [u32],
) -> Result<(), &'a mut [u32]> {
    match (F::WIDTH, keys.layout()) {
        (32, KeyLayout::Host) => run::<F, 0, false>(tables, simd, keys, out),
        (_, KeyLayout::Host) => run::<F, 3, false>(tables, simd, keys, out),
        (_, KeyLayout::U64Pairs) => run::<F, 1, false>(tables, simd, keys, out),
        (_, KeyLayout::Network) => run::<F, 0, true>(tables, simd, keys, out),
    }
}

fn run<'a, F: Family, const FIRST: usize, const SWAP: bool>(
    tables: &'a Roofline,
    simd: Simd,
    keys: Keys<'a, F>,
    out: &'a mut [u32],
) -> Result<(), &'a mut [u32]> {
    simd.run_lanes(VectorRead::<F, FIRST, SWAP> { tables, keys, out }).map_err(|work| work.out)
}

/// Keys to answer.
///
/// Word `FIRST` of a key holds its first 32 bits, and the other word of the same 64 bits the next
/// 32. The bytes of a word are in network order if `SWAP`.
///
/// Each layout has its own function, because one for all would need more registers than there are.
struct VectorRead<'a, F: Family, const FIRST: usize, const SWAP: bool> {
    tables: &'a Roofline,
    keys: Keys<'a, F>,
    out: &'a mut [u32],
}

impl<F: Family, const FIRST: usize, const SWAP: bool> LanesWork for VectorRead<'_, F, FIRST, SWAP> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Self { tables, keys, out } = self;
        assert!(keys.len() >= out.len(), "fewer keys than answers");
        let count = out.len() / L::COUNT;
        let (vectors, rest) = out.split_at_mut(count * L::COUNT);
        // The remainder comes first, so that its variables take no registers from the main loop.
        for (i, out) in rest.iter_mut().enumerate() {
            *out = tables.answer::<F>(keys.get(count * L::COUNT + i));
        }
        let bytes = L::COUNT * usize::from(F::WIDTH) / 8;
        let vector = |v: usize| keys.as_ptr().wrapping_add(v * bytes);
        let prefetches = tables.prefetched().next().is_some();
        let ahead = if prefetches { WORDS_AHEAD / L::COUNT } else { 0 };
        for v in 0..ahead.min(count) {
            // SAFETY: `v` is below `count`, the number of whole vectors of keys.
            let leading = unsafe { leading_bits::<L, F, FIRST, SWAP>(l, vector(v)) };
            prefetch_words(l, tables, leading);
        }
        for (v, out) in vectors.chunks_exact_mut(L::COUNT).enumerate() {
            prefetch_keys(vector(v), bytes);
            if prefetches && v + ahead < count {
                // SAFETY: `v + ahead` is below `count`, the number of whole vectors of keys.
                let leading = unsafe { leading_bits::<L, F, FIRST, SWAP>(l, vector(v + ahead)) };
                prefetch_words(l, tables, leading);
            }
            // SAFETY: `v` is below `count`, the number of whole vectors of keys.
            let leading = unsafe { leading_bits::<L, F, FIRST, SWAP>(l, vector(v)) };
            let mut sum = l.splat(0);
            for table in tables.iter() {
                let indices = index(l, table, leading);
                // SAFETY: every index is below the number of words, which fits an `i32`.
                sum = l.add(sum, unsafe { l.gather::<4>(table.word_ptr(0), indices) });
            }
            out.copy_from_slice(l.lanes(&sum));
        }
    }
}

/// Prefetches the words of a vector of keys.
#[inline(always)]
fn prefetch_words<L: Lanes>(l: L, tables: &Roofline, leading: L::V) {
    for table in tables.prefetched() {
        let indices = index(l, table, leading);
        l.lanes(&indices).iter().for_each(|i| prefetch(table.word_ptr(*i as usize)));
    }
}

/// [`Table::index`] of each lane.
#[inline(always)]
fn index<L: Lanes>(l: L, table: &Table, leading: L::V) -> L::V {
    let hash = l.mul(leading, l.splat(table.multiplier));
    l.mul_high(hash, l.splat(table.words.len() as u32))
}

/// [`super::tables::leading_bits`] of each lane.
///
/// # Safety
/// `keys` must point to one whole vector of keys.
#[inline(always)]
unsafe fn leading_bits<L: Lanes, F: Family, const FIRST: usize, const SWAP: bool>(
    l: L,
    keys: *const u8,
) -> L::V {
    let host = |words| if SWAP { l.swap_bytes(words) } else { words };
    if F::WIDTH == 32 {
        // SAFETY: the caller passes a vector of keys, which has one word for each lane.
        return l.shr(host(unsafe { l.load(keys) }), l.splat(8));
    }
    let [even, odd] = if FIRST >= 2 {
        // SAFETY: the caller passes a vector of keys, which has one record for each lane.
        unsafe { l.load_records::<true>(keys) }
    } else {
        // SAFETY: the caller passes a vector of keys, which has one record for each lane.
        unsafe { l.load_records::<false>(keys) }
    };
    let [first, second] = if FIRST.is_multiple_of(2) { [even, odd] } else { [odd, even] };
    let first = l.mul(host(first), l.splat(FOLD));
    l.in_order(l.add(first, l.shr(host(second), l.splat(16))))
}
