//! Forwarded packets against the routes.

use longmatch::{Ipv4, Ipv6, NextHopId, Prefix, Rib};
use longmatch_bench::testing::{table4, table6};
use longmatch_bench::{Mode, Oracle, RunConfig, TimedWork, Traffic, measure};
use longmatch_forward::Forwarder;
use longmatch_forward::io::{Null, PacketIo};

use super::table::Compiled;
use super::*;
use crate::declaration::CalledEngine;
use crate::inputs::Named;

/// The tables of three engines, each with the engine's name.
fn tables<F: ForwardFamily>(rib: &Rib<F>) -> Vec<(String, Compiled)> {
    let named = Named { name: "small", rib, memory: None, updates: None };
    let engines = ["radix", "spider:lanes=16", "folio"].map(CalledEngine::new);
    let all = forwarding_tables(named, &Null::ports(PORTS), &engines);
    all.into_iter().map(|(engine, compiled)| (engine.spec, compiled.unwrap())).collect()
}

fn destinations<F: ForwardFamily>(rib: &Rib<F>) -> Vec<F::Bits> {
    let mut all = Traffic::Routed.keys(rib, 2000, 1);
    all.extend(Traffic::Random.keys(rib, 500, 1));
    all.retain(|addr| F::is_forwarded(*addr));
    all
}

fn assert_forwarded<F: ForwardFamily>(rib: &Rib<F>) {
    let (ports, rib) = (Null::ports(PORTS), with_default(rib));
    let destinations = destinations(&rib);
    assert!(destinations.len() > 1000);
    let frames = F::frames(&ports, &destinations).unwrap();
    let captured = CapturedFrames::new(&frames).unwrap();
    assert_eq!(captured.destinations(), destinations.len());
    let (oracle, other) = (Oracle::new(&rib), Oracle::new(&Rib::<F>::new()));
    for (engine, compiled) in &tables(&rib) {
        for batch in [1, 16, 256] {
            let by = |oracle| {
                let generated = Batches { compiled, ports: &ports, source: &frames, batch };
                let captured = Batches { compiled, ports: &ports, source: &captured, batch };
                let generated = generated.wrong(&destinations, oracle, 5000);
                [generated.unwrap(), captured.wrong(&destinations, oracle, 5000).unwrap()]
            };
            assert_eq!(by(&oracle), [0; 2], "{engine} in batches of {batch}");
            assert!(by(&other).iter().all(|wrong| *wrong >= 5000), "every packet is wrong");
        }
    }
}

#[test]
fn packets_leave_as_the_routes_say() {
    assert_forwarded::<Ipv4>(&table4());
    assert_forwarded::<Ipv6>(&table6());
}

#[test]
fn one_wrong_route_is_found() {
    let (ports, right) = (Null::ports(PORTS), with_default(&table4()));
    let mut changed = right.clone();
    changed.insert("10.1.0.0/16".parse().unwrap(), NextHopId::new(77).unwrap()).unwrap();
    let destinations = destinations(&right);
    let source = &Ipv4::frames(&ports, &destinations).unwrap();
    let here = |addr: &&u32| **addr >> 16 == 0x0a01 && **addr != 0x0a01_ffff;
    let expected = destinations.iter().filter(here).count() as u64;
    let oracle = Oracle::new(&right);
    for (_, compiled) in &tables(&changed) {
        let batches = Batches { compiled, ports: &ports, source, batch: 1 };
        let found = batches.wrong(&destinations, &oracle, destinations.len());
        assert_eq!((found.unwrap(), expected > 0), (expected, true));
    }
}

/// Packets without a route are stopped, which a rate must not hide.
#[test]
fn stopped_packets_are_counted() {
    let (ports, rib) = (Null::ports(PORTS), table4());
    let source = &Ipv4::frames(&ports, &[0x0a00_0001, 0x0808_0808]).unwrap();
    let config = RunConfig { seconds: 1e-4, passes: 2, threads: 2, ..RunConfig::new(Mode::One) };
    for (rib, all_forwarded) in [(rib.clone(), false), (with_default(&rib), true)] {
        let tables = tables(&rib);
        let works: Vec<_> = tables
            .iter()
            .map(|(_, compiled)| Batches { compiled, ports: &ports, source, batch: 32 })
            .map(|batches| ForwardedPackets::new(batches, (2, 2)))
            .collect();
        let dynamic: Vec<_> = works.iter().map(|it| it as &dyn TimedWork).collect();
        let results = measure(&dynamic, &config).unwrap();
        assert!(results.iter().all(|it| it.rates.len() == 2 && it.rates[0] > 0.0));
        assert!(works.iter().all(|it| (it.stopped() == 0) == all_forwarded));
    }
}

#[test]
fn batches_have_times() {
    let (ports, rib) = (Null::ports(PORTS), with_default(&table6()));
    let source = &Ipv6::frames(&ports, &[1 << 125]).unwrap();
    for (_, compiled) in &tables(&rib) {
        let ticks = Batches { compiled, ports: &ports, source, batch: 8 }.ticks(100).unwrap();
        assert!(ticks.len() == 100 && ticks.mean_ns() > 0.0);
    }
}

#[test]
fn a_default_route_is_added_once() {
    let rib = with_default(&table4());
    assert_eq!(rib.len(), table4().len() + 1);
    let own = rib.get(Prefix::DEFAULT).unwrap();
    assert!(table4().iter().all(|route| route.next_hop < own));
    assert!(with_default(&rib).iter().eq(rib.iter()));
    assert_eq!(with_default(&Rib::<Ipv6>::new()).get(Prefix::DEFAULT), NextHopId::new(1));
}

#[test]
fn destinations_that_no_router_forwards_are_left_out() {
    let left_out = ["224.0.0.1", "239.255.255.255", "127.1.2.3", "0.0.0.0", "255.255.255.255"];
    for addr in left_out {
        assert!(!Ipv4::is_forwarded(addr.parse::<std::net::Ipv4Addr>().unwrap().into()), "{addr}");
    }
    for addr in ["ff02::1", "fe80::1", "::", "::1"] {
        assert!(!Ipv6::is_forwarded(addr.parse::<std::net::Ipv6Addr>().unwrap().into()), "{addr}");
    }
    assert!(Ipv4::is_forwarded(0xf000_0001) && Ipv6::is_forwarded(1 << 125));
}

/// The capture starts again after its last record, and each of its records leaves.
#[test]
fn captures_are_read_again_and_again() {
    let (ports, rib) = (Null::ports(PORTS), with_default(&table4()));
    let frames = Ipv4::frames(&ports, &[0x0a00_0001, 0x0808_0808, 0xc000_0201]).unwrap();
    let captured = CapturedFrames::new(&frames).unwrap();
    let mut io = captured.frames(2).unwrap();
    let batch = io.receive(5).unwrap();
    let hosts: Vec<u8> = (0..batch.len).map(|place| io.frame(place)[33]).collect();
    assert_eq!(hosts, [1, 1, 8, 1, 1]);
    assert_eq!(io.frame(0)[30], 192);
    let tables = tables(&rib);
    let mut io = captured.frames(0).unwrap();
    let mut reader = tables[0].1.reader();
    let mut forwarder = Forwarder::new(&mut reader, &ports, 6);
    assert_eq!(forwarder.forward(&mut io).unwrap(), 6);
    let bytes: u64 = io.finish().unwrap().iter().map(|it| it.0).sum();
    assert_eq!(bytes, 2 * 24 + 6 * (16 + 60));
}
