//! Each crate behind the two calls that are timed: build, and look up one address.

use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ip_network::{Ipv4Network, Ipv6Network};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use prefix_trie::PrefixMap;
use ts_bart::RoutingTable;

/// A crate, with a table for each family.
pub trait Peer {
    type Ipv4: Table<Address = Ipv4Addr>;
    type Ipv6: Table<Address = Ipv6Addr>;
}

/// The table of one family.
pub trait Table: Sized {
    /// How the protocol's files give addresses.
    type Address: Copy;
    /// A prefix in the form that building takes.
    type Prefix;
    /// An address in the form that lookups take.
    type Key;

    fn prefix(address: Self::Address, len: u8) -> Option<Self::Prefix>;
    fn key(address: Self::Address) -> Self::Key;
    fn build(routes: Vec<(Self::Prefix, u32)>) -> Self;
    fn lookup(&self, key: &Self::Key) -> Option<u32>;
}

pub struct PrefixTrie;

impl Peer for PrefixTrie {
    type Ipv4 = PrefixMap<Ipv4Net, u32>;
    type Ipv6 = PrefixMap<Ipv6Net, u32>;
}

macro_rules! prefix_trie {
    ($address:ty, $net:ty, $width:expr) => {
        impl Table for PrefixMap<$net, u32> {
            type Address = $address;
            type Prefix = $net;
            type Key = $net;

            fn prefix(address: $address, len: u8) -> Option<$net> {
                <$net>::new(address, len).ok()
            }

            fn key(address: $address) -> $net {
                <$net>::new_assert(address, $width)
            }

            fn build(routes: Vec<($net, u32)>) -> Self {
                routes.into_iter().collect()
            }

            fn lookup(&self, key: &$net) -> Option<u32> {
                self.get_lpm(key).map(|(_, id)| *id)
            }
        }
    };
}

prefix_trie!(Ipv4Addr, Ipv4Net, 32);
prefix_trie!(Ipv6Addr, Ipv6Net, 128);

pub struct IpNetworkTable;

/// One side of a table of both families.
pub struct OneSide<T, A>(T, PhantomData<A>);

impl Peer for IpNetworkTable {
    type Ipv4 = OneSide<ip_network_table::IpNetworkTable<u32>, Ipv4Addr>;
    type Ipv6 = OneSide<ip_network_table::IpNetworkTable<u32>, Ipv6Addr>;
}

macro_rules! ip_network_table {
    ($address:ty, $network:ty, $longest_match:ident) => {
        impl Table for OneSide<ip_network_table::IpNetworkTable<u32>, $address> {
            type Address = $address;
            type Prefix = $network;
            type Key = $address;

            fn prefix(address: $address, len: u8) -> Option<$network> {
                <$network>::new(address, len).ok()
            }

            fn key(address: $address) -> $address {
                address
            }

            fn build(routes: Vec<($network, u32)>) -> Self {
                let mut table = ip_network_table::IpNetworkTable::new();
                for (network, id) in routes {
                    table.insert(network, id);
                }
                Self(table, PhantomData)
            }

            fn lookup(&self, key: &$address) -> Option<u32> {
                self.0.$longest_match(*key).map(|(_, id)| *id)
            }
        }
    };
}

ip_network_table!(Ipv4Addr, Ipv4Network, longest_match_ipv4);
ip_network_table!(Ipv6Addr, Ipv6Network, longest_match_ipv6);

pub struct Poptrie;

impl Peer for Poptrie {
    type Ipv4 = poptrie::Poptrie<(u32, u8), u32>;
    type Ipv6 = poptrie::Poptrie<(u128, u8), u32>;
}

macro_rules! poptrie {
    ($address:ty, $bits:ty) => {
        impl Table for poptrie::Poptrie<($bits, u8), u32> {
            type Address = $address;
            type Prefix = ($bits, u8);
            type Key = $bits;

            fn prefix(address: $address, len: u8) -> Option<($bits, u8)> {
                (u32::from(len) <= <$bits>::BITS).then(|| (address.to_bits(), len))
            }

            fn key(address: $address) -> $bits {
                address.to_bits()
            }

            /// All at once: one by one would take time that grows with the square of the routes.
            fn build(routes: Vec<(($bits, u8), u32)>) -> Self {
                routes.into_iter().collect()
            }

            fn lookup(&self, key: &$bits) -> Option<u32> {
                poptrie::Poptrie::lookup(self, *key).copied()
            }
        }
    };
}

poptrie!(Ipv4Addr, u32);
poptrie!(Ipv6Addr, u128);

pub struct TsBart;

impl Peer for TsBart {
    type Ipv4 = OneSide<ts_bart::Table<u32>, Ipv4Addr>;
    type Ipv6 = OneSide<ts_bart::Table<u32>, Ipv6Addr>;
}

impl<A: Copy + Into<IpAddr>> Table for OneSide<ts_bart::Table<u32>, A> {
    type Address = A;
    type Prefix = IpNet;
    type Key = IpAddr;

    fn prefix(address: A, len: u8) -> Option<IpNet> {
        IpNet::new(address.into(), len).ok()
    }

    fn key(address: A) -> IpAddr {
        address.into()
    }

    fn build(routes: Vec<(IpNet, u32)>) -> Self {
        let mut table = ts_bart::Table::default();
        for (network, id) in routes {
            table.insert(network, id);
        }
        Self(table, PhantomData)
    }

    fn lookup(&self, key: &IpAddr) -> Option<u32> {
        self.0.lookup(*key).copied()
    }
}
