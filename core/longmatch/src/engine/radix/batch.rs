//! Batches: several lookups in flight. Our addition; the papers' baseline follows one address at a
//! time and waits for memory at every bit.

use super::layout::{NONE, Node, Radix};
use crate::net::{Bits, Family, NextHopId};
use crate::simd::{Simd, Work, prefetch};

/// Addresses in a group. A power of two: masking positions with it proves to the compiler that they
/// are in range.
const GROUP: usize = 32;

/// Answers `addrs` into `out`, which has the same length.
pub(super) fn lookup_batch<F: Family>(
    radix: &Radix<F>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    simd.run(InFlight { radix, addrs, out });
}

struct InFlight<'a, F: Family> {
    radix: &'a Radix<F>,
    addrs: &'a [F::Bits],
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family> Work for InFlight<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (keys, out) in self.addrs.chunks(GROUP).zip(self.out.chunks_mut(GROUP)) {
            group(self.radix, keys, out);
        }
    }
}

/// Moves the addresses of a group down bit by bit together. Those not yet finished are packed at
/// the front of `position` and `node` without a branch.
#[inline(always)]
fn group<F: Family>(radix: &Radix<F>, keys: &[F::Bits], out: &mut [Option<NextHopId>]) {
    let mut position: [u8; GROUP] = core::array::from_fn(|i| i as u8);
    let mut node = [0u32; GROUP];
    let mut best = [0u32; GROUP];
    let mut window = [0u64; GROUP];
    let mut count = keys.len();
    let mut depth = 0;
    while count > 0 {
        if depth % 64 == 0 && depth < F::WIDTH {
            for i in &position[..count] {
                let i = usize::from(*i) % GROUP;
                window[i] = keys[i].window(depth);
            }
        }
        let mut continuing = 0;
        for j in 0..count {
            let i = usize::from(position[j % GROUP]) % GROUP;
            let Node { children, next_hop } = radix.nodes[node[j % GROUP] as usize];
            let own = NextHopId::to_raw(next_hop);
            best[i] = if own != 0 { own } else { best[i] };
            let child = children[(window[i] >> 63) as usize];
            window[i] <<= 1;
            prefetch(&radix.nodes, child as usize);
            position[continuing % GROUP] = i as u8;
            node[continuing % GROUP] = child;
            continuing += usize::from(child != NONE);
        }
        count = continuing;
        depth += 1;
    }
    for (out, best) in out.iter_mut().zip(best) {
        *out = NextHopId::new(best);
    }
}
