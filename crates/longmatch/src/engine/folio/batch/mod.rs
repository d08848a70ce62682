//! Batch kernel in the verbs of [`crate::simd::lanes`], compiled for each set.
//!
//! | level | lanes | vectors in a group |
//! |---|---|---|
//! | `avx512` | 16 | 6, then 4, 2, 1 |
//! | `avx2` | 8 | 6, then 4, 2, 1 |
//! | `portable`, `scalar` | 8, without vector instructions | IPv4 2, IPv6 1 |
//!
//! The vectors of a group descend together, so that their gathers overlap: two vectors reach 70 %
//! of the rate of six on IPv6; eight and twelve are a few percent slower than six. The last group
//! of a batch answers some of the previous addresses again, so no vector is partly filled. A batch
//! of 8 to 15 addresses uses AVX2; a smaller one is looked up one by one.

pub(super) mod front;
mod kernel;

use self::kernel::Kernel;
use super::layout::{Code, View};
use super::lookup;
use crate::engine::kit::{KeyLayout, Keys};
use crate::net::{Family, NextHopId};
use crate::simd::lanes::{Lanes, Portable};
use crate::simd::{Simd, Work};

/// Answers `keys` into `out`, which has the same length.
pub(super) fn lookup_batch<F: Family, C: Code>(
    folio: View<'_, F, C>,
    simd: Simd,
    keys: Keys<'_, F>,
    out: &mut [Option<NextHopId>],
) {
    // Separate values, not `keys`: the struct would be loaded a vector at a time right after it was
    // stored word by word. The CPU can do that only after all earlier instructions retire, so no
    // two calls would overlap. (Batches of 16 lost half of their rate.)
    let (layout, from) = (keys.layout(), keys.as_ptr());
    // A reference to the view, for the same reason.
    let folio = &folio;
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use crate::simd::lanes::{Avx2, Avx512};
        if let Some(lanes) = Avx512::new(simd)
            && out.len() >= Avx512::COUNT
        {
            return lanes.run(Groups::<_, F, C, 6> { lanes, folio, layout, from, out });
        }
        if let Some(lanes) = Avx2::new(simd)
            && out.len() >= Avx2::COUNT
        {
            return lanes.run(Groups::<_, F, C, 6> { lanes, folio, layout, from, out });
        }
    }
    match out.len() < Portable::COUNT {
        true => simd.run_scalar(Few { folio, keys: &keys, out }),
        false if const { F::WIDTH == 32 } => {
            simd.run_scalar(Groups::<_, F, C, 2> { lanes: Portable, folio, layout, from, out });
        }
        false => {
            simd.run_scalar(Groups::<_, F, C, 1> { lanes: Portable, folio, layout, from, out })
        }
    }
}

/// Fewer addresses than the narrowest vector has lanes, looked up one by one.
struct Few<'a, F: Family, C: Code> {
    folio: &'a View<'a, F, C>,
    keys: &'a Keys<'a, F>,
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family, C: Code> Work for Few<'_, F, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (i, out) in self.out.iter_mut().enumerate() {
            *out = lookup::lookup(*self.folio, self.keys.get(i));
        }
    }
}

/// A batch that fills at least one vector, looked up in groups of `V` vectors. `from` has at least
/// as many readable addresses as `out` has answers.
struct Groups<'a, L, F: Family, C: Code, const V: usize> {
    lanes: L,
    folio: &'a View<'a, F, C>,
    layout: KeyLayout,
    from: *const u8,
    out: &'a mut [Option<NextHopId>],
}

impl<L: Lanes, F: Family, C: Code, const V: usize> Work for Groups<'_, L, F, C, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.layout {
            _ if const { F::WIDTH > 32 || V < 6 } => self.in_layout::<{ kernel::ANY }>(),
            KeyLayout::Network => self.in_layout::<{ front::NETWORK }>(),
            // IPv4 addresses have no halves.
            KeyLayout::Host | KeyLayout::U64Pairs => self.in_layout::<{ front::HOST }>(),
        }
    }
}

impl<L: Lanes, F: Family, C: Code, const V: usize> Groups<'_, L, F, C, V> {
    #[inline(always)]
    fn in_layout<const LAYOUT: u8>(self) {
        let Self { lanes, folio, layout, from, out } = self;
        let mut batch = Batch {
            kernel: Kernel::<L, F, C, LAYOUT>::new(lanes, folio, layout),
            from,
            to: out.as_mut_ptr().cast::<u32>(),
            left: out.len(),
        };
        if const { V > 1 } {
            while batch.group::<V>() {}
        }
        if const { V > 4 } {
            batch.group::<4>();
        }
        if const { V > 2 } {
            batch.group::<2>();
        }
        while batch.left > 0 {
            batch.vector();
        }
    }
}

/// The rest of a batch.
///
/// It has as many readable addresses as writable answers. It is at least a vector long, or at least
/// a vector's lanes precede it.
struct Batch<'a, L: Lanes, F: Family, C: Code, const LAYOUT: u8> {
    kernel: Kernel<'a, L, F, C, LAYOUT>,
    from: *const u8,
    to: *mut u32,
    left: usize,
}

impl<L: Lanes, F: Family, C: Code, const LAYOUT: u8> Batch<'_, L, F, C, LAYOUT> {
    const BYTES: usize = F::WIDTH as usize / 8;

    /// Answers `N` vectors of addresses if as many are left.
    #[inline(always)]
    fn group<const N: usize>(&mut self) -> bool {
        let count = N * L::COUNT;
        if self.left < count {
            return false;
        }
        // SAFETY: `N` vectors of addresses are left (checked above), and as many answers.
        unsafe { self.kernel.group::<N>(self.from, self.to) };
        self.from = self.from.wrapping_add(count * Self::BYTES);
        self.to = self.to.wrapping_add(count);
        self.left -= count;
        true
    }

    /// Answers one vector of addresses. If fewer are left, answers some of the previous ones again.
    #[inline(always)]
    fn vector(&mut self) {
        let again = L::COUNT - self.left.min(L::COUNT);
        let from = self.from.wrapping_sub(again * Self::BYTES);
        // SAFETY: the whole batch has at least a vector's lanes; `from` starts a vector's lanes
        // before its end, or earlier.
        unsafe { self.kernel.group::<1>(from, self.to.wrapping_sub(again)) };
        self.from = self.from.wrapping_add(L::COUNT * Self::BYTES);
        self.to = self.to.wrapping_add(L::COUNT);
        self.left = self.left.saturating_sub(L::COUNT);
    }
}
