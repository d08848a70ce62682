//! Many addresses at once, by the first of these kernels that the level allows.

mod scalar;

use super::layout::{Dir24_8, Entry};
use crate::addr::Family;
use crate::next_hop::NextHopId;
use crate::simd::{Simd, Work};

/// Answers `addrs` into `out`, which is as long.
pub(super) fn lookup_batch<F: Family, E: Entry>(
    tables: &Dir24_8<F, E>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    simd.run(Ahead { tables, addrs, out });
}

struct Ahead<'a, F: Family, E> {
    tables: &'a Dir24_8<F, E>,
    addrs: &'a [F::Bits],
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family, E: Entry> Work for Ahead<'_, F, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        scalar::ahead(self.tables, self.addrs, self.out);
    }
}
