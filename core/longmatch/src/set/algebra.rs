//! Operations on two sets: each is one pass over the ranges of both.

use super::{AddressRange, AddressSet};
use crate::net::{Bits, Family, Prefix};

impl<F: Family> AddressSet<F> {
    /// The addresses of this set or the other.
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv4, Prefix};
    /// let [low, high]: [Prefix<Ipv4>; 2] = ["10.0.0.0/9".parse()?, "10.128.0.0/9".parse()?];
    /// let both = AddressSet::from(low).union(&high.into());
    /// assert_eq!(both, AddressSet::from("10.0.0.0/8".parse::<Prefix<_>>()?));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (mut left, mut right) = (&self.ranges[..], &other.ranges[..]);
        let mut joined = Self::new();
        while let ([a, rest_left @ ..], [b, rest_right @ ..]) = (left, right) {
            if a <= b {
                joined.push(*a);
                left = rest_left;
            } else {
                joined.push(*b);
                right = rest_right;
            }
        }
        left.iter().chain(right).for_each(|range| joined.push(*range));
        joined
    }

    /// The addresses that both sets have.
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv4, Prefix};
    /// let [office, lab]: [Prefix<Ipv4>; 2] = ["10.0.0.0/8".parse()?, "10.9.0.0/16".parse()?];
    /// assert_eq!(AddressSet::from(office).intersection(&lab.into()), lab.into());
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut left, mut right) = (&self.ranges[..], &other.ranges[..]);
        let mut common = Self::new();
        while let ([a, rest_left @ ..], [b, rest_right @ ..]) = (left, right) {
            let both = AddressRange::from_bits(a.first().max(b.first()), a.last().min(b.last()));
            // Addresses side by side in both sets are in one range of each, so nothing can be joined.
            common.ranges.extend(both);
            if a.last() < b.last() {
                left = rest_left;
            } else {
                right = rest_right;
            }
        }
        common
    }

    /// The addresses of this set that the other lacks.
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv4, Prefix};
    /// let [office, low]: [Prefix<Ipv4>; 2] = ["10.0.0.0/8".parse()?, "10.0.0.0/9".parse()?];
    /// let rest = AddressSet::from(office).difference(&low.into());
    /// assert_eq!(rest, AddressSet::from("10.128.0.0/9".parse::<Prefix<_>>()?));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut right = &other.ranges[..];
        let mut rest = Self::new();
        for range in &self.ranges {
            // The rest of `range`.
            let mut left = Some(*range);
            while let (Some(own), [cut, later @ ..]) = (left, right) {
                if cut.first() > own.last() {
                    break;
                }
                let before = cut.first().predecessor();
                rest.ranges.extend(before.and_then(|it| AddressRange::from_bits(own.first(), it)));
                let after = cut.last().successor();
                left = after
                    .and_then(|after| AddressRange::from_bits(own.first().max(after), own.last()));
                // A cut that reaches beyond this range may cut the next one too.
                if left.is_some() {
                    right = later;
                }
            }
            rest.ranges.extend(left);
        }
        rest
    }

    /// The addresses of a prefix that this set lacks.
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv6, Prefix};
    /// let used = AddressSet::<Ipv6>::from("::/1".parse::<Prefix<_>>()?);
    /// let free = used.complement(Prefix::DEFAULT);
    /// assert_eq!(free, AddressSet::from("8000::/1".parse::<Prefix<_>>()?));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn complement(&self, within: Prefix<F>) -> Self {
        Self::from(within).difference(self)
    }

    /// Whether the other set has every address of this one.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        let mut right = &other.ranges[..];
        self.ranges.iter().all(|range| {
            while let [cover, later @ ..] = right
                && cover.last() < range.first()
            {
                right = later;
            }
            let cover = right.first();
            cover.is_some_and(|it| it.first() <= range.first() && range.last() <= it.last())
        })
    }
}
