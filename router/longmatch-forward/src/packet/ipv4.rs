//! IPv4 packets (RFC 791, RFC 1812).

use super::{Parsed, Transport, checksum};
use crate::cause::Cause;

/// Bytes of a header without options.
const HEADER_LEN: usize = 20;

#[inline]
pub(super) fn parse(packet: &[u8]) -> Result<Parsed, Cause> {
    let header = packet.first_chunk::<HEADER_LEN>().ok_or(Cause::Truncated)?;
    let header_len = usize::from(header[0] & 0x0f) * 4;
    if header[0] >> 4 != 4 || header_len < HEADER_LEN {
        return Err(Cause::BadHeader);
    }
    let whole_header = packet.get(..header_len).ok_or(Cause::Truncated)?;
    if !checksum::is_right(whole_header) {
        return Err(Cause::BadChecksum);
    }
    let len = u16::from_be_bytes([header[2], header[3]]);
    if usize::from(len) < header_len {
        return Err(Cause::BadHeader);
    }
    if usize::from(len) > packet.len() {
        return Err(Cause::Truncated);
    }
    let [.., s0, s1, s2, s3, d0, d1, d2, d3] = *header;
    let destination = u32::from_be_bytes([d0, d1, d2, d3]);
    addresses(u32::from_be_bytes([s0, s1, s2, s3]), destination)?;
    if header_len > HEADER_LEN {
        return Err(Cause::Options);
    }
    if header[8] <= 1 {
        return Err(Cause::TtlExpired);
    }
    Ok(Parsed::Ipv4 { destination, len })
}

/// Refuses packets whose addresses no router forwards.
///
/// As in Linux, all of 0.0.0.0/8 but 0.0.0.0 and all of 240.0.0.0/4 but 255.255.255.255 are
/// forwarded.
#[inline]
fn addresses(source: u32, destination: u32) -> Result<(), Cause> {
    const BROADCAST: u32 = u32::MAX;
    let is_multicast = |addr: u32| addr >> 28 == 0xe;
    let is_loopback = |addr: u32| addr >> 24 == 127;
    if is_multicast(source) || source == BROADCAST {
        return Err(Cause::Martian);
    }
    // Packets of hosts that have no address yet (DHCP) are broadcast.
    if destination == BROADCAST || (source == 0 && destination == 0) || is_multicast(destination) {
        return Err(Cause::Multicast);
    }
    let is_martian = |addr| addr == 0 || is_loopback(addr);
    if is_martian(source) || is_martian(destination) {
        return Err(Cause::Martian);
    }
    Ok(())
}

/// Lowers the TTL by one, and updates the checksum.
#[inline]
pub(super) fn rewrite(packet: &mut [u8]) {
    let Some(header) = packet.first_chunk_mut::<HEADER_LEN>() else { return };
    let before = u16::from_be_bytes([header[8], header[9]]);
    header[8] = header[8].wrapping_sub(1);
    let after = u16::from_be_bytes([header[8], header[9]]);
    let checksum = checksum::updated(u16::from_be_bytes([header[10], header[11]]), before, after);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// The fields that identify a flow: both addresses, and the transport header unless the packet is a
/// fragment: later fragments have none.
#[inline]
pub(super) fn flow(packet: &[u8]) -> Option<(u64, Option<Transport<'_>>)> {
    const MORE_OR_OFFSET: u16 = 0x3fff;
    let header = packet.first_chunk::<HEADER_LEN>()?;
    let addresses: &[u8; 8] = header.last_chunk()?;
    let is_fragment = u16::from_be_bytes([header[6], header[7]]) & MORE_OR_OFFSET != 0;
    let transport = Transport { protocol: header[9], bytes: &packet[HEADER_LEN..] };
    Some((u64::from_be_bytes(*addresses), (!is_fragment).then_some(transport)))
}
