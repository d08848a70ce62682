//! Verifies the invariants of `layout.rs`, and every answer against the RIB.
//!
//! One walk in order of addresses does both: it marks the groups, so that none is shared or lost,
//! and compares each change of next hop with the RIB's disjoint ranges.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::NAME;
use super::compile::groups_needed;
use super::layout::{Entry, FIRST_SLOTS, GROUP_SLOTS, Level};
use crate::engine::kit::Expected;
use crate::engine::kit::{Corrupt, Shape};
use crate::net::{Bits, Family, Prefix};
use crate::rib::Rib;

/// Checks the tables; `unused` are the groups that no entry names.
pub(super) fn check<F: Family, E: Entry>(
    [tbl24, tbl8]: [&[E]; 2],
    unused: Vec<u32>,
    rib: &Rib<F>,
) -> Result<(), Corrupt> {
    let groups = tbl8.len() / GROUP_SLOTS;
    if tbl24.len() != FIRST_SLOTS || tbl8.len() % GROUP_SLOTS != 0 || groups > E::MAX_GROUPS {
        return corrupt(format!("{} tbl24 and {} tbl8 entries", tbl24.len(), tbl8.len()));
    }
    let met = alloc::vec![false; groups];
    let mut walk = Walk { tbl24, tbl8, rib, expected: Expected::new(NAME, rib), met };
    let used = groups.saturating_sub(unused.len());
    for group in unused {
        walk.visit_group(group)?;
    }
    walk.level(Level::FIRST, F::Bits::ZERO)?;
    walk.expected.finish()?;
    if let Some(group) = walk.met.iter().position(|met| !met) {
        return corrupt(format!("tbl8 group {group} is lost"));
    }
    let needed = groups_needed(&Shape::of(rib)) as usize;
    if used != needed {
        return corrupt(format!("{used} tbl8 groups of {groups} in use, the RIB needs {needed}"));
    }
    Ok(())
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

struct Walk<'a, F: Family, E> {
    tbl24: &'a [E],
    tbl8: &'a [E],
    rib: &'a Rib<F>,
    /// The RIB's ranges, read in step with the walk.
    expected: Expected<'a, F>,
    /// Marks of the groups visited so far, in an entry or among the unused ones.
    met: Vec<bool>,
}

impl<F: Family, E: Entry> Walk<'_, F, E> {
    /// Walks a table whose addresses begin at `start`, and the tables below it. The recursion is as
    /// deep as the groups: at most 14 levels.
    fn level(&mut self, level: Level, start: F::Bits) -> Result<(), Corrupt> {
        let entries = match level.group {
            None => self.tbl24,
            Some(group) => &self.tbl8[group as usize * GROUP_SLOTS..][..GROUP_SLOTS],
        };
        for (slot, entry) in entries.iter().enumerate() {
            let first = start | F::Bits::from_u128((slot as u128) << (F::WIDTH - level.end()));
            if !entry.is_group() {
                self.expected.expect(first, entry.value())?;
                continue;
            }
            if level.end() >= F::WIDTH {
                return corrupt(format!("{}: a group past the address's end", F::addr(first)));
            }
            let block = Prefix::from_bits_masked(first, level.end());
            if !self.rib.children(block).any(|route| route.prefix != block) {
                return corrupt(format!("{block} has a group and no route that needs it"));
            }
            self.visit_group(entry.value())?;
            self.level(level.below(entry.value()), first)?;
        }
        Ok(())
    }

    fn visit_group(&mut self, group: u32) -> Result<(), Corrupt> {
        let groups = self.met.len();
        match self.met.get_mut(group as usize) {
            None => corrupt(format!("tbl8 group {group} of {groups}")),
            Some(true) => corrupt(format!("tbl8 group {group} is in two places")),
            Some(met) => {
                *met = true;
                Ok(())
            }
        }
    }
}
