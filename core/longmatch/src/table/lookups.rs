//! The lookups that tables of every kind have, defined once.
//!
//! [`lookup_methods`] writes the public methods for a table, a frozen table, a writer, and the two
//! kinds of readers. They differ in their [`Lookups`] only.

use core::net::IpAddr;

use super::addresses::split::{At, Visit};
use super::addresses::{Addresses, BLOCK, is_mapped};
use crate::engine::Keys;
use crate::net::{
    Bits, Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, Prefix, Route, capacity_for,
};
use crate::rib::Rib;

/// Routes of a RIB that are looked up at a time.
const ROUTES: usize = 64;

/// A borrowed table of any kind.
pub(super) trait Lookups<'t>: FamilyLookups<'t, Ipv4> + FamilyLookups<'t, Ipv6> {
    /// Whether IPv4-mapped IPv6 addresses are IPv6 ones.
    fn keep_mapped(self) -> bool;
}

/// The values of a borrowed table.
pub(super) trait ValueLookups<'t>: Copy {
    /// What lookups return of a value: a reference, or a row of a file.
    type Answer: Copy + 't;

    /// The value of an id.
    fn value(self, id: NextHopId) -> Option<Self::Answer>;

    /// The value of an id that the public methods return: see [`FamilyLookups::public_id`].
    #[inline]
    fn value_of_public(self, id: NextHopId) -> Option<Self::Answer> {
        self.value(id)
    }
}

/// The lookups of a borrowed table in one family.
pub(super) trait FamilyLookups<'t, F: Family>: ValueLookups<'t> {
    /// The id of the longest match.
    fn id(self, addr: F::Bits) -> Option<NextHopId>;

    /// The ids of the longest matches, into as many answers.
    fn ids(self, keys: Keys<'_, F>, out: &mut [Option<NextHopId>]);

    /// Whether the ids that the public methods return are others than those of the structure.
    #[inline]
    fn has_public_ids(self) -> bool {
        false
    }

    /// The id that the public methods return for an address and its id in the structure.
    #[inline]
    fn public_id(self, _addr: F::Bits, id: NextHopId) -> Option<NextHopId> {
        Some(id)
    }

    /// The longest match.
    fn longest(self, addr: F::Bits) -> Option<Longest<F, Self::Answer>>;

    /// The longest matches: calls `put` with the number of each address, in order.
    fn longest_each(
        self,
        addrs: &[F::Bits],
        put: impl FnMut(usize, Option<Longest<F, Self::Answer>>),
    );
}

/// A prefix and its value.
pub(super) type Longest<F, A> = (Prefix<F>, A);

/// An address by the table's rule for IPv4-mapped ones.
enum Host {
    V4(u32),
    V6(u128),
}

/// Inlined, as are its callers: an address that went through memory in bytes and came back as one
/// word would cost as much as a whole lookup.
#[inline(always)]
fn host<'t>(table: impl Lookups<'t>, addr: IpAddr) -> Host {
    match addr {
        IpAddr::V4(addr) => Host::V4(addr.to_bits()),
        IpAddr::V6(addr) => {
            let bits = addr.to_bits();
            let is_ipv4 = is_mapped(bits) && !table.keep_mapped();
            if is_ipv4 { Host::V4(bits as u32) } else { Host::V6(bits) }
        }
    }
}

/// A prefix by the table's rule for IPv4-mapped ones.
pub(super) fn canonical(prefix: IpPrefix, keep_mapped: bool) -> IpPrefix {
    if keep_mapped { prefix } else { prefix.unmapped() }
}

/// The id of the longest match of an address.
#[inline]
pub(super) fn id<'t>(table: impl Lookups<'t>, addr: IpAddr) -> Option<NextHopId> {
    fn of<'t, F: Family>(table: impl FamilyLookups<'t, F>, addr: F::Bits) -> Option<NextHopId> {
        table.public_id(addr, table.id(addr)?)
    }
    match host(table, addr) {
        Host::V4(host) => of::<Ipv4>(table, host),
        Host::V6(host) => of::<Ipv6>(table, host),
    }
}

/// The value of the longest match of an address.
#[inline]
pub(super) fn value<'t, L: Lookups<'t>>(table: L, addr: IpAddr) -> Option<L::Answer> {
    let id = match host(table, addr) {
        Host::V4(host) => FamilyLookups::<Ipv4>::id(table, host),
        Host::V6(host) => FamilyLookups::<Ipv6>::id(table, host),
    };
    table.value(id?)
}

/// The longest match of an address.
#[inline]
pub(super) fn longest<'t, L: Lookups<'t>>(table: L, addr: IpAddr) -> Option<(IpPrefix, L::Answer)> {
    fn ip<F: Family, A>((prefix, value): Longest<F, A>) -> (IpPrefix, A)
    where
        Prefix<F>: Into<IpPrefix>,
    {
        (prefix.into(), value)
    }
    match host(table, addr) {
        Host::V4(host) => FamilyLookups::<Ipv4>::longest(table, host).map(ip),
        Host::V6(host) => FamilyLookups::<Ipv6>::longest(table, host).map(ip),
    }
}

/// Looks up a batch for ids.
pub(super) fn ids<'t, A: Addresses>(
    table: impl Lookups<'t>,
    addrs: A,
    out: &mut [Option<NextHopId>],
) {
    let out = capacity_for(addrs.count(), out);
    addrs.split(table.keep_mapped(), &mut Ids { table, out });
}

/// Looks up a batch for values.
pub(super) fn values<'t, A: Addresses, L: Lookups<'t>>(
    table: L,
    addrs: A,
    out: &mut [Option<L::Answer>],
) {
    let out = capacity_for(addrs.count(), out);
    addrs.split(table.keep_mapped(), &mut Values { table, out });
}

/// Looks up a batch for prefixes and values.
pub(super) fn longest_batch<'t, A: Addresses, L: Lookups<'t>>(
    table: L,
    addrs: A,
    out: &mut [Option<(A::Prefix, L::Answer)>],
) {
    let out = capacity_for(addrs.count(), out);
    addrs.split(table.keep_mapped(), &mut LongestMatches { table, out });
}

struct Ids<'o, L> {
    table: L,
    out: &'o mut [Option<NextHopId>],
}

impl<'t, F: Family, P, L: FamilyLookups<'t, F>> Visit<F, P> for Ids<'_, L> {
    fn visit(&mut self, keys: Keys<'_, F>, at: At<'_>, _prefix: impl Fn(Prefix<F>) -> P) {
        let Self { table, out } = self;
        match at {
            At::From(start) if !table.has_public_ids() => {
                table.ids(keys, &mut out[start..start + keys.len()]);
            }
            _ => blocks_of_ids(*table, keys, |i, id| {
                out[at.position(i)] = id.and_then(|id| table.public_id(keys.get(i), id));
            }),
        }
    }
}

struct Values<'o, 't, L: ValueLookups<'t>> {
    table: L,
    out: &'o mut [Option<L::Answer>],
}

impl<'t, F: Family, P, L: FamilyLookups<'t, F>> Visit<F, P> for Values<'_, 't, L> {
    fn visit(&mut self, keys: Keys<'_, F>, at: At<'_>, _prefix: impl Fn(Prefix<F>) -> P) {
        let Self { table, out } = self;
        blocks_of_ids(*table, keys, |i, id| {
            out[at.position(i)] = id.and_then(|id| table.value(id));
        });
    }
}

struct LongestMatches<'o, 't, P, L: ValueLookups<'t>> {
    table: L,
    out: &'o mut [Option<(P, L::Answer)>],
}

impl<'t, F: Family, P, L: FamilyLookups<'t, F>> Visit<F, P> for LongestMatches<'_, 't, P, L> {
    fn visit(&mut self, keys: Keys<'_, F>, at: At<'_>, prefix: impl Fn(Prefix<F>) -> P) {
        in_blocks(keys, |start, addrs| {
            self.table.longest_each(addrs, |i, longest| {
                let answer = longest.map(|(found, value)| (prefix(found), value));
                self.out[at.position(start + i)] = answer;
            });
        });
    }
}

/// Looks up ids in blocks on the stack; calls `put` with the number of each address.
fn blocks_of_ids<'t, F: Family>(
    table: impl FamilyLookups<'t, F>,
    keys: Keys<'_, F>,
    mut put: impl FnMut(usize, Option<NextHopId>),
) {
    let mut ids = [None; BLOCK];
    for start in (0..keys.len()).step_by(BLOCK) {
        let keys = keys.range(start..keys.len().min(start + BLOCK));
        let ids = &mut ids[..keys.len()];
        table.ids(keys, ids);
        ids.iter().enumerate().for_each(|(i, id)| put(start + i, *id));
    }
}

/// Calls `look` with the addresses as integers, all at once or in blocks on the stack.
fn in_blocks<F: Family>(keys: Keys<'_, F>, mut look: impl FnMut(usize, &[F::Bits])) {
    if let Some(addrs) = keys.as_host() {
        return look(0, addrs);
    }
    let mut addrs = [F::Bits::ZERO; BLOCK];
    for start in (0..keys.len()).step_by(BLOCK) {
        let len = BLOCK.min(keys.len() - start);
        (0..len).for_each(|i| addrs[i] = keys.get(start + i));
        look(start, &addrs[..len]);
    }
}

/// Looks up ids of longest matches, then calls `put` with what `resolve` makes of each.
pub(super) fn resolve_each<'t, F: Family, A>(
    table: impl FamilyLookups<'t, F>,
    addrs: &[F::Bits],
    resolve: impl Fn(F::Bits, NextHopId) -> Option<A>,
    mut put: impl FnMut(usize, Option<A>),
) {
    blocks_of_ids(table, Keys::host(addrs), |i, id| {
        put(i, id.and_then(|id| resolve(addrs[i], id)));
    });
}

/// Routes of both families whose ids lead to values.
pub(super) struct RibLookups<'t, V> {
    pub ipv4: &'t Rib<Ipv4>,
    pub ipv6: &'t Rib<Ipv6>,
    pub values: &'t V,
    pub keep_mapped: bool,
}

impl<V> Copy for RibLookups<'_, V> {}

impl<V> Clone for RibLookups<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

/// The values of ids.
pub(super) trait IdValues {
    /// The type of the values.
    type Value;

    /// The value of an id.
    fn value(&self, id: NextHopId) -> Option<&Self::Value>;
}

impl<T> IdValues for NextHops<T> {
    type Value = T;

    fn value(&self, id: NextHopId) -> Option<&T> {
        self.get(id)
    }
}

impl<'t, V: IdValues> RibLookups<'t, V> {
    fn entry<F: Family>(self, route: Route<F>) -> Option<Longest<F, &'t V::Value>> {
        Some((route.prefix, self.values.value(route.next_hop)?))
    }

    pub fn ip_entry<F: Family>(self, route: Route<F>) -> Option<(IpPrefix, &'t V::Value)>
    where
        Prefix<F>: Into<IpPrefix>,
    {
        self.entry(route).map(|(prefix, value)| (prefix.into(), value))
    }

    /// The value of exactly this prefix.
    pub fn get(self, prefix: IpPrefix) -> Option<&'t V::Value> {
        let id = match canonical(prefix, self.keep_mapped) {
            IpPrefix::V4(prefix) => self.ipv4.get(prefix),
            IpPrefix::V6(prefix) => self.ipv6.get(prefix),
        };
        self.values.value(id?)
    }

    /// Every prefix that covers a prefix, shortest first.
    pub fn cover(self, prefix: IpPrefix) -> impl Iterator<Item = (IpPrefix, &'t V::Value)> {
        let (ipv4, ipv6) = match canonical(prefix, self.keep_mapped) {
            IpPrefix::V4(prefix) => (Some(self.ipv4.cover(prefix)), None),
            IpPrefix::V6(prefix) => (None, Some(self.ipv6.cover(prefix))),
        };
        self.chain(ipv4.into_iter().flatten(), ipv6.into_iter().flatten())
    }

    /// Every prefix that a prefix covers, in order.
    pub fn children(self, prefix: IpPrefix) -> impl Iterator<Item = (IpPrefix, &'t V::Value)> {
        let (ipv4, ipv6) = match canonical(prefix, self.keep_mapped) {
            IpPrefix::V4(prefix) => (Some(self.ipv4.children(prefix)), None),
            IpPrefix::V6(prefix) => (None, Some(self.ipv6.children(prefix))),
        };
        self.chain(ipv4.into_iter().flatten(), ipv6.into_iter().flatten())
    }

    /// Every prefix, in order, IPv4 first.
    pub fn iter(self) -> impl Iterator<Item = (IpPrefix, &'t V::Value)> {
        self.chain(self.ipv4.iter(), self.ipv6.iter())
    }

    pub fn chain(
        self,
        ipv4: impl Iterator<Item = Route<Ipv4>>,
        ipv6: impl Iterator<Item = Route<Ipv6>>,
    ) -> impl Iterator<Item = (IpPrefix, &'t V::Value)> {
        let ipv4 = ipv4.filter_map(move |route| self.ip_entry(route));
        ipv4.chain(ipv6.filter_map(move |route| self.ip_entry(route)))
    }
}

impl<'t, V: IdValues<Value: 't>> ValueLookups<'t> for RibLookups<'t, V> {
    type Answer = &'t V::Value;

    fn value(self, id: NextHopId) -> Option<&'t V::Value> {
        self.values.value(id)
    }
}

impl<'t, V: IdValues<Value: 't>> Lookups<'t> for RibLookups<'t, V> {
    fn keep_mapped(self) -> bool {
        self.keep_mapped
    }
}

macro_rules! rib_lookups {
    ($($family:ident $rib:ident)*) => {$(
        impl<'t, V: IdValues<Value: 't>> FamilyLookups<'t, $family> for RibLookups<'t, V> {
            fn id(self, addr: <$family as Family>::Bits) -> Option<NextHopId> {
                self.$rib.lookup($family::addr(addr))
            }

            fn ids(self, keys: Keys<'_, $family>, out: &mut [Option<NextHopId>]) {
                in_blocks(keys, |start, addrs| {
                    self.$rib.lookup_batch(addrs, &mut out[start..start + addrs.len()]);
                });
            }

            fn longest(
                self,
                addr: <$family as Family>::Bits,
            ) -> Option<Longest<$family, &'t V::Value>> {
                self.entry(self.$rib.get_lpm($family::addr(addr))?)
            }

            fn longest_each(
                self,
                addrs: &[<$family as Family>::Bits],
                mut put: impl FnMut(usize, Option<Longest<$family, &'t V::Value>>),
            ) {
                let mut routes = [None; ROUTES];
                for (block, addrs) in addrs.chunks(ROUTES).enumerate() {
                    self.$rib.get_lpm_batch(addrs, &mut routes);
                    for (i, route) in routes[..addrs.len()].iter().enumerate() {
                        put(block * ROUTES + i, route.and_then(|route| self.entry(route)));
                    }
                }
            }
        }
    )*};
}

rib_lookups!(Ipv4 ipv4 Ipv6 ipv6);

/// The lookup methods of a type whose `lookups` returns its [`Lookups`].
///
/// `example` makes `table`, of the type, from a `Table`; `longest` documents the cost and the
/// panics of a longest match with its prefix.
macro_rules! lookup_methods {
    (example: $example:literal, longest: $longest:literal) => {
        /// The value of the longest prefix that covers the address.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// assert_eq!(table.lookup([10, 1, 2, 3]), Some(&"office"));
        /// assert_eq!(table.lookup("::ffff:10.1.2.3".parse::<std::net::IpAddr>()?), Some(&"office"));
        /// assert_eq!(table.lookup(std::net::Ipv4Addr::LOCALHOST), None);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn lookup(&self, addr: impl Into<core::net::IpAddr>) -> Option<&T> {
            $crate::table::lookups::value(self.lookups(), addr.into())
        }

        /// The longest prefix that covers the address, and its value.
        ///
        #[doc = $longest]
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// let (prefix, site) = table.get_lpm([10, 1, 2, 3]).unwrap();
        /// assert_eq!((prefix.to_string().as_str(), *site), ("10.0.0.0/8", "office"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[inline]
        pub fn get_lpm(
            &self,
            addr: impl Into<core::net::IpAddr>,
        ) -> Option<($crate::IpPrefix, &T)> {
            $crate::table::lookups::longest(self.lookups(), addr.into())
        }

        /// The id of the longest match of the address, which [`value`](Self::value) takes.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// let id = table.lookup_id([10, 1, 2, 3]).unwrap();
        /// assert_eq!(table.value(id), Some(&"office"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[inline]
        pub fn lookup_id(&self, addr: impl Into<core::net::IpAddr>) -> Option<$crate::NextHopId> {
            $crate::table::lookups::id(self.lookups(), addr.into())
        }

        /// Looks up the values of many addresses: `out[i]` answers address `i`.
        ///
        /// Each answer is that of [`lookup`](Self::lookup). Entries of `out` after the last address
        /// keep their values.
        ///
        /// # Panics
        /// When `out` is shorter than `addrs`.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// let mut sites = [None; 2];
        /// table.lookup_batch(&[0x0a01_0203_u32, 0x7f00_0001], &mut sites);
        /// assert_eq!(sites, [Some(&"office"), None]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn lookup_batch<'t>(
            &'t self,
            addrs: impl $crate::table::Addresses,
            out: &mut [Option<&'t T>],
        ) {
            $crate::table::lookups::values(self.lookups(), addrs, out);
        }

        /// The value of an id that lookups of this table have returned.
        ///
        /// It is the value itself, or that of the route, as
        /// [`Answers`](crate::Answers) says. In a live table an id of an earlier view may have
        /// another value by now, or none.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// let id = table.lookup_id([10, 1, 2, 3]).unwrap();
        /// assert_eq!(table.value(id), Some(&"office"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[inline]
        pub fn value(&self, id: $crate::NextHopId) -> Option<&T> {
            $crate::table::lookups::ValueLookups::value_of_public(self.lookups(), id)
        }

        /// Looks up the ids of many addresses: `out[i]` answers address `i`.
        ///
        /// Each answer is that of [`lookup_id`](Self::lookup_id). Entries of `out` after the last
        /// address keep their values. Ids are the fastest answers of a compiled table.
        ///
        /// # Panics
        /// When `out` is shorter than `addrs`.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// let mut ids = [None; 2];
        /// table.lookup_ids(&[0x0a01_0203_u32, 0x7f00_0001], &mut ids);
        /// assert_eq!(ids.map(|id| table.value(id?)), [Some(&"office"), None]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn lookup_ids(
            &self,
            addrs: impl $crate::table::Addresses,
            out: &mut [Option<$crate::NextHopId>],
        ) {
            $crate::table::lookups::ids(self.lookups(), addrs, out);
        }

        /// Looks up the longest prefixes and their values: `out[i]` answers address `i`.
        ///
        /// Each answer is that of [`get_lpm`](Self::get_lpm). Entries of `out` after the last
        /// address keep their values.
        ///
        /// # Panics
        /// When `out` is shorter than `addrs`, and where [`get_lpm`](Self::get_lpm) does.
        ///
        /// ```
        /// # let mut table = longmatch::Table::new();
        /// # table.insert("10.0.0.0/8".parse::<longmatch::IpPrefix>()?, "office")?;
        #[doc = $example]
        /// let mut found = [None; 2];
        /// table.get_lpm_batch(&[0x0a01_0203_u32, 0x7f00_0001], &mut found);
        /// assert_eq!(found, [Some(("10.0.0.0/8".parse()?, &"office")), None]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn get_lpm_batch<'t, A: $crate::table::Addresses>(
            &'t self,
            addrs: A,
            out: &mut [Option<(A::Prefix, &'t T)>],
        ) {
            $crate::table::lookups::longest_batch(self.lookups(), addrs, out);
        }
    };
}
pub(super) use lookup_methods;
