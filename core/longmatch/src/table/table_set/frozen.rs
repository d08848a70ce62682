//! Lookups in many tables at once.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::Hash;
use core::net::IpAddr;

use super::nodes::{Node, Nodes};
use super::{TableId, TableSet};
use crate::engine::{Checked, CompileError, Compiled, Keys};
use crate::fib::{Fib, Widen};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Ipv4, Ipv6, NextHopId, Prefix, capacity_for};
use crate::table::TableSpec;
use crate::table::addresses::split::{At, Visit};
use crate::table::addresses::{Addresses, BLOCK};

/// A [`TableSet`] compiled for lookups; returned by [`TableSet::freeze`].
///
/// ```
/// use longmatch::table::{TableId, TableSet};
/// use longmatch::{EngineKind, IpPrefix};
/// let mut set = TableSet::new();
/// set.insert_shared("0.0.0.0/0".parse::<IpPrefix>()?, "internet")?;
/// set.insert("red", "10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
/// let set = set.freeze(EngineKind::Auto)?;
/// let mut found = [None; 2];
/// let tables = [set.table("red"), TableId::SHARED];
/// set.lookup_batch(&tables, &[0x0a01_0203_u32; 2], &mut found);
/// assert_eq!(found, [Some(&"office"), Some(&"internet")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FrozenTableSet<K, T> {
    set: TableSet<K, T>,
    ipv4: Fib<Ipv4>,
    ipv6: Fib<Ipv6>,
    nodes: Vec<Node>,
}

impl<K: Hash + Eq, T> FrozenTableSet<K, T> {
    pub(super) fn new(set: TableSet<K, T>, spec: &TableSpec) -> Result<Self, CompileError> {
        let (nodes, ipv4, ipv6) = set.forest();
        let ipv4 = Fib::of_family(&ipv4, &spec.ipv4, Widen::IfNeeded)?;
        let ipv6 = Fib::of_family(&ipv6, &spec.ipv6, Widen::IfNeeded)?;
        Ok(Self { set, ipv4, ipv6, nodes })
    }

    /// The table of a key; [`TableId::SHARED`] for a key without routes of its own.
    pub fn table<Q>(&self, key: &Q) -> TableId
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.set.tables.get(key).copied().unwrap_or(TableId::SHARED)
    }
}

impl<K, T> FrozenTableSet<K, T> {
    fn lookups<'t>(
        &'t self,
    ) -> SetLookups<'t, dyn Checked<Ipv4>, dyn Checked<Ipv6>, impl Fn() -> Nodes<'t>> {
        let nodes = || Nodes { nodes: &self.nodes, own: &self.set.own };
        SetLookups { ipv4: &self.ipv4, ipv6: &self.ipv6, nodes }
    }

    /// The value of the longest prefix of one table that covers the address.
    pub fn lookup(&self, table: TableId, addr: impl Into<IpAddr>) -> Option<&T> {
        self.set.values.get(self.lookups().value(table, addr.into())?)
    }

    /// Looks up many addresses: `out[i]` answers address `i` in table `i`.
    ///
    /// Each answer is that of [`lookup`](Self::lookup). Entries of `out` after the last address
    /// keep their values.
    ///
    /// # Panics
    /// When `tables` or `out` is shorter than `addrs`.
    pub fn lookup_batch<'t>(
        &'t self,
        tables: &[TableId],
        addrs: impl Addresses,
        out: &mut [Option<&'t T>],
    ) {
        let values = &self.set.values;
        self.lookups().values(tables, addrs, out, |id| values.get(id));
    }

    /// The routes, for changes.
    pub fn thaw(self) -> TableSet<K, T> {
        self.set
    }

    /// The bytes that lookups read, without those of the values.
    pub fn memory_usage(&self) -> MemoryUsage {
        let own = &self.set.own;
        let mut usage = self.ipv4.memory_usage();
        usage.parts.extend(self.ipv6.memory_usage().parts);
        usage.parts.push(MemoryPart::of_slice("nodes", &self.nodes));
        let own = MemoryPart { name: "own routes", count: self.set.taken, bytes: own.bytes() };
        usage.parts.push(own);
        usage
    }
}

impl<K, T> fmt::Debug for FrozenTableSet<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("FrozenTableSet");
        debug.field("set", &self.set).field("ipv4", &self.ipv4).field("ipv6", &self.ipv6).finish()
    }
}

/// The structures of both families, and the nodes of their answers.
pub(in crate::table) struct SetLookups<'t, E4: ?Sized, E6: ?Sized, N> {
    pub ipv4: &'t Fib<Ipv4, E4>,
    pub ipv6: &'t Fib<Ipv6, E6>,
    /// Called after the structures have answered: a writer adds nodes before a structure leads to them.
    pub nodes: N,
}

impl<'t, E4, E6, N> SetLookups<'t, E4, E6, N>
where
    E4: Compiled<Ipv4> + ?Sized,
    E6: Compiled<Ipv6> + ?Sized,
    N: Fn() -> Nodes<'t>,
{
    /// The id of the value of one address.
    pub fn value(self, table: TableId, addr: IpAddr) -> Option<NextHopId> {
        let node = match addr.to_canonical() {
            IpAddr::V4(addr) => self.ipv4.lookup(addr),
            IpAddr::V6(addr) => self.ipv6.lookup(addr),
        };
        (self.nodes)().resolve(table.0, node?)
    }

    /// Looks up each address in its table; `value` is called with the ids of values.
    pub fn values<A: Addresses, T>(
        self,
        tables: &[TableId],
        addrs: A,
        out: &mut [Option<&'t T>],
        value: impl Fn(NextHopId) -> Option<&'t T>,
    ) {
        let count = addrs.count();
        assert!(tables.len() >= count, "there are {} tables for {count} addresses", tables.len());
        let out = capacity_for(count, out);
        addrs.split(false, &mut Batch { lookups: self, tables, out, value });
    }
}

/// A batch of lookups, which the addresses visit by family.
struct Batch<'b, 'o, 't, E4: ?Sized, E6: ?Sized, N, T, V> {
    lookups: SetLookups<'t, E4, E6, N>,
    tables: &'b [TableId],
    out: &'o mut [Option<&'t T>],
    value: V,
}

/// Implements the visit of a family's addresses.
macro_rules! visits {
    ($($family:ident $fib:ident)*) => {$(
        impl<'t, P, E4, E6, N, T, V> Visit<$family, P> for Batch<'_, '_, 't, E4, E6, N, T, V>
        where
            E4: Compiled<Ipv4> + ?Sized,
            E6: Compiled<Ipv6> + ?Sized,
            N: Fn() -> Nodes<'t>,
            V: Fn(NextHopId) -> Option<&'t T>,
        {
            fn visit(
                &mut self,
                keys: Keys<'_, $family>,
                at: At<'_>,
                _prefix: impl Fn(Prefix<$family>) -> P,
            ) {
                let mut ids = [None; BLOCK];
                for start in (0..keys.len()).step_by(BLOCK) {
                    let keys = keys.range(start..keys.len().min(start + BLOCK));
                    let ids = &mut ids[..keys.len()];
                    self.lookups.$fib.lookup_keys(keys, ids);
                    let table = |i| self.tables[at.position(start + i)].0;
                    (self.lookups.nodes)().resolve_each(table, ids);
                    for (i, id) in ids.iter().enumerate() {
                        self.out[at.position(start + i)] = id.and_then(&self.value);
                    }
                }
            }
        }
    )*};
}

visits!(Ipv4 ipv4 Ipv6 ipv6);
