//! Every operation of every kind of lanes computes its operation in each lane.

use alloc::vec::Vec;

use super::*;
use crate::net::{Bits, Ipv4, Ipv6};
use crate::simd::{Simd, Work};

/// Items that start at a multiple of four bytes.
#[repr(align(4))]
struct Aligned<T>(T);

/// Tests all operations of one kind of lanes; returns the number of lanes.
struct Words<L>(L);

impl<L: Lanes> Work for Words<L> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let of = Of { l: self.0, numbers: numbers(L::COUNT) };
        of.arithmetic();
        of.choices();
        of.gathers();
        of.records();
        of.addresses();
        of.lists();
        of.ranks_of_u16();
        of.chosen();
        L::COUNT
    }
}

/// Numbers with varied bits and top bits.
fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ 0x8000_1234).collect()
}

/// The value of each lane of the other operand.
const B: u32 = 0xff00_ff01;

struct Of<L> {
    l: L,
    numbers: Vec<u32>,
}

impl<L: Lanes> Of<L> {
    /// The numbers as a vector.
    #[inline(always)]
    fn a(&self) -> L::V {
        // SAFETY: `numbers` has one number per lane.
        unsafe { self.l.load(self.numbers.as_ptr().cast()) }
    }

    /// The lanes of a vector.
    #[inline(always)]
    fn lanes(&self, vector: L::V) -> Vec<u32> {
        let mut out = [0xabcd; 17];
        // SAFETY: `out` has 17 words, more than the lanes of any vector.
        unsafe { self.l.store(out.as_mut_ptr(), vector) };
        assert!(out[L::COUNT..].iter().all(|lane| *lane == 0xabcd));
        out[..L::COUNT].to_vec()
    }

    fn each(&self, f: impl Fn(u32) -> u32) -> Vec<u32> {
        self.numbers.iter().map(|n| f(*n)).collect()
    }

    #[inline(always)]
    fn arithmetic(&self) {
        let (l, a, b) = (self.l, self.a(), self.l.splat(B));
        assert_eq!(self.lanes(a), self.numbers);
        assert_eq!(self.lanes(b), self.each(|_| B));
        assert_eq!(self.lanes(l.add(a, b)), self.each(|n| n.wrapping_add(B)));
        assert_eq!(self.lanes(l.sub(a, b)), self.each(|n| n.wrapping_sub(B)));
        assert_eq!(self.lanes(l.mul(a, b)), self.each(|n| n.wrapping_mul(B)));
        let high = |n: u32, m: u32| ((u64::from(n) * u64::from(m)) >> 32) as u32;
        assert_eq!(self.lanes(l.mul_high(a, b)), self.each(|n| high(n, B)));
        assert_eq!(self.lanes(l.mul_high(a, a)), self.each(|n| high(n, n)));
        assert_eq!(self.lanes(l.and(a, b)), self.each(|n| n & B));
        assert_eq!(self.lanes(l.or(a, b)), self.each(|n| n | B));
        assert_eq!(self.lanes(l.without(a, b)), self.each(|n| n & !B));
        assert_eq!(self.lanes(l.min(a, l.splat(0x9000_0000))), self.each(|n| n.min(0x9000_0000)));
        assert_eq!(self.lanes(l.swap_bytes(a)), self.each(u32::swap_bytes));
        let third = l.shuffle_bytes(a, 0x8080_8002);
        assert_eq!(self.lanes(third), self.each(|n| n >> 16 & 0xff));
        let upper = l.shuffle_bytes(a, 0x8003_0280);
        assert_eq!(self.lanes(upper), self.each(|n| n >> 16 << 8));
        assert_eq!(l.lanes(&a), self.numbers);
        // Counts from 0 to 63: shifts by 32 and more give 0.
        let by = l.and(a, l.splat(63));
        assert_eq!(self.lanes(l.shl(a, by)), self.each(|n| n.checked_shl(n & 63).unwrap_or(0)));
        assert_eq!(self.lanes(l.shr(a, by)), self.each(|n| n.checked_shr(n & 63).unwrap_or(0)));
        for by in [0, 5, 31, 32] {
            let shifted = self.lanes(l.shl(a, l.splat(by)));
            assert_eq!(shifted, self.each(|n| n.checked_shl(by).unwrap_or(0)));
            let shifted = self.lanes(l.shr(a, l.splat(by)));
            assert_eq!(shifted, self.each(|n| n.checked_shr(by).unwrap_or(0)));
        }
    }

    /// A mask chooses the expected lanes in `select`, `any` and `both`.
    #[inline(always)]
    fn chooses(&self, mask: L::M, expected: impl Fn(u32) -> bool) {
        let (l, a, b) = (self.l, self.a(), self.l.splat(B));
        let selected = self.each(|n| if expected(n) { n } else { B });
        assert_eq!(self.lanes(l.select(mask, a, b)), selected);
        assert_eq!(self.lanes(l.select(l.both(mask, l.all()), a, b)), selected);
        assert_eq!(l.any(mask), self.numbers.iter().any(|n| expected(*n)));
        let none = l.both(mask, l.negative(l.splat(i32::MAX as u32)));
        assert!(!l.any(none));
        assert_eq!(self.lanes(l.select(none, a, b)), self.each(|_| B));
    }

    #[inline(always)]
    fn choices(&self) {
        let (l, a) = (self.l, self.a());
        self.chooses(l.all(), |_| true);
        self.chooses(l.negative(a), |n| n >> 31 == 1);
        for bit in [0, 7, 15, 24, 31] {
            self.chooses(l.with_bit(a, bit), |n| n >> bit & 1 == 1);
            self.chooses(l.with_bit(l.splat(!(1 << bit)), bit), |_| false);
        }
        for middle in [0, self.numbers[3], i32::MIN as u32, i32::MAX as u32] {
            self.chooses(l.less(a, l.splat(middle)), |n| (n as i32) < middle as i32);
            self.chooses(l.less(l.splat(middle), a), |n| (middle as i32) < n as i32);
            self.chooses(l.equal(a, l.splat(middle)), |n| n == middle);
        }
        assert!(l.is_zero(l.splat(0)) && !l.is_zero(a));
        for (lane, bit) in self.numbers.iter().flat_map(|n| [(*n, 1), (*n, 1 << 31)]) {
            let chosen = l.equal(a, l.splat(lane));
            assert!(!l.is_zero(l.select(chosen, l.splat(bit), l.splat(0))), "{lane}, {bit}");
        }
        assert_eq!(l.union(a), self.numbers.iter().fold(0, |all, n| all | n));
        for lane in 0..L::COUNT {
            let one: Vec<u32> = (0..L::COUNT).map(|i| if i == lane { B } else { 2 }).collect();
            // SAFETY: `one` has one number per lane.
            assert_eq!(l.union(unsafe { l.load(one.as_ptr().cast()) }), B | 2);
        }
        let odd = l.with_bit(a, 0);
        self.chooses(l.both(odd, l.negative(a)), |n| n & 1 == 1 && n >> 31 == 1);
    }

    #[inline(always)]
    fn gathers(&self) {
        let (l, index, other) = (self.l, self.l.and(self.a(), self.l.splat(63)), self.l.splat(B));
        let long: [u32; 65] = core::array::from_fn(|i| (i as u32 * 77).to_le());
        let Aligned(short) = &Aligned::<[u16; 66]>(core::array::from_fn(|i| (i as u16).to_le()));
        let Aligned(bytes) = &Aligned::<[u8; 68]>(core::array::from_fn(|i| i as u8 * 3));
        // SAFETY: indices are below 64, the array has 65 words.
        let found = unsafe { l.gather::<4>(long.as_ptr().cast(), index) };
        assert_eq!(self.lanes(found), self.each(|n| (n & 63) * 77));
        let pairs = l.and(index, l.splat(31));
        // SAFETY: pairs are below 32, the array has 65 words.
        let found = unsafe { l.gather_pairs(long.as_ptr().cast(), pairs) };
        let expected = [0, 1].map(|word| self.each(|n| ((n & 31) * 2 + word) * 77));
        assert_eq!(found.map(|found| self.lanes(found)), expected);
        let records = l.and(index, l.splat(15));
        // SAFETY: records are below 16, the array has 65 words.
        let found = unsafe { l.gather_records(long.as_ptr().cast(), records) };
        let expected = [0, 1, 2, 3].map(|word| self.each(|n| ((n & 15) * 4 + word) * 77));
        assert_eq!(found.map(|found| self.lanes(found)), expected);
        // SAFETY: indices are below 64; the array has 66 items, so each item has 4 readable bytes.
        let found = unsafe { l.gather::<2>(short.as_ptr().cast(), index) };
        assert_eq!(self.lanes(l.and(found, l.splat(0xffff))), self.each(|n| n & 63));
        // SAFETY: indices are below 64; the array has 68 items, so each item has 4 readable bytes.
        let found = unsafe { l.gather::<1>(bytes.as_ptr(), index) };
        assert_eq!(self.lanes(l.and(found, l.splat(0xff))), self.each(|n| (n & 63) * 3));

        // Lanes that are not chosen have indices out of range, at which nothing may be read.
        let odd = l.with_bit(self.a(), 0);
        let index = l.select(odd, index, l.splat(i32::MAX as u32));
        // SAFETY: the chosen indices are below 64, the array has 65 words.
        let found = unsafe { l.gather_where::<4>(odd, long.as_ptr().cast(), index, other) };
        assert_eq!(self.lanes(found), self.each(|n| if n & 1 == 1 { (n & 63) * 77 } else { B }));
        // SAFETY: chosen indices are below 64; the array has 66 items, so each has 4 readable
        // bytes.
        let found = unsafe { l.gather_where::<2>(odd, short.as_ptr().cast(), index, other) };
        let expected = self.each(|n| if n & 1 == 1 { n & 63 } else { B & 0xffff });
        assert_eq!(self.lanes(l.and(found, l.splat(0xffff))), expected);
        // SAFETY: chosen indices are below 64; the array has 68 items, so each has 4 readable
        // bytes.
        let found = unsafe { l.gather_where::<1>(odd, bytes.as_ptr(), index, other) };
        let expected = self.each(|n| if n & 1 == 1 { (n & 63) * 3 } else { B & 0xff });
        assert_eq!(self.lanes(l.and(found, l.splat(0xff))), expected);
        // SAFETY: chosen indices are below 64, the array has 68 items.
        let found = unsafe { l.gather_codes_where::<1>(odd, bytes.as_ptr(), index, other) };
        assert_eq!(self.lanes(l.and(found, l.splat(0xff))), expected);
        // SAFETY: chosen indices are below 64, the array has 66 items.
        let found = unsafe { l.gather_codes_where::<2>(odd, short.as_ptr().cast(), index, other) };
        let expected = self.each(|n| if n & 1 == 1 { n & 63 } else { B & 0xffff });
        assert_eq!(self.lanes(l.and(found, l.splat(0xffff))), expected);
    }

    /// Records of four words; word `w` of a record is `4 * record + w`.
    #[inline(always)]
    fn records(&self) {
        let l = self.l;
        let words: Vec<u32> = (0..4 * L::COUNT as u32).collect();
        let at = words.as_ptr().cast();
        // SAFETY: `words` holds one record per lane.
        let lower = unsafe { l.load_records::<false>(at) };
        // SAFETY: `words` holds one record per lane.
        let upper = unsafe { l.load_records::<true>(at) };
        for (w, vector) in [lower, upper].into_iter().flatten().enumerate() {
            let expected: Vec<u32> = (0..L::COUNT).map(|record| (4 * record + w) as u32).collect();
            assert_eq!(self.lanes(l.in_order(vector)), expected);
        }
    }

    #[inline(always)]
    fn addresses(&self) {
        let l = self.l;
        assert_eq!(self.lanes(l.word::<Ipv4>(&self.numbers, 0)), self.numbers);
        let wide: Vec<u128> =
            self.numbers.iter().map(|n| u128::from(*n) << 70 | u128::from(*n) << 3 | 7).collect();
        for w in 0..4 {
            let words: Vec<u32> = wide.iter().map(|key| key.extract(32 * w, 32) as u32).collect();
            assert_eq!(self.lanes(l.word::<Ipv6>(&wide, w)), words);
        }
        let mut out = [NextHopId::new(5); 17];
        l.answer(l.select(l.with_bit(self.a(), 0), self.a(), l.splat(0)), &mut out);
        assert!(out[L::COUNT..].iter().all(|hop| *hop == NextHopId::new(5)));
        let hops = self.numbers.iter().map(|n| NextHopId::new(if n & 1 == 1 { *n } else { 0 }));
        assert!(out[..L::COUNT].iter().copied().eq(hops));
    }

    /// Lists of each size at each place in two lines, among words of any value.
    #[inline(always)]
    fn lists(&self) {
        #[repr(align(128))]
        struct Lines([u32; 32]);
        for (count, beside) in
            [2u32, 4, 8, 16, 32].into_iter().flat_map(|it| [(it, 0), (it, u32::MAX)])
        {
            for start in (0..32).step_by(count as usize) {
                let mut lines = Lines([beside; 32]);
                // A last word that is followed by zeros, and one that is not.
                for zeros in [0, count / 4] {
                    let list = &mut lines.0[start as usize..][..count as usize];
                    for (i, word) in list.iter_mut().enumerate() {
                        let left = (count - zeros).saturating_sub(i as u32);
                        *word = left.saturating_sub(1) * 0x0808_0808 + u32::from(left > 0) * 3;
                    }
                    let list = list.to_vec();
                    for key in list.iter().flat_map(|it| [*it, it + 1, (it.max(&4)) - 1, u32::MAX])
                    {
                        let key = key.max(3);
                        let right = list.iter().find(|it| **it <= key).unwrap();
                        // SAFETY: the list lies in two aligned lines, and its last word is 3.
                        let found =
                            unsafe { self.l.first_at_most(lines.0.as_ptr(), start, count, key) };
                        assert_eq!(found, *right, "{count} words at {start}, {key:x}");
                    }
                }
            }
        }
    }

    /// Ranks of numbers of 16 bits around every one of a line, and at both ends of the numbers.
    #[inline(always)]
    fn ranks_of_u16(&self) {
        #[repr(align(64))]
        struct Line([u16; 32]);
        let mut sorted: [u16; 32] = core::array::from_fn(|i| (i as u16 * 0x801) ^ 0x3f);
        sorted.sort_unstable();
        sorted[20] = u16::MAX;
        for line in [Line(sorted), Line([0; 32]), Line([u16::MAX; 32])] {
            let at = Line(line.0.map(u16::to_le));
            let at = at.0.as_ptr().cast();
            let around = line.0.iter().flat_map(|it| [it.wrapping_sub(1), *it, it.wrapping_add(1)]);
            for number in around {
                let expected = |n: usize| line.0[..n].iter().filter(|it| **it < number).count();
                // SAFETY: `at` begins an aligned line.
                assert_eq!(unsafe { self.l.rank_u16::<21>(at, number) }, expected(21) as u32);
                // SAFETY: `at` begins an aligned line.
                assert_eq!(unsafe { self.l.rank_u16::<15>(at, number) }, expected(15) as u32);
                // SAFETY: `at` begins an aligned line.
                assert_eq!(unsafe { self.l.rank_u16::<10>(at, number) }, expected(10) as u32);
            }
        }
    }

    #[inline(always)]
    fn chosen(&self) {
        let l = self.l;
        for bit in 0..32 {
            let mut out = [0xabcd; 17];
            let count = l.store_chosen(l.with_bit(self.a(), bit), self.a(), &mut out);
            let expected: Vec<u32> =
                self.numbers.iter().copied().filter(|n| n >> bit & 1 == 1).collect();
            assert_eq!((&out[..count], out[L::COUNT]), (&expected[..], 0xabcd));
        }
    }
}

#[test]
fn words_mean_the_same_in_all_lanes() {
    for simd in Simd::available() {
        assert_eq!(simd.run(Words(Portable)), 8, "{}", simd.level());
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        {
            if let Some(lanes) = Avx2::new(simd) {
                assert_eq!(lanes.run(Words(lanes)), 8);
            }
            if let Some(lanes) = Avx512::new(simd) {
                assert_eq!(lanes.run(Words(lanes)), 16);
            }
        }
        println!("{}: ran", simd.level());
    }
}

/// The number of lanes that `run_lanes` selects.
struct Count;

impl LanesWork for Count {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> usize {
        L::COUNT
    }
}

#[test]
fn work_runs_in_the_widest_lanes_of_its_level() {
    use crate::simd::Level;
    for simd in Simd::available() {
        let expected = match simd.level() {
            Level::Portable | Level::Scalar => None,
            Level::Avx2 => Some(8),
            Level::Avx512 => Some(16),
        };
        let vectors = cfg!(all(target_arch = "x86_64", target_feature = "sse2"));
        assert_eq!(simd.run_lanes(Count).ok(), expected.filter(|_| vectors), "{}", simd.level());
    }
}
