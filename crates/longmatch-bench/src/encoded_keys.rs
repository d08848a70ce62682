//! Arrays of addresses in the layouts other than integers.

use core::marker::PhantomData;

use longmatch::{Bits, Family, KeyLayout, Keys};

use crate::aligned::Aligned;
use crate::family::TrafficFamily;

/// Addresses in the layout of packets or of another language.
pub(crate) struct EncodedKeys<F> {
    array: Array,
    family: PhantomData<F>,
}

enum Array {
    U64Pairs(Aligned<[u64; 2]>),
    Network(Aligned<u8>),
}

impl<F: TrafficFamily> EncodedKeys<F> {
    /// Encodes addresses.
    ///
    /// Returns `None` for [`KeyLayout::Host`], which needs no copy, and for layouts that the family
    /// does not have.
    pub fn new(addrs: &[F::Bits], layout: KeyLayout) -> Option<Self> {
        let array = match layout {
            KeyLayout::Host => return None,
            KeyLayout::U64Pairs if F::WIDTH != 128 => return None,
            KeyLayout::U64Pairs => {
                let pairs: Vec<_> = addrs.iter().map(|addr| u64_pair(*addr)).collect();
                Array::U64Pairs(Aligned::copy_of(&pairs))
            }
            KeyLayout::Network => {
                let bytes: Vec<_> = addrs.iter().flat_map(network::<F>).collect();
                Array::Network(Aligned::copy_of(&bytes))
            }
        };
        Some(Self { array, family: PhantomData })
    }

    /// All keys.
    pub fn keys(&self) -> Keys<'_, F> {
        match &self.array {
            Array::U64Pairs(addrs) => {
                F::u64_pairs(addrs).expect("`new` checked that the family has pairs")
            }
            Array::Network(bytes) => Keys::network(bytes).expect("`new` wrote whole addresses"),
        }
    }
}

fn u64_pair(addr: impl Bits) -> [u64; 2] {
    let addr = addr.to_u128();
    [(addr >> 64) as u64, addr as u64]
}

fn network<F: Family>(addr: &F::Bits) -> impl Iterator<Item = u8> {
    let unused = (128 - usize::from(F::WIDTH)) / 8;
    addr.to_u128().to_be_bytes().into_iter().skip(unused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch::{Ipv4, Ipv6};

    fn assert_round_trip<F: TrafficFamily>(addrs: &[F::Bits], layout: KeyLayout) {
        let encoded = EncodedKeys::<F>::new(addrs, layout).unwrap();
        let keys = encoded.keys();
        assert_eq!((keys.layout(), keys.len()), (layout, addrs.len()));
        assert!((0..keys.len()).all(|i| keys.get(i) == addrs[i]), "{layout:?}");
    }

    #[test]
    fn encoding_keeps_addresses() {
        assert_round_trip::<Ipv4>(&[0, 1, 0x0102_0304, u32::MAX], KeyLayout::Network);
        let six = [0, 1, 0x2001_0db8_0001_0203_0405_0607_0809_0a0b, u128::MAX];
        assert_round_trip::<Ipv6>(&six, KeyLayout::Network);
        assert_round_trip::<Ipv6>(&six, KeyLayout::U64Pairs);
        assert!(EncodedKeys::<Ipv4>::new(&[1], KeyLayout::U64Pairs).is_none());
        assert!(EncodedKeys::<Ipv4>::new(&[1], KeyLayout::Host).is_none());
    }
}
