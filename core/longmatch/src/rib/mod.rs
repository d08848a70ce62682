//! The routing information base: the ordered set of routes that every engine is compiled from.
//!
//! The RIB is the truth. It answers exact and longest matches, but it is designed for updates and
//! ordered iteration; for lookups by the million compile an engine from it.
//!
//! Compilers read two views of it: disjoint address ranges ([`Rib::ranges`]) and leaf-pushed slots
//! of a fixed stride (`Rib::root_block`).

mod aggregate;
mod dispatch;
mod iter;
mod ranges;
mod trie;

use iter::DirectChildren;
pub use iter::Iter;
pub(crate) use ranges::Coalesced;
pub use ranges::{Range, Ranges};
pub(crate) use trie::MAX_ROUTES;
pub use trie::{Block, Slots};

use crate::net::{Change, Family, NextHopId, Outcome, Prefix, Route, answers_for};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use trie::Trie;

/// The routes of one family, in order.
///
/// A tree bitmap of stride 6 with path compression. A lookup reads about four nodes in a full IPv4
/// table and six in an IPv6 one, at most one for each six bits of the address; so do changes, which
/// also move the entries of one node. Memory is about 8 bytes a route in a full IPv4 table and 17
/// in an IPv6 one, and at most some 100 and 130 bytes a route in any other.
///
/// ```
/// use longmatch::{Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// let hop = |n| NextHopId::new(n).unwrap();
/// rib.insert("10.0.0.0/8".parse()?, hop(1))?;
/// rib.insert("10.1.0.0/16".parse()?, hop(2))?;
/// assert_eq!(rib.lookup("10.1.2.3".parse()?), Some(hop(2)));
/// assert_eq!(rib.get_lpm("10.1.2.3".parse()?).unwrap().prefix.len(), 16);
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
    #[must_use]
    pub fn new() -> Self {
        Self::with_route_limit(MAX_ROUTES)
    }

    /// An empty table that never holds more than `limit` routes.
    ///
    /// The indices allow 500 million routes at any limit.
    #[must_use]
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
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// let prefix = "10.0.0.0/8".parse()?;
    /// assert_eq!(rib.insert(prefix, NextHopId::new(1).unwrap())?, None);
    /// assert_eq!(rib.insert(prefix, NextHopId::new(2).unwrap())?, NextHopId::new(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the prefix is new and the table holds as many routes as its limit allows. The table is
    /// then unchanged.
    pub fn insert(
        &mut self,
        prefix: Prefix<F>,
        next_hop: NextHopId,
    ) -> Result<Option<NextHopId>, RibFull> {
        let full = self.routes >= self.limit || !self.trie.has_capacity();
        if full && self.get(prefix).is_none() {
            return Err(RibFull { limit: self.routes });
        }
        if self.trie.is_sparse() {
            self.trie = self.trie.compacted();
        }
        let old = dispatch::insert(&mut self.trie, prefix, next_hop);
        self.routes += usize::from(old.is_none());
        Ok(old)
    }

    /// Removes the route of exactly this prefix; returns its next hop.
    ///
    /// Removing an unknown prefix allocates nothing.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
    /// assert_eq!(rib.remove("10.0.0.0/9".parse()?), None);
    /// assert_eq!(rib.remove("10.0.0.0/8".parse()?), NextHopId::new(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove(&mut self, prefix: Prefix<F>) -> Option<NextHopId> {
        let old = dispatch::remove(&mut self.trie, prefix);
        self.routes -= usize::from(old.is_some());
        old
    }

    /// Applies a change and returns its effect.
    ///
    /// ```
    /// use longmatch::{Change, Ipv4, NextHopId, Outcome, Rib, Route};
    /// let prefix = "10.0.0.0/8".parse()?;
    /// let [one, two] = [1, 2].map(|id| NextHopId::new(id).unwrap());
    /// let announce = |next_hop| Change::Announce(Route { prefix, next_hop });
    ///
    /// let mut rib = Rib::<Ipv4>::new();
    /// assert_eq!(rib.apply(announce(one))?, Outcome::New);
    /// assert_eq!(rib.apply(announce(two))?, Outcome::Replaced(one));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
    /// assert_eq!(rib.get("10.0.0.0/8".parse()?), NextHopId::new(1));
    /// assert_eq!(rib.get("10.1.0.0/16".parse()?), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn get(&self, prefix: Prefix<F>) -> Option<NextHopId> {
        dispatch::get(&self.trie, prefix)
    }

    /// The next hop of the longest prefix that covers the address.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
    /// rib.insert("10.1.0.0/16".parse()?, NextHopId::new(2).unwrap())?;
    /// assert_eq!(rib.lookup("10.1.2.3".parse()?), NextHopId::new(2));
    /// assert_eq!(rib.lookup("192.0.2.1".parse()?), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn lookup(&self, addr: F::Addr) -> Option<NextHopId> {
        dispatch::lookup(&self.trie, F::bits(addr))
    }

    /// The route with the longest prefix that covers the address.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
    /// let route = rib.get_lpm("10.1.2.3".parse()?);
    /// assert_eq!(route.map(|route| route.prefix), Some("10.0.0.0/8".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn get_lpm(&self, addr: F::Addr) -> Option<Route<F>> {
        dispatch::get_lpm(&self.trie, F::bits(addr))
    }

    /// The route with the longest prefix that covers all of a prefix, its own included.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
    /// rib.insert("10.1.0.0/16".parse()?, NextHopId::new(2).unwrap())?;
    /// let route = rib.get_lpm_prefix("10.0.0.0/12".parse()?);
    /// assert_eq!(route.map(|route| route.prefix), Some("10.0.0.0/8".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn get_lpm_prefix(&self, prefix: Prefix<F>) -> Option<Route<F>> {
        let (above, top) = self.trie.around(&self.trie.top(), prefix);
        let own = top.filter(|top| top.prefix() == prefix);
        let own = own.and_then(|top| self.trie.next_hop_at(&top));
        own.map(|next_hop| Route { prefix, next_hop }).or(above)
    }

    /// The route with the shortest prefix that covers an address or all of a prefix.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
    /// rib.insert("10.1.0.0/16".parse()?, NextHopId::new(2).unwrap())?;
    /// let addr: std::net::Ipv4Addr = "10.1.2.3".parse()?;
    /// assert_eq!(rib.get_spm(addr).map(|route| route.prefix.len()), Some(8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn get_spm(&self, prefix: impl Into<Prefix<F>>) -> Option<Route<F>> {
        self.cover(prefix).next()
    }

    /// Looks up addresses given as integers in host order: `out[i]` answers `addrs[i]`.
    ///
    /// Sixteen lookups at a time wait for memory together.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
    /// let mut hops = [None; 2];
    /// rib.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
    /// assert_eq!(hops, [NextHopId::new(1), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    pub fn lookup_batch(&self, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        dispatch::lookup_batch(&self.trie, addrs, answers_for(addrs, out));
    }

    /// Does the same and returns the routes.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
    /// let mut routes = [None; 2];
    /// rib.get_lpm_batch(&[0x0a01_0203, 0xc000_0201], &mut routes);
    /// assert_eq!(routes.map(|it| it.map(|route| route.prefix.len())), [Some(8), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    pub fn get_lpm_batch(&self, addrs: &[F::Bits], out: &mut [Option<Route<F>>]) {
        dispatch::get_lpm_batch(&self.trie, addrs, answers_for(addrs, out));
    }

    /// Every route whose prefix covers an address or a prefix, its own included, shortest first.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Prefix, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// for prefix in ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16"] {
    ///     rib.insert(prefix.parse()?, NextHopId::new(1).unwrap())?;
    /// }
    /// let addr: std::net::Ipv4Addr = "10.9.9.9".parse()?;
    /// assert_eq!(rib.cover(addr).map(|route| route.prefix.len()).collect::<Vec<_>>(), [0, 8]);
    /// let prefix: Prefix<Ipv4> = "10.1.0.0/16".parse()?;
    /// assert_eq!(rib.cover(prefix).count(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cover(
        &self,
        prefix: impl Into<Prefix<F>>,
    ) -> impl FusedIterator<Item = Route<F>> + Clone {
        trie::Cover::new(&self.trie, prefix.into())
    }

    /// Every route whose prefix `prefix` covers, its own included, in order.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// for prefix in ["10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24"] {
    ///     rib.insert(prefix.parse()?, NextHopId::new(1).unwrap())?;
    /// }
    /// let inside = rib.children("10.0.0.0/8".parse()?);
    /// assert_eq!(inside.map(|route| route.prefix.len()).collect::<Vec<_>>(), [8, 16]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn children(&self, prefix: Prefix<F>) -> Iter<'_, F> {
        let (_, top) = self.trie.around(&self.trie.top(), prefix);
        Iter::new(&self.trie, top, 0, self.routes)
    }

    /// Every route whose prefix `prefix` covers, except for its own and for those that another such
    /// route covers, in order.
    ///
    /// O(depth) a route.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// for prefix in ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.3.0.0/16"] {
    ///     rib.insert(prefix.parse()?, NextHopId::new(1).unwrap())?;
    /// }
    /// let below = rib.direct_children("10.0.0.0/8".parse()?);
    /// let below: Vec<_> = below.map(|route| route.prefix.to_string()).collect();
    /// assert_eq!(below, ["10.1.0.0/16", "10.3.0.0/16"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn direct_children(
        &self,
        prefix: Prefix<F>,
    ) -> impl FusedIterator<Item = Route<F>> + Clone {
        let (_, top) = self.trie.around(&self.trie.top(), prefix);
        DirectChildren::new(&self.trie, prefix, top)
    }

    /// The routes of a range of prefixes, in order. O(depth), and O(1) a route.
    ///
    /// A range whose end is before its start is empty.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Prefix, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// for prefix in ["10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24"] {
    ///     rib.insert(prefix.parse()?, NextHopId::new(1).unwrap())?;
    /// }
    /// let start: Prefix<Ipv4> = "10.0.0.0/9".parse()?;
    /// assert!(rib.range(start..).map(|route| route.prefix.len()).eq([16, 24]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn range(&self, range: impl RangeBounds<Prefix<F>>) -> Iter<'_, F> {
        Iter::between(self, range.start_bound().cloned(), range.end_bound().cloned())
    }

    /// Every route in order: by address, covering prefixes before covered ones.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// for prefix in ["192.0.2.0/24", "10.1.0.0/16", "10.0.0.0/8"] {
    ///     rib.insert(prefix.parse()?, NextHopId::new(1).unwrap())?;
    /// }
    /// let prefixes: Vec<_> = rib.iter().map(|route| route.prefix.to_string()).collect();
    /// assert_eq!(prefixes, ["10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter(&self) -> Iter<'_, F> {
        Iter::new(&self.trie, Some(self.trie.top()), self.routes, self.routes)
    }

    /// The whole address space as disjoint ranges, each with its longest match.
    ///
    /// Every boundary of a prefix begins a new range, even between equal next hops;
    /// [`Ranges::coalesced`] joins such ranges.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
    /// rib.insert("10.1.0.0/16".parse()?, NextHopId::new(2).unwrap())?;
    /// // Before 10/8, then before, in and after 10.1/16, then after 10/8.
    /// let hops: Vec<_> = rib.ranges().map(|range| range.next_hop()).collect();
    /// assert_eq!(hops, [0, 1, 2, 1, 0].map(NextHopId::new));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ranges(&self) -> Ranges<F, Iter<'_, F>> {
        Ranges::new(self.iter())
    }

    /// The ranges of a prefix, cut off at its ends. O(depth + routes in the prefix).
    pub(crate) fn ranges_in(&self, prefix: Prefix<F>) -> Ranges<F, Iter<'_, F>> {
        let (cover, top) = self.trie.around(&self.trie.top(), prefix);
        Ranges::within(prefix, cover, Iter::new(&self.trie, top, 0, self.routes))
    }

    /// The one next hop of all addresses of a prefix, `Some(None)` if they have none.
    ///
    /// `None` if a longer route in the prefix may give addresses a different next hop.
    pub(crate) fn only_next_hop(&self, prefix: Prefix<F>) -> Option<Option<NextHopId>> {
        let (above, top) = self.trie.around(&self.trie.top(), prefix);
        let inherited = above.map(|route| route.next_hop);
        match top {
            None => Some(inherited),
            Some(top) if top.len() > prefix.len() || self.trie.has_longer(&top) => None,
            Some(top) => Some(self.trie.next_hop_at(&top).or(inherited)),
        }
    }

    /// The whole table as a block to expand into leaf-pushed slots.
    #[doc(hidden)]
    #[must_use]
    pub fn root_block(&self) -> Block<'_, F> {
        Block::root(&self.trie)
    }

    /// The greatest next-hop id in the table, 0 if it is empty. O(routes).
    pub fn max_next_hop(&self) -> u32 {
        self.iter().map(|route| route.next_hop.get()).max().unwrap_or(0)
    }

    /// Bytes of memory held, unused capacity included.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Prefix, Rib, Route};
    /// let next_hop = NextHopId::new(1).unwrap();
    /// let routes = (0..10_000).map(|i| Prefix::from_bits_masked(i << 8, 24));
    /// let rib: Rib<Ipv4> = routes.map(|prefix| Route { prefix, next_hop }).collect();
    /// assert!(rib.memory_bytes() < 16 * rib.len());
    /// ```
    pub fn memory_bytes(&self) -> usize {
        self.trie.bytes()
    }

    /// Rebuilds the storage in address order and frees unused memory. O(routes).
    ///
    /// The table does this by itself when more than half of the storage is unused.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Prefix, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// let prefixes = || (0..10_000).map(|i| Prefix::from_bits_masked(i << 8, 24));
    /// for prefix in prefixes() {
    ///     rib.insert(prefix, NextHopId::new(1).unwrap())?;
    /// }
    /// prefixes().skip(10).for_each(|prefix| drop(rib.remove(prefix)));
    /// let before = rib.memory_bytes();
    /// rib.compact();
    /// assert!(rib.memory_bytes() < before / 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compact(&mut self) {
        self.trie = self.trie.compacted();
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

/// The table holds as many routes as its limit allows; it is unchanged.
///
/// ```
/// use longmatch::{Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::with_route_limit(0);
/// let full = rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap()).unwrap_err();
/// assert_eq!(full.limit, 0);
/// assert_eq!(full.to_string(), "the table is full: its limit is 0 routes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
