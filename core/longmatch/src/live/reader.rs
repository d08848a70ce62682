//! The read side of live tables.

use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;

use super::reclaim::ReaderSlot;
use super::shared::Shared;
use crate::fib::LiveFib;
use crate::net::Family;

/// Looks up addresses in a table while a [`Writer`](super::Writer) updates it.
///
/// Each reading thread has its own reader; a clone is another reader.
///
/// ```
/// use longmatch::live::Writer;
/// use longmatch::{EngineKind, Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let writer = Writer::new(rib, EngineKind::Folio)?;
/// let reader = writer.reader();
/// std::thread::scope(|scope| {
///     for mut reader in [reader.clone(), reader] {
///         let inside = "10.1.2.3".parse().unwrap();
///         scope.spawn(move || assert_eq!(reader.pin().lookup(inside), NextHopId::new(1)));
///     }
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reader<F: Family> {
    slot: ReaderSlot<Shared<LiveFib<F>>>,
}

impl<F: Family> Reader<F> {
    pub(super) fn new(shared: Arc<Shared<LiveFib<F>>>) -> Self {
        Self { slot: ReaderSlot::new(shared) }
    }

    /// Pins the current table for some lookups: a batch, or a handful.
    ///
    /// Costs a fence, some nanoseconds. Memory that the writer retires is not reused before the
    /// guard is dropped, so do not hold it for long.
    ///
    /// ```
    /// use longmatch::live::Writer;
    /// use longmatch::{EngineKind, Ipv4, Rib};
    /// let writer = Writer::new(Rib::<Ipv4>::new(), EngineKind::Folio)?;
    /// let mut reader = writer.reader();
    /// let mut hops = [None; 2];
    /// reader.pin().lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
    /// assert_eq!(hops, [None, None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn pin(&mut self) -> Guard<'_, F> {
        self.slot.enter();
        // SAFETY: entered; the guard borrows the reader, and leaves when it is dropped.
        let fib = unsafe { self.slot.shared().current() };
        Guard { slot: &self.slot, fib }
    }

    /// Goes online for many batches, without a fence per batch.
    ///
    /// For threads that do little but look up: they call [`OnlineReader::quiescent`] between
    /// batches.
    ///
    /// ```
    /// use longmatch::live::Writer;
    /// use longmatch::{EngineKind, Ipv4, Rib};
    /// let writer = Writer::new(Rib::<Ipv4>::new(), EngineKind::Folio)?;
    /// let mut reader = writer.reader();
    /// let mut online = reader.online();
    /// let mut hops = [None; 2];
    /// for packets in [[0x0a01_0203, 0x0a01_0204], [0xc000_0201, 0xc000_0202]] {
    ///     online.table().lookup_batch(&packets, &mut hops);
    ///     online.quiescent();
    /// }
    /// assert_eq!(hops, [None, None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn online(&mut self) -> OnlineReader<'_, F> {
        self.slot.enter();
        OnlineReader { slot: &self.slot }
    }
}

impl<F: Family> Clone for Reader<F> {
    fn clone(&self) -> Self {
        Self::new(self.slot.shared().clone())
    }
}

impl<F: Family> fmt::Debug for Reader<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

/// A pinned table; see [`Reader::pin`].
///
/// With an engine that is compiled again for each commit, the guard shows one version. With a
/// patched engine, each address is answered by a version that is current during the lookup, and
/// later lookups of the address by that version or a later one.
///
/// A guard that is leaked (see [`core::mem::forget`]) remains in force until its reader pins again or
/// is dropped.
///
/// ```
/// use longmatch::live::Writer;
/// use longmatch::{Change, EngineKind, Ipv4, NextHopId, Rib, Route};
/// let mut writer = Writer::new(Rib::<Ipv4>::new(), EngineKind::Spider)?;
/// let mut reader = writer.reader();
/// let before = reader.pin();
/// let (prefix, next_hop) = ("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap());
/// writer.apply(Change::Announce(Route { prefix, next_hop }))?;
/// writer.commit()?;
/// // Spider is compiled again, so the guard shows the version that it has pinned.
/// assert_eq!(before.lookup("10.1.2.3".parse()?), None);
/// drop(before);
/// assert_eq!(reader.pin().lookup("10.1.2.3".parse()?), Some(next_hop));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a guard that is dropped at once pins the table for no lookup"]
pub struct Guard<'r, F: Family> {
    slot: &'r ReaderSlot<Shared<LiveFib<F>>>,
    fib: &'r LiveFib<F>,
}

impl<F: Family> Deref for Guard<'_, F> {
    type Target = LiveFib<F>;

    #[inline]
    fn deref(&self) -> &LiveFib<F> {
        self.fib
    }
}

impl<F: Family> Drop for Guard<'_, F> {
    #[inline]
    fn drop(&mut self) {
        self.slot.leave();
    }
}

/// A reader that is online across batches; see [`Reader::online`].
///
/// Until [`OnlineReader::quiescent`] or its drop, no memory that the writer retires is reused.
///
/// ```
/// use longmatch::live::Writer;
/// use longmatch::{Change, EngineKind, Ipv4, NextHopId, Rib, Route};
/// let mut writer = Writer::new(Rib::<Ipv4>::new(), EngineKind::Folio)?;
/// let mut reader = writer.reader();
/// let mut online = reader.online();
/// let (prefix, next_hop) = ("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap());
/// writer.apply(Change::Announce(Route { prefix, next_hop }))?;
/// writer.commit()?;
/// assert_eq!(online.table().lookup("10.1.2.3".parse()?), Some(next_hop));
/// online.quiescent();
/// assert_eq!(writer.reclaim(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a reader that is dropped at once goes offline again"]
pub struct OnlineReader<'r, F: Family> {
    slot: &'r ReaderSlot<Shared<LiveFib<F>>>,
}

impl<F: Family> OnlineReader<'_, F> {
    /// The current table.
    ///
    /// ```
    /// use longmatch::live::Writer;
    /// use longmatch::{EngineKind, Ipv4, Rib};
    /// let writer = Writer::new(Rib::<Ipv4>::new(), EngineKind::Folio)?;
    /// let mut reader = writer.reader();
    /// let online = reader.online();
    /// assert_eq!(online.table().name(), "folio");
    /// assert_eq!(online.table().lookup("10.1.2.3".parse()?), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn table(&self) -> &LiveFib<F> {
        // SAFETY: the reader is online; the result borrows `self`, so neither `quiescent` nor
        // the drop comes before its end.
        unsafe { self.slot.shared().current() }
    }

    /// Announces a quiescent state, in which no part of the table is held. A load and a store.
    ///
    /// Call it between batches.
    ///
    /// ```
    /// use longmatch::live::Writer;
    /// use longmatch::{Change, EngineKind, Ipv4, NextHopId, Rib, Route};
    /// let mut writer = Writer::new(Rib::<Ipv4>::new(), EngineKind::Spider)?;
    /// let mut reader = writer.reader();
    /// let mut online = reader.online();
    /// let (prefix, next_hop) = ("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap());
    /// writer.apply(Change::Announce(Route { prefix, next_hop }))?;
    /// writer.commit()?;
    /// assert!(writer.reclaim() > 0, "the reader may still read the old table");
    /// online.quiescent();
    /// assert_eq!(writer.reclaim(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn quiescent(&mut self) {
        self.slot.quiescent();
    }
}

impl<F: Family> Drop for OnlineReader<'_, F> {
    #[inline]
    fn drop(&mut self) {
        self.slot.leave();
    }
}
