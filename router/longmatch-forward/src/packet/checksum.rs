//! The checksum of IPv4 headers.

/// Whether the checksum of an IPv4 header is right (RFC 1071). Options are part of the header, which
/// is a multiple of 4 bytes.
#[inline]
pub(super) fn is_right(header: &[u8]) -> bool {
    // Words of 32 bits sum up to the same, since 2^16 is 1 in one's complement, and so does either
    // byte order. At most 15 of them: the sum does not overflow.
    let (words, _) = header.as_chunks();
    let sum: u64 = words.iter().map(|&word| u64::from(u32::from_ne_bytes(word))).sum();
    let [low, high] = [sum as u32, (sum >> 32) as u32];
    let (sum, carry) = low.overflowing_add(high);
    fold((sum & 0xffff) + (sum >> 16) + u32::from(carry)) == 0xffff
}

/// The checksum after a word of the header has changed from `before` to `after` (RFC 1624,
/// equation 3).
#[inline]
pub(super) fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    !fold(u32::from(!checksum) + u32::from(!before) + u32::from(after))
}

/// The one's complement sum of 16-bit words; a last byte alone is the upper one.
#[inline]
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let sum: u64 = words.iter().map(|&word| u64::from(u32::from_be_bytes(word))).sum();
    let (pair, last) = rest.as_chunks::<2>();
    let pairs: u64 = pair.iter().map(|&pair| u64::from(u16::from_be_bytes(pair))).sum();
    sum + pairs + last.first().map_or(0, |&byte| u64::from(byte) << 8)
}

/// Adds the carries of a sum of many words.
#[inline]
pub(super) fn fold_all(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
    fold(sum as u32)
}

/// Adds the carries: the one's complement sum of 16 bits.
#[inline]
fn fold(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way of Linux's `ip_decrease_ttl`: adds 0x0100 to the checksum, and the carry.
    fn linux(checksum: u16) -> u16 {
        let sum = u32::from(checksum) + 0x0100;
        (sum + u32::from(sum >= 0xffff)) as u16
    }

    #[test]
    fn a_lower_ttl_gives_the_checksum_of_linux_for_each_of_all_checksums() {
        for checksum in 0..=u16::MAX {
            for ttl in [2_u8, 64, 255] {
                let before = u16::from_be_bytes([ttl, 17]);
                assert_eq!(
                    updated(checksum, before, before - 0x0100),
                    linux(checksum),
                    "{checksum}"
                );
            }
        }
    }

    #[test]
    fn an_updated_header_is_right_again() {
        // RFC 1624, section 4: the example whose answer is 0x0000 and not 0xffff.
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
        // A header of RFC 1071's kind, with its checksum 0xb861.
        let mut header = [
            0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 192, 168, 0, 1, 192, 168, 0,
            199,
        ];
        assert!(is_right(&header));
        let checksum = updated(0xb861, 0x4011, 0x3f11);
        header[8] -= 1;
        assert!(!is_right(&header));
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        assert!(is_right(&header));
    }
}
