//! Many addresses at once. One kernel so far, compiled for each level: `scalar`, several lookups
//! in flight.

mod scalar;

use super::layout::{Leaf, Node, Poptrie};
use crate::addr::Family;
use crate::next_hop::NextHopId;
use crate::simd::{Simd, Work};

/// Answers `addrs` into `out`, which is as long.
pub(super) fn lookup_batch<F: Family, N: Node, L: Leaf>(
    poptrie: &Poptrie<F, N, L>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    simd.run(InFlight { poptrie, addrs, out });
}

struct InFlight<'a, F: Family, N, L> {
    poptrie: &'a Poptrie<F, N, L>,
    addrs: &'a [F::Bits],
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family, N: Node, L: Leaf> Work for InFlight<'_, F, N, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        scalar::in_flight(self.poptrie, self.addrs, self.out);
    }
}
