//! Iterators over the routes of a table.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;

use super::{Table, pair};
use crate::net::{Family, IpPrefix, Ipv4, Ipv6, NextHops, Prefix, Route};
use crate::rib;

impl<T> Table<T> {
    /// Every prefix with its value, in order: IPv4 first, by address, covering prefixes first.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
    /// let table = Table::from([(b, 2), (a, 1)]);
    /// assert!(table.iter().eq([(a, &1), (b, &2)]));
    /// assert!(table.iter().rev().eq([(b, &2), (a, &1)]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { ipv4: self.ipv4.iter(), ipv6: self.ipv6.iter(), values: &self.values }
    }

    /// Every prefix, in order.
    pub fn keys(
        &self,
    ) -> impl DoubleEndedIterator<Item = IpPrefix> + ExactSizeIterator + FusedIterator + Clone {
        self.iter().map(|(prefix, _)| prefix)
    }

    /// The value of every route, in order of the prefixes; equal values as often as routes.
    pub fn values(
        &self,
    ) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator + FusedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }
}

impl<T> Table<T> {
    /// The longest prefix that covers all of a prefix, its own included, and its value. O(depth).
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [office, lab]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let table = Table::from([(office, "office"), (lab, "lab")]);
    /// let found = table.get_lpm_prefix("10.8.0.0/15".parse::<IpPrefix>()?);
    /// assert_eq!(found, Some((office, &"office")));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn get_lpm_prefix(&self, prefix: impl Into<IpPrefix>) -> Option<(IpPrefix, &T)> {
        self.lookups().longest_of_prefix(prefix.into())
    }

    /// The shortest prefix that covers an address or all of a prefix, and its value. O(depth).
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [office, lab]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let table = Table::from([(office, "office"), (lab, "lab")]);
    /// assert_eq!(table.get_spm(lab), Some((office, &"office")));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn get_spm(&self, prefix: impl Into<IpPrefix>) -> Option<(IpPrefix, &T)> {
        self.cover(prefix).next()
    }

    /// Every route that a prefix covers, except for its own and for those that another such route
    /// covers, in order. O(depth) a route.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [office, lab]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let rack: IpPrefix = "10.9.1.0/24".parse()?;
    /// let table = Table::from([(office, "office"), (lab, "lab"), (rack, "rack")]);
    /// assert!(table.direct_children(office).eq([(lab, &"lab")]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn direct_children(
        &self,
        prefix: impl Into<IpPrefix>,
    ) -> impl FusedIterator<Item = (IpPrefix, &T)> + Clone {
        let routes = match self.canonical(prefix.into()) {
            IpPrefix::V4(prefix) => OneFamily::V4(self.ipv4.direct_children(prefix)),
            IpPrefix::V6(prefix) => OneFamily::V6(self.ipv6.direct_children(prefix)),
        };
        Pairs { routes, values: &self.values }
    }

    /// The routes of a range of prefixes, in order. O(depth), and O(1) a route.
    ///
    /// A range whose end is before its start is empty.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// use std::ops::Bound::{Excluded, Unbounded};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "11.0.0.0/8".parse()?];
    /// let c: IpPrefix = "::/0".parse()?;
    /// let table = Table::from([(a, 1), (b, 2), (c, 3)]);
    /// assert!(table.range(a..c).eq([(a, &1), (b, &2)]));
    /// // The page after the one that ended with `a`.
    /// assert!(table.range((Excluded(a), Unbounded)).take(10).eq([(b, &2), (c, &3)]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn range(
        &self,
        range: impl RangeBounds<IpPrefix>,
    ) -> impl DoubleEndedIterator<Item = (IpPrefix, &T)> + FusedIterator + Clone {
        let (ipv4, ipv6) = self.lookups().routes_of(range);
        Iter { ipv4, ipv6, values: &self.values }
    }

    /// The routes from a prefix on, its own included, in order: [`Table::range`] without an end.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
    /// let table = Table::from([(a, 1), (b, 2)]);
    /// assert!(table.iter_from("10.9.0.0/16".parse::<IpPrefix>()?).eq([(b, &2)]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn iter_from(
        &self,
        prefix: impl Into<IpPrefix>,
    ) -> impl DoubleEndedIterator<Item = (IpPrefix, &T)> + FusedIterator + Clone {
        self.range(prefix.into()..)
    }

    /// Every route that covers an address or a prefix, its own included, shortest first.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// use std::net::Ipv4Addr;
    /// let [office, lab]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let table = Table::from([(office, "office"), (lab, "lab")]);
    /// assert!(table.cover(Ipv4Addr::new(10, 9, 1, 1)).eq([(office, &"office"), (lab, &"lab")]));
    /// assert!(table.cover(office).eq([(office, &"office")]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn cover(
        &self,
        prefix: impl Into<IpPrefix>,
    ) -> impl FusedIterator<Item = (IpPrefix, &T)> + Clone {
        let routes = match self.canonical(prefix.into()) {
            IpPrefix::V4(prefix) => OneFamily::V4(self.ipv4.cover(prefix)),
            IpPrefix::V6(prefix) => OneFamily::V6(self.ipv6.cover(prefix)),
        };
        Pairs { routes, values: &self.values }
    }

    /// Every route that a prefix covers, its own included, in order.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [office, lab]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let table = Table::from([(office, "office"), (lab, "lab")]);
    /// assert!(table.children(office).eq([(office, &"office"), (lab, &"lab")]));
    /// assert!(table.children("10.0.0.0/9".parse::<IpPrefix>()?).eq([(lab, &"lab")]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn children(
        &self,
        prefix: impl Into<IpPrefix>,
    ) -> impl DoubleEndedIterator<Item = (IpPrefix, &T)> + FusedIterator + Clone {
        let routes = match self.canonical(prefix.into()) {
            IpPrefix::V4(prefix) => OneFamily::V4(self.ipv4.children(prefix)),
            IpPrefix::V6(prefix) => OneFamily::V6(self.ipv6.children(prefix)),
        };
        Pairs { routes, values: &self.values }
    }
}

impl<'t, T> IntoIterator for &'t Table<T> {
    type Item = (IpPrefix, &'t T);
    type IntoIter = Iter<'t, T>;

    fn into_iter(self) -> Iter<'t, T> {
        self.iter()
    }
}

impl<T: Clone> IntoIterator for Table<T> {
    type Item = (IpPrefix, T);
    type IntoIter = IntoIter<T>;

    /// Every prefix with its value, in order. A value is cloned for all its routes but one;
    /// [`Table::into_by_value`] needs no clones.
    ///
    /// O(routes), and as much memory for a list of them.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
    /// let table = Table::from([(b, "two".to_string()), (a, "one".to_string())]);
    /// let routes: Vec<(IpPrefix, String)> = table.into_iter().collect();
    /// assert_eq!(routes, [(a, "one".into()), (b, "two".into())]);
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    fn into_iter(self) -> IntoIter<T> {
        let Self { ipv4, ipv6, values, .. } = self;
        let ipv4: Vec<Route<Ipv4>> = ipv4.iter().collect();
        let ipv6: Vec<Route<Ipv6>> = ipv6.iter().collect();
        IntoIter { ipv4: ipv4.into_iter(), ipv6: ipv6.into_iter(), values }
    }
}

/// Prefixes with their values, from either end; from [`Table::iter`].
///
/// ```
/// use longmatch::{IpPrefix, Table};
/// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
/// let table = Table::from([(a, 1), (b, 2)]);
/// let mut routes = table.iter();
/// assert_eq!(routes.next_back(), Some((b, &2)));
/// assert_eq!(routes.len(), 1);
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Iter<'t, T> {
    ipv4: rib::Iter<'t, Ipv4>,
    ipv6: rib::Iter<'t, Ipv6>,
    values: &'t NextHops<T>,
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { ipv4: self.ipv4.clone(), ipv6: self.ipv6.clone(), values: self.values }
    }
}

impl<'t, T> Iterator for Iter<'t, T> {
    type Item = (IpPrefix, &'t T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.ipv4.next() {
            Some(route) => Some(pair(self.values, route)),
            None => Some(pair(self.values, self.ipv6.next()?)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        both(self.ipv4.size_hint(), self.ipv6.size_hint())
    }
}

impl<T> DoubleEndedIterator for Iter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match self.ipv6.next_back() {
            Some(route) => Some(pair(self.values, route)),
            None => Some(pair(self.values, self.ipv4.next_back()?)),
        }
    }
}

/// The iterators over all routes of a family know how many are left.
impl<T> ExactSizeIterator for Iter<'_, T> {}

/// The size hint of two iterators one after the other.
fn both(a: (usize, Option<usize>), b: (usize, Option<usize>)) -> (usize, Option<usize>) {
    (a.0 + b.0, a.1.zip(b.1).and_then(|(a, b)| a.checked_add(b)))
}

impl<T> FusedIterator for Iter<'_, T> {}

impl<T: fmt::Debug> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// Routes of one family or the other.
#[derive(Clone)]
enum OneFamily<A, B> {
    V4(A),
    V6(B),
}

/// Routes of one family, with their values.
struct Pairs<'t, A, B, T> {
    routes: OneFamily<A, B>,
    values: &'t NextHops<T>,
}

impl<A: Clone, B: Clone, T> Clone for Pairs<'_, A, B, T> {
    fn clone(&self) -> Self {
        Self { routes: self.routes.clone(), values: self.values }
    }
}

impl<'t, A, B, T> Iterator for Pairs<'t, A, B, T>
where
    A: Iterator<Item = Route<Ipv4>>,
    B: Iterator<Item = Route<Ipv6>>,
{
    type Item = (IpPrefix, &'t T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.routes {
            OneFamily::V4(routes) => Some(pair(self.values, routes.next()?)),
            OneFamily::V6(routes) => Some(pair(self.values, routes.next()?)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.routes {
            OneFamily::V4(routes) => routes.size_hint(),
            OneFamily::V6(routes) => routes.size_hint(),
        }
    }
}

impl<A, B, T> DoubleEndedIterator for Pairs<'_, A, B, T>
where
    A: DoubleEndedIterator<Item = Route<Ipv4>>,
    B: DoubleEndedIterator<Item = Route<Ipv6>>,
{
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.routes {
            OneFamily::V4(routes) => Some(pair(self.values, routes.next_back()?)),
            OneFamily::V6(routes) => Some(pair(self.values, routes.next_back()?)),
        }
    }
}

impl<A, B, T> FusedIterator for Pairs<'_, A, B, T>
where
    A: FusedIterator<Item = Route<Ipv4>>,
    B: FusedIterator<Item = Route<Ipv6>>,
{
}

/// Prefixes with their owned values, from either end; from `Table`'s [`IntoIterator`].
///
/// ```
/// use longmatch::{IpPrefix, Table};
/// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
/// let mut routes = Table::from([(a, 1), (b, 2)]).into_iter();
/// assert_eq!((routes.next(), routes.len()), (Some((a, 1)), 1));
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[derive(Clone)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct IntoIter<T> {
    ipv4: vec::IntoIter<Route<Ipv4>>,
    ipv6: vec::IntoIter<Route<Ipv6>>,
    values: NextHops<T>,
}

impl<T: Clone> IntoIter<T> {
    fn take<F: Family>(&mut self, route: Route<F>) -> (IpPrefix, T)
    where
        Prefix<F>: Into<IpPrefix>,
    {
        let value = self.values.take(route.next_hop);
        (route.prefix.into(), value.expect("the id of a route has a value"))
    }
}

impl<T: Clone> Iterator for IntoIter<T> {
    type Item = (IpPrefix, T);

    fn next(&mut self) -> Option<(IpPrefix, T)> {
        match self.ipv4.next() {
            Some(route) => Some(self.take(route)),
            None => {
                let route = self.ipv6.next()?;
                Some(self.take(route))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        both(self.ipv4.size_hint(), self.ipv6.size_hint())
    }
}

impl<T: Clone> DoubleEndedIterator for IntoIter<T> {
    fn next_back(&mut self) -> Option<(IpPrefix, T)> {
        match self.ipv6.next_back() {
            Some(route) => Some(self.take(route)),
            None => {
                let route = self.ipv4.next_back()?;
                Some(self.take(route))
            }
        }
    }
}

impl<T: Clone> ExactSizeIterator for IntoIter<T> {}

impl<T: Clone> FusedIterator for IntoIter<T> {}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.ipv4.len() + self.ipv6.len();
        f.debug_struct("IntoIter").field("left", &left).finish()
    }
}
