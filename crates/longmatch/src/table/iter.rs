//! Iterators over the routes of a table.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;

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

    /// Every prefix with its value, in order. A value is cloned for all its routes but one.
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

/// Implements an iterator over one part of the items of an [`Iter`].
macro_rules! part {
    ($name:ident, $item:ty, $part:tt) => {
        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<'t, T> Iterator for $name<'t, T> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                Some(self.0.next()?.$part)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }
        }

        impl<T> DoubleEndedIterator for $name<'_, T> {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                Some(self.0.next_back()?.$part)
            }
        }

        impl<T> ExactSizeIterator for $name<'_, T> {}
    };
}

part!(Keys, IpPrefix, 0);
part!(Values, &'t T, 1);

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

common!(Iter, Keys, Values, Children, Cover);

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
