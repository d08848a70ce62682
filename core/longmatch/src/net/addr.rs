//! Address families and the fixed-width integers that carry their addresses.
//!
//! Inside the crate an address is an unsigned integer in host order whose most significant bit is
//! the first bit on the wire: [`u32`] for IPv4, [`u128`] for IPv6. Everything that depends on the
//! family goes through [`Family`] and [`Bits`], so an engine is written once for both.

use core::fmt::{Debug, Display};
use core::hash::Hash;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::ops::{BitAnd, BitOr, BitXor, Not};
use core::str::FromStr;

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u128 {}
    impl Sealed for super::Ipv4 {}
    impl Sealed for super::Ipv6 {}
}

/// The integer that holds an address of one family. Sealed: `u32` and `u128`.
///
/// ```
/// use longmatch::Bits;
///
/// /// Number of leading bits that two addresses share, of either family.
/// fn shared<B: Bits>(a: B, b: B) -> u8 {
///     (a ^ b).leading_zeros()
/// }
/// assert_eq!(shared(0x0a00_0001_u32, 0x0a00_0101), 23);
/// assert_eq!(shared(u128::ZERO, 1), 127);
/// ```
pub trait Bits:
    sealed::Sealed
    + Copy
    + Eq
    + Ord
    + Hash
    + Debug
    + Default
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + 'static
{
    /// The bytes of an address: `[u8; 4]` or `[u8; 16]`.
    type Octets: AsRef<[u8]> + Copy + Eq + Debug + Send + Sync + 'static;
    /// Number of bits: 32 or 128.
    const WIDTH: u8;
    /// The lowest address.
    const ZERO: Self;
    /// The highest address.
    const MAX: Self;

    /// `len` ones followed by zeros: the netmask of a prefix of that length.
    ///
    /// # Panics
    /// When `len > WIDTH`, in builds with debug assertions.
    fn mask(len: u8) -> Self;

    /// The bit at position `i`, counted from the most significant one.
    #[doc(hidden)]
    fn bit(self, i: u8) -> usize;

    /// Number of leading zero bits.
    #[doc(hidden)]
    fn leading_zeros(self) -> u8;

    /// `extract(key, off, len)` of the Poptrie paper (Algorithm 1).
    ///
    /// `len <= 32` bits starting `off` bits below the most significant one. Bits past the end of
    /// the address read as zero.
    #[doc(hidden)]
    fn extract(self, off: u8, len: u8) -> usize;

    /// Number of trailing zero bits.
    #[doc(hidden)]
    fn trailing_zeros(self) -> u8;

    /// Half `half` of the address as 64 bits, left-aligned.
    ///
    /// An IPv4 address has one half, all of it. Half 0 of an IPv6 address is the first on the wire.
    #[doc(hidden)]
    fn half(self, half: u8) -> u64;

    /// 64 bits starting `off` bits below the most significant one, left-aligned.
    ///
    /// Bits past the end of the address read as zero.
    #[doc(hidden)]
    fn window(self, off: u8) -> u64;

    /// The next address, `None` after [`Bits::MAX`].
    fn successor(self) -> Option<Self>;

    /// The previous address, `None` before [`Bits::ZERO`].
    fn predecessor(self) -> Option<Self>;

    /// This address plus `n`, wrapping round at the end of the address space.
    #[doc(hidden)]
    fn wrapping_add(self, n: u128) -> Self;

    /// The address as 128 bits; an IPv4 address fills the low 32.
    fn to_u128(self) -> u128;

    /// The low bits of `value`.
    fn from_u128(value: u128) -> Self;

    /// Reads an address from its bytes in network order.
    ///
    /// # Panics
    /// When `bytes` does not hold exactly `WIDTH / 8` bytes.
    fn from_network(bytes: &[u8]) -> Self;

    /// The address's bytes in network order.
    fn to_network(self) -> Self::Octets;
}

macro_rules! impl_bits {
    ($int:ty) => {
        impl Bits for $int {
            type Octets = [u8; size_of::<$int>()];
            const WIDTH: u8 = <$int>::BITS as u8;
            const ZERO: Self = 0;
            const MAX: Self = <$int>::MAX;

            #[inline(always)]
            fn mask(len: u8) -> Self {
                debug_assert!(len <= Self::WIDTH, "prefix length {len} out of range");
                if len == 0 { 0 } else { <$int>::MAX << (Self::WIDTH - len) }
            }

            #[inline(always)]
            fn bit(self, i: u8) -> usize {
                (self >> (Self::WIDTH - 1 - i) & 1) as usize
            }

            #[inline(always)]
            fn leading_zeros(self) -> u8 {
                <$int>::leading_zeros(self) as u8
            }

            #[inline(always)]
            fn trailing_zeros(self) -> u8 {
                <$int>::trailing_zeros(self) as u8
            }

            #[inline(always)]
            fn half(self, half: u8) -> u64 {
                if Self::WIDTH <= 64 {
                    (self as u64) << (64 - Self::WIDTH.min(64))
                } else if half == 0 {
                    ((self as u128) >> 64) as u64
                } else {
                    self as u64
                }
            }

            #[inline(always)]
            fn extract(self, off: u8, len: u8) -> usize {
                debug_assert!(off < Self::WIDTH && len <= 32);
                if len == 0 { 0 } else { ((self << off) >> (Self::WIDTH - len)) as usize }
            }

            #[inline(always)]
            fn window(self, off: u8) -> u64 {
                debug_assert!(off < Self::WIDTH);
                if Self::WIDTH <= 64 {
                    (self as u64) << (64 - Self::WIDTH.min(64)) << off
                } else {
                    ((self as u128) << off >> 64) as u64
                }
            }

            #[inline]
            fn successor(self) -> Option<Self> {
                self.checked_add(1)
            }

            #[inline]
            fn predecessor(self) -> Option<Self> {
                self.checked_sub(1)
            }

            #[inline]
            fn wrapping_add(self, n: u128) -> Self {
                <$int>::wrapping_add(self, n as $int)
            }

            #[inline]
            fn to_u128(self) -> u128 {
                self as u128
            }

            #[inline]
            fn from_u128(value: u128) -> Self {
                value as $int
            }

            #[inline(always)]
            fn from_network(bytes: &[u8]) -> Self {
                Self::from_be_bytes(bytes.try_into().expect("an address has WIDTH / 8 bytes"))
            }

            #[inline(always)]
            fn to_network(self) -> Self::Octets {
                self.to_be_bytes()
            }
        }
    };
}

impl_bits!(u32);
impl_bits!(u128);

/// An address family: [`Ipv4`] or [`Ipv6`]. Sealed.
///
/// ```
/// use longmatch::{Family, Ipv4, Ipv6, NextHopId, Prefix, Rib, RibFull};
///
/// /// Adds a default route to a table of either family.
/// fn add_default<F: Family>(rib: &mut Rib<F>, next_hop: NextHopId) -> Result<(), RibFull> {
///     rib.insert(Prefix::DEFAULT, next_hop).map(drop)
/// }
/// let mut rib = Rib::<Ipv6>::new();
/// add_default(&mut rib, NextHopId::new(1).unwrap())?;
/// assert_eq!(rib.lookup("2001:db8::1".parse()?), NextHopId::new(1));
/// assert_eq!((Ipv4::WIDTH, Ipv6::NAME), (32, "ipv6"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Family:
    sealed::Sealed + Copy + Eq + Ord + Hash + Debug + Default + Send + Sync + 'static
{
    /// Addresses as integers, host order.
    type Bits: Bits;
    /// Addresses as the standard library's type.
    type Addr: Copy + Eq + Ord + Hash + Debug + Display + FromStr + Send + Sync + 'static;
    /// Bits in an address: 32 or 128.
    const WIDTH: u8;
    /// `"ipv4"` or `"ipv6"`: the name used on the command line and in reports.
    const NAME: &'static str;

    /// The integer form of an address.
    fn bits(addr: Self::Addr) -> Self::Bits;
    /// The standard library's form of an address.
    fn addr(bits: Self::Bits) -> Self::Addr;
}

/// The 32-bit address family.
///
/// ```
/// use longmatch::{Ipv4, Prefix};
/// let prefix: Prefix<Ipv4> = "10.0.0.0/8".parse()?;
/// assert!(prefix.contains("10.1.2.3".parse()?));
/// assert!("2001:db8::/32".parse::<Prefix<Ipv4>>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ipv4;

/// The 128-bit address family.
///
/// ```
/// use longmatch::{Ipv6, Prefix};
/// let prefix: Prefix<Ipv6> = "2001:db8::/32".parse()?;
/// assert!(prefix.contains("2001:db8::1".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ipv6;

macro_rules! family {
    ($family:ty, $bits:ty, $addr:ty, $name:literal) => {
        impl Family for $family {
            type Bits = $bits;
            type Addr = $addr;
            const WIDTH: u8 = <$bits>::BITS as u8;
            const NAME: &'static str = $name;

            #[inline]
            fn bits(addr: $addr) -> $bits {
                addr.to_bits()
            }

            #[inline]
            fn addr(bits: $bits) -> $addr {
                <$addr>::from_bits(bits)
            }
        }
    };
}

family!(Ipv4, u32, Ipv4Addr, "ipv4");
family!(Ipv6, u128, Ipv6Addr, "ipv6");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_at_both_ends() {
        assert_eq!(u32::mask(0), 0);
        assert_eq!(u32::mask(1), 0x8000_0000);
        assert_eq!(u32::mask(32), u32::MAX);
        assert_eq!(u128::mask(0), 0);
        assert_eq!(u128::mask(128), u128::MAX);
    }

    #[test]
    fn extract_reads_zero_past_the_end() {
        assert_eq!(0xffff_ffffu32.extract(30, 6), 0b110000);
        assert_eq!(u128::MAX.extract(126, 6), 0b110000);
        assert_eq!(0x1234_5678u32.extract(0, 16), 0x1234);
        assert_eq!(0x1234_5678u32.extract(8, 8), 0x34);
        assert_eq!(0x1234_5678u32.extract(8, 0), 0);
    }

    #[test]
    fn window_is_left_aligned() {
        assert_eq!(0x1234_5678u32.window(8), 0x3456_7800_0000_0000);
        let key = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeffu128;
        assert_eq!(key.window(0), 0x0011_2233_4455_6677);
        assert_eq!(key.window(60), 0x7889_9aab_bccd_deef);
        assert_eq!(key.window(120), 0xff00_0000_0000_0000);
    }

    #[test]
    fn neighbours_stop_at_the_ends() {
        assert_eq!(u32::MAX.successor(), None);
        assert_eq!(u128::ZERO.predecessor(), None);
        assert_eq!(7u32.successor(), Some(8));
        assert_eq!(Bits::wrapping_add(u32::MAX, 2), 1);
    }
}
