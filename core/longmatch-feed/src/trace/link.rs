//! Parser of packets: finds the source and the destination in the outer IP header.
//!
//! The snap length may truncate a packet anywhere, even right after the address. So the parser reads
//! no byte after the destination.

/// Link type: the header at the start of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    /// Two addresses of 6 bytes and an EtherType.
    Ethernet,
    /// An IP header.
    Raw,
    /// An IPv4 header.
    Ipv4,
    /// An IPv6 header.
    Ipv6,
    /// The address family in 4 bytes.
    Loopback,
    /// 14 bytes and an EtherType: the header of the Linux device `any`.
    Cooked,
    /// An EtherType and 18 bytes: version 2 of that header.
    Cooked2,
}

/// Supported link types, for messages.
pub(crate) const EXPECTED: &str = "Ethernet, raw IP, Linux cooked or BSD loopback";

/// Names of some unsupported link types, for messages.
pub(crate) fn name(number: u32) -> &'static str {
    match number {
        6 => " (Token Ring)",
        9 | 50 => " (PPP)",
        10 => " (FDDI)",
        51 => " (PPPoE without Ethernet)",
        105 | 119 | 127 | 163 => " (IEEE 802.11)",
        187 | 201 => " (Bluetooth)",
        189 | 220 | 249 => " (USB)",
        195 | 230 => " (IEEE 802.15.4)",
        227 => " (CAN)",
        239 => " (NFLOG)",
        253 => " (netlink)",
        _ => "",
    }
}

/// Result of parsing a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// The IPv4 source and destination, each in host order.
    Ipv4(u32, u32),
    /// The IPv6 source and destination, each in host order.
    Ipv6(u128, u128),
    /// No IP header.
    Other,
}

mod ether_type {
    pub(super) const IPV4: u16 = 0x0800;
    pub(super) const IPV6: u16 = 0x86dd;
    /// 802.1Q, 802.1ad, and the values of QinQ before 802.1ad.
    pub(super) const VLAN: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
    pub(super) const MPLS: u16 = 0x8847;
    pub(super) const MPLS_MULTICAST: u16 = 0x8848;
    pub(super) const PPPOE_SESSION: u16 = 0x8864;
}

impl Link {
    /// The link type with this number in a capture.
    pub(super) fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 | 108 => Self::Loopback,
            1 => Self::Ethernet,
            // Some systems write 12 or 14 instead of 101.
            12 | 14 | 101 => Self::Raw,
            113 => Self::Cooked,
            228 => Self::Ipv4,
            229 => Self::Ipv6,
            276 => Self::Cooked2,
            _ => return None,
        })
    }

    /// Returns the addresses of a packet, `None` if the packet ends before the destination does.
    #[inline]
    pub(super) fn addresses(self, packet: &[u8]) -> Option<Found> {
        match self {
            Self::Ethernet => typed(packet.get(12..)?),
            Self::Raw => ip(packet),
            Self::Ipv4 => ipv4(packet),
            Self::Ipv6 => ipv6(packet),
            Self::Loopback => loopback(packet),
            Self::Cooked => typed(packet.get(14..)?),
            Self::Cooked2 => {
                let (&[high, low], _) = packet.split_first_chunk()?;
                payload(u16::from_be_bytes([high, low]), packet.get(20..)?)
            }
        }
    }
}

/// Parses an EtherType and its payload.
#[inline]
fn typed(bytes: &[u8]) -> Option<Found> {
    let (kind, rest) = bytes.split_first_chunk()?;
    payload(u16::from_be_bytes(*kind), rest)
}

/// Parses the payload of an EtherType.
#[inline]
fn payload(mut kind: u16, mut rest: &[u8]) -> Option<Found> {
    while ether_type::VLAN.contains(&kind) {
        let (&[_, _, high, low], inner) = rest.split_first_chunk()?;
        (kind, rest) = (u16::from_be_bytes([high, low]), inner);
    }
    match kind {
        ether_type::IPV4 => ipv4(rest),
        ether_type::IPV6 => ipv6(rest),
        ether_type::MPLS | ether_type::MPLS_MULTICAST => mpls(rest),
        ether_type::PPPOE_SESSION => pppoe(rest),
        _ => Some(Found::Other),
    }
}

/// Parses MPLS labels up to the bottom of the stack (RFC 3032). The labels do not show the payload
/// type; its version field shows an IP header.
fn mpls(mut rest: &[u8]) -> Option<Found> {
    const BOTTOM: u8 = 1;
    loop {
        let (label, inner) = rest.split_first_chunk::<4>()?;
        rest = inner;
        if label[2] & BOTTOM != 0 {
            return ip(rest);
        }
    }
}

/// Parses the header of a PPPoE session (RFC 2516) and the PPP protocol number.
fn pppoe(bytes: &[u8]) -> Option<Found> {
    match bytes.get(6..)?.split_first_chunk()? {
        ([0x00, 0x21], rest) => ipv4(rest),
        ([0x00, 0x57], rest) => ipv6(rest),
        _ => Some(Found::Other),
    }
}

/// Parses the address family and the packet. The family is in the byte order of the capturing
/// machine, which may differ from the byte order of the file; the small number shows which.
fn loopback(packet: &[u8]) -> Option<Found> {
    let (family, rest) = packet.split_first_chunk()?;
    match family {
        [2, 0, 0, 0] | [0, 0, 0, 2] => ipv4(rest),
        // Linux; NetBSD and OpenBSD; FreeBSD; macOS.
        [10 | 24 | 28 | 30, 0, 0, 0] | [0, 0, 0, 10 | 24 | 28 | 30] => ipv6(rest),
        _ => Some(Found::Other),
    }
}

#[inline]
fn ip(packet: &[u8]) -> Option<Found> {
    match packet.first()? >> 4 {
        4 => ipv4(packet),
        6 => ipv6(packet),
        _ => Some(Found::Other),
    }
}

/// RFC 791, section 3.1: version and header length (at least 5 words) are the first byte.
#[inline]
fn ipv4(packet: &[u8]) -> Option<Found> {
    match packet.first()? {
        0x45..=0x4f => {
            let source = packet.get(12..)?.first_chunk()?;
            let destination = packet.get(16..)?.first_chunk()?;
            Some(Found::Ipv4(u32::from_be_bytes(*source), u32::from_be_bytes(*destination)))
        }
        _ => Some(Found::Other),
    }
}

/// RFC 8200, section 3.
#[inline]
fn ipv6(packet: &[u8]) -> Option<Found> {
    match packet.first()? >> 4 {
        6 => {
            let source = packet.get(8..)?.first_chunk()?;
            let destination = packet.get(24..)?.first_chunk()?;
            Some(Found::Ipv6(u128::from_be_bytes(*source), u128::from_be_bytes(*destination)))
        }
        _ => Some(Found::Other),
    }
}
