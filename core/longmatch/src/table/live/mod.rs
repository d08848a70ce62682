//! Tables of both families with values, updated while readers use them.

mod bulk;
mod ids;
mod places;
mod reader;
mod set_reader;
mod set_writer;
#[cfg(test)]
mod tests;

pub use reader::{OnlineTableReader, OwnedTableReader, TableGuard, TableReader, TableView};
pub use set_reader::{TableSetGuard, TableSetReader};
pub use set_writer::TableSetWriter;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use self::ids::{Ids, SharedIds, acquire};
use crate::engine::{CompileError, Corrupt};
use crate::engine::{EngineSpec, Engines};
use crate::fib::{LiveFib, Widen};
use crate::live::UpdateError;
use crate::live::Writer;
use crate::live::reclaim::{Domain, HasDomain};
use crate::live::shared::Shared;
use crate::net::{
    Change, Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, NextHopsFull, Outcome, Prefix, Route,
};
use crate::rib::{Rib, RibFull};
use crate::table::lookups::{RibLookups, canonical, lookup_methods};
use crate::table::routes::route_methods;
use crate::table::{Answers, InsertError, Shareable, Table, TableSpec};

/// The state that a writer of tables shares with its readers.
struct SharedTable<T> {
    ipv4: Arc<Shared<LiveFib<Ipv4>>>,
    ipv6: Arc<Shared<LiveFib<Ipv6>>>,
    ids: SharedIds<T>,
    keep_mapped: bool,
    domain: Arc<Domain>,
}

impl<T> HasDomain for SharedTable<T> {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

/// Updates a [`Table`] of values while readers use it; returned by [`Table::live`].
///
/// ```
/// use longmatch::{EngineKind, IpPrefix, Table};
/// let mut table = Table::new();
/// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
/// let mut writer = table.live(EngineKind::Folio)?;
/// let mut reader = writer.reader();
///
/// writer.insert("10.9.0.0/16".parse::<IpPrefix>()?, "lab")?;
/// assert_eq!(reader.pin().lookup([10, 9, 1, 1]), Some(&"office"));
/// writer.commit()?;
/// assert_eq!(reader.pin().lookup([10, 9, 1, 1]), Some(&"lab"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The writer's own lookups are in the routes, including changes that are not committed yet; they
/// are not compiled.
pub struct TableWriter<T> {
    ipv4: FamilyWriter<Ipv4>,
    ipv6: FamilyWriter<Ipv6>,
    ids: Ids<T>,
    shared: Arc<SharedTable<T>>,
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
    fn new(
        rib: Rib<F>,
        spec: EngineSpec,
        widen: Widen,
        domain: &Arc<Domain>,
    ) -> Result<Self, CompileError> {
        let writer = Writer::of_family(rib, spec, widen, domain.clone())?;
        Ok(Self { writer, gained: Vec::new(), lost: Vec::new() })
    }

    /// Verifies that the family has an engine.
    fn has_engine(&self) -> Result<(), InsertError> {
        let lacks = |engine| InsertError::Family { engine, family: F::NAME };
        self.writer.lacking_engine().map_or(Ok(()), |engine| Err(lacks(engine)))
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
///
/// ```
/// use longmatch::{EngineKind, IpPrefix, Table};
/// let mut writer = Table::new().live(EngineKind::Folio)?;
/// writer.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
/// match writer.commit() {
///     Ok(()) => assert_eq!(writer.len(), 1),
///     // The engine cannot hold the new routes; readers keep the old ones.
///     Err(refused) => assert!(refused.ipv4.is_some() || refused.ipv6.is_some()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        spec: TableSpec,
    ) -> Result<Self, CompileError> {
        let domain = Arc::new(Domain::new());
        let (ids, ipv4, ipv6) = Ids::new((ipv4, ipv6), values, spec.answers);
        let widen = match spec.answers {
            Answers::Values => Widen::No,
            Answers::Routes => Widen::IfNeeded,
        };
        let ipv4 = FamilyWriter::new(ipv4, spec.ipv4, widen, &domain)?;
        let ipv6 = FamilyWriter::new(ipv6, spec.ipv6, widen, &domain)?;
        let shared = SharedTable {
            ipv4: ipv4.writer.shared().clone(),
            ipv6: ipv6.writer.shared().clone(),
            ids: ids.shared(),
            keep_mapped,
            domain,
        };
        let retired_limit = crate::live::RETIRED_LIMIT;
        Ok(Self { ipv4, ipv6, ids, shared: Arc::new(shared), retired_limit })
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

    lookup_methods! {
        example: "let table = table.live(longmatch::EngineKind::Folio)?;",
        longest: "Includes changes that are not committed yet. See [`Rib::get_lpm`] for the cost."
    }

    route_methods! {
        example: "let table = table.live(longmatch::EngineKind::Folio)?;"
    }

    fn lookups(&self) -> RibLookups<'_, Ids<T>> {
        let Self { ids, shared, .. } = self;
        let keep_mapped = shared.keep_mapped;
        RibLookups { ipv4: self.ipv4(), ipv6: self.ipv6(), values: ids, keep_mapped }
    }

    fn routes(&self) -> RibLookups<'_, Ids<T>> {
        self.lookups()
    }

    /// The route that an id identifies; `None` where ids identify values.
    ///
    /// ```
    /// use longmatch::{Answers, IpPrefix, Table, TableSpec};
    /// let mut writer = Table::new().live(TableSpec::default().answers(Answers::Routes))?;
    /// writer.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// let id = writer.lookup_id([10, 1, 2, 3]).unwrap();
    /// assert_eq!(writer.route(id), Some(("10.0.0.0/8".parse()?, &"office")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn route(&self, id: NextHopId) -> Option<(IpPrefix, &T)> {
        self.ids.route(id)
    }

    /// Whether ids and answers are values or routes.
    pub fn answers(&self) -> Answers {
        self.ids.answers()
    }

    fn canonical(&self, prefix: IpPrefix) -> IpPrefix {
        canonical(prefix, self.shared.keep_mapped)
    }

    /// The id of exactly this prefix.
    fn current(&self, prefix: IpPrefix) -> Option<NextHopId> {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4().get(prefix),
            IpPrefix::V6(prefix) => self.ipv6().get(prefix),
        }
    }

    /// Adds a route whose value gets its own id, not shared with equal values.
    ///
    /// For types that cannot be hashed or compared. Otherwise as [`TableWriter::insert`].
    ///
    /// # Errors
    /// Those of [`TableWriter::insert`].
    ///
    /// ```
    /// use longmatch::{EngineKind, IpPrefix, Table};
    /// let mut writer = Table::new().live(EngineKind::Folio)?;
    /// writer.insert_distinct("10.0.0.0/8".parse::<IpPrefix>()?, 0.5)?;
    /// assert_eq!(writer.lookup([10, 1, 2, 3]), Some(&0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_distinct(
        &mut self,
        prefix: impl Into<IpPrefix>,
        value: T,
    ) -> Result<Option<&T>, InsertError> {
        self.insert_with(prefix.into(), |values| values.acquire_distinct(Arc::new(value)))
    }

    fn insert_with(
        &mut self,
        prefix: IpPrefix,
        acquire: impl FnOnce(&mut NextHops<Arc<T>>) -> Result<NextHopId, NextHopsFull>,
    ) -> Result<Option<&T>, InsertError> {
        let prefix = self.canonical(prefix);
        match prefix {
            IpPrefix::V4(_) => self.ipv4.has_engine()?,
            IpPrefix::V6(_) => self.ipv6.has_engine()?,
        }
        let current = match self.ids {
            Ids::Values(_) => None,
            Ids::Routes { .. } => self.current(prefix),
        };
        let id = self.ids.acquire(prefix, current, acquire)?;
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

    /// Removes the route of exactly this prefix.
    ///
    /// Its value is readable until the next commit.
    ///
    /// ```
    /// use longmatch::{EngineKind, IpPrefix, Table};
    /// let mut writer = Table::new().live(EngineKind::Folio)?;
    /// let prefix: IpPrefix = "10.0.0.0/8".parse()?;
    /// writer.insert(prefix, "office")?;
    /// assert_eq!(writer.remove(prefix), Some(&"office"));
    /// assert_eq!(writer.remove(prefix), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove(&mut self, prefix: impl Into<IpPrefix>) -> Option<&T> {
        let before = match self.canonical(prefix.into()) {
            IpPrefix::V4(prefix) => self.ipv4.withdraw(prefix),
            IpPrefix::V6(prefix) => self.ipv6.withdraw(prefix),
        };
        self.value(before?)
    }

    /// Makes all changes since the last commit visible to lookups that begin later.
    ///
    /// The families are committed one after the other, each at once or address by address, depending on its
    /// engine (see [`crate::live`]); a refusal of one does not affect the other.
    ///
    /// # Errors
    /// When the engine cannot hold a family's table any more, or readers keep too much retired
    /// memory from reuse.
    pub fn commit(&mut self) -> Result<(), Refused> {
        let values = self.reclaim_ids();
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
        self.ids.lose(ids, self.shared.domain());
    }

    /// Reuses or frees memory that no reader can reach.
    ///
    /// Returns the retired bytes that remain.
    ///
    /// The bytes do not include memory that values own. Each commit calls it.
    pub fn reclaim(&mut self) -> usize {
        let tables = self.ipv4.writer.reclaim() + self.ipv6.writer.reclaim();
        tables + self.reclaim_ids()
    }

    fn reclaim_ids(&mut self) -> usize {
        self.ids.reclaim(self.shared.domain())
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
        self.check_ids(self.ipv4())?;
        self.check_ids(self.ipv6())
    }

    fn check_ids<F: Family>(&self, rib: &Rib<F>) -> Result<(), Corrupt>
    where
        Prefix<F>: Into<IpPrefix>,
    {
        let wrong = |route: &Route<F>| match self.answers() {
            Answers::Values => self.value(route.next_hop).is_none(),
            Answers::Routes => {
                self.route(route.next_hop).map(|(prefix, _)| prefix) != Some(route.prefix.into())
            }
        };
        match rib.iter().find(wrong) {
            None => Ok(()),
            Some(Route { prefix, next_hop }) => {
                let what = alloc::format!("id {next_hop} does not lead to the route {prefix}");
                Err(Corrupt { engine: "table", what })
            }
        }
    }
}

impl<T> Drop for TableWriter<T> {
    /// Readers keep the tables as they are.
    fn drop(&mut self) {
        self.reclaim_ids();
        self.ids.end();
    }
}

impl<T> fmt::Debug for TableWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("TableWriter");
        debug.field("ipv4", &self.ipv4.writer).field("ipv6", &self.ipv6.writer);
        debug.field("values", &self.ids.values().len()).finish()
    }
}

impl<T> TableWriter<T> {
    /// Adds a route or replaces its value; returns the old value.
    ///
    /// The old value is readable until the next commit. Readers see the change after
    /// [`TableWriter::commit`].
    ///
    /// # Errors
    /// When a limit of the table is reached, or the engine does not exist for the prefix's family.
    /// Nothing changes then.
    ///
    /// ```
    /// use longmatch::{EngineKind, InsertError, IpPrefix, Table};
    /// let mut writer = Table::new().live(EngineKind::Sail)?;
    /// assert_eq!(writer.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office"), Ok(None));
    /// let ipv6: IpPrefix = "2001:db8::/32".parse()?;
    /// assert!(matches!(writer.insert(ipv6, "office"), Err(InsertError::Family { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert(
        &mut self,
        prefix: impl Into<IpPrefix>,
        value: T,
    ) -> Result<Option<&T>, InsertError>
    where
        T: Shareable,
    {
        self.insert_with(prefix.into(), |values| acquire(values, value))
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
    pub fn replace(&mut self, table: Table<T>) -> Result<(), UpdateError>
    where
        T: Shareable,
    {
        self.roll_back();
        self.reclaim_ids();
        let mut gained = Vec::new();
        let replaced = self.try_replace(table, &mut gained);
        self.lose(&gained);
        replaced
    }

    /// Adds each acquired reference to `gained`; leaves those to lose.
    fn try_replace(
        &mut self,
        table: Table<T>,
        gained: &mut Vec<NextHopId>,
    ) -> Result<(), UpdateError>
    where
        T: Shareable,
    {
        let (ipv4, ipv6) = self.ids.adopt(table, gained)?;
        let live4 = self.ipv4.writer.build(&ipv4)?;
        let live6 = self.ipv6.writer.build(&ipv6)?;
        // No step fails from here on.
        self.ids.settle(&ipv4, &ipv6, gained);
        gained.extend(self.ipv4().iter().map(|route| route.next_hop));
        gained.extend(self.ipv6().iter().map(|route| route.next_hop));
        self.ipv4.writer.install(ipv4, live4);
        self.ipv6.writer.install(ipv6, live6);
        Ok(())
    }
}
