//! The prefixes of all tables as nodes of one forest, and the walk that answers for one table.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::own::OwnRoutes;
use crate::net::NextHopId;
use crate::simd::prefetch;

/// What lookups know of a node, in 8 bytes.
///
/// A node is a prefix at which a table has its own route, or represents all other prefixes
/// whose shared routes have the same value: there the walk ends in every table.
#[derive(Debug, Default)]
pub(in crate::table) struct Node {
    /// The node of the longest shorter prefix that covers this one, or 0; and [`OWN`].
    parent: AtomicU32,
    /// The id of the shared route's value, or 0.
    shared: AtomicU32,
}

/// Mark of a node at which some table has its own route. Two families have fewer than 2^31
/// prefixes.
const OWN: u32 = 1 << 31;

impl Node {
    pub fn new(own: bool, parent: u32, shared: u32) -> Self {
        let mark = if own { OWN } else { 0 };
        Self { parent: AtomicU32::new(parent | mark), shared: AtomicU32::new(shared) }
    }

    /// Makes the node that of a prefix without own routes, while no reader can reach it.
    pub fn renew(&self, shared: u32) {
        self.parent.store(0, Relaxed);
        self.shared.store(shared, Relaxed);
    }

    pub fn parent(&self) -> u32 {
        self.parent.load(Relaxed) & !OWN
    }

    /// Whether some table has or had its own route here.
    pub fn is_own(&self) -> bool {
        self.parent.load(Relaxed) & OWN != 0
    }

    pub fn shared(&self) -> u32 {
        self.shared.load(Relaxed)
    }

    /// Replaces the parent; only the writer calls it, as the next two.
    pub fn set_parent(&self, parent: u32) {
        self.parent.store(parent | (self.parent.load(Relaxed) & OWN), Release);
    }

    /// Marks the node before its first own route is in the hash.
    pub fn mark_own(&self) {
        self.parent.store(self.parent.load(Relaxed) | OWN, Release);
    }

    /// Replaces the shared value; returns the old one.
    pub fn set_shared(&self, shared: u32) -> u32 {
        self.shared.swap(shared, Release)
    }
}

/// The nodes by their numbers, and the hash of own routes.
#[derive(Clone, Copy)]
pub(in crate::table) struct Nodes<'a> {
    pub nodes: &'a [Node],
    pub own: &'a OwnRoutes,
}

impl Nodes<'_> {
    /// The value's id of the longest prefix of one table, from the node of the longest prefix of
    /// all tables. At most as many steps as prefixes cover the address.
    #[inline]
    pub fn resolve(self, table: u32, node: NextHopId) -> Option<NextHopId> {
        let mut at = node.get();
        while let Some(node) = self.nodes.get(at as usize) {
            let parent = node.parent.load(Acquire);
            if parent & OWN != 0 && table != 0 {
                let own = self.own.get(table, at);
                if own != 0 {
                    return NextHopId::new(own);
                }
            }
            let shared = node.shared.load(Acquire);
            if shared != 0 || parent & !OWN == 0 {
                return NextHopId::new(shared);
            }
            at = parent & !OWN;
        }
        None
    }

    /// Replaces nodes by the ids of values; `table` has the table of each address.
    pub fn resolve_each(self, table: impl Fn(usize) -> u32, ids: &mut [Option<NextHopId>]) {
        for id in ids.iter().flatten() {
            prefetch(self.nodes, id.get() as usize);
        }
        for (i, id) in ids.iter().enumerate() {
            let Some(at) = id.map(NextHopId::get) else { continue };
            let node = self.nodes.get(at as usize);
            if node.is_some_and(Node::is_own) {
                self.own.prefetch(table(i), at);
            }
        }
        for (i, id) in ids.iter_mut().enumerate() {
            *id = id.and_then(|node| self.resolve(table(i), node));
        }
    }
}
