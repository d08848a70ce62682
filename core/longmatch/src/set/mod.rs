//! Sets of addresses of one family: union, intersection, difference, complement, and the fewest
//! prefixes of each.
//!
//! A block list, the routed space, the addresses of a customer: each is a set, however it is
//! written. An [`AddressSet`] holds it as sorted disjoint ranges, made from prefixes and ranges in
//! any order. Two sets are equal if they have the same addresses.
//!
//! ```
//! use longmatch::set::AddressSet;
//! use longmatch::{Ipv4, Prefix};
//!
//! let set = |texts: &[&str]| -> Result<AddressSet<Ipv4>, longmatch::ParsePrefixError> {
//!     texts.iter().map(|text| text.parse::<Prefix<Ipv4>>()).collect()
//! };
//! let ours = set(&["10.1.0.0/16", "10.0.0.0/16", "192.0.2.0/24"])?;
//! let bad = set(&["10.0.128.0/17", "198.51.100.0/24"])?;
//!
//! let good: Vec<_> = ours.difference(&bad).prefixes().map(|it| it.to_string()).collect();
//! assert_eq!(good, ["10.0.0.0/17", "10.1.0.0/16", "192.0.2.0/24"]);
//! assert_eq!(ours.intersection(&bad).count().to_string(), "32768");
//! # Ok::<(), longmatch::ParsePrefixError>(())
//! ```
//!
//! # When not to use it
//! A set has no values: for routes use [`Rib`](crate::Rib) or [`Table`](crate::Table), and
//! [`Rib::aggregated`](crate::Rib::aggregated) for fewer routes with the same answers. A set is
//! built once and combined; adding single addresses costs O(ranges) each. To test millions of
//! addresses, compile a [`Fib`](crate::Fib): [`AddressSet::contains`] is a binary search.

mod algebra;
mod count;
mod cover;
mod range;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;

use crate::net::{Family, Prefix};

pub use count::AddressCount;
pub use cover::Split;
pub use range::AddressRange;

/// A set of addresses of one family.
///
/// Sorted ranges that neither overlap nor touch each other: 8 bytes each for IPv4, 32 for IPv6.
/// Building from n prefixes or ranges is O(n log n), O(n) if they are sorted; operations on two
/// sets are O(ranges of both).
///
/// ```
/// use longmatch::set::AddressSet;
/// use longmatch::{Ipv6, Prefix};
/// let halves: [Prefix<Ipv6>; 2] = ["2001:db8:8000::/33".parse()?, "2001:db8::/33".parse()?];
/// let set = AddressSet::from_iter(halves);
/// assert!(set.prefixes().eq(["2001:db8::/32".parse()?]));
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct AddressSet<F: Family> {
    /// In order; between two ranges lies at least one address.
    ranges: Vec<AddressRange<F>>,
}

impl<F: Family> AddressSet<F> {
    /// Makes the empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { ranges: Vec::new() }
    }

    /// The ranges in order; between two of them lies at least one address.
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv4, Prefix};
    /// let listed: [Prefix<Ipv4>; 2] = ["10.0.0.0/24".parse()?, "10.0.1.0/32".parse()?];
    /// let set = AddressSet::from_iter(listed);
    /// assert_eq!(set.ranges().len(), 1);
    /// assert_eq!(set.ranges()[0].to_string(), "10.0.0.0-10.0.1.0");
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn ranges(&self) -> &[AddressRange<F>] {
        &self.ranges
    }

    /// Whether the set has no address.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The number of addresses. O(ranges).
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv4, Prefix};
    /// let set = AddressSet::<Ipv4>::from(Prefix::DEFAULT);
    /// assert_eq!(set.count().get(), Some(1 << 32));
    /// ```
    #[must_use]
    pub fn count(&self) -> AddressCount {
        self.ranges.iter().map(AddressRange::count).sum()
    }

    /// Whether the set has an address. O(log ranges).
    #[must_use]
    pub fn contains(&self, addr: F::Addr) -> bool {
        self.contains_bits(F::bits(addr))
    }

    /// Whether the set has an address that is an integer. O(log ranges).
    #[must_use]
    pub fn contains_bits(&self, bits: F::Bits) -> bool {
        self.at_or_after(bits).is_some_and(|range| range.first() <= bits)
    }

    /// Whether the set has every address of a prefix or a range. O(log ranges).
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv4, Prefix};
    /// let set = AddressSet::<Ipv4>::from("10.0.0.0/8".parse::<Prefix<_>>()?);
    /// assert!(set.covers("10.9.0.0/16".parse::<Prefix<_>>()?));
    /// assert!(!set.covers("10.0.0.0/7".parse::<Prefix<_>>()?));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn covers(&self, range: impl Into<AddressRange<F>>) -> bool {
        let range = range.into();
        let found = self.at_or_after(range.first());
        found.is_some_and(|own| own.first() <= range.first() && range.last() <= own.last())
    }

    /// Whether the set has an address of a prefix or a range. O(log ranges).
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv4, Prefix};
    /// let set = AddressSet::<Ipv4>::from("10.0.0.0/8".parse::<Prefix<_>>()?);
    /// assert!(set.overlaps("10.0.0.0/7".parse::<Prefix<_>>()?));
    /// assert!(!set.overlaps("11.0.0.0/8".parse::<Prefix<_>>()?));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn overlaps(&self, range: impl Into<AddressRange<F>>) -> bool {
        let range = range.into();
        self.at_or_after(range.first()).is_some_and(|own| own.first() <= range.last())
    }

    /// The first range that ends at an address or after it.
    fn at_or_after(&self, bits: F::Bits) -> Option<&AddressRange<F>> {
        self.ranges.get(self.ranges.partition_point(|range| range.last() < bits))
    }

    /// Appends a range that begins at or after the beginning of the last one.
    fn push(&mut self, range: AddressRange<F>) {
        if !self.ranges.last_mut().is_some_and(|last| last.join(range)) {
            self.ranges.push(range);
        }
    }

    /// Sorts and joins ranges of any order.
    fn normalize(&mut self) {
        // The order of ranges that begin at the same address does not matter; sorted prefixes have
        // the longest of these ranges first.
        if !self.ranges.is_sorted_by_key(AddressRange::first) {
            self.ranges.sort_unstable_by_key(AddressRange::first);
        }
        self.ranges.dedup_by(|next, kept| kept.join(*next));
    }
}

impl<F: Family> From<Vec<AddressRange<F>>> for AddressSet<F> {
    /// Makes the set of ranges in any order, in their memory.
    fn from(ranges: Vec<AddressRange<F>>) -> Self {
        let mut set = Self { ranges };
        set.normalize();
        set
    }
}

impl<F: Family> From<AddressSet<F>> for Vec<AddressRange<F>> {
    /// The ranges in order, in the set's memory.
    fn from(set: AddressSet<F>) -> Self {
        set.ranges
    }
}

impl<F: Family> From<AddressRange<F>> for AddressSet<F> {
    /// The set of a range's addresses.
    fn from(range: AddressRange<F>) -> Self {
        Self { ranges: [range].into() }
    }
}

impl<F: Family> From<Prefix<F>> for AddressSet<F> {
    /// The set of a prefix's addresses.
    fn from(prefix: Prefix<F>) -> Self {
        AddressRange::from(prefix).into()
    }
}

impl<F: Family, R: Into<AddressRange<F>>> FromIterator<R> for AddressSet<F> {
    /// Makes the set of prefixes or ranges in any order.
    fn from_iter<I: IntoIterator<Item = R>>(iter: I) -> Self {
        iter.into_iter().map(Into::into).collect::<Vec<_>>().into()
    }
}

impl<F: Family, R: Into<AddressRange<F>>> Extend<R> for AddressSet<F> {
    /// Adds prefixes or ranges in any order. O(ranges + n log n): add many at once.
    fn extend<I: IntoIterator<Item = R>>(&mut self, iter: I) {
        self.ranges.extend(iter.into_iter().map(Into::into));
        self.normalize();
    }
}

impl<F: Family> fmt::Debug for AddressSet<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.ranges).finish()
    }
}
