//! The kernel's routes by prefix, in the order in which the kernel considers those of a prefix.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use longmatch::IpPrefix;

use super::event::{Path, Placing, Route, RouteKind};

/// A routing table, in the order in which the kernel reads them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Rank {
    Local,
    Main,
    Default,
}

impl Rank {
    /// `None` for tables that the kernel reads because of a rule only.
    fn of(table: u32) -> Option<Self> {
        match table {
            Route::LOCAL => Some(Self::Local),
            Route::MAIN => Some(Self::Main),
            Route::DEFAULT => Some(Self::Default),
            _ => None,
        }
    }
}

/// One of the routes of a prefix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Alias {
    pub rank: Rank,
    pub metric: u32,
    tos: u8,
    router_advertisement: bool,
    source: Option<Box<IpPrefix>>,
    /// Shared by the routes that have the same.
    pub path: Arc<Path>,
}

impl Alias {
    fn key(&self) -> (Rank, u32, u8, Option<IpPrefix>) {
        (self.rank, self.metric, self.tos, self.source.as_deref().copied())
    }

    /// Whether only some packets to the prefix use it.
    pub fn is_selective(&self) -> bool {
        self.tos != 0 || self.source.is_some()
    }

    /// Whether an IPv6 route is one with several hops, or would be if it had another.
    fn is_multipath(&self) -> bool {
        let hops = &self.path.hops;
        let routed = hops.len() > 1 || hops.iter().any(|hop| hop.gateway.is_some());
        let Path { kind, next_hop, .. } = *self.path;
        routed && kind == RouteKind::Unicast && next_hop.is_none() && !self.router_advertisement
    }

    /// Whether it is the same route, even if hops died or came to life.
    fn is_like(&self, other: &Self) -> bool {
        let (path, other) = (&*self.path, &*other.path);
        let mut hops = path.hops.iter().zip(&other.hops);
        (path.kind, path.next_hop, path.hops.len())
            == (other.kind, other.next_hop, other.hops.len())
            && hops.all(|(a, b)| a.is_like(b))
    }
}

/// The routes of the tables that the kernel reads without rules of an administrator.
#[derive(Clone, Default)]
pub(super) struct KernelRoutes {
    by_prefix: BTreeMap<IpPrefix, Vec<Alias>>,
    paths: HashSet<Arc<Path>>,
    /// Paths above which unused ones are dropped.
    path_limit: usize,
    /// Number of prefixes of each length: IPv4, IPv6.
    lengths: [BTreeMap<u8, usize>; 2],
    /// Prefixes of several addresses in the local table.
    local: BTreeSet<IpPrefix>,
    /// Prefixes in the default table.
    default: BTreeSet<IpPrefix>,
    /// Number of routes of each next-hop object.
    users: HashMap<u32, usize>,
}

/// What became of a change of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// Nothing changed.
    Nothing,
    /// The routes of the prefix changed.
    Changed,
    /// The kernel's message is about another route than those that are known.
    Unclear,
}

impl KernelRoutes {
    /// Routes without any, which share the paths of these ones.
    pub fn next_generation(&self) -> Self {
        let (paths, path_limit) = (self.paths.clone(), self.path_limit);
        Self { paths, path_limit, ..Self::default() }
    }

    /// The routes of a prefix, in the kernel's order.
    pub fn get(&self, prefix: IpPrefix) -> &[Alias] {
        self.by_prefix.get(&prefix).map_or(&[], Vec::as_slice)
    }

    /// All prefixes and their routes, in order.
    pub fn iter(&self) -> impl Iterator<Item = (IpPrefix, &[Alias])> {
        self.by_prefix.iter().map(|(&prefix, aliases)| (prefix, aliases.as_slice()))
    }

    /// The prefixes that this prefix covers, its own included.
    pub fn below(&self, prefix: IpPrefix) -> impl Iterator<Item = IpPrefix> {
        let last = IpPrefix::host(prefix.last());
        self.by_prefix.range(prefix..=last).map(|(&prefix, _)| prefix)
    }

    /// The prefixes with routes that hold an address and are shorter than `len`, longest first.
    pub fn above(&self, addr: IpAddr, len: u8) -> impl Iterator<Item = IpPrefix> {
        let lengths = self.lengths[usize::from(addr.is_ipv6())].range(..len).rev();
        let prefixes = lengths.filter_map(move |(&len, _)| IpPrefix::masked(addr, len).ok());
        prefixes.filter(|prefix| self.by_prefix.contains_key(prefix))
    }

    /// The prefixes of several addresses in the local table that cover a prefix, and their routes
    /// there. There are few of them.
    pub fn local_above(&self, prefix: IpPrefix) -> impl Iterator<Item = &Alias> {
        let covering = self.local.iter().filter(move |local| local.covers(prefix));
        let aliases = covering.flat_map(|&local| self.get(local));
        aliases.filter(|alias| alias.rank == Rank::Local)
    }

    /// Whether a change in a table may show or hide longer prefixes of tables that are read later.
    pub fn hides(&self, prefix: IpPrefix) -> bool {
        !self.default.is_empty() || self.local.contains(&prefix)
    }

    /// Number of prefixes: IPv4, IPv6.
    pub fn len(&self) -> [usize; 2] {
        self.lengths.each_ref().map(|lengths| lengths.values().sum())
    }

    /// Whether a route uses the next-hop object.
    pub fn uses(&self, next_hop: u32) -> bool {
        self.users.contains_key(&next_hop)
    }

    /// Whether a route leads by an interface, or did so some time ago. O(paths); there are few paths.
    pub fn has_hops_by(&self, interface: u32) -> bool {
        self.paths.iter().flat_map(|path| &path.hops).any(|hop| hop.interface == interface)
    }

    /// Adds a route, or replaces one.
    pub fn add(&mut self, route: Route, placing: Placing) -> Effect {
        let prefix = route.prefix;
        let Some(alias) = self.alias(route) else { return Effect::Nothing };
        let before = self.get(prefix).to_vec();
        let mut after = before.clone();
        match prefix {
            IpPrefix::V4(_) => add_ipv4(&mut after, alias, placing),
            IpPrefix::V6(_) => add_ipv6(&mut after, alias, placing),
        }
        self.put(prefix, before, after)
    }

    /// Removes a route; of an IPv6 route with several hops those that are named.
    pub fn remove(&mut self, route: Route) -> Effect {
        let prefix = route.prefix;
        let Some(alias) = self.alias(route) else { return Effect::Nothing };
        let before = self.get(prefix).to_vec();
        let mut after = before.clone();
        let same_key = |other: &Alias| other.key() == alias.key();
        let multipath = after
            .iter()
            .position(|other| prefix.addr().is_ipv6() && same_key(other) && other.is_multipath());
        let exact = after.iter().position(|other| same_key(other) && other.is_like(&alias));
        match (exact, multipath) {
            (Some(place), _) => drop(after.remove(place)),
            (None, Some(place)) if alias.is_multipath() => {
                let mut path = (*after[place].path).clone();
                let gone = &alias.path.hops;
                path.hops.retain(|hop| !gone.iter().any(|gone| gone.is_like(hop)));
                match path.hops.is_empty() {
                    true => drop(after.remove(place)),
                    false => after[place].path = self.intern(path),
                }
            }
            // The route is unknown, or known by another path: a message was lost or is late.
            _ => match after.iter().any(same_key) {
                true => return Effect::Unclear,
                false => return Effect::Nothing,
            },
        }
        self.put(prefix, before, after)
    }

    /// Keeps the routes of some prefixes.
    pub fn retain(&mut self, mut keep: impl FnMut(IpPrefix) -> bool) {
        let gone = self.by_prefix.keys().copied().filter(|&prefix| !keep(prefix));
        for prefix in gone.collect::<Vec<_>>() {
            let before = self.get(prefix).to_vec();
            self.put(prefix, before, Vec::new());
        }
    }

    /// The prefixes of the routes that use one of these next-hop objects.
    pub fn users(&self, is_one: impl Fn(u32) -> bool) -> Vec<IpPrefix> {
        let uses = |alias: &Alias| alias.path.next_hop.is_some_and(&is_one);
        let users = self.iter().filter(|(_, aliases)| aliases.iter().any(uses));
        users.map(|(prefix, _)| prefix).collect()
    }

    /// Removes the routes of a prefix that use a next-hop object.
    pub fn remove_users(&mut self, prefix: IpPrefix, next_hop: u32) -> Effect {
        let before = self.get(prefix).to_vec();
        let mut after = before.clone();
        after.retain(|alias| alias.path.next_hop != Some(next_hop));
        self.put(prefix, before, after)
    }

    /// `None` for routes in other tables.
    fn alias(&mut self, mut route: Route) -> Option<Alias> {
        let path = &mut route.path;
        if path.next_hop.is_some() {
            // The kernel states the hops of the object at the time of the message. They may change.
            path.hops.clear();
            if path.kind == RouteKind::Blackhole {
                path.kind = RouteKind::Unicast;
            }
        }
        if route.prefix.addr().is_ipv6() {
            // The kernel names the hops in one order in a dump, and in another when one is added.
            path.hops.sort_by_key(|hop| (hop.interface, hop.gateway));
        }
        Some(Alias {
            rank: Rank::of(route.table)?,
            metric: route.metric,
            tos: route.tos,
            router_advertisement: route.protocol == Route::ROUTER_ADVERTISEMENT,
            source: route.source.map(Box::new),
            path: self.intern(route.path),
        })
    }

    fn intern(&mut self, path: Path) -> Arc<Path> {
        if let Some(path) = self.paths.get(&path) {
            return path.clone();
        }
        if self.paths.len() >= self.path_limit {
            self.paths.retain(|path| Arc::strong_count(path) > 1);
            // Dropping costs as much as there are paths: not again before they doubled.
            self.path_limit = (2 * self.paths.len()).max(1024);
        }
        let path = Arc::new(path);
        self.paths.insert(path.clone());
        path
    }

    /// Replaces the routes of a prefix, and keeps the counts.
    fn put(&mut self, prefix: IpPrefix, before: Vec<Alias>, mut after: Vec<Alias>) -> Effect {
        if before == after {
            return Effect::Nothing;
        }
        for next_hop in before.iter().filter_map(|alias| alias.path.next_hop) {
            decrement(&mut self.users, next_hop);
        }
        for next_hop in after.iter().filter_map(|alias| alias.path.next_hop) {
            *self.users.entry(next_hop).or_default() += 1;
        }
        let has = |rank| after.iter().any(|alias| alias.rank == rank);
        let is_host = prefix == IpPrefix::host(prefix.addr());
        set(&mut self.local, prefix, has(Rank::Local) && !is_host);
        set(&mut self.default, prefix, has(Rank::Default));
        let lengths = &mut self.lengths[usize::from(prefix.addr().is_ipv6())];
        if after.is_empty() {
            self.by_prefix.remove(&prefix);
            if let Some(count) = lengths.get_mut(&prefix.len()) {
                *count -= 1;
                if *count == 0 {
                    lengths.remove(&prefix.len());
                }
            }
        } else {
            if before.is_empty() {
                *lengths.entry(prefix.len()).or_default() += 1;
            }
            after.shrink_to_fit();
            self.by_prefix.insert(prefix, after);
        }
        Effect::Changed
    }
}

fn decrement(counts: &mut HashMap<u32, usize>, key: u32) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

fn set(prefixes: &mut BTreeSet<IpPrefix>, prefix: IpPrefix, is_there: bool) {
    if is_there {
        prefixes.insert(prefix);
    } else {
        prefixes.remove(&prefix);
    }
}

/// The kernel has a list of routes for each table, metric and TOS.
fn add_ipv4(aliases: &mut Vec<Alias>, alias: Alias, placing: Placing) {
    let key = alias.key();
    match placing {
        Placing::Only => aliases.retain(|other| other.key() != key),
        Placing::Replace => {
            if let Some(first) = aliases.iter().position(|other| other.key() == key) {
                aliases.remove(first);
            }
        }
        Placing::First | Placing::Last => {}
    }
    // Messages that arrive after a dump may name a route that the dump had already.
    aliases.retain(|other| other.key() != key || !other.is_like(&alias));
    let place = aliases.partition_point(|other| match placing {
        Placing::Last => other.key() <= key,
        Placing::Only | Placing::First | Placing::Replace => other.key() < key,
    });
    aliases.insert(place, alias);
}

/// The kernel has one route with several hops for each table and metric; a message names
/// all its hops. It may have other routes with one hop.
fn add_ipv6(aliases: &mut Vec<Alias>, alias: Alias, placing: Placing) {
    let key = alias.key();
    let is_multipath = alias.is_multipath();
    let alike = |other: &Alias| {
        other.key() == key && (is_multipath && other.is_multipath() || other.is_like(&alias))
    };
    // A route with hops replaces another such one if there is one.
    let replaced = match placing {
        Placing::Replace => {
            let kind = |other: &Alias| other.key() == key && other.is_multipath() == is_multipath;
            let first = |other: &Alias| other.key() == key;
            aliases.iter().position(kind).or_else(|| aliases.iter().position(first))
        }
        Placing::Only | Placing::First | Placing::Last => aliases.iter().position(alike),
    };
    let Some(place) = replaced else {
        let place = aliases.partition_point(|other| other.key() <= key);
        return aliases.insert(place, alias);
    };
    let kept = aliases[..place].iter().filter(|other| !alike(other)).count();
    let mut places = 0..;
    aliases.retain(|other| places.next() != Some(place) && !alike(other));
    aliases.insert(kept, alias);
}
