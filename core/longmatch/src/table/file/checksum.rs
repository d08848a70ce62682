//! XXH64, the checksum of sections: as in the specification of xxHash, with seed 0.
//!
//! It detects accidental damage only: an attacker who changes a file can change its checksums too.

const P1: u64 = 0x9e37_79b1_85eb_ca87;
const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const P3: u64 = 0x1656_67b1_9e37_79f9;
const P4: u64 = 0x85eb_ca77_c2b2_ae63;
const P5: u64 = 0x27d4_eb2f_1656_67c5;

#[inline(always)]
fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

/// The XXH64 of bytes, with seed 0.
pub(super) fn xxh64(bytes: &[u8]) -> u64 {
    let (stripes, tail) = bytes.as_chunks::<32>();
    let mut hash = P5;
    if !stripes.is_empty() {
        let mut lanes = [P1.wrapping_add(P2), P2, 0, P1.wrapping_neg()];
        for stripe in stripes {
            for (lane, word) in lanes.iter_mut().zip(stripe.as_chunks::<8>().0) {
                *lane = round(*lane, u64::from_le_bytes(*word));
            }
        }
        let sum = |sum: u64, (lane, bits): (&u64, u32)| sum.wrapping_add(lane.rotate_left(bits));
        hash = lanes.iter().zip([1, 7, 12, 18]).fold(0, sum);
        for lane in lanes {
            hash = (hash ^ round(0, lane)).wrapping_mul(P1).wrapping_add(P4);
        }
    }
    hash = hash.wrapping_add(bytes.len() as u64);
    let (words, tail) = tail.as_chunks::<8>();
    for word in words {
        hash ^= round(0, u64::from_le_bytes(*word));
        hash = hash.rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
    }
    let (halves, tail) = tail.as_chunks::<4>();
    for half in halves {
        hash ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(P1);
        hash = hash.rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
    }
    for byte in tail {
        hash ^= u64::from(*byte).wrapping_mul(P5);
        hash = hash.rotate_left(11).wrapping_mul(P1);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(P2);
    hash = (hash ^ hash >> 29).wrapping_mul(P3);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of the specification's reference implementation.
    #[test]
    fn vectors() {
        for (text, hash) in [
            ("", 0xef46_db37_51d8_e999),
            ("a", 0xd24e_c4f1_a98c_6e5b),
            ("as", 0x1c33_0fb2_d66b_e179),
            ("asd", 0x631c_37ce_72a9_7393),
            ("asdf", 0x4158_72f5_99ce_a71e),
            (
                "Call me Ishmael. Some years ago--never mind how long precisely-",
                0x02a2_e854_70d6_fd96,
            ),
        ] {
            assert_eq!(xxh64(text.as_bytes()), hash, "{text}");
        }
    }

    /// Every byte counts, at every place and length.
    #[test]
    fn every_bit_counts() {
        for len in 1..100 {
            let mut bytes: Vec<u8> = (0..len).map(|i: u8| i.wrapping_mul(7)).collect();
            let whole = xxh64(&bytes);
            for bit in 0..8 * bytes.len() {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(xxh64(&bytes), whole, "bit {bit} of {len} bytes");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
