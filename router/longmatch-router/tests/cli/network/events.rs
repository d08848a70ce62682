//! Changes of neighbours, interfaces and routes, as packets see them.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::child::Forwarder;
use super::flow::{number, numbered};
use super::net::{HOSTS, Net, ROUTER, neighbour, neighbour4, neighbour6, text};
use super::wire::Wire;
use crate::frames::{Ipv4, Mac, ethernet, udp};

/// The longest time until the router follows a change.
const PATIENCE: Duration = Duration::from_secs(5);

/// Packets from host A, and where they arrive at host B's link.
struct Traffic {
    from: Wire,
    to: Wire,
    next: u32,
}

impl Traffic {
    fn new(net: &Net) -> Self {
        Self { from: net.a.wire("ea"), to: net.b.wire("eb"), next: 0 }
    }

    /// Sends one packet to each address; returns the Ethernet address at which each arrives.
    fn send(&mut self, addresses: &[IpAddr]) -> Vec<Option<Mac>> {
        let first = self.next;
        let mut arrivals = vec![None; addresses.len()];
        let receive = |arrivals: &mut Vec<Option<Mac>>| {
            while let Some(frame) = self.to.receive() {
                let Some((mac, number)) = number(&frame) else { continue };
                if let Some(place) = number.checked_sub(first) {
                    let before = arrivals[place as usize].replace(mac);
                    assert_eq!(before, None, "a packet arrived twice");
                }
            }
        };
        for some in addresses.chunks(16) {
            for &address in some {
                // It is lost if the router's interface is down.
                let _ = self.from.try_send(&numbered(address, self.next));
                self.next += 1;
            }
            sleep(Duration::from_millis(1));
            receive(&mut arrivals);
        }
        let end = Instant::now() + Duration::from_millis(300);
        while arrivals.contains(&None) && Instant::now() < end {
            sleep(Duration::from_millis(1));
            receive(&mut arrivals);
        }
        arrivals
    }

    /// Waits until packets to these addresses arrive there, and checks that they do from then on.
    fn settle(&mut self, addresses: &[IpAddr], expected: Option<Mac>, what: &str) {
        let end = Instant::now() + PATIENCE;
        for address in addresses {
            while self.send(&[*address]) != [expected] {
                assert!(Instant::now() < end, "{what}: {address} is not led to {expected:02x?}");
            }
        }
        let many: Vec<_> = addresses.iter().copied().cycle().take(60).collect();
        assert_eq!(self.send(&many), [expected].repeat(60), "{what}");
    }
}

/// Addresses behind the neighbours, one of each family.
fn addresses(third: u8) -> [IpAddr; 2] {
    [
        Ipv4Addr::new(198, 18, third, 1).into(),
        Ipv6Addr::new(0x2001, 0xdb8, 0x18, third.into(), 0, 0, 0, 1).into(),
    ]
}

/// Adds or changes the routes to all these addresses.
fn lead(net: &Net, number: u8) {
    net.router.ip(&format!("route replace 198.18.0.0/16 via {}", neighbour4(1, number)));
    net.router.ip(&format!("-6 route replace 2001:db8:18::/48 via {}", neighbour6(1, number)));
}

fn cause(counts: &serde_json::Value, cause: &str) -> u64 {
    let (kernel, dropped) = (&counts["kernel_by_cause"][cause], &counts["dropped_by_cause"][cause]);
    kernel.as_u64().or(dropped.as_u64()).unwrap()
}

#[test]
fn neighbours_change_their_addresses() {
    let Some(net) = Net::new("neighbours_change_their_addresses") else { return };
    lead(&net, 0);
    let (forwarder, mut traffic) = (Forwarder::start(&net, &[]), Traffic::new(&net));
    traffic.settle(&addresses(1), Some(neighbour(1, 0)), "at first");
    let other = [2, 0, 0, 0, 2, 200];
    let both = [neighbour4(1, 0), neighbour6(1, 0)];
    for mac in [other, neighbour(1, 0), other] {
        for address in &both {
            net.router.ip(&format!("neigh replace {address} lladdr {} dev rb", text(mac)));
        }
        traffic.settle(&addresses(1), Some(mac), "a new address");
    }
    for address in &both {
        net.router.ip(&format!("neigh del {address} dev rb"));
    }
    traffic.settle(&addresses(1)[..1], None, "no address");
    let asks = |frame: &[u8]| frame[..6] == [0xff; 6] && frame[12..14] == [8, 6];
    traffic.from.send(&numbered(addresses(1)[0], 0));
    assert!(traffic.to.find(asks).is_some(), "the kernel does not ask for the address");
    net.addresses(1);
    traffic.settle(&addresses(1), Some(neighbour(1, 0)), "the address again");
    assert!(cause(&forwarder.end(), "unresolved") > 60);
}

/// Host B gets another Ethernet address without a word, then none: the router asks as its kernel would, at the pace of
/// these settings. The usual ones take 35 seconds.
#[test]
fn silent_neighbours_are_asked() {
    let Some(net) = Net::new("silent_neighbours_are_asked") else { return };
    for (name, value) in [
        ("base_reachable_time_ms", "1000"),
        ("delay_first_probe_time", "1"),
        ("retrans_time_ms", "200"),
    ] {
        net.router.set(&format!("ipv4/neigh/rb/{name}"), value);
        net.router.set(&format!("ipv6/neigh/rb/{name}"), value);
    }
    let hosts = ["10.0.2.2".parse().unwrap(), "2001:db8:2::2".parse().unwrap()];
    let (forwarder, mut traffic) = (Forwarder::start(&net, &[]), Traffic::new(&net));
    let mut wait_for = |mac, what: &str| {
        let end = Instant::now() + 3 * PATIENCE;
        while traffic.send(&hosts) != [mac, mac] {
            assert!(Instant::now() < end, "{what}");
            sleep(Duration::from_millis(20));
        }
    };
    wait_for(Some(HOSTS[1]), "at first");
    // Without packets the kernel stops to rely on them.
    let is_one_stale = || {
        let shown = net.router.ip("neigh show dev rb") + &net.router.ip("-6 neigh show dev rb");
        let is_stale = |host: &IpAddr| {
            let mut lines = shown.lines();
            lines.any(|line| line.starts_with(&format!("{host} ")) && line.contains("STALE"))
        };
        hosts.iter().any(is_stale)
    };
    let end = Instant::now() + PATIENCE;
    while !is_one_stale() && Instant::now() < end {
        sleep(Duration::from_millis(50));
    }
    let other = [2, 0, 0, 0, 2, 77];
    net.b.ip(&format!("link set eb address {}", text(other)));
    wait_for(Some(other), "another address");
    // The host is gone.
    net.b.ip("addr flush dev eb");
    wait_for(None, "no address");
    let counts = forwarder.end();
    assert!(cause(&counts, "stale") + cause(&counts, "unresolved") > 1, "{counts}");
    assert!(counts["forwarded"].as_u64() > counts["kernel"].as_u64(), "{counts}");
}

#[test]
fn output_that_nobody_reads_delays_nothing() {
    let Some(net) = Net::new("output_that_nobody_reads_delays_nothing") else { return };
    lead(&net, 0);
    let ((mut forwarder, stdout), mut traffic) =
        (Forwarder::start_unread(&net), Traffic::new(&net));
    traffic.settle(&addresses(1), Some(neighbour(1, 0)), "at first");
    // The pipe is full after some lines.
    sleep(Duration::from_secs(1));
    lead(&net, 1);
    traffic.settle(&addresses(1), Some(neighbour(1, 1)), "with a full pipe");
    let began = Instant::now();
    let stopped = forwarder.stop(Signal::INT);
    assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
    assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
    drop(stdout);
}

#[test]
fn interfaces_go_down_and_up() {
    let Some(net) = Net::new("interfaces_go_down_and_up") else { return };
    lead(&net, 0);
    let (forwarder, mut traffic) = (Forwarder::start(&net, &[]), Traffic::new(&net));
    traffic.settle(&addresses(1), Some(neighbour(1, 0)), "at first");
    for (name, host) in [("rb", 1), ("ra", 0), ("rb", 1)] {
        net.router.ip(&format!("link set {name} down"));
        traffic.settle(&addresses(1), None, &format!("{name} down"));
        net.router.ip(&format!("link set {name} up"));
        net.addresses(host);
        lead(&net, 0);
        traffic.settle(&addresses(1), Some(neighbour(1, 0)), &format!("{name} up"));
    }
    let counts = forwarder.end();
    assert!(cause(&counts, "no_route") > 60, "{counts}");
    assert!(counts["forwarded"].as_u64() > Some(4 * 60), "{counts}");
}

#[test]
fn blackholes_come_and_go() {
    let Some(net) = Net::new("blackholes_come_and_go") else { return };
    lead(&net, 2);
    let (forwarder, mut traffic) = (Forwarder::start(&net, &[]), Traffic::new(&net));
    for _ in 0..3 {
        traffic.settle(&addresses(1), Some(neighbour(1, 2)), "without a blackhole");
        net.router.ip("route add blackhole 198.18.1.0/24");
        net.router.ip("-6 route add blackhole 2001:db8:18:1::/64");
        traffic.settle(&addresses(1), None, "with a blackhole");
        traffic.settle(&addresses(2), Some(neighbour(1, 2)), "beside a blackhole");
        net.router.ip("route del blackhole 198.18.1.0/24");
        net.router.ip("-6 route del blackhole 2001:db8:18:1::/64");
    }
    let counts = forwarder.end();
    assert!(cause(&counts, "blackhole") >= 3 * 60, "{counts}");
    assert_eq!(counts["kernel"], 0, "{counts}");
}

/// Flows in all, and packets of each.
const FLOWS: u16 = 400;
const PACKETS: usize = 4;

/// Sends packets of many flows, and checks that each flow stays on one path; returns the flows on
/// each path.
fn paths(traffic: &mut Traffic, family: usize) -> HashMap<Mac, usize> {
    let address = |flow: u16| match family {
        0 => Ipv4Addr::new(198, 19, (flow >> 8) as u8, flow as u8).into(),
        _ => Ipv6Addr::new(0x2001, 0xdb8, 0x19, 0, 0, 0, 0, flow).into(),
    };
    let flows: Vec<_> = (0..FLOWS).map(address).collect();
    let first = traffic.send(&flows);
    for _ in 1..PACKETS {
        assert_eq!(traffic.send(&flows), first, "a flow took two paths");
    }
    let mut paths = HashMap::new();
    for mac in first {
        *paths.entry(mac.expect("no packet is lost")).or_insert(0) += 1;
    }
    paths
}

#[test]
fn flows_are_divided_among_next_hops() {
    let Some(net) = Net::new("flows_are_divided_among_next_hops") else { return };
    let (forwarder, mut traffic) = (Forwarder::start(&net, &[]), Traffic::new(&net));
    let hops4 = [neighbour4(1, 0), neighbour4(1, 1)];
    let hops6 = [neighbour6(1, 0), neighbour6(1, 1)];
    for (family, [first, second]) in [hops4, hops6].iter().enumerate() {
        let network = ["198.19.0.0/16", "2001:db8:19::/48"][family];
        for (weight, share) in [(1, 0.5), (3, 0.75)] {
            net.router.ip(&format!(
                "route replace {network} nexthop via {first} weight {weight} nexthop via {second}"
            ));
            // For the router to follow.
            sleep(Duration::from_millis(500));
            let paths = paths(&mut traffic, family);
            assert_eq!(paths.len(), 2, "{paths:?}");
            // More than four standard deviations.
            let found = paths[&neighbour(1, 0)] as f64 / f64::from(FLOWS);
            assert!((found - share).abs() < 0.11, "{network}, {share}: {found}");
        }
    }
    assert_eq!(forwarder.end()["forwarded"], usize::from(FLOWS) * PACKETS * 4);
}

/// Flows between the same two addresses: one path by addresses, two by ports, as the kernel's policy says.
#[test]
fn the_policy_of_the_multipath_hash_is_obeyed() {
    let Some(net) = Net::new("the_policy_of_the_multipath_hash_is_obeyed") else { return };
    let [first, second] = [neighbour4(1, 0), neighbour4(1, 1)];
    net.router.ip(&format!("route add 198.19.0.0/16 nexthop via {first} nexthop via {second}"));
    let (from, to) = (net.a.wire("ea"), net.b.wire("eb"));
    let forwarder = Forwarder::start(&net, &[]);
    for (policy, expected) in [("0", 1), ("1", 2), ("0", 1)] {
        net.router.set("ipv4/fib_multipath_hash_policy", policy);
        // For the router to follow.
        sleep(Duration::from_millis(1300));
        let mut paths = HashMap::new();
        for port in 0..60_u16 {
            let datagram = udp([4000 + port, 9], &u32::from(port).to_be_bytes());
            let packet = Ipv4::new([10, 0, 1, 2].into(), [198, 19, 0, 1].into());
            let packet = packet.checked(&datagram, 6);
            from.send(&ethernet(ROUTER[0], HOSTS[0], 0x0800, &packet));
            let is_sent = |frame: &[u8]| number(frame).is_some_and(|(_, n)| n == u32::from(port));
            let (mac, _) = number(&to.find(is_sent).expect("no packet is lost")).unwrap();
            *paths.entry(mac).or_insert(0) += 1;
        }
        assert_eq!(paths.len(), expected, "policy {policy}: {paths:?}");
    }
    assert_eq!(forwarder.end()["forwarded"], 180);
}

#[test]
fn next_hop_objects_change() {
    let Some(net) = Net::new("next_hop_objects_change") else { return };
    if !net.router.try_ip(&format!("nexthop add id 1 via {} dev rb", neighbour4(1, 0))) {
        return eprintln!("skipped: next_hop_objects_change: the kernel has no next-hop objects");
    }
    net.router.ip(&format!("nexthop add id 6 via {} dev rb", neighbour6(1, 0)));
    net.router.ip("route add 198.18.0.0/16 nhid 1");
    net.router.ip("-6 route add 2001:db8:18::/48 nhid 6");
    let (forwarder, mut traffic) = (Forwarder::start(&net, &[]), Traffic::new(&net));
    for number in [0, 1, 2, 0] {
        net.router.ip(&format!("nexthop replace id 1 via {} dev rb", neighbour4(1, number)));
        net.router.ip(&format!("nexthop replace id 6 via {} dev rb", neighbour6(1, number)));
        traffic.settle(&addresses(1), Some(neighbour(1, number)), "another next hop");
    }
    // A group of one, of another one, and without the object.
    net.router.ip(&format!("nexthop add id 2 via {} dev rb", neighbour4(1, 3)));
    net.router.ip("nexthop add id 10 group 1");
    net.router.ip("route replace 198.18.0.0/16 nhid 10");
    traffic.settle(&addresses(1), Some(neighbour(1, 0)), "a group");
    net.router.ip("nexthop replace id 10 group 2");
    traffic.settle(&addresses(1)[..1], Some(neighbour(1, 3)), "another group");
    net.router.ip("nexthop del id 2");
    net.router.ip("nexthop del id 6");
    traffic.settle(&addresses(1), None, "no next hop");
    assert!(cause(&forwarder.end(), "no_route") > 60);
}
