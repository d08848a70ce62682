//! The methods over the routes of a table, written once, and those of [`RibLookups`] behind them.

use core::ops::Bound::{self, Excluded, Included, Unbounded};
use core::ops::RangeBounds;

use super::lookups::{IdValues, RibLookups, canonical};
use crate::net::{Bits, Family, IpPrefix, Ipv4, Ipv6, Prefix};
use crate::rib;

impl<'t, V: IdValues> RibLookups<'t, V> {
    /// The longest prefix that covers all of a prefix.
    pub fn longest_of_prefix(self, prefix: IpPrefix) -> Option<(IpPrefix, &'t V::Value)> {
        match canonical(prefix, self.keep_mapped) {
            IpPrefix::V4(prefix) => self.ip_entry(self.ipv4.get_lpm_prefix(prefix)?),
            IpPrefix::V6(prefix) => self.ip_entry(self.ipv6.get_lpm_prefix(prefix)?),
        }
    }

    /// Every prefix that a prefix covers, without its own and those that another such one covers.
    pub fn direct_children(
        self,
        prefix: IpPrefix,
    ) -> impl Iterator<Item = (IpPrefix, &'t V::Value)> {
        let (ipv4, ipv6) = match canonical(prefix, self.keep_mapped) {
            IpPrefix::V4(prefix) => (Some(self.ipv4.direct_children(prefix)), None),
            IpPrefix::V6(prefix) => (None, Some(self.ipv6.direct_children(prefix))),
        };
        self.chain(ipv4.into_iter().flatten(), ipv6.into_iter().flatten())
    }

    /// The prefixes of a range, in order.
    pub fn range(
        self,
        range: impl RangeBounds<IpPrefix>,
    ) -> impl DoubleEndedIterator<Item = (IpPrefix, &'t V::Value)> {
        let (ipv4, ipv6) = self.routes_of(range);
        let ipv4 = ipv4.filter_map(move |route| self.ip_entry(route));
        ipv4.chain(ipv6.filter_map(move |route| self.ip_entry(route)))
    }

    /// The routes of each family that a range has.
    pub fn routes_of(
        self,
        range: impl RangeBounds<IpPrefix>,
    ) -> (rib::Iter<'t, Ipv4>, rib::Iter<'t, Ipv6>) {
        let stored = |bound: Bound<&IpPrefix>| bound.map(|it| canonical(*it, self.keep_mapped));
        let (start, end) = (stored(range.start_bound()), stored(range.end_bound()));
        let v4 = |prefix| if let IpPrefix::V4(prefix) = prefix { Some(prefix) } else { None };
        let v6 = |prefix| if let IpPrefix::V6(prefix) = prefix { Some(prefix) } else { None };
        // All IPv4 prefixes are before all IPv6 ones.
        let end_of_ipv4 = Excluded(Prefix::host(Ipv4::addr(Bits::MAX)));
        let start_of_ipv6 = Excluded(Prefix::DEFAULT);
        (
            self.ipv4.range((of_family(start, v4, end_of_ipv4), of_family(end, v4, Unbounded))),
            self.ipv6.range((of_family(start, v6, Unbounded), of_family(end, v6, start_of_ipv6))),
        )
    }
}

/// A bound as one of the prefixes of a family: `other` if it is of the other family.
fn of_family<F: Family>(
    bound: Bound<IpPrefix>,
    own: impl Fn(IpPrefix) -> Option<Prefix<F>>,
    other: Bound<Prefix<F>>,
) -> Bound<Prefix<F>> {
    match bound {
        Unbounded => Unbounded,
        Included(prefix) => own(prefix).map_or(other, Included),
        Excluded(prefix) => own(prefix).map_or(other, Excluded),
    }
}

/// The methods over the routes of a type whose `routes` returns its [`RibLookups`].
///
/// `example` makes `table`, of the type, from a `Table`.
macro_rules! route_methods {
    (example: $example:literal) => {
        /// Number of routes of both families.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// assert_eq!(table.len(), 1);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn len(&self) -> usize {
            let routes = self.routes();
            routes.ipv4.len() + routes.ipv6.len()
        }

        /// Whether there is no route.
        ///
        /// ```
        /// # let table = longmatch::Table::<u8>::new();
        #[doc = $example]
        /// assert!(table.is_empty());
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// The value of exactly this prefix.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// assert_eq!(table.get("10.0.0.0/8".parse::<longmatch::IpPrefix>()?), Some(&"office"));
        /// assert_eq!(table.get("10.0.0.0/9".parse::<longmatch::IpPrefix>()?), None);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn get(&self, prefix: impl Into<$crate::IpPrefix>) -> Option<&T> {
            self.routes().get(prefix.into())
        }

        /// Every prefix that covers an address or a prefix, its own included, with its value.
        ///
        /// Shortest first.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// let lab: longmatch::IpPrefix = "10.9.0.0/16".parse()?;
        /// assert!(table.cover(lab).map(|(_, site)| site).eq([&"office"]));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn cover(
            &self,
            prefix: impl Into<$crate::IpPrefix>,
        ) -> impl Iterator<Item = ($crate::IpPrefix, &T)> {
            self.routes().cover(prefix.into())
        }

        /// Every prefix that `prefix` covers, its own included, with its value, in order.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// let all: longmatch::IpPrefix = "0.0.0.0/0".parse()?;
        /// assert!(table.children(all).map(|(_, site)| site).eq([&"office"]));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn children(
            &self,
            prefix: impl Into<$crate::IpPrefix>,
        ) -> impl Iterator<Item = ($crate::IpPrefix, &T)> {
            self.routes().children(prefix.into())
        }

        /// The longest prefix that covers all of a prefix, its own included, and its value.
        ///
        /// O(depth), in the routes; see [`Table::get_lpm_prefix`](crate::Table::get_lpm_prefix).
        pub fn get_lpm_prefix(
            &self,
            prefix: impl Into<$crate::IpPrefix>,
        ) -> Option<($crate::IpPrefix, &T)> {
            self.routes().longest_of_prefix(prefix.into())
        }

        /// The shortest prefix that covers an address or all of a prefix, and its value.
        ///
        /// See [`Table::get_spm`](crate::Table::get_spm).
        pub fn get_spm(
            &self,
            prefix: impl Into<$crate::IpPrefix>,
        ) -> Option<($crate::IpPrefix, &T)> {
            self.cover(prefix).next()
        }

        /// Every prefix that `prefix` covers, except for its own and for those that another such
        /// prefix covers.
        ///
        /// In order. See [`Table::direct_children`](crate::Table::direct_children).
        pub fn direct_children(
            &self,
            prefix: impl Into<$crate::IpPrefix>,
        ) -> impl Iterator<Item = ($crate::IpPrefix, &T)> {
            self.routes().direct_children(prefix.into())
        }

        /// The prefixes of a range, with their values, in order.
        ///
        /// O(depth), and O(1) a route. See [`Table::range`](crate::Table::range).
        pub fn range(
            &self,
            range: impl core::ops::RangeBounds<$crate::IpPrefix>,
        ) -> impl DoubleEndedIterator<Item = ($crate::IpPrefix, &T)> {
            self.routes().range(range)
        }

        /// Every prefix with its value, in order, IPv4 first.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// assert!(table.iter().map(|(_, site)| site).eq([&"office"]));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn iter(&self) -> impl Iterator<Item = ($crate::IpPrefix, &T)> {
            self.routes().iter()
        }
    };
}
pub(super) use route_methods;
