//! Batches of addresses in the layouts that callers use.

use core::ops::Range;

use crate::engine::kit::Lookup;
use crate::net::{Bits, Family, Ipv4, Ipv6, NextHopId};
use crate::simd::{Simd, Work, prefetch};

/// Layout of the addresses of [`Keys`] in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyLayout {
    /// Native integers, `u32` or `u128`: the input of [`Lookup::lookup_batch`].
    Host,
    /// IPv6 as two native integers, high half first.
    U64Pairs,
    /// Network byte order, 4 or 16 bytes an address, at any alignment.
    Network,
}

impl KeyLayout {
    /// The name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::U64Pairs => "pairs",
            Self::Network => "network",
        }
    }
}

/// A borrowed batch of addresses in one of several layouts.
///
/// | from | contents |
/// |---|---|
/// | `&[u32]`, `&[u128]` | integers; NumPy `uint32`, Arrow `UInt32` |
/// | `&[[u64; 2]]` | high half first; a NumPy `uint64` array of *n* rows and 2 columns |
/// | `&[[u8; 4]]`, `&[[u8; 16]]` | fields of packets, `in_addr` and `in6_addr`, NumPy `>u4` and `V16`, Arrow `FixedSizeBinary` |
///
/// Arrays of a known length are accepted like slices. Flat bytes, as in a column of Arrow, are taken by
/// [`Keys::network`].
///
/// Each engine decides how it reads a layout ([`Lookup::lookup_keys`]): some read it in place; for
/// the others it is converted 256 addresses at a time on the stack. Nothing is allocated.
///
/// ```
/// use longmatch::{EngineKind, Fib, Ipv6, NextHopId, Rib};
/// let mut rib = Rib::<Ipv6>::new();
/// rib.insert("2001:db8::/32".parse()?, NextHopId::new(5).unwrap())?;
/// let fib = Fib::compile(&rib, EngineKind::Poptrie)?;
///
/// let inside = "2001:db8::1".parse::<std::net::Ipv6Addr>()?;
/// let mut hops = [None; 2];
/// let packets: [[u8; 16]; 2] = [inside.octets(), [0; 16]];
/// fib.lookup_keys(&packets, &mut hops);
/// assert_eq!(hops, [NextHopId::new(5), None]);
///
/// let pairs: [[u64; 2]; 2] = [[0, 1], [0x2001_0db8_0000_0000, 1]];
/// fib.lookup_keys(&pairs, &mut hops);
/// assert_eq!(hops, [None, NextHopId::new(5)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a, F: Family> {
    addrs: Addrs<'a, F>,
}

#[derive(Clone, Copy, Debug)]
enum Addrs<'a, F: Family> {
    Host(&'a [F::Bits]),
    /// IPv6 only: no constructor makes another.
    U64Pairs(&'a [[u64; 2]]),
    /// Whole addresses.
    Network(&'a [u8]),
}

impl<'a, F: Family> Keys<'a, F> {
    /// Bytes of an address, in every layout.
    const BYTES: usize = F::WIDTH as usize / 8;

    /// Integers of the family.
    #[must_use]
    #[inline]
    pub fn host(addrs: &'a [F::Bits]) -> Self {
        Self { addrs: Addrs::Host(addrs) }
    }

    /// Flat bytes in network order, 4 or 16 an address: a column of Arrow, a buffer of Python.
    /// `None` when the last address is incomplete.
    ///
    /// ```
    /// use longmatch::{Ipv4, Keys};
    /// let column = [10, 0, 0, 1, 192, 0, 2, 1];
    /// assert_eq!(Keys::<Ipv4>::network(&column).map(|keys| keys.get(1)), Some(0xc000_0201));
    /// assert!(Keys::<Ipv4>::network(&column[..7]).is_none());
    /// ```
    #[must_use]
    pub fn network(bytes: &'a [u8]) -> Option<Self> {
        let whole = bytes.len().is_multiple_of(Self::BYTES);
        whole.then_some(Self { addrs: Addrs::Network(bytes) })
    }

    /// Number of addresses.
    #[inline]
    pub fn len(self) -> usize {
        match self.addrs {
            Addrs::Host(addrs) => addrs.len(),
            Addrs::U64Pairs(addrs) => addrs.len(),
            Addrs::Network(bytes) => bytes.len() / Self::BYTES,
        }
    }

    /// Whether there is no address.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns address number `i`.
    ///
    /// # Panics
    /// When `i` is at least `len`.
    #[must_use]
    #[inline]
    pub fn get(self, i: usize) -> F::Bits {
        match self.addrs {
            Addrs::Host(addrs) => addrs[i],
            Addrs::U64Pairs(addrs) => of_u64_pair::<F>(&addrs[i]),
            Addrs::Network(bytes) => {
                F::Bits::from_network(&bytes[i * Self::BYTES..][..Self::BYTES])
            }
        }
    }

    /// Returns a range of the addresses.
    ///
    /// # Panics
    /// When the range is not inside of `0..len`.
    #[doc(hidden)]
    #[must_use]
    pub fn range(self, range: Range<usize>) -> Self {
        let addrs = match self.addrs {
            Addrs::Host(addrs) => Addrs::Host(&addrs[range]),
            Addrs::U64Pairs(addrs) => Addrs::U64Pairs(&addrs[range]),
            Addrs::Network(bytes) => {
                let Range { start, end } = range;
                Addrs::Network(&bytes[start * Self::BYTES..end * Self::BYTES])
            }
        };
        Self { addrs }
    }

    /// Layout of the addresses in memory.
    #[doc(hidden)]
    #[inline]
    pub fn layout(self) -> KeyLayout {
        match self.addrs {
            Addrs::Host(_) => KeyLayout::Host,
            Addrs::U64Pairs(_) => KeyLayout::U64Pairs,
            Addrs::Network(_) => KeyLayout::Network,
        }
    }

    /// Returns the addresses if they are native integers.
    #[doc(hidden)]
    pub fn as_host(self) -> Option<&'a [F::Bits]> {
        match self.addrs {
            Addrs::Host(addrs) => Some(addrs),
            _ => None,
        }
    }

    /// Pointer to the first address, for kernels that read a layout in place. The others follow
    /// without gaps: `len` times 4 or 16 bytes are readable. Aligned like the layout's integers;
    /// bytes in network order have no alignment.
    #[doc(hidden)]
    #[inline]
    pub fn as_ptr(self) -> *const u8 {
        match self.addrs {
            Addrs::Host(addrs) => addrs.as_ptr().cast(),
            Addrs::U64Pairs(addrs) => addrs.as_ptr().cast(),
            Addrs::Network(bytes) => bytes.as_ptr(),
        }
    }

    /// Prefetches as many addresses as these, [`AHEAD`] bytes on; they need not exist.
    #[inline]
    fn prefetch_next(self) {
        const LINE: usize = 64;
        for byte in (AHEAD..AHEAD + self.len() * Self::BYTES).step_by(LINE) {
            match self.addrs {
                Addrs::Host(addrs) => prefetch(addrs, byte / Self::BYTES),
                Addrs::U64Pairs(addrs) => prefetch(addrs, byte / Self::BYTES),
                Addrs::Network(bytes) => prefetch(bytes, byte),
            }
        }
    }

    /// Writes the addresses as integers, as far as `out` has capacity.
    #[inline(always)]
    fn convert(self, out: &mut [F::Bits]) {
        match self.addrs {
            Addrs::Host(addrs) => out.iter_mut().zip(addrs).for_each(|(out, addr)| *out = *addr),
            Addrs::U64Pairs(addrs) => {
                out.iter_mut().zip(addrs).for_each(|(out, addr)| *out = of_u64_pair::<F>(addr));
            }
            Addrs::Network(bytes) => {
                let addrs = bytes.chunks_exact(Self::BYTES);
                out.iter_mut().zip(addrs).for_each(|(out, a)| *out = F::Bits::from_network(a));
            }
        }
    }
}

#[inline(always)]
fn of_u64_pair<F: Family>(&[high, low]: &[u64; 2]) -> F::Bits {
    F::Bits::from_u128(u128::from(high) << 64 | u128::from(low))
}

/// Conversions from slices, and from arrays of a known length.
macro_rules! from_slices {
    ($($family:ty, $addr:ty, |$addrs:ident| $make:expr;)*) => {$(
        impl<'a> From<&'a [$addr]> for Keys<'a, $family> {
            fn from($addrs: &'a [$addr]) -> Self {
                Self { addrs: $make }
            }
        }

        impl<'a, const N: usize> From<&'a [$addr; N]> for Keys<'a, $family> {
            fn from(addrs: &'a [$addr; N]) -> Self {
                addrs.as_slice().into()
            }
        }
    )*};
}

from_slices! {
    Ipv4, u32, |addrs| Addrs::Host(addrs);
    Ipv4, [u8; 4], |addrs| Addrs::Network(addrs.as_flattened());
    Ipv6, u128, |addrs| Addrs::Host(addrs);
    Ipv6, [u64; 2], |addrs| Addrs::U64Pairs(addrs);
    Ipv6, [u8; 16], |addrs| Addrs::Network(addrs.as_flattened());
}

/// Addresses converted at a time.
const BLOCK: usize = 256;
/// Batches up to this size use a small buffer: clearing the large one takes half of the
/// conversion's time with 33 addresses.
const SMALL: usize = 32;
/// Prefetch distance in bytes. A prefetch costs 0.02 ns an address where the addresses are cached.
const AHEAD: usize = 4096;

/// Looks up any layout with the engine's integer batches: as is, or converted in blocks.
pub(crate) fn in_blocks<F: Family, E: Lookup<F> + ?Sized>(
    engine: &E,
    simd: Simd,
    keys: Keys<'_, F>,
    out: &mut [Option<NextHopId>],
) {
    let out = super::capacity_for(keys.len(), out);
    if let Some(addrs) = keys.as_host() {
        return engine.lookup_batch_with(simd, addrs, out);
    }
    // Behind a pointer, so that the conversion is compiled once and not for every engine.
    let look_up: LookUp<'_, F> = &|addrs, out| engine.lookup_batch_with(simd, addrs, out);
    if keys.len() <= SMALL {
        in_blocks_of::<SMALL, F>(look_up, simd, keys, out);
    } else {
        in_blocks_of::<BLOCK, F>(look_up, simd, keys, out);
    }
}

/// Looks up a batch of integers.
type LookUp<'a, F> = &'a dyn Fn(&[<F as Family>::Bits], &mut [Option<NextHopId>]);

#[inline(never)]
fn in_blocks_of<const N: usize, F: Family>(
    look_up: LookUp<'_, F>,
    simd: Simd,
    keys: Keys<'_, F>,
    out: &mut [Option<NextHopId>],
) {
    let mut addrs = [F::Bits::default(); N];
    let mut start = 0;
    for out in out.chunks_mut(N) {
        let addrs = &mut addrs[..out.len()];
        let end = start + out.len();
        let keys = keys.range(start..end);
        keys.prefetch_next();
        simd.run(Convert { keys, addrs });
        look_up(addrs, out);
        start = end;
    }
}

struct Convert<'k, 'a, F: Family> {
    keys: Keys<'k, F>,
    addrs: &'a mut [F::Bits],
}

impl<F: Family> Work for Convert<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.keys.convert(self.addrs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Verifies that a layout yields the given addresses through every method.
    fn assert_yields<F: Family>(keys: Keys<'_, F>, layout: KeyLayout, addrs: &[F::Bits]) {
        assert_eq!(
            (keys.layout(), keys.len(), keys.is_empty()),
            (layout, addrs.len(), addrs.is_empty())
        );
        assert_eq!(keys.as_host(), (layout == KeyLayout::Host).then_some(addrs));
        let got: Vec<_> = (0..keys.len()).map(|i| keys.get(i)).collect();
        assert_eq!(got, addrs, "{layout:?}");
        for start in 0..=addrs.len() {
            for end in start..=addrs.len() {
                let part = keys.range(start..end);
                assert_eq!(
                    part.as_ptr() as usize - keys.as_ptr() as usize,
                    start * Keys::<F>::BYTES
                );
                let mut out = alloc::vec![F::Bits::default(); part.len()];
                Simd::best().run(Convert { keys: part, addrs: &mut out });
                assert_eq!(out, addrs[start..end], "{layout:?} {start}..{end}");
            }
        }
    }

    #[test]
    fn every_layout_yields_the_same_addresses() {
        let four = [0x0a00_0001, 0x0102_0304, u32::MAX, 0];
        assert_yields(Keys::from(&four), KeyLayout::Host, &four);
        assert_yields(Keys::from(&four.map(u32::to_be_bytes)), KeyLayout::Network, &four);
        let six = [0x2001_0db8_0001_0203_0405_0607_0809_0a0bu128, 1, u128::MAX, 1 << 127, 0];
        assert_yields(Keys::from(&six), KeyLayout::Host, &six);
        assert_yields(Keys::from(&six.map(u128::to_be_bytes)), KeyLayout::Network, &six);
        assert_yields(
            Keys::from(&six.map(|a| [(a >> 64) as u64, a as u64])),
            KeyLayout::U64Pairs,
            &six,
        );
        let flat = six.map(u128::to_be_bytes);
        assert_yields(
            Keys::<Ipv6>::network(flat.as_flattened()).unwrap(),
            KeyLayout::Network,
            &six,
        );
        assert!(Keys::<Ipv6>::network(&flat.as_flattened()[1..]).is_none());
        assert_yields::<Ipv4>(Keys::from(&[[0u8; 4]; 0]), KeyLayout::Network, &[]);
    }

    #[test]
    fn an_address_past_the_end_is_a_panic() {
        let past = |keys: Keys<'_, Ipv6>| {
            let result = std::panic::catch_unwind(|| keys.get(2));
            assert!(result.is_err(), "{:?}", keys.layout());
            assert!(std::panic::catch_unwind(|| keys.range(1..3)).is_err());
        };
        past(Keys::from(&[0u128; 2]));
        past(Keys::from(&[[0u64; 2]; 2]));
        past(Keys::from(&[[0u8; 16]; 2]));
    }
}
