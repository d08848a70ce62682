//! Frames for the tests. Nothing here is the forwarder's code.

use std::net::{Ipv4Addr, Ipv6Addr};

/// An Ethernet address.
pub type Mac = [u8; 6];

/// Numbers of protocols.
pub const ICMP: u8 = 1;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
pub const ICMPV6: u8 = 58;

/// An Ethernet frame.
pub fn ethernet(to: Mac, from: Mac, kind: u16, packet: &[u8]) -> Vec<u8> {
    [&to[..], &from, &kind.to_be_bytes(), packet].concat()
}

/// The one's complement sum of the words.
fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|two| u16::from_be_bytes([two[0], *two.get(1).unwrap_or(&0)]));
    words.fold(0, |sum: u16, word| {
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

/// The Internet checksum.
pub fn checksum(bytes: &[u8]) -> u16 {
    !sum(bytes)
}

/// The fields of an IPv4 header.
#[derive(Clone)]
pub struct Ipv4 {
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    pub protocol: u8,
    pub ttl: u8,
    pub service: u8,
    pub id: u16,
    /// Flags and the offset of a fragment.
    pub fragment: u16,
    /// A multiple of four bytes.
    pub options: Vec<u8>,
}

pub const DONT_FRAGMENT: u16 = 0x4000;

impl Ipv4 {
    /// A UDP packet's header, with a TTL of 64.
    pub fn new(source: Ipv4Addr, destination: Ipv4Addr) -> Self {
        let (protocol, ttl, options) = (UDP, 64, Vec::new());
        Self { source, destination, protocol, ttl, service: 0, id: 0, fragment: 0, options }
    }

    /// The packet with this payload.
    pub fn packet(&self, payload: &[u8]) -> Vec<u8> {
        let header = 20 + self.options.len();
        let total = (header + payload.len()) as u16;
        let mut packet = vec![0x40 | (header / 4) as u8, self.service];
        for field in [total, self.id, self.fragment] {
            packet.extend(field.to_be_bytes());
        }
        packet.extend([self.ttl, self.protocol, 0, 0]);
        packet.extend(self.source.octets());
        packet.extend(self.destination.octets());
        packet.extend(&self.options);
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend(payload);
        packet
    }

    /// The packet of a protocol whose checksum, at this place, covers the addresses.
    pub fn checked(&self, payload: &[u8], at: usize) -> Vec<u8> {
        let pseudo = [&self.source.octets()[..], &self.destination.octets()].concat();
        self.packet(&with_checksum(pseudo, self.protocol, payload, at))
    }
}

/// The fields of an IPv6 header.
#[derive(Clone)]
pub struct Ipv6 {
    pub source: Ipv6Addr,
    pub destination: Ipv6Addr,
    pub next: u8,
    pub hop_limit: u8,
    pub class: u8,
    pub label: u32,
}

impl Ipv6 {
    /// A UDP packet's header, with a hop limit of 64.
    pub fn new(source: Ipv6Addr, destination: Ipv6Addr) -> Self {
        Self { source, destination, next: UDP, hop_limit: 64, class: 0, label: 0 }
    }

    /// The packet with this payload, extension headers included.
    pub fn packet(&self, payload: &[u8]) -> Vec<u8> {
        let first = 6 << 28 | u32::from(self.class) << 20 | self.label;
        let mut packet = first.to_be_bytes().to_vec();
        packet.extend((payload.len() as u16).to_be_bytes());
        packet.extend([self.next, self.hop_limit]);
        packet.extend(self.source.octets());
        packet.extend(self.destination.octets());
        packet.extend(payload);
        packet
    }

    /// The packet of a protocol whose checksum, at this place, covers the addresses.
    pub fn checked(&self, payload: &[u8], at: usize) -> Vec<u8> {
        let pseudo = [&self.source.octets()[..], &self.destination.octets()].concat();
        self.packet(&with_checksum(pseudo, self.next, payload, at))
    }
}

/// A payload with its checksum, which covers the pseudo-header too.
fn with_checksum(addresses: Vec<u8>, protocol: u8, payload: &[u8], at: usize) -> Vec<u8> {
    let mut covered = addresses;
    covered.extend((payload.len() as u32).to_be_bytes());
    covered.extend([0, 0, 0, protocol]);
    covered.extend(payload);
    let start = covered.len() - payload.len();
    covered[start + at..start + at + 2].fill(0);
    let sum = checksum(&covered);
    covered[start + at..start + at + 2].copy_from_slice(&sum.to_be_bytes());
    covered.split_off(start)
}

/// A UDP header without a checksum, and the data.
pub fn udp(ports: [u16; 2], data: &[u8]) -> Vec<u8> {
    let [from, to] = ports;
    let header = [from, to, 8 + data.len() as u16, 0].map(u16::to_be_bytes);
    [header.as_flattened(), data].concat()
}

/// An ICMP message; for IPv6, [`Ipv6::checked`] replaces the checksum.
pub fn icmp(kind: u8, code: u8, rest: [u8; 4], data: &[u8]) -> Vec<u8> {
    let mut message = [&[kind, code, 0, 0][..], &rest, data].concat();
    let sum = checksum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}
