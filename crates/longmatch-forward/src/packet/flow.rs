//! The hash of a flow, by which next hops of equal cost divide the traffic.

use super::{ETHERNET_LEN, ether_type, ipv4, ipv6};

/// A hash that is the same for all packets of a flow, and evenly distributed over the flows.
///
/// A flow is the addresses, the IPv6 flow label, the protocol, and the ports of TCP, UDP, UDP-Lite
/// and SCTP. IPv4 fragments have no protocol and no ports in this sense, since all but the first
/// lack the ports; a flow of which some packets are fragments may take two paths. The hash of other
/// frames is 0.
#[inline]
pub fn flow_hash(frame: &[u8]) -> u32 {
    hash(frame).unwrap_or(0)
}

fn hash(frame: &[u8]) -> Option<u32> {
    let (ethernet, packet) = frame.split_first_chunk::<ETHERNET_LEN>()?;
    let hash = match u16::from_be_bytes([ethernet[12], ethernet[13]]) {
        ether_type::IPV4 => {
            let (addresses, transport) = ipv4::flow(packet)?;
            mix(mix(0, addresses), transport.map_or(0, ports))
        }
        ether_type::IPV6 => {
            let (fields, transport) = ipv6::flow(packet)?;
            mix(fields.into_iter().fold(0, mix), ports(transport))
        }
        _ => return None,
    };
    Some((hash >> 32) as u32)
}

/// A packet after its IP header.
#[derive(Clone, Copy)]
pub(super) struct Transport<'a> {
    /// The protocol's number.
    pub(super) protocol: u8,
    pub(super) bytes: &'a [u8],
}

/// The protocol, and both ports if the protocol has some.
#[inline]
fn ports(Transport { protocol, bytes }: Transport<'_>) -> u64 {
    const TCP: u8 = 6;
    const UDP: u8 = 17;
    const SCTP: u8 = 132;
    const UDP_LITE: u8 = 136;
    let ports = match (protocol, bytes.first_chunk()) {
        (TCP | UDP | SCTP | UDP_LITE, Some(ports)) => u32::from_be_bytes(*ports),
        _ => 0,
    };
    u64::from(protocol) << 32 | u64::from(ports)
}

/// Adds a word to a hash: the finalizer of SplitMix64, of their sum.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let z = hash.wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
