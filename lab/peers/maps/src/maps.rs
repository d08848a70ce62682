//! One interface over the three maps. Keys are of each map's own type, made before the clock starts.

use std::net::{Ipv4Addr, Ipv6Addr};

use ip_network::{Ipv4Network, Ipv6Network};
use ip_network_table::IpNetworkTable;
use ipnet::{Ipv4Net, Ipv6Net};
use longmatch::{Ipv4, Ipv6, Prefix, Table};
use prefix_trie::PrefixMap;

/// The addresses of a family.
pub trait Addr: Copy + 'static {
    const WIDTH: u8;
    /// Parses an address.
    fn parse(text: &str) -> Self;
    /// This address with the bits after a length from a random number.
    fn inside(self, len: u8, random: u128) -> Self;
}

macro_rules! addr {
    ($addr:ty, $bits:ty) => {
        impl Addr for $addr {
            const WIDTH: u8 = <$bits>::BITS as u8;

            fn parse(text: &str) -> Self {
                text.parse().expect("an address")
            }

            fn inside(self, len: u8, random: u128) -> Self {
                let host = <$bits>::MAX.checked_shr(len.into()).unwrap_or(0);
                (self.to_bits() | random as $bits & host).into()
            }
        }
    };
}

addr!(Ipv4Addr, u32);
addr!(Ipv6Addr, u128);

/// A map from prefixes of one family to numbers.
pub trait Map<A>: Clone {
    const NAME: &'static str;
    type Key: Copy;

    fn new() -> Self;
    fn key(addr: A, len: u8) -> Self::Key;
    fn insert(&mut self, key: Self::Key, value: u32);
    fn remove(&mut self, key: Self::Key) -> bool;
    fn get(&self, key: Self::Key) -> Option<u32>;
    /// The length and the value of the longest match.
    fn get_lpm(&self, addr: A) -> Option<(u8, u32)>;
    /// The sum of the lengths of all matches.
    fn cover(&self, addr: A) -> u64;
    /// The sum of all lengths and values.
    fn iter(&self) -> u64;
    /// The number of prefixes in either map, if the map has such an operation.
    fn union(&self, other: &Self) -> Option<usize>;
}

macro_rules! maps {
    ($addr:ty, $family:ty, $net:ty, $network:ty, $longest:ident) => {
        impl Map<$addr> for Table<u32> {
            const NAME: &'static str = "longmatch";
            type Key = Prefix<$family>;

            fn new() -> Self {
                Table::new()
            }

            fn key(addr: $addr, len: u8) -> Self::Key {
                Prefix::new(addr, len).expect("a prefix")
            }

            fn insert(&mut self, key: Self::Key, value: u32) {
                Table::insert(self, key, value).expect("below every limit");
            }

            fn remove(&mut self, key: Self::Key) -> bool {
                Table::remove(self, key).is_some()
            }

            fn get(&self, key: Self::Key) -> Option<u32> {
                Table::get(self, key).copied()
            }

            fn get_lpm(&self, addr: $addr) -> Option<(u8, u32)> {
                Table::get_lpm(self, addr).map(|(prefix, value)| (prefix.len(), *value))
            }

            fn cover(&self, addr: $addr) -> u64 {
                Table::cover(self, addr).map(|(prefix, _)| u64::from(prefix.len())).sum()
            }

            fn iter(&self) -> u64 {
                Table::iter(self).map(|(prefix, value)| sum(prefix.len(), *value)).sum()
            }

            fn union(&self, other: &Self) -> Option<usize> {
                Some(Table::union(self, other).count())
            }
        }

        impl Map<$addr> for PrefixMap<$net, u32> {
            const NAME: &'static str = "prefix-trie";
            type Key = $net;

            fn new() -> Self {
                PrefixMap::new()
            }

            fn key(addr: $addr, len: u8) -> Self::Key {
                <$net>::new(addr, len).expect("a prefix")
            }

            fn insert(&mut self, key: Self::Key, value: u32) {
                PrefixMap::insert(self, key, value);
            }

            fn remove(&mut self, key: Self::Key) -> bool {
                PrefixMap::remove(self, &key).is_some()
            }

            fn get(&self, key: Self::Key) -> Option<u32> {
                PrefixMap::get(self, &key).copied()
            }

            fn get_lpm(&self, addr: $addr) -> Option<(u8, u32)> {
                let found = PrefixMap::get_lpm(self, &<$net>::from(addr));
                found.map(|(net, value)| (net.prefix_len(), *value))
            }

            fn cover(&self, addr: $addr) -> u64 {
                let net = <$net>::from(addr);
                PrefixMap::cover(self, &net).map(|(net, _)| u64::from(net.prefix_len())).sum()
            }

            fn iter(&self) -> u64 {
                PrefixMap::iter(self).map(|(net, value)| sum(net.prefix_len(), *value)).sum()
            }

            fn union(&self, other: &Self) -> Option<usize> {
                use prefix_trie::{AsView, TrieView};
                Some(self.view().union(other.view()).iter().count())
            }
        }

        impl Map<$addr> for Nets<$addr> {
            const NAME: &'static str = "ip_network_table";
            type Key = $network;

            fn new() -> Self {
                Self(IpNetworkTable::new(), core::marker::PhantomData)
            }

            fn key(addr: $addr, len: u8) -> Self::Key {
                <$network>::new(addr, len).expect("a prefix")
            }

            fn insert(&mut self, key: Self::Key, value: u32) {
                self.0.insert(key, value);
            }

            fn remove(&mut self, key: Self::Key) -> bool {
                self.0.remove(key).is_some()
            }

            fn get(&self, key: Self::Key) -> Option<u32> {
                self.0.exact_match(key).copied()
            }

            fn get_lpm(&self, addr: $addr) -> Option<(u8, u32)> {
                self.0.$longest(addr).map(|(net, value)| (net.netmask(), *value))
            }

            fn cover(&self, addr: $addr) -> u64 {
                self.0.matches(addr).map(|(net, _)| u64::from(net.netmask())).sum()
            }

            fn iter(&self) -> u64 {
                self.0.iter().map(|(net, value)| sum(net.netmask(), *value)).sum()
            }

            fn union(&self, _: &Self) -> Option<usize> {
                None
            }
        }
    };
}

/// A table of `ip_network_table` used for one family; it cannot be cloned, so a clone is built.
pub struct Nets<A>(IpNetworkTable<u32>, core::marker::PhantomData<A>);

impl<A> Clone for Nets<A> {
    fn clone(&self) -> Self {
        let mut copy = IpNetworkTable::new();
        for (net, value) in self.0.iter() {
            copy.insert(net, *value);
        }
        Self(copy, core::marker::PhantomData)
    }
}

fn sum(len: u8, value: u32) -> u64 {
    u64::from(len) + u64::from(value)
}

maps!(Ipv4Addr, Ipv4, Ipv4Net, Ipv4Network, longest_match_ipv4);
maps!(Ipv6Addr, Ipv6, Ipv6Net, Ipv6Network, longest_match_ipv6);
