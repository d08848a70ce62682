//! Routes of a file: prefixes in order, their lengths and their rows.

use crate::mem::Frozen;
use crate::net::{Bits, Family, Ipv4, Ipv6, Prefix};

/// The routes of both families.
#[derive(Debug)]
pub(super) struct FileRoutes {
    pub ipv4: Frozen<u32>,
    pub ipv6: Frozen<u128>,
    /// The lengths of the prefixes, IPv4 first.
    pub lens: Frozen<u8>,
    /// The rows, IPv4 first.
    pub rows: Frozen<u32>,
}

/// The routes of a family, in order.
#[derive(Clone, Copy)]
pub(super) struct Sorted<'a, F: Family> {
    bits: &'a [F::Bits],
    lens: &'a [u8],
    /// The number of the first route among those of both families.
    first: usize,
}

impl FileRoutes {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn ipv4(&self) -> Sorted<'_, Ipv4> {
        Sorted { bits: &self.ipv4, lens: &self.lens[..self.ipv4.len()], first: 0 }
    }

    pub fn ipv6(&self) -> Sorted<'_, Ipv6> {
        let first = self.ipv4.len();
        Sorted { bits: &self.ipv6, lens: &self.lens[first..], first }
    }

    /// The row of a route.
    #[inline]
    pub fn row(&self, route: usize) -> Option<u32> {
        self.rows.get(route).copied()
    }

    /// The length of a route's prefix; a damaged file may have one that no address has.
    #[inline]
    pub fn prefix_len<F: Family>(&self, route: usize) -> Option<u8> {
        self.lens.get(route).map(|len| (*len).min(F::WIDTH))
    }
}

impl<'a, F: Family> Sorted<'a, F> {
    pub fn len(self) -> usize {
        self.bits.len()
    }

    /// The prefix at a position.
    pub fn prefix(self, at: usize) -> Option<Prefix<F>> {
        let len = (*self.lens.get(at)?).min(F::WIDTH);
        Some(Prefix::from_bits_masked(*self.bits.get(at)?, len))
    }

    /// The number among the routes of both families.
    pub fn number(self, at: usize) -> usize {
        self.first + at
    }

    /// Number of routes before `prefix` in order; with `own` the prefix's own counts.
    fn before(self, prefix: Prefix<F>, own: bool) -> usize {
        let key = (prefix.bits(), prefix.len());
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let found = (self.bits[middle], self.lens[middle]);
            if found < key || own && found == key { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The position of exactly this prefix.
    pub fn find(self, prefix: Prefix<F>) -> Option<usize> {
        let at = self.before(prefix, false);
        (self.prefix(at)? == prefix).then_some(at)
    }

    /// The position of the longest prefix that covers this one.
    ///
    /// The route before an address either covers it, or shares with it all bits of every prefix that
    /// does: so each step compares with fewer bits. O(log n) for each step.
    pub fn longest(self, prefix: Prefix<F>) -> Option<usize> {
        let mut key = prefix;
        for _ in 0..=F::WIDTH {
            let at = self.before(key, true).checked_sub(1)?;
            let found = self.prefix(at)?;
            if found.covers(prefix) {
                return Some(at);
            }
            key = found.common(key);
        }
        None
    }

    /// The positions of all prefixes that this one covers.
    pub fn children(self, prefix: Prefix<F>) -> core::ops::Range<usize> {
        let start = self.before(prefix, false);
        let end = match prefix.last() {
            last if last == F::Bits::MAX => self.len(),
            last => self.before(Prefix::from_bits_masked(last, F::WIDTH), true),
        };
        start..end.max(start)
    }
}
