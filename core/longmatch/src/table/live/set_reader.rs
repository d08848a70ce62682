//! The read side of sets of tables that change.

use alloc::sync::Arc;
use core::fmt;
use core::net::IpAddr;
use core::sync::atomic::Ordering::Acquire;
use core::sync::atomic::fence;

use super::ids::SharedCells;
use crate::engine::Compiled;
use crate::fib::LiveFib;
use crate::live::reclaim::{Domain, HasDomain, ReaderSlot};
use crate::live::shared::Shared;
use crate::net::{Ipv4, Ipv6, NextHopId};
use crate::table::addresses::Addresses;
use crate::table::table_set::nodes::{Node, Nodes};
use crate::table::table_set::own::OwnRoutes;
use crate::table::table_set::{SetLookups, TableId};

/// The nodes and the own routes that are current; both are replaced when they are full.
#[derive(Clone)]
pub(super) struct Forest {
    pub nodes: Arc<[Node]>,
    pub own: Arc<OwnRoutes>,
}

/// The state that the writer and the readers of a set share.
pub(super) struct SharedSet<T> {
    pub ipv4: Arc<Shared<LiveFib<Ipv4>>>,
    pub ipv6: Arc<Shared<LiveFib<Ipv6>>>,
    pub forest: Arc<Shared<Forest>>,
    pub values: Arc<SharedCells<T>>,
    pub domain: Arc<Domain>,
}

impl<T> HasDomain for SharedSet<T> {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

/// Looks up addresses in a set of tables while a [`TableSetWriter`](super::TableSetWriter) changes
/// it; a clone is another reader, for another thread.
///
/// ```
/// use longmatch::EngineKind;
/// use longmatch::table::{TableId, TableSet};
/// let writer = TableSet::<&str, u8>::new().live(EngineKind::Folio)?;
/// let mut reader = writer.reader().clone();
/// assert_eq!(reader.pin().lookup(TableId::SHARED, [10, 1, 2, 3]), None);
/// # Ok::<(), longmatch::CompileError>(())
/// ```
pub struct TableSetReader<T> {
    slot: ReaderSlot<SharedSet<T>>,
}

impl<T> TableSetReader<T> {
    pub(super) fn new(shared: Arc<SharedSet<T>>) -> Self {
        Self { slot: ReaderSlot::new(shared) }
    }

    /// Pins the set for some lookups: a batch, or a handful. Costs a fence.
    #[inline]
    pub fn pin(&mut self) -> TableSetGuard<'_, T> {
        self.slot.enter();
        TableSetGuard { slot: &self.slot }
    }
}

impl<T> Clone for TableSetReader<T> {
    fn clone(&self) -> Self {
        Self::new(self.slot.shared().clone())
    }
}

impl<T> fmt::Debug for TableSetReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TableSetReader")
    }
}

/// A pinned set of tables; see [`TableSetReader::pin`].
///
/// A lookup sees each change of a commit either made or not made; commits that have returned
/// before it began are made.
///
/// ```
/// use longmatch::EngineKind;
/// use longmatch::table::{TableId, TableSet};
/// let writer = TableSet::<&str, u8>::new().live(EngineKind::Folio)?;
/// let mut reader = writer.reader();
/// let guard = reader.pin();
/// assert_eq!(guard.lookup(TableId::SHARED, [10, 1, 2, 3]), None);
/// # Ok::<(), longmatch::CompileError>(())
/// ```
#[must_use = "a guard that is dropped at once pins the set for no lookup"]
pub struct TableSetGuard<'r, T> {
    slot: &'r ReaderSlot<SharedSet<T>>,
}

impl<T> TableSetGuard<'_, T> {
    fn lookups<'t>(
        &'t self,
    ) -> SetLookups<'t, dyn Compiled<Ipv4>, dyn Compiled<Ipv6>, impl Fn() -> Nodes<'t>> {
        let shared = self.slot.shared();
        // SAFETY: the reader is online until the guard is dropped, and the result borrows the guard.
        let ipv4 = unsafe { shared.ipv4.current() };
        // SAFETY: as for IPv4.
        let ipv6 = unsafe { shared.ipv6.current() };
        let nodes = || {
            // A batch may have loaded a node without ordering; the fence makes visible all that
            // the writer stored before it published the node.
            fence(Acquire);
            // SAFETY: as for IPv4.
            let forest = unsafe { shared.forest.current() };
            Nodes { nodes: &forest.nodes, own: &forest.own }
        };
        SetLookups { ipv4, ipv6, nodes }
    }

    #[inline]
    fn value(&self, id: NextHopId) -> Option<&T> {
        // SAFETY: the reader is online until the guard is dropped, and the result borrows the guard.
        unsafe { self.slot.shared().values.places.get(id) }
    }

    /// The value of the longest prefix of one table that covers the address.
    pub fn lookup(&self, table: TableId, addr: impl Into<IpAddr>) -> Option<&T> {
        self.value(self.lookups().value(table, addr.into())?)
    }

    /// Looks up many addresses: `out[i]` answers address `i` in table `i`.
    ///
    /// Entries of `out` after the last address keep their values.
    ///
    /// # Panics
    /// When `tables` or `out` is shorter than `addrs`.
    pub fn lookup_batch<'t>(
        &'t self,
        tables: &[TableId],
        addrs: impl Addresses,
        out: &mut [Option<&'t T>],
    ) {
        self.lookups().values(tables, addrs, out, |id| self.value(id));
    }
}

impl<T> Drop for TableSetGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.slot.leave();
    }
}

impl<T> fmt::Debug for TableSetGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TableSetGuard")
    }
}
