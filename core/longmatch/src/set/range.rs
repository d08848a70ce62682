//! Ranges of addresses.

use core::fmt;
use core::iter::FusedIterator;

use super::AddressCount;
use super::cover::RangePrefixes;
use crate::net::{Bits, Family, Prefix};

/// Addresses from one to another, both included: never empty.
///
/// Ranges order by their first address, then by their last.
///
/// ```
/// use longmatch::Ipv4;
/// use longmatch::set::AddressRange;
/// let range = AddressRange::<Ipv4>::new([10, 0, 0, 1].into(), [10, 0, 0, 6].into()).unwrap();
/// assert_eq!(range.to_string(), "10.0.0.1-10.0.0.6");
/// assert_eq!(range.prefixes().count(), 4); // /32, /31, /31, /32
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressRange<F: Family> {
    first: F::Bits,
    last: F::Bits,
}

impl<F: Family> AddressRange<F> {
    /// Makes a range from its ends; `None` if the last address lies before the first.
    #[must_use]
    pub fn new(first: F::Addr, last: F::Addr) -> Option<Self> {
        Self::from_bits(F::bits(first), F::bits(last))
    }

    /// Makes a range from its ends as integers; `None` if the last lies before the first.
    #[must_use]
    #[inline]
    pub fn from_bits(first: F::Bits, last: F::Bits) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// The first address, as an integer.
    #[must_use]
    #[inline]
    pub fn first(&self) -> F::Bits {
        self.first
    }

    /// The last address, as an integer.
    #[must_use]
    #[inline]
    pub fn last(&self) -> F::Bits {
        self.last
    }

    /// The number of addresses.
    #[must_use]
    pub fn count(&self) -> AddressCount {
        AddressCount::after(self.last.to_u128() - self.first.to_u128())
    }

    /// The fewest prefixes that cover exactly this range, in order.
    ///
    /// At most 62 for IPv4 and 254 for IPv6.
    pub fn prefixes(&self) -> impl FusedIterator<Item = Prefix<F>> + Clone + use<F> {
        RangePrefixes::new(*self)
    }

    /// Adds a range that begins at or after this one's beginning, if no address lies between them.
    /// Returns whether it did.
    #[inline]
    pub(super) fn join(&mut self, next: Self) -> bool {
        debug_assert!(self.first <= next.first, "ranges are joined in order");
        // Nothing can lie between this range and another once it ends at the highest address.
        let joins = self.last.successor().is_none_or(|after| next.first <= after);
        if joins && self.last < next.last {
            self.last = next.last;
        }
        joins
    }
}

impl<F: Family> From<Prefix<F>> for AddressRange<F> {
    /// The addresses of a prefix.
    #[inline]
    fn from(prefix: Prefix<F>) -> Self {
        Self { first: prefix.first(), last: prefix.last() }
    }
}

impl<F: Family> fmt::Display for AddressRange<F> {
    /// Formats as `first-last`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", F::addr(self.first), F::addr(self.last))
    }
}

impl<F: Family> fmt::Debug for AddressRange<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
