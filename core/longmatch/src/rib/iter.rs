//! The iterator over the routes of a RIB.

use core::iter::FusedIterator;
use core::ops::Bound::{self, Excluded, Included, Unbounded};

use super::Rib;
use super::trie::{Cursor, Position, Trie};
use crate::net::{Family, Prefix, Route};

/// Routes in order, from either end; from [`Rib::iter`], [`Rib::children`] and [`Rib::range`].
///
/// ```
/// use longmatch::{Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// for prefix in ["10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24"] {
///     rib.insert(prefix.parse()?, NextHopId::new(1).unwrap())?;
/// }
/// let mut routes = rib.iter();
/// assert_eq!(routes.next().map(|route| route.prefix.len()), Some(8));
/// assert_eq!(routes.next_back().map(|route| route.prefix.len()), Some(24));
/// assert_eq!(routes.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Clone)]
pub struct Iter<'r, F: Family> {
    front: Cursor<'r, F>,
    back: Cursor<'r, F>,
    /// The routes left are between these: the bounds of a range, or the prefixes returned last.
    first: Bound<Prefix<F>>,
    last: Bound<Prefix<F>>,
    done: bool,
    /// Bounds of the number of routes left.
    least: usize,
    most: usize,
}

impl<'r, F: Family> Iter<'r, F> {
    /// The routes at and below a position, `least` to `most` of them.
    pub(super) fn new(
        trie: &'r Trie<F>,
        top: Option<Position<F>>,
        least: usize,
        most: usize,
    ) -> Self {
        let front = Cursor::new(trie, top);
        let back = front.clone();
        Self { front, back, first: Unbounded, last: Unbounded, done: false, least, most }
    }

    /// The routes between two bounds. O(depth).
    pub(super) fn between(
        rib: &'r Rib<F>,
        first: Bound<Prefix<F>>,
        last: Bound<Prefix<F>>,
    ) -> Self {
        let mut iter = Self { first, last, least: 0, ..rib.iter() };
        if let Included(start) | Excluded(start) = first {
            iter.front.skip_before(start);
        }
        if let Included(end) | Excluded(end) = last {
            iter.back.skip_after(end);
        }
        let has_route = |prefix: Prefix<F>| rib.get(prefix).is_some();
        if matches!(first, Excluded(start) if has_route(start)) {
            iter.front.next();
        }
        if matches!(last, Excluded(end) if has_route(end)) {
            iter.back.next_back();
        }
        iter
    }

    /// Ends the iteration, or counts a route that is returned.
    fn finish(&mut self, route: Option<Route<F>>) -> Option<Route<F>> {
        if route.is_some() {
            self.least = self.least.saturating_sub(1);
            self.most = self.most.saturating_sub(1);
        } else {
            (self.done, self.least, self.most) = (true, 0, 0);
        }
        route
    }
}

impl<F: Family> Iterator for Iter<'_, F> {
    type Item = Route<F>;

    #[inline]
    fn next(&mut self) -> Option<Route<F>> {
        if self.done {
            return None;
        }
        let route = self.front.next();
        let route = route.filter(|route| match self.last {
            Unbounded => true,
            Included(last) => route.prefix <= last,
            Excluded(last) => route.prefix < last,
        });
        self.first = route.map_or(self.first, |route| Excluded(route.prefix));
        self.finish(route)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.least, Some(self.most))
    }
}

impl<F: Family> DoubleEndedIterator for Iter<'_, F> {
    fn next_back(&mut self) -> Option<Route<F>> {
        if self.done {
            return None;
        }
        let route = self.back.next_back();
        let route = route.filter(|route| match self.first {
            Unbounded => true,
            Included(first) => route.prefix >= first,
            Excluded(first) => route.prefix > first,
        });
        self.last = route.map_or(self.last, |route| Excluded(route.prefix));
        self.finish(route)
    }
}

impl<F: Family> FusedIterator for Iter<'_, F> {}

/// Routes in a prefix that no other in it covers, in order.
#[derive(Clone)]
pub(super) struct DirectChildren<'r, F: Family>(Cursor<'r, F>);

impl<'r, F: Family> DirectChildren<'r, F> {
    /// The routes below a prefix, from the topmost position in it.
    pub(super) fn new(trie: &'r Trie<F>, prefix: Prefix<F>, top: Option<Position<F>>) -> Self {
        let own = top.filter(|top| top.prefix() == prefix && trie.next_hop_at(top).is_some());
        let mut cursor = Cursor::new(trie, top);
        if own.is_some() {
            cursor.next();
        }
        Self(cursor)
    }
}

impl<F: Family> Iterator for DirectChildren<'_, F> {
    type Item = Route<F>;

    fn next(&mut self) -> Option<Route<F>> {
        self.0.next_uncovered()
    }
}

impl<F: Family> FusedIterator for DirectChildren<'_, F> {}
