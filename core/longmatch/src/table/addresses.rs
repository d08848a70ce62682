//! Slices of addresses, as batches of lookups take them.

use alloc::vec::Vec;
use core::marker::PhantomData;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::engine::Keys;
use crate::net::{Bits, Family, IpPrefix, Ipv4, Ipv6, Prefix};

/// Addresses that are converted or sorted by family at a time, on the stack.
pub(super) const BLOCK: usize = 256;
/// IPv6 addresses that are searched for IPv4-mapped ones at a time: 64 KiB, which the cache holds.
const SEARCHED: usize = 4096;

/// A batch of addresses to look up in a table of both families. Sealed.
///
/// | type | addresses |
/// |---|---|
/// | `&[IpAddr]` | of both families in any order |
/// | `&[Ipv4Addr]`, `&[u32]`, `&[[u8; 4]]`, [`Keys<Ipv4>`](Keys) | IPv4 |
/// | `&[Ipv6Addr]`, `&[u128]`, `&[[u8; 16]]`, `&[[u64; 2]]`, [`Keys<Ipv6>`](Keys) | IPv6 |
///
/// [`StridedKeys`] are addresses of one family between other bytes.
///
/// Integers are in host order, bytes in network order, and pairs have the high half first. Vectors
/// and arrays of a known length are accepted like slices.
///
/// An IPv4-mapped IPv6 address is looked up by the table's rule in each of the types
/// ([`Table::keep_mapped`](crate::Table::keep_mapped)). Nothing is allocated.
///
/// ```
/// use longmatch::{IpPrefix, Ipv6, Prefix, Table};
/// use std::net::IpAddr;
/// let mut table = Table::new();
/// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
/// table.insert("2001:db8::/32".parse::<IpPrefix>()?, "lab")?;
///
/// let mut sites = [None; 2];
/// table.lookup_batch(&[0x0a00_0001_u32, 0x0b00_0001], &mut sites);
/// assert_eq!(sites, [Some(&"office"), None]);
/// let mixed: [IpAddr; 2] = ["2001:db8::1".parse()?, "10.0.0.1".parse()?];
/// table.lookup_batch(&mixed, &mut sites);
/// assert_eq!(sites, [Some(&"lab"), Some(&"office")]);
///
/// // The prefixes are of the addresses' family.
/// let mut found = [None; 1];
/// table.get_lpm_batch(&[0x2001_0db8_u128 << 96], &mut found);
/// let (prefix, site): (Prefix<Ipv6>, &&str) = found[0].unwrap();
/// assert_eq!((prefix.to_string().as_str(), *site), ("2001:db8::/32", "lab"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Addresses: split::Split<Self::Prefix> {
    /// The prefix of an answer: [`Prefix`] for addresses of one family, [`IpPrefix`] for both.
    ///
    /// For an IPv4-mapped IPv6 address that an IPv4 route answers, a `Prefix<Ipv6>` is the route's
    /// IPv4-mapped prefix (`::ffff:10.0.0.0/104` for `10.0.0.0/8`).
    type Prefix: Copy + Into<IpPrefix>;
}

/// The part of [`Addresses`] that is not for users.
pub(super) mod split {
    use super::{Family, Ipv4, Ipv6, Keys, Prefix};

    /// Splits addresses into batches of one family.
    pub trait Split<P> {
        /// Number of addresses.
        fn count(&self) -> usize;

        /// Visits the addresses, each once.
        fn split<V: Visit<Ipv4, P> + Visit<Ipv6, P>>(self, keep_mapped: bool, visit: &mut V);
    }

    /// Receives the addresses of one family.
    pub trait Visit<F: Family, P> {
        /// Looks up addresses that stand at `at` in the batch; `prefix` converts their prefixes.
        fn visit(&mut self, keys: Keys<'_, F>, at: At<'_>, prefix: impl Fn(Prefix<F>) -> P);
    }

    /// The positions of some addresses in their batch.
    #[derive(Clone, Copy)]
    pub enum At<'a> {
        /// One after the other, from this position.
        From(usize),
        /// At these distances from `start`.
        Scattered {
            /// Position of distance 0.
            start: usize,
            /// A distance an address.
            distances: &'a [u8],
        },
    }

    impl At<'_> {
        /// Position of address `i`.
        #[inline]
        pub fn position(self, i: usize) -> usize {
            match self {
                Self::From(start) => start + i,
                Self::Scattered { start, distances } => start + distances[i] as usize,
            }
        }
    }
}
use split::{At, Split, Visit};

/// Whether an IPv6 address is an IPv4-mapped one (`::ffff:0:0/96`).
#[inline]
pub(super) fn is_mapped(addr: u128) -> bool {
    addr >> 32 == 0xffff
}

/// The IPv4-mapped form of a prefix.
fn mapped(prefix: Prefix<Ipv4>) -> Prefix<Ipv6> {
    let bits = 0xffff << 32 | u128::from(prefix.bits());
    Prefix::from_bits_masked(bits, 96 + prefix.len())
}

impl<'a> Addresses for Keys<'a, Ipv4> {
    type Prefix = Prefix<Ipv4>;
}

impl Split<Prefix<Ipv4>> for Keys<'_, Ipv4> {
    fn count(&self) -> usize {
        self.len()
    }

    fn split<V: Visit<Ipv4, Prefix<Ipv4>>>(self, _keep_mapped: bool, visit: &mut V) {
        visit.visit(self, At::From(0), |prefix| prefix);
    }
}

impl<'a> Addresses for Keys<'a, Ipv6> {
    type Prefix = Prefix<Ipv6>;
}

impl Split<Prefix<Ipv6>> for Keys<'_, Ipv6> {
    fn count(&self) -> usize {
        self.len()
    }

    fn split<V: Visit<Ipv4, Prefix<Ipv6>> + Visit<Ipv6, Prefix<Ipv6>>>(
        self,
        keep_mapped: bool,
        visit: &mut V,
    ) {
        if keep_mapped {
            return visit.visit(self, At::From(0), |prefix| prefix);
        }
        for start in (0..self.len()).step_by(SEARCHED) {
            let keys = self.range(start..self.len().min(start + SEARCHED));
            // Without an early end, so that the loop has no branches.
            if !(0..keys.len()).fold(false, |any, i| any | is_mapped(keys.get(i))) {
                visit.visit(keys, At::From(start), |prefix| prefix);
                continue;
            }
            for block in (0..keys.len()).step_by(BLOCK) {
                let mut sorted = Sorted::new(start + block);
                let end = keys.len().min(block + BLOCK);
                (block..end).for_each(|i| sorted.push_ipv6(i - block, keys.get(i), false));
                sorted.visit(visit, mapped, |prefix| prefix);
            }
        }
    }
}

impl Addresses for &[Ipv4Addr] {
    type Prefix = Prefix<Ipv4>;
}

impl Split<Prefix<Ipv4>> for &[Ipv4Addr] {
    fn count(&self) -> usize {
        self.len()
    }

    fn split<V: Visit<Ipv4, Prefix<Ipv4>>>(self, _keep_mapped: bool, visit: &mut V) {
        let mut bits = [0; BLOCK];
        for (block, addrs) in self.chunks(BLOCK).enumerate() {
            let bits = &mut bits[..addrs.len()];
            bits.iter_mut().zip(addrs).for_each(|(bits, addr)| *bits = addr.to_bits());
            visit.visit(Keys::host(bits), At::From(block * BLOCK), |prefix| prefix);
        }
    }
}

impl Addresses for &[Ipv6Addr] {
    type Prefix = Prefix<Ipv6>;
}

impl Split<Prefix<Ipv6>> for &[Ipv6Addr] {
    fn count(&self) -> usize {
        self.len()
    }

    fn split<V: Visit<Ipv4, Prefix<Ipv6>> + Visit<Ipv6, Prefix<Ipv6>>>(
        self,
        keep_mapped: bool,
        visit: &mut V,
    ) {
        for (block, addrs) in self.chunks(BLOCK).enumerate() {
            let mut sorted = Sorted::new(block * BLOCK);
            for (i, addr) in addrs.iter().enumerate() {
                sorted.push_ipv6(i, addr.to_bits(), keep_mapped);
            }
            sorted.visit(visit, mapped, |prefix| prefix);
        }
    }
}

impl Addresses for &[IpAddr] {
    type Prefix = IpPrefix;
}

impl Split<IpPrefix> for &[IpAddr] {
    fn count(&self) -> usize {
        self.len()
    }

    fn split<V: Visit<Ipv4, IpPrefix> + Visit<Ipv6, IpPrefix>>(
        self,
        keep_mapped: bool,
        visit: &mut V,
    ) {
        for (block, addrs) in self.chunks(BLOCK).enumerate() {
            let mut sorted = Sorted::new(block * BLOCK);
            for (i, addr) in addrs.iter().enumerate() {
                match addr {
                    IpAddr::V4(addr) => sorted.ipv4.push(i, addr.to_bits()),
                    IpAddr::V6(addr) => sorted.push_ipv6(i, addr.to_bits(), keep_mapped),
                }
            }
            sorted.visit(visit, IpPrefix::from, IpPrefix::from);
        }
    }
}

/// Addresses in network order where they lie in memory, one each `stride` bytes: fields of packet
/// headers in a ring, a column of records.
///
/// Batches of tables take it ([`Addresses`]); they gather 256 addresses at a time on the stack.
///
/// ```
/// use longmatch::table::StridedKeys;
/// use longmatch::{EngineKind, IpPrefix, Ipv4, Table};
/// let mut table = Table::new();
/// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
/// let table = table.freeze(EngineKind::Folio)?;
/// // Two IPv4 headers, in slots of 64 bytes.
/// let mut ring = [0; 128];
/// ring[16..20].copy_from_slice(&[10, 1, 2, 3]);
/// let destinations = StridedKeys::<Ipv4>::new(&ring, 16, 64, 2).unwrap();
/// let mut sites = [None; 2];
/// table.lookup_batch(destinations, &mut sites);
/// assert_eq!(sites, [Some(&"office"), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StridedKeys<'a, F: Family> {
    /// From the first address on.
    bytes: &'a [u8],
    stride: usize,
    len: usize,
    family: PhantomData<F>,
}

impl<'a, F: Family> StridedKeys<'a, F> {
    /// Bytes of an address.
    const BYTES: usize = F::WIDTH as usize / 8;

    /// `len` addresses, the first at `offset`, each other `stride` bytes after the one before.
    /// `None` when an address is not inside of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8], offset: usize, stride: usize, len: usize) -> Option<Self> {
        let bytes = if len == 0 { &[] } else { bytes.get(offset..)? };
        let end = len.saturating_sub(1).checked_mul(stride)?.checked_add(Self::BYTES)?;
        let inside = len == 0 || end <= bytes.len();
        inside.then_some(Self { bytes, stride, len, family: PhantomData })
    }

    /// Address number `i`.
    ///
    /// # Panics
    /// When `i` is not less than the number of addresses.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn get(self, i: usize) -> F::Bits {
        assert!(i < self.len, "there are {} addresses, and none is number {i}", self.len);
        F::Bits::from_network(&self.bytes[i * self.stride..][..Self::BYTES])
    }
}

impl Addresses for StridedKeys<'_, Ipv4> {
    type Prefix = Prefix<Ipv4>;
}

impl Split<Prefix<Ipv4>> for StridedKeys<'_, Ipv4> {
    fn count(&self) -> usize {
        self.len
    }

    fn split<V: Visit<Ipv4, Prefix<Ipv4>>>(self, _keep_mapped: bool, visit: &mut V) {
        let mut bits = [0; BLOCK];
        for start in (0..self.len).step_by(BLOCK) {
            let bits = &mut bits[..BLOCK.min(self.len - start)];
            bits.iter_mut().enumerate().for_each(|(i, bits)| *bits = self.get(start + i));
            visit.visit(Keys::host(bits), At::From(start), |prefix| prefix);
        }
    }
}

impl Addresses for StridedKeys<'_, Ipv6> {
    type Prefix = Prefix<Ipv6>;
}

impl Split<Prefix<Ipv6>> for StridedKeys<'_, Ipv6> {
    fn count(&self) -> usize {
        self.len
    }

    fn split<V: Visit<Ipv4, Prefix<Ipv6>> + Visit<Ipv6, Prefix<Ipv6>>>(
        self,
        keep_mapped: bool,
        visit: &mut V,
    ) {
        for start in (0..self.len).step_by(BLOCK) {
            let mut sorted = Sorted::new(start);
            for i in 0..BLOCK.min(self.len - start) {
                sorted.push_ipv6(i, self.get(start + i), keep_mapped);
            }
            sorted.visit(visit, mapped, |prefix| prefix);
        }
    }
}

/// A block of addresses, sorted by family.
struct Sorted {
    start: usize,
    ipv4: Part<Ipv4>,
    ipv6: Part<Ipv6>,
}

/// The addresses of one family, with their distances from the block's start.
struct Part<F: Family> {
    bits: [F::Bits; BLOCK],
    distances: [u8; BLOCK],
    len: usize,
}

impl Sorted {
    fn new(start: usize) -> Self {
        Self { start, ipv4: Part::new(), ipv6: Part::new() }
    }

    fn push_ipv6(&mut self, distance: usize, addr: u128, keep_mapped: bool) {
        if is_mapped(addr) && !keep_mapped {
            self.ipv4.push(distance, addr as u32);
        } else {
            self.ipv6.push(distance, addr);
        }
    }

    fn visit<P, V: Visit<Ipv4, P> + Visit<Ipv6, P>>(
        &self,
        visit: &mut V,
        ipv4: impl Fn(Prefix<Ipv4>) -> P,
        ipv6: impl Fn(Prefix<Ipv6>) -> P,
    ) {
        self.ipv4.visit(self.start, visit, ipv4);
        self.ipv6.visit(self.start, visit, ipv6);
    }
}

impl<F: Family> Part<F> {
    fn new() -> Self {
        Self { bits: [F::Bits::ZERO; BLOCK], distances: [0; BLOCK], len: 0 }
    }

    #[inline]
    fn push(&mut self, distance: usize, bits: F::Bits) {
        self.bits[self.len] = bits;
        self.distances[self.len] = distance as u8;
        self.len += 1;
    }

    fn visit<P>(
        &self,
        start: usize,
        visit: &mut impl Visit<F, P>,
        prefix: impl Fn(Prefix<F>) -> P,
    ) {
        if self.len > 0 {
            let at = At::Scattered { start, distances: &self.distances[..self.len] };
            visit.visit(Keys::host(&self.bits[..self.len]), at, prefix);
        }
    }
}

/// Implements [`Addresses`] for references by converting them.
macro_rules! addresses {
    ($($type:ty [$($n:ident)?] => $prefix:ty, |$addrs:ident| $converted:expr;)*) => {$(
        impl<'a $(, const $n: usize)?> Addresses for &'a $type {
            type Prefix = $prefix;
        }

        impl<'a $(, const $n: usize)?> Split<$prefix> for &'a $type {
            fn count(&self) -> usize {
                self.len()
            }

            fn split<V: Visit<Ipv4, $prefix> + Visit<Ipv6, $prefix>>(
                self,
                keep_mapped: bool,
                visit: &mut V,
            ) {
                let $addrs = self;
                Split::split($converted, keep_mapped, visit);
            }
        }
    )*};
}

/// Implements [`Addresses`] for references to slices in the layouts of [`Keys`].
macro_rules! layouts {
    ($($addr:ty => $family:ty;)*) => {$(
        addresses! { [$addr] [] => Prefix<$family>, |addrs| Keys::<$family>::from(addrs); }
    )*};
}

/// Implements [`Addresses`] for references to arrays and vectors.
macro_rules! containers {
    ($($addr:ty => $prefix:ty;)*) => {$(
        addresses! {
            [$addr; N] [N] => $prefix, |addrs| addrs.as_slice();
            Vec<$addr> [] => $prefix, |addrs| addrs.as_slice();
        }
    )*};
}

layouts! {
    u32 => Ipv4;
    [u8; 4] => Ipv4;
    u128 => Ipv6;
    [u64; 2] => Ipv6;
    [u8; 16] => Ipv6;
}

containers! {
    u32 => Prefix<Ipv4>;
    [u8; 4] => Prefix<Ipv4>;
    Ipv4Addr => Prefix<Ipv4>;
    u128 => Prefix<Ipv6>;
    [u64; 2] => Prefix<Ipv6>;
    [u8; 16] => Prefix<Ipv6>;
    Ipv6Addr => Prefix<Ipv6>;
    IpAddr => IpPrefix;
}
