//! The write side of sets of tables that change.
//!
//! A commit first gives each changed prefix its own node, under which every table answers as
//! before; then it makes the changes, one store each. So an error of an engine comes before any change.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::Hash;

use hashbrown::HashMap;

use super::Refused;
use super::ids::{Ids, SharedIds, acquire};
use super::set_reader::{Forest, SharedSet, TableSetReader};
use crate::engine::{CompileError, EngineSpec, Engines};
use crate::fib::Widen;
use crate::live::reclaim::{Domain, HasDomain};
use crate::live::shared::{Retired, Shared};
use crate::live::{RETIRED_LIMIT, UpdateError, Writer};
use crate::mem::RetireList;
use crate::net::{Change, Family, IpPrefix, Ipv4, Ipv6, NextHopId, Prefix, Route};
use crate::rib::{Rib, RibFull};
use crate::table::lookups::canonical;
use crate::table::table_set::nodes::Node;
use crate::table::table_set::{Parts, TableId};
use crate::table::{Answers, InsertError, TableSpec};

/// Changes a set of tables while readers look up; returned by
/// [`TableSet::live`](crate::table::TableSet::live).
///
/// Changes are visible to readers once they are committed. A lookup during a commit sees each of its
/// changes either made or not made.
///
/// ```
/// use longmatch::table::TableSet;
/// use longmatch::{EngineKind, IpPrefix};
/// let lan: IpPrefix = "10.0.0.0/8".parse()?;
/// let mut writer = TableSet::new().live(EngineKind::Folio)?;
/// let mut reader = writer.reader();
/// let red = writer.insert("red", lan, "office")?;
/// assert_eq!(reader.pin().lookup(red, [10, 1, 2, 3]), None);
/// writer.commit()?;
/// assert_eq!(reader.pin().lookup(red, [10, 1, 2, 3]), Some(&"office"));
/// writer.remove("red", lan);
/// writer.commit()?;
/// assert_eq!(reader.pin().lookup(red, [10, 1, 2, 3]), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableSetWriter<K, T> {
    tables: HashMap<K, TableId>,
    ipv4: Side<Ipv4>,
    ipv6: Side<Ipv6>,
    state: NodeState,
    ids: Ids<T>,
    shared: Arc<SharedSet<T>>,
}

/// The prefixes of one family, and the changes since the last commit.
struct Side<F: Engines> {
    writer: Writer<F>,
    changes: Vec<SetChange<F>>,
    /// Prefixes that had lost all routes when the last commit returned.
    empty: Vec<Prefix<F>>,
}

/// A table's route of a prefix gets the value with an id, or none.
struct SetChange<F: Family> {
    table: TableId,
    prefix: Prefix<F>,
    value: Option<NextHopId>,
}

/// The nodes of both families.
struct NodeState {
    forest: Forest,
    /// The forest as readers see it.
    shared: Arc<Shared<Forest>>,
    retired: RetireList<Retired<Forest>>,
    /// Entries of the hash of own routes that are not empty.
    taken: usize,
    /// Number of tables with their own route, by node, or [`OF_VALUE`].
    owned: Vec<u32>,
    free: Vec<NextHopId>,
    freed: RetireList<NextHopId>,
    domain: Arc<Domain>,
}

/// Mark of a node that represents prefixes with the same shared value. It never changes.
const OF_VALUE: u32 = u32::MAX;

impl NodeState {
    /// A node of its own for a prefix that has the routes of another node, or none.
    fn node(&mut self, before: Option<NextHopId>) -> NextHopId {
        let node = self.free.pop().unwrap_or_else(|| {
            self.owned.push(0);
            let node = NextHopId::new(self.owned.len() as u32 - 1);
            node.expect("node 0 is unused, and there are fewer than 2^31 nodes")
        });
        if node.get() as usize >= self.forest.nodes.len() {
            let copy = |node: &Node| Node::new(node.is_own(), node.parent(), node.shared());
            let more = self.forest.nodes.len() / 4 + 64;
            let new = core::iter::repeat_with(Node::default).take(more);
            self.forest.nodes = self.forest.nodes.iter().map(copy).chain(new).collect();
            self.publish(size_of_val(&*self.forest.nodes));
        }
        let shared = before.map_or(0, |before| self.at(before).shared());
        self.at(node).renew(shared);
        node
    }

    fn at(&self, node: NextHopId) -> &Node {
        &self.forest.nodes[node.get() as usize]
    }

    /// Whether a node is that of one prefix.
    fn is_private(&self, node: NextHopId) -> bool {
        self.owned[node.get() as usize] != OF_VALUE
    }

    fn is_empty(&self, node: NextHopId) -> bool {
        self.owned[node.get() as usize] == 0 && self.at(node).shared() == 0
    }

    /// Retires a node that no prefix has any more.
    fn retire(&mut self, node: NextHopId) {
        self.freed.push(node, size_of::<Node>());
    }

    /// Shows readers the forest; `bytes` of the one before are not in this one.
    fn publish(&mut self, bytes: usize) {
        let before = self.shared.replace(Box::new(self.forest.clone()));
        self.retired.push(before, bytes);
        self.retired.seal(self.domain.advance());
    }

    /// Makes a change at a node of one prefix; returns the value's id before.
    fn set(
        &mut self,
        table: TableId,
        node: NextHopId,
        value: Option<NextHopId>,
    ) -> Option<NextHopId> {
        let value = NextHopId::to_raw(value);
        if table == TableId::SHARED {
            return NextHopId::new(self.at(node).set_shared(value));
        }
        if self.taken >= self.forest.own.capacity() {
            let (own, taken) = self.forest.own.rebuilt();
            (self.forest.own, self.taken) = (Arc::new(own), taken);
            self.publish(self.forest.own.bytes());
        }
        if value != 0 {
            self.at(node).mark_own();
        }
        let set = self.forest.own.set(table.0, node.get(), value);
        self.taken += usize::from(set.taken);
        let owned = &mut self.owned[node.get() as usize];
        *owned = *owned + u32::from(value != 0) - u32::from(set.before != 0);
        NextHopId::new(set.before)
    }

    /// Frees memory that no reader can reach; returns the retired bytes that remain.
    fn reclaim(&mut self) -> usize {
        let oldest = self.domain.oldest();
        while let Some(node) = self.freed.pop(oldest) {
            self.free.push(node);
        }
        while self.retired.pop(oldest).is_some() {}
        self.freed.bytes() + self.retired.bytes()
    }
}

impl<F: Engines> Side<F> {
    fn new(rib: Rib<F>, spec: EngineSpec, domain: &Arc<Domain>) -> Result<Self, CompileError> {
        let writer = Writer::of_family(rib, spec, Widen::IfNeeded, domain.clone())?;
        Ok(Self { writer, changes: Vec::new(), empty: Vec::new() })
    }

    /// Makes the changes; adds the ids of values that routes have lost to `lost`.
    fn commit(
        &mut self,
        state: &mut NodeState,
        lost: &mut Vec<NextHopId>,
    ) -> Result<(), UpdateError> {
        let changes = core::mem::take(&mut self.changes);
        let moved = match self.move_to_nodes(state, &changes) {
            Ok(moved) => moved,
            Err(error) => {
                lost.extend(changes.iter().filter_map(|change| change.value));
                return Err(error);
            }
        };
        for prefix in moved {
            relink(self.writer.rib(), prefix, state);
        }
        for SetChange { table, prefix, value } in changes {
            // A prefix without a node has no route to remove.
            let Some(node) = self.writer.rib().get(prefix) else { continue };
            lost.extend(state.set(table, node, value));
            if state.is_empty(node) {
                self.empty.push(prefix);
            }
        }
        Ok(())
    }

    /// Gives changed prefixes nodes of their own, and takes those of prefixes without routes;
    /// returns the prefixes whose node is another one now.
    fn move_to_nodes(
        &mut self,
        state: &mut NodeState,
        changes: &[SetChange<F>],
    ) -> Result<Vec<Prefix<F>>, UpdateError> {
        let (mut moved, mut new, mut old) = (Vec::new(), Vec::new(), Vec::new());
        for prefix in core::mem::take(&mut self.empty) {
            let node = self.writer.rib().get(prefix);
            if let Some(node) = node.filter(|node| state.is_empty(*node)) {
                self.writer.change(Change::Withdraw(prefix))?;
                moved.push(prefix);
                old.push((prefix, node));
            }
        }
        for SetChange { prefix, value, .. } in changes {
            let (prefix, before) = (*prefix, self.writer.rib().get(*prefix));
            let none = before.is_none() && value.is_none();
            if none || before.is_some_and(|node| state.is_private(node)) {
                continue;
            }
            let node = state.node(before);
            new.push((prefix, node));
            if let Err(full) =
                self.writer.change(Change::Announce(Route { prefix, next_hop: node }))
            {
                self.writer.roll_back();
                return Err(self.give_up(state, new, old, full.into()));
            }
            moved.push(prefix);
        }
        for (prefix, node) in &new {
            state.at(*node).set_parent(above(self.writer.rib(), *prefix));
        }
        match self.writer.commit() {
            Ok(_) => {
                old.into_iter().for_each(|(_, node)| state.retire(node));
                Ok(moved)
            }
            Err(error) => Err(self.give_up(state, new, old, error)),
        }
    }

    /// Undoes the changes of a refused commit.
    fn give_up(
        &mut self,
        state: &mut NodeState,
        new: Vec<(Prefix<F>, NextHopId)>,
        old: Vec<(Prefix<F>, NextHopId)>,
        error: UpdateError,
    ) -> UpdateError {
        new.into_iter().for_each(|(_, node)| state.retire(node));
        self.empty.extend(old.into_iter().map(|(prefix, _)| prefix));
        error
    }
}

/// The node of the longest shorter prefix that covers a prefix, or 0.
fn above<F: Family>(rib: &Rib<F>, prefix: Prefix<F>) -> u32 {
    let covering = prefix.parent().and_then(|parent| rib.get_lpm_prefix(parent));
    NextHopId::to_raw(covering.map(|route| route.next_hop))
}

/// Leads the nodes right below a prefix to its node, or, where it has none, to that above it.
fn relink<F: Family>(rib: &Rib<F>, prefix: Prefix<F>, state: &NodeState) {
    let node = rib.get(prefix).map_or_else(|| above(rib, prefix), NextHopId::get);
    for route in rib.direct_children(prefix) {
        if state.is_private(route.next_hop) {
            state.at(route.next_hop).set_parent(node);
        }
    }
}

impl<K: Hash + Eq, T: Hash + Eq> TableSetWriter<K, T> {
    pub(in crate::table) fn new(parts: Parts<K, T>, spec: TableSpec) -> Result<Self, CompileError> {
        let Parts { tables, ipv4, ipv6, nodes, mut owned, own, taken, mut values } = parts;
        // The nodes of values stay, whatever routes are removed.
        for node in nodes.iter().filter(|node| !node.is_own()) {
            NextHopId::new(node.shared()).into_iter().for_each(|id| values.retain(id));
        }
        let (ids, _, _) = Ids::new((Rib::new(), Rib::new()), values, Answers::Values);
        let SharedIds::Values(cells) = ids.shared() else {
            unreachable!("made with Answers::Values")
        };
        let domain = Arc::new(Domain::new());
        let unowned = (1..).zip(&owned[1..]).filter(|(_, owned)| **owned == 0);
        let free = unowned.filter_map(|(node, _)| NextHopId::new(node)).collect();
        owned.resize(nodes.len(), OF_VALUE);
        let forest = Forest { nodes: nodes.into(), own: Arc::new(own) };
        let (ipv4, ipv6) =
            (Side::new(ipv4, spec.ipv4, &domain)?, Side::new(ipv6, spec.ipv6, &domain)?);
        let shared = SharedSet {
            ipv4: ipv4.writer.shared().clone(),
            ipv6: ipv6.writer.shared().clone(),
            forest: Shared::new(Box::new(forest.clone()), domain.clone()),
            values: cells,
            domain: domain.clone(),
        };
        let (retired, freed) = (RetireList::default(), RetireList::default());
        let seen = shared.forest.clone();
        let state = NodeState { forest, shared: seen, retired, taken, owned, free, freed, domain };
        Ok(Self { tables, ipv4, ipv6, state, ids, shared: Arc::new(shared) })
    }

    /// Adds a route of one table or replaces its value, with the next commit; returns the table.
    ///
    /// # Errors
    /// When there are too many values or tables, or no engine for the family.
    ///
    /// ```
    /// use longmatch::table::TableSet;
    /// use longmatch::{EngineKind, IpPrefix};
    /// let mut writer = TableSet::new().live(EngineKind::Folio)?;
    /// let red = writer.insert("red", "10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// writer.commit()?;
    /// assert_eq!(writer.reader().pin().lookup(red, [10, 1, 2, 3]), Some(&"office"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert(
        &mut self,
        table: K,
        prefix: impl Into<IpPrefix>,
        value: T,
    ) -> Result<TableId, InsertError> {
        let next = u32::try_from(self.tables.len() + 1);
        let next = next.map_err(|_| RibFull { limit: self.tables.len() })?;
        let table = *self.tables.entry(table).or_insert(TableId(next));
        self.put(table, prefix.into(), value)?;
        Ok(table)
    }

    /// Adds a route that every table has, or replaces its value, with the next commit.
    ///
    /// # Errors
    /// When there are too many values, or no engine for the family.
    ///
    /// ```
    /// use longmatch::table::{TableId, TableSet};
    /// use longmatch::{EngineKind, IpPrefix};
    /// let mut writer = TableSet::<&str, _>::new().live(EngineKind::Folio)?;
    /// writer.insert_shared("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// writer.commit()?;
    /// assert_eq!(writer.reader().pin().lookup(TableId::SHARED, [10, 1, 2, 3]), Some(&"office"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_shared(
        &mut self,
        prefix: impl Into<IpPrefix>,
        value: T,
    ) -> Result<(), InsertError> {
        self.put(TableId::SHARED, prefix.into(), value)
    }

    fn put(&mut self, table: TableId, prefix: IpPrefix, value: T) -> Result<(), InsertError> {
        let prefix = canonical(prefix, false);
        let (lacking, family) = match prefix {
            IpPrefix::V4(_) => (self.ipv4.writer.lacking_engine(), Ipv4::NAME),
            IpPrefix::V6(_) => (self.ipv6.writer.lacking_engine(), Ipv6::NAME),
        };
        if let Some(engine) = lacking {
            return Err(InsertError::Family { engine, family });
        }
        let id = self.ids.acquire(prefix, None, |values| acquire(values, value))?;
        self.change(table, prefix, Some(id));
        Ok(())
    }

    fn change(&mut self, table: TableId, prefix: IpPrefix, value: Option<NextHopId>) {
        match canonical(prefix, false) {
            IpPrefix::V4(prefix) => self.ipv4.changes.push(SetChange { table, prefix, value }),
            IpPrefix::V6(prefix) => self.ipv6.changes.push(SetChange { table, prefix, value }),
        }
    }

    /// Removes a route of one table, with the next commit; no change if it has none.
    ///
    /// ```
    /// use longmatch::table::TableSet;
    /// use longmatch::{EngineKind, IpPrefix};
    /// let lan: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut writer = TableSet::new().live(EngineKind::Folio)?;
    /// let red = writer.insert("red", lan, "office")?;
    /// writer.remove("red", lan);
    /// writer.commit()?;
    /// assert_eq!(writer.reader().pin().lookup(red, [10, 1, 2, 3]), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove<Q>(&mut self, table: &Q, prefix: impl Into<IpPrefix>)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if let Some(table) = self.tables.get(table).copied() {
            self.change(table, prefix.into(), None);
        }
    }

    /// Removes a shared route, with the next commit; no change if there is none.
    ///
    /// ```
    /// use longmatch::table::{TableId, TableSet};
    /// use longmatch::{EngineKind, IpPrefix};
    /// let any: IpPrefix = "0.0.0.0/0".parse()?;
    /// let mut writer = TableSet::<&str, _>::new().live(EngineKind::Folio)?;
    /// writer.insert_shared(any, "internet")?;
    /// writer.remove_shared(any);
    /// writer.commit()?;
    /// assert_eq!(writer.reader().pin().lookup(TableId::SHARED, [10, 1, 2, 3]), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove_shared(&mut self, prefix: impl Into<IpPrefix>) {
        self.change(TableId::SHARED, prefix.into(), None);
    }

    /// The table of a key; [`TableId::SHARED`] for a key that never had its own route.
    pub fn table<Q>(&self, key: &Q) -> TableId
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.tables.get(key).copied().unwrap_or(TableId::SHARED)
    }

    /// Makes the changes since the last commit visible to readers.
    ///
    /// O(1) expected for a route at a prefix that has own routes; for another prefix the time of
    /// the engine's change, and O(prefixes inside of it).
    ///
    /// # Errors
    /// When an engine, or memory that readers keep from reuse, refuses the changes of a family. These
    /// changes are dropped, and the tables answer as before.
    ///
    /// ```
    /// use longmatch::EngineKind;
    /// use longmatch::table::TableSet;
    /// let mut writer = TableSet::<&str, u8>::new().live(EngineKind::Folio)?;
    /// assert_eq!(writer.commit(), Ok(()));
    /// # Ok::<(), longmatch::CompileError>(())
    /// ```
    pub fn commit(&mut self) -> Result<(), Refused> {
        let bytes = self.state.reclaim() + self.ids.reclaim(&self.shared.domain);
        let mut lost = Vec::new();
        // A larger hash of own routes leaves one behind that may alone be larger than the limit.
        let limit = RETIRED_LIMIT + self.state.forest.own.bytes();
        let refused = if bytes > limit {
            let (ipv4, ipv6) = (&mut self.ipv4.changes, &mut self.ipv6.changes);
            lost.extend(ipv4.drain(..).filter_map(|change| change.value));
            lost.extend(ipv6.drain(..).filter_map(|change| change.value));
            let refused = Some(UpdateError::Retired { bytes, limit });
            Refused { ipv4: refused.clone(), ipv6: refused }
        } else {
            let ipv4 = self.ipv4.commit(&mut self.state, &mut lost).err();
            let ipv6 = self.ipv6.commit(&mut self.state, &mut lost).err();
            Refused { ipv4, ipv6 }
        };
        self.state.freed.seal(self.shared.domain().advance());
        self.ids.lose(&lost, &self.shared.domain);
        match refused {
            Refused { ipv4: None, ipv6: None } => Ok(()),
            refused => Err(refused),
        }
    }

    /// A reader, for one thread.
    ///
    /// ```
    /// use longmatch::EngineKind;
    /// use longmatch::table::{TableId, TableSet};
    /// let mut reader = TableSet::<&str, u8>::new().live(EngineKind::Folio)?.reader();
    /// assert_eq!(reader.pin().lookup(TableId::SHARED, [10, 1, 2, 3]), None);
    /// # Ok::<(), longmatch::CompileError>(())
    /// ```
    pub fn reader(&self) -> TableSetReader<T> {
        TableSetReader::new(self.shared.clone())
    }
}

impl<K, T> Drop for TableSetWriter<K, T> {
    fn drop(&mut self) {
        self.ids.reclaim(&self.shared.domain);
        self.ids.end();
        if self.state.reclaim() > 0 {
            let retired = core::mem::take(&mut self.state.retired);
            self.state.shared.orphaned.keep(retired);
        }
    }
}

impl<K, T> fmt::Debug for TableSetWriter<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("TableSetWriter");
        debug.field("tables", &self.tables.len());
        debug.field("ipv4", &self.ipv4.writer).field("ipv6", &self.ipv6.writer).finish()
    }
}
