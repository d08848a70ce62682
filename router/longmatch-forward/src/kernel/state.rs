//! The kernel's state, and the prefixes that a change concerns: no sockets, no tables.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use longmatch::IpPrefix;

use super::event::{
    Address, Event, Link, LinkAddress, NeighbourKey, NextHop, NextHopKind, Placing,
};
use super::neighbours::Neighbours;
use super::routes::{Effect, KernelRoutes};
use crate::target::Port;

/// The kernel's state at one moment.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub links: BTreeMap<u32, Link>,
    pub addresses: BTreeSet<Address>,
    pub next_hops: BTreeMap<u32, NextHopKind>,
    /// Those whose Ethernet address is known.
    pub neighbours: BTreeMap<NeighbourKey, LinkAddress>,
    pub routes: KernelRoutes,
}

impl Snapshot {
    /// An empty snapshot; paths of routes will be shared with `before`.
    pub fn after(before: &Self) -> Self {
        Self { routes: before.routes.next_generation(), ..Self::default() }
    }

    /// Adds an event of a dump. A dump names the routes of a prefix in their order.
    pub fn record(&mut self, event: Event) {
        match event {
            Event::Link(link) => drop(self.links.insert(link.index, link)),
            Event::Address(address) => drop(self.addresses.insert(address)),
            Event::NextHop(NextHop { id, kind }) => drop(self.next_hops.insert(id, kind)),
            Event::Neighbour(key, mac) => drop(self.neighbours.insert(key, mac)),
            Event::Route(route, _) => drop(self.routes.add(route, Placing::Last)),
            // Neighbours that the kernel knows, but not their Ethernet addresses.
            Event::NeighbourGone(_)
            | Event::LinkGone(_)
            | Event::AddressGone(_)
            | Event::NextHopGone(_)
            | Event::RouteGone(_) => {}
        }
    }
}

/// Origin of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// As it happened.
    Event,
    /// After a dump that began before it was read: the dump may know it and what came after it.
    DuringDump,
}

/// The kernel's state, and the prefixes whose targets may have changed.
pub struct KernelState {
    pub(super) ports: HashMap<u32, Arc<Port>>,
    pub(super) snapshot: Snapshot,
    pub(super) neighbours: Neighbours,
    dirty: BTreeSet<IpPrefix>,
    /// Next-hop objects that changed. Their routes are found once for many of them.
    dirty_next_hops: HashSet<u32>,
    /// Whether the kernel may have changed routes without a message.
    stale: bool,
    /// IPv4 prefixes with late messages about a replaced route, since the last dump.
    replaced_late: HashSet<IpPrefix>,
}

impl KernelState {
    /// An empty state. Packets can be sent by these ports.
    pub fn new(ports: &[Arc<Port>]) -> Self {
        Self {
            ports: ports.iter().map(|port| (port.index, port.clone())).collect(),
            snapshot: Snapshot::default(),
            neighbours: Neighbours::default(),
            dirty: BTreeSet::new(),
            dirty_next_hops: HashSet::new(),
            stale: false,
            replaced_late: HashSet::new(),
        }
    }

    /// Applies a change as it happens.
    pub fn apply(&mut self, event: Event) {
        self.apply_at(event, Origin::Event);
    }

    /// Whether this state may differ from the kernel's, so that everything must be read again.
    pub fn may_be_stale(&self) -> bool {
        self.stale
    }

    pub(super) fn set_stale(&mut self, stale: bool) {
        self.stale = stale;
    }

    /// Addresses of this machine, each once.
    pub fn local_addresses(&self) -> impl Iterator<Item = IpAddr> {
        let mut last = None;
        let addresses = self.snapshot.addresses.iter().map(|address| address.addr);
        // Equal ones are next to each other.
        addresses.filter(move |&addr| last.replace(addr) != Some(addr))
    }

    /// The broadcast addresses of IPv4 links, some more than once.
    pub fn broadcast_addresses(&self) -> impl Iterator<Item = IpAddr> {
        // On links between two hosts there is none.
        let links = self.snapshot.addresses.iter().filter(|address| address.len < 31);
        links.filter_map(|address| match address.addr {
            IpAddr::V4(addr) => Some((addr | Ipv4Addr::from(u32::MAX >> address.len)).into()),
            IpAddr::V6(_) => None,
        })
    }

    pub(super) fn apply_at(&mut self, event: Event, origin: Origin) {
        match event {
            Event::Link(link) => self.link(link, origin),
            Event::LinkGone(index) => {
                self.snapshot.links.remove(&index);
                self.stale = true;
            }
            Event::Address(address) => drop(self.snapshot.addresses.insert(address)),
            Event::AddressGone(address) => {
                self.snapshot.addresses.remove(&address);
                // IPv4 routes with this source address vanish silently, and with the last address
                // of the interface all its IPv4 routes.
                self.stale |= address.addr.is_ipv4();
            }
            Event::NextHop(NextHop { id, kind }) => self.set_next_hop(id, Some(kind)),
            Event::NextHopGone(id) => {
                self.set_next_hop(id, None);
                self.remove_users(id);
            }
            Event::Neighbour(key, mac) => self.set_neighbour(key, Some(mac)),
            Event::NeighbourGone(key) => self.set_neighbour(key, None),
            Event::Route(route, placing) => {
                let prefix = route.prefix;
                self.note_late(prefix, Some(placing), origin);
                let effect = self.change(prefix, |routes| routes.add(route, placing));
                debug_assert_ne!(effect, Effect::Unclear);
            }
            Event::RouteGone(route) => {
                let prefix = route.prefix;
                self.note_late(prefix, None, origin);
                let effect = self.change(prefix, |routes| routes.remove(route));
                // A late message may be about a route that was gone before the dump.
                self.stale |= effect == Effect::Unclear && origin == Origin::Event;
            }
        }
    }

    /// Notes a message about an IPv4 route: of a new one its place, `None` if it is gone.
    ///
    /// Where several routes of a prefix have the same metric, a message says "the first one" but
    /// not which one that was. If the message is late, that is another one in the dump. Such
    /// prefixes are rare: all is read again then.
    fn note_late(&mut self, prefix: IpPrefix, placing: Option<Placing>, origin: Origin) {
        if origin == Origin::Event || prefix.addr().is_ipv6() {
            return;
        }
        self.stale |= self.snapshot.routes.get(prefix).len() > 1;
        match placing {
            Some(Placing::First | Placing::Last) => self.stale = true,
            Some(Placing::Replace) => drop(self.replaced_late.insert(prefix)),
            Some(Placing::Only) => {}
            // The replaced route may not have been the only one.
            None => self.stale |= self.replaced_late.contains(&prefix),
        }
    }

    /// Changes the routes of a prefix.
    fn change(
        &mut self,
        prefix: IpPrefix,
        change: impl FnOnce(&mut KernelRoutes) -> Effect,
    ) -> Effect {
        let hid = self.snapshot.routes.hides(prefix);
        let effect = change(&mut self.snapshot.routes);
        if effect == Effect::Changed {
            self.touch(prefix);
            if hid {
                // Routes below are visible again, unless the prefix still hides them.
                self.dirty.extend(self.snapshot.routes.below(prefix));
            }
        }
        effect
    }

    /// Gives a port the MTU and the Ethernet address of its interface.
    fn follow_port(&self, link: &Link) {
        if let Some(port) = self.ports.get(&link.index) {
            port.set_mtu(link.mtu);
            link.mac.iter().for_each(|mac| port.set_mac(*mac));
        }
    }

    /// Whether a route or a next-hop object may lead by an interface.
    fn has_hops_by(&self, interface: u32) -> bool {
        let is_hop = |kind: &NextHopKind| matches!(kind, NextHopKind::Hop(hop) if hop.interface == interface);
        self.snapshot.routes.has_hops_by(interface) || self.snapshot.next_hops.values().any(is_hop)
    }

    fn link(&mut self, link: Link, origin: Origin) {
        self.follow_port(&link);
        let is_up = link.is_up();
        let flags = link.flags & Link::STATE;
        let index = link.index;
        let before = self.snapshot.links.insert(index, link);
        let changed = before.is_some_and(|before| before.flags & Link::STATE != flags);
        // IPv4 routes of an interface that goes down vanish silently, and hops of its multipath
        // routes die and come to life silently. If the dump was later than the event, a route may
        // have been added by an even earlier event.
        self.stale |=
            (changed || origin == Origin::DuringDump && !is_up) && self.has_hops_by(index);
    }

    fn set_next_hop(&mut self, id: u32, kind: Option<NextHopKind>) {
        let next_hops = &mut self.snapshot.next_hops;
        let before = match kind.clone() {
            Some(kind) => next_hops.insert(id, kind),
            None => next_hops.remove(&id),
        };
        if before != kind {
            self.dirty_next_hops.insert(id);
        }
    }

    /// Removes the routes that use a next-hop object, as the kernel does without a message.
    fn remove_users(&mut self, id: u32) {
        if !self.snapshot.routes.uses(id) {
            return;
        }
        self.stale = true;
        for prefix in self.snapshot.routes.users(|user| user == id) {
            self.change(prefix, |routes| routes.remove_users(prefix, id));
        }
    }

    fn set_neighbour(&mut self, key: NeighbourKey, address: Option<LinkAddress>) {
        let neighbours = &mut self.snapshot.neighbours;
        let before = match address {
            Some(address) => neighbours.insert(key, address),
            None => neighbours.remove(&key),
        };
        if before == address {
            return;
        }
        self.neighbours.set(key, address.map(|address| address.mac));
        // A change from one address to another is a store into the neighbour that the tables hold.
        if before.is_none() || address.is_none() {
            self.dirty.insert(IpPrefix::host(key.addr));
        }
    }

    /// Makes one packet for each stale neighbour go to the kernel.
    pub(super) fn ask_stale(&self) {
        let stale = self.snapshot.neighbours.iter().filter(|(_, address)| address.is_stale);
        stale.for_each(|(key, _)| self.neighbours.ask(*key));
    }

    /// Notes that the routes of a prefix changed.
    fn touch(&mut self, prefix: IpPrefix) {
        self.dirty.insert(prefix);
        let hosts = hosts_below(&self.snapshot.neighbours, prefix);
        self.dirty.extend(hosts);
        if self.snapshot.routes.hides(prefix) {
            self.dirty.extend(self.snapshot.routes.below(prefix));
        }
    }

    /// Replaces the state by a dump. Parts that are equal in both do not change.
    pub(super) fn adopt(&mut self, snapshot: Snapshot) {
        let before = std::mem::replace(&mut self.snapshot, snapshot);
        self.replaced_late.clear();
        self.snapshot.links.values().for_each(|link| self.follow_port(link));
        let next_hops = differences(before.next_hops.iter(), self.snapshot.next_hops.iter());
        self.dirty_next_hops.extend(next_hops);
        for key in differences(before.neighbours.iter(), self.snapshot.neighbours.iter()) {
            self.neighbours.set(key, self.snapshot.neighbours.get(&key).map(|address| address.mac));
            self.dirty.insert(IpPrefix::host(key.addr));
        }
        for prefix in differences_by(before.routes.iter(), self.snapshot.routes.iter()) {
            self.touch(prefix);
            if before.routes.hides(prefix) {
                self.dirty.extend(self.snapshot.routes.below(prefix));
            }
        }
    }

    /// Takes the prefixes whose targets may have changed.
    pub(super) fn take_dirty(&mut self) -> BTreeSet<IpPrefix> {
        let changed = std::mem::take(&mut self.dirty_next_hops);
        if !changed.is_empty() {
            let used = self.with_groups(changed);
            let prefixes = match used.is_empty() {
                true => Vec::new(),
                false => self.snapshot.routes.users(|id| used.contains(&id)),
            };
            prefixes.into_iter().for_each(|prefix| self.touch(prefix));
        }
        std::mem::take(&mut self.dirty)
    }

    /// These next-hop objects and the groups that they are in, as far as routes use them.
    fn with_groups(&self, mut ids: HashSet<u32>) -> HashSet<u32> {
        let groups = self.snapshot.next_hops.iter().filter(|(_, kind)| match kind {
            NextHopKind::Group(members) => members.iter().any(|(id, _)| ids.contains(id)),
            _ => false,
        });
        let groups: Vec<_> = groups.map(|(&id, _)| id).collect();
        ids.extend(groups);
        ids.retain(|&id| self.snapshot.routes.uses(id));
        ids
    }

    /// Every prefix that may have a target, in order; some twice.
    pub(super) fn prefixes(&self) -> impl Iterator<Item = IpPrefix> {
        let hosts = self.snapshot.neighbours.keys().map(|key| IpPrefix::host(key.addr));
        self.snapshot.routes.iter().map(|(prefix, _)| prefix).chain(hosts)
    }
}

/// The host prefixes of the neighbours that a prefix covers.
fn hosts_below(
    neighbours: &BTreeMap<NeighbourKey, LinkAddress>,
    prefix: IpPrefix,
) -> impl Iterator<Item = IpPrefix> {
    let first = NeighbourKey { addr: prefix.first(), interface: 0 };
    let last = NeighbourKey { addr: prefix.last(), interface: u32::MAX };
    neighbours.range(first..=last).map(|(key, _)| IpPrefix::host(key.addr))
}

/// The keys of entries that are in one of two maps only or have other values in the other.
fn differences<'m, K: Ord + Copy + 'm, V: PartialEq + 'm>(
    old: impl Iterator<Item = (&'m K, &'m V)>,
    new: impl Iterator<Item = (&'m K, &'m V)>,
) -> Vec<K> {
    differences_by(old.map(|(&key, value)| (key, value)), new.map(|(&key, value)| (key, value)))
}

/// As [`differences`], of entries in ascending order.
fn differences_by<K: Ord + Copy, V: PartialEq>(
    old: impl Iterator<Item = (K, V)>,
    new: impl Iterator<Item = (K, V)>,
) -> Vec<K> {
    let (mut old, mut new) = (old.peekable(), new.peekable());
    let mut keys = Vec::new();
    loop {
        let first = match (old.peek(), new.peek()) {
            (None, None) => return keys,
            (Some((key, _)), None) | (None, Some((key, _))) => *key,
            (Some((a, _)), Some((b, _))) => *a.min(b),
        };
        let before = old.next_if(|(key, _)| *key == first).map(|(_, value)| value);
        let after = new.next_if(|(key, _)| *key == first).map(|(_, value)| value);
        if before != after {
            keys.push(first);
        }
    }
}
