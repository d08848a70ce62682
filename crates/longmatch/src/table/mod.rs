//! The table: prefixes of both families and values of any type.

mod addresses;
mod frozen;
mod live;
mod lookups;
mod route_ids;
mod spec;

pub use addresses::Addresses;
pub use frozen::FrozenTable;
pub use spec::{Answers, TableSpec};

use lookups::{RibLookups, lookup_methods};

pub use live::{OnlineTableReader, Refused, TableGuard, TableReader, TableView, TableWriter};

use alloc::boxed::Box;
use core::borrow::Borrow;
use core::fmt;
use core::hash::Hash;
use core::net::IpAddr;

use crate::engine::CompileError;
use crate::net::{
    Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, NextHopsFull, Prefix, PrefixError, Route,
};
use crate::rib::{Rib, RibFull};

/// A table from IPv4 and IPv6 prefixes to values.
///
/// Equal values are stored once; [`Table::insert_distinct`] takes values that cannot be hashed.
/// Updating and matching cost as much as in a [`Rib`]; for many lookups [`Table::freeze`] compiles
/// the table.
///
/// An IPv4-mapped IPv6 address or prefix (`::ffff:192.0.2.1`) means the IPv4 one, so IPv6 routes
/// such as `::/0` do not match it; [`Table::keep_mapped`] changes that.
///
/// ```
/// use longmatch::Table;
/// let mut table = Table::new();
/// table.insert("10.0.0.0/8".parse()?, "office")?;
/// table.insert("10.9.0.0/16".parse()?, "lab")?;
/// table.insert("2001:db8::/32".parse()?, "office")?;
///
/// let (prefix, site) = table.get_lpm([10, 9, 1, 1]).unwrap();
/// assert_eq!((prefix.to_string().as_str(), *site), ("10.9.0.0/16", "lab"));
/// let mapped: std::net::Ipv6Addr = "::ffff:10.9.1.1".parse()?;
/// assert_eq!(table.lookup(mapped), Some(&"lab"));
/// assert_eq!(table.lookup([192, 0, 2, 1]), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Table<T> {
    ipv4: Rib<Ipv4>,
    ipv6: Rib<Ipv6>,
    values: NextHops<T>,
    keep_mapped: bool,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Evaluates one expression on the RIB of a prefix's family.
macro_rules! on_family {
    ($table:expr, $prefix:expr, |$rib:ident, $p:ident| $body:expr) => {
        match $prefix {
            IpPrefix::V4($p) => {
                let $rib = $table.ipv4;
                $body
            }
            IpPrefix::V6($p) => {
                let $rib = $table.ipv6;
                $body
            }
        }
    };
}

/// References to the RIBs, for [`on_family`].
struct Ribs<A, B> {
    ipv4: A,
    ipv6: B,
}

impl<T> Table<T> {
    /// An empty table.
    pub fn new() -> Self {
        Self::with_limits(usize::MAX, usize::MAX)
    }

    /// An empty table with limits on routes per family and on distinct values.
    pub fn with_limits(routes: usize, values: usize) -> Self {
        Self {
            ipv4: Rib::with_route_limit(routes),
            ipv6: Rib::with_route_limit(routes),
            values: NextHops::with_limit(values),
            keep_mapped: false,
        }
    }

    /// Treats IPv4-mapped IPv6 addresses and prefixes as any other IPv6 ones.
    #[must_use]
    pub fn keep_mapped(mut self) -> Self {
        self.keep_mapped = true;
        self
    }

    /// Number of routes of both families.
    pub fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The IPv4 routes.
    pub fn ipv4(&self) -> &Rib<Ipv4> {
        &self.ipv4
    }

    /// The IPv6 routes.
    pub fn ipv6(&self) -> &Rib<Ipv6> {
        &self.ipv6
    }

    /// The values, by the ids that the routes hold.
    pub fn values(&self) -> &NextHops<T> {
        &self.values
    }

    /// The value of exactly this prefix.
    pub fn get(&self, prefix: IpPrefix) -> Option<&T> {
        let id = on_family!(self.ribs(), self.canonical(prefix), |rib, p| rib.get(p))?;
        self.values.get(id)
    }

    lookup_methods! {
        example: "",
        longest: "See [`Rib::get_lpm`] for the cost."
    }

    /// The value of an id that the routes hold.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut table = Table::new();
    /// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// let id = table.ipv4().lookup("10.1.2.3".parse()?).unwrap();
    /// assert_eq!(table.value(id), Some(&"office"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value(&self, id: NextHopId) -> Option<&T> {
        self.values.get(id)
    }

    fn lookups(&self) -> RibLookups<'_, NextHops<T>> {
        let Self { ipv4, ipv6, values, keep_mapped } = self;
        RibLookups { ipv4, ipv6, values, keep_mapped: *keep_mapped }
    }

    /// Every prefix that covers `prefix`, itself included, with its value.
    ///
    /// Shortest first.
    ///
    /// For an address use `cover(IpPrefix::host(addr))`.
    pub fn cover(&self, prefix: IpPrefix) -> Entries<'_, T> {
        on_family!(self.ribs(), self.canonical(prefix), |rib, p| self.entries(rib.cover(p)))
    }

    /// Every prefix that `prefix` covers, itself included, with its value, in order.
    pub fn children(&self, prefix: IpPrefix) -> Entries<'_, T> {
        on_family!(self.ribs(), self.canonical(prefix), |rib, p| self.entries(rib.children(p)))
    }

    /// Whether a route covers any address of `prefix`.
    pub fn overlaps(&self, prefix: IpPrefix) -> bool {
        self.cover(prefix).next().is_some() || self.children(prefix).next().is_some()
    }

    /// Every prefix with its value, in order, IPv4 first.
    pub fn iter(&self) -> Entries<'_, T> {
        let ipv4 = self.ipv4.iter().filter_map(|route| self.entry(route));
        Entries(Box::new(ipv4.chain(self.entries(self.ipv6.iter()))))
    }

    /// Removes the route of exactly this prefix.
    ///
    /// Its value is readable until the next change.
    pub fn remove(&mut self, prefix: IpPrefix) -> Option<&T> {
        self.values.reclaim();
        let prefix = self.canonical(prefix);
        let id = on_family!(self.ribs_mut(), prefix, |rib, p| rib.remove(p))?;
        self.values.release(id);
        self.values.get(id)
    }

    /// Adds a route whose value gets an id of its own, not shared with equal values.
    ///
    /// For types that cannot be hashed or compared. Otherwise as [`Table::insert`].
    ///
    /// # Errors
    /// When a limit of the table is reached; the table is then unchanged.
    pub fn insert_distinct(
        &mut self,
        prefix: IpPrefix,
        value: T,
    ) -> Result<Option<&T>, InsertError> {
        self.insert_with(prefix, |values| values.acquire_distinct(value))
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
        let Self { ipv4, ipv6, values, keep_mapped } = self;
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
        self.values.reclaim();
        let prefix = self.canonical(prefix);
        let id = acquire(&mut self.values)?;
        match on_family!(self.ribs_mut(), prefix, |rib, p| rib.insert(p, id)) {
            Ok(None) => Ok(None),
            Ok(Some(old)) => {
                self.values.release(old);
                Ok(self.values.get(old))
            }
            Err(full) => {
                self.values.release(id);
                self.values.reclaim();
                Err(full.into())
            }
        }
    }

    fn canonical(&self, prefix: IpPrefix) -> IpPrefix {
        if self.keep_mapped { prefix } else { prefix.unmapped() }
    }

    fn ribs(&self) -> Ribs<&Rib<Ipv4>, &Rib<Ipv6>> {
        Ribs { ipv4: &self.ipv4, ipv6: &self.ipv6 }
    }

    fn ribs_mut(&mut self) -> Ribs<&mut Rib<Ipv4>, &mut Rib<Ipv6>> {
        Ribs { ipv4: &mut self.ipv4, ipv6: &mut self.ipv6 }
    }

    fn entry<F: Family>(&self, route: Route<F>) -> Option<(IpPrefix, &T)>
    where
        Prefix<F>: Into<IpPrefix>,
    {
        Some((route.prefix.into(), self.values.get(route.next_hop)?))
    }

    fn entries<'t, F: Family>(
        &'t self,
        routes: impl Iterator<Item = Route<F>> + 't,
    ) -> Entries<'t, T>
    where
        Prefix<F>: Into<IpPrefix>,
    {
        Entries(Box::new(routes.filter_map(|route| self.entry(route))))
    }
}

impl<T: Hash + Eq> Table<T> {
    /// Adds a route or replaces its value; returns the old value.
    ///
    /// The old value is readable until the next change. A prefix never has host bits:
    /// [`IpPrefix::new`] refuses them and [`IpPrefix::masked`] clears them.
    ///
    /// # Errors
    /// When a limit of the table is reached; the table is then unchanged.
    pub fn insert(&mut self, prefix: IpPrefix, value: T) -> Result<Option<&T>, InsertError> {
        self.insert_with(prefix, |values| values.acquire(value))
    }

    /// [`Table::insert`] from a borrowed value, copied only if it is new to the table.
    ///
    /// # Errors
    /// When a limit of the table is reached; the table is then unchanged.
    pub fn insert_borrowed<Q>(
        &mut self,
        prefix: IpPrefix,
        value: &Q,
    ) -> Result<Option<&T>, InsertError>
    where
        T: Borrow<Q> + for<'q> From<&'q Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.insert_with(prefix, |values| values.acquire_borrowed(value))
    }

    /// Adds the route of an address and a length.
    ///
    /// # Errors
    /// When a bit after the length is set, the length is out of range, or a limit of the table is
    /// reached. The table is then unchanged.
    pub fn insert_strict(
        &mut self,
        addr: IpAddr,
        len: u8,
        value: T,
    ) -> Result<Option<&T>, InsertError> {
        self.insert(IpPrefix::new(addr, len)?, value)
    }

    /// Adds the route of an address and a length, clearing the bits after the length.
    ///
    /// # Errors
    /// When the length is out of range, or a limit of the table is reached. The table is then
    /// unchanged.
    pub fn insert_masked(
        &mut self,
        addr: IpAddr,
        len: u8,
        value: T,
    ) -> Result<Option<&T>, InsertError> {
        self.insert(IpPrefix::masked(addr, len)?, value)
    }
}

impl<T: fmt::Debug> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Prefixes with their values.
///
/// From [`Table::iter`], [`Table::cover`] and [`Table::children`].
pub struct Entries<'t, T>(Box<dyn Iterator<Item = (IpPrefix, &'t T)> + 't>);

impl<'t, T> Iterator for Entries<'t, T> {
    type Item = (IpPrefix, &'t T);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl<T> fmt::Debug for Entries<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entries")
    }
}

/// The reason why a [`crate::Table`] refused a route; the table is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InsertError {
    /// The address and the length do not make a prefix.
    Prefix(PrefixError),
    /// The table holds as many routes as its limit allows.
    Routes(RibFull),
    /// The table holds as many distinct values as its limit allows.
    NextHops(NextHopsFull),
    /// The engine of a live table does not exist for the prefix's family.
    ///
    /// [`TableSpec`] names one for each family.
    Family {
        /// The engine.
        engine: &'static str,
        /// The family.
        family: &'static str,
    },
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(error) => error.fmt(f),
            Self::Routes(error) => error.fmt(f),
            Self::NextHops(error) => error.fmt(f),
            Self::Family { engine, family } => write!(
                f,
                "{engine}: this engine does not exist for {family}; name another for this family \
                 with TableSpec"
            ),
        }
    }
}

impl core::error::Error for InsertError {}

impl From<PrefixError> for InsertError {
    fn from(error: PrefixError) -> Self {
        Self::Prefix(error)
    }
}

impl From<RibFull> for InsertError {
    fn from(error: RibFull) -> Self {
        Self::Routes(error)
    }
}

impl From<NextHopsFull> for InsertError {
    fn from(error: NextHopsFull) -> Self {
        Self::NextHops(error)
    }
}

#[cfg(test)]
mod tests {
    use core::net::IpAddr;

    use super::*;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn p(text: &str) -> IpPrefix {
        text.parse().unwrap()
    }

    fn sample() -> Table<&'static str> {
        let mut table = Table::new();
        let routes = [
            ("0.0.0.0/0", "world"),
            ("10.0.0.0/8", "office"),
            ("10.9.0.0/16", "lab"),
            ("::/0", "world6"),
            ("2001:db8::/32", "office"),
            ("::1/128", "self"),
        ];
        for (prefix, value) in routes {
            table.insert(p(prefix), value).unwrap();
        }
        table
    }

    #[test]
    fn families_do_not_collide() {
        let table = sample();
        assert_eq!(table.len(), 6);
        assert_eq!(table.values().len(), 5, "equal values are shared");
        assert_eq!(table.get_lpm(ip("0.0.0.1")), Some((p("0.0.0.0/0"), &"world")));
        assert_eq!(table.get_lpm(ip("::1")), Some((p("::1/128"), &"self")));
        assert_eq!(table.get_lpm(ip("::2")), Some((p("::/0"), &"world6")));
        assert_eq!(table.get(p("10.0.0.0/8")), Some(&"office"));
        assert_eq!(table.get(p("10.0.0.0/9")), None);
    }

    #[test]
    fn mapped_addresses_mean_ipv4_by_default() {
        let mut table = sample();
        assert_eq!(table.get_lpm(ip("::ffff:10.9.0.1")), Some((p("10.9.0.0/16"), &"lab")));
        table.insert(p("::ffff:10.0.0.0/108"), "mapped").unwrap();
        assert_eq!(table.get(p("10.0.0.0/12")), Some(&"mapped"));
        table.remove(p("0.0.0.0/0"));
        assert_eq!(table.get_lpm(ip("::ffff:192.0.2.1")), None, "::/0 does not match it");

        let mut kept = Table::new().keep_mapped();
        kept.insert(p("10.0.0.0/8"), 4).unwrap();
        kept.insert(p("::/0"), 6).unwrap();
        assert_eq!(kept.get_lpm(ip("::ffff:10.0.0.1")), Some((p("::/0"), &6)));
        let frozen = kept.freeze(crate::EngineKind::Poptrie).unwrap();
        assert_eq!(frozen.lookup(ip("::ffff:10.0.0.1")), Some(&6));
    }

    #[test]
    fn strict_and_masking_insertion() {
        let mut table = Table::new();
        assert!(table.insert_strict(ip("10.0.0.1"), 8, 1).is_err());
        assert!(table.insert_strict(ip("10.0.0.0"), 33, 1).is_err());
        assert!(table.insert_masked(ip("::1"), 129, 1).is_err());
        assert!(table.is_empty() && table.values().is_empty());
        table.insert_masked(ip("10.0.0.1"), 8, 1).unwrap();
        assert_eq!(table.get(p("10.0.0.0/8")), Some(&1));
    }

    /// The update cases "next hop replaced" and "withdrawal of an unknown prefix".
    #[test]
    fn old_values_are_returned_and_their_ids_reused() {
        let mut table = Table::new();
        table.insert(p("10.0.0.0/8"), 1.to_string()).unwrap();
        let old = table.insert(p("10.0.0.0/8"), 2.to_string()).unwrap().cloned();
        assert_eq!(old.as_deref(), Some("1"));
        assert_eq!(table.remove(p("11.0.0.0/8")), None);
        assert_eq!(table.remove(p("10.0.0.0/8")).map(String::as_str), Some("2"));
        table.insert_borrowed(p("10.0.0.0/8"), "3").unwrap();
        assert_eq!(table.values().len(), 1);
    }

    /// "An error before any write; the table unchanged; n of n usable."
    #[test]
    fn full_tables_are_unchanged() {
        let mut table = Table::with_limits(2, 2);
        table.insert(p("10.0.0.0/8"), 1).unwrap();
        table.insert(p("11.0.0.0/8"), 2).unwrap();
        assert!(matches!(table.insert(p("10.0.0.0/8"), 3), Err(InsertError::NextHops(_))));
        assert!(matches!(table.insert(p("12.0.0.0/8"), 1), Err(InsertError::Routes(_))));
        assert_eq!(table.len(), 2);
        assert_eq!(table.get(p("10.0.0.0/8")), Some(&1));
        table.insert(p("2001:db8::/32"), 2).unwrap();
        assert_eq!(table.remove(p("11.0.0.0/8")), Some(&2));
        table.insert(p("12.0.0.0/8"), 2).unwrap();
    }

    #[test]
    fn covers_children_and_overlaps() {
        let table = sample();
        let text = |entries: Entries<'_, &str>| -> Vec<String> {
            entries.map(|(prefix, _)| prefix.to_string()).collect()
        };
        let host = IpPrefix::host(ip("10.9.1.1"));
        assert_eq!(text(table.cover(host)), ["0.0.0.0/0", "10.0.0.0/8", "10.9.0.0/16"]);
        assert_eq!(text(table.children(p("10.0.0.0/7"))), ["10.0.0.0/8", "10.9.0.0/16"]);
        assert_eq!(table.iter().count(), 6);
        assert!(table.overlaps(p("2001:d00::/24")) && table.overlaps(host));
        let mut small = Table::new();
        small.insert(p("10.0.0.0/8"), ()).unwrap();
        assert!(!small.overlaps(p("11.0.0.0/8")));
        assert!(!small.overlaps(p("::/0")));
    }

    #[test]
    fn values_of_any_type() {
        let mut table = Table::new();
        table.insert_distinct(p("10.0.0.0/8"), 0.5).unwrap();
        table.insert_distinct(p("11.0.0.0/8"), f64::NAN).unwrap();
        assert_eq!(table.get_lpm(ip("10.1.1.1")).unwrap().1, &0.5);
    }
}
