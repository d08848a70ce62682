//! What the checks of all engines compare with: the RIB's disjoint ranges, read in step with a walk
//! over a structure in order of addresses. Each change of next hop must come where the RIB has it,
//! which proves a structure right on every address.

use alloc::format;

use crate::engine::kit::Corrupt;
use crate::net::{Family, NextHopId};
use crate::rib::{Coalesced, Iter, Rib};

pub(crate) struct Expected<'r, F: Family> {
    engine: &'static str,
    ranges: Coalesced<F, Iter<'r, F>>,
    /// The raw next hop of the range that the walk is in.
    raw: Option<u32>,
}

impl<'r, F: Family> Expected<'r, F> {
    /// For a walk that begins at the lowest address.
    pub fn new(engine: &'static str, rib: &'r Rib<F>) -> Self {
        Self { engine, ranges: rib.ranges().coalesced(), raw: None }
    }

    /// The structure answers `raw` from address `first` on.
    pub fn meet(&mut self, first: F::Bits, raw: u32) -> Result<(), Corrupt> {
        if self.raw == Some(raw) {
            return Ok(());
        }
        self.raw = Some(raw);
        let range = self.ranges.next().map(|r| (r.first, NextHopId::to_raw(r.next_hop())));
        if range == Some((first, raw)) {
            return Ok(());
        }
        let (engine, addr) = (self.engine, F::addr(first));
        let what = format!("next hop {raw} from {addr} on; the RIB's next range is {range:?}");
        Err(Corrupt { engine, what })
    }

    /// The walk has reached the highest address.
    pub fn end(&mut self) -> Result<(), Corrupt> {
        match self.ranges.next() {
            None => Ok(()),
            Some(range) => {
                let what = format!("the RIB's range {range:?} is missing");
                Err(Corrupt { engine: self.engine, what })
            }
        }
    }
}
