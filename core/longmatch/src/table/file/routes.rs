//! Routes of a file: prefixes in order, their lengths and their rows.

use core::marker::PhantomData;

use super::packed::Packed;
use crate::net::{Bits, Family, Ipv4, Ipv6, Prefix};

/// The routes of both families.
#[derive(Debug)]
pub(super) struct FileRoutes {
    pub ipv4: Packed,
    /// Upper halves of the IPv6 prefixes.
    pub upper6: Packed,
    /// Lower halves of the IPv6 prefixes.
    pub lower6: Packed,
    /// The lengths of the prefixes, IPv4 first.
    pub lens: Packed,
    /// The rows, IPv4 first.
    pub rows: Packed,
}

/// The routes of a family, in order.
#[derive(Clone, Copy)]
pub(super) struct Sorted<'a, F> {
    /// The upper halves of the prefixes, if they have 128 bits.
    upper: Option<&'a Packed>,
    lower: &'a Packed,
    /// Of both families.
    lens: &'a Packed,
    /// The number of the first route among those of both families.
    first: usize,
    family: PhantomData<F>,
}

impl FileRoutes {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn ipv4(&self) -> Sorted<'_, Ipv4> {
        let (lower, lens) = (&self.ipv4, &self.lens);
        Sorted { upper: None, lower, lens, first: 0, family: PhantomData }
    }

    pub fn ipv6(&self) -> Sorted<'_, Ipv6> {
        let (upper, lower, lens) = (Some(&self.upper6), &self.lower6, &self.lens);
        Sorted { upper, lower, lens, first: self.ipv4.len(), family: PhantomData }
    }

    /// The row of a route.
    #[inline]
    pub fn row(&self, route: usize) -> Option<u32> {
        self.rows.get(route).and_then(|row| u32::try_from(row).ok())
    }

    /// The length of a route's prefix; a damaged file may have one that no address has.
    #[inline]
    pub fn prefix_len<F: Family>(&self, route: usize) -> Option<u8> {
        self.lens.get(route).map(|len| len.min(F::WIDTH.into()) as u8)
    }
}

impl<'a, F: Family> Sorted<'a, F> {
    pub fn len(self) -> usize {
        self.lower.len()
    }

    /// The prefix at a position.
    pub fn prefix(self, at: usize) -> Option<Prefix<F>> {
        let (bits, len) = self.key(at)?;
        Some(Prefix::from_bits_masked(bits, len))
    }

    /// The address and the length of the prefix at a position.
    fn key(self, at: usize) -> Option<(F::Bits, u8)> {
        let lower = self.lower.get(at)?.into();
        let bits = match self.upper {
            Some(upper) => u128::from(upper.get(at)?) << 64 | lower,
            None => lower,
        };
        let len = self.lens.get(self.number(at))?.min(F::WIDTH.into());
        Some((F::Bits::from_u128(bits), len as u8))
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
            // Only a damaged file has no such prefix.
            let found = self.key(middle).unwrap_or((F::Bits::MAX, F::WIDTH));
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
