//! What an update writes in Poptrie if it replaces whole runs, as the authors' code does.
//!
//! The change of a route shorter than `s` bits replaces the array of direct entries (Poptrie paper, 3.5).
//! Every node with an address whose next hop the changed route decides is built again: a new array with the children of
//! each such node, if one of them is built again, and a new array with its leaves, equal ones included. The engine here
//! writes fewer: it keeps leaves that stay equal, and changes a node's bases in place if its vectors stay.

use longmatch::{Bits, Change, NextHopId, Outcome, Prefix, Rib, Route};
use longmatch_bench::BenchFamily;

/// Bits that a node decides.
const K: u8 = 6;
const SLOTS: usize = 1 << K;

/// Arrays of direct entries, nodes and leaves that updates write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Written {
    pub arrays: u64,
    pub nodes: u64,
    pub leaves: u64,
}

/// Applies changes to a copy of a table, and counts what all of them write in a Poptrie with `s` direct bits.
///
/// O(nodes and routes below the direct entries that each change affects).
pub(crate) fn written<F: BenchFamily>(rib: &Rib<F>, changes: &[Change<F>], s: u8) -> Written {
    let mut rib = rib.clone();
    let mut written = Written::default();
    for change in changes {
        let (Change::Announce(Route { prefix, .. }) | Change::Withdraw(prefix)) = *change;
        let outcome = rib.apply(*change);
        if matches!(outcome, Ok(Outcome::New | Outcome::Replaced(_) | Outcome::Withdrawn(_))) {
            written.arrays += u64::from(prefix.len() < s);
            let entries = 1u128 << s.saturating_sub(prefix.len());
            for i in 0..entries {
                let first = prefix.bits().to_u128() | i << (F::WIDTH - s);
                let entry = Prefix::from_bits_masked(F::Bits::from_u128(first), s);
                written.entry(&rib, entry, prefix);
            }
        }
    }
    written
}

/// The longest route that covers a slot.
#[derive(Clone, Copy)]
struct Owner {
    len: u8,
    next_hop: Option<NextHopId>,
}

impl Written {
    /// Counts the items that a change of the route of `prefix` writes below a direct entry.
    fn entry<F: BenchFamily>(&mut self, rib: &Rib<F>, entry: Prefix<F>, prefix: Prefix<F>) {
        let above = rib.cover(entry).last();
        let owner = Owner {
            len: above.map_or(0, |route| route.prefix.len()),
            next_hop: above.map(|route| route.next_hop),
        };
        let below: Vec<_> =
            rib.children(entry).filter(|it| it.prefix.len() > entry.len()).collect();
        if !below.is_empty() && owner.len <= prefix.len() {
            let is_node = self.block(entry, owner, &below, Some(prefix)).is_none();
            self.nodes += u64::from(is_node);
        }
    }

    /// Counts the items that a change writes in and below the node of a block with longer routes inside.
    ///
    /// Returns the next hop if it is the same for the whole block, so that there is no node. Without a changed prefix
    /// nothing is written.
    fn block<F: BenchFamily>(
        &mut self,
        block: Prefix<F>,
        owner: Owner,
        routes: &[Route<F>],
        changed: Option<Prefix<F>>,
    ) -> Option<Option<NextHopId>> {
        let depth = block.len();
        let mut owners = [owner; SLOTS];
        let mut children = [false; SLOTS];
        let mut writes_children = false;
        let mut rest = routes;
        while let Some((route, after)) = rest.split_first() {
            let (len, slot) = (route.prefix.len(), route.prefix.bits().extract(depth, K));
            if len <= depth + K {
                let count = 1 << (depth + K - len);
                owners[slot..slot + count].fill(Owner { len, next_hop: Some(route.next_hop) });
                rest = after;
                continue;
            }
            let within = |it: &Route<F>| it.prefix.bits().extract(depth, K) == slot;
            let (own, after) = rest.split_at(rest.partition_point(within));
            rest = after;
            let inner = Prefix::from_bits_masked(route.prefix.bits(), depth + K);
            let affected = |it: &Prefix<F>| {
                owners[slot].len <= it.len() && (it.covers(inner) || inner.covers(*it))
            };
            let affected = changed.filter(affected);
            match self.block(inner, owners[slot], own, affected) {
                Some(next_hop) => owners[slot].next_hop = next_hop,
                None => {
                    children[slot] = true;
                    writes_children |= affected.is_some();
                }
            }
        }
        let mut leaves = Vec::with_capacity(SLOTS);
        leaves.extend((0..SLOTS).filter(|slot| !children[*slot]).map(|slot| owners[slot].next_hop));
        leaves.dedup();
        let nodes = children.iter().filter(|it| **it).count();
        if nodes == 0 && leaves.len() == 1 {
            return Some(leaves[0]);
        }
        if changed.is_some() {
            self.leaves += leaves.len() as u64;
            self.nodes += if writes_children { nodes as u64 } else { 0 };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::Ipv4;

    fn announce(prefix: &str, id: u32) -> Change<Ipv4> {
        let next_hop = NextHopId::new(id).unwrap();
        Change::Announce(Route { prefix: prefix.parse().unwrap(), next_hop })
    }

    /// Each change follows the earlier ones in 10.0.0.0/18, a block whose slots are /24s.
    #[test]
    fn whole_runs_count() {
        let withdraw = |prefix: &str| Change::Withdraw(prefix.parse().unwrap());
        let steps = [
            // One leaf for the whole of the direct entry: no node.
            (announce("10.0.0.0/8", 1), (0, 0)),
            // A node with the leaves 2 and 1.
            (announce("10.0.0.0/20", 2), (1, 2)),
            (announce("10.0.0.0/20", 2), (0, 0)),
            // The answers stay, but the route is new: the same node again.
            (announce("10.0.0.0/24", 2), (1, 2)),
            // Below the node another one, with the leaves 2, 3 and 2.
            (announce("10.0.0.64/26", 3), (2, 5)),
            // The next hop of the /20 decides neither the /24 nor the node in it: its leaves are now 4 and 1.
            (announce("10.0.0.0/20", 4), (1, 2)),
            // The /8 decides the slots behind the /20, so the lower node stays.
            (announce("10.0.0.0/8", 5), (1, 2)),
            (withdraw("10.0.0.64/26"), (1, 3)),
            (withdraw("10.0.0.64/26"), (0, 0)),
        ];
        let mut rib = Rib::new();
        for (change, (nodes, leaves)) in steps {
            let own = written(&rib, &[change], 18);
            assert_eq!((own.nodes, own.leaves), (nodes, leaves), "{change:?}");
            rib.apply(change).unwrap();
        }
        let all = steps.map(|(change, _)| change);
        assert_eq!(written(&Rib::new(), &all, 18), Written { arrays: 2, nodes: 7, leaves: 16 });
    }
}
