//! Targets of prefixes, case by case.

use super::super::KernelState;
use super::super::event::*;
use super::super::state::{Origin, Snapshot};
use super::*;

fn state(events: impl IntoIterator<Item = Event>) -> KernelState {
    let mut state = KernelState::new(&ports());
    events.into_iter().for_each(|event| state.apply(event));
    state
}

fn of(state: &KernelState, to: &str) -> String {
    text(state.target(prefix(to)))
}

fn one(route: Route) -> String {
    let prefix = route.prefix;
    text(state([added(route)]).target(prefix))
}

fn link(index: u32, flags: u32) -> Event {
    let (name, mac) = (String::new(), None);
    Event::Link(Link { index, name, hardware: Link::ETHERNET, flags, mac, mtu: 9000 })
}

#[test]
fn kinds_of_routes() {
    let to = "10.0.0.0/8";
    assert_eq!(one(route(to, &[via("10.0.0.9", 1)])), "p1 ?");
    assert_eq!(one(route(to, &[via("fe80::9", 2)])), "p2 ?");
    assert_eq!(one(route(to, &[dev(1)])), "OnLink");
    assert_eq!(one(route(to, &[dev(3)])), "Kernel");
    assert_eq!(one(route(to, &[via("10.0.0.9", 3)])), "Kernel");
    assert_eq!(one(route(to, &[])), "Kernel");
    assert_eq!(one(typed(to, RouteKind::Local, &[dev(1)])), "Local");
    assert_eq!(one(typed(to, RouteKind::Blackhole, &[])), "Blackhole");
    // Broadcast, unreachable, throw.
    for kind in [3, 7, 9] {
        assert_eq!(one(typed(to, RouteKind::Other(kind), &[])), "Kernel");
    }
    let tunnel = RouteHop { tunnel: true, ..via("10.0.0.9", 1) };
    assert_eq!(one(route(to, &[tunnel])), "Kernel");
    let mut special = route(to, &[via("10.0.0.9", 1)]);
    special.path.special = true;
    assert_eq!(one(special), "Kernel");
    let selective = Route { tos: 8, ..route(to, &[dev(1)]) };
    assert_eq!(one(selective), "Kernel");
    let selective = Route { source: Some(prefix("fd00::/8")), ..route("::/0", &[dev(1)]) };
    assert_eq!(one(selective), "Kernel");
    // A table that only a rule names.
    assert_eq!(one(Route { table: 100, ..route(to, &[dev(1)]) }), "none");
}

#[test]
fn several_hops() {
    let to = "10.0.0.0/8";
    let (a, b) = (via("10.0.0.9", 1), via("10.1.0.9", 2));
    let dead = |hop| RouteHop { dead: true, ..hop };
    assert_eq!(one(route(to, &[RouteHop { weight: 3, ..a }, b])), "p1 ? *3, p2 ?");
    assert_eq!(one(route(to, &[dead(a), RouteHop { weight: 5, ..b }])), "p2 ?");
    assert_eq!(one(route(to, &[dead(a), dead(b)])), "none");
    // Not all of them are ours, or are routers.
    assert_eq!(one(route(to, &[a, via("10.2.0.9", 3)])), "Kernel");
    assert_eq!(one(route(to, &[a, dev(2)])), "Kernel");
    assert_eq!(one(route(to, &[a, dead(via("10.2.0.9", 3))])), "p1 ?");
}

#[test]
fn the_lowest_metric_that_is_alive_wins() {
    let to = "10.0.0.0/8";
    let with = |metric, hop| added(Route { metric, ..route(to, &[hop]) });
    let (a, b) = (via("10.0.0.9", 1), via("10.1.0.9", 2));
    let mut state = state([with(20, a), with(10, b)]);
    assert_eq!(of(&state, to), "p2 ?");
    state.apply(with(10, RouteHop { dead: true, ..b }));
    assert_eq!(of(&state, to), "p1 ?");
    state.apply(Event::RouteGone(Route { metric: 20, ..route(to, &[a]) }));
    assert_eq!(of(&state, to), "none");
}

#[test]
fn ipv4_routes_of_equal_metric_have_an_order() {
    let to = "10.0.0.0/8";
    let with = |hop, placing| Event::Route(route(to, &[hop]), placing);
    let (a, b, c) = (via("10.0.0.9", 1), via("10.1.0.9", 2), via("10.1.0.8", 2));
    let mut state = state([with(a, Placing::Only), with(b, Placing::Last)]);
    assert_eq!(of(&state, to), "p1 ?");
    state.apply(with(c, Placing::First));
    assert_eq!(of(&state, to), "p2 ?");
    state.apply(Event::RouteGone(route(to, &[c])));
    assert_eq!(of(&state, to), "p1 ?");
    state.apply(with(c, Placing::Replace));
    state.apply(Event::RouteGone(route(to, &[c])));
    assert_eq!(of(&state, to), "p2 ?");
    assert!(!state.may_be_stale());
    // One of several, but which?
    state.apply(with(a, Placing::Last));
    state.apply(Event::RouteGone(route(to, &[dev(2)])));
    assert!(state.may_be_stale());
}

#[test]
fn ipv6_hops_come_and_go() {
    let to = "2001:db8::/32";
    let with = |hops: &[RouteHop], placing| Event::Route(route(to, hops), placing);
    let (a, b) = (via("fe80::1", 1), via("fe80::2", 2));
    let mut state = state([with(&[a], Placing::Only)]);
    // Messages name all hops, in their own order.
    state.apply(with(&[b, a], Placing::Last));
    assert_eq!(of(&state, to), "p1 ?, p2 ?");
    state.apply(Event::RouteGone(route(to, &[a])));
    assert_eq!(of(&state, to), "p2 ?");
    state.apply(with(&[a, b], Placing::Replace));
    state.apply(Event::RouteGone(route(to, &[a, b])));
    assert_eq!(of(&state, to), "none");
    // Separate routes of equal metric: the kernel's choice, unless it is the same.
    state.apply(with(&[dev(1)], Placing::Only));
    state.apply(with(&[dev(2)], Placing::Last));
    assert_eq!(of(&state, to), "Kernel");
    state.apply(Event::RouteGone(route(to, &[dev(2)])));
    assert_eq!(of(&state, to), "OnLink");
}

#[test]
fn the_local_table_hides_the_main_one() {
    let local = |to, kind| Route { table: Route::LOCAL, ..typed(to, kind, &[dev(1)]) };
    let hop = [via("10.0.0.9", 1)];
    let mut state = state([
        added(route("10.1.0.0/16", &hop)),
        added(route("10.1.2.0/24", &hop)),
        added(Route { table: Route::DEFAULT, ..route("10.1.2.0/25", &hop) }),
        added(Route { table: Route::DEFAULT, ..route("0.0.0.0/0", &hop) }),
    ]);
    state.take_dirty();
    // Hidden by the main table.
    assert_eq!(of(&state, "10.1.2.0/25"), "none");
    assert_eq!(of(&state, "0.0.0.0/0"), "p1 ?");
    state.apply(added(local("10.1.0.0/16", RouteKind::Local)));
    assert_eq!(of(&state, "10.1.0.0/16"), "Local");
    assert_eq!(of(&state, "10.1.2.0/24"), "none");
    assert!(state.take_dirty().contains(&prefix("10.1.2.0/24")));
    state.apply(Event::RouteGone(local("10.1.0.0/16", RouteKind::Local)));
    assert_eq!(of(&state, "10.1.2.0/24"), "p1 ?");
    assert!(state.take_dirty().contains(&prefix("10.1.2.0/24")));
}

#[test]
fn next_hop_objects() {
    let object = |id, kind| Event::NextHop(NextHop { id, kind });
    let hop = |to, interface| NextHopKind::Hop(via(to, interface));
    let to = "10.0.0.0/8";
    let mut state = state([added(by_object(to, 10)), added(by_object("11.0.0.0/8", 1))]);
    // Until it is known.
    assert_eq!(of(&state, to), "Kernel");
    state.take_dirty();
    state.apply(object(1, hop("10.0.0.9", 1)));
    assert_eq!(state.take_dirty().into_iter().collect::<Vec<_>>(), [prefix("11.0.0.0/8")]);
    state.apply(object(2, hop("fe80::9", 2)));
    state.apply(object(10, NextHopKind::Group(vec![(1, 7), (2, 300)])));
    assert_eq!(of(&state, to), "p1 ? *7, p2 ? *300");
    assert_eq!(state.take_dirty().into_iter().collect::<Vec<_>>(), [prefix(to)]);
    // A member changes.
    state.apply(object(1, hop("10.0.0.9", 2)));
    assert_eq!(of(&state, to), "p2 ? *7, p2 ? *300");
    assert_eq!(state.take_dirty().len(), 2);
    state.apply(object(10, NextHopKind::Special));
    assert_eq!(of(&state, to), "Kernel");
    state.apply(object(10, NextHopKind::Blackhole));
    assert_eq!(of(&state, to), "Blackhole");
    // The kernel names such a route a blackhole, which it is as long as the object is one.
    let mut blackhole = by_object(to, 10);
    blackhole.path.kind = RouteKind::Blackhole;
    state.apply(added(blackhole));
    assert_eq!(of(&state, to), "Blackhole");
    state.apply(object(10, hop("10.0.0.9", 1)));
    assert_eq!(of(&state, to), "p1 ?");
    assert!(!state.may_be_stale());
    // It takes its routes along, even if it comes again.
    state.apply(Event::NextHopGone(10));
    state.apply(object(10, hop("10.0.0.9", 1)));
    assert_eq!(of(&state, to), "none");
    assert!(state.may_be_stale());
}

#[test]
fn neighbours() {
    let near = key("10.0.0.9", 1);
    let mut state = state([
        added(route("10.0.0.0/24", &[dev(1)])),
        added(route("20.0.0.0/8", &[via("10.0.0.9", 1)])),
    ]);
    let host = "10.0.0.9/32";
    assert_eq!(of(&state, host), "none");
    let far = state.target(prefix("20.0.0.0/8"));
    state.take_dirty();
    state.apply(Event::Neighbour(near, mac(1).into()));
    assert_eq!(state.take_dirty().into_iter().collect::<Vec<_>>(), [prefix(host)]);
    assert_eq!(of(&state, host), "p1 02:00:00:00:00:01");
    // The targets that are there have the new address at once.
    state.apply(Event::Neighbour(near, mac(2).into()));
    assert_eq!(text(far.clone()), "p1 02:00:00:00:00:02");
    assert!(state.take_dirty().is_empty());
    // A shorter and a longer route to elsewhere.
    state.apply(added(route("10.0.0.8/30", &[via("10.9.0.9", 2)])));
    assert!(state.take_dirty().contains(&prefix(host)));
    assert_eq!(of(&state, host), "none");
    state.apply(Event::RouteGone(route("10.0.0.8/30", &[via("10.9.0.9", 2)])));
    assert_eq!(of(&state, host), "p1 02:00:00:00:00:02");
    state.apply(added(route(host, &[via("10.9.0.9", 2)])));
    assert_eq!(of(&state, host), "p2 ?");
    // A route of its own to the link.
    state.apply(Event::Route(route(host, &[dev(1)]), Placing::Replace));
    assert_eq!(of(&state, host), "p1 02:00:00:00:00:02");
    state.apply(Event::NeighbourGone(near));
    assert_eq!(of(&state, host), "OnLink");
    assert_eq!(text(far), "p1 ?");
}

#[test]
fn what_makes_the_state_stale() {
    let used = added(route("10.0.0.0/8", &[via("10.9.0.9", 1)]));
    let stale = |before: Option<&Event>, event: &Event| {
        let mut state = state(before.cloned().into_iter().chain([used.clone()]));
        state.apply(event.clone());
        state.may_be_stale()
    };
    let (up, down) = (link(1, Link::STATE), link(1, Link::UP));
    assert!(!stale(None, &up));
    assert!(!stale(None, &down));
    assert!(!stale(Some(&up), &up));
    assert!(stale(Some(&up), &down));
    assert!(stale(Some(&down), &up));
    assert!(stale(Some(&up), &Event::LinkGone(1)));
    let address = |addr| Address { addr, len: 24, interface: 1 };
    assert!(stale(None, &Event::AddressGone(address(addr("10.0.0.1")))));
    assert!(!stale(None, &Event::AddressGone(address(addr("fd00::1")))));
    // Late, the interface may have come up and gone down before the dump.
    for (events, may_be_stale) in
        [(vec![down.clone(), used.clone()], true), (vec![down.clone()], false)]
    {
        let mut state = state(events);
        state.apply_at(down.clone(), Origin::DuringDump);
        assert_eq!(state.may_be_stale(), may_be_stale);
    }
    // No route vanishes with an interface that has none, and none comes to life.
    for (before, after) in [(up.clone(), down.clone()), (down, up)] {
        let mut state = state([before]);
        state.apply(after);
        assert!(!state.may_be_stale());
    }
    let hop = RouteHop { interface: 1, ..RouteHop::NONE };
    let mut state =
        state([link(1, Link::UP), Event::NextHop(NextHop { id: 7, kind: NextHopKind::Hop(hop) })]);
    state.apply(link(1, Link::STATE));
    assert!(state.may_be_stale());
}

#[test]
fn links_and_addresses() {
    let ports = ports();
    let mut state = KernelState::new(&ports);
    state.apply(link(1, Link::STATE));
    assert_eq!(ports[0].mtu(), 9000);
    let address = |addr, interface| Address { addr, len: 24, interface };
    let (a, b) = (addr("10.0.0.1"), addr("fd00::1"));
    for address in [address(a, 1), address(b, 1), address(a, 2)] {
        state.apply(Event::Address(address));
    }
    assert_eq!(state.local_addresses().collect::<Vec<_>>(), [a, b]);
    let broadcast: Vec<_> = state.broadcast_addresses().collect();
    assert!(broadcast.iter().all(|addr| addr.to_string().ends_with(".255")), "{broadcast:?}");
    state.apply(Event::AddressGone(address(a, 1)));
    assert_eq!(state.local_addresses().collect::<Vec<_>>(), [a, b]);
    state.apply(Event::AddressGone(address(a, 2)));
    assert_eq!(state.local_addresses().collect::<Vec<_>>(), [b]);
}

#[test]
fn a_dump_marks_what_differs_only() {
    let (a, b) = (via("10.0.0.9", 1), via("10.1.0.9", 2));
    let mut state = state([
        added(route("10.0.0.0/8", &[a])),
        added(route("11.0.0.0/8", &[a])),
        added(route("12.0.0.0/8", &[a])),
        Event::Neighbour(key("10.0.0.9", 1), mac(1).into()),
    ]);
    let held = state.target(prefix("10.0.0.0/8"));
    state.take_dirty();
    let mut snapshot = Snapshot::after(&state.snapshot);
    for event in [
        added(route("10.0.0.0/8", &[a])),
        added(route("11.0.0.0/8", &[b])),
        added(route("13.0.0.0/8", &[b])),
        Event::Neighbour(key("10.0.0.9", 1), mac(2).into()),
    ] {
        snapshot.record(event);
    }
    state.adopt(snapshot);
    let dirty = state.take_dirty();
    let changed: Vec<_> = dirty.into_iter().filter(|prefix| prefix.len() == 8).collect();
    assert_eq!(changed, [prefix("11.0.0.0/8"), prefix("12.0.0.0/8"), prefix("13.0.0.0/8")]);
    assert_eq!(of(&state, "12.0.0.0/8"), "none");
    assert_eq!(state.target(prefix("10.0.0.0/8")), held);
    assert_eq!(text(held), "p1 02:00:00:00:00:02");
}
