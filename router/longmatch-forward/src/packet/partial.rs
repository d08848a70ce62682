//! Checksums that a sender has left to its network card.
//!
//! A virtual card has no hardware: the packet arrives with the sum of its pseudo-header alone (`CHECKSUM_PARTIAL` of
//! Linux), which the next real card, or the kernel, would complete. A forwarder gets the bytes without that note.

use super::{ETHERNET_LEN, checksum, ether_type};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Completes the checksum of a TCP or UDP packet that has the sum of the pseudo-header in its place.
///
/// A right checksum stays, also if it happens to equal that sum. Fragments, and IPv6 packets with extension headers, stay
/// as they are. O(bytes) for a partial checksum, else O(1).
pub fn complete_checksum(frame: &mut [u8]) {
    complete(frame);
}

fn complete(frame: &mut [u8]) -> Option<()> {
    let (ethernet, packet) = frame.split_first_chunk_mut::<ETHERNET_LEN>()?;
    let (protocol, addresses, segment) = match u16::from_be_bytes([ethernet[12], ethernet[13]]) {
        ether_type::IPV4 => ipv4(packet)?,
        ether_type::IPV6 => ipv6(packet)?,
        _ => return None,
    };
    let place = match protocol {
        TCP => 16,
        UDP => 6,
        _ => return None,
    };
    let pseudo = addresses + u64::from(protocol) + segment.len() as u64;
    let found = u16::from_be_bytes(*segment.get(place..)?.first_chunk()?);
    if found != checksum::fold_all(pseudo) {
        return None;
    }
    let sum = checksum::sum(segment);
    if checksum::fold_all(sum + pseudo) == 0xffff {
        return None;
    }
    // The sum of the pseudo-header is in the segment already. UDP has no checksum 0.
    let complete = match (!checksum::fold_all(sum), protocol) {
        (0, UDP) => 0xffff,
        (complete, _) => complete,
    };
    segment[place..place + 2].copy_from_slice(&complete.to_be_bytes());
    Some(())
}

/// The protocol, the sum of the addresses and the segment of a packet that is not a fragment.
fn ipv4(packet: &mut [u8]) -> Option<(u8, u64, &mut [u8])> {
    let header = *packet.first_chunk::<20>()?;
    let header_len = usize::from(header[0] & 0x0f) * 4;
    let len = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let is_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
    let segment = packet.get_mut(header_len..len).filter(|_| header_len >= 20 && !is_fragment)?;
    Some((header[9], checksum::sum(&header[12..20]), segment))
}

fn ipv6(packet: &mut [u8]) -> Option<(u8, u64, &mut [u8])> {
    let header = *packet.first_chunk::<40>()?;
    let len = usize::from(u16::from_be_bytes([header[4], header[5]]));
    Some((header[6], checksum::sum(&header[8..40]), packet.get_mut(40..40 + len)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with this checksum; IPv4 without its own checksum.
    fn frame(is_ipv4: bool, protocol: u8, payload: &[u8], checksum: u16) -> Vec<u8> {
        let place = if protocol == TCP { 16 } else { 6 };
        let mut segment = [&[0x12, 0x34, 0, 9][..], &vec![0; place - 2], payload].concat();
        segment[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
        let len = segment.len() as u16;
        let header = match is_ipv4 {
            true => {
                let [high, low] = (20 + len).to_be_bytes();
                vec![
                    0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 192, 0, 2, 255,
                ]
            }
            false => {
                let [high, low] = len.to_be_bytes();
                [&[0x60, 0, 0, 0, high, low, protocol, 64][..], &[0x20; 16], &[0xfd; 16]].concat()
            }
        };
        let kind = if is_ipv4 { [8, 0] } else { [0x86, 0xdd] };
        // Padding of Ethernet does not count.
        [&[2; 12][..], &kind, &header, &segment, &[0x55; 3]].concat()
    }

    fn words(bytes: &[u8]) -> u32 {
        let words = bytes
            .chunks(2)
            .map(|two| u32::from(two[0]) << 8 | two.get(1).map_or(0, |b| u32::from(*b)));
        words.fold(0, |sum, word| {
            let sum = sum + word;
            (sum & 0xffff) + (sum >> 16)
        })
    }

    /// The sum of the pseudo-header, and that of the whole packet with it, by the obvious way.
    fn sums(frame: &[u8]) -> (u16, u16) {
        let (protocol, addresses, start) = match frame[12] {
            8 => (frame[23], &frame[26..34], 34),
            _ => (frame[20], &frame[22..54], 54),
        };
        let segment = &frame[start..frame.len() - 3];
        let pseudo = [addresses, &[0, protocol], &(segment.len() as u16).to_be_bytes()].concat();
        (words(&pseudo) as u16, words(&[&pseudo[..], segment].concat()) as u16)
    }

    #[test]
    fn partial_checksums_are_completed_and_others_stay() {
        for (is_ipv4, protocol) in [(true, TCP), (true, UDP), (false, TCP), (false, UDP)] {
            for len in 0..64_u8 {
                let payload: Vec<u8> = (0..len).map(|byte| byte.wrapping_mul(7) ^ len).collect();
                let (pseudo, _) = sums(&frame(is_ipv4, protocol, &payload, 0));
                let mut partial = frame(is_ipv4, protocol, &payload, pseudo);
                complete_checksum(&mut partial);
                assert_eq!(sums(&partial).1, 0xffff, "{is_ipv4} {protocol} {len}");
                // Complete, or damaged.
                for change in [0, 1] {
                    let mut other = partial.clone();
                    let last = other.len() - 4;
                    other[last] ^= change;
                    let before = other.clone();
                    complete_checksum(&mut other);
                    assert_eq!(other, before);
                }
            }
        }
    }

    /// Every value of a checksum: only that of the pseudo-header changes, and no right one.
    #[test]
    fn no_other_checksum_changes() {
        let (pseudo, _) = sums(&frame(true, UDP, b"abcd", 0));
        for value in 0..=u16::MAX {
            let before = frame(true, UDP, b"abcd", value);
            let mut after = before.clone();
            complete_checksum(&mut after);
            let is_partial = value == pseudo && sums(&before).1 != 0xffff;
            assert_eq!(after != before, is_partial, "{value}");
        }
    }

    #[test]
    fn frames_that_are_cut_off_stay() {
        let (pseudo, _) = sums(&frame(false, TCP, b"abcd", 0));
        let whole = frame(false, TCP, b"abcd", pseudo);
        for len in 0..whole.len() - 3 {
            let mut cut = whole[..len].to_vec();
            complete_checksum(&mut cut);
            assert_eq!(cut, whole[..len], "{len}");
        }
        // A fragment.
        let mut fragment = frame(true, UDP, b"abcd", sums(&frame(true, UDP, b"abcd", 0)).0);
        fragment[20] = 0x20;
        let before = fragment.clone();
        complete_checksum(&mut fragment);
        assert_eq!(fragment, before);
    }
}
