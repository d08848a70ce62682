//! Arrays of addresses in the layouts other than integers.

use longmatch::{Bits, KeyLayout, Keys};

use crate::aligned::Aligned;
use crate::family::TrafficFamily;

/// Addresses in the layout of packets or of another language.
pub(crate) enum EncodedKeys {
    U64Pairs(Aligned<[u64; 2]>),
    Network(Aligned<u8>),
}

impl EncodedKeys {
    /// Encodes addresses.
    ///
    /// Returns `None` for [`KeyLayout::Host`], which needs no copy, and for layouts that the family
    /// does not have.
    pub fn new<F: TrafficFamily>(addrs: &[F::Bits], layout: KeyLayout) -> Option<Self> {
        let addrs = addrs.iter().map(|addr| addr.to_u128());
        match layout {
            KeyLayout::U64Pairs if F::WIDTH == 128 => {
                let pairs: Vec<_> = addrs.map(|addr| [(addr >> 64) as u64, addr as u64]).collect();
                Some(Self::U64Pairs(Aligned::copy_of(&pairs)))
            }
            KeyLayout::Network => {
                let unused = (128 - usize::from(F::WIDTH)) / 8;
                let network = |addr: u128| addr.to_be_bytes().into_iter().skip(unused);
                Some(Self::Network(Aligned::copy_of(&addrs.flat_map(network).collect::<Vec<_>>())))
            }
            KeyLayout::Host | KeyLayout::U64Pairs => None,
        }
    }

    /// All keys, of the family of [`EncodedKeys::new`].
    pub fn keys<F: TrafficFamily>(&self) -> Keys<'_, F> {
        match self {
            Self::U64Pairs(addrs) => F::u64_pairs(addrs).expect("a family with pairs"),
            Self::Network(bytes) => Keys::network(bytes).expect("whole addresses"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv4, Ipv6};

    fn assert_round_trip<F: TrafficFamily>(addrs: &[F::Bits], layout: KeyLayout) {
        let encoded = EncodedKeys::new::<F>(addrs, layout).unwrap();
        let keys = encoded.keys::<F>();
        assert_eq!((keys.layout(), keys.len()), (layout, addrs.len()));
        assert!((0..keys.len()).all(|i| keys.get(i) == addrs[i]), "{layout:?}");
    }

    #[test]
    fn encoding_keeps_addresses() {
        assert_round_trip::<Ipv4>(&[0, 1, 0x0102_0304, u32::MAX], KeyLayout::Network);
        let six = [0, 1, 0x2001_0db8_0001_0203_0405_0607_0809_0a0b, u128::MAX];
        assert_round_trip::<Ipv6>(&six, KeyLayout::Network);
        assert_round_trip::<Ipv6>(&six, KeyLayout::U64Pairs);
        assert!(EncodedKeys::new::<Ipv4>(&[1], KeyLayout::U64Pairs).is_none());
        assert!(EncodedKeys::new::<Ipv4>(&[1], KeyLayout::Host).is_none());
    }
}
