//! Frames for other Ethernet addresses of the router, changed addresses, and sources that a router does not forward.

use std::net::{IpAddr, Ipv4Addr};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::child::Forwarder;
use super::flow::{number, numbered};
use super::net::{Net, ROUTER, neighbour, neighbour4, text};
use super::wire::Wire;
use crate::frames::{Ipv4, Mac, ethernet, udp};

/// The longest time until the router follows a change.
const PATIENCE: Duration = Duration::from_secs(5);

/// The frames of host A, and what arrives at host B's link.
struct Hosts {
    from: Wire,
    to: Wire,
    next: u32,
}

impl Hosts {
    fn new(net: &Net) -> Self {
        net.router.ip(&format!("route replace 198.18.0.0/16 via {}", neighbour4(1, 0)));
        Self { from: net.a.wire("ea"), to: net.b.wire("eb"), next: 0 }
    }

    /// Sends a packet to one of the router's Ethernet addresses; returns the frame that arrives.
    fn send(&mut self, to: Mac) -> Option<Vec<u8>> {
        self.next += 1;
        let address: IpAddr = [198, 18, 0, 1].into();
        let mut frame = numbered(address, self.next);
        frame[..6].copy_from_slice(&to);
        self.from.send(&frame);
        let number_sent = self.next;
        self.to.find(|frame| number(frame) == Some((neighbour(1, 0), number_sent)))
    }

    /// Waits until frames to an address pass, and checks that they do from then on.
    fn settle(&mut self, to: Mac, what: &str) {
        let end = Instant::now() + PATIENCE;
        while self.send(to).is_none() {
            assert!(Instant::now() < end, "{what}");
        }
        assert!((0..50).all(|_| self.send(to).is_some()), "{what}: some are lost");
    }
}

#[test]
fn other_addresses_of_the_router_are_the_kernels() {
    let Some(net) = Net::new("other_addresses_of_the_router_are_the_kernels") else { return };
    let virtual_router = [0, 0, 0x5e, 0, 1, 7];
    let link =
        format!("link add vrrp link ra address {} type macvlan mode bridge", text(virtual_router));
    if !net.router.try_ip(&link) {
        return eprintln!("skipped: the kernel has no macvlan interfaces");
    }
    net.router.ip("link set vrrp up");
    let mut hosts = Hosts::new(&net);
    let forwarder = Forwarder::start(&net, &[]);
    hosts.settle(ROUTER[0], "the port's address");
    hosts.settle(virtual_router, "the virtual router's address");
    // Those for nobody go nowhere.
    assert!(hosts.send([2, 0, 0, 0, 9, 9]).is_none());
    let counts = forwarder.end();
    assert!(counts["received"].as_u64() < Some(100), "the kernel's packets are its own: {counts}");
}

#[test]
fn ports_change_their_addresses() {
    let Some(net) = Net::new("ports_change_their_addresses") else { return };
    let mut hosts = Hosts::new(&net);
    let forwarder = Forwarder::start(&net, &[]);
    hosts.settle(ROUTER[0], "at first");
    for (port, other) in [("ra", [2, 0, 0, 0, 1, 99]), ("rb", [2, 0, 0, 0, 2, 99])] {
        net.router.ip(&format!("link set {port} address {}", text(other)));
        net.addresses(u8::from(port == "rb"));
        let receiver = if port == "ra" { other } else { [2, 0, 0, 0, 1, 99] };
        hosts.settle(receiver, port);
        let end = Instant::now() + PATIENCE;
        while port == "rb" && hosts.send(receiver).is_none_or(|frame| frame[6..12] != other) {
            assert!(Instant::now() < end, "frames leave with another source");
            sleep(Duration::from_millis(20));
        }
    }
    let before = forwarder.end();
    assert!(before["forwarded"].as_u64() > Some(100), "{before}");
}

/// Longer packets than the memory of a frame holds are the kernel's.
#[test]
fn ports_change_their_mtus() {
    let Some(net) = Net::new("ports_change_their_mtus") else { return };
    let mut hosts = Hosts::new(&net);
    let mut forwarder = Forwarder::start(&net, &[]);
    hosts.settle(ROUTER[0], "at first");
    for (space, name) in [(&net.router, "ra"), (&net.a, "ea"), (&net.router, "rb"), (&net.b, "eb")]
    {
        space.ip(&format!("link set {name} mtu 3000"));
    }
    let arrives = |len: usize| {
        let datagram = udp([4000, 9], &vec![7; len]);
        let packet = Ipv4::new(Ipv4Addr::new(10, 0, 1, 2), Ipv4Addr::new(198, 18, 0, 1));
        let frame = ethernet(ROUTER[0], [2, 0, 0, 0, 1, 2], 0x0800, &packet.checked(&datagram, 6));
        hosts.from.send(&frame);
        hosts.to.find(|seen| seen.len() == frame.len() && seen[12..14] == [8, 0]).is_some()
    };
    for len in [1472, 1600, 1700, 1750, 1800, 2000, 2900] {
        let end = Instant::now() + PATIENCE;
        while !arrives(len) {
            assert!(Instant::now() < end, "packets of {len} bytes are lost");
        }
        assert!((0..20).all(|_| arrives(len)), "some packets of {len} bytes are lost");
    }
    let counts = forwarder.finish().counts;
    assert_eq!((&counts["missed"], &counts["dropped"]), (&0.into(), &0.into()), "{counts}");
}

/// The kernel drops packets with such sources too, whatever its reverse path filters are.
#[test]
fn sources_of_the_router_are_not_forwarded() {
    let Some(net) = Net::new("sources_of_the_router_are_not_forwarded") else { return };
    // With such a route Linux looks up every source, and not only among its own addresses.
    net.router.ip("route add local 198.18.9.0/24 dev lo");
    let mut hosts = Hosts::new(&net);
    let forwarder = Forwarder::start(&net, &[]);
    hosts.settle(ROUTER[0], "at first");
    let received = hosts.next;
    for source in [[10, 0, 1, 1], [10, 0, 2, 1], [10, 0, 1, 255], [10, 0, 2, 255], [255; 4]] {
        let datagram = udp([4000, 9], &7_u32.to_be_bytes());
        let packet = Ipv4::new(Ipv4Addr::from(source), Ipv4Addr::new(198, 18, 0, 1));
        let packet = packet.checked(&datagram, 6);
        hosts.from.send(&ethernet(ROUTER[0], [2, 0, 0, 0, 1, 2], 0x0800, &packet));
        let arrived = hosts.to.find(|frame| number(frame).is_some_and(|(_, number)| number == 7));
        assert!(arrived.is_none(), "{source:?}");
    }
    assert!(forwarder.end()["forwarded"].as_u64() <= Some(received.into()));
}

#[test]
fn interfaces_vanish_and_return() {
    let Some(net) = Net::new("interfaces_vanish_and_return") else { return };
    let mut hosts = Hosts::new(&net);
    let mut forwarder = Forwarder::start(&net, &[]);
    hosts.settle(ROUTER[0], "at first");
    net.router.ip("link del rb");
    // For the router to notice.
    sleep(Duration::from_millis(2500));
    net.link(1, &net.b).unwrap();
    drop(hosts);
    let mut hosts = Hosts::new(&net);
    hosts.settle(ROUTER[0], "with a new interface");
    let is_attached =
        |name: &str| net.router.ip(&format!("-d link show {name}")).contains("prog/xdp");
    let end = Instant::now() + PATIENCE;
    while !(is_attached("ra") && is_attached("rb")) {
        assert!(Instant::now() < end, "the new interface is not taken");
        sleep(Duration::from_millis(50));
    }
    // Until the sockets are open, the kernel forwards.
    sleep(Duration::from_secs(1));
    hosts.settle(ROUTER[0], "taken again");
    net.router.ip("link del longmatch0");
    // To the kernel, by that device.
    let expired = |hosts: &mut Hosts| {
        let packet = Ipv4 { ttl: 1, ..Ipv4::new([10, 0, 1, 2].into(), [198, 18, 0, 1].into()) };
        let packet = packet.checked(&udp([4000, 9], &[0; 4]), 6);
        hosts.from.send(&ethernet(ROUTER[0], [2, 0, 0, 0, 1, 2], 0x0800, &packet));
        // Time exceeded.
        let is_answer = |frame: &[u8]| frame[12..14] == [8, 0] && frame[23] == 1 && frame[34] == 11;
        hosts.from.find(is_answer).is_some()
    };
    let end = Instant::now() + PATIENCE;
    while !expired(&mut hosts) {
        assert!(Instant::now() < end, "the kernel gets no packets");
        sleep(Duration::from_millis(50));
    }
    let stopped = forwarder.finish();
    for text in ["rb: the interface is gone", "rb: a new interface", "a device is gone"] {
        assert!(stopped.stderr.contains(text), "{}", stopped.stderr);
    }
    // The counts are those of all the time.
    assert!(stopped.counts["forwarded"].as_u64() > Some(100), "{}", stopped.counts);
}
