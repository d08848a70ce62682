//! The maps of the XDP programs.

use longmatch_bpf::sys::{Error, Map, MapKind, MapSpec};

/// A hash map with addresses as keys, 16 bytes long.
pub(super) fn of_addresses(max_entries: u32) -> Result<Map, Error> {
    let spec = MapSpec::new(MapKind::Hash, "local_addresses", 1, max_entries);
    Map::create(&MapSpec { key_size: 16, ..spec })
}

/// An array of one element: the Ethernet address of an interface, in the first six bytes, and more about it.
pub(super) fn of_ethernet_address() -> Result<Map, Error> {
    Map::create(&MapSpec::new(MapKind::Array, "ethernet", 8, 1))
}

/// An array of times, by queue. All are 0.
pub(super) fn of_times(max_entries: u32) -> Result<Map, Error> {
    Map::create(&MapSpec::new(MapKind::Array, "alive_until", 8, max_entries))
}

/// A map from queues to AF_XDP sockets.
pub(super) fn of_sockets(max_entries: u32) -> Result<Map, Error> {
    Map::create(&MapSpec::new(MapKind::XskMap, "sockets", 4, max_entries))
}
