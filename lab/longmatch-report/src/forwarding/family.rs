//! The address families, as the forwarder needs them.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use longmatch::{EngineKind, EngineSpec, InsertError, Ipv4, Ipv6, Rib, Table, TableSpec};
use longmatch_bench::BenchFamily;
use longmatch_forward::io::GeneratedFrames;
use longmatch_forward::packet::Parsed;
use longmatch_forward::{Port, Target, spread};

/// An address family whose packets are forwarded.
pub(crate) trait ForwardFamily: BenchFamily {
    /// Place of the TTL or the hop limit in a frame.
    const TTL: usize;

    /// Packets that [`ForwardFamily::is_forwarded`] leaves out, in words.
    const LEFT_OUT: &'static str;

    /// Whether a router forwards packets to this address, if it has a route.
    fn is_forwarded(addr: Self::Bits) -> bool;

    /// Returns the generated packets to these destinations; `None` without any destination.
    fn frames(ports: &[Arc<Port>], destinations: &[Self::Bits]) -> Option<GeneratedFrames>;

    /// Returns the destination of a packet of this family.
    fn destination(parsed: Parsed) -> Option<Self::Bits>;

    /// Returns a forwarding table of these routes, in which each next hop is a separate neighbour.
    ///
    /// # Errors
    /// As [`spread`].
    fn spread(rib: &Rib<Self>, ports: &[Arc<Port>]) -> Result<Table<Target>, InsertError>;

    /// Returns the specification of a table whose engine for this family is `engine`.
    fn table_spec(engine: EngineSpec) -> TableSpec;
}

/// The engine of the family without routes: its structure is the smallest.
const UNUSED: EngineKind = EngineKind::Radix;

impl ForwardFamily for Ipv4 {
    const TTL: usize = 22;
    const LEFT_OUT: &'static str = "224.0.0.0/4, 127.0.0.0/8, 0.0.0.0 and 255.255.255.255";

    fn is_forwarded(addr: u32) -> bool {
        let addr = Ipv4Addr::from(addr);
        !addr.is_multicast()
            && !addr.is_loopback()
            && !addr.is_unspecified()
            && !addr.is_broadcast()
    }

    fn frames(ports: &[Arc<Port>], destinations: &[u32]) -> Option<GeneratedFrames> {
        GeneratedFrames::ipv4(ports, destinations.iter().copied().map(Ipv4Addr::from))
    }

    fn destination(parsed: Parsed) -> Option<u32> {
        match parsed {
            Parsed::Ipv4 { destination, .. } => Some(destination),
            _ => None,
        }
    }

    fn spread(rib: &Rib<Self>, ports: &[Arc<Port>]) -> Result<Table<Target>, InsertError> {
        spread(rib, &Rib::new(), ports, |_| None)
    }

    fn table_spec(engine: EngineSpec) -> TableSpec {
        TableSpec::new(UNUSED).ipv4(engine)
    }
}

impl ForwardFamily for Ipv6 {
    const TTL: usize = 21;
    const LEFT_OUT: &'static str = "ff00::/8, fe80::/10, :: and ::1";

    fn is_forwarded(addr: u128) -> bool {
        let addr = Ipv6Addr::from(addr);
        !addr.is_multicast()
            && !addr.is_unicast_link_local()
            && !addr.is_unspecified()
            && !addr.is_loopback()
    }

    fn frames(ports: &[Arc<Port>], destinations: &[u128]) -> Option<GeneratedFrames> {
        GeneratedFrames::ipv6(ports, destinations.iter().copied().map(Ipv6Addr::from))
    }

    fn destination(parsed: Parsed) -> Option<u128> {
        match parsed {
            Parsed::Ipv6 { destination, .. } => Some(destination),
            _ => None,
        }
    }

    fn spread(rib: &Rib<Self>, ports: &[Arc<Port>]) -> Result<Table<Target>, InsertError> {
        spread(&Rib::new(), rib, ports, |_| None)
    }

    fn table_spec(engine: EngineSpec) -> TableSpec {
        TableSpec::new(UNUSED).ipv6(engine)
    }
}
