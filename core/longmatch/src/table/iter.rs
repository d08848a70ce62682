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
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
    /// assert!(Table::from([(b, 2), (a, 1)]).keys().eq([a, b]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn keys(&self) -> Keys<'_, T> {
        Keys(self.iter())
    }

    /// The value of every route, in order of the prefixes; equal values as often as routes.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
    /// assert!(Table::from([(b, "same"), (a, "same")]).values().eq(&["same", "same"]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn values(&self) -> Values<'_, T> {
        Values(self.iter())
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
    pub fn direct_children(&self, prefix: impl Into<IpPrefix>) -> DirectChildren<'_, T> {
        DirectChildren::new(self, self.canonical(prefix.into()))
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
    pub fn range(&self, range: impl RangeBounds<IpPrefix>) -> RouteRange<'_, T> {
        let (ipv4, ipv6) = self.lookups().routes_of(range);
        RouteRange(Iter { ipv4, ipv6, values: &self.values })
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
    pub fn iter_from(&self, prefix: impl Into<IpPrefix>) -> RouteRange<'_, T> {
        self.range(prefix.into()..)
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

/// Prefixes in order, from either end; from [`Table::keys`].
///
/// ```
/// use longmatch::{IpPrefix, Table};
/// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
/// assert_eq!(Table::from([(a, 1), (b, 2)]).keys().max(), Some(b));
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Keys<'t, T>(Iter<'t, T>);

/// Values in order of their prefixes, from either end; from [`Table::values`].
///
/// ```
/// use longmatch::{IpPrefix, Table};
/// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
/// assert_eq!(Table::from([(a, 1), (b, 2)]).values().sum::<i32>(), 3);
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Values<'t, T>(Iter<'t, T>);

/// The routes of a range of prefixes, from either end; from [`Table::range`].
///
/// ```
/// use longmatch::{IpPrefix, Table};
/// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
/// assert_eq!(Table::from([(a, 1), (b, 2)]).range(..=a).next_back(), Some((a, &1)));
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct RouteRange<'t, T>(Iter<'t, T>);

/// Implements an iterator over the items of an [`Iter`], or over one part of them.
macro_rules! part {
    ($name:ident, $item:ty $(, $part:tt)?) => {
        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<'t, T> Iterator for $name<'t, T> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                let route = self.0.next()?;
                Some(route$(.$part)?)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }
        }

        impl<T> DoubleEndedIterator for $name<'_, T> {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                let route = self.0.next_back()?;
                Some(route$(.$part)?)
            }
        }
    };
}

part!(Keys, IpPrefix, 0);
part!(Values, &'t T, 1);
part!(RouteRange, (IpPrefix, &'t T));

impl<T> ExactSizeIterator for Keys<'_, T> {}
impl<T> ExactSizeIterator for Values<'_, T> {}

/// Routes of one family or the other.
#[derive(Clone)]
enum OneFamily<A, B> {
    V4(A),
    V6(B),
}

impl<A, B> OneFamily<A, B>
where
    A: Iterator<Item = Route<Ipv4>>,
    B: Iterator<Item = Route<Ipv6>>,
{
    #[inline]
    fn next<'t, T>(&mut self, values: &'t NextHops<T>) -> Option<(IpPrefix, &'t T)> {
        match self {
            Self::V4(routes) => Some(pair(values, routes.next()?)),
            Self::V6(routes) => Some(pair(values, routes.next()?)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::V4(routes) => routes.size_hint(),
            Self::V6(routes) => routes.size_hint(),
        }
    }
}

/// Routes that a prefix covers, in order, from either end; from [`Table::children`].
///
/// ```
/// use longmatch::{IpPrefix, Table};
/// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
/// let table = Table::from([(a, 1), (b, 2)]);
/// assert_eq!(table.children(a).next_back(), Some((a, &1)));
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Children<'t, T> {
    routes: OneFamily<rib::Iter<'t, Ipv4>, rib::Iter<'t, Ipv6>>,
    values: &'t NextHops<T>,
}

impl<'t, T> Children<'t, T> {
    /// The routes that a stored prefix covers.
    pub(super) fn new(table: &'t Table<T>, prefix: IpPrefix) -> Self {
        let routes = match prefix {
            IpPrefix::V4(prefix) => OneFamily::V4(table.ipv4.children(prefix)),
            IpPrefix::V6(prefix) => OneFamily::V6(table.ipv6.children(prefix)),
        };
        Self { routes, values: &table.values }
    }
}

impl<T> DoubleEndedIterator for Children<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.routes {
            OneFamily::V4(routes) => Some(pair(self.values, routes.next_back()?)),
            OneFamily::V6(routes) => Some(pair(self.values, routes.next_back()?)),
        }
    }
}

/// Routes that cover an address or a prefix, shortest first; from [`Table::cover`].
///
/// ```
/// use longmatch::{IpPrefix, Table};
/// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "::/0".parse()?];
/// let table = Table::from([(a, 1), (b, 2)]);
/// assert_eq!(table.cover(a).last(), table.get_lpm([10, 0, 0, 0]));
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Cover<'t, T> {
    routes: OneFamily<rib::Cover<'t, Ipv4>, rib::Cover<'t, Ipv6>>,
    values: &'t NextHops<T>,
}

impl<'t, T> Cover<'t, T> {
    /// The routes that cover a stored prefix.
    pub(super) fn new(table: &'t Table<T>, prefix: IpPrefix) -> Self {
        let routes = match prefix {
            IpPrefix::V4(prefix) => OneFamily::V4(table.ipv4.cover(prefix)),
            IpPrefix::V6(prefix) => OneFamily::V6(table.ipv6.cover(prefix)),
        };
        Self { routes, values: &table.values }
    }
}

/// Routes in a prefix that no other in it covers; from [`Table::direct_children`].
///
/// ```
/// use longmatch::{IpPrefix, Table};
/// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "0.0.0.0/0".parse()?];
/// assert!(Table::from([(a, 1), (b, 2)]).direct_children(b).eq([(a, &1)]));
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct DirectChildren<'t, T> {
    routes: OneFamily<rib::DirectChildren<'t, Ipv4>, rib::DirectChildren<'t, Ipv6>>,
    values: &'t NextHops<T>,
}

impl<'t, T> DirectChildren<'t, T> {
    /// The routes below a stored prefix.
    fn new(table: &'t Table<T>, prefix: IpPrefix) -> Self {
        let routes = match prefix {
            IpPrefix::V4(prefix) => OneFamily::V4(table.ipv4.direct_children(prefix)),
            IpPrefix::V6(prefix) => OneFamily::V6(table.ipv6.direct_children(prefix)),
        };
        Self { routes, values: &table.values }
    }
}

/// Implements an iterator over routes of one family.
macro_rules! of_one_family {
    ($name:ident) => {
        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                Self { routes: self.routes.clone(), values: self.values }
            }
        }

        impl<'t, T> Iterator for $name<'t, T> {
            type Item = (IpPrefix, &'t T);

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                self.routes.next(self.values)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.routes.size_hint()
            }
        }
    };
}

of_one_family!(Children);
of_one_family!(Cover);
of_one_family!(DirectChildren);

/// What all iterators over references have in common.
macro_rules! common {
    ($($name:ident),+) => {
        $(
            impl<T> FusedIterator for $name<'_, T> {}

            impl<T: fmt::Debug> fmt::Debug for $name<'_, T> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.debug_list().entries(self.clone()).finish()
                }
            }
        )+
    };
}

common!(Iter, Keys, Values, RouteRange, Children, DirectChildren, Cover);

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
