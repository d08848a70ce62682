//! The routing information base: the ordered set of routes that every engine is compiled from.
//!
//! The RIB is the truth. It answers exact and longest matches, but it is designed for updates and
//! ordered iteration; for lookups by the million compile an engine from it.
//!
//! Compilers read two views of it: disjoint address ranges ([`Rib::ranges`]) and leaf-pushed slots
//! of a fixed stride ([`Rib::root_block`]).

mod aggregate;
mod iter;
mod ranges;
mod strides;
mod trie;

pub use iter::{Covering, Iter};
pub use ranges::{Coalesced, Range, Ranges};
pub use strides::{Block, Slots};

use crate::net::{Change, Family, Ipv4, Ipv6, NextHopId, Outcome, Prefix, Route};
use core::fmt;
use trie::{MAX_ROUTES, NONE, Node, ROOT, Trie};

/// The routes of one family, in order.
///
/// Inserting, removing and matching follow the prefix bit by bit and skip bits in which no routes
/// differ: O(width) steps at most, about log2(routes) on real tables. Memory is at most two nodes
/// per route, of 20 bytes for IPv4 and 32 for IPv6.
///
/// ```
/// use longmatch::{Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// let hop = |n| NextHopId::new(n).unwrap();
/// rib.insert("10.0.0.0/8".parse()?, hop(1))?;
/// rib.insert("10.1.0.0/16".parse()?, hop(2))?;
/// let route = rib.longest_match("10.1.2.3".parse()?).unwrap();
/// assert_eq!((route.prefix.len(), route.next_hop), (16, hop(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Rib<F: Family> {
    trie: Trie<F>,
    routes: usize,
    limit: usize,
}

impl<F: Family> Default for Rib<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Family> Rib<F> {
    /// An empty table.
    pub fn new() -> Self {
        Self::with_route_limit(MAX_ROUTES)
    }

    /// An empty table that never holds more than `limit` routes.
    ///
    /// The indices allow about two thousand million routes, at any limit.
    pub fn with_route_limit(limit: usize) -> Self {
        Self { trie: Trie::new(), routes: 0, limit: limit.min(MAX_ROUTES) }
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.routes == 0
    }

    /// Adds a route or replaces the next hop of its prefix; returns the old next hop.
    ///
    /// # Errors
    /// When the prefix is new and the table holds as many routes as its limit allows. The table is
    /// then unchanged.
    pub fn insert(
        &mut self,
        prefix: Prefix<F>,
        next_hop: NextHopId,
    ) -> Result<Option<NextHopId>, RibFull> {
        if self.routes >= self.limit && self.get(prefix).is_none() {
            return Err(RibFull { limit: self.limit });
        }
        let old = self.trie.insert(prefix, next_hop);
        self.routes += usize::from(old.is_none());
        Ok(old)
    }

    /// Removes the route of exactly this prefix; returns its next hop.
    ///
    /// Removing an unknown prefix allocates nothing.
    pub fn remove(&mut self, prefix: Prefix<F>) -> Option<NextHopId> {
        let old = self.trie.remove(prefix);
        self.routes -= usize::from(old.is_some());
        old
    }

    /// Applies a change and returns its effect.
    ///
    /// # Errors
    /// When the change announces a new prefix to a full table, which is then unchanged.
    pub fn apply(&mut self, change: Change<F>) -> Result<Outcome, RibFull> {
        Ok(match change {
            Change::Announce(Route { prefix, next_hop }) => match self.insert(prefix, next_hop)? {
                None => Outcome::New,
                Some(old) if old == next_hop => Outcome::Same,
                Some(old) => Outcome::Replaced(old),
            },
            Change::Withdraw(prefix) => match self.remove(prefix) {
                Some(old) => Outcome::Withdrawn(old),
                None => Outcome::Unknown,
            },
        })
    }

    /// The next hop of exactly this prefix.
    pub fn get(&self, prefix: Prefix<F>) -> Option<NextHopId> {
        self.trie.find(prefix)?.next_hop
    }

    /// The route with the longest prefix that covers the address.
    pub fn longest_match(&self, addr: F::Addr) -> Option<Route<F>> {
        self.covering(Prefix::host(addr)).last()
    }

    /// Every route whose prefix covers `prefix`, its own included, shortest first.
    ///
    /// For an address use `covering(Prefix::host(addr))`.
    pub fn covering(&self, prefix: Prefix<F>) -> Covering<'_, F> {
        Covering::new(&self.trie, prefix)
    }

    /// Every route whose prefix `prefix` covers, its own included, in order.
    pub fn subtree(&self, prefix: Prefix<F>) -> Iter<'_, F> {
        Iter::new(&self.trie, self.trie.find_below(prefix))
    }

    /// Every route in order: by address, covering prefixes before covered ones.
    pub fn iter(&self) -> Iter<'_, F> {
        Iter::new(&self.trie, Some(ROOT))
    }

    /// The whole address space as disjoint ranges, each with its longest match.
    ///
    /// Every boundary of a prefix begins a new range, even between equal next hops;
    /// [`Ranges::coalesced`] joins such ranges.
    pub fn ranges(&self) -> Ranges<F, Iter<'_, F>> {
        Ranges::new(self.iter())
    }

    /// The ranges of a prefix, cut off at its ends. O(depth + routes in the prefix).
    pub(crate) fn ranges_in(&self, prefix: Prefix<F>) -> Ranges<F, Iter<'_, F>> {
        let (above, below) = self.trie.find_around(prefix);
        let cover = above.and_then(|above| self.trie.node(above).route());
        Ranges::within(prefix, cover, Iter::new(&self.trie, below))
    }

    /// The one next hop of all addresses of a prefix, `Some(None)` if they have none.
    ///
    /// `None` if a longer route in the prefix may give addresses a different next hop.
    pub(crate) fn only_next_hop(&self, prefix: Prefix<F>) -> Option<Option<NextHopId>> {
        let (above, below) = self.trie.find_around(prefix);
        let own = match below.map(|below| self.trie.node(below)) {
            Some(node) if node.len > prefix.len() || node.children != [NONE; 2] => return None,
            Some(node) => node.next_hop,
            None => None,
        };
        Some(own.or_else(|| self.trie.node(above?).next_hop))
    }

    /// The whole table as a block to expand into leaf-pushed slots.
    pub fn root_block(&self) -> Block<'_, F> {
        Block::root(&self.trie)
    }

    /// The greatest next-hop id in the table, 0 if it is empty. O(routes).
    pub fn max_next_hop(&self) -> u32 {
        self.iter().map(|route| route.next_hop.get()).max().unwrap_or(0)
    }

    /// Bytes of memory held, unused capacity included.
    pub fn memory_bytes(&self) -> usize {
        self.trie.bytes()
    }

    /// Rebuilds the storage in address order. O(routes).
    ///
    /// Removed nodes are freed, and iteration reads memory in sequence.
    pub fn compact(&mut self) {
        let mut trie = Trie::new();
        for route in self.iter() {
            trie.insert(route.prefix, route.next_hop);
        }
        self.trie = trie;
    }

    /// The smallest number of nodes that the routes need, and the number in use.
    #[cfg(test)]
    fn node_accounting(&self) -> (usize, usize) {
        let mut fresh = self.clone();
        fresh.compact();
        (fresh.trie.live_nodes(), self.trie.live_nodes())
    }
}

impl<F: Family> Extend<Route<F>> for Rib<F> {
    /// Adds all routes; of routes with equal prefixes the last one wins.
    ///
    /// # Panics
    /// When the route limit is exceeded; where that can happen use [`Rib::insert`].
    fn extend<I: IntoIterator<Item = Route<F>>>(&mut self, routes: I) {
        for route in routes {
            if let Err(full) = self.insert(route.prefix, route.next_hop) {
                panic!("{full}");
            }
        }
    }
}

impl<F: Family> FromIterator<Route<F>> for Rib<F> {
    fn from_iter<I: IntoIterator<Item = Route<F>>>(routes: I) -> Self {
        let mut rib = Self::new();
        rib.extend(routes);
        rib
    }
}

impl<'r, F: Family> IntoIterator for &'r Rib<F> {
    type Item = Route<F>;
    type IntoIter = Iter<'r, F>;

    fn into_iter(self) -> Iter<'r, F> {
        self.iter()
    }
}

impl<F: Family> core::fmt::Debug for Rib<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map().entries(self.iter().map(|route| (route.prefix, route.next_hop))).finish()
    }
}

const _: () = assert!(size_of::<Node<Ipv4>>() == 20 && size_of::<Node<Ipv6>>() == 32);

impl<F: Family> Node<F> {
    /// The node's route, if it carries one.
    fn route(&self) -> Option<Route<F>> {
        let next_hop = self.next_hop?;
        Some(Route { prefix: self.prefix(), next_hop })
    }
}

/// The table holds as many routes as its limit allows; it is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RibFull {
    /// The limit, in routes.
    pub limit: usize,
}

impl fmt::Display for RibFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the table is full: its limit is {} routes", self.limit)
    }
}

impl core::error::Error for RibFull {}

#[cfg(test)]
mod tests;
