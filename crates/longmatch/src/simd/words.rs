//! The words in which kernels are written that differ between levels only in how wide a vector is:
//! lanes of 32 bits, read by gathers. One file a level gives them their meaning, `avx2.rs` and
//! `avx512.rs`, with the same list of methods.
//!
//! The methods belong to a value that proves the level, so what cannot read or write outside memory
//! is safe. They are `#[inline(always)]`, as what calls them has to be: only inlined into
//! [`super::Simd::run_lanes`] they become single instructions.

use crate::addr::Family;
use crate::next_hop::NextHopId;

/// The proof of a level, and what its vectors can do.
pub(crate) trait Lanes: Copy {
    /// Lanes of a vector.
    const COUNT: usize;
    /// A number in every lane.
    type Vector: Copy;
    /// A set of lanes.
    type Mask: Copy;

    /// The same number in every lane.
    fn splat(self, value: u32) -> Self::Vector;

    /// Word `w` of [`Lanes::COUNT`] addresses, 0 being the first on the wire.
    ///
    /// # Panics
    /// When there are fewer addresses.
    fn word<F: Family>(self, keys: &[F::Bits], w: u8) -> Self::Vector;

    /// Bitwise and.
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// `a` without the bits of `b`.
    fn without(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Bitwise or.
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Every lane shifted left; `by` is less than 32.
    fn left(self, a: Self::Vector, by: u8) -> Self::Vector;

    /// Every lane shifted right; `by` is less than 32.
    fn right(self, a: Self::Vector, by: u8) -> Self::Vector;

    /// Every lane of `a` shifted right by what the lane of `by` says.
    fn right_each(self, a: Self::Vector, by: Self::Vector) -> Self::Vector;

    /// All lanes.
    fn all(self) -> Self::Mask;

    /// The lanes whose bit `n` is set.
    fn with_bit(self, a: Self::Vector, n: u32) -> Self::Mask;

    /// The lanes of both sets.
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;

    /// Whether the set has a lane.
    fn any(self, lanes: Self::Mask) -> bool;

    /// The lanes of the set from `a`, the others from `other`.
    fn select(self, lanes: Self::Mask, a: Self::Vector, other: Self::Vector) -> Self::Vector;

    /// The 32 bits that begin with the entry at the index, for the lanes of the set; the others from
    /// `other`. An entry has 16 or 32 bits.
    ///
    /// # Safety
    /// In the lanes of the set, indices are below 2^31 and inside the array; where an entry has 16
    /// bits, another one follows it.
    unsafe fn gather<T>(
        self,
        array: &[T],
        index: Self::Vector,
        lanes: Self::Mask,
        other: Self::Vector,
    ) -> Self::Vector;

    /// Writes raw next hops as [`Lanes::COUNT`] answers.
    ///
    /// # Panics
    /// When there is room for fewer.
    fn store(self, hops: Self::Vector, out: &mut [Option<NextHopId>]);
}

/// Something written in the words of [`Lanes`]; see [`super::Simd::run_lanes`].
pub(crate) trait LanesWork {
    /// What comes out.
    type Output;

    /// Does it. Implementations are `#[inline(always)]`, or every word becomes a call.
    fn run<V: Lanes>(self, v: V) -> Self::Output;
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::addr::{Bits, Ipv4, Ipv6};
    use crate::simd::Simd;

    /// Every word does in every lane what its name says.
    struct Words;

    impl LanesWork for Words {
        type Output = usize;

        fn run<V: Lanes>(self, v: V) -> usize {
            let numbers: Vec<u32> =
                (0..V::COUNT as u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ 0x8000_1234).collect();
            let a = v.word::<Ipv4>(&numbers, 0);
            let b = v.splat(0xff00_ff01);
            let lanes = |vector: V::Vector| {
                let mut out = [None; 16];
                v.store(vector, &mut out);
                assert!(out[V::COUNT..].iter().all(Option::is_none));
                out[..V::COUNT].iter().map(|hop| NextHopId::to_raw(*hop)).collect::<Vec<_>>()
            };
            let each = |f: &dyn Fn(u32) -> u32| numbers.iter().map(|n| f(*n)).collect::<Vec<_>>();
            assert_eq!(lanes(a), numbers);
            assert_eq!(lanes(v.and(a, b)), each(&|n| n & 0xff00_ff01));
            assert_eq!(lanes(v.without(a, b)), each(&|n| n & !0xff00_ff01));
            assert_eq!(lanes(v.or(a, b)), each(&|n| n | 0xff00_ff01));
            assert_eq!(lanes(v.left(a, 5)), each(&|n| n << 5));
            assert_eq!(lanes(v.right(a, 5)), each(&|n| n >> 5));
            let by = v.and(a, v.splat(31));
            assert_eq!(lanes(v.right_each(a, by)), each(&|n| n >> (n & 31)));
            let zero = v.splat(0);
            for n in [0, 7, 15, 31] {
                let set = v.with_bit(a, n);
                let expected = each(&|number| if number >> n & 1 == 1 { number } else { 0 });
                assert_eq!(lanes(v.select(set, a, zero)), expected);
                assert_eq!(lanes(v.select(v.both(set, v.all()), a, zero)), expected);
                let none = v.both(set, v.with_bit(zero, n));
                assert!(v.any(set) == expected.iter().any(|n| *n != 0) && !v.any(none));
            }
            let wide: Vec<u128> = numbers.iter().map(|n| u128::from(*n) << 70 | 7).collect();
            for w in 0..4 {
                let words: Vec<u32> =
                    wide.iter().map(|key| key.extract(32 * w, 32) as u32).collect();
                assert_eq!(lanes(v.word::<Ipv6>(&wide, w)), words);
            }
            let (long, short): (Vec<u32>, Vec<u16>) = (0..65).map(|i| (i * 77, i as u16)).unzip();
            let (index, odd) = (v.and(a, v.splat(63)), v.with_bit(a, 0));
            // SAFETY: indices below 64, one less than there are entries.
            let found = unsafe { v.gather(&long, index, odd, b) };
            let expected = |n: u32| if n & 1 == 1 { (n & 63) * 77 } else { 0xff00_ff01 };
            assert_eq!(lanes(found), each(&expected));
            // SAFETY: as above.
            let found = unsafe { v.gather(&short, index, v.all(), b) };
            assert_eq!(lanes(v.and(found, v.splat(0xffff))), each(&|n| n & 63));
            V::COUNT
        }
    }

    #[test]
    fn words_mean_the_same_at_every_level() {
        for simd in Simd::available() {
            println!("{}: {:?} lanes", simd.level(), simd.run_lanes(Words).ok());
        }
    }
}
