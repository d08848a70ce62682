//! Operations on all routes of a table, and the traits of collections.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

use super::{Shareable, Table, value};
use crate::net::{Family, IpPrefix, NextHops, Prefix};
use crate::rib::Rib;

impl<T> Table<T> {
    /// Keeps the routes for which the function returns `true`, and removes all others.
    ///
    /// The function sees the routes in order, before the first is removed. O(routes), and memory
    /// for a list of the removed ones.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [office, lab]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let mut table = Table::from([(office, "office"), (lab, "lab")]);
    /// table.retain(|prefix, _| prefix.len() <= 8);
    /// assert_eq!(table, Table::from([(office, "office")]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(IpPrefix, &T) -> bool) {
        let ipv4 = refused(&self.ipv4, &self.values, &mut keep);
        let ipv6 = refused(&self.ipv6, &self.values, &mut keep);
        self.values.reclaim();
        remove_all(&mut self.ipv4, &mut self.values, &ipv4);
        remove_all(&mut self.ipv6, &mut self.values, &ipv6);
        self.values.reclaim();
    }

    /// Removes every route that a prefix covers, its own included; returns their number.
    ///
    /// O(routes removed).
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [office, lab]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let mut table = Table::from([(office, "office"), (lab, "lab")]);
    /// assert_eq!(table.remove_children("10.9.0.0/16".parse::<IpPrefix>()?), 1);
    /// assert_eq!(table, Table::from([(office, "office")]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn remove_children(&mut self, prefix: impl Into<IpPrefix>) -> usize {
        self.values.reclaim();
        let removed = match self.canonical(prefix.into()) {
            IpPrefix::V4(prefix) => {
                let covered: Vec<_> = self.ipv4.children(prefix).map(|r| r.prefix).collect();
                remove_all(&mut self.ipv4, &mut self.values, &covered)
            }
            IpPrefix::V6(prefix) => {
                let covered: Vec<_> = self.ipv6.children(prefix).map(|r| r.prefix).collect();
                remove_all(&mut self.ipv6, &mut self.values, &covered)
            }
        };
        self.values.reclaim();
        removed
    }

    /// Removes all routes and frees their memory. Keeps the limits and [`Table::keep_mapped`].
    pub fn clear(&mut self) {
        self.ipv4 = Rib::with_route_limit(self.route_limit);
        self.ipv6 = Rib::with_route_limit(self.route_limit);
        self.values.clear();
    }

    /// Drops the values that no route has any more, which the next change would drop.
    ///
    /// [`Table::insert`] and [`Table::remove`] return a reference to the old value, so they leave it
    /// there.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// use std::sync::Arc;
    /// let value = Arc::new("office");
    /// let mut table = Table::from([("10.0.0.0/8".parse::<IpPrefix>()?, value.clone())]);
    /// table.remove("10.0.0.0/8".parse::<IpPrefix>()?);
    /// table.reclaim();
    /// assert_eq!(Arc::strong_count(&value), 1);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn reclaim(&mut self) {
        self.values.reclaim();
    }

    /// Reserves memory for this many more distinct values.
    ///
    /// Only the values' memory is ever copied to grow it to twice its size; that of the routes
    /// grows by a quarter at a time and has nothing to reserve.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut table = Table::new();
    /// table.reserve_values(1000);
    /// for i in 0..1000 {
    ///     table.insert(IpPrefix::host([10, 0, (i >> 8) as u8, i as u8].into()), i)?;
    /// }
    /// # Ok::<(), longmatch::InsertError>(())
    /// ```
    pub fn reserve_values(&mut self, values: usize) {
        self.values.reserve(values);
    }
}

/// The prefixes of the routes for which `keep` returns `false`.
fn refused<F: Family, T>(
    rib: &Rib<F>,
    values: &NextHops<T>,
    mut keep: impl FnMut(IpPrefix, &T) -> bool,
) -> Vec<Prefix<F>>
where
    Prefix<F>: Into<IpPrefix>,
{
    let routes = rib.iter();
    let refused = routes.filter(|r| !keep(r.prefix.into(), value(values, r.next_hop)));
    refused.map(|route| route.prefix).collect()
}

/// Removes routes; returns how many of them there were.
fn remove_all<F: Family, T>(
    rib: &mut Rib<F>,
    values: &mut NextHops<T>,
    prefixes: &[Prefix<F>],
) -> usize {
    let ids = prefixes.iter().filter_map(|prefix| rib.remove(*prefix));
    ids.map(|id| values.release(id)).count()
}

impl<P: Into<IpPrefix>, T: Shareable> Extend<(P, T)> for Table<T> {
    /// Adds all routes; of routes with equal prefixes the last one wins.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::new();
    /// table.extend([(office, "office"), (office, "lab")]);
    /// assert_eq!(table.get(office), Some(&"lab"));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Panics
    /// When a limit of the table is reached. Where that can happen use [`Table::insert`].
    fn extend<I: IntoIterator<Item = (P, T)>>(&mut self, routes: I) {
        for (prefix, value) in routes {
            self.insert(prefix, value).unwrap_or_else(|full| panic!("{full}"));
        }
    }
}

impl<'t, P: Into<IpPrefix>, T: Shareable + Clone> Extend<(P, &'t T)> for Table<T> {
    /// Adds all routes; clones only values that are new to the table.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
    /// let mut table = Table::from([(a, "office")]);
    /// table.extend(&Table::from([(b, "world")]));
    /// assert_eq!(table.len(), 2);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Panics
    /// When a limit of the table is reached. Where that can happen use [`Table::insert`].
    fn extend<I: IntoIterator<Item = (P, &'t T)>>(&mut self, routes: I) {
        for (prefix, value) in routes {
            self.insert_with(prefix.into(), |values| values.acquire_cloned(value))
                .unwrap_or_else(|full| panic!("{full}"));
        }
    }
}

impl<P: Into<IpPrefix>, T: Shareable> FromIterator<(P, T)> for Table<T> {
    /// Makes a table of routes; of routes with equal prefixes the last one wins.
    ///
    /// ```
    /// use longmatch::{IpPrefix, ParsePrefixError, Table};
    /// let lines = ["10.0.0.0/8 office", "10.9.0.0/16 lab"];
    /// let routes = lines.iter().filter_map(|line| line.split_once(' '));
    /// let table = routes
    ///     .map(|(prefix, site)| Ok((prefix.parse::<IpPrefix>()?, site)))
    ///     .collect::<Result<Table<_>, ParsePrefixError>>()?;
    /// assert_eq!(table.lookup([10, 9, 1, 1]), Some(&"lab"));
    /// # Ok::<(), ParsePrefixError>(())
    /// ```
    fn from_iter<I: IntoIterator<Item = (P, T)>>(routes: I) -> Self {
        let mut table = Self::new();
        table.extend(routes);
        table
    }
}

impl<P: Into<IpPrefix>, T: Shareable, const N: usize> From<[(P, T); N]> for Table<T> {
    /// Makes a table of routes; of routes with equal prefixes the last one wins.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// assert_eq!(Table::from([(office, "office")]).len(), 1);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    fn from(routes: [(P, T); N]) -> Self {
        routes.into_iter().collect()
    }
}

/// Tables are equal if they have the same prefixes with equal values, whatever their limits.
impl<T: PartialEq> PartialEq for Table<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl<T: Eq> Eq for Table<T> {}

impl<T: Hash> Hash for Table<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        self.iter().for_each(|route| route.hash(state));
    }
}

impl<T: fmt::Debug> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
