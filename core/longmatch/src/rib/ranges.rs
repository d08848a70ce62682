//! View 1 of a RIB: the address space as disjoint ranges.
//!
//! The sweep reads sorted routes and keeps the prefixes open at the current address on a stack. It
//! shares no code with the trie's matching, so it serves as a second oracle, cheap enough to check
//! every address of a table of a million routes.

use alloc::vec::Vec;
use core::iter::FusedIterator;

use crate::net::{Bits, Family, NextHopId, Prefix, Route};

/// Addresses from `first` to `last`, both included, that share their longest match.
///
/// ```
/// use longmatch::{Family, Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let routed = rib.ranges().find(|range| range.route.is_some()).unwrap();
/// assert_eq!(Ipv4::addr(routed.first).to_string(), "10.0.0.0");
/// assert_eq!(Ipv4::addr(routed.last).to_string(), "10.255.255.255");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range<F: Family> {
    /// The lowest address.
    pub first: F::Bits,
    /// The highest address.
    pub last: F::Bits,
    /// The longest match; `None` where no route covers the range.
    pub route: Option<Route<F>>,
}

impl<F: Family> Range<F> {
    /// The next hop of the longest match.
    ///
    /// ```
    /// use longmatch::{Ipv4, Rib};
    /// let whole = Rib::<Ipv4>::new().ranges().next().unwrap();
    /// assert_eq!((whole.first, whole.last, whole.next_hop()), (0, u32::MAX, None));
    /// ```
    pub fn next_hop(&self) -> Option<NextHopId> {
        self.route.map(|route| route.next_hop)
    }
}

/// The address space as disjoint ranges in order, without gaps, from sorted routes.
///
/// O(routes) time in all, O(width) memory.
///
/// ```
/// use longmatch::{Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let routed = rib.ranges().filter(|range| range.route.is_some());
/// let addresses: u64 = routed.map(|range| u64::from(range.last - range.first) + 1).sum();
/// assert_eq!(addresses, 1 << 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Clone)]
pub struct Ranges<F: Family, I> {
    routes: I,
    /// The next route, read ahead.
    ahead: Option<Route<F>>,
    /// Routes that cover `at`, the longest last.
    open: Vec<Route<F>>,
    /// Start of the next range; `None` after the last.
    at: Option<F::Bits>,
    /// End of the last range.
    end: F::Bits,
}

impl<F: Family, I: Iterator<Item = Route<F>>> Ranges<F, I> {
    /// Makes the ranges of routes sorted by prefix, each prefix once.
    #[doc(hidden)]
    pub fn new(mut routes: I) -> Self {
        let ahead = routes.next();
        Self { routes, ahead, open: Vec::new(), at: Some(F::Bits::ZERO), end: F::Bits::MAX }
    }

    /// The ranges of a prefix; the first and the last may continue outside it.
    ///
    /// `routes` are those that the prefix covers, `cover` is the longest route that covers it from
    /// outside.
    pub(super) fn within(prefix: Prefix<F>, cover: Option<Route<F>>, mut routes: I) -> Self {
        let ahead = routes.next();
        let open = cover.into_iter().collect();
        Self { routes, ahead, open, at: Some(prefix.first()), end: prefix.last() }
    }

    /// Joins neighbouring ranges of equal next hop. A joined range's `route` is the longest match of its first address.
    ///
    /// ```
    /// use longmatch::{Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// for prefix in ["10.0.0.0/8", "11.0.0.0/8"] {
    ///     rib.insert(prefix.parse()?, NextHopId::new(1).unwrap())?;
    /// }
    /// assert_eq!((rib.ranges().count(), rib.ranges().coalesced().count()), (4, 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn coalesced(self) -> impl FusedIterator<Item = Range<F>> + use<F, I> {
        self.joined()
    }

    /// [`Ranges::coalesced`] as its own type, for the fields of checks.
    pub(crate) fn joined(self) -> Coalesced<F, I> {
        let mut ranges = self;
        let ahead = ranges.next();
        Coalesced { ranges, ahead }
    }

    /// Opens the routes that begin at `at`; only the longest yields a range here.
    fn open_at(&mut self, at: F::Bits) {
        while let Some(route) = self.ahead.filter(|route| route.prefix.first() == at) {
            self.open.push(route);
            self.ahead = self.routes.next();
        }
    }
}

impl<F: Family, I: Iterator<Item = Route<F>>> Iterator for Ranges<F, I> {
    type Item = Range<F>;

    fn next(&mut self) -> Option<Range<F>> {
        let first = self.at?;
        self.open_at(first);
        let route = self.open.last().copied();
        let mut last = route.map_or(self.end, |route| route.prefix.last().min(self.end));
        if let Some(before) = self.ahead.and_then(|ahead| ahead.prefix.first().predecessor()) {
            last = last.min(before);
        }
        while self.open.last().is_some_and(|route| route.prefix.last() == last) {
            self.open.pop();
        }
        self.at = if last == self.end { None } else { last.successor() };
        Some(Range { first, last, route })
    }
}

impl<F: Family, I: Iterator<Item = Route<F>>> FusedIterator for Ranges<F, I> {}

/// Disjoint ranges in which neighbours have different next hops.
#[derive(Clone)]
pub(crate) struct Coalesced<F: Family, I> {
    ranges: Ranges<F, I>,
    ahead: Option<Range<F>>,
}

impl<F: Family, I: Iterator<Item = Route<F>>> Iterator for Coalesced<F, I> {
    type Item = Range<F>;

    fn next(&mut self) -> Option<Range<F>> {
        let mut joined = self.ahead?;
        loop {
            self.ahead = self.ranges.next();
            match self.ahead {
                Some(next) if next.next_hop() == joined.next_hop() => joined.last = next.last,
                _ => return Some(joined),
            }
        }
    }
}

impl<F: Family, I: Iterator<Item = Route<F>>> FusedIterator for Coalesced<F, I> {}
