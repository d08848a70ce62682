//! Set operations on the prefixes of two tables.
//!
//! All of them are lazy and give prefixes in order. They merge the two tables in O(routes of both);
//! the intersection and the difference look up the prefixes of a table that is much smaller than
//! the other.

use core::cmp::Ordering;
use core::iter::{FusedIterator, Peekable};

use super::{Iter, Table};
use crate::net::IpPrefix;

/// Looking a prefix up takes as long as merging about this number of routes.
const MERGED_PER_LOOKUP: usize = 8;

impl<T> Table<T> {
    /// Every prefix of one table or the other, with the value of each that has it.
    ///
    /// For the union as a table, [`Table::extend`](Extend::extend) one by the other.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table, table::UnionItem};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "11.0.0.0/8".parse()?];
    /// let c: IpPrefix = "::/0".parse()?;
    /// let mut left = Table::from([(a, 1), (b, 2)]);
    /// let right = Table::from([(b, "two"), (c, "three")]);
    /// assert!(left.union(&right).eq([
    ///     (a, UnionItem::Left(&1)),
    ///     (b, UnionItem::Both(&2, &"two")),
    ///     (c, UnionItem::Right(&"three")),
    /// ]));
    ///
    /// left.extend([(b, 5), (c, 6)]);
    /// assert_eq!(left, Table::from([(a, 1), (b, 5), (c, 6)]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn union<'t, R>(
        &'t self,
        other: &'t Table<R>,
    ) -> impl FusedIterator<Item = (IpPrefix, UnionItem<'t, T, R>)> + Clone {
        Union { left: self.iter().peekable(), right: other.iter().peekable() }
    }

    /// Every prefix of both tables, with both values.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "11.0.0.0/8".parse()?];
    /// let c: IpPrefix = "::/0".parse()?;
    /// let left = Table::from([(a, 1), (b, 2)]);
    /// let right = Table::from([(b, "two"), (c, "three")]);
    /// assert!(left.intersection(&right).eq([(b, (&2, &"two"))]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn intersection<'t, R>(
        &'t self,
        other: &'t Table<R>,
    ) -> impl FusedIterator<Item = (IpPrefix, (&'t T, &'t R))> + Clone {
        Intersection(if self.len() <= other.len() {
            Pairs::OfLeft(self.iter(), Matches::new(other, self.len()))
        } else {
            Pairs::OfRight(other.iter(), Matches::new(self, other.len()))
        })
    }

    /// Every prefix that the other table lacks, with its value.
    ///
    /// Prefixes are compared as they are: one that the other table covers is in the difference; see
    /// [`Table::covering_difference`].
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "11.0.0.0/8".parse()?];
    /// let c: IpPrefix = "::/0".parse()?;
    /// let left = Table::from([(a, 1), (b, 2)]);
    /// let right = Table::from([(b, "two"), (c, "three")]);
    /// assert!(left.difference(&right).eq([(a, &1)]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn difference<'t, R>(
        &'t self,
        other: &'t Table<R>,
    ) -> impl FusedIterator<Item = (IpPrefix, &'t T)> + Clone {
        Difference { left: self.iter(), right: Matches::new(other, self.len()) }
    }

    /// Every prefix that no prefix of the other table covers, with its value.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let c: IpPrefix = "::/0".parse()?;
    /// let left = Table::from([(b, "lab"), (c, "world")]);
    /// let right = Table::from([(a, "office")]);
    /// assert!(left.covering_difference(&right).eq([(c, &"world")]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn covering_difference<'t, R>(
        &'t self,
        other: &'t Table<R>,
    ) -> impl FusedIterator<Item = (IpPrefix, &'t T)> + Clone {
        CoveringDifference { left: self.iter(), right: other.iter().peekable(), cover: None }
    }

    /// Whether a route of each table cover the same address.
    ///
    /// O(routes of both); ends at the first such address.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let [a, b]: [IpPrefix; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// let c: IpPrefix = "::/0".parse()?;
    /// let table = Table::from([(a, 1)]);
    /// assert!(table.overlaps(&Table::from([(b, 1)])));
    /// assert!(!table.overlaps(&Table::from([(c, 1)])));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn overlaps<R>(&self, other: &Table<R>) -> bool {
        // The prefixes seen last that no other of their table covers.
        let (mut left, mut right) = (None, None);
        self.union(other).any(|(prefix, item)| match item {
            UnionItem::Left(_) => {
                extend_cover(&mut left, prefix);
                covers(right, prefix)
            }
            UnionItem::Right(_) => {
                extend_cover(&mut right, prefix);
                covers(left, prefix)
            }
            UnionItem::Both(..) => true,
        })
    }

    /// Whether a route covers any address of `prefix`.
    ///
    /// ```
    /// use longmatch::{IpPrefix, Table};
    /// let table = Table::from([("10.9.0.0/16".parse::<IpPrefix>()?, "lab")]);
    /// assert!(table.overlaps_prefix("10.0.0.0/8".parse::<IpPrefix>()?));
    /// assert!(table.overlaps_prefix("10.9.1.0/24".parse::<IpPrefix>()?));
    /// assert!(!table.overlaps_prefix("10.8.0.0/16".parse::<IpPrefix>()?));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn overlaps_prefix(&self, prefix: impl Into<IpPrefix>) -> bool {
        let prefix = prefix.into();
        self.cover(prefix).next().is_some() || self.children(prefix).next().is_some()
    }
}

/// Whether the prefix that no other covers, if any, covers a prefix.
fn covers(cover: Option<IpPrefix>, prefix: IpPrefix) -> bool {
    cover.is_some_and(|cover| cover.covers(prefix))
}

/// Takes the next prefix in order, unless it is covered.
fn extend_cover(cover: &mut Option<IpPrefix>, prefix: IpPrefix) {
    if !covers(*cover, prefix) {
        *cover = Some(prefix);
    }
}

/// The values of a prefix of one table or the other; from [`Table::union`].
///
/// ```
/// use longmatch::table::UnionItem;
/// let values = match UnionItem::Both(&1, &"one") {
///     UnionItem::Left(number) => number.to_string(),
///     UnionItem::Right(name) => name.to_string(),
///     UnionItem::Both(number, name) => format!("{number} {name}"),
/// };
/// assert_eq!(values, "1 one");
/// ```
#[derive(Debug, PartialEq, Eq)]
pub enum UnionItem<'t, L, R> {
    /// The value of the left table: the right one lacks the prefix.
    Left(&'t L),
    /// The value of the right table: the left one lacks the prefix.
    Right(&'t R),
    /// The values of both tables.
    Both(&'t L, &'t R),
}

impl<'t, L, R> UnionItem<'t, L, R> {
    /// The value of the left table.
    ///
    /// ```
    /// use longmatch::table::UnionItem;
    /// assert_eq!(UnionItem::Both(&1, &"one").left(), Some(&1));
    /// assert_eq!(UnionItem::<i32, _>::Right(&"one").left(), None);
    /// ```
    #[must_use]
    pub fn left(self) -> Option<&'t L> {
        match self {
            Self::Left(left) | Self::Both(left, _) => Some(left),
            Self::Right(_) => None,
        }
    }

    /// The value of the right table.
    ///
    /// ```
    /// use longmatch::table::UnionItem;
    /// assert_eq!(UnionItem::Both(&1, &"one").right(), Some(&"one"));
    /// ```
    #[must_use]
    pub fn right(self) -> Option<&'t R> {
        match self {
            Self::Right(right) | Self::Both(_, right) => Some(right),
            Self::Left(_) => None,
        }
    }
}

impl<L, R> Copy for UnionItem<'_, L, R> {}

impl<L, R> Clone for UnionItem<'_, L, R> {
    fn clone(&self) -> Self {
        *self
    }
}

/// The prefixes of one table or the other; from [`Table::union`].
struct Union<'t, L, R> {
    left: Peekable<Iter<'t, L>>,
    right: Peekable<Iter<'t, R>>,
}

impl<'t, L, R> Iterator for Union<'t, L, R> {
    type Item = (IpPrefix, UnionItem<'t, L, R>);

    fn next(&mut self) -> Option<Self::Item> {
        let order = match (self.left.peek(), self.right.peek()) {
            (Some((left, _)), Some((right, _))) => left.cmp(right),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        if order.is_gt() {
            let (prefix, right) = self.right.next()?;
            return Some((prefix, UnionItem::Right(right)));
        }
        let (prefix, left) = self.left.next()?;
        let right = if order.is_eq() { self.right.next() } else { None };
        Some((prefix, right.map_or(UnionItem::Left(left), |(_, r)| UnionItem::Both(left, r))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (left, right) = (self.left.len(), self.right.len());
        (left.max(right), left.checked_add(right))
    }
}

/// Finds prefixes, given in order, in a table.
#[expect(clippy::large_enum_variant, reason = "one for each operation; a box would allocate")]
enum Matches<'t, T> {
    Merge(Peekable<Iter<'t, T>>),
    Lookup(&'t Table<T>),
}

impl<'t, T> Matches<'t, T> {
    /// Chooses merge or lookups for an expected number of prefixes.
    fn new(table: &'t Table<T>, prefixes: usize) -> Self {
        if table.len() / MERGED_PER_LOOKUP > prefixes {
            Self::Lookup(table)
        } else {
            Self::Merge(table.iter().peekable())
        }
    }

    /// The value of a prefix as another table stores it.
    fn find(&mut self, prefix: IpPrefix) -> Option<&'t T> {
        match self {
            Self::Lookup(table) => table.values.get(table.id(prefix)?),
            Self::Merge(routes) => {
                while routes.next_if(|(other, _)| *other < prefix).is_some() {}
                Some(routes.next_if(|(other, _)| *other == prefix)?.1)
            }
        }
    }
}

impl<T> Clone for Matches<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Merge(routes) => Self::Merge(routes.clone()),
            Self::Lookup(table) => Self::Lookup(table),
        }
    }
}

/// The prefixes of both tables; from [`Table::intersection`].
struct Intersection<'t, L, R>(Pairs<'t, L, R>);

/// The prefixes of the smaller table, found in the other.
enum Pairs<'t, L, R> {
    OfLeft(Iter<'t, L>, Matches<'t, R>),
    OfRight(Iter<'t, R>, Matches<'t, L>),
}

impl<'t, L, R> Iterator for Intersection<'t, L, R> {
    type Item = (IpPrefix, (&'t L, &'t R));

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Pairs::OfLeft(routes, matches) => {
                routes.find_map(|(prefix, left)| Some((prefix, (left, matches.find(prefix)?))))
            }
            Pairs::OfRight(routes, matches) => {
                routes.find_map(|(prefix, right)| Some((prefix, (matches.find(prefix)?, right))))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Pairs::OfLeft(routes, _) => (0, Some(routes.len())),
            Pairs::OfRight(routes, _) => (0, Some(routes.len())),
        }
    }
}

impl<L, R> Clone for Intersection<'_, L, R> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Pairs::OfLeft(routes, matches) => Pairs::OfLeft(routes.clone(), matches.clone()),
            Pairs::OfRight(routes, matches) => Pairs::OfRight(routes.clone(), matches.clone()),
        })
    }
}

/// The prefixes that the other table lacks; from [`Table::difference`].
struct Difference<'t, L, R> {
    left: Iter<'t, L>,
    right: Matches<'t, R>,
}

impl<'t, L, R> Iterator for Difference<'t, L, R> {
    type Item = (IpPrefix, &'t L);

    fn next(&mut self) -> Option<Self::Item> {
        self.left.find(|(prefix, _)| self.right.find(*prefix).is_none())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left.len()))
    }
}

/// The prefixes that no prefix of the other table covers; from [`Table::covering_difference`].
struct CoveringDifference<'t, L, R> {
    left: Iter<'t, L>,
    right: Peekable<Iter<'t, R>>,
    /// The prefix of the right table seen last that no other covers.
    cover: Option<IpPrefix>,
}

impl<'t, L, R> Iterator for CoveringDifference<'t, L, R> {
    type Item = (IpPrefix, &'t L);

    fn next(&mut self) -> Option<Self::Item> {
        let Self { left, right, cover } = self;
        left.find(|(prefix, _)| {
            while let Some((other, _)) = right.next_if(|(other, _)| other <= prefix) {
                extend_cover(cover, other);
            }
            !covers(*cover, *prefix)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left.len()))
    }
}

/// Implements `Clone` field by field, for values that cannot be cloned too.
macro_rules! clone {
    ($($name:ident { $($field:ident),+ })+) => {
        $(
            impl<L, R> Clone for $name<'_, L, R> {
                fn clone(&self) -> Self {
                    Self { $($field: self.$field.clone()),+ }
                }
            }
        )+
    };
}

clone! {
    Union { left, right }
    Difference { left, right }
    CoveringDifference { left, right, cover }
}

impl<L, R> FusedIterator for Union<'_, L, R> {}

impl<L, R> FusedIterator for Intersection<'_, L, R> {}

impl<L, R> FusedIterator for Difference<'_, L, R> {}

impl<L, R> FusedIterator for CoveringDifference<'_, L, R> {}
