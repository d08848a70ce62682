//! The table compiled for lookups.

use core::net::IpAddr;

use super::Table;
use crate::engine::{CompileError, Compiled, EngineSpec};
use crate::fib::Fib;
use crate::net::{Family, IpPrefix, Ipv4, Ipv6, NextHopId};

/// The batch lookups of a type with compiled tables in the fields `ipv4` and `ipv6`.
macro_rules! batch_lookups {
    ($table:literal) => {
        #[doc = concat!("Looks up the value ids of IPv4 addresses; see [`", $table, "::value`].")]
        ///
        /// # Panics
        /// When `out` is shorter than `addrs`.
        pub fn lookup_ipv4(
            &self,
            addrs: &[core::net::Ipv4Addr],
            out: &mut [Option<$crate::NextHopId>],
        ) {
            $crate::table::frozen::in_blocks(&self.ipv4, addrs, out);
        }

        #[doc = concat!("Looks up the value ids of IPv6 addresses; see [`", $table, "::value`].")]
        ///
        /// IPv6 routes answer all of them, IPv4-mapped addresses included.
        ///
        /// # Panics
        /// When `out` is shorter than `addrs`.
        pub fn lookup_ipv6(
            &self,
            addrs: &[core::net::Ipv6Addr],
            out: &mut [Option<$crate::NextHopId>],
        ) {
            $crate::table::frozen::in_blocks(&self.ipv6, addrs, out);
        }

        #[doc = concat!("As [`", $table, "::lookup_ipv4`], for addresses in any layout of")]
        /// [`Keys`](crate::Keys).
        ///
        /// # Panics
        /// When `out` is shorter than `keys`.
        pub fn lookup_keys_ipv4<'k>(
            &self,
            keys: impl Into<$crate::Keys<'k, $crate::Ipv4>>,
            out: &mut [Option<$crate::NextHopId>],
        ) {
            self.ipv4.lookup_keys(keys, out);
        }

        #[doc = concat!("As [`", $table, "::lookup_ipv6`], for addresses in any layout of")]
        /// [`Keys`](crate::Keys).
        ///
        /// # Panics
        /// When `out` is shorter than `keys`.
        pub fn lookup_keys_ipv6<'k>(
            &self,
            keys: impl Into<$crate::Keys<'k, $crate::Ipv6>>,
            out: &mut [Option<$crate::NextHopId>],
        ) {
            self.ipv6.lookup_keys(keys, out);
        }
    };
}
pub(super) use batch_lookups;

impl<T> Table<T> {
    /// Compiles both families for lookups with an engine.
    ///
    /// The frozen table keeps this table, for data that the compiled form does not hold, such as
    /// the matched prefix.
    ///
    /// [`EngineKind::Auto`](crate::EngineKind::Auto) is the default choice. It chooses per family,
    /// and a memory limit applies per family too.
    ///
    /// # Errors
    /// When the engine cannot hold the table or has no such option.
    pub fn freeze(self, engine: impl Into<EngineSpec>) -> Result<FrozenTable<T>, CompileError> {
        let spec = engine.into();
        let ipv4 = Fib::compile(&self.ipv4, spec.clone())?;
        let ipv6 = Fib::compile(&self.ipv6, spec)?;
        Ok(FrozenTable { table: self, ipv4, ipv6 })
    }
}

/// A table compiled for lookups; returned by [`Table::freeze`].
///
/// ```
/// use longmatch::{EngineKind, Table};
/// let mut table = Table::new();
/// table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
/// let table = table.freeze(EngineKind::Auto)?;
/// assert_eq!(table.get("10.1.2.3".parse()?), Some(&"office"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FrozenTable<T> {
    table: Table<T>,
    ipv4: Fib<Ipv4>,
    ipv6: Fib<Ipv6>,
}

impl<T> FrozenTable<T> {
    /// The value of the longest prefix that covers the address.
    pub fn get(&self, addr: IpAddr) -> Option<&T> {
        let id = match self.table.canonical(IpPrefix::host(addr)) {
            IpPrefix::V4(p) => self.ipv4.lookup(p.addr()),
            IpPrefix::V6(p) => self.ipv6.lookup(p.addr()),
        };
        self.table.values.get(id?)
    }

    batch_lookups!("FrozenTable");

    /// The value of an id.
    pub fn value(&self, id: NextHopId) -> Option<&T> {
        self.table.values.get(id)
    }

    /// The compiled IPv4 routes.
    pub fn ipv4(&self) -> &Fib<Ipv4> {
        &self.ipv4
    }

    /// The compiled IPv6 routes.
    pub fn ipv6(&self) -> &Fib<Ipv6> {
        &self.ipv6
    }

    /// The original table.
    pub fn table(&self) -> &Table<T> {
        &self.table
    }

    /// Returns the original table, for updates.
    pub fn thaw(self) -> Table<T> {
        self.table
    }
}

/// Looks up addresses in blocks, converting each to integers without allocation.
pub(super) fn in_blocks<F: Family, E: Compiled<F> + ?Sized>(
    fib: &Fib<F, E>,
    addrs: &[F::Addr],
    out: &mut [Option<NextHopId>],
) {
    const BLOCK: usize = 256;
    let out = crate::engine::answers_for(addrs, out);
    let mut bits = [F::Bits::default(); BLOCK];
    for (addrs, out) in addrs.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        for (bits, addr) in bits.iter_mut().zip(addrs) {
            *bits = F::bits(*addr);
        }
        fib.lookup_batch(&bits[..addrs.len()], out);
    }
}
