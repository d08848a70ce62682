//! Given destinations to look up, for example those of a file.

use core::net::IpAddr;

/// Given destinations of both families.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Destinations {
    /// Name in reports.
    pub name: String,
    /// The IPv4 addresses, in their order.
    pub ipv4: Vec<u32>,
    /// The IPv6 addresses, in their order.
    pub ipv6: Vec<u128>,
}

impl Destinations {
    /// Separates addresses by family and keeps their order.
    pub fn new(name: impl Into<String>, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        let mut destinations = Self { name: name.into(), ..Self::default() };
        for address in addresses {
            match address {
                IpAddr::V4(address) => destinations.ipv4.push(address.to_bits()),
                IpAddr::V6(address) => destinations.ipv6.push(address.to_bits()),
            }
        }
        destinations
    }
}
