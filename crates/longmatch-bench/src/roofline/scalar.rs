//! Word by word, for every CPU.

use core::marker::PhantomData;

use longmatch::simd::{Simd, Work};
use longmatch::{Family, Keys};

use super::{Roofline, WORDS_AHEAD, lead, prefetch, prefetch_keys};

/// Answers keys into `out`, which is as long.
pub(super) fn read<F: Family>(roofline: &Roofline, simd: Simd, keys: Keys<'_, F>, out: &mut [u32]) {
    let (at, of) = (keys.as_ptr(), PhantomData::<F>);
    match keys.as_host() {
        Some(addrs) => simd.run(Each { roofline, key: |i| addrs[i], at, out, of }),
        None => simd.run(Each { roofline, key: |i| keys.get(i), at, out, of }),
    }
}

/// Keys that go through each table together.
const GROUP: usize = 8;

struct Each<'a, F, K> {
    roofline: &'a Roofline,
    /// Key number `i`.
    key: K,
    /// Where they begin.
    at: *const u8,
    out: &'a mut [u32],
    of: PhantomData<F>,
}

impl<F: Family, K: Fn(usize) -> F::Bits> Work for Each<'_, F, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { roofline, key, at, out, of: _ } = self;
        let bytes = usize::from(F::WIDTH) / 8;
        let ahead = roofline.asked().next().is_some();
        let asked = if ahead { WORDS_AHEAD } else { 0 };
        let ask = |i: usize| {
            let lead = lead::<F>(key(i));
            roofline.asked().for_each(|table| prefetch(table.at(table.index(lead))));
        };
        let count = out.len();
        (0..asked.min(count)).for_each(ask);
        let (groups, rest) = out.as_chunks_mut::<GROUP>();
        let mut start = 0;
        for out in groups {
            prefetch_keys(at.wrapping_add(start * bytes), GROUP * bytes);
            if ahead {
                (start + asked..count.min(start + asked + GROUP)).for_each(ask);
            }
            let leads: [u32; GROUP] = core::array::from_fn(|i| lead::<F>(key(start + i)));
            *out = [0; GROUP];
            for table in &roofline.tables {
                for (out, lead) in out.iter_mut().zip(leads) {
                    *out = out.wrapping_add(table.words[table.index(lead)]);
                }
            }
            start += GROUP;
        }
        for (i, out) in rest.iter_mut().enumerate() {
            *out = roofline.answer::<F>(key(start + i));
        }
    }
}
