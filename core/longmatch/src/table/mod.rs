//! The table: prefixes of both families and values of any type.
//!
//! A [`Table`] is an ordered map like [`BTreeMap`](alloc::collections::BTreeMap) whose keys are
//! prefixes. Its methods and those of every other type here that looks up prefixes share these
//! names:
//!
//! | name | argument | answer |
//! |---|---|---|
//! | `get` | a prefix | the value of exactly this prefix |
//! | `lookup` | an address | the value of the longest prefix that covers it |
//! | `get_lpm` | an address | the same with the prefix |
//! | `cover` | an address or a prefix | all routes that cover it, shortest first |
//! | `get_lpm_prefix` | a prefix | the longest prefix that covers all of it, with its value |
//! | `get_spm` | an address or a prefix | the shortest prefix that covers it, with its value |
//! | `children` | a prefix | all routes that it covers, in order |
//! | `direct_children` | a prefix | those of them that no other covers, without its own |
//! | `range` | a range of prefixes | its routes, in order |
//!
//! Prefixes may be given as [`IpPrefix`], `Prefix<Ipv4>` or `Prefix<Ipv6>`, addresses as
//! [`IpAddr`], [`Ipv4Addr`](core::net::Ipv4Addr) or [`Ipv6Addr`](core::net::Ipv6Addr). An address
//! in place of a prefix means its host prefix, `/32` or `/128`. Readers of a live table have only
//! the lookups of addresses: they do not know the other routes.

mod addresses;
mod bulk;
mod columns;
mod entry;
mod error;
#[cfg(feature = "file")]
pub(crate) mod file;
mod frozen;
mod iter;
mod live;
mod lookups;
mod route_ids;
mod routes;
#[cfg(feature = "serde")]
mod serde;
mod sets;
mod shareable;
mod spec;
mod table_set;
mod taken;
#[cfg(test)]
mod tests;
mod value_mut;

pub use addresses::{Addresses, StridedKeys};
pub use columns::{Cell, Column, ColumnError, ColumnType, PrefixData, Row};
pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use error::InsertError;
pub use frozen::FrozenTable;
pub use iter::{IntoIter, Iter};
pub use live::{
    OnlineTableReader, OwnedTableReader, Refused, TableGuard, TableReader, TableSetGuard,
    TableSetReader, TableSetWriter, TableView, TableWriter,
};
pub use sets::UnionItem;
pub use shareable::Shareable;
pub use spec::{Answers, TableSpec};
pub use table_set::{FrozenTableSet, TableId, TableSet};
pub use value_mut::ValueMut;

use core::borrow::Borrow;
use core::hash::Hash;
use core::net::IpAddr;

use crate::engine::CompileError;
use crate::net::{Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, NextHopsFull, Prefix, Route};
use crate::rib::{Rib, RibFull};
use lookups::{RibLookups, lookup_methods};

/// An ordered map from IPv4 and IPv6 prefixes to values, with longest-prefix match.
///
/// Updating and matching cost as much as in a [`Rib`]; for many lookups [`Table::freeze`] compiles
/// the table.
///
/// Equal values are stored once, and a reference count is kept for each. So a value is changed
/// through a guard ([`Table::get_mut`]) that leaves other routes alone, an old value is returned as
/// a reference, and [`Table::insert_distinct`] takes values that cannot be hashed.
///
/// Routes with equal values have one object: a change through interior mutability (a `Cell`, a
/// `Mutex`) shows on all of them, and must not change what `Hash` and `Eq` see, as in a key of a
/// `HashMap`. [`Table::insert_distinct`] gives each route its own object.
///
/// An IPv4-mapped IPv6 address or prefix (`::ffff:192.0.2.1`) means the IPv4 one, so IPv6 routes
/// such as `::/0` do not match it; [`Table::keep_mapped`] changes that.
///
/// ```
/// use longmatch::{IpPrefix, Table};
///
/// let office: IpPrefix = "10.0.0.0/8".parse()?;
/// let lab: IpPrefix = "10.9.0.0/16".parse()?;
/// let mut sites = Table::from([(office, "office"), (lab, "lab")]);
/// sites.insert("2001:db8::/32".parse::<IpPrefix>()?, "office")?;
///
/// assert_eq!(sites.lookup([10, 9, 1, 1]), Some(&"lab"));
/// assert_eq!(sites.get_lpm([10, 8, 1, 1]), Some((office, &"office")));
/// assert_eq!(sites.lookup([192, 0, 2, 1]), None);
/// assert_eq!(sites.get(lab), Some(&"lab"));
///
/// for (prefix, site) in &sites {
///     println!("{prefix} {site}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Table<T> {
    ipv4: Rib<Ipv4>,
    ipv6: Rib<Ipv6>,
    values: NextHops<T>,
    keep_mapped: bool,
    /// The greatest number of routes of each family.
    route_limit: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Table<T> {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(usize::MAX, usize::MAX)
    }

    /// An empty table with limits on routes per family and on distinct values.
    #[must_use]
    pub fn with_limits(routes: usize, values: usize) -> Self {
        Self {
            ipv4: Rib::with_route_limit(routes),
            ipv6: Rib::with_route_limit(routes),
            values: NextHops::with_limit(values),
            keep_mapped: false,
            route_limit: routes,
        }
    }

    /// Treats IPv4-mapped IPv6 addresses and prefixes as any other IPv6 ones.
    ///
    /// Call it on an empty table: routes that are in the table keep the meaning that they have.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// use std::net::Ipv6Addr;
    /// let mut table = Table::new().keep_mapped();
    /// table.insert("::/0".parse::<IpPrefix>()?, "IPv6")?;
    /// assert_eq!(table.lookup("::ffff:10.9.1.1".parse::<Ipv6Addr>()?), Some(&"IPv6"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn keep_mapped(mut self) -> Self {
        self.keep_mapped = true;
        self
    }

    /// Number of routes of both families.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    /// Whether there is no route.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The IPv4 routes.
    #[must_use]
    pub fn ipv4(&self) -> &Rib<Ipv4> {
        &self.ipv4
    }

    /// The IPv6 routes.
    #[must_use]
    pub fn ipv6(&self) -> &Rib<Ipv6> {
        &self.ipv6
    }

    /// The distinct values, by the ids that the routes of [`Table::ipv4`] and [`Table::ipv6`] hold.
    ///
    /// A value that no route has any more is dropped at the next change.
    #[must_use]
    pub fn next_hops(&self) -> &NextHops<T> {
        &self.values
    }

    /// The value of exactly this prefix.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let table = Table::from([(office, "office")]);
    /// assert_eq!(table.get(office), Some(&"office"));
    /// assert_eq!(table.get("10.9.0.0/16".parse::<IpPrefix>()?), None);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[inline]
    pub fn get(&self, prefix: impl Into<IpPrefix>) -> Option<&T> {
        self.values.get(self.id(self.canonical(prefix.into()))?)
    }

    /// Whether there is a route of exactly this prefix.
    ///
    /// To ask whether a route covers an address, use [`Table::lookup`]: an address here means its
    /// host prefix.
    #[must_use]
    #[inline]
    pub fn contains(&self, prefix: impl Into<IpPrefix>) -> bool {
        self.id(self.canonical(prefix.into())).is_some()
    }

    lookup_methods! {
        example: "",
        longest: "See [`Rib::get_lpm`] for the cost."
    }

    fn lookups(&self) -> RibLookups<'_, NextHops<T>> {
        let Self { ipv4, ipv6, values, keep_mapped, .. } = self;
        RibLookups { ipv4, ipv6, values, keep_mapped: *keep_mapped }
    }

    /// The first route in order.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
    /// let table = Table::from([(a, 1), (b, 2)]);
    /// assert_eq!((table.first(), table.last()), (Some((a, &1)), Some((b, &2))));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn first(&self) -> Option<(IpPrefix, &T)> {
        self.iter().next()
    }

    /// The last route in order.
    pub fn last(&self) -> Option<(IpPrefix, &T)> {
        self.iter().next_back()
    }

    /// Removes the route of exactly this prefix; returns its value.
    ///
    /// The value is readable until the next change.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::from([(office, "office")]);
    /// assert_eq!(table.remove(office), Some(&"office"));
    /// assert_eq!(table.remove(office), None);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn remove(&mut self, prefix: impl Into<IpPrefix>) -> Option<&T> {
        self.values.reclaim();
        let id = match self.canonical(prefix.into()) {
            IpPrefix::V4(prefix) => self.ipv4.remove(prefix),
            IpPrefix::V6(prefix) => self.ipv6.remove(prefix),
        }?;
        self.values.release(id);
        self.values.get(id)
    }

    /// Adds a route whose value gets its own id, not shared with equal values.
    ///
    /// For types that cannot be hashed or compared. Otherwise as [`Table::insert`].
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut loads = Table::new();
    /// loads.insert_distinct("10.0.0.0/8".parse::<IpPrefix>()?, 0.5)?;
    /// assert_eq!(loads.lookup([10, 9, 1, 1]), Some(&0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a limit of the table is reached; the table is then unchanged.
    pub fn insert_distinct(
        &mut self,
        prefix: impl Into<IpPrefix>,
        value: T,
    ) -> Result<Option<&T>, InsertError> {
        self.insert_with(prefix.into(), |values| values.acquire_distinct(value))
    }

    /// Compiles both families for updates while readers look up; see [`crate::live`].
    ///
    /// Takes an engine for both families, or a [`TableSpec`], as [`Table::freeze`].
    ///
    /// # Errors
    /// Those of [`Table::freeze`].
    ///
    /// ```
    /// use longmatch::{EngineKind, IpPrefix, Table};
    /// let mut writer = Table::new().live(EngineKind::Folio)?;
    /// let mut reader = writer.reader();
    /// writer.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// writer.commit()?;
    /// assert_eq!(reader.pin().lookup([10, 1, 2, 3]), Some(&"office"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn live(self, spec: impl Into<TableSpec>) -> Result<TableWriter<T>, CompileError> {
        let Self { ipv4, ipv6, values, keep_mapped, .. } = self;
        TableWriter::new(ipv4, ipv6, values, keep_mapped, spec.into())
    }

    pub(crate) fn into_parts(self) -> (Rib<Ipv4>, Rib<Ipv6>, NextHops<T>) {
        (self.ipv4, self.ipv6, self.values)
    }

    fn insert_with(
        &mut self,
        prefix: IpPrefix,
        acquire: impl FnOnce(&mut NextHops<T>) -> Result<NextHopId, NextHopsFull>,
    ) -> Result<Option<&T>, InsertError> {
        let (_, old) = self.set_with(self.canonical(prefix), acquire)?;
        Ok(old.and_then(|old| self.values.get(old)))
    }

    /// Gives a prefix an acquired id; returns the new and the old id.
    fn set_with(
        &mut self,
        prefix: IpPrefix,
        acquire: impl FnOnce(&mut NextHops<T>) -> Result<NextHopId, NextHopsFull>,
    ) -> Result<(NextHopId, Option<NextHopId>), InsertError> {
        self.values.reclaim();
        let id = acquire(&mut self.values)?;
        match self.set_id(prefix, id) {
            Ok(old) => {
                old.into_iter().for_each(|old| self.values.release(old));
                Ok((id, old))
            }
            Err(full) => {
                self.values.release(id);
                self.values.reclaim();
                Err(full.into())
            }
        }
    }

    /// The form in which a prefix is stored.
    fn canonical(&self, prefix: IpPrefix) -> IpPrefix {
        if self.keep_mapped { prefix } else { prefix.unmapped() }
    }

    fn canonical_addr(&self, addr: IpAddr) -> IpAddr {
        if self.keep_mapped { addr } else { addr.to_canonical() }
    }

    /// The id of a stored prefix.
    fn id(&self, prefix: IpPrefix) -> Option<NextHopId> {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.get(prefix),
            IpPrefix::V6(prefix) => self.ipv6.get(prefix),
        }
    }

    /// Sets the id of a stored prefix; returns the old one. The caller counts the references.
    fn set_id(&mut self, prefix: IpPrefix, id: NextHopId) -> Result<Option<NextHopId>, RibFull> {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.insert(prefix, id),
            IpPrefix::V6(prefix) => self.ipv6.insert(prefix, id),
        }
    }

    /// Gives the route with the id `id` an id that no other route has; returns it.
    fn make_distinct(&mut self, prefix: IpPrefix, id: NextHopId) -> Result<NextHopId, NextHopsFull>
    where
        T: Clone,
    {
        self.values.reclaim();
        let own = self.values.make_distinct(id)?;
        if own != id {
            let replaced = self.set_id(prefix, own);
            debug_assert_eq!(replaced, Ok(Some(id)));
        }
        Ok(own)
    }
}

/// The prefix and the value of a route.
#[inline]
fn pair<F: Family, T>(values: &NextHops<T>, route: Route<F>) -> (IpPrefix, &T)
where
    Prefix<F>: Into<IpPrefix>,
{
    (route.prefix.into(), value(values, route.next_hop))
}

/// The value of a route's id, which has one.
#[inline]
fn value<T>(values: &NextHops<T>, id: NextHopId) -> &T {
    values.get(id).expect("the id of a route has a value")
}

impl<T> Table<T> {
    /// Adds a route or replaces its value; returns the old value.
    ///
    /// The old value is readable until the next change. A prefix never has host bits:
    /// [`IpPrefix::new`] refuses them and [`IpPrefix::masked`] clears them.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Ipv4, Prefix, Table};
    /// let mut table = Table::new();
    /// let office: Prefix<Ipv4> = "10.0.0.0/8".parse()?;
    /// assert_eq!(table.insert(office, "office")?, None);
    /// assert_eq!(table.insert(office, "lab")?, Some(&"office"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a limit of the table is reached; the table is then unchanged. The limits are those of
    /// [`Table::with_limits`], otherwise 500 million routes.
    pub fn insert(
        &mut self,
        prefix: impl Into<IpPrefix>,
        value: T,
    ) -> Result<Option<&T>, InsertError>
    where
        T: Shareable,
    {
        self.insert_with(prefix.into(), |values| values.acquire(value))
    }

    /// [`Table::insert`] from a borrowed value, copied only if it is new to the table.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut table = Table::<Box<str>>::new();
    /// table.insert_borrowed("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// table.insert_borrowed("11.0.0.0/8".parse::<IpPrefix>()?, "office")?; // allocates no text
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a limit of the table is reached; the table is then unchanged.
    pub fn insert_borrowed<Q>(
        &mut self,
        prefix: impl Into<IpPrefix>,
        value: &Q,
    ) -> Result<Option<&T>, InsertError>
    where
        T: Shareable + Borrow<Q> + for<'q> From<&'q Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.insert_with(prefix.into(), |values| values.acquire_borrowed(value))
    }

    /// Adds the route of an address and a length.
    ///
    /// ```
    /// use longmatch::Table;
    /// let mut table = Table::new();
    /// table.insert_strict([10, 0, 0, 0], 8, "office")?;
    /// assert!(table.insert_strict([10, 0, 0, 1], 8, "office").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a bit after the length is set, the length is out of range, or a limit of the table is
    /// reached. The table is then unchanged.
    pub fn insert_strict(
        &mut self,
        addr: impl Into<IpAddr>,
        len: u8,
        value: T,
    ) -> Result<Option<&T>, InsertError>
    where
        T: Shareable,
    {
        self.insert(IpPrefix::new(addr.into(), len)?, value)
    }

    /// Adds the route of an address and a length, clearing the bits after the length.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut table = Table::new();
    /// table.insert_masked([10, 9, 1, 1], 8, "office")?;
    /// assert!(table.contains("10.0.0.0/8".parse::<IpPrefix>()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the length is out of range, or a limit of the table is reached. The table is then
    /// unchanged.
    pub fn insert_masked(
        &mut self,
        addr: impl Into<IpAddr>,
        len: u8,
        value: T,
    ) -> Result<Option<&T>, InsertError>
    where
        T: Shareable,
    {
        self.insert(IpPrefix::masked(addr.into(), len)?, value)
    }
}
