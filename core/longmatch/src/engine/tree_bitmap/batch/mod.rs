//! Batches. One kernel, compiled for each level: `scalar`, several lookups in flight.

mod scalar;

use super::layout::{Node, NodeResult, View};
use crate::engine::kit::in_flight;
use crate::net::{Family, NextHopId};
use crate::simd::Simd;

/// Answers `addrs` into `out`, which has the same length.
pub(super) fn lookup_batch<F: Family, N: Node, R: NodeResult>(
    tree: &View<'_, F, N, R>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    in_flight::run(tree, simd, addrs, out);
}
