//! The prefixes of a set: the fewest, those of a bounded length, parts of one length.

use core::iter::FusedIterator;
use core::slice;

use super::{AddressCount, AddressRange, AddressSet};
use crate::net::{Bits, Family, Prefix};

impl<F: Family> AddressSet<F> {
    /// The fewest prefixes that cover exactly this set, in order.
    ///
    /// O(prefixes) in all. No other prefixes cover the set in the same number.
    ///
    /// ```
    /// use longmatch::set::{AddressRange, AddressSet};
    /// use longmatch::Ipv4;
    /// let range = AddressRange::<Ipv4>::new([10, 0, 0, 0].into(), [10, 0, 0, 4].into()).unwrap();
    /// let prefixes = AddressSet::from(range).prefixes().map(|it| it.to_string()).collect::<Vec<_>>();
    /// assert_eq!(prefixes, ["10.0.0.0/30", "10.0.0.4/32"]);
    /// ```
    pub fn prefixes(&self) -> impl FusedIterator<Item = Prefix<F>> + Clone {
        self.fewest()
    }

    fn fewest(&self) -> Prefixes<'_, F> {
        Prefixes { ranges: self.ranges.iter(), range: RangePrefixes { rest: None } }
    }

    /// The smallest set of whole blocks of `len` bits that has every address of this one.
    ///
    /// No prefix of the result is longer than `len`. Among all covers of this set by such prefixes
    /// its [`AddressSet::prefixes`] add the fewest addresses, and are the fewest prefixes that do.
    /// A length beyond the family's width changes nothing.
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv4, Prefix};
    /// let hosts: [Prefix<Ipv4>; 2] = ["192.0.2.7/32".parse()?, "192.0.3.9/32".parse()?];
    /// let set = AddressSet::from_iter(hosts);
    /// let rounded = set.rounded_out(24);
    /// assert!(rounded.prefixes().eq(["192.0.2.0/23".parse()?]));
    /// let added = rounded.count().checked_sub(set.count());
    /// assert_eq!(added.and_then(|it| it.get()), Some(510));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    #[must_use]
    pub fn rounded_out(&self, len: u8) -> Self {
        let mask = F::Bits::mask(len.min(F::WIDTH));
        let mut rounded = Self::new();
        for range in &self.ranges {
            let blocks = AddressRange::from_bits(range.first() & mask, range.last() | !mask);
            blocks.into_iter().for_each(|blocks| rounded.push(blocks));
        }
        rounded
    }

    /// The set in parts of `len` bits, in order.
    ///
    /// Prefixes of the set's fewest that are longer than `len` stay as they are. There may be up to
    /// 2^128 parts: see [`Split::remaining`]. A length beyond the family's width is the width.
    ///
    /// ```
    /// use longmatch::set::AddressSet;
    /// use longmatch::{Ipv4, Prefix};
    /// let set = AddressSet::<Ipv4>::from("10.0.0.0/23".parse::<Prefix<_>>()?);
    /// assert!(set.split(24).eq(["10.0.0.0/24".parse()?, "10.0.1.0/24".parse()?]));
    /// # Ok::<(), longmatch::ParsePrefixError>(())
    /// ```
    pub fn split(&self, len: u8) -> Split<'_, F> {
        Split { prefixes: self.fewest(), len: len.min(F::WIDTH), next: None }
    }
}

/// The fewest prefixes of a range, in order.
#[derive(Clone, Debug)]
pub(super) struct RangePrefixes<F: Family> {
    /// The addresses that no prefix has covered yet.
    rest: Option<AddressRange<F>>,
}

impl<F: Family> RangePrefixes<F> {
    pub(super) fn new(range: AddressRange<F>) -> Self {
        Self { rest: Some(range) }
    }
}

impl<F: Family> Iterator for RangePrefixes<F> {
    type Item = Prefix<F>;

    /// Takes the largest prefix that begins where the rest begins and ends in it.
    ///
    /// Every cover has a prefix that begins there, and a larger one leaves the least to cover.
    #[inline]
    fn next(&mut self) -> Option<Prefix<F>> {
        let rest = self.rest?;
        let (first, last) = (rest.first().to_u128(), rest.last().to_u128());
        // The prefix has 2^host addresses. Two limits hold for `host`: the zeros at the end of `first`,
        // and the logarithm of the number of addresses, which is 128 for all of IPv6.
        let log_len = (last - first).checked_add(1).map_or(128, |count| count.ilog2() as u8);
        let host = rest.first().trailing_zeros().min(log_len).min(F::WIDTH);
        let prefix = Prefix::<F>::from_bits_masked(rest.first(), F::WIDTH - host);
        let after = prefix.last().successor();
        self.rest = after.and_then(|after| AddressRange::from_bits(after, rest.last()));
        Some(prefix)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.rest {
            Some(_) => (1, Some(2 * usize::from(F::WIDTH))),
            None => (0, Some(0)),
        }
    }
}

impl<F: Family> FusedIterator for RangePrefixes<F> {}

/// The fewest prefixes of a set, in order.
#[derive(Clone, Debug)]
struct Prefixes<'s, F: Family> {
    ranges: slice::Iter<'s, AddressRange<F>>,
    range: RangePrefixes<F>,
}

impl<F: Family> Iterator for Prefixes<'_, F> {
    type Item = Prefix<F>;

    #[inline]
    fn next(&mut self) -> Option<Prefix<F>> {
        if self.range.rest.is_none() {
            self.range = RangePrefixes::new(*self.ranges.next()?);
        }
        self.range.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let begun = usize::from(self.range.rest.is_some());
        let most = (self.ranges.len() + begun).checked_mul(2 * usize::from(F::WIDTH));
        (self.ranges.len() + begun, most)
    }
}

impl<F: Family> FusedIterator for Prefixes<'_, F> {}

/// A set in parts of one length, in order; from [`AddressSet::split`].
///
/// ```
/// use longmatch::{Ipv4, Prefix, set::AddressSet};
/// let set = AddressSet::<Ipv4>::from(Prefix::DEFAULT);
/// let mut parts = set.split(8);
/// assert_eq!(parts.next(), Some("0.0.0.0/8".parse()?));
/// assert_eq!(parts.remaining().get(), Some(255));
/// # Ok::<(), longmatch::ParsePrefixError>(())
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Clone, Debug)]
pub struct Split<'s, F: Family> {
    prefixes: Prefixes<'s, F>,
    len: u8,
    /// The first addresses of the next and of the last part of the prefix that is being split.
    next: Option<(F::Bits, F::Bits)>,
}

impl<F: Family> Split<'_, F> {
    /// The number of parts that are left. O(prefixes).
    ///
    /// ```
    /// use longmatch::{Ipv6, Prefix, set::{AddressCount, AddressSet}};
    /// let set = AddressSet::<Ipv6>::from(Prefix::DEFAULT);
    /// assert_eq!(set.split(64).remaining().get(), Some(1 << 64));
    /// assert_eq!(set.split(128).remaining(), AddressCount::MAX);
    /// ```
    #[must_use]
    pub fn remaining(&self) -> AddressCount {
        let begun = self.next.map(|(next, last)| {
            let step = u32::from(F::WIDTH - self.len);
            AddressCount::after(last.to_u128().wrapping_sub(next.to_u128()) >> step)
        });
        let parts = |prefix: Prefix<F>| match self.len.saturating_sub(prefix.len()) {
            128 => AddressCount::MAX,
            bits => (1 << bits).into(),
        };
        begun.into_iter().chain(self.prefixes.clone().map(parts)).sum()
    }
}

impl<F: Family> Iterator for Split<'_, F> {
    type Item = Prefix<F>;

    #[inline]
    fn next(&mut self) -> Option<Prefix<F>> {
        let (at, last) = match self.next.take() {
            Some(begun) => begun,
            None => {
                let prefix = self.prefixes.next()?;
                if prefix.len() >= self.len {
                    return Some(prefix);
                }
                (prefix.first(), prefix.last() & F::Bits::mask(self.len))
            }
        };
        if at < last {
            // A part has at most half of the addresses, so the shift is at most 127.
            self.next = Some((at.wrapping_add(1 << (F::WIDTH - self.len)), last));
        }
        Some(Prefix::from_bits_masked(at, self.len))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.prefixes.size_hint().0 + usize::from(self.next.is_some()), None)
    }
}

impl<F: Family> FusedIterator for Split<'_, F> {}
