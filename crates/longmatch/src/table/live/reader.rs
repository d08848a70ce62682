//! The read side of live tables with values.

use alloc::sync::Arc;
use core::fmt;
use core::net::IpAddr;
use core::ops::Deref;
use core::sync::atomic::Ordering::Acquire;
use core::sync::atomic::fence;

use super::SharedTable;
use crate::fib::LiveFib;
use crate::live::reclaim::ReaderSlot;
use crate::net::{IpPrefix, Ipv4, Ipv6, NextHopId};
use crate::table::frozen::batch_lookups;

/// Looks up addresses of both families and their values while a writer updates them.
///
/// The writer is a [`TableWriter`](super::TableWriter).
///
/// Each reading thread has its own reader; a clone is another reader.
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
    slot: ReaderSlot<SharedTable<T>>,
}

impl<T> TableReader<T> {
    pub(super) fn new(shared: Arc<SharedTable<T>>) -> Self {
        Self { slot: ReaderSlot::new(shared) }
    }

    /// Pins the tables and values for some lookups.
    ///
    /// See [`Reader::pin`](crate::live::Reader::pin).
    #[inline]
    pub fn pin(&mut self) -> TableGuard<'_, T> {
        self.slot.enter();
        // SAFETY: entered; the guard borrows the reader, and leaves when it is dropped.
        let view = unsafe { TableView::new(self.slot.shared()) };
        TableGuard { slot: &self.slot, view }
    }

    /// Goes online for many batches; see [`Reader::online`](crate::live::Reader::online).
    pub fn online(&mut self) -> OnlineTableReader<'_, T> {
        self.slot.enter();
        OnlineTableReader { slot: &self.slot }
    }
}

impl<T> Clone for TableReader<T> {
    fn clone(&self) -> Self {
        Self::new(self.slot.shared().clone())
    }
}

impl<T> fmt::Debug for TableReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TableReader")
    }
}

/// Pinned tables and values; see [`Guard`](crate::live::Guard).
pub struct TableGuard<'r, T> {
    slot: &'r ReaderSlot<SharedTable<T>>,
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
        self.slot.leave();
    }
}

/// A reader that is online across batches; see [`OnlineReader`](crate::live::OnlineReader).
pub struct OnlineTableReader<'r, T> {
    slot: &'r ReaderSlot<SharedTable<T>>,
}

impl<T> OnlineTableReader<'_, T> {
    /// The current tables and values.
    #[inline]
    pub fn table(&self) -> TableView<'_, T> {
        // SAFETY: the reader is online; the view borrows `self`, so neither `quiescent` nor the drop
        // comes before its end.
        unsafe { TableView::new(self.slot.shared()) }
    }

    /// Announces a quiescent state, in which no part of the tables is held. A load and a store.
    ///
    /// Call it between batches.
    #[inline]
    pub fn quiescent(&mut self) {
        self.slot.quiescent();
    }
}

impl<T> Drop for OnlineTableReader<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.slot.leave();
    }
}

/// The current tables, for lookups.
pub struct TableView<'r, T> {
    shared: &'r SharedTable<T>,
    ipv4: &'r LiveFib<Ipv4>,
    ipv6: &'r LiveFib<Ipv6>,
}

impl<'r, T> TableView<'r, T> {
    /// # Safety
    /// The caller is a reader online in the domain, and neither goes offline nor announces a quiescent
    /// state before the view and all that it returned are gone.
    #[inline]
    unsafe fn new(shared: &'r SharedTable<T>) -> Self {
        // SAFETY: the caller is online in the domain until the view is gone.
        let ipv4 = unsafe { shared.ipv4.current() };
        // SAFETY: the caller is online in the domain until the view is gone.
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

    batch_lookups!("TableView");

    /// The value of an id that this view has returned.
    ///
    /// An id of an earlier view may have another value by now, or none.
    #[inline]
    pub fn value(&self, id: NextHopId) -> Option<&T> {
        // A batch may have loaded the id without ordering; the fence makes visible all that the
        // writer stored before it published the id.
        fence(Acquire);
        // SAFETY: the reader is online as long as this view exists.
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

impl<T> fmt::Debug for OnlineTableReader<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table().fmt(f)
    }
}
