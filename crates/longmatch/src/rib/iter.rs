//! The iterator over the routes of a RIB.

use core::iter::FusedIterator;

use super::trie::{Cursor, Position, Trie};
use crate::net::{Family, Prefix, Route};

/// Routes in order, from either end; from [`Rib::iter`](super::Rib::iter) and
/// [`Rib::children`](super::Rib::children).
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
    /// The prefixes returned last at each end; the iteration ends where they would cross.
    first: Option<Prefix<F>>,
    last: Option<Prefix<F>>,
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
        Self { front, back, first: None, last: None, done: false, least, most }
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
        let route = route.filter(|route| self.last.is_none_or(|last| route.prefix < last));
        self.first = route.map(|route| route.prefix);
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
        let route = route.filter(|route| self.first.is_none_or(|first| route.prefix > first));
        self.last = route.map(|route| route.prefix);
        self.finish(route)
    }
}

impl<F: Family> FusedIterator for Iter<'_, F> {}
