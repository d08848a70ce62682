//! After each event the packets of many addresses go where the kernel would send them.

use std::net::IpAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::agreement::{agree, is_full, say};
use super::child::Forwarder;
use super::churn::{data, read, synthetic};
use super::net::{Net, neighbour4, neighbour6};
use super::table::{Prefix, Random, Routes};

/// So long that the tests end the process.
const HOUR: [&str; 2] = ["--seconds", "3600"];

/// Both full tables of the Internet, or a part of a synthetic table.
fn prefixes(test: &str) -> Vec<Prefix> {
    if !is_full() {
        // Of all its depths and both families.
        return synthetic().0.into_iter().step_by(17).collect();
    }
    let files = ["ipv4-full", "ipv6-full"].map(|table| data(test, table));
    match files {
        [Some(ipv4), Some(ipv6)] => [read(&ipv4), read(&ipv6)].concat(),
        _ => synthetic().0,
    }
}

/// The router under test, and the addresses of the packets.
struct Scene<'a> {
    net: &'a Net,
    routes: Routes,
    addresses: Vec<IpAddr>,
}

impl Scene<'_> {
    fn agree(&self, least: usize, what: &str) {
        agree(self.net, &self.addresses, least, what);
    }

    /// A link goes down, and the kernel's routes with it; then it comes up, and they are added again.
    fn link(&self) {
        self.net.router.ip("link set rb down");
        // Routes by the other link remain.
        self.agree(self.addresses.len() / 10, "a link is down");
        self.net.router.ip("link set rb up");
        self.net.addresses(1);
        self.net.router.batch(&self.routes.commands(1, 0..self.routes.len()));
        self.agree(self.addresses.len(), "the link is up again");
    }

    /// Routes flap while the process stands still.
    fn stop(&self, forwarder: &Forwarder) {
        let (count, flaps) = if is_full() { (100_000, 3) } else { (2_000, 2) };
        let count = count.min(self.routes.len());
        let last = self.routes.len() - count;
        forwarder.signal(Signal::STOP);
        for _ in 0..flaps {
            self.net.router.batch(&self.routes.withdrawals(last..self.routes.len()));
            self.net.router.batch(&self.routes.commands(0, last..self.routes.len()));
        }
        self.net.router.batch(&self.routes.changes(1, last..self.routes.len()));
        sleep(Duration::from_secs(1));
        forwarder.signal(Signal::CONT);
        self.agree(self.addresses.len(), &format!("{count} routes flapped {flaps} times"));
    }

    /// Neighbours of both families get other Ethernet addresses.
    fn neighbours(&self) {
        for address in [neighbour4(1, 0), neighbour6(1, 0)] {
            self.net.router.ip(&format!("neigh replace {address} lladdr 02:00:00:00:02:c8 dev rb"));
        }
        self.agree(self.addresses.len(), "a neighbour has another address");
        self.net.addresses(1);
        self.agree(self.addresses.len(), "the neighbour has its address again");
    }
}

#[test]
fn packets_go_where_the_kernel_says_after_each_event() {
    let name = "packets_go_where_the_kernel_says_after_each_event";
    let Some(net) = Net::new(name) else { return };
    let mut random = Random(5);
    let mut routes = Routes::new(prefixes(name), &mut random);
    routes.change_all();
    let count = if is_full() { 10_000 } else { 400 };
    let addresses = routes.addresses(count, &mut random);
    say(&format!("{name}: {} routes", routes.len()));
    let scene = Scene { net: &net, routes, addresses };
    let mut forwarder = Forwarder::start(&net, &HOUR);
    scene.agree(0, "without routes");
    net.router.batch(&scene.routes.commands(0, 0..scene.routes.len()));
    scene.agree(count, "a table is loaded");
    net.router.batch(&scene.routes.commands(1, 0..scene.routes.len()));
    scene.agree(count, "all next hops have changed");
    scene.link();
    scene.stop(&forwarder);
    scene.neighbours();
    say(&format!("{name}: resident MB, now and at most: {:.0?}", forwarder.memory()));
    let stopped = forwarder.finish();
    // Not by the kernel.
    let least = 6 * count as u64;
    assert!(stopped.counts["forwarded"].as_u64() > Some(least), "{stopped:?}");
    assert!(!stopped.stderr.contains("panicked"), "{}", stopped.stderr);
}

/// Ends the process without its interfaces.
fn end(mut forwarder: Forwarder, what: &str) {
    // For it to notice.
    sleep(Duration::from_secs(2));
    let began = Instant::now();
    let stopped = forwarder.stop(Signal::INT);
    assert_eq!(stopped.status.code(), Some(0), "{what}: {stopped:?}");
    assert!(!stopped.stderr.contains("panicked"), "{what}: {}", stopped.stderr);
    assert!(began.elapsed() < Duration::from_secs(5), "{what}: {:?}", began.elapsed());
}

/// A router with a route, and the process, which has forwarded a packet.
fn forwarding(test: &str) -> Option<(Net, Forwarder)> {
    let net = Net::new(test)?;
    net.router.ip(&format!("route add 198.18.0.0/16 via {}", neighbour4(1, 0)));
    let forwarder = Forwarder::start(&net, &[]);
    agree(&net, &[[198, 18, 0, 1].into()], 1, test);
    Some((net, forwarder))
}

#[test]
fn it_ends_when_its_links_are_gone() {
    let Some((net, forwarder)) = forwarding("it_ends_when_its_links_are_gone") else { return };
    net.router.ip("link del rb");
    net.router.ip("link del ra");
    end(forwarder, "no links");
}

/// The router's namespace lives as long as the process in it, but nobody else has it, and its links are gone with those
/// of the hosts.
#[test]
fn it_ends_when_its_namespace_is_gone() {
    let Some((net, forwarder)) = forwarding("it_ends_when_its_namespace_is_gone") else { return };
    let Net { a, router, b, .. } = net;
    [a, router, b].into_iter().for_each(drop);
    end(forwarder, "no namespace");
}
