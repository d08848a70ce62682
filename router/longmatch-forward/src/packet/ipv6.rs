//! IPv6 packets (RFC 8200, RFC 4291).

use super::{Parsed, Transport};
use crate::cause::Cause;

/// Bytes of the header.
const HEADER_LEN: usize = 40;

/// The next header that routers read.
const HOP_BY_HOP: u8 = 0;

#[inline]
pub(super) fn parse(packet: &[u8]) -> Result<Parsed, Cause> {
    let header = packet.first_chunk::<HEADER_LEN>().ok_or(Cause::Truncated)?;
    if header[0] >> 4 != 6 {
        return Err(Cause::BadHeader);
    }
    let len = HEADER_LEN + usize::from(u16::from_be_bytes([header[4], header[5]]));
    if len > packet.len() {
        return Err(Cause::Truncated);
    }
    let (source, destination) = split_addresses(header);
    addresses(source, destination)?;
    // A jumbogram too: its length is in an option.
    if header[6] == HOP_BY_HOP {
        return Err(Cause::Options);
    }
    if header[7] <= 1 {
        return Err(Cause::TtlExpired);
    }
    let len = u16::try_from(len).map_err(|_| Cause::TooBig)?;
    Ok(Parsed::Ipv6 { destination, len })
}

#[inline]
fn split_addresses(header: &[u8; HEADER_LEN]) -> (u128, u128) {
    let (mut source, mut destination) = ([0; 16], [0; 16]);
    source.copy_from_slice(&header[8..24]);
    destination.copy_from_slice(&header[24..]);
    (u128::from_be_bytes(source), u128::from_be_bytes(destination))
}

/// Refuses packets whose addresses no router forwards.
///
/// As in Linux since 5.12, packets from and to IPv4-mapped addresses are forwarded.
#[inline]
fn addresses(source: u128, destination: u128) -> Result<(), Cause> {
    const LOOPBACK: u128 = 1;
    let is_multicast = |addr: u128| addr >> 120 == 0xff;
    let is_link_local = |addr: u128| addr >> 118 == 0xfe80 >> 6;
    let is_martian = |addr: u128| addr <= LOOPBACK;
    if is_multicast(source) || source == LOOPBACK {
        return Err(Cause::Martian);
    }
    // Packets of hosts that have no address yet (neighbour discovery) go to groups.
    if is_multicast(destination) {
        return Err(Cause::Multicast);
    }
    if is_martian(source) || is_martian(destination) {
        return Err(Cause::Martian);
    }
    if is_link_local(source) || is_link_local(destination) {
        return Err(Cause::LinkLocal);
    }
    Ok(())
}

/// Lowers the hop limit by one.
#[inline]
pub(super) fn rewrite(packet: &mut [u8]) {
    if let Some(header) = packet.first_chunk_mut::<HEADER_LEN>() {
        header[7] = header[7].wrapping_sub(1);
    }
}

/// The fields that identify a flow: both addresses and the flow label (RFC 6437); the transport
/// header.
#[inline]
pub(super) fn flow(packet: &[u8]) -> Option<([u64; 5], Transport<'_>)> {
    let header = packet.first_chunk::<HEADER_LEN>()?;
    let (source, destination) = split_addresses(header);
    let label = u64::from(u32::from_be_bytes([0, header[1] & 0x0f, header[2], header[3]]));
    let halves = [source >> 64, source, destination >> 64, destination].map(|half| half as u64);
    let [a, b, c, d] = halves;
    let transport = Transport { protocol: header[6], bytes: &packet[HEADER_LEN..] };
    Some(([a, b, c, d, label], transport))
}
