//! Verifies the invariants of `layout.rs`.

use alloc::format;
use alloc::string::String;

use super::NAME;
use super::layout::{NONE, Radix};
use crate::engine::kit::Corrupt;
use crate::net::{Bits, Family, Prefix, Route};
use crate::rib::Rib;

pub(super) fn check<F: Family>(radix: &Radix<F>, rib: &Rib<F>) -> Result<(), Corrupt> {
    let corrupt = |what: String| Err(Corrupt { engine: NAME, what });
    let mut routes = rib.iter();
    let mut visited = 0;
    let mut pending = alloc::vec![(0u32, Prefix::<F>::DEFAULT)];
    while let Some((at, prefix)) = pending.pop() {
        let Some(node) = radix.nodes.get(at as usize) else {
            return corrupt(format!("{prefix} has node {at} of {}", radix.nodes.len()));
        };
        visited += 1;
        if node.next_hop.is_none() && node.children == [NONE; 2] && at != 0 {
            return corrupt(format!("node {at} ({prefix}) has neither a route nor a child"));
        }
        if let Some(next_hop) = node.next_hop {
            let expected = routes.next();
            if expected != Some(Route { prefix, next_hop }) {
                return corrupt(format!("{prefix} -> {next_hop}, in the RIB {expected:?}"));
            }
        }
        for side in [1, 0] {
            let child = node.children[side];
            if child == NONE {
                continue;
            }
            let Some(halves) = prefix.halves() else {
                return corrupt(format!("node {at} is at full depth and has a child"));
            };
            debug_assert_eq!(halves[side].bits().bit(prefix.len()), side);
            if child <= at {
                return corrupt(format!("node {at} has child {child}, which is not after it"));
            }
            pending.push((child, halves[side]));
        }
    }
    if let Some(route) = routes.next() {
        return corrupt(format!("{} of the RIB is missing", route.prefix));
    }
    if visited != radix.nodes.len() {
        return corrupt(format!("{visited} of {} nodes are reached", radix.nodes.len()));
    }
    Ok(())
}
