//! Batches. One kernel, compiled for each level: `scalar`, several lookups in flight.

mod scalar;

use super::layout::{Node, NodeResult, View};
use crate::net::{Family, NextHopId};
use crate::simd::{Simd, Work};

/// Answers `addrs` into `out`, which has the same length.
pub(super) fn lookup_batch<F: Family, N: Node, R: NodeResult>(
    tree: View<'_, F, N, R>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    simd.run(InFlight { tree, addrs, out });
}

struct InFlight<'a, F: Family, N: Node, R: NodeResult> {
    tree: View<'a, F, N, R>,
    addrs: &'a [F::Bits],
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family, N: Node, R: NodeResult> Work for InFlight<'_, F, N, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        scalar::in_flight(self.tree, self.addrs, self.out);
    }
}
