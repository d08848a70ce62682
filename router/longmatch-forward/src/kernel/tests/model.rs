//! Random changes: the prefixes that are marked suffice, and the table answers as the kernel does.

use longmatch::Table;

use super::super::KernelState;
use super::super::event::*;
use super::super::routes::Rank;
use super::super::state::Snapshot;
use super::*;

const PREFIXES: [&str; 12] = [
    "0.0.0.0/0",
    "10.0.0.0/8",
    "10.0.0.0/24",
    "10.0.0.0/30",
    "10.0.0.1/32",
    "10.0.0.2/32",
    "::/0",
    "fd00::/16",
    "fd00::/64",
    "fd00::/126",
    "fd00::1/128",
    "::ffff:0:0/96",
];
const ADDRESSES: [&str; 7] =
    ["10.0.0.1", "10.0.0.2", "10.0.1.1", "11.0.0.1", "fd00::1", "fd00::2", "::ffff:10.0.0.1"];

fn hop(random: &mut Random) -> RouteHop {
    let gateway = random.one_of(&[None, Some(addr("10.0.0.1")), Some(addr("fd00::2"))]);
    let interface = 1 + random.below(3) as u32;
    RouteHop { interface, gateway, dead: random.below(8) == 0, ..RouteHop::NONE }
}

fn random_route(random: &mut Random) -> Route {
    let hops: Vec<_> = (0..1 + random.below(2)).map(|_| hop(random)).collect();
    let to = random.one_of(&PREFIXES);
    let mut route = match random.below(8) {
        0 => typed(to, RouteKind::Local, &[]),
        1 => typed(to, RouteKind::Blackhole, &[]),
        2 | 3 => by_object(to, 1 + random.below(4) as u32),
        _ => route(to, &hops),
    };
    let tables = [Route::MAIN, Route::MAIN, Route::MAIN, Route::LOCAL, Route::DEFAULT, 100];
    route.table = random.one_of(&tables);
    route.metric = random.below(2) as u32;
    route.tos = if random.below(16) == 0 { 8 } else { 0 };
    route
}

fn event(random: &mut Random) -> Event {
    let key = NeighbourKey {
        addr: addr(random.one_of(&ADDRESSES)),
        interface: 1 + random.below(3) as u32,
    };
    let placings = [Placing::Only, Placing::First, Placing::Last, Placing::Replace];
    match random.below(20) {
        0..5 => Event::Neighbour(key, mac(random.below(3) as u8).into()),
        5..7 => Event::NeighbourGone(key),
        7 => Event::NextHopGone(1 + random.below(4) as u32),
        8 => {
            let group = NextHopKind::Group(vec![(1, 1), (2, 2)]);
            Event::NextHop(NextHop { id: 3 + random.below(2) as u32, kind: group })
        }
        9 | 10 => {
            let kinds = [NextHopKind::Hop(hop(random)), NextHopKind::Blackhole];
            let id = 1 + random.below(2) as u32;
            Event::NextHop(NextHop { id, kind: random.one_of(&kinds) })
        }
        11..15 => Event::RouteGone(random_route(random)),
        _ => Event::Route(random_route(random), random.one_of(&placings)),
    }
}

/// The target of an address, table by table as the kernel reads them.
fn naive(state: &KernelState, addr: IpAddr) -> Option<Target> {
    let host = IpPrefix::host(addr);
    for rank in [Rank::Local, Rank::Main, Rank::Default] {
        for len in (0..=host.len()).rev() {
            let prefix = IpPrefix::masked(addr, len).unwrap();
            let aliases = state.snapshot.routes.get(prefix).iter();
            let aliases: Vec<_> = aliases.filter(|alias| alias.rank == rank).cloned().collect();
            if let Some(outcome) = state.in_table(prefix, &aliases) {
                let neighbour = outcome.on_link.and_then(|link| state.known_neighbour(host, link));
                return Some(neighbour.unwrap_or(outcome.target));
            }
        }
    }
    None
}

/// Updates the table by the marked prefixes, and verifies all of it.
fn verify(state: &mut KernelState, table: &mut Table<Target>) {
    for prefix in state.take_dirty() {
        match state.target(prefix) {
            Some(target) => drop(table.insert(prefix, target).unwrap()),
            None => drop(table.remove(prefix)),
        }
    }
    for prefix in state.prefixes() {
        assert_eq!(state.target(prefix).as_ref(), table.get(prefix), "{prefix}");
    }
    for (prefix, target) in table.iter() {
        assert_eq!(state.target(prefix).as_ref(), Some(target), "{prefix}");
    }
    for addr in ADDRESSES {
        let addr = self::addr(addr);
        assert_eq!(naive(state, addr).as_ref(), table.lookup(addr), "{addr}");
    }
}

#[test]
fn changes() {
    for seed in 0..200 {
        let (mut random, mut state) = (Random(seed), KernelState::new(&ports()));
        let mut table = Table::new().keep_mapped();
        for _ in 0..200 {
            for _ in 0..1 + random.below(3) {
                state.apply(event(&mut random));
            }
            verify(&mut state, &mut table);
        }
    }
}

#[test]
fn dumps_between_changes() {
    for seed in 0..200 {
        let (mut random, mut state) = (Random(seed), KernelState::new(&ports()));
        let mut table = Table::new().keep_mapped();
        for _ in 0..50 {
            let mut snapshot = Snapshot::after(&state.snapshot);
            (0..random.below(40)).for_each(|_| snapshot.record(event(&mut random)));
            state.adopt(snapshot);
            (0..random.below(5)).for_each(|_| state.apply(event(&mut random)));
            verify(&mut state, &mut table);
        }
    }
}
