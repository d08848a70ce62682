//! Many tables that share one compiled structure.

mod frozen;
pub(super) mod nodes;
pub(super) mod own;

pub use frozen::FrozenTableSet;
pub(super) use frozen::SetLookups;

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;

use hashbrown::HashMap;

use self::nodes::Node;
use self::own::OwnRoutes;
use super::live::TableSetWriter;
use super::lookups::canonical;
use super::route_ids::renamed;
use super::{InsertError, TableSpec};
use crate::engine::CompileError;
use crate::net::{Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, Prefix};
use crate::rib::{Rib, RibFull};

/// Many tables of both families that share one compiled structure: VRFs, tenants, policies.
///
/// A route is one table's own, or shared by all tables. The longest prefix wins, own or shared; of
/// the same prefix, the table's own route.
///
/// The prefixes of all tables are compiled once, however many tables have them: an own route takes
/// 15 bytes. A lookup finds the longest prefix of any table, then goes up through the prefixes that cover it until one
/// has a shared route or a route of the table. So it takes as many steps as longer prefixes of other
/// tables cover the address and shared routes end the walk: one or two where tables have most of
/// their prefixes in common, and at most 33 (IPv4) or 129 (IPv6).
///
/// IPv4-mapped IPv6 prefixes and addresses mean the IPv4 ones. Equal values are stored once.
///
/// ```
/// use longmatch::table::TableSet;
/// use longmatch::{EngineKind, IpPrefix};
/// let (any, lan): (IpPrefix, IpPrefix) = ("0.0.0.0/0".parse()?, "10.0.0.0/8".parse()?);
/// let mut set = TableSet::new();
/// set.insert_shared(any, "internet")?;
/// set.insert("red", lan, "red office")?;
/// set.insert("blue", lan, "blue office")?;
///
/// let set = set.freeze(EngineKind::Auto)?;
/// assert_eq!(set.lookup(set.table("red"), [10, 1, 2, 3]), Some(&"red office"));
/// assert_eq!(set.lookup(set.table("blue"), [10, 1, 2, 3]), Some(&"blue office"));
/// assert_eq!(set.lookup(set.table("blue"), [192, 0, 2, 1]), Some(&"internet"));
/// assert_eq!(set.lookup(set.table("green"), [10, 1, 2, 3]), Some(&"internet"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableSet<K, T> {
    tables: HashMap<K, TableId>,
    /// The prefixes of all tables, with their nodes.
    ipv4: Rib<Ipv4>,
    ipv6: Rib<Ipv6>,
    /// The routes at each node; the first is unused.
    nodes: Vec<NodeRoutes>,
    free: Vec<NextHopId>,
    own: OwnRoutes,
    /// Entries of `own` that are not empty.
    taken: usize,
    values: NextHops<T>,
}

/// A set as a writer takes it over, with the prefixes and nodes of lookups.
pub(super) struct Parts<K, T> {
    pub tables: HashMap<K, TableId>,
    pub ipv4: Rib<Ipv4>,
    pub ipv6: Rib<Ipv6>,
    pub nodes: Vec<Node>,
    /// Number of tables with their own route, by node; those of values are not in it.
    pub owned: Vec<u32>,
    pub own: OwnRoutes,
    pub taken: usize,
    pub values: NextHops<T>,
}

/// The routes at a node.
#[derive(Clone, Copy, Default)]
struct NodeRoutes {
    /// The value of the shared route, or 0.
    shared: u32,
    /// Number of tables with their own route.
    own: u32,
}

/// A table of a [`TableSet`]; see [`FrozenTableSet::table`].
///
/// ```
/// use longmatch::table::{TableId, TableSet};
/// let set = TableSet::<&str, u8>::new().freeze(longmatch::EngineKind::Auto)?;
/// assert_eq!(set.table("red"), TableId::SHARED);
/// # Ok::<(), longmatch::CompileError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct TableId(pub(super) u32);

impl TableId {
    /// The table that has the shared routes alone.
    pub const SHARED: Self = Self(0);
}

impl<K: Hash + Eq, T: Hash + Eq> Default for TableSet<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Hash + Eq, T: Hash + Eq> TableSet<K, T> {
    /// A set without routes.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tables: HashMap::new(),
            ipv4: Rib::new(),
            ipv6: Rib::new(),
            nodes: alloc::vec![NodeRoutes::default()],
            free: Vec::new(),
            own: OwnRoutes::new(0),
            taken: 0,
            values: NextHops::new(),
        }
    }

    /// Adds a route of one table, or replaces its value; returns the old value. O(1) expected,
    /// and the time of [`Rib::insert`].
    ///
    /// The old value is readable until the next change.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::table::TableSet;
    /// let mut set = TableSet::new();
    /// let lan: IpPrefix = "10.0.0.0/8".parse()?;
    /// assert_eq!(set.insert("red", lan, 1)?, None);
    /// assert_eq!(set.insert("red", lan, 2)?, Some(&1));
    /// assert_eq!(set.insert("blue", lan, 3)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the prefixes of all tables, or the values, are too many; the routes are then unchanged.
    pub fn insert(
        &mut self,
        table: K,
        prefix: impl Into<IpPrefix>,
        value: T,
    ) -> Result<Option<&T>, InsertError> {
        let next = u32::try_from(self.tables.len() + 1)
            .map_err(|_| RibFull { limit: self.tables.len() })?;
        let table = *self.tables.entry(table).or_insert(TableId(next));
        self.put(table, prefix.into(), value)
    }

    /// Adds a route that every table has, or replaces its value; returns the old value. The time
    /// of [`Rib::insert`].
    ///
    /// The old value is readable until the next change.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::table::TableSet;
    /// let mut set = TableSet::<&str, _>::new();
    /// let any: IpPrefix = "::/0".parse()?;
    /// assert_eq!(set.insert_shared(any, 1)?, None);
    /// assert_eq!(set.insert_shared(any, 2)?, Some(&1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As of [`TableSet::insert`].
    pub fn insert_shared(
        &mut self,
        prefix: impl Into<IpPrefix>,
        value: T,
    ) -> Result<Option<&T>, InsertError> {
        self.put(TableId::SHARED, prefix.into(), value)
    }

    fn put(
        &mut self,
        table: TableId,
        prefix: IpPrefix,
        value: T,
    ) -> Result<Option<&T>, InsertError> {
        self.values.reclaim();
        let id = self.values.acquire(value)?;
        let node = match canonical(prefix, false) {
            IpPrefix::V4(prefix) => {
                node_of(&mut self.ipv4, prefix, &mut self.nodes, &mut self.free)
            }
            IpPrefix::V6(prefix) => {
                node_of(&mut self.ipv6, prefix, &mut self.nodes, &mut self.free)
            }
        };
        match node {
            Ok(node) => {
                let old = self.set(table, node, id.get());
                Ok(old.and_then(|old| self.values.get(old)))
            }
            Err(full) => {
                self.values.release(id);
                self.values.reclaim();
                Err(full.into())
            }
        }
    }

    /// Sets the value of a route, or 0 for none; releases the old one and returns it.
    fn set(&mut self, table: TableId, node: NextHopId, id: u32) -> Option<NextHopId> {
        let routes = &mut self.nodes[node.get() as usize];
        let before = if table == TableId::SHARED {
            core::mem::replace(&mut routes.shared, id)
        } else {
            if self.taken >= self.own.capacity() {
                (self.own, self.taken) = self.own.rebuilt();
            }
            let own::Set { before, taken } = self.own.set(table.0, node.get(), id);
            self.taken += usize::from(taken);
            routes.own = routes.own + u32::from(id != 0) - u32::from(before != 0);
            before
        };
        let old = NextHopId::new(before);
        old.into_iter().for_each(|old| self.values.release(old));
        old
    }

    /// Removes a route of one table; returns its value, readable until the next change.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::table::TableSet;
    /// let mut set = TableSet::new();
    /// let lan: IpPrefix = "10.0.0.0/8".parse()?;
    /// set.insert("red", lan, 1)?;
    /// assert_eq!(set.remove("blue", lan), None);
    /// assert_eq!(set.remove("red", lan), Some(&1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove<Q>(&mut self, table: &Q, prefix: impl Into<IpPrefix>) -> Option<&T>
    where
        K: core::borrow::Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let table = *self.tables.get(table)?;
        self.take(table, prefix.into())
    }

    /// Removes a shared route; returns its value, readable until the next change.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::table::TableSet;
    /// let mut set = TableSet::<&str, _>::new();
    /// let any: IpPrefix = "::/0".parse()?;
    /// set.insert_shared(any, 1)?;
    /// assert_eq!(set.remove_shared(any), Some(&1));
    /// assert!(set.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove_shared(&mut self, prefix: impl Into<IpPrefix>) -> Option<&T> {
        self.take(TableId::SHARED, prefix.into())
    }

    fn take(&mut self, table: TableId, prefix: IpPrefix) -> Option<&T> {
        self.values.reclaim();
        let prefix = canonical(prefix, false);
        let node = match prefix {
            IpPrefix::V4(prefix) => self.ipv4.get(prefix),
            IpPrefix::V6(prefix) => self.ipv6.get(prefix),
        }?;
        let old = self.set(table, node, 0);
        let NodeRoutes { shared: 0, own: 0 } = self.nodes[node.get() as usize] else {
            return self.values.get(old?);
        };
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.remove(prefix),
            IpPrefix::V6(prefix) => self.ipv6.remove(prefix),
        };
        self.free.push(node);
        self.values.get(old?)
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.ipv4.is_empty() && self.ipv6.is_empty()
    }

    /// Compiles the prefixes of all tables for lookups. O(prefixes), plus the engines' compilation.
    ///
    /// Takes an engine for both families, or a [`TableSpec`], whose [`Answers`](super::Answers) have no
    /// effect.
    ///
    /// # Errors
    /// Those of [`Table::freeze`](crate::Table::freeze).
    ///
    /// ```
    /// use longmatch::table::TableSet;
    /// use longmatch::{EngineKind, IpPrefix};
    /// let mut set = TableSet::new();
    /// set.insert("red", "10.0.0.0/8".parse::<IpPrefix>()?, "red office")?;
    /// let set = set.freeze(EngineKind::Folio)?;
    /// assert_eq!(set.lookup(set.table("red"), [10, 1, 2, 3]), Some(&"red office"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn freeze(self, spec: impl Into<TableSpec>) -> Result<FrozenTableSet<K, T>, CompileError> {
        FrozenTableSet::new(self, &spec.into())
    }

    /// Compiles the prefixes of all tables for updates while readers look up; see [`crate::live`].
    ///
    /// # Errors
    /// Those of [`Table::live`](crate::Table::live).
    ///
    /// ```
    /// use longmatch::table::TableSet;
    /// use longmatch::{EngineKind, IpPrefix};
    /// let mut writer = TableSet::new().live(EngineKind::Folio)?;
    /// let mut reader = writer.reader();
    /// let red = writer.insert("red", "10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// writer.commit()?;
    /// assert_eq!(reader.pin().lookup(red, [10, 1, 2, 3]), Some(&"office"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn live(self, spec: impl Into<TableSpec>) -> Result<TableSetWriter<K, T>, CompileError> {
        let (nodes, ipv4, ipv6) = self.forest();
        let Self { tables, own, taken, values, nodes: routes, .. } = self;
        let owned = routes.into_iter().map(|routes| routes.own).collect();
        let parts = Parts { tables, ipv4, ipv6, nodes, owned, own, taken, values };
        TableSetWriter::new(parts, spec.into())
    }
}

impl<K, T> TableSet<K, T> {
    /// The nodes of lookups, and the prefixes with these nodes.
    ///
    /// A prefix without own routes has the node of its shared value, so that engines merge such prefixes.
    fn forest(&self) -> (Vec<Node>, Rib<Ipv4>, Rib<Ipv6>) {
        let mut nodes: Vec<Node> = Vec::new();
        nodes.resize_with(self.nodes.len(), Node::default);
        let mut of_values = HashMap::new();
        let ipv4 = self.with_nodes(&self.ipv4, &mut nodes, &mut of_values);
        let ipv6 = self.with_nodes(&self.ipv6, &mut nodes, &mut of_values);
        (nodes, ipv4, ipv6)
    }

    fn with_nodes<F: Family>(
        &self,
        rib: &Rib<F>,
        nodes: &mut Vec<Node>,
        of_values: &mut HashMap<u32, NextHopId>,
    ) -> Rib<F> {
        // The prefixes that cover the next one, with their nodes.
        let mut covers: Vec<(Prefix<F>, NextHopId)> = Vec::new();
        renamed(rib, |route| {
            while covers.last().is_some_and(|(cover, _)| !cover.covers(route.prefix)) {
                covers.pop();
            }
            let parent = covers.last().map(|(_, node)| *node);
            let NodeRoutes { shared, own } = self.nodes[route.next_hop.get() as usize];
            let node = if own > 0 {
                let node = Node::new(true, NextHopId::to_raw(parent), shared);
                nodes[route.next_hop.get() as usize] = node;
                route.next_hop
            } else {
                *of_values.entry(shared).or_insert_with(|| {
                    nodes.push(Node::new(false, 0, shared));
                    number(nodes.len() - 1)
                })
            };
            covers.push((route.prefix, node));
            node
        })
    }
}

/// The node of a prefix, a new one if it has none.
fn node_of<F: Family>(
    rib: &mut Rib<F>,
    prefix: Prefix<F>,
    nodes: &mut Vec<NodeRoutes>,
    free: &mut Vec<NextHopId>,
) -> Result<NextHopId, RibFull> {
    if let Some(node) = rib.get(prefix) {
        return Ok(node);
    }
    let node = free.last().copied().unwrap_or_else(|| number(nodes.len()));
    rib.insert(prefix, node)?;
    if free.pop().is_none() {
        nodes.push(NodeRoutes::default());
    }
    Ok(node)
}

/// The node with a number, which is at least 1.
fn number(node: usize) -> NextHopId {
    NextHopId::new(node as u32).expect("node 0 is unused, and there are fewer than 2^31 nodes")
}

impl<K, T> fmt::Debug for TableSet<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("TableSet");
        debug.field("tables", &self.tables.len()).field("values", &self.values.len());
        debug.field("prefixes", &(self.ipv4.len() + self.ipv6.len())).finish()
    }
}
