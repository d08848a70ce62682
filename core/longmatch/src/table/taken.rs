//! Values taken out of a table, and routes moved to another one.

use alloc::vec::Vec;
use core::hash::Hash;
use core::ops::{Bound, RangeBounds};

use super::{InsertError, OccupiedEntry, Table, value};
use crate::net::{IpPrefix, NextHopId};

impl<T> Table<T> {
    /// Removes the route of exactly this prefix; returns its own value.
    ///
    /// Routes with equal values share one: it is cloned, unless this is its last route. See
    /// [`Table::try_take`] for types that cannot be cloned, and [`Table::remove`] for a reference.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::from([(office, "office".to_string())]);
    /// assert_eq!(table.take(office), Some("office".to_string()));
    /// assert_eq!(table.take(office), None);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn take(&mut self, prefix: impl Into<IpPrefix>) -> Option<T>
    where
        T: Clone,
    {
        self.values.reclaim();
        let prefix = self.canonical(prefix.into());
        // A panic of the value's `Clone` leaves the route there.
        let value = self.values.take(self.id(prefix)?);
        self.remove_id(prefix);
        value
    }

    /// Removes the route of exactly this prefix; returns its value, unless other routes share it.
    ///
    /// `Some(Err(_))` refers to a value that another route still has. So each value is returned
    /// with the last of its routes. One of [`Table::insert_distinct`] has one route only.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::<Box<dyn Fn() -> u8>>::new();
    /// table.insert_distinct(office, Box::new(|| 7))?;
    /// let Some(Ok(function)) = table.try_take(office) else { unreachable!() };
    /// assert_eq!(function(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_take(&mut self, prefix: impl Into<IpPrefix>) -> Option<Result<T, &T>> {
        self.values.reclaim();
        let prefix = self.canonical(prefix.into());
        let id = self.remove_id(prefix)?;
        self.values.release(id);
        Some(self.values.free(id).ok_or_else(|| value(&self.values, id)))
    }

    /// Removes a stored route; returns its id. The caller counts the references.
    fn remove_id(&mut self, prefix: IpPrefix) -> Option<NextHopId> {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.remove(prefix),
            IpPrefix::V6(prefix) => self.ipv6.remove(prefix),
        }
    }

    /// Every value with the prefixes of its routes: for types that cannot be cloned.
    ///
    /// Both are in order, the values by their first prefixes. O(routes).
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "11.0.0.0/8".parse()?];
    /// let c: IpPrefix = "::/0".parse()?;
    /// let table = Table::from([(a, "x"), (b, "y"), (c, "x")]);
    /// assert_eq!(table.into_by_value(), [("x", vec![a, c]), ("y", vec![b])]);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn into_by_value(self) -> Vec<(T, Vec<IpPrefix>)> {
        let Self { ipv4, ipv6, values, .. } = self;
        let ipv4 = ipv4.iter().map(|route| (route.next_hop, route.prefix.into()));
        let ipv6 = ipv6.iter().map(|route| (route.next_hop, route.prefix.into()));
        let mut by_id: Vec<Vec<IpPrefix>> = Vec::new();
        for (id, prefix) in ipv4.chain(ipv6) {
            let at = id.get() as usize;
            by_id.resize_with(by_id.len().max(at + 1), Vec::new);
            by_id[at].push(prefix);
        }
        let with_prefixes = |(id, value, _): (NextHopId, T, bool)| {
            (value, core::mem::take(&mut by_id[id.get() as usize]))
        };
        let mut by_value: Vec<_> = values.into_values().map(with_prefixes).collect();
        by_value.sort_by_key(|(_, prefixes)| prefixes.first().copied());
        by_value
    }

    /// Removes the routes of a range for which the function returns `true`, in order, and returns
    /// them one by one.
    ///
    /// Routes that the iterator has not reached when it is dropped stay. Values are cloned as by
    /// [`Table::take`]. O(routes in the range), and O(depth) more for each one removed.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [office, lab]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let mut table = Table::from([(office, "office"), (lab, "lab")]);
    /// let long: Vec<_> = table.extract_if(.., |prefix, _| prefix.len() > 8).collect();
    /// assert_eq!((long, table.len()), (vec![(lab, "lab")], 1));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn extract_if<P>(
        &mut self,
        range: impl RangeBounds<IpPrefix>,
        mut extract: P,
    ) -> impl Iterator<Item = (IpPrefix, T)>
    where
        T: Clone,
        P: FnMut(IpPrefix, &T) -> bool,
    {
        // The prefixes that the function has not seen.
        let (mut start, end) = (range.start_bound().cloned(), range.end_bound().cloned());
        core::iter::from_fn(move || {
            let (prefix, _) = self.range((start, end)).find(|(prefix, value)| {
                start = Bound::Excluded(*prefix);
                extract(*prefix, value)
            })?;
            Some((prefix, self.take(prefix)?))
        })
    }

    /// A table of fewer routes in which every address has the same value.
    ///
    /// See [`Rib::aggregated`](crate::Rib::aggregated). Values of [`Table::insert_distinct`] count
    /// as different. O(routes).
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/9".parse()?, "10.128.0.0/9".parse()?];
    /// let table = Table::from([(a, "office"), (b, "office")]).aggregated();
    /// assert_eq!(table, Table::from([("10.0.0.0/8".parse::<IpPrefix>()?, "office")]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn aggregated(&self) -> Self
    where
        T: Clone,
    {
        let (ipv4, ipv6) = (self.ipv4.aggregated(), self.ipv6.aggregated());
        let mut values = self.values.clone();
        ipv4.iter().for_each(|route| values.retain(route.next_hop));
        ipv6.iter().for_each(|route| values.retain(route.next_hop));
        self.ipv4.iter().for_each(|route| values.release(route.next_hop));
        self.ipv6.iter().for_each(|route| values.release(route.next_hop));
        values.reclaim();
        Self { ipv4, ipv6, values, ..*self }
    }
}

impl<T: Hash + Eq + Clone> Table<T> {
    /// Moves all routes of another table into this one; of routes with equal prefixes those of the
    /// other table win.
    ///
    /// Clones only values that are new to this table.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
    /// let (mut table, mut other) = (Table::from([(a, 1)]), Table::from([(a, 2), (b, 3)]));
    /// table.append(&mut other)?;
    /// assert_eq!((table, other.len()), (Table::from([(a, 2), (b, 3)]), 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a limit of the table is reached; the routes that are not moved by then, the last ones in
    /// order, are still in the other table.
    pub fn append(&mut self, other: &mut Self) -> Result<(), InsertError> {
        let refused = other.iter().find_map(|(prefix, value)| {
            let moved = self.insert_with(prefix, |values| values.acquire_cloned(value));
            moved.err().map(|full| (prefix, full))
        });
        let Some((first, full)) = refused else {
            other.clear();
            return Ok(());
        };
        other.retain(|prefix, _| prefix >= first);
        Err(full)
    }
}

impl<'t, T> OccupiedEntry<'t, T> {
    /// Removes the route; returns its own value, as [`Table::take`].
    ///
    /// ```
    /// use longmatch::table::{Entry, Table};
    /// use longmatch::IpPrefix;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut table = Table::from([(office, "office".to_string())]);
    /// let Entry::Occupied(entry) = table.entry(office) else { unreachable!() };
    /// assert_eq!(entry.take(), "office");
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use = "`remove` returns a reference"]
    pub fn take(self) -> T
    where
        T: Clone,
    {
        let (table, prefix) = self.into_parts();
        table.take(prefix).expect("the prefix of an occupied entry has a route")
    }
}
