//! What tests of changes need of the write side.

use super::*;
use crate::engine::kit::Engine;
use crate::engine::testing::changes::{Changing, TestedPatch};
use crate::net::NextHopId;

impl<C: Code> TestedPatch<Ipv6> for Patcher<C> {
    /// Lines in use, and runs that wait to be placed, of which there are none.
    fn in_use(&self) -> [usize; 2] {
        let retired = self.retire_list.bytes() / LINE;
        let used = self.space.lines.len() - self.space.free.items() - retired;
        [used, self.space.placed.len()]
    }

    fn lookup(&self, addr: u128) -> Option<NextHopId> {
        self.table.lookup_bits(addr)
    }
}

/// A RIB and its table, kept equal.
pub(in super::super) fn changing<C: Code>(
    rib: Rib<Ipv6>,
) -> Changing<Ipv6, impl TestedPatch<Ipv6>> {
    let table = Lines::<C>::compile(&rib, &()).unwrap();
    Changing::new(rib, patcher(&table).unwrap())
}
