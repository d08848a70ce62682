//! The read side of tables with values.

use alloc::sync::Arc;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Deref;
use core::sync::atomic::Ordering::Acquire;
use core::sync::atomic::fence;

use super::SharedTable;
use crate::engine::Keys;
use crate::fib::LiveFib;
use crate::live::reclaim::Presence;
use crate::net::{IpPrefix, Ipv4, Ipv6, NextHopId};
use crate::table::in_blocks;

/// Looks up addresses of both families, and the values of their routes, while a
/// [`TableWriter`](super::TableWriter) changes them. Each thread that reads has its own; a clone is
/// another.
///
/// A reader can be sent to another thread if its values can be shared with one:
///
/// ```compile_fail,E0277
/// # use longmatch::{EngineKind, Table};
/// let table = Table::<std::rc::Rc<u8>>::new();
/// let mut reader = table.live(EngineKind::Folio).unwrap().reader();
/// std::thread::spawn(move || drop(reader.pin()));
/// ```
pub struct TableReader<T> {
    presence: Presence<SharedTable<T>>,
}

impl<T> TableReader<T> {
    pub(super) fn new(shared: Arc<SharedTable<T>>) -> Self {
        Self { presence: Presence::new(shared) }
    }

    /// Holds on to the tables and values for some lookups; see [`Reader::pin`](crate::live::Reader::pin).
    #[inline]
    pub fn pin(&mut self) -> TableGuard<'_, T> {
        self.presence.enter();
        // SAFETY: entered; the guard leaves when it is dropped.
        let view = unsafe { TableView::new(self.presence.shared()) };
        TableGuard { presence: &self.presence, view }
    }

    /// For a thread that does little else than look up; see [`Reader::stay`](crate::live::Reader::stay).
    pub fn stay(&mut self) -> TableResident<'_, T> {
        self.presence.enter();
        TableResident { presence: &self.presence }
    }
}

impl<T> Clone for TableReader<T> {
    fn clone(&self) -> Self {
        Self::new(self.presence.shared().clone())
    }
}

impl<T> fmt::Debug for TableReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TableReader")
    }
}

/// Tables and values that stay; see [`Guard`](crate::live::Guard).
pub struct TableGuard<'r, T> {
    presence: &'r Presence<SharedTable<T>>,
    view: TableView<'r, T>,
}

impl<'r, T> Deref for TableGuard<'r, T> {
    type Target = TableView<'r, T>;

    #[inline]
    fn deref(&self) -> &TableView<'r, T> {
        &self.view
    }
}

impl<T> Drop for TableGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.presence.leave();
    }
}

/// A reader that stays with the tables; see [`Resident`](crate::live::Resident).
pub struct TableResident<'r, T> {
    presence: &'r Presence<SharedTable<T>>,
}

impl<T> TableResident<'_, T> {
    /// The current tables and values.
    #[inline]
    pub fn table(&self) -> TableView<'_, T> {
        // SAFETY: entered; whoever has the result cannot report or drop this.
        unsafe { TableView::new(self.presence.shared()) }
    }

    /// Says that nothing of the tables is held. To be called between batches; a load and a store.
    #[inline]
    pub fn report(&mut self) {
        self.presence.report();
    }
}

impl<T> Drop for TableResident<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.presence.leave();
    }
}

/// The tables of a moment, to be looked up in.
pub struct TableView<'r, T> {
    shared: &'r SharedTable<T>,
    ipv4: &'r LiveFib<Ipv4>,
    ipv6: &'r LiveFib<Ipv6>,
}

impl<'r, T> TableView<'r, T> {
    /// # Safety
    /// The caller has entered the domain, and does not leave or report before the view and what it
    /// has returned are gone.
    #[inline]
    unsafe fn new(shared: &'r SharedTable<T>) -> Self {
        // SAFETY: as the caller promises.
        let ipv4 = unsafe { shared.ipv4.current() };
        // SAFETY: as above.
        let ipv6 = unsafe { shared.ipv6.current() };
        Self { shared, ipv4, ipv6 }
    }

    /// The value of the longest prefix that covers the address.
    pub fn get(&self, addr: IpAddr) -> Option<&T> {
        let host = IpPrefix::host(addr);
        let id = match if self.shared.keep_mapped { host } else { host.unmapped() } {
            IpPrefix::V4(p) => self.ipv4.lookup(p.addr()),
            IpPrefix::V6(p) => self.ipv6.lookup(p.addr()),
        };
        self.value(id?)
    }

    /// The ids of the values of many IPv4 addresses at once; see [`TableView::value`].
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    pub fn lookup_ipv4(&self, addrs: &[Ipv4Addr], out: &mut [Option<NextHopId>]) {
        in_blocks(self.ipv4, addrs, out);
    }

    /// The ids of the values of many IPv6 addresses at once, all answered by IPv6 routes, mapped
    /// ones too; see [`TableView::value`].
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    pub fn lookup_ipv6(&self, addrs: &[Ipv6Addr], out: &mut [Option<NextHopId>]) {
        in_blocks(self.ipv6, addrs, out);
    }

    /// As [`TableView::lookup_ipv4`], of addresses in any of the forms of [`Keys`].
    ///
    /// # Panics
    /// When `out` is shorter than `keys`.
    pub fn lookup_keys_ipv4<'k>(
        &self,
        keys: impl Into<Keys<'k, Ipv4>>,
        out: &mut [Option<NextHopId>],
    ) {
        self.ipv4.lookup_keys(keys, out);
    }

    /// As [`TableView::lookup_ipv6`], of addresses in any of the forms of [`Keys`].
    ///
    /// # Panics
    /// When `out` is shorter than `keys`.
    pub fn lookup_keys_ipv6<'k>(
        &self,
        keys: impl Into<Keys<'k, Ipv6>>,
        out: &mut [Option<NextHopId>],
    ) {
        self.ipv6.lookup_keys(keys, out);
    }

    /// The value of an id that this view has answered. An id of an earlier view may be another
    /// value's by now, or nobody's.
    #[inline]
    pub fn value(&self, id: NextHopId) -> Option<&T> {
        // What led to the id may have been read without ordering; what the writer did before it
        // showed the id is to be seen from here on.
        fence(Acquire);
        // SAFETY: entered, as long as this view is there.
        unsafe { self.shared.places.get(id) }
    }

    /// The IPv4 table.
    pub fn ipv4(&self) -> &LiveFib<Ipv4> {
        self.ipv4
    }

    /// The IPv6 table.
    pub fn ipv6(&self) -> &LiveFib<Ipv6> {
        self.ipv6
    }
}

impl<T> fmt::Debug for TableView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableView").field("ipv4", self.ipv4).field("ipv6", self.ipv6).finish()
    }
}

impl<T> fmt::Debug for TableGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view.fmt(f)
    }
}

impl<T> fmt::Debug for TableResident<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table().fmt(f)
    }
}
