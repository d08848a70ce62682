//! Ethernet frames with IPv4 and IPv6 packets: the fields that a router reads and rewrites.
//!
//! Pure functions over bytes. The checks are those of RFC 1812 (section 5.2.2), RFC 8200 and RFC
//! 4291, in the form in which Linux applies them when it forwards.

mod checksum;
mod flow;
mod ipv4;
mod ipv6;
mod partial;

pub(crate) use flow::mix;
pub use flow::{FlowFields, flow_hash};
pub use partial::complete_checksum;

use crate::cause::Cause;
use crate::target::Mac;

/// Bytes of an Ethernet header: two addresses and an EtherType.
pub const ETHERNET_LEN: usize = 14;

/// The forwarder's view of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parsed {
    /// An IPv4 packet to look up.
    Ipv4 {
        /// The destination in host order.
        destination: u32,
        /// Bytes of the IP packet.
        len: u16,
    },
    /// An IPv6 packet to look up.
    Ipv6 {
        /// The destination in host order.
        destination: u128,
        /// Bytes of the IP packet.
        len: u16,
    },
    /// A packet that is not forwarded, whatever its route.
    Stop(Cause),
}

/// Parses a frame that a port with the address `mac` received; `None` accepts the address of any
/// host.
///
/// ```
/// use longmatch_forward::packet::{Parsed, parse};
/// use longmatch_forward::{Cause, Mac};
///
/// let arp = [[0xff; 6], [2, 0, 0, 0, 0, 9]].concat().into_iter().chain([8, 6]).collect::<Vec<_>>();
/// assert_eq!(parse(&arp, Some(Mac([2, 0, 0, 0, 0, 1]))), Parsed::Stop(Cause::NotIp));
/// assert_eq!(parse(&arp[..9], None), Parsed::Stop(Cause::Truncated));
/// ```
#[inline]
pub fn parse(frame: &[u8], mac: Option<Mac>) -> Parsed {
    let Some((ethernet, packet)) = frame.split_first_chunk::<ETHERNET_LEN>() else {
        return Parsed::Stop(Cause::Truncated);
    };
    let [destination @ .., _, _, _, _, _, _, high, low] = ethernet;
    let parsed = match u16::from_be_bytes([*high, *low]) {
        ether_type::IPV4 => ipv4::parse(packet),
        ether_type::IPV6 => ipv6::parse(packet),
        _ => Err(Cause::NotIp),
    };
    // Frames of other protocols go to the kernel whatever their address, as those for groups do.
    match parsed {
        Err(Cause::NotIp) => Parsed::Stop(Cause::NotIp),
        _ if destination[0] & GROUP != 0 => Parsed::Stop(Cause::Multicast),
        _ if mac.is_some_and(|mac| mac.0 != *destination) => Parsed::Stop(Cause::OtherHost),
        Ok(parsed) => parsed,
        Err(cause) => Parsed::Stop(cause),
    }
}

/// Makes the frame that leaves a router from the one that arrived: the Ethernet addresses, and a TTL
/// or hop limit lower by one, with its checksum.
///
/// The frame must be one that [`parse`] found to be IP; others get the addresses only.
#[inline]
pub fn rewrite(frame: &mut [u8], source: Mac, destination: Mac) {
    let Some((ethernet, packet)) = frame.split_first_chunk_mut::<ETHERNET_LEN>() else { return };
    ethernet[..6].copy_from_slice(&destination.0);
    ethernet[6..12].copy_from_slice(&source.0);
    match u16::from_be_bytes([ethernet[12], ethernet[13]]) {
        ether_type::IPV4 => ipv4::rewrite(packet),
        ether_type::IPV6 => ipv6::rewrite(packet),
        _ => {}
    }
}

/// The bit of an Ethernet address of a group of hosts.
const GROUP: u8 = 1;

mod ether_type {
    pub(super) const IPV4: u16 = 0x0800;
    pub(super) const IPV6: u16 = 0x86dd;
}

/// A packet after its IP header.
#[derive(Clone, Copy)]
struct Transport<'a> {
    /// The protocol's number.
    protocol: u8,
    bytes: &'a [u8],
}
