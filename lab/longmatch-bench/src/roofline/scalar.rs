//! The roofline's scalar loop, for every CPU.

use core::marker::PhantomData;

use longmatch::simd::{Simd, Work};
use longmatch::{Family, Keys};

use super::tables::{Roofline, WORDS_AHEAD, leading_bits, prefetch, prefetch_keys};

/// Writes the answers of `keys` to `out`, which has the same length.
pub(super) fn read<F: Family>(tables: &Roofline, simd: Simd, keys: Keys<'_, F>, out: &mut [u32]) {
    let (start, family) = (keys.as_ptr(), PhantomData::<F>);
    match keys.as_host() {
        Some(addrs) => simd.run(ScalarRead { tables, key: |i| addrs[i], start, out, family }),
        None => simd.run(ScalarRead { tables, key: |i| keys.get(i), start, out, family }),
    }
}

/// Keys that read each table together.
const GROUP: usize = 8;

struct ScalarRead<'a, F, K> {
    tables: &'a Roofline,
    key: K,
    /// Start of the keys in memory, to prefetch them.
    start: *const u8,
    out: &'a mut [u32],
    family: PhantomData<F>,
}

impl<F: Family, K: Fn(usize) -> F::Bits> Work for ScalarRead<'_, F, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { tables, key, start, out, family: _ } = self;
        let bytes = usize::from(F::WIDTH) / 8;
        let prefetches = tables.prefetched().next().is_some();
        let ahead = if prefetches { WORDS_AHEAD } else { 0 };
        let prefetch_words = |i: usize| {
            let leading = leading_bits::<F>(key(i));
            let prefetched = tables.prefetched();
            prefetched.for_each(|table| prefetch(table.word_ptr(table.index(leading))));
        };
        let count = out.len();
        (0..ahead.min(count)).for_each(prefetch_words);
        let (groups, rest) = out.as_chunks_mut::<GROUP>();
        let mut first = 0;
        for out in groups {
            prefetch_keys(start.wrapping_add(first * bytes), GROUP * bytes);
            if prefetches {
                (first + ahead..count.min(first + ahead + GROUP)).for_each(prefetch_words);
            }
            let leading: [u32; GROUP] = core::array::from_fn(|i| leading_bits::<F>(key(first + i)));
            *out = [0; GROUP];
            for table in tables.iter() {
                for (out, leading) in out.iter_mut().zip(leading) {
                    *out = out.wrapping_add(table.words[table.index(leading)]);
                }
            }
            first += GROUP;
        }
        for (i, out) in rest.iter_mut().enumerate() {
            *out = tables.answer::<F>(key(first + i));
        }
    }
}
