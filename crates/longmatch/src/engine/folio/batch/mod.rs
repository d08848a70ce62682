//! Many addresses at once: one kernel, written in the verbs of [`crate::simd::lanes`] and compiled
//! for each set of them.
//!
//! | level | lanes | vectors in a group |
//! |---|---|---|
//! | `avx512` | 16 | 6, then 4, 2, 1 |
//! | `avx2` | 8 | 6, then 4, 2, 1 |
//! | `portable`, `scalar` | 8, without vector instructions | IPv4 2, IPv6 1 |
//!
//! The vectors of a group go down together, so that their gathers overlap: two vectors reach 70 % of
//! the rate of six on IPv6, eight and twelve are a few percent slower than six. The last addresses
//! of a batch are answered with some of those before them a second time, so no vector is ever half
//! full. A batch of 8 to 15 addresses goes the way of AVX2, a smaller one address by address.

mod kernel;

use self::kernel::Kernel;
use super::layout::{Code, View};
use super::lookup;
use crate::engine::kit::{Form, Keys};
use crate::net::{Family, NextHopId};
use crate::simd::lanes::{Lanes, Plain};
use crate::simd::{Simd, Work};

/// Answers `keys` into `out`, which is as long.
pub(super) fn lookup_batch<F: Family, C: Code>(
    folio: View<'_, F, C>,
    simd: Simd,
    keys: Keys<'_, F>,
    out: &mut [Option<NextHopId>],
) {
    // As words, not as `keys`: that would be copied a vector at a time right after it was written
    // word by word, which the CPU can only do when all before it has retired, so no two calls would
    // overlap. (Batches of 16 lost half of their rate.)
    let (form, from) = (keys.form(), keys.as_ptr());
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use crate::simd::lanes::{Avx2, Avx512};
        if let Some(lanes) = Avx512::new(simd)
            && out.len() >= Avx512::COUNT
        {
            return lanes.run(Groups::<_, F, C, 6> { lanes, folio, form, from, out });
        }
        if let Some(lanes) = Avx2::new(simd)
            && out.len() >= Avx2::COUNT
        {
            return lanes.run(Groups::<_, F, C, 6> { lanes, folio, form, from, out });
        }
    }
    match out.len() < Plain::COUNT {
        true => simd.run_scalar(Few { folio, keys: &keys, out }),
        false if const { F::WIDTH == 32 } => {
            simd.run_scalar(Groups::<_, F, C, 2> { lanes: Plain, folio, form, from, out });
        }
        false => simd.run_scalar(Groups::<_, F, C, 1> { lanes: Plain, folio, form, from, out }),
    }
}

/// Fewer addresses than the narrowest vector has lanes, one after the other.
struct Few<'a, F: Family, C: Code> {
    folio: View<'a, F, C>,
    keys: &'a Keys<'a, F>,
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family, C: Code> Work for Few<'_, F, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (i, out) in self.out.iter_mut().enumerate() {
            *out = lookup::lookup(self.folio, self.keys.get(i));
        }
    }
}

/// A batch of at least as many addresses as a vector has lanes, to be looked up in groups of `V`
/// vectors: as many can be read at `from` as there is room for in `out`.
struct Groups<'a, L, F: Family, C: Code, const V: usize> {
    lanes: L,
    folio: View<'a, F, C>,
    form: Form,
    from: *const u8,
    out: &'a mut [Option<NextHopId>],
}

impl<L: Lanes, F: Family, C: Code, const V: usize> Work for Groups<'_, L, F, C, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.form {
            Form::Network => self.in_form::<{ kernel::NETWORK }>(),
            // IPv4 addresses have no halves, so no kernel is compiled for them.
            Form::Halves if const { F::WIDTH > 32 } => self.in_form::<{ kernel::HALVES }>(),
            Form::Host | Form::Halves => self.in_form::<{ kernel::HOST }>(),
        }
    }
}

impl<L: Lanes, F: Family, C: Code, const V: usize> Groups<'_, L, F, C, V> {
    #[inline(always)]
    fn in_form<const FORM: u8>(self) {
        let Self { lanes, folio, from, out, .. } = self;
        let mut batch = Batch {
            kernel: Kernel::<L, F, C, FORM>::new(lanes, folio),
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

/// The part of a batch that is still to be looked up. As many addresses can be read as answers
/// written; before it are at least as many as a vector has lanes, or it is as long.
struct Batch<'a, L: Lanes, F: Family, C: Code, const FORM: u8> {
    kernel: Kernel<'a, L, F, C, FORM>,
    from: *const u8,
    to: *mut u32,
    left: usize,
}

impl<L: Lanes, F: Family, C: Code, const FORM: u8> Batch<'_, L, F, C, FORM> {
    const BYTES: usize = F::WIDTH as usize / 8;

    /// Answers `N` vectors of addresses, if there are as many.
    #[inline(always)]
    fn group<const N: usize>(&mut self) -> bool {
        let count = N * L::COUNT;
        if self.left < count {
            return false;
        }
        // SAFETY: as many addresses are left.
        unsafe { self.kernel.group::<N>(self.from, self.to) };
        self.from = self.from.wrapping_add(count * Self::BYTES);
        self.to = self.to.wrapping_add(count);
        self.left -= count;
        true
    }

    /// Answers one vector of addresses. If fewer are left, some before them are answered a second
    /// time.
    #[inline(always)]
    fn vector(&mut self) {
        let again = L::COUNT - self.left.min(L::COUNT);
        let from = self.from.wrapping_sub(again * Self::BYTES);
        // SAFETY: the batch has at least as many addresses as a vector has lanes, and these begin
        // as many before its end, or before that.
        unsafe { self.kernel.group::<1>(from, self.to.wrapping_sub(again)) };
        self.from = self.from.wrapping_add(L::COUNT * Self::BYTES);
        self.to = self.to.wrapping_add(L::COUNT);
        self.left = self.left.saturating_sub(L::COUNT);
    }
}
