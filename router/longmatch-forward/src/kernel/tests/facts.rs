//! Targets of prefixes, case by case.

use super::super::Facts;
use super::super::event::*;
use super::super::facts::{State, Time};
use super::*;

fn facts(events: impl IntoIterator<Item = Event>) -> Facts {
    let mut facts = Facts::new(&ports());
    events.into_iter().for_each(|event| facts.apply(event));
    facts
}

fn of(facts: &Facts, to: &str) -> String {
    text(facts.target(prefix(to)))
}

fn one(route: Route) -> String {
    let prefix = route.prefix;
    text(facts([added(route)]).target(prefix))
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
    let mut facts = facts([with(20, a), with(10, b)]);
    assert_eq!(of(&facts, to), "p2 ?");
    facts.apply(with(10, RouteHop { dead: true, ..b }));
    assert_eq!(of(&facts, to), "p1 ?");
    facts.apply(Event::RouteGone(Route { metric: 20, ..route(to, &[a]) }));
    assert_eq!(of(&facts, to), "none");
}

#[test]
fn ipv4_routes_of_equal_metric_have_an_order() {
    let to = "10.0.0.0/8";
    let with = |hop, placing| Event::Route(route(to, &[hop]), placing);
    let (a, b, c) = (via("10.0.0.9", 1), via("10.1.0.9", 2), via("10.1.0.8", 2));
    let mut facts = facts([with(a, Placing::Only), with(b, Placing::Last)]);
    assert_eq!(of(&facts, to), "p1 ?");
    facts.apply(with(c, Placing::First));
    assert_eq!(of(&facts, to), "p2 ?");
    facts.apply(Event::RouteGone(route(to, &[c])));
    assert_eq!(of(&facts, to), "p1 ?");
    facts.apply(with(c, Placing::Replace));
    facts.apply(Event::RouteGone(route(to, &[c])));
    assert_eq!(of(&facts, to), "p2 ?");
    assert!(!facts.is_unsure());
    // One of several, but which?
    facts.apply(with(a, Placing::Last));
    facts.apply(Event::RouteGone(route(to, &[dev(2)])));
    assert!(facts.is_unsure());
}

#[test]
fn ipv6_hops_come_and_go() {
    let to = "2001:db8::/32";
    let with = |hops: &[RouteHop], placing| Event::Route(route(to, hops), placing);
    let (a, b) = (via("fe80::1", 1), via("fe80::2", 2));
    let mut facts = facts([with(&[a], Placing::Only)]);
    // Messages name all hops, in an order of their own.
    facts.apply(with(&[b, a], Placing::Last));
    assert_eq!(of(&facts, to), "p1 ?, p2 ?");
    facts.apply(Event::RouteGone(route(to, &[a])));
    assert_eq!(of(&facts, to), "p2 ?");
    facts.apply(with(&[a, b], Placing::Replace));
    facts.apply(Event::RouteGone(route(to, &[a, b])));
    assert_eq!(of(&facts, to), "none");
    // Separate routes of equal metric: the kernel's choice, unless it is the same.
    facts.apply(with(&[dev(1)], Placing::Only));
    facts.apply(with(&[dev(2)], Placing::Last));
    assert_eq!(of(&facts, to), "Kernel");
    facts.apply(Event::RouteGone(route(to, &[dev(2)])));
    assert_eq!(of(&facts, to), "OnLink");
}

#[test]
fn the_local_table_hides_the_main_one() {
    let local = |to, kind| Route { table: Route::LOCAL, ..typed(to, kind, &[dev(1)]) };
    let hop = [via("10.0.0.9", 1)];
    let mut facts = facts([
        added(route("10.1.0.0/16", &hop)),
        added(route("10.1.2.0/24", &hop)),
        added(Route { table: Route::DEFAULT, ..route("10.1.2.0/25", &hop) }),
        added(Route { table: Route::DEFAULT, ..route("0.0.0.0/0", &hop) }),
    ]);
    facts.take_dirty();
    // Hidden by the main table.
    assert_eq!(of(&facts, "10.1.2.0/25"), "none");
    assert_eq!(of(&facts, "0.0.0.0/0"), "p1 ?");
    facts.apply(added(local("10.1.0.0/16", RouteKind::Local)));
    assert_eq!(of(&facts, "10.1.0.0/16"), "Local");
    assert_eq!(of(&facts, "10.1.2.0/24"), "none");
    assert!(facts.take_dirty().contains(&prefix("10.1.2.0/24")));
    facts.apply(Event::RouteGone(local("10.1.0.0/16", RouteKind::Local)));
    assert_eq!(of(&facts, "10.1.2.0/24"), "p1 ?");
    assert!(facts.take_dirty().contains(&prefix("10.1.2.0/24")));
}

#[test]
fn next_hop_objects() {
    let object = |id, kind| Event::NextHop(NextHop { id, kind });
    let hop = |to, interface| NextHopKind::Hop(via(to, interface));
    let to = "10.0.0.0/8";
    let mut facts = facts([added(by_object(to, 10)), added(by_object("11.0.0.0/8", 1))]);
    // Until it is known.
    assert_eq!(of(&facts, to), "Kernel");
    facts.take_dirty();
    facts.apply(object(1, hop("10.0.0.9", 1)));
    assert_eq!(facts.take_dirty().into_iter().collect::<Vec<_>>(), [prefix("11.0.0.0/8")]);
    facts.apply(object(2, hop("fe80::9", 2)));
    facts.apply(object(10, NextHopKind::Group(vec![(1, 7), (2, 300)])));
    assert_eq!(of(&facts, to), "p1 ? *7, p2 ? *300");
    assert_eq!(facts.take_dirty().into_iter().collect::<Vec<_>>(), [prefix(to)]);
    // A member changes.
    facts.apply(object(1, hop("10.0.0.9", 2)));
    assert_eq!(of(&facts, to), "p2 ? *7, p2 ? *300");
    assert_eq!(facts.take_dirty().len(), 2);
    facts.apply(object(10, NextHopKind::Special));
    assert_eq!(of(&facts, to), "Kernel");
    facts.apply(object(10, NextHopKind::Blackhole));
    assert_eq!(of(&facts, to), "Blackhole");
    // The kernel names such a route a blackhole, which it is as long as the object is one.
    let mut blackhole = by_object(to, 10);
    blackhole.path.kind = RouteKind::Blackhole;
    facts.apply(added(blackhole));
    assert_eq!(of(&facts, to), "Blackhole");
    facts.apply(object(10, hop("10.0.0.9", 1)));
    assert_eq!(of(&facts, to), "p1 ?");
    assert!(!facts.is_unsure());
    // It takes its routes along, even if it comes again.
    facts.apply(Event::NextHopGone(10));
    facts.apply(object(10, hop("10.0.0.9", 1)));
    assert_eq!(of(&facts, to), "none");
    assert!(facts.is_unsure());
}

#[test]
fn neighbours() {
    let near = key("10.0.0.9", 1);
    let mut facts = facts([
        added(route("10.0.0.0/24", &[dev(1)])),
        added(route("20.0.0.0/8", &[via("10.0.0.9", 1)])),
    ]);
    let host = "10.0.0.9/32";
    assert_eq!(of(&facts, host), "none");
    let far = facts.target(prefix("20.0.0.0/8"));
    facts.take_dirty();
    facts.apply(Event::Neighbour(near, mac(1).into()));
    assert_eq!(facts.take_dirty().into_iter().collect::<Vec<_>>(), [prefix(host)]);
    assert_eq!(of(&facts, host), "p1 02:00:00:00:00:01");
    // The targets that are there have the new address at once.
    facts.apply(Event::Neighbour(near, mac(2).into()));
    assert_eq!(text(far.clone()), "p1 02:00:00:00:00:02");
    assert!(facts.take_dirty().is_empty());
    // A shorter and a longer route to elsewhere.
    facts.apply(added(route("10.0.0.8/30", &[via("10.9.0.9", 2)])));
    assert!(facts.take_dirty().contains(&prefix(host)));
    assert_eq!(of(&facts, host), "none");
    facts.apply(Event::RouteGone(route("10.0.0.8/30", &[via("10.9.0.9", 2)])));
    assert_eq!(of(&facts, host), "p1 02:00:00:00:00:02");
    facts.apply(added(route(host, &[via("10.9.0.9", 2)])));
    assert_eq!(of(&facts, host), "p2 ?");
    // A route of its own to the link.
    facts.apply(Event::Route(route(host, &[dev(1)]), Placing::Replace));
    assert_eq!(of(&facts, host), "p1 02:00:00:00:00:02");
    facts.apply(Event::NeighbourGone(near));
    assert_eq!(of(&facts, host), "OnLink");
    assert_eq!(text(far), "p1 ?");
}

#[test]
fn what_makes_the_facts_unsure() {
    let used = added(route("10.0.0.0/8", &[via("10.9.0.9", 1)]));
    let unsure = |before: Option<&Event>, event: &Event| {
        let mut facts = facts(before.cloned().into_iter().chain([used.clone()]));
        facts.apply(event.clone());
        facts.is_unsure()
    };
    let (up, down) = (link(1, Link::STATE), link(1, Link::UP));
    assert!(!unsure(None, &up));
    assert!(!unsure(None, &down));
    assert!(!unsure(Some(&up), &up));
    assert!(unsure(Some(&up), &down));
    assert!(unsure(Some(&down), &up));
    assert!(unsure(Some(&up), &Event::LinkGone(1)));
    let address = |addr| Address { addr, len: 24, interface: 1 };
    assert!(unsure(None, &Event::AddressGone(address(addr("10.0.0.1")))));
    assert!(!unsure(None, &Event::AddressGone(address(addr("fd00::1")))));
    // Late, the interface may have come up and gone down before the dump.
    for (events, is_unsure) in
        [(vec![down.clone(), used.clone()], true), (vec![down.clone()], false)]
    {
        let mut facts = facts(events);
        facts.apply_at(down.clone(), Time::Late);
        assert_eq!(facts.is_unsure(), is_unsure);
    }
    // No route vanishes with an interface that has none, and none comes to life.
    for (before, after) in [(up.clone(), down.clone()), (down, up)] {
        let mut facts = facts([before]);
        facts.apply(after);
        assert!(!facts.is_unsure());
    }
    let hop = RouteHop { interface: 1, ..RouteHop::NONE };
    let mut facts =
        facts([link(1, Link::UP), Event::NextHop(NextHop { id: 7, kind: NextHopKind::Hop(hop) })]);
    facts.apply(link(1, Link::STATE));
    assert!(facts.is_unsure());
}

#[test]
fn links_and_addresses() {
    let ports = ports();
    let mut facts = Facts::new(&ports);
    facts.apply(link(1, Link::STATE));
    assert_eq!(ports[0].mtu(), 9000);
    let address = |addr, interface| Address { addr, len: 24, interface };
    let (a, b) = (addr("10.0.0.1"), addr("fd00::1"));
    for address in [address(a, 1), address(b, 1), address(a, 2)] {
        facts.apply(Event::Address(address));
    }
    assert_eq!(facts.local_addresses().collect::<Vec<_>>(), [a, b]);
    let broadcast: Vec<_> = facts.broadcast_addresses().collect();
    assert!(broadcast.iter().all(|addr| addr.to_string().ends_with(".255")), "{broadcast:?}");
    facts.apply(Event::AddressGone(address(a, 1)));
    assert_eq!(facts.local_addresses().collect::<Vec<_>>(), [a, b]);
    facts.apply(Event::AddressGone(address(a, 2)));
    assert_eq!(facts.local_addresses().collect::<Vec<_>>(), [b]);
}

#[test]
fn a_dump_marks_what_differs_only() {
    let (a, b) = (via("10.0.0.9", 1), via("10.1.0.9", 2));
    let mut facts = facts([
        added(route("10.0.0.0/8", &[a])),
        added(route("11.0.0.0/8", &[a])),
        added(route("12.0.0.0/8", &[a])),
        Event::Neighbour(key("10.0.0.9", 1), mac(1).into()),
    ]);
    let held = facts.target(prefix("10.0.0.0/8"));
    facts.take_dirty();
    let mut state = State::after(&facts.state);
    for event in [
        added(route("10.0.0.0/8", &[a])),
        added(route("11.0.0.0/8", &[b])),
        added(route("13.0.0.0/8", &[b])),
        Event::Neighbour(key("10.0.0.9", 1), mac(2).into()),
    ] {
        state.record(event);
    }
    facts.adopt(state);
    let dirty = facts.take_dirty();
    let changed: Vec<_> = dirty.into_iter().filter(|prefix| prefix.len() == 8).collect();
    assert_eq!(changed, [prefix("11.0.0.0/8"), prefix("12.0.0.0/8"), prefix("13.0.0.0/8")]);
    assert_eq!(of(&facts, "12.0.0.0/8"), "none");
    assert_eq!(facts.target(prefix("10.0.0.0/8")), held);
    assert_eq!(text(held), "p1 02:00:00:00:00:02");
}
