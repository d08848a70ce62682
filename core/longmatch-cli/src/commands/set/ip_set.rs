//! Sets of addresses of both families.

use longmatch::set::AddressSet;
use longmatch::{Ipv4, Ipv6, Prefix};
use longmatch_feed::ListEntries;

use crate::families::Families;

/// A set of addresses of both families.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IpSet {
    /// The IPv4 addresses.
    pub ipv4: AddressSet<Ipv4>,
    /// The IPv6 addresses.
    pub ipv6: AddressSet<Ipv6>,
}

impl IpSet {
    /// The addresses of a list, of the families that are wanted.
    pub fn of(entries: ListEntries, families: Families) -> Self {
        let mut set = Self::default();
        if families.ipv4 {
            set.ipv4 = entries.ipv4.into();
        }
        if families.ipv6 {
            set.ipv6 = entries.ipv6.into();
        }
        set
    }

    /// All addresses of families.
    pub fn whole(ipv4: bool, ipv6: bool) -> Self {
        let mut set = Self::default();
        if ipv4 {
            set.ipv4 = Prefix::DEFAULT.into();
        }
        if ipv6 {
            set.ipv6 = Prefix::DEFAULT.into();
        }
        set
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ipv4.is_empty() && self.ipv6.is_empty()
    }

    /// The addresses of either set.
    pub fn union(&self, other: &Self) -> Self {
        Self { ipv4: self.ipv4.union(&other.ipv4), ipv6: self.ipv6.union(&other.ipv6) }
    }

    /// The addresses of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        Self {
            ipv4: self.ipv4.intersection(&other.ipv4),
            ipv6: self.ipv6.intersection(&other.ipv6),
        }
    }

    /// The addresses that the other set lacks.
    pub fn difference(&self, other: &Self) -> Self {
        Self { ipv4: self.ipv4.difference(&other.ipv4), ipv6: self.ipv6.difference(&other.ipv6) }
    }
}
