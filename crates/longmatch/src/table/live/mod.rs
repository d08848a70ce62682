//! Tables of both families with values, updated while readers use them.
//!
//! Readers go from a route to an id, and from the id to a value. So an id is retired in three
//! steps, each a grace period after the one before: no route has the id; its place is emptied and
//! may get another value; the value is dropped. After the first grace period no reader reaches the
//! place through the table. After the second no reader that has the id from another source still
//! uses the value.

mod places;
mod reader;
#[cfg(test)]
mod tests;

pub use reader::{OnlineTableReader, TableGuard, TableReader, TableView};

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;

use self::places::Places;
use crate::engine::{CompileError, Corrupt};
use crate::engine::{EngineSpec, Engines};
use crate::fib::LiveFib;
use crate::live::UpdateError;
use crate::live::Writer;
use crate::live::reclaim::{Domain, HasDomain};
use crate::live::shared::{Orphaned, Shared};
use crate::mem::RetireList;
use crate::net::{
    Change, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, NextHopsFull, Outcome, Prefix, Route,
};
use crate::rib::{Rib, RibFull};
use crate::table::{InsertError, Table};

/// The state that a writer of tables shares with its readers.
struct SharedTable<T> {
    ipv4: Arc<Shared<LiveFib<Ipv4>>>,
    ipv6: Arc<Shared<LiveFib<Ipv6>>>,
    places: Places<T>,
    keep_mapped: bool,
    domain: Arc<Domain>,
    /// Values that readers may have been using when the writer ended.
    orphaned: Orphaned<RetireList<Arc<T>>>,
}

impl<T> HasDomain for SharedTable<T> {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

/// Updates a [`Table`] of values while readers use it; returned by [`Table::live`].
///
/// ```
/// use longmatch::{EngineKind, Table};
/// let mut table = Table::new();
/// table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
/// let mut writer = table.live(EngineKind::Folio)?;
/// let mut reader = writer.reader();
///
/// writer.insert("10.9.0.0/16".parse()?, "lab")?;
/// assert_eq!(reader.pin().get("10.9.1.1".parse()?), Some(&"office"));
/// writer.commit()?;
/// assert_eq!(reader.pin().get("10.9.1.1".parse()?), Some(&"lab"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableWriter<T> {
    ipv4: FamilyWriter<Ipv4>,
    ipv6: FamilyWriter<Ipv6>,
    values: NextHops<Arc<T>>,
    shared: Arc<SharedTable<T>>,
    /// Ids that no route has had since an epoch, some of them several times.
    unused: RetireList<NextHopId>,
    /// Occurrences of each id in `unused`, by its number.
    times_unused: Vec<u32>,
    /// Values that no place has had since an epoch.
    dropped: RetireList<Arc<T>>,
    retired_limit: usize,
}

/// The writer of one family and the ids of its uncommitted changes.
struct FamilyWriter<F: Engines> {
    writer: Writer<F>,
    /// The ids that routes gained since the last commit, one per gain.
    gained: Vec<NextHopId>,
    /// The ids that routes lost since the last commit, one per loss.
    lost: Vec<NextHopId>,
}

impl<F: Engines> FamilyWriter<F> {
    fn new(rib: Rib<F>, spec: EngineSpec, domain: &Arc<Domain>) -> Result<Self, CompileError> {
        let writer = Writer::in_domain(rib, spec, domain.clone())?;
        Ok(Self { writer, gained: Vec::new(), lost: Vec::new() })
    }

    /// Gives a route an id; returns its previous one.
    fn announce(
        &mut self,
        prefix: Prefix<F>,
        next_hop: NextHopId,
    ) -> Result<Option<NextHopId>, RibFull> {
        let outcome = self.writer.change(Change::Announce(Route { prefix, next_hop }))?;
        self.gained.push(next_hop);
        // A route that already had the id loses it once.
        let before = match outcome {
            Outcome::Same => Some(next_hop),
            Outcome::Replaced(before) | Outcome::Withdrawn(before) => Some(before),
            Outcome::New | Outcome::Unknown => None,
        };
        self.lost.extend(before);
        Ok(before)
    }

    fn withdraw(&mut self, prefix: Prefix<F>) -> Option<NextHopId> {
        // Any other outcome: the route was unknown.
        let Ok(Outcome::Withdrawn(before)) = self.writer.change(Change::Withdraw(prefix)) else {
            return None;
        };
        self.lost.push(before);
        Some(before)
    }

    /// Commits; appends the ids that routes lost by it to `lost`, one per loss.
    fn commit(&mut self, lost: &mut Vec<NextHopId>) -> Result<(), UpdateError> {
        let committed = self.writer.commit();
        let (these, others) = match committed {
            Ok(_) => (&mut self.lost, &mut self.gained),
            Err(_) => (&mut self.gained, &mut self.lost),
        };
        lost.append(these);
        others.clear();
        committed.map(drop)
    }

    fn roll_back(&mut self, lost: &mut Vec<NextHopId>) {
        self.writer.roll_back();
        lost.append(&mut self.gained);
        self.lost.clear();
    }
}

/// The error of a commit that was refused for one family or both.
///
/// The changes of a refused family since the last commit are undone.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Refused {
    /// The error of the IPv4 changes; `None` if they are committed.
    pub ipv4: Option<UpdateError>,
    /// The error of the IPv6 changes; `None` if they are committed.
    pub ipv6: Option<UpdateError>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.ipv4, &self.ipv6) {
            (Some(ipv4), Some(ipv6)) => write!(f, "IPv4: {ipv4}; IPv6: {ipv6}"),
            (Some(ipv4), None) => write!(f, "IPv4: {ipv4}"),
            (None, Some(ipv6)) => write!(f, "IPv6: {ipv6}"),
            (None, None) => f.write_str("nothing was refused"),
        }
    }
}

impl core::error::Error for Refused {}

impl<T> TableWriter<T> {
    pub(crate) fn new(
        ipv4: Rib<Ipv4>,
        ipv6: Rib<Ipv6>,
        values: NextHops<T>,
        keep_mapped: bool,
        spec: EngineSpec,
    ) -> Result<Self, CompileError> {
        let domain = Arc::new(Domain::new());
        let (ipv4, ipv6) = (
            FamilyWriter::new(ipv4, spec.clone(), &domain)?,
            FamilyWriter::new(ipv6, spec, &domain)?,
        );
        let places = Places::new();
        let mut values = values.map(|id, value| {
            let value = Arc::new(value);
            places.set(id, Some(value.clone()));
            value
        });
        let retired: Vec<NextHopId> = values.drain_retired().collect();
        for id in retired {
            if values.free(id).is_some() {
                places.set(id, None);
            }
        }
        let shared = SharedTable {
            ipv4: ipv4.writer.shared().clone(),
            ipv6: ipv6.writer.shared().clone(),
            places,
            keep_mapped,
            domain,
            orphaned: Orphaned::default(),
        };
        Ok(Self {
            retired_limit: crate::live::RETIRED_LIMIT,
            ipv4,
            ipv6,
            values,
            shared: Arc::new(shared),
            unused: RetireList::default(),
            times_unused: Vec::new(),
            dropped: RetireList::default(),
        })
    }

    /// Sets the retired bytes above which commits are refused: 256 MiB by default.
    ///
    /// It applies to each family's table, and to the values without the memory that they own.
    /// Retired memory grows while a reader stalls.
    pub fn set_retired_limit(&mut self, bytes: usize) {
        self.retired_limit = bytes;
        self.ipv4.writer.set_retired_limit(bytes);
        self.ipv6.writer.set_retired_limit(bytes);
    }

    /// Makes another reader.
    pub fn reader(&self) -> TableReader<T> {
        TableReader::new(self.shared.clone())
    }

    /// The IPv4 routes, including changes that are not committed yet.
    pub fn ipv4(&self) -> &Rib<Ipv4> {
        self.ipv4.writer.rib()
    }

    /// The IPv6 routes, including changes that are not committed yet.
    pub fn ipv6(&self) -> &Rib<Ipv6> {
        self.ipv6.writer.rib()
    }

    /// The value of an id that the routes hold.
    pub fn value(&self, id: NextHopId) -> Option<&T> {
        self.values.get(id).map(Arc::as_ref)
    }

    /// The value of exactly this prefix, including changes that are not committed yet.
    pub fn get(&self, prefix: IpPrefix) -> Option<&T> {
        let id = match self.canonical(prefix) {
            IpPrefix::V4(p) => self.ipv4().get(p),
            IpPrefix::V6(p) => self.ipv6().get(p),
        };
        self.value(id?)
    }

    fn canonical(&self, prefix: IpPrefix) -> IpPrefix {
        if self.shared.keep_mapped { prefix } else { prefix.unmapped() }
    }

    /// Adds a route whose value gets an id of its own, not shared with equal values.
    ///
    /// For types that cannot be hashed or compared. Otherwise as [`TableWriter::insert`].
    ///
    /// # Errors
    /// When a limit of the table is reached; nothing changes then.
    pub fn insert_distinct(
        &mut self,
        prefix: IpPrefix,
        value: T,
    ) -> Result<Option<&T>, InsertError> {
        self.insert_with(prefix, |values| values.acquire_distinct(Arc::new(value)))
    }

    fn insert_with(
        &mut self,
        prefix: IpPrefix,
        acquire: impl FnOnce(&mut NextHops<Arc<T>>) -> Result<NextHopId, NextHopsFull>,
    ) -> Result<Option<&T>, InsertError> {
        let prefix = self.canonical(prefix);
        let id = acquire(&mut self.values)?;
        self.place(id);
        let before = match prefix {
            IpPrefix::V4(prefix) => self.ipv4.announce(prefix, id),
            IpPrefix::V6(prefix) => self.ipv6.announce(prefix, id),
        };
        match before {
            Ok(before) => Ok(before.and_then(|id| self.value(id))),
            Err(error) => {
                self.lose(&[id]);
                Err(error.into())
            }
        }
    }

    /// Puts a new value into its place, before any route has its id.
    fn place(&self, id: NextHopId) {
        if !self.shared.places.is_taken(id) {
            let before = self.shared.places.set(id, self.values.get(id).cloned());
            debug_assert!(before.is_none());
        }
    }

    /// Removes the route of exactly this prefix.
    ///
    /// Its value is readable until the next commit.
    pub fn remove(&mut self, prefix: IpPrefix) -> Option<&T> {
        let before = match self.canonical(prefix) {
            IpPrefix::V4(prefix) => self.ipv4.withdraw(prefix),
            IpPrefix::V6(prefix) => self.ipv6.withdraw(prefix),
        };
        self.value(before?)
    }

    /// Makes all changes since the last commit visible to lookups that begin later.
    ///
    /// The families are committed one after the other, each as by [`Writer::commit`]; a refusal of
    /// one does not affect the other.
    ///
    /// # Errors
    /// When the engine cannot hold a family's table any more, or readers keep too much retired
    /// memory from reuse.
    pub fn commit(&mut self) -> Result<(), Refused> {
        let values = self.reclaim_values();
        if values > self.retired_limit {
            let refused = UpdateError::Retired { bytes: values, limit: self.retired_limit };
            self.roll_back();
            return Err(Refused { ipv4: Some(refused.clone()), ipv6: Some(refused) });
        }
        let mut lost = Vec::new();
        let ipv4 = self.ipv4.commit(&mut lost).err();
        let ipv6 = self.ipv6.commit(&mut lost).err();
        self.lose(&lost);
        match (&ipv4, &ipv6) {
            (None, None) => Ok(()),
            _ => Err(Refused { ipv4, ipv6 }),
        }
    }

    /// Undoes all changes since the last commit.
    pub fn roll_back(&mut self) {
        let mut lost = Vec::new();
        self.ipv4.roll_back(&mut lost);
        self.ipv6.roll_back(&mut lost);
        self.lose(&lost);
    }

    /// Releases ids that routes have lost, one per loss.
    fn lose(&mut self, ids: &[NextHopId]) {
        if ids.is_empty() {
            return;
        }
        ids.iter().for_each(|id| self.values.release(*id));
        for id in self.values.drain_retired() {
            let at = id.get() as usize;
            if self.times_unused.len() <= at {
                self.times_unused.resize(at + 1, 0);
            }
            self.times_unused[at] += 1;
            self.unused.push(id, size_of::<T>());
        }
        self.seal();
    }

    fn seal(&mut self) {
        let epoch = self.shared.domain().advance();
        self.unused.seal(epoch);
        self.dropped.seal(epoch);
    }

    /// Reuses or frees memory that no reader can reach.
    ///
    /// Returns the retired bytes that remain.
    ///
    /// The bytes do not include memory that values own. Each commit calls it.
    pub fn reclaim(&mut self) -> usize {
        let tables = self.ipv4.writer.reclaim() + self.ipv6.writer.reclaim();
        tables + self.reclaim_values()
    }

    fn reclaim_values(&mut self) -> usize {
        let oldest = self.shared.domain().oldest();
        let mut emptied = false;
        while let Some(id) = self.unused.pop(oldest) {
            let times = &mut self.times_unused[id.get() as usize];
            *times -= 1;
            // Routes may have gained the id again since, and lost it again.
            if *times == 0 && self.values.free(id).is_some() {
                let value = self.shared.places.set(id, None);
                value.into_iter().for_each(|value| self.dropped.push(value, size_of::<T>()));
                emptied = true;
            }
        }
        if emptied {
            self.seal();
        }
        let oldest = self.shared.domain().oldest();
        while self.dropped.pop(oldest).is_some() {}
        self.unused.bytes() + self.dropped.bytes()
    }

    /// Verifies both tables against their invariants and the routes, and every value.
    ///
    /// Call it when every change is committed.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self) -> Result<(), Corrupt> {
        self.ipv4.writer.check()?;
        self.ipv6.writer.check()?;
        let ids = self.ipv4().iter().map(|route| route.next_hop);
        let mut ids = ids.chain(self.ipv6().iter().map(|route| route.next_hop));
        match ids.find(|id| self.value(*id).is_none()) {
            None => Ok(()),
            Some(id) => {
                let what = alloc::format!("id {id} has a route and no value");
                Err(Corrupt { engine: "table", what })
            }
        }
    }
}

impl<T> Drop for TableWriter<T> {
    /// Readers keep the tables as they are.
    fn drop(&mut self) {
        self.reclaim_values();
        if self.dropped.bytes() > 0 {
            self.shared.orphaned.keep(core::mem::take(&mut self.dropped));
        }
    }
}

impl<T> fmt::Debug for TableWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("TableWriter");
        debug.field("ipv4", &self.ipv4.writer).field("ipv6", &self.ipv6.writer);
        debug.field("values", &self.values.len()).finish()
    }
}

impl<T: Hash + Eq> TableWriter<T> {
    /// Adds a route or replaces its value; returns the old value.
    ///
    /// The old value is readable until the next commit. Readers see the change after
    /// [`TableWriter::commit`].
    ///
    /// # Errors
    /// When a limit of the table is reached; nothing changes then.
    pub fn insert(&mut self, prefix: IpPrefix, value: T) -> Result<Option<&T>, InsertError> {
        self.insert_with(prefix, |values| acquire(values, value))
    }

    /// Replaces all routes and values, including changes that were not committed.
    ///
    /// O(routes).
    ///
    /// The new tables are compiled first; each family's becomes current with one store.
    ///
    /// # Errors
    /// Those of [`TableWriter::commit`], and when the table has too many values; routes and values
    /// are then as after the last commit.
    pub fn replace(&mut self, table: Table<T>) -> Result<(), UpdateError> {
        self.roll_back();
        self.reclaim_values();
        let mut gained = Vec::new();
        let replaced = self.try_replace(table, &mut gained);
        // A failure leaves the acquired ids unused.
        let lost = match replaced {
            Ok(ref lost) => lost,
            Err(_) => &gained,
        };
        self.lose(lost);
        replaced.map(drop)
    }

    /// Adds each acquired id to `gained`; returns the ids that routes lost.
    fn try_replace(
        &mut self,
        table: Table<T>,
        gained: &mut Vec<NextHopId>,
    ) -> Result<Vec<NextHopId>, UpdateError> {
        let (ipv4, ipv6, values) = table.into_parts();
        let mut ids: Vec<Option<NextHopId>> = Vec::new();
        for (id, value, shared) in values.into_values() {
            let new = match shared {
                true => acquire(&mut self.values, value)?,
                false => self.values.acquire_distinct(Arc::new(value))?,
            };
            gained.push(new);
            self.place(new);
            ids.resize(ids.len().max(id.get() as usize), None);
            ids[id.get() as usize - 1] = Some(new);
        }
        let new_id = |id: NextHopId| ids[id.get() as usize - 1].unwrap_or(id);
        let (ipv4, ipv6) = (renamed(&ipv4, new_id), renamed(&ipv6, new_id));
        let live4 = self.ipv4.writer.build(&ipv4)?;
        let live6 = self.ipv6.writer.build(&ipv6)?;
        // No step fails from here on.
        let mut lost = core::mem::take(gained);
        lost.extend(self.ipv4().iter().map(|route| route.next_hop));
        lost.extend(self.ipv6().iter().map(|route| route.next_hop));
        self.ipv4.writer.install(ipv4, live4);
        self.ipv6.writer.install(ipv6, live6);
        for route in self.ipv4.writer.rib().iter() {
            self.values.retain(route.next_hop);
        }
        for route in self.ipv6.writer.rib().iter() {
            self.values.retain(route.next_hop);
        }
        Ok(lost)
    }
}

/// Copies the routes with other ids.
fn renamed<F: Engines>(rib: &Rib<F>, id: impl Fn(NextHopId) -> NextHopId) -> Rib<F> {
    rib.iter().map(|route| Route { next_hop: id(route.next_hop), ..route }).collect()
}

fn acquire<T: Hash + Eq>(
    values: &mut NextHops<Arc<T>>,
    value: T,
) -> Result<NextHopId, NextHopsFull> {
    match values.find::<T>(&value) {
        Some(id) => {
            values.retain(id);
            Ok(id)
        }
        None => values.acquire(Arc::new(value)),
    }
}
