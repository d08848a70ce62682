//! An array of addresses in a form other than integers.

use core::marker::PhantomData;

use longmatch::{Bits, Family, KeyLayout, Keys};

use crate::aligned::Aligned;
use crate::family::BenchFamily;

/// Addresses as they come from packets or from another language, at hand to be looked up.
pub(crate) struct EncodedKeys<F> {
    array: Array,
    of: PhantomData<F>,
}

enum Array {
    U64Pairs(Aligned<[u64; 2]>),
    Network(Aligned<u8>),
}

impl<F: BenchFamily> EncodedKeys<F> {
    /// Puts addresses into a form. `None` where there is nothing to do, as they are integers
    /// already, or where the family has no such form.
    pub fn new(addrs: &[F::Bits], form: KeyLayout) -> Option<Self> {
        let array = match form {
            KeyLayout::Host => return None,
            KeyLayout::U64Pairs if F::WIDTH != 128 => return None,
            KeyLayout::U64Pairs => {
                let pairs: Vec<_> = addrs.iter().map(|addr| u64_pair(*addr)).collect();
                Array::U64Pairs(Aligned::copied(&pairs))
            }
            KeyLayout::Network => {
                let bytes: Vec<_> = addrs.iter().flat_map(network::<F>).collect();
                Array::Network(Aligned::copied(&bytes))
            }
        };
        Some(Self { array, of: PhantomData })
    }

    /// All of them.
    pub fn keys(&self) -> Keys<'_, F> {
        match &self.array {
            Array::U64Pairs(addrs) => {
                F::u64_pairs(addrs).expect("only made for a family that has them")
            }
            Array::Network(bytes) => Keys::network(bytes).expect("whole addresses"),
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

    fn stays_itself<F: BenchFamily>(addrs: &[F::Bits], form: KeyLayout) {
        let held = EncodedKeys::<F>::new(addrs, form).unwrap();
        let keys = held.keys();
        assert_eq!((keys.layout(), keys.len()), (form, addrs.len()));
        assert!((0..keys.len()).all(|i| keys.get(i) == addrs[i]), "{form:?}");
    }

    #[test]
    fn addresses_stay_themselves() {
        stays_itself::<Ipv4>(&[0, 1, 0x0102_0304, u32::MAX], KeyLayout::Network);
        let six = [0, 1, 0x2001_0db8_0001_0203_0405_0607_0809_0a0b, u128::MAX];
        stays_itself::<Ipv6>(&six, KeyLayout::Network);
        stays_itself::<Ipv6>(&six, KeyLayout::U64Pairs);
        assert!(EncodedKeys::<Ipv4>::new(&[1], KeyLayout::U64Pairs).is_none());
        assert!(EncodedKeys::<Ipv4>::new(&[1], KeyLayout::Host).is_none());
    }
}
