//! Batch kernels: the first of these that the level allows.
//!
//! | kernel | level | |
//! |---|---|---|
//! | `gather` | AVX-512, AVX2 | gathers of 16 or 8 entries, `tbl24` prefetched |
//! | `scalar` | any | one address at a time, `tbl24` prefetched |
//!
//! `tbl24` is 32 MiB, more than most caches hold, so prefetching its entries gains most, more than
//! vectors. Against one by one, on random, routed and zipf keys (Zen 5, a table of 1 M routes none
//! of which is longer than /24, 16-bit entries): `scalar` is 2.8, 3.1 and 3.3 times as fast, AVX-512
//! without prefetching 0.6, 1.2 and 1.4 times, with it 3.1, 4.1 and 4.0 times. AVX2 is as good on
//! IPv4; on IPv6, where gathers depend on each other, AVX-512 is 1.6 times as fast.

mod gather;
mod scalar;

use self::gather::Gather;
use super::layout::{Entry, FIRST_BITS, View};
use crate::engine::kit::in_flight::in_vectors;
use crate::net::{Bits, Family, NextHopId};
use crate::simd::lanes::{Lanes, LanesWork};
use crate::simd::{Simd, Work};

/// Answers `addrs` into `out`, which has the same length.
pub(super) fn lookup_batch<F: Family, E: Entry>(
    tables: &View<'_, F, E>,
    simd: Simd,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    if let Err(work) = simd.run_lanes(Addresses { tables, addrs, out }) {
        simd.run(work);
    }
}

struct Addresses<'a, F: Family, E: Entry> {
    tables: &'a View<'a, F, E>,
    addrs: &'a [F::Bits],
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family, E: Entry> LanesWork for Addresses<'_, F, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        match Gather::new(l, self.tables) {
            Some(gather) if F::WIDTH == 32 => in_vectors::<_, 2>(gather, self.addrs, self.out),
            Some(gather) => in_vectors::<_, 6>(gather, self.addrs, self.out),
            None => Work::run(self),
        }
    }
}

impl<F: Family, E: Entry> Work for Addresses<'_, F, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        scalar::lookup_batch(*self.tables, self.addrs, self.out);
    }
}

/// Prefetches the entries of `tbl24` of later addresses.
#[inline(always)]
fn prefetch_direct<F: Family, E: Entry>(tables: View<'_, F, E>, later: &[F::Bits]) {
    for key in later {
        tables.tbl24.prefetch(key.extract(0, FIRST_BITS));
    }
}
