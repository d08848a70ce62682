//! The read side of live tables with values.

use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;
use core::sync::atomic::Ordering::Acquire;
use core::sync::atomic::fence;

use super::SharedTable;
use super::ids::{RouteCell, SharedIds};
use crate::engine::Keys;
use crate::fib::LiveFib;
use crate::live::reclaim::ReaderSlot;
use crate::net::{Family, IpPrefix, Ipv4, Ipv6, NextHopId, Prefix};
use crate::table::Answers;
use crate::table::lookups::{
    FamilyLookups, Longest, Lookups, ValueLookups, lookup_methods, resolve_each,
};

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
        // SAFETY: entered; the guard borrows the reader, lends the view, and leaves when it is
        // dropped.
        let current = unsafe { Current::load(self.slot.shared()) };
        TableGuard { slot: &self.slot, view: TableView { current } }
    }

    /// Goes online for many batches; see [`Reader::online`](crate::live::Reader::online).
    pub fn online(&mut self) -> OnlineTableReader<'_, T> {
        self.slot.enter();
        OnlineTableReader { slot: &self.slot }
    }
}

impl<T> TableReader<T> {
    /// Goes online as [`TableReader::online`], and keeps the reader: the result has no lifetime, so that a
    /// binding of another language or a `struct` of your own can hold it.
    ///
    /// ```
    /// use longmatch::{EngineKind, IpPrefix, OwnedTableReader, Table};
    /// let mut table = Table::new();
    /// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// let writer = table.live(EngineKind::Folio)?;
    /// let mut reader: OwnedTableReader<&str> = writer.reader().into_online();
    /// assert_eq!(reader.table().lookup([10, 1, 2, 3]), Some(&"office"));
    /// reader.quiescent();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_online(self) -> OwnedTableReader<T> {
        self.slot.enter();
        OwnedTableReader { reader: self }
    }
}

/// A reader that is online and owns itself; see [`TableReader::into_online`].
///
/// Until [`quiescent`](Self::quiescent), [`into_reader`](Self::into_reader) or its drop, no memory that the
/// writer retires is reused. It may move to another thread between lookups.
///
/// ```
/// use longmatch::{EngineKind, Table};
/// let reader = Table::<u8>::new().live(EngineKind::Folio)?.reader().into_online();
/// assert_eq!(reader.table().lookup([10, 1, 2, 3]), None);
/// # Ok::<(), longmatch::CompileError>(())
/// ```
#[must_use = "a reader that is dropped at once goes offline again"]
pub struct OwnedTableReader<T> {
    /// Online as long as it is here; its drop leaves.
    reader: TableReader<T>,
}

impl<T> OwnedTableReader<T> {
    /// The current table, with all lookups.
    #[inline]
    pub fn table(&self) -> TableView<'_, T> {
        // SAFETY: the reader is online; the result borrows `self`, so neither `quiescent`,
        // `into_reader` nor the drop comes before its end.
        TableView { current: unsafe { Current::load(self.reader.slot.shared()) } }
    }

    /// Announces a quiescent state, in which no part of the table is held. A load and a store.
    #[inline]
    pub fn quiescent(&mut self) {
        self.reader.slot.quiescent();
    }

    /// Goes offline.
    ///
    /// ```
    /// use longmatch::{EngineKind, Table};
    /// let reader = Table::<u8>::new().live(EngineKind::Folio)?.reader().into_online();
    /// let mut reader = reader.into_reader();
    /// assert_eq!(reader.pin().lookup([10, 1, 2, 3]), None);
    /// # Ok::<(), longmatch::CompileError>(())
    /// ```
    pub fn into_reader(self) -> TableReader<T> {
        self.reader.slot.leave();
        self.reader
    }
}

impl<T> fmt::Debug for OwnedTableReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table().fmt(f)
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
    lookup_methods! {
        example: "let writer = table.live(longmatch::TableSpec::default()\
            .answers(longmatch::Answers::Routes))?;\nlet mut reader = writer.reader();\n\
            let table = reader.online();",
        longest: "A lookup in the compiled routes and a load.\n\n# Panics\nWhere ids identify \
            values: such a table's readers do not know the routes. [`Answers::Routes`] has them."
    }

    /// The current tables and values.
    #[inline]
    pub fn table(&self) -> TableView<'_, T> {
        TableView { current: self.lookups() }
    }

    /// The route of an id; see [`TableView::route`].
    pub fn route(&self, id: NextHopId) -> Option<(IpPrefix, &T)> {
        self.lookups().route(id)
    }

    #[inline]
    fn lookups(&self) -> Current<'_, T> {
        // SAFETY: the reader is online; the result borrows `self`, so neither `quiescent` nor the
        // drop comes before its end.
        unsafe { Current::load(self.slot.shared()) }
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
    /// Lent for no longer than `self` is borrowed: a guard's ends before `'r`.
    current: Current<'r, T>,
}

impl<T> TableView<'_, T> {
    lookup_methods! {
        example: "let writer = table.live(longmatch::TableSpec::default()\
            .answers(longmatch::Answers::Routes))?;\nlet mut reader = writer.reader();\n\
            let table = reader.pin();",
        longest: "A lookup in the compiled routes and a load.\n\n# Panics\nWhere ids identify \
            values: such a table's readers do not know the routes. [`Answers::Routes`] has them."
    }

    /// The route of an id that this view has returned; `None` where ids identify values.
    ///
    /// An id of an earlier view may be of another route by now, or of none.
    pub fn route(&self, id: NextHopId) -> Option<(IpPrefix, &T)> {
        self.lookups().route(id)
    }

    /// Whether ids and answers are values or routes.
    pub fn answers(&self) -> Answers {
        match self.current.shared.ids {
            SharedIds::Values(_) => Answers::Values,
            SharedIds::Routes(_) => Answers::Routes,
        }
    }

    /// The IPv4 table.
    pub fn ipv4(&self) -> &LiveFib<Ipv4> {
        self.current.ipv4
    }

    /// The IPv6 table.
    pub fn ipv6(&self) -> &LiveFib<Ipv6> {
        self.current.ipv6
    }

    #[inline]
    fn lookups(&self) -> Current<'_, T> {
        self.current
    }
}

/// The tables that were current when it was loaded.
struct Current<'r, T> {
    shared: &'r SharedTable<T>,
    ipv4: &'r LiveFib<Ipv4>,
    ipv6: &'r LiveFib<Ipv6>,
}

impl<T> Copy for Current<'_, T> {}

impl<T> Clone for Current<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'r, T> Current<'r, T> {
    /// # Safety
    /// The caller is a reader online in the domain, and neither goes offline nor announces a
    /// quiescent state before the result, its copies and all that they returned are gone.
    #[inline]
    unsafe fn load(shared: &'r SharedTable<T>) -> Self {
        // SAFETY: the caller is online in the domain until the result is gone.
        let ipv4 = unsafe { shared.ipv4.current() };
        // SAFETY: the caller is online in the domain until the result is gone.
        let ipv6 = unsafe { shared.ipv6.current() };
        Self { shared, ipv4, ipv6 }
    }

    fn route(self, id: NextHopId) -> Option<(IpPrefix, &'r T)> {
        let SharedIds::Routes(_) = self.shared.ids else { return None };
        let cell = self.cell(id)?;
        Some((cell.prefix(), &cell.value))
    }

    /// The cell of an id that identifies a route.
    ///
    /// # Panics
    /// Where ids identify values.
    #[inline]
    fn cell(self, id: NextHopId) -> Option<&'r RouteCell<T>> {
        let SharedIds::Routes(routes) = &self.shared.ids else {
            panic!("the readers of this table know no prefixes; make it with Answers::Routes")
        };
        // See `value`.
        fence(Acquire);
        // SAFETY: the reader is online as long as `self` and what it returned.
        unsafe { routes.places.get(id) }
    }

    /// The route that answers an address with an id.
    #[inline]
    fn matched<F: Family>(self, addr: F::Bits, id: NextHopId) -> Option<Longest<F, &'r T>>
    where
        Prefix<F>: Into<IpPrefix>,
    {
        let cell = self.cell(id)?;
        let prefix = Prefix::truncated(addr, cell.len);
        debug_assert_eq!(prefix.into(), cell.prefix(), "the id of another route");
        Some((prefix, &cell.value))
    }
}

impl<'r, T> ValueLookups<'r> for Current<'r, T> {
    type Answer = &'r T;

    #[inline]
    fn value(self, id: NextHopId) -> Option<&'r T> {
        let SharedIds::Values(values) = &self.shared.ids else {
            return self.cell(id).map(|cell| cell.value.as_ref());
        };
        // A batch may have loaded the id without ordering; the fence makes visible all that the
        // writer stored before it published the id.
        fence(Acquire);
        // SAFETY: the reader is online as long as `self` and what it returned.
        unsafe { values.places.get(id) }
    }
}

impl<'r, T> Lookups<'r> for Current<'r, T> {
    fn keep_mapped(self) -> bool {
        self.shared.keep_mapped
    }
}

macro_rules! live_lookups {
    ($($family:ident $fib:ident)*) => {$(
        impl<'r, T> FamilyLookups<'r, $family> for Current<'r, T> {
            fn id(self, addr: <$family as Family>::Bits) -> Option<NextHopId> {
                self.$fib.lookup_bits(addr)
            }

            fn ids(self, keys: Keys<'_, $family>, out: &mut [Option<NextHopId>]) {
                self.$fib.lookup_keys(keys, out);
            }

            fn longest(
                self,
                addr: <$family as Family>::Bits,
            ) -> Option<Longest<$family, &'r T>> {
                self.matched(addr, self.$fib.lookup_bits(addr)?)
            }

            fn longest_each(
                self,
                addrs: &[<$family as Family>::Bits],
                put: impl FnMut(usize, Option<Longest<$family, &'r T>>),
            ) {
                resolve_each::<$family, _>(self, addrs, |addr, id| self.matched::<$family>(addr, id), put);
            }
        }
    )*};
}

live_lookups!(Ipv4 ipv4 Ipv6 ipv6);

impl<T> fmt::Debug for TableView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Current { ipv4, ipv6, .. } = self.current;
        f.debug_struct("TableView").field("ipv4", ipv4).field("ipv6", ipv6).finish()
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
