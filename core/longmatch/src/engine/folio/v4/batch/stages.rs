//! The scalar kernel: in tables beyond the second-level cache it makes a step for some addresses,
//! then the next one, whose cache lines are prefetched.

use super::super::layout::{Entry, View};
use super::super::lookup;
use super::{Each, InPlace};
use crate::mem::Memory;
use crate::net::NextHopId;
use crate::simd::lanes::{Lanes, LanesWork};
use crate::simd::{Simd, prefetch_bytes};

/// Addresses of a step.
const STEP: usize = 32;

/// Answers `keys` into `out`, which has the same length.
#[inline(never)]
pub(super) fn lookup_batch<M: Memory>(
    table: View<'_, M>,
    simd: Simd,
    keys: InPlace,
    out: &mut [Option<NextHopId>],
) {
    let table = &table;
    match table.fixed.ahead && out.len() >= STEP / 2 {
        true => simd.run_in_lanes(Stages { table, keys, out }),
        false => simd.run_in_lanes(Each { table, keys, out }),
    }
}

/// Addresses in steps. There are as many keys as answers.
struct Stages<'a, M> {
    table: &'a View<'a, M>,
    keys: InPlace,
    out: &'a mut [Option<NextHopId>],
}

impl<M: Memory> LanesWork for Stages<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let table = *self.table;
        let mut steps = [(Entry(0), 0); STEP];
        for (chunk, out) in (0..).zip(self.out.chunks_mut(STEP)) {
            let steps = &mut steps[..out.len()];
            for (i, (entry, below)) in steps.iter_mut().enumerate() {
                // SAFETY: there are as many keys as answers.
                let addr = unsafe { self.keys.get(chunk * STEP + i) };
                (*entry, *below) = (lookup::root(table, addr), addr & table.below_root);
                prefetch(table, *entry, *below);
            }
            for (entry, below) in &mut *steps {
                if entry.is_page_of_entries() {
                    (*entry, *below) = lookup::inner(table, *entry, *below);
                    prefetch(table, *entry, *below);
                }
            }
            for (out, (entry, below)) in out.iter_mut().zip(&*steps) {
                *out = match entry.is_list() {
                    true => lookup::list(lanes, table, *entry, *below),
                    false => lookup::code(table, *entry, *below),
                };
            }
        }
    }
}

/// Prefetches what an entry leads to.
#[inline(always)]
fn prefetch<M: Memory>(table: View<'_, M>, entry: Entry, below: u32) {
    let word = match entry.is_page_of_entries() {
        true => entry.place() + (below >> entry.cut()),
        false => entry.place(),
    };
    let word = table.words.as_ptr().wrapping_add(word as usize).cast();
    let code = table.codes.as_ptr().wrapping_add(entry.position(below) as usize * table.code_bytes);
    prefetch_bytes(if entry.is_list() { word } else { code });
}
