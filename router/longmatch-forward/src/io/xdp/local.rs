//! The addresses of this machine: their packets stay with the kernel.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::IpAddr;

use longmatch_bpf::sys::Map;

use super::maps;

/// Addresses that the map has room for.
pub(super) const MAX_ADDRESSES: u32 = 1 << 16;

/// The map that the XDP programs of all interfaces read.
#[derive(Debug)]
pub(super) struct LocalAddresses {
    map: Map,
    /// The content of the map.
    keys: HashSet<[u8; 16]>,
}

impl LocalAddresses {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { map: maps::of_addresses(MAX_ADDRESSES)?, keys: HashSet::new() })
    }

    pub(super) fn map(&self) -> &Map {
        &self.map
    }

    /// Makes the map hold exactly these addresses. The others stay as they are meanwhile.
    pub(super) fn set(
        &mut self,
        addresses: impl IntoIterator<Item = IpAddr>,
    ) -> Result<(), LocalAddressError> {
        let wanted: HashSet<_> = addresses.into_iter().map(key).collect();
        let mut failures = Vec::new();
        // Room first.
        let stale: Vec<_> = self.keys.difference(&wanted).copied().collect();
        for key in stale {
            match self.map.remove(&key) {
                Err(error) => failures.push((key, error)),
                Ok(_) => drop(self.keys.remove(&key)),
            }
        }
        let new: Vec<_> = wanted.difference(&self.keys).copied().collect();
        for key in new {
            match self.map.insert(&key, &[1]) {
                Ok(()) => drop(self.keys.insert(key)),
                Err(error) => failures.push((key, error)),
            }
        }
        let count = failures.len();
        match failures.into_iter().next() {
            None => Ok(()),
            Some((key, source)) => Err(LocalAddressError {
                address: IpAddr::from(key).to_canonical(),
                count,
                source: source.into(),
            }),
        }
    }
}

/// The 16 bytes of an address; IPv4 addresses are mapped into IPv6.
fn key(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Addresses that could not be added to those of this machine, or removed from them.
///
/// The others are in force. Packets for a missing address go through the forwarder, which hands them
/// to the kernel by the TUN device.
#[derive(Debug)]
pub struct LocalAddressError {
    /// One of them.
    pub address: IpAddr,
    /// Their number.
    pub count: usize,
    /// The kernel's error for the one.
    pub source: io::Error,
}

impl fmt::Display for LocalAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, count, source } = self;
        write!(f, "the XDP program's list of local addresses lacks a change for {address}")?;
        if *count > 1 {
            write!(f, " and {} others", count - 1)?;
        }
        write!(f, ": {source} (it holds {MAX_ADDRESSES} addresses)")
    }
}

impl std::error::Error for LocalAddressError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn addresses_come_and_go_and_too_many_are_reported() {
        let mut local = match LocalAddresses::new() {
            Ok(local) => local,
            Err(error) => {
                let _ = writeln!(io::stderr(), "skipped: the map of local addresses: {error}");
                return;
            }
        };
        let first = |count| (0..count).map(|number| IpAddr::V4(Ipv4Addr::from_bits(number)));
        let error = local.set(first(MAX_ADDRESSES + 4)).unwrap_err();
        assert_eq!((error.count, local.keys.len()), (4, MAX_ADDRESSES as usize));
        let text = error.to_string();
        assert!(text.contains(" and 3 others: ") && text.contains("65536 addresses"), "{text}");
        // An address that was missing finds room.
        let wanted = [error.address, "2001:db8::1".parse().unwrap()];
        local.set(wanted).unwrap();
        assert_eq!(local.keys, HashSet::from(wanted.map(key)));
        local.set([]).unwrap();
        assert!(local.keys.is_empty());
        assert!(!local.map.remove(&key(wanted[0])).unwrap());
    }
}
