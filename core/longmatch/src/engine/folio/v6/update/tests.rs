//! What tests of changes need of the write side.

use super::super::Config;
use super::*;
use crate::engine::kit::Engine;
use crate::engine::testing::changes::{Changing, TestedPatch};
use crate::net::NextHopId;

impl TestedPatch<Ipv6> for Patcher {
    /// Bytes in use, and stores of an unfinished commit, of which there are none.
    fn in_use(&self) -> [usize; 2] {
        let (used, unused) = self.used_and_unused();
        [used - unused - self.retire_list.bytes(), self.changes.len()]
    }

    fn lookup(&self, addr: u128) -> Option<NextHopId> {
        self.table.lookup_bits(addr)
    }
}

/// A RIB and its table, kept equal.
pub(in super::super) fn changing(
    rib: Rib<Ipv6>,
    config: Config,
) -> Changing<Ipv6, impl TestedPatch<Ipv6>> {
    let table = Folio6::compile(&rib, &config).unwrap();
    Changing::new(rib, patcher(&table).unwrap())
}
