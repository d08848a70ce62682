//! Builders of packets and captures. All addresses are for documentation (RFC 5737, RFC 3849).

use super::mrt::ipv6_addr;

/// Ethernet, as a link type.
pub const ETHERNET: u32 = 1;
/// Raw IP, as a link type.
pub const RAW: u32 = 101;

/// Byte order of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Big,
    Little,
}

pub use Order::{Big, Little};

impl Order {
    pub fn u16(self, n: u16) -> [u8; 2] {
        if self == Big { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    pub fn u32(self, n: u32) -> [u8; 4] {
        if self == Big { n.to_be_bytes() } else { n.to_le_bytes() }
    }
}

/// An IPv4 header from `198.51.100.1` to `192.0.2.N` and 8 bytes after it.
pub fn ipv4(n: u8) -> Vec<u8> {
    let mut bytes = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 198, 51, 100, 1, 192, 0, 2, n];
    bytes.extend([9; 8]);
    bytes
}

/// `192.0.2.N` in host order.
pub fn address4(n: u8) -> u32 {
    u32::from_be_bytes([192, 0, 2, n])
}

/// An IPv6 header from `2001:db8::ff` to `2001:db8::N` and 8 bytes after it.
pub fn ipv6(n: u8) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0, 0, 8, 17, 64];
    bytes.extend(ipv6_addr(0xff));
    bytes.extend(ipv6_addr(n));
    bytes.extend([9; 8]);
    bytes
}

/// `2001:db8::N` in host order.
pub fn address6(n: u8) -> u128 {
    u128::from_be_bytes(ipv6_addr(n))
}

/// An Ethernet frame: addresses, then these EtherTypes, tags and payload.
pub fn ethernet(parts: &[&[u8]]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2], &parts.concat()[..]].concat()
}

/// An Ethernet frame with an IPv4 packet to `192.0.2.N`.
pub fn frame4(n: u8) -> Vec<u8> {
    ethernet(&[&[8, 0], &ipv4(n)])
}

/// An Ethernet frame with an IPv6 packet to `2001:db8::N`.
pub fn frame6(n: u8) -> Vec<u8> {
    ethernet(&[&[0x86, 0xdd], &ipv6(n)])
}

/// An Ethernet frame with an ARP message's first bytes.
pub fn arp() -> Vec<u8> {
    ethernet(&[&[8, 6], &[0, 1, 8, 0, 6, 4, 0, 1]])
}

/// The header of a pcap file.
pub fn pcap_header(order: Order, magic: u32, link: u32) -> Vec<u8> {
    let version = [order.u16(2), order.u16(4)].concat();
    let rest = [order.u32(0), order.u32(0), order.u32(65535), order.u32(link)].concat();
    [&order.u32(magic)[..], &version, &rest].concat()
}

/// An untruncated packet in a pcap file.
pub fn pcap_packet(order: Order, bytes: &[u8]) -> Vec<u8> {
    let len = order.u32(bytes.len() as u32);
    [&order.u32(1)[..], &order.u32(2), &len, &len, bytes].concat()
}

/// A pcap file with times in microseconds.
pub fn pcap(order: Order, link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = pcap_header(order, 0xa1b2_c3d4, link);
    packets.iter().for_each(|packet| file.extend(pcap_packet(order, packet)));
    file
}

/// A pcapng block.
pub fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let len = order.u32(body.len() as u32 + 12);
    [&order.u32(kind)[..], &len, &body, &len].concat()
}

/// The header of a pcapng section.
pub fn section(order: Order) -> Vec<u8> {
    let version = [order.u16(1), order.u16(0)].concat();
    block(order, 0x0a0d_0d0a, &[&order.u32(0x1a2b_3c4d)[..], &version, &[0xff; 8]].concat())
}

/// The description of an interface, with its name as an option.
pub fn interface(order: Order, link: u16, snap: u32) -> Vec<u8> {
    let name = [&order.u16(2)[..], &order.u16(4), b"eth0", &[0; 4]].concat();
    let body = [&order.u16(link)[..], &[0, 0], &order.u32(snap), &name].concat();
    block(order, 1, &body)
}

/// An enhanced packet, with a comment as an option.
pub fn enhanced(order: Order, interface: u32, packet: &[u8]) -> Vec<u8> {
    let len = order.u32(packet.len() as u32);
    let mut body = [&order.u32(interface)[..], &[0; 8], &len, &len, packet].concat();
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend([&order.u16(1)[..], &order.u16(3), b"abc\0", &[0; 4]].concat());
    block(order, 6, &body)
}

/// A simple packet: its original length, and its captured bytes.
pub fn simple(order: Order, len: u32, kept: &[u8]) -> Vec<u8> {
    block(order, 3, &[&order.u32(len)[..], kept].concat())
}

/// A small capture with every kind of block and both byte orders: three IPv4 and two IPv6
/// destinations.
pub fn everything() -> Vec<u8> {
    let statistics = block(Little, 5, &[0; 12]);
    [
        section(Little),
        interface(Little, ETHERNET as u16, 65535),
        interface(Little, RAW as u16, 0),
        enhanced(Little, 0, &frame4(1)),
        enhanced(Little, 1, &ipv6(1)),
        statistics,
        enhanced(Little, 0, &arp()),
        simple(Little, 42, &frame4(2)),
        section(Big),
        interface(Big, ETHERNET as u16, 65535),
        block(Big, 0x0000_4242, b"unknown"),
        enhanced(Big, 0, &ethernet(&[&[0x81, 0, 0, 7, 8, 0], &ipv4(3)])),
        enhanced(Big, 0, &frame6(2)),
        enhanced(Big, 0, &[]),
    ]
    .concat()
}
