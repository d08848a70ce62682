//! The expected answers that all engine checks compare with.
//!
//! They are the RIB's disjoint ranges, read in step with a walk over a structure in order of
//! addresses. Each change of next hop must come where the RIB has it, which proves the structure
//! right on every address.

use alloc::format;

use crate::engine::kit::Corrupt;
use crate::net::{Family, NextHopId};
use crate::rib::{Coalesced, Iter, Rib};

pub(crate) struct Expected<'r, F: Family> {
    engine: &'static str,
    ranges: Coalesced<F, Iter<'r, F>>,
    /// Raw next hop of the range that the walk is in.
    raw: Option<u32>,
}

impl<'r, F: Family> Expected<'r, F> {
    /// Starts a walk at the lowest address.
    pub fn new(engine: &'static str, rib: &'r Rib<F>) -> Self {
        Self { engine, ranges: rib.ranges().joined(), raw: None }
    }

    /// Verifies that the RIB agrees: the structure answers `raw` from address `first` on.
    pub fn expect(&mut self, first: F::Bits, raw: u32) -> Result<(), Corrupt> {
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

    /// Ends the walk, which has reached the highest address.
    pub fn finish(&mut self) -> Result<(), Corrupt> {
        match self.ranges.next() {
            None => Ok(()),
            Some(range) => {
                let what = format!("the RIB's range {range:?} is missing");
                Err(Corrupt { engine: self.engine, what })
            }
        }
    }
}
