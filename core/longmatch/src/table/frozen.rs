//! The table compiled for lookups.

use alloc::format;
use alloc::sync::Arc;

use super::lookups::{
    FamilyLookups, Longest, Lookups, RibLookups, ValueLookups, lookup_methods, resolve_each,
};
use super::route_ids::RouteIds;
use super::routes::route_methods;
use super::{Answers, Table, TableSpec};
use crate::engine::{CompileError, Corrupt, Keys};
use crate::fib::{Fib, Widen};
use crate::net::{Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, Prefix};
use crate::rib::Rib;

impl<T> Table<T> {
    /// Compiles both families for lookups.
    ///
    /// Takes an engine for both families, or a [`TableSpec`], which names one for each and chooses
    /// whether answers are values or routes. [`EngineKind::Auto`](crate::EngineKind::Auto) is the default
    /// choice. It chooses per family, and a memory limit applies per family too.
    ///
    /// The frozen table keeps this table, for the data that the compiled form does not hold.
    ///
    /// # Errors
    /// When an engine cannot hold its routes, has no such option, or does not exist for a family
    /// that has routes.
    ///
    /// ```
    /// use longmatch::{Answers, EngineKind, IpPrefix, Table, TableSpec};
    /// let mut table = Table::new();
    /// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// let fast = table.clone().freeze(EngineKind::Auto)?;
    /// assert_eq!(fast.lookup([10, 1, 2, 3]), Some(&"office"));
    ///
    /// let named = table.freeze(TableSpec::default().answers(Answers::Routes))?;
    /// let id = named.lookup_id([10, 1, 2, 3]).unwrap();
    /// assert_eq!(named.route(id), Some(("10.0.0.0/8".parse()?, &"office")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn freeze(self, spec: impl Into<TableSpec>) -> Result<FrozenTable<T>, CompileError> {
        let spec = spec.into();
        let compile = |ipv4: &Rib<Ipv4>, ipv6: &Rib<Ipv6>, widen| -> Result<_, CompileError> {
            let ipv4 = Fib::of_family(ipv4, &spec.ipv4, widen)?;
            Ok((ipv4, Fib::of_family(ipv6, &spec.ipv6, widen)?))
        };
        let (routes, (ipv4, ipv6)) = match spec.answers {
            Answers::Values => (None, compile(&self.ipv4, &self.ipv6, Widen::No)?),
            Answers::Routes => {
                let (routes, ipv4, ipv6) = RouteIds::new(&self.ipv4, &self.ipv6);
                (Some(Arc::new(routes)), compile(&ipv4, &ipv6, Widen::IfNeeded)?)
            }
        };
        Ok(FrozenTable { table: self, ipv4, ipv6, routes })
    }
}

/// A table compiled for lookups; returned by [`Table::freeze`].
///
/// A clone shares the compiled part.
///
/// ```
/// use longmatch::{EngineKind, IpPrefix, Table};
/// let mut table = Table::new();
/// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
/// let table = table.freeze(EngineKind::Auto)?;
/// assert_eq!(table.lookup([10, 1, 2, 3]), Some(&"office"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FrozenTable<T> {
    table: Table<T>,
    ipv4: Fib<Ipv4>,
    ipv6: Fib<Ipv6>,
    /// The routes that ids identify; `None` where ids identify values.
    routes: Option<Arc<RouteIds>>,
}

impl<T> FrozenTable<T> {
    lookup_methods! {
        example: "let table = table.freeze(longmatch::EngineKind::Auto)?;",
        longest: "With [`Answers::Routes`] this is a lookup in the compiled routes and a load, \
            otherwise a lookup in the original table ([`Table::get_lpm`])."
    }

    route_methods! {
        example: "let table = table.freeze(longmatch::EngineKind::Auto)?;"
    }

    /// The route that an id identifies; `None` where ids identify values.
    ///
    /// Takes the time of [`FrozenTable::get`], and for an IPv6 prefix O(log routes).
    ///
    /// ```
    /// use longmatch::{Answers, IpPrefix, Table, TableSpec};
    /// let mut table = Table::new();
    /// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
    /// let table = table.freeze(TableSpec::default().answers(Answers::Routes))?;
    /// let mut ids = [None; 1];
    /// table.lookup_ids(&[0x0a01_0203_u32], &mut ids);
    /// assert_eq!(table.route(ids[0].unwrap()), Some(("10.0.0.0/8".parse()?, &"office")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn route(&self, id: NextHopId) -> Option<(IpPrefix, &T)> {
        let prefix = self.routes.as_ref()?.prefix(id)?;
        Some((prefix, self.get(prefix)?))
    }

    /// Whether ids and answers are values or routes.
    pub fn answers(&self) -> Answers {
        if self.routes.is_some() { Answers::Routes } else { Answers::Values }
    }

    /// The compiled IPv4 routes.
    ///
    /// With [`Answers::Values`], [`FrozenTable::value`] takes their ids. With [`Answers::Routes`]
    /// an id here identifies a value and a length, not a route.
    pub fn ipv4(&self) -> &Fib<Ipv4> {
        &self.ipv4
    }

    /// The compiled IPv6 routes.
    ///
    /// With [`Answers::Values`], [`FrozenTable::value`] takes their ids. With [`Answers::Routes`]
    /// an id here identifies a value and a length, not a route.
    ///
    /// Without routes the engine may be `empty`: no engine was needed.
    pub fn ipv6(&self) -> &Fib<Ipv6> {
        &self.ipv6
    }

    /// The original table.
    pub fn table(&self) -> &Table<T> {
        &self.table
    }

    /// Returns the original table, for updates.
    ///
    /// ```
    /// use longmatch::{EngineKind, IpPrefix, Table};
    /// let mut table = Table::<u8>::new().freeze(EngineKind::Auto)?.thaw();
    /// table.insert("10.0.0.0/8".parse::<IpPrefix>()?, 1)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thaw(self) -> Table<T> {
        self.table
    }

    /// Verifies both compiled families against their invariants and the original table.
    ///
    /// O(routes), plus the engines' checks.
    ///
    /// # Errors
    /// The first broken invariant.
    ///
    /// ```
    /// use longmatch::{EngineKind, Table};
    /// let table = Table::<u8>::new().freeze(EngineKind::Auto).unwrap();
    /// table.check()?;
    /// # Ok::<(), longmatch::Corrupt>(())
    /// ```
    pub fn check(&self) -> Result<(), Corrupt> {
        let Some(routes) = &self.routes else {
            self.ipv4.check(&self.table.ipv4)?;
            return self.ipv6.check(&self.table.ipv6);
        };
        let (_, ipv4, ipv6) = RouteIds::new(&self.table.ipv4, &self.table.ipv6);
        self.ipv4.check(&ipv4)?;
        self.ipv6.check(&ipv6)?;
        for (i, (prefix, _)) in self.iter().enumerate() {
            let id = NextHopId::new(i as u32 + 1);
            if routes.number(prefix) != id || id.and_then(|id| routes.prefix(id)) != Some(prefix) {
                let what = format!("id {} does not lead to the route {prefix}", i + 1);
                return Err(Corrupt { engine: "table", what });
            }
        }
        Ok(())
    }

    fn lookups(&self) -> &Self {
        self
    }

    fn routes(&self) -> RibLookups<'_, NextHops<T>> {
        self.table.lookups()
    }
}

impl<'t, T> ValueLookups<'t> for &'t FrozenTable<T> {
    type Answer = &'t T;

    #[inline]
    fn value(self, id: NextHopId) -> Option<&'t T> {
        let id = match &self.routes {
            Some(routes) => routes.target(id)?.value,
            None => id,
        };
        self.table.values.get(id)
    }

    fn value_of_public(self, id: NextHopId) -> Option<&'t T> {
        match &self.routes {
            Some(_) => self.route(id).map(|(_, value)| value),
            None => ValueLookups::value(self, id),
        }
    }
}

impl<'t, T> Lookups<'t> for &'t FrozenTable<T> {
    fn keep_mapped(self) -> bool {
        self.table.keep_mapped
    }
}

impl<T> FrozenTable<T> {
    /// The route that answers an address with an id.
    #[inline]
    fn matched<'t, F: Family>(
        &'t self,
        routes: &RouteIds,
        addr: F::Bits,
        id: NextHopId,
    ) -> Option<Longest<F, &'t T>> {
        let target = routes.target(id)?;
        let prefix = Prefix::truncated(addr, target.len);
        Some((prefix, self.table.values.get(target.value)?))
    }
}

macro_rules! frozen_lookups {
    ($($family:ident $fib:ident)*) => {$(
        impl<'t, T> FamilyLookups<'t, $family> for &'t FrozenTable<T> {
            fn id(self, addr: <$family as Family>::Bits) -> Option<NextHopId> {
                self.$fib.lookup_bits(addr)
            }

            fn ids(self, keys: Keys<'_, $family>, out: &mut [Option<NextHopId>]) {
                self.$fib.lookup_keys(keys, out);
            }

            fn has_public_ids(self) -> bool {
                self.routes.is_some()
            }

            fn public_id(
                self,
                addr: <$family as Family>::Bits,
                id: NextHopId,
            ) -> Option<NextHopId> {
                let Some(routes) = &self.routes else { return Some(id) };
                let len = routes.target(id)?.len;
                routes.number(Prefix::<$family>::from_bits_masked(addr, len).into())
            }

            fn longest(
                self,
                addr: <$family as Family>::Bits,
            ) -> Option<Longest<$family, &'t T>> {
                match &self.routes {
                    Some(routes) => self.matched(routes, addr, self.$fib.lookup_bits(addr)?),
                    None => FamilyLookups::<$family>::longest(self.table.lookups(), addr),
                }
            }

            fn longest_each(
                self,
                addrs: &[<$family as Family>::Bits],
                put: impl FnMut(usize, Option<Longest<$family, &'t T>>),
            ) {
                match &self.routes {
                    Some(routes) => {
                        let matched = |addr, id| self.matched::<$family>(routes, addr, id);
                        resolve_each::<$family, _>(self, addrs, matched, put);
                    }
                    None => self.table.lookups().longest_each(addrs, put),
                }
            }
        }
    )*};
}

frozen_lookups!(Ipv4 ipv4 Ipv6 ipv6);
