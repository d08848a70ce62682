//! Changes of the value of one route.
//!
//! A plain `&mut T` to a shared value would change other routes, and to a copy it would end the
//! sharing: engines with few next hops could then not hold a table that has had many changes. So
//! [`ValueMut`] is a guard. While it is held, a changed value is distinct, as after
//! [`Table::insert_distinct`], so that the table is consistent at every moment, with a leaked guard
//! or a panic of the value's `Hash` too. Dropping it cannot fail, as it needs no further id.

use core::fmt;
use core::hash::Hash;
use core::net::IpAddr;
use core::ops::{Deref, DerefMut};

use super::{Shareable, Table, value};
use crate::net::{IpPrefix, NextHopId};

impl<T> Table<T> {
    /// The value of exactly this prefix, for changes.
    ///
    /// The value is no longer shared with equal values of other routes: if it was, the route gets
    /// a copy. Call [`Table::get_mut`] instead if changed values are often equal.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut loads = Table::new();
    /// loads.insert_distinct(office, 0.5)?;
    /// *loads.get_mut_distinct(office).unwrap() += 0.25;
    /// assert_eq!(loads.get(office), Some(&0.75));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When a copy is needed and the table holds as many values as [`Table::with_limits`] allows;
    /// the table is then unchanged.
    pub fn get_mut_distinct(&mut self, prefix: impl Into<IpPrefix>) -> Option<&mut T>
    where
        T: Clone,
    {
        let prefix = self.canonical(prefix.into());
        let id = self.id(prefix)?;
        let own = self.make_distinct(prefix, id).unwrap_or_else(|full| panic!("{full}"));
        self.values.distinct_mut(own)
    }
}

impl<T> Table<T> {
    /// The value of exactly this prefix, for changes.
    ///
    /// A change affects this route alone; see [`ValueMut`].
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "11.0.0.0/8".parse()?];
    /// let mut table = Table::from([(a, 1), (b, 1)]);
    /// *table.get_mut(a).unwrap() += 1;
    /// assert_eq!((table.get(a), table.get(b)), (Some(&2), Some(&1)));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn get_mut(&mut self, prefix: impl Into<IpPrefix>) -> Option<ValueMut<'_, T>>
    where
        T: Shareable,
    {
        let prefix = self.canonical(prefix.into());
        let id = self.id(prefix)?;
        Some(ValueMut::new(self, prefix, id))
    }

    /// The longest prefix that covers the address, and its value, for changes.
    ///
    /// A change affects this route alone; see [`ValueMut`].
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let mut packets = Table::from([("10.0.0.0/8".parse::<IpPrefix>()?, 0)]);
    /// let (prefix, mut count) = packets.get_lpm_mut([10, 9, 1, 1]).unwrap();
    /// *count += 1;
    /// drop(count);
    /// assert_eq!(packets.get(prefix), Some(&1));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn get_lpm_mut(&mut self, addr: impl Into<IpAddr>) -> Option<(IpPrefix, ValueMut<'_, T>)>
    where
        T: Shareable,
    {
        let (prefix, id) = match self.canonical_addr(addr.into()) {
            IpAddr::V4(addr) => {
                self.ipv4.get_lpm(addr).map(|route| (route.prefix.into(), route.next_hop))
            }
            IpAddr::V6(addr) => {
                self.ipv6.get_lpm(addr).map(|route| (route.prefix.into(), route.next_hop))
            }
        }?;
        Some((prefix, ValueMut::new(self, prefix, id)))
    }

    /// Calls a function with every prefix and its value, for changes, in order.
    ///
    /// O(routes), and as much memory for a list of the prefixes: since routes share values, there
    /// is not an iterator over references for changes.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
    /// let mut table = Table::from([(a, 1), (b, 1)]);
    /// table.for_each_mut(|prefix, value| *value += prefix.len());
    /// assert_eq!(table, Table::from([(a, 9), (b, 1)]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    ///
    /// # Panics
    /// As a change through a [`ValueMut`]. Prefixes before have their new values then.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(IpPrefix, &mut T))
    where
        T: Shareable + Clone,
    {
        let prefixes: alloc::vec::Vec<IpPrefix> = self.keys().collect();
        for prefix in prefixes {
            if let Some(mut value) = self.get_mut(prefix) {
                change(prefix, &mut value);
            }
        }
    }
}

/// The value of one route, for changes; from [`Table::get_mut`] and its neighbours.
///
/// Routes with equal values share one. The first change through the guard gives the route a value
/// of its own, copying it if other routes have it. When the guard is dropped, the route shares the
/// value again with those that are equal to it by then. A guard that is only read does neither.
/// Values of [`Table::insert_distinct`] are changed in place and stay distinct.
///
/// If the guard is leaked ([`core::mem::forget`]), the route has its new value, which equal values
/// do not share.
///
/// ```
/// use longmatch::{IpPrefix, Table};
/// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "11.0.0.0/8".parse()?];
/// let mut table = Table::from([(a, "one".to_string()), (b, "two".to_string())]);
/// *table.get_mut(a).unwrap() = "two".into();
/// assert_eq!(table.get(a), Some(&"two".into()));
/// let ids = [[10, 0, 0, 1], [11, 0, 0, 1]].map(|addr| table.ipv4().lookup(addr.into()));
/// assert_eq!(ids[0], ids[1], "equal values have one id");
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
///
/// # Panics
/// A change panics when a copy is needed and the table holds as many values as
/// [`Table::with_limits`] allows; the table is then unchanged.
pub struct ValueMut<'t, T: Hash + Eq> {
    table: &'t mut Table<T>,
    /// The prefix as stored; `id` is its id.
    prefix: IpPrefix,
    id: NextHopId,
    /// Whether the value was shared before the first change.
    was_shared: bool,
}

impl<'t, T: Hash + Eq> ValueMut<'t, T> {
    /// The guard of a stored prefix and its id.
    pub(super) fn new(table: &'t mut Table<T>, prefix: IpPrefix, id: NextHopId) -> Self {
        Self { table, prefix, id, was_shared: false }
    }
}

impl<T: Hash + Eq> Deref for ValueMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        value(&self.table.values, self.id)
    }
}

impl<T: Hash + Eq + Clone> DerefMut for ValueMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        let Self { table, prefix, id, was_shared } = self;
        if table.values.is_shared(*id) {
            *id = table.make_distinct(*prefix, *id).unwrap_or_else(|full| panic!("{full}"));
            *was_shared = true;
        }
        table.values.distinct_mut(*id).expect("the value is distinct now")
    }
}

impl<T: Hash + Eq> Drop for ValueMut<'_, T> {
    fn drop(&mut self) {
        if !self.was_shared {
            return;
        }
        let shared = self.table.values.make_shared(self.id);
        if shared != self.id {
            let replaced = self.table.set_id(self.prefix, shared);
            debug_assert_eq!(replaced, Ok(Some(self.id)));
        }
    }
}

impl<T: Hash + Eq + fmt::Debug> fmt::Debug for ValueMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
