//! The targets of prefixes, computed from the kernel's state.

use std::sync::Arc;

use longmatch::IpPrefix;

use super::event::{NeighbourKey, NextHopKind, Path, RouteHop, RouteKind};
use super::routes::{Alias, Rank};
use super::state::KernelState;
use crate::target::{Group, Hop, Target};

/// The target of a route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RouteTarget {
    pub target: Target,
    /// The interface, if the destinations are on its link.
    pub on_link: Option<u32>,
}

impl From<Target> for RouteTarget {
    fn from(target: Target) -> Self {
        Self { target, on_link: None }
    }
}

/// The meaning of a list of hops.
enum Hops {
    /// All of them are dead: the route does not exist for now.
    Dead,
    /// Only the kernel can use them.
    Kernel,
    Usable(Vec<RouteHop>),
}

impl KernelState {
    /// The target of exactly this prefix; `None` if it has none.
    pub fn target(&self, prefix: IpPrefix) -> Option<Target> {
        let exact = self.outcome(prefix);
        if prefix != IpPrefix::host(prefix.addr()) {
            return exact.map(|outcome| outcome.target);
        }
        // An address on the link of a port, by its own route or by a shorter one.
        let outcome = exact.clone().or_else(|| {
            let mut above = self.snapshot.routes.above(prefix.addr(), prefix.len());
            above.find_map(|prefix| self.outcome(prefix))
        });
        let neighbour = outcome.and_then(|outcome| self.known_neighbour(prefix, outcome.on_link?));
        neighbour.or_else(|| exact.map(|outcome| outcome.target))
    }

    /// The target that is a known neighbour on the link of this interface.
    pub(super) fn known_neighbour(&self, host: IpPrefix, interface: u32) -> Option<Target> {
        let addr = host.addr();
        self.snapshot.neighbours.get(&NeighbourKey { addr, interface })?;
        let hop = RouteHop { interface, gateway: Some(addr), ..RouteHop::NONE };
        self.group(&[hop])
    }

    /// The target of a prefix's routes; `None` if the kernel uses none of them.
    fn outcome(&self, prefix: IpPrefix) -> Option<RouteTarget> {
        let aliases = self.snapshot.routes.get(prefix);
        let tables = aliases.chunk_by(|a, b| a.rank == b.rank);
        let (rank, outcome) =
            { tables }.find_map(|table| Some((table[0].rank, self.in_table(prefix, table)?)))?;
        (!self.is_hidden(prefix, rank)).then_some(outcome)
    }

    /// Whether a table that the kernel reads earlier has a route for all addresses of a prefix.
    fn is_hidden(&self, prefix: IpPrefix, rank: Rank) -> bool {
        let routes = &self.snapshot.routes;
        let is_live = |alias: &Alias| self.by_path(alias).is_some();
        let by_local = || routes.local_above(prefix).any(is_live);
        let by_main = || {
            let mut above = routes.above(prefix.addr(), prefix.len());
            above.any(|prefix| {
                let main = |alias: &&Alias| alias.rank == Rank::Main;
                routes.get(prefix).iter().filter(main).any(is_live)
            })
        };
        match rank {
            Rank::Local => false,
            Rank::Main => by_local(),
            Rank::Default => by_local() || by_main(),
        }
    }

    /// The target of a prefix's routes in one table.
    pub(super) fn in_table(&self, prefix: IpPrefix, aliases: &[Alias]) -> Option<RouteTarget> {
        let mut live = aliases.iter().filter_map(|alias| Some((alias, self.by_path(alias)?)));
        let (first, outcome) = live.next()?;
        if first.is_selective() {
            return Some(Target::Kernel.into());
        }
        let (mut rest, metric) = (live, first.metric);
        // Which one the kernel takes depends on the packet; of equal IPv6 ones, on neighbours.
        let differs = rest.any(|(alias, other)| {
            let is_equal = prefix.addr().is_ipv6() && alias.metric == metric;
            alias.is_selective() || is_equal && other != outcome
        });
        Some(if differs { Target::Kernel.into() } else { outcome })
    }

    /// The target of a route; `None` if the kernel does not use it now.
    fn by_path(&self, alias: &Alias) -> Option<RouteTarget> {
        let path = &*alias.path;
        let hops = match path.kind {
            RouteKind::Local => return Some(Target::Local.into()),
            RouteKind::Blackhole => return Some(Target::Blackhole.into()),
            RouteKind::Other(_) => return Some(Target::Kernel.into()),
            RouteKind::Unicast if path.special => return Some(Target::Kernel.into()),
            RouteKind::Unicast => match self.hops(path) {
                Ok(hops) => hops,
                Err(target) => return Some(target.into()),
            },
        };
        let hops = match hops {
            Hops::Dead => return None,
            Hops::Kernel => return Some(Target::Kernel.into()),
            Hops::Usable(hops) => hops,
        };
        if let [RouteHop { interface, gateway: None, .. }] = hops[..] {
            let port = self.ports.get(&interface);
            // Of an on-link route of another interface, the kernel knows the neighbours.
            let outcome = port.map(|port| (Target::OnLink, port.index));
            return Some(outcome.map_or_else(
                || Target::Kernel.into(),
                |(target, interface)| RouteTarget { target, on_link: Some(interface) },
            ));
        }
        Some(self.group(&hops).unwrap_or(Target::Kernel).into())
    }

    /// The hops of a path, by its next-hop object if it has one.
    ///
    /// # Errors
    /// The target, if the next-hop object leads to no hops.
    fn hops(&self, path: &Path) -> Result<Hops, Target> {
        let Some(id) = path.next_hop else { return Ok(usable(path.hops.iter().copied())) };
        let next_hops = &self.snapshot.next_hops;
        let group = match next_hops.get(&id) {
            Some(NextHopKind::Hop(hop)) => return Ok(usable([*hop])),
            Some(NextHopKind::Blackhole) => return Err(Target::Blackhole),
            // Until the kernel reports the object, the packets go to the kernel.
            Some(NextHopKind::Special) | None => return Err(Target::Kernel),
            Some(NextHopKind::Group(members)) => members,
        };
        let mut hops = Vec::with_capacity(group.len());
        for &(id, weight) in group {
            match next_hops.get(&id) {
                Some(NextHopKind::Hop(hop)) => hops.push(RouteHop { weight, ..*hop }),
                // The kernel permits a group of one blackhole.
                Some(NextHopKind::Blackhole) if group.len() == 1 => return Err(Target::Blackhole),
                _ => return Err(Target::Kernel),
            }
        }
        Ok(usable(hops))
    }

    /// The target of these hops; `None` if one of them is not by a router on a port's link.
    fn group(&self, hops: &[RouteHop]) -> Option<Target> {
        let is_single = hops.len() == 1;
        let hops = hops.iter().map(|hop| {
            let key = NeighbourKey { addr: hop.gateway?, interface: hop.interface };
            let mac = self.snapshot.neighbours.get(&key).map(|address| address.mac);
            Some(Hop {
                port: self.ports.get(&hop.interface)?.clone(),
                neighbour: self.neighbours.get(key, mac),
                // The kernel reports no weight of a single hop, even if it is the last of several.
                weight: if is_single { 1 } else { hop.weight },
            })
        });
        Group::new(hops.collect::<Option<_>>()?).map(|group| Target::Group(Arc::new(group)))
    }
}

/// The hops that the kernel uses.
fn usable(hops: impl IntoIterator<Item = RouteHop>) -> Hops {
    let mut hops = hops.into_iter().peekable();
    if hops.peek().is_none() {
        return Hops::Kernel;
    }
    let live: Vec<_> = hops.filter(|hop| !hop.dead).collect();
    if live.is_empty() {
        return Hops::Dead;
    }
    match live.iter().any(|hop| hop.tunnel) {
        true => Hops::Kernel,
        false => Hops::Usable(live),
    }
}
