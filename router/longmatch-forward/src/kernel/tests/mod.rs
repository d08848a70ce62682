//! Tests without a kernel.

mod decoding;
mod late;
mod model;
mod overrun;
mod state;

use std::net::IpAddr;
use std::sync::Arc;

use longmatch::IpPrefix;

use super::event::{Event, NeighbourKey, Path, Placing, Route, RouteHop, RouteKind};
use crate::target::{Mac, Port, PortId, Target};

/// Pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// Ports with the interface numbers 1 and 2.
fn ports() -> Vec<Arc<Port>> {
    let port = |i: u16| {
        Port::new(PortId(i), format!("p{}", i + 1), u32::from(i) + 1, Mac::default(), 1500)
    };
    vec![Arc::new(port(0)), Arc::new(port(1))]
}

fn prefix(text: &str) -> IpPrefix {
    text.parse().unwrap()
}

fn addr(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn mac(last: u8) -> Mac {
    Mac([2, 0, 0, 0, 0, last])
}

fn key(addr: &str, interface: u32) -> NeighbourKey {
    NeighbourKey { addr: self::addr(addr), interface }
}

/// A hop by a router.
fn via(gateway: &str, interface: u32) -> RouteHop {
    RouteHop { interface, gateway: Some(addr(gateway)), ..RouteHop::NONE }
}

/// A hop to the link of an interface.
fn dev(interface: u32) -> RouteHop {
    RouteHop { interface, ..RouteHop::NONE }
}

/// A route in the main table.
fn route(to: &str, hops: &[RouteHop]) -> Route {
    typed(to, RouteKind::Unicast, hops)
}

fn typed(to: &str, kind: RouteKind, hops: &[RouteHop]) -> Route {
    let path = Path { kind, next_hop: None, hops: hops.to_vec(), special: false };
    let (prefix, table) = (prefix(to), Route::MAIN);
    Route { prefix, table, metric: 0, tos: 0, source: None, protocol: 0, path }
}

/// A route by a next-hop object.
fn by_object(to: &str, id: u32) -> Route {
    let mut route = route(to, &[]);
    route.path.next_hop = Some(id);
    route
}

/// A route is added as by `ip route add`.
fn added(route: Route) -> Event {
    Event::Route(route, Placing::Only)
}

/// A target as text: `p1 02:00:00:00:00:01, p2 ?`.
fn text(target: Option<Target>) -> String {
    let Some(target) = target else { return "none".into() };
    let Target::Group(group) = target else { return format!("{target:?}") };
    let hops = group.hops().iter().map(|hop| {
        let mac = hop.neighbour.mac().map_or("?".to_string(), |mac| mac.to_string());
        let weight = if hop.weight == 1 { String::new() } else { format!(" *{}", hop.weight) };
        format!("{} {mac}{weight}", hop.port.name)
    });
    hops.collect::<Vec<_>>().join(", ")
}
