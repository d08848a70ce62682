//! Packets that flow while routes change, each checked against the versions that were current.
//!
//! A version is *begun* before the first of its changes is made. It is *settled* when packets show
//! that the router has taken them all: a probe, whose route is the last one to change, arrives at
//! its new next hop, and then a second probe, whose route is changed after that. The router commits
//! changes in their order, and the second probe's only after those before it. A packet may take the
//! next hop of any version from the one that was settled when it was sent to the one that was begun
//! when it arrived, and of the states in between, since routes change one after another.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::net::{HOSTS, Net, ROUTER};
use super::table::{Destination, Routes, hop_of};
use super::wire::Wire;
use crate::frames::{Ipv4, Ipv6, Mac, ethernet, udp};

/// Packets sent at once, once a millisecond.
const BURST: usize = 6;

/// The longest wait for a version to settle.
const PATIENCE: Duration = Duration::from_secs(10);

/// The frame of host A for an address, with a number in its payload. Each address is a flow.
pub fn numbered(to: IpAddr, number: u32) -> Vec<u8> {
    let datagram = udp([4000, 9], &number.to_be_bytes());
    let (kind, packet) = match to {
        IpAddr::V4(to) => (0x0800, Ipv4::new(Ipv4Addr::new(10, 0, 1, 2), to).checked(&datagram, 6)),
        IpAddr::V6(to) => {
            let from = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2);
            (0x86dd, Ipv6::new(from, to).checked(&datagram, 6))
        }
    };
    ethernet(ROUTER[0], HOSTS[0], kind, &packet)
}

/// The receiver of such a frame, and its number.
pub fn number(frame: &[u8]) -> Option<(Mac, u32)> {
    let payload = match frame.get(12..14)? {
        [0x08, 0x00] if *frame.get(23)? == 17 => 42,
        [0x86, 0xdd] if *frame.get(20)? == 17 => 62,
        _ => return None,
    };
    let number = frame.get(payload..payload + 4)?.try_into().unwrap();
    Some((frame[..6].try_into().unwrap(), u32::from_be_bytes(number)))
}

/// A packet on its way.
struct Sent {
    destination: usize,
    /// The version that was settled, and the one that was begun.
    settled: usize,
    begun: usize,
    arrived: bool,
}

/// The state of the versions, shared by the thread that changes routes and the one that sends.
#[derive(Default)]
struct Versions {
    begun: AtomicUsize,
    settled: AtomicUsize,
    /// The version in which each probe was seen to take its new route.
    seen: [AtomicUsize; 2],
    /// Packets with one admissible version, and with several.
    single: AtomicU64,
    several: AtomicU64,
    done: AtomicBool,
}

/// What became of the packets.
#[derive(Debug)]
pub struct Report {
    pub sent: usize,
    pub lost: usize,
    /// Packets of which only one version was admissible.
    pub single: u64,
    /// Wrong next hops and duplicates; the first of them in words.
    pub wrong: usize,
    pub first_wrong: Option<String>,
    /// Versions that the router took in time.
    pub settled: usize,
}

/// The sender and receiver of the packets.
struct Flow<'a> {
    routes: &'a Routes,
    destinations: &'a [Destination],
    wires: [&'a Wire; 2],
    versions: &'a Versions,
    sent: Vec<Sent>,
    arrived: usize,
    wrong: usize,
    first_wrong: Option<String>,
}

impl Flow<'_> {
    /// Sends until all versions are done, and then waits for what is under way.
    fn run(&mut self) {
        let mut others = (2..self.destinations.len()).cycle();
        while !self.versions.done.load(SeqCst) {
            // The probes are the first two.
            for destination in [0, 1].into_iter().chain(others.by_ref().take(BURST)) {
                self.send(destination);
            }
            sleep(Duration::from_millis(1));
            self.receive();
        }
        let end = Instant::now() + Duration::from_secs(2);
        while self.arrived < self.sent.len() && Instant::now() < end {
            sleep(Duration::from_millis(5));
            self.receive();
        }
    }

    fn send(&mut self, destination: usize) {
        // Before the sending.
        let (settled, begun) =
            (self.versions.settled.load(SeqCst), self.versions.begun.load(SeqCst));
        let number = self.sent.len() as u32;
        self.sent.push(Sent { destination, settled, begun, arrived: false });
        self.wires[0].send(&numbered(self.destinations[destination].address, number));
    }

    fn receive(&mut self) {
        for wire in self.wires {
            while let Some(frame) = wire.receive() {
                let Some((mac, number)) = number(&frame) else { continue };
                // After the arrival.
                let begun = self.versions.begun.load(SeqCst);
                self.check(hop_of(mac), number as usize, begun);
            }
        }
    }

    fn check(&mut self, hop: Option<u8>, number: usize, begun: usize) {
        let sent = &mut self.sent[number];
        let destination = &self.destinations[sent.destination];
        let versions = (sent.settled, begun);
        let right = hop.is_some_and(|hop| self.routes.may_take(destination, versions, hop));
        if !right || sent.arrived {
            self.wrong += 1;
            let Sent { settled, arrived, .. } = *sent;
            let text = format!(
                "{} came to {hop:?} between the versions {settled} and {begun}, before: {arrived}",
                destination.address
            );
            self.first_wrong.get_or_insert(text);
        }
        self.arrived += usize::from(!sent.arrived);
        sent.arrived = true;
        let alone = sent.settled == begun;
        let counter = if alone { &self.versions.single } else { &self.versions.several };
        counter.fetch_add(1, SeqCst);
        // Sent in the newest version, and where the version before did not lead.
        if sent.destination < 2 && sent.begun == begun && !alone && right {
            let old = self.routes.hop(destination, begun - 1);
            if hop != Some(old) {
                self.versions.seen[sent.destination].store(begun, SeqCst);
            }
        }
    }
}

/// Makes all versions of the routes, the first of which the router has, while packets flow. The
/// last two routes are the probes.
pub fn churn(net: &Net, routes: &Routes, addresses: &[IpAddr]) -> Report {
    let wires = [net.a.wire("ea"), net.b.wire("eb")];
    let probes = routes.probes();
    let destinations = routes.destinations(probes.iter().chain(addresses).copied());
    let versions = Versions::default();
    let mut flow = Flow {
        routes,
        destinations: &destinations,
        wires: [&wires[0], &wires[1]],
        versions: &versions,
        sent: Vec::new(),
        arrived: 0,
        wrong: 0,
        first_wrong: None,
    };
    thread::scope(|scope| {
        scope.spawn(|| flow.run());
        let mut numbers = 1..routes.versions();
        let _ = numbers
            .try_for_each(|version| make(net, routes, &versions, version, destinations.len()));
        versions.done.store(true, SeqCst);
    });
    let Flow { sent, arrived, wrong, first_wrong, .. } = flow;
    let (sent, single) = (sent.len(), versions.single.load(SeqCst));
    let settled = versions.settled.load(SeqCst);
    Report { sent, lost: sent - arrived, single, wrong, first_wrong, settled }
}

/// Makes one version, waits until it is settled, and then until each destination had a packet and
/// more packets had one admissible version than several.
fn make(
    net: &Net,
    routes: &Routes,
    versions: &Versions,
    version: usize,
    destinations: usize,
) -> Result<(), ()> {
    let [first, second] = [routes.len() - 2, routes.len() - 1];
    versions.begun.store(version, SeqCst);
    net.router.batch(&routes.changes(version, 0..=first));
    wait(|| versions.seen[0].load(SeqCst) == version)?;
    net.router.batch(&routes.changes(version, second..=second));
    wait(|| versions.seen[1].load(SeqCst) == version)?;
    versions.settled.store(version, SeqCst);
    let (single, several) = (&versions.single, &versions.several);
    // With those of the probes, and those that are under way.
    let all = single.load(SeqCst) + 3 * destinations as u64 / 2 + 100;
    wait(|| single.load(SeqCst) > all.max(2 * several.load(SeqCst)))
}

fn wait(condition: impl Fn() -> bool) -> Result<(), ()> {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        if Instant::now() > end {
            return Err(());
        }
        sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Checks that no packet was misrouted, that each lost one is counted, and that the check was not
/// vacuous.
pub fn check(report: &Report, versions: usize, counts: &Value) {
    assert_eq!((report.wrong, &report.first_wrong), (0, &None), "{report:?}");
    assert_eq!(report.settled, versions - 1, "the router did not take a version: {report:?}");
    let dropped = counts["dropped"].as_u64().unwrap() as usize;
    let full = ["transmit_full", "kernel_full"].map(|cause| &counts["dropped_by_cause"][cause]);
    let full: u64 = full.into_iter().map(|count| count.as_u64().unwrap()).sum();
    let missed = counts["missed"].as_u64().unwrap() as usize;
    assert!((dropped..=dropped + missed).contains(&report.lost), "{report:?} {counts}");
    assert_eq!(dropped as u64, full, "{counts}");
    assert!(report.single as usize > report.sent / 2, "{report:?}");
    assert_eq!(counts["kernel"], 0, "{counts}");
}
