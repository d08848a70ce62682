use super::super::layout::{Dir24_8, Entry, FIRST_BITS};
use super::super::lookup;
use crate::addr::{Bits, Family};
use crate::next_hop::NextHopId;
use crate::simd::prefetch;

/// How many addresses ahead entries of `tbl24` are asked for.
const AHEAD: usize = 32;

#[inline(always)]
pub(super) fn ahead<F: Family, E: Entry>(
    tables: &Dir24_8<F, E>,
    addrs: &[F::Bits],
    out: &mut [Option<NextHopId>],
) {
    for (i, (key, out)) in addrs.iter().zip(out).enumerate() {
        let later = addrs[(i + AHEAD).min(addrs.len() - 1)];
        prefetch(&tables.tbl24, later.extract(0, FIRST_BITS));
        *out = lookup::lookup(tables, *key);
    }
}
