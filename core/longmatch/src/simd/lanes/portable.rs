//! Eight lanes without vector instructions, for every CPU. A loop over the lanes is branch-free and
//! its loads are independent; the compiler vectorises the rest as far as the target allows.

use core::sync::atomic::Ordering::{Acquire, Relaxed};
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32};

use super::Lanes;
use crate::simd::{Work, run_portable};

/// The instructions of the architecture alone.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

/// Lanes in a vector.
const COUNT: usize = 8;

type V = [u32; COUNT];

#[inline(always)]
fn each(a: V, b: V, mut op: impl FnMut(u32, u32) -> u32) -> V {
    let mut out = [0; COUNT];
    for i in 0..COUNT {
        out[i] = op(a[i], b[i]);
    }
    out
}

/// Loads a word that other threads replace only by atomic stores.
///
/// The load acquires: stores that preceded the word's own are visible after it.
///
/// # Safety
/// `at` points to an aligned, readable word.
#[inline(always)]
unsafe fn word(at: *const u32) -> u32 {
    // SAFETY: the caller guarantees an aligned readable word; all stores to it are atomic.
    unsafe { AtomicU32::from_ptr(at.cast_mut()) }.load(Acquire)
}

/// The aligned word around an item, with the item in its low bits.
///
/// # Safety
/// The word is readable.
#[inline(always)]
unsafe fn word_around(at: *const u8) -> u32 {
    let inside = at.addr() % size_of::<u32>();
    // SAFETY: this function's contract.
    let word = unsafe { word(at.wrapping_sub(inside).cast()) };
    u32::from_le(word) >> (8 * inside)
}

/// The bytes before the item of a lane, which may be of any number if the lane is not chosen.
#[inline(always)]
fn offset<const SCALE: i32>(lane: u32) -> usize {
    (SCALE as usize).wrapping_mul(lane as usize)
}

/// The item of a lane; an item outside of the array for a lane that is not chosen.
///
/// An item of the array would do, but for the writer of a live table, which may be writing just
/// that one.
#[inline(always)]
fn chosen(mask: u32, item: *const u8) -> *const u8 {
    static NO_ITEM: AtomicU32 = AtomicU32::new(0);
    if mask == 0 { NO_ITEM.as_ptr().cast() } else { item }
}

// SAFETY: a vector consists of 8 words.
unsafe impl Lanes for Portable {
    type V = V;
    /// All ones in the chosen lanes.
    type M = V;
    const COUNT: usize = COUNT;

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        run_portable(work)
    }

    #[inline(always)]
    fn splat(self, value: u32) -> V {
        [value; COUNT]
    }

    #[inline(always)]
    fn add(self, a: V, b: V) -> V {
        each(a, b, u32::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, a: V, b: V) -> V {
        each(a, b, u32::wrapping_sub)
    }

    #[inline(always)]
    fn mul(self, a: V, b: V) -> V {
        each(a, b, u32::wrapping_mul)
    }

    #[inline(always)]
    fn mul_high(self, a: V, b: V) -> V {
        each(a, b, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32)
    }

    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        each(a, b, |a, b| a & b)
    }

    #[inline(always)]
    fn or(self, a: V, b: V) -> V {
        each(a, b, |a, b| a | b)
    }

    #[inline(always)]
    fn without(self, a: V, b: V) -> V {
        each(a, b, |a, b| a & !b)
    }

    #[inline(always)]
    fn min(self, a: V, b: V) -> V {
        each(a, b, Ord::min)
    }

    #[inline(always)]
    fn shl(self, a: V, by: V) -> V {
        each(a, by, |a, by| (u64::from(a) << (by & 63)) as u32)
    }

    #[inline(always)]
    fn shr(self, a: V, by: V) -> V {
        each(a, by, |a, by| (u64::from(a) >> (by & 63)) as u32)
    }

    #[inline(always)]
    fn all(self) -> V {
        self.splat(u32::MAX)
    }

    #[inline(always)]
    fn with_bit(self, a: V, bit: u32) -> V {
        each(a, a, |a, _| (a >> bit & 1).wrapping_neg())
    }

    #[inline(always)]
    fn negative(self, a: V) -> V {
        each(a, a, |a, _| (a as i32 >> 31) as u32)
    }

    #[inline(always)]
    fn less(self, a: V, b: V) -> V {
        each(a, b, |a, b| u32::from((a as i32) < b as i32).wrapping_neg())
    }

    #[inline(always)]
    fn equal(self, a: V, b: V) -> V {
        each(a, b, |a, b| u32::from(a == b).wrapping_neg())
    }

    #[inline(always)]
    fn both(self, a: V, b: V) -> V {
        self.and(a, b)
    }

    #[inline(always)]
    fn union(self, a: V) -> u32 {
        let mut all = 0;
        for lane in a {
            all |= lane;
        }
        all
    }

    #[inline(always)]
    fn any(self, mask: V) -> bool {
        self.union(mask) != 0
    }

    #[inline(always)]
    fn bits(self, mask: V) -> u32 {
        let bits = self.lanes(&mask).iter().zip(0..).map(|(lane, bit)| (lane & 1) << bit);
        bits.fold(0, |all, bit| all | bit)
    }

    #[inline(always)]
    fn is_zero(self, a: V) -> bool {
        !self.any(a)
    }

    #[inline(always)]
    fn select(self, mask: V, yes: V, no: V) -> V {
        let mut out = [0; COUNT];
        for i in 0..COUNT {
            out[i] = yes[i] & mask[i] | no[i] & !mask[i];
        }
        out
    }

    /// Each lane loads the aligned word around its item and no byte beside it.
    #[inline(always)]
    unsafe fn gather<const SCALE: i32>(self, base: *const u8, lane: V) -> V {
        each(lane, lane, |lane, _| {
            let at = base.wrapping_add(SCALE as usize * lane as usize);
            // SAFETY: the caller guarantees 4 readable bytes from the item on, and an aligned
            // `base`.
            unsafe { word_around(at) }
        })
    }

    /// Each lane loads its code and nothing else.
    #[inline(always)]
    unsafe fn gather_codes_where<const SCALE: i32>(
        self,
        mask: V,
        base: *const u8,
        lane: V,
        other: V,
    ) -> V {
        let read = each(lane, mask, |lane, mask| {
            let at = chosen(mask, base.wrapping_add(offset::<SCALE>(lane)));
            match SCALE {
                // SAFETY: the caller guarantees a readable code, `chosen` one for the other lanes.
                1 => unsafe { AtomicU8::from_ptr(at.cast_mut()) }.load(Relaxed).into(),
                2 => {
                    // SAFETY: a readable code as for 8 bits; codes of 16 bits are aligned.
                    let code = unsafe { AtomicU16::from_ptr(at.cast_mut().cast()) };
                    u16::from_le(code.load(Relaxed)).into()
                }
                // SAFETY: a readable code as for 8 bits; codes of 32 bits are aligned words.
                _ => u32::from_le(unsafe { word(at.cast()) }),
            }
        });
        self.select(mask, read, other)
    }

    #[inline(always)]
    unsafe fn gather_published(self, words: *const u32, lane: V) -> V {
        each(lane, lane, |lane, _| {
            // SAFETY: the caller guarantees that `lane` is the index of an aligned word of the
            // array.
            unsafe { word(words.wrapping_add(lane as usize)) }
        })
    }

    #[inline(always)]
    unsafe fn gather_where<const SCALE: i32>(
        self,
        mask: V,
        base: *const u8,
        lane: V,
        other: V,
    ) -> V {
        let read = each(lane, mask, |lane, mask| {
            let at = chosen(mask, base.wrapping_add(offset::<SCALE>(lane)));
            // SAFETY: the caller guarantees 4 readable bytes from the item on, and an aligned
            // `base`; `chosen` guarantees both for the other lanes.
            unsafe { word_around(at) }
        });
        self.select(mask, read, other)
    }

    #[inline(always)]
    unsafe fn load(self, at: *const u8) -> V {
        // SAFETY: the caller guarantees `COUNT` readable words at `at`.
        unsafe { at.cast::<V>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn load_records<const UPPER: bool>(self, at: *const u8) -> [V; 2] {
        let [mut even, mut odd] = [[0; COUNT]; 2];
        for i in 0..COUNT {
            let at = at.wrapping_add(16 * i + if UPPER { 8 } else { 0 }).cast::<u32>();
            // SAFETY: the caller guarantees `COUNT` readable records; `even[i]` is in record `i`.
            even[i] = unsafe { at.read_unaligned() };
            // SAFETY: the caller guarantees `COUNT` readable records; `odd[i]` is in record `i`.
            odd[i] = unsafe { at.wrapping_add(1).read_unaligned() };
        }
        [even, odd]
    }

    #[inline(always)]
    fn in_order(self, a: V) -> V {
        a
    }

    #[inline(always)]
    fn swap_bytes(self, a: V) -> V {
        each(a, a, |a, _| a.swap_bytes())
    }

    #[inline(always)]
    fn shuffle_bytes(self, a: V, from: u32) -> V {
        let byte =
            |a: u32, n: u8| if n & 0x80 == 0 { a.to_le_bytes()[usize::from(n & 3)] } else { 0 };
        each(a, a, |a, _| u32::from_le_bytes(from.to_le_bytes().map(|n| byte(a, n))))
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u32, a: V) {
        // SAFETY: the caller guarantees `COUNT` writable words at `at`.
        unsafe { at.cast::<V>().write_unaligned(a) }
    }

    /// A binary search without branches, which would be mispredicted. It loads no word twice.
    #[inline(always)]
    unsafe fn first_at_most(self, words: *const u32, start: u32, count: u32, key: u32) -> u32 {
        let (mut at, mut half) = (start, count / 2);
        for _ in 0..count.ilog2() {
            // SAFETY: one of the words that the caller guarantees.
            let above = unsafe { word(words.wrapping_add((at + half - 1) as usize)) } > key;
            at += core::hint::select_unpredictable(above, half, 0);
            half /= 2;
        }
        // SAFETY: one of the words that the caller guarantees.
        unsafe { word(words.wrapping_add(at as usize)) }
    }

    #[inline(always)]
    unsafe fn rank_u16<const N: usize>(self, line: *const u32, number: u16) -> u32 {
        const { assert!(N <= 32) };
        // SAFETY: the caller guarantees a readable line. The compiler makes vectors of the loop.
        let numbers = unsafe { line.cast::<[u16; N]>().read() };
        numbers.into_iter().map(|it| u16::from(u16::from_le(it) < number)).sum::<u16>().into()
    }
}
