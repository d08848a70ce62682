//! The entries of a set of addresses.

use std::net::IpAddr;

use longmatch::set::{AddressRange, AddressSet};
use longmatch::{Family, IpPrefix, Ipv4, Ipv6};

use crate::data::key::Found;

/// Entries that are kept before equal and neighbouring ones are joined.
const KEPT: usize = 1 << 22;

/// Entries of an input, each as the range of its addresses, in the order of the input.
#[derive(Clone, Debug, Default)]
pub struct ListEntries {
    /// The IPv4 entries.
    pub ipv4: Vec<AddressRange<Ipv4>>,
    /// The IPv6 entries.
    pub ipv6: Vec<AddressRange<Ipv6>>,
    /// The numbers of entries at which equal and neighbouring ones are joined; 0 for never.
    limits: [usize; 2],
}

impl ListEntries {
    /// Entries that are joined when they become many, so that their memory is that of the set and not of a list that
    /// repeats its addresses.
    #[must_use]
    pub fn joined() -> Self {
        Self { limits: [KEPT; 2], ..Self::default() }
    }

    /// Adds a prefix or a range. IPv4-mapped prefixes become IPv4.
    pub(crate) fn add(&mut self, found: Found) {
        match found {
            Found::Prefix(prefix) => match prefix.unmapped() {
                IpPrefix::V4(prefix) => self.ipv4.push(prefix.into()),
                IpPrefix::V6(prefix) => self.ipv6.push(prefix.into()),
            },
            Found::Range(first, last) => match (first, last) {
                (IpAddr::V4(first), IpAddr::V4(last)) => {
                    self.ipv4.extend(AddressRange::new(first, last));
                }
                (IpAddr::V6(first), IpAddr::V6(last)) => {
                    self.ipv6.extend(AddressRange::new(first, last));
                }
                _ => {}
            },
        }
        self.reduce();
    }

    /// Joins entries if they are twice as many as after the last time.
    #[inline]
    pub(crate) fn reduce(&mut self) {
        reduce(&mut self.ipv4, &mut self.limits[0]);
        reduce(&mut self.ipv6, &mut self.limits[1]);
    }
}

#[inline]
fn reduce<F: Family>(entries: &mut Vec<AddressRange<F>>, limit: &mut usize) {
    if *limit > 0 && entries.len() >= *limit {
        *entries = AddressSet::from(std::mem::take(entries)).into();
        *limit = KEPT.max(entries.len() * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_entries_are_joined() {
        let range = |n| AddressRange::<Ipv4>::from_bits(n, n).unwrap();
        let (mut entries, mut limit) = (vec![range(7); 3], 4);
        reduce(&mut entries, &mut limit);
        assert_eq!((entries.len(), limit), (3, 4));
        entries.push(range(8));
        reduce(&mut entries, &mut limit);
        assert_eq!((&*entries, limit), (&[AddressRange::from_bits(7, 8).unwrap()][..], KEPT));
    }
}
