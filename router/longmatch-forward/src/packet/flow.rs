//! The hash of a flow, by which next hops of equal cost divide the traffic.

use super::{ETHERNET_LEN, Transport, ether_type, ipv4, ipv6};

/// The fields that identify a flow, as in Linux (`net.ipv4.fib_multipath_hash_policy`, and that of IPv6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowFields {
    /// Whether the protocol and the ports of IPv4 packets count: policy 1.
    pub ipv4_ports: bool,
    /// Whether the ports of IPv6 packets count: policy 1.
    pub ipv6_ports: bool,
}

impl Default for FlowFields {
    /// With ports.
    fn default() -> Self {
        Self { ipv4_ports: true, ipv6_ports: true }
    }
}

/// A hash that is the same for all packets of a flow, and evenly distributed over the flows.
///
/// A flow is the addresses, the IPv6 flow label, the protocol, and, unless `fields` leaves them out, the
/// ports of TCP, UDP, UDP-Lite and SCTP. IPv4 fragments have no protocol and no ports in this sense,
/// since all but the first lack the ports; a flow with some fragmented packets may take two
/// paths. An ICMP error belongs to the flow of the packet inside, so that it takes the path of that
/// flow. The hash of other frames is 0.
#[inline]
pub fn flow_hash(frame: &[u8], fields: FlowFields) -> u32 {
    hash(frame, fields).unwrap_or(0)
}

fn hash(frame: &[u8], fields: FlowFields) -> Option<u32> {
    let (ethernet, packet) = frame.split_first_chunk::<ETHERNET_LEN>()?;
    let hash = match u16::from_be_bytes([ethernet[12], ethernet[13]]) {
        ether_type::IPV4 => {
            let outer = ipv4::flow(packet)?;
            let inner = outer.1.and_then(|transport| inside(transport, ICMP, icmp_is_error));
            let (addresses, transport) = inner.and_then(ipv4::flow).unwrap_or(outer);
            match fields.ipv4_ports {
                true => mix(mix(0, addresses), transport.map_or(0, ports)),
                false => mix(0, addresses),
            }
        }
        ether_type::IPV6 => {
            let outer = ipv6::flow(packet)?;
            let inner = inside(outer.1, ICMPV6, |kind| kind < 128);
            let (addresses, transport) = inner.and_then(ipv6::flow).unwrap_or(outer);
            let hash = addresses.into_iter().fold(0, mix);
            match fields.ipv6_ports {
                true => mix(hash, ports(transport)),
                false => mix(hash, transport.protocol.into()),
            }
        }
        _ => return None,
    };
    Some((hash >> 32) as u32)
}

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// Destination unreachable, source quench, redirect, time exceeded, parameter problem.
fn icmp_is_error(kind: u8) -> bool {
    matches!(kind, 3 | 4 | 5 | 11 | 12)
}

/// The packet inside of an ICMP error.
#[inline]
fn inside(transport: Transport<'_>, icmp: u8, is_error: fn(u8) -> bool) -> Option<&[u8]> {
    let Transport { protocol, bytes } = transport;
    let kind = *bytes.first().filter(|_| protocol == icmp)?;
    bytes.get(8..).filter(|_| is_error(kind))
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

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSES: FlowFields = FlowFields { ipv4_ports: false, ipv6_ports: false };

    fn ipv4(protocol: u8, destination: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, destination]);
        packet.extend(payload);
        packet
    }

    fn ipv6(next: u8, destination: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, 0, next, 64];
        packet.extend([0xfd; 31]);
        packet.push(destination);
        packet.extend(payload);
        packet
    }

    fn frame(packet: &[u8]) -> Vec<u8> {
        let kind = if packet[0] >> 4 == 4 { [0x08, 0x00] } else { [0x86, 0xdd] };
        [&[2; 12][..], &kind, packet].concat()
    }

    #[test]
    fn ports_count_unless_the_fields_leave_them_out() {
        for make in [ipv4, ipv6] {
            let flow = |port: u8, destination: u8| frame(&make(17, destination, &[0, port, 0, 9]));
            let hash = |port, destination, fields| flow_hash(&flow(port, destination), fields);
            let all = FlowFields::default();
            assert_ne!(hash(1, 2, all), hash(3, 2, all));
            assert_eq!(hash(1, 2, ADDRESSES), hash(3, 2, ADDRESSES));
            assert_ne!(hash(1, 2, ADDRESSES), hash(1, 3, ADDRESSES));
        }
    }

    /// The error about a flow takes its path; an answer to a ping is a separate flow.
    #[test]
    fn icmp_errors_belong_to_the_flow_inside() {
        let (inner4, inner6) = (ipv4(6, 7, &[0, 1, 0, 2]), ipv6(17, 7, &[0, 1, 0, 2]));
        for fields in [FlowFields::default(), ADDRESSES] {
            for (kind, is_error) in [(3, true), (11, true), (12, true), (0, false), (8, false)] {
                let error = ipv4(ICMP, 9, &[&[kind, 0, 0, 0, 0, 0, 0, 0][..], &inner4].concat());
                let same = flow_hash(&frame(&error), fields) == flow_hash(&frame(&inner4), fields);
                assert_eq!(same, is_error, "ICMP {kind}");
            }
            for (kind, is_error) in [(1, true), (2, true), (3, true), (128, false), (129, false)] {
                let error = ipv6(ICMPV6, 9, &[&[kind, 0, 0, 0, 0, 0, 0, 0][..], &inner6].concat());
                let same = flow_hash(&frame(&error), fields) == flow_hash(&frame(&inner6), fields);
                assert_eq!(same, is_error, "ICMPv6 {kind}");
            }
            // An error that is cut off is of its own flow.
            assert_ne!(flow_hash(&frame(&ipv4(ICMP, 9, &[3, 0, 0])), fields), 0);
        }
    }
}
