//! Many addresses at once: one kernel, written in the verbs of [`crate::simd::lanes`] and compiled
//! for each set of them.
//!
//! | level | lanes | in a group |
//! |---|---|---|
//! | `avx512` | 16 | 6 vectors, 2, then 1 |
//! | `avx2` | 8 | 6, 2, 1 |
//! | `portable`, `scalar` | 8, without vector instructions | 2, 1 |
//!
//! The vectors of a group go down together, so that their gathers overlap.

mod kernel;

use self::kernel::Kernel;
use super::layout::{Code, Folio};
use crate::addr::Family;
use crate::keys::{Form, Keys};
use crate::next_hop::NextHopId;
use crate::simd::lanes::{Lanes, Plain};
use crate::simd::{Simd, Work};

/// Answers `keys` into `out`, which is as long.
pub(super) fn lookup_batch<F: Family, C: Code>(
    folio: &Folio<F, C>,
    simd: Simd,
    keys: Keys<'_, F>,
    out: &mut [Option<NextHopId>],
) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use crate::simd::lanes::{Avx2, Avx512};
        if let Some(lanes) = Avx512::new(simd) {
            return lanes.run(Groups::<_, F, C, 6, 2> { lanes, folio, keys, out });
        }
        if let Some(lanes) = Avx2::new(simd) {
            return lanes.run(Groups::<_, F, C, 6, 2> { lanes, folio, keys, out });
        }
    }
    let lanes = Plain;
    simd.run(Groups::<_, F, C, 2, 1> { lanes, folio, keys, out });
}

/// A batch, to be looked up in groups of `V` vectors, then of `W`, then of one.
struct Groups<'a, L, F: Family, C: Code, const V: usize, const W: usize> {
    lanes: L,
    folio: &'a Folio<F, C>,
    keys: Keys<'a, F>,
    out: &'a mut [Option<NextHopId>],
}

impl<L: Lanes, F: Family, C: Code, const V: usize, const W: usize> Work
    for Groups<'_, L, F, C, V, W>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.keys.form() {
            Form::Host => self.in_form::<{ kernel::HOST }>(),
            Form::Halves => self.in_form::<{ kernel::HALVES }>(),
            Form::Network => self.in_form::<{ kernel::NETWORK }>(),
        }
    }
}

/// The most lanes of a vector.
const MAX_LANES: usize = 16;
/// The most bytes of an address.
const MAX_BYTES: usize = 16;

impl<L: Lanes, F: Family, C: Code, const V: usize, const W: usize> Groups<'_, L, F, C, V, W> {
    #[inline(always)]
    fn in_form<const FORM: u8>(self) {
        let Self { lanes, folio, keys, out } = self;
        let kernel = Kernel::<L, F, C, FORM>::new(lanes, folio);
        let bytes = usize::from(F::WIDTH / 8);
        let (mut from, mut to, mut left) =
            (keys.as_ptr(), out.as_mut_ptr().cast::<u32>(), out.len());
        while left >= V * L::COUNT {
            // SAFETY: as many addresses can be read, and as many answers written.
            unsafe { kernel.group::<V>(from, to) };
            (from, to) = (from.wrapping_add(V * L::COUNT * bytes), to.wrapping_add(V * L::COUNT));
            left -= V * L::COUNT;
        }
        while left >= W * L::COUNT {
            // SAFETY: as above.
            unsafe { kernel.group::<W>(from, to) };
            (from, to) = (from.wrapping_add(W * L::COUNT * bytes), to.wrapping_add(W * L::COUNT));
            left -= W * L::COUNT;
        }
        while left >= L::COUNT {
            // SAFETY: as above.
            unsafe { kernel.group::<1>(from, to) };
            (from, to) = (from.wrapping_add(L::COUNT * bytes), to.wrapping_add(L::COUNT));
            left -= L::COUNT;
        }
        if left > 0 {
            let mut padded = [0u8; MAX_LANES * MAX_BYTES];
            let mut answers = [0u32; MAX_LANES];
            // SAFETY: `left` addresses can be read; they are fewer than a vector has lanes.
            unsafe { core::ptr::copy_nonoverlapping(from, padded.as_mut_ptr(), left * bytes) };
            // SAFETY: both arrays are as long as the widest vector of the longest addresses.
            unsafe { kernel.group::<1>(padded.as_ptr(), answers.as_mut_ptr()) };
            // SAFETY: `left` answers can be written.
            unsafe { core::ptr::copy_nonoverlapping(answers.as_ptr(), to, left) };
        }
    }
}
