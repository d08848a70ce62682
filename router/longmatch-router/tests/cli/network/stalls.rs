//! Packets of a forwarder that stands still, or ends: the kernel forwards them.

use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::child::Forwarder;
use super::flow::{number, numbered};
use super::net::{Net, neighbour4};
use super::wire::Wire;

/// Packets between the hosts.
pub struct Flow {
    wires: [Wire; 2],
    /// The time between two packets.
    step: Duration,
    sent: u32,
    arrived: HashSet<u32>,
}

impl Flow {
    pub fn new(net: &Net, step: Duration) -> Self {
        net.router.ip(&format!("route add 198.18.0.0/16 via {}", neighbour4(1, 0)));
        Self { wires: [net.a.wire("ea"), net.b.wire("eb")], step, sent: 0, arrived: HashSet::new() }
    }

    /// Sends until `ended`, and returns the numbers of the packets.
    pub fn send_until(&mut self, mut ended: impl FnMut(&Self) -> bool) -> std::ops::Range<u32> {
        let first = self.sent;
        while !ended(self) {
            self.wires[0].send(&numbered([198, 18, 0, 1].into(), self.sent));
            self.sent += 1;
            sleep(self.step);
            self.receive();
        }
        // The last ones are on their way.
        sleep(Duration::from_millis(20));
        self.receive();
        first..self.sent
    }

    fn receive(&mut self) {
        let arrived = std::iter::from_fn(|| self.wires[1].receive());
        self.arrived.extend(arrived.filter_map(|frame| Some(number(&frame)?.1)));
    }

    pub fn send_for(&mut self, milliseconds: u64) -> std::ops::Range<u32> {
        let end = Instant::now() + Duration::from_millis(milliseconds);
        self.send_until(|_| Instant::now() > end)
    }

    /// The packets that have not arrived so far.
    fn missing(&self, sent: std::ops::Range<u32>) -> Vec<u32> {
        sent.filter(|number| !self.arrived.contains(number)).collect()
    }

    /// The packets that do not arrive. A busy machine may take long for the last ones.
    pub fn lost(&mut self, sent: std::ops::Range<u32>) -> Vec<u32> {
        let end = Instant::now() + Duration::from_secs(5);
        while !self.missing(sent.clone()).is_empty() && Instant::now() < end {
            sleep(Duration::from_millis(5));
            self.receive();
        }
        self.missing(sent)
    }
}

#[test]
fn the_kernel_forwards_while_the_forwarder_stands_still() {
    let Some(net) = Net::new("the_kernel_forwards_while_the_forwarder_stands_still") else {
        return;
    };
    let mut flow = Flow::new(&net, Duration::from_millis(2));
    for mode in ["native", "generic"] {
        let mut forwarder = Forwarder::start(&net, &["--xdp-mode", mode]);
        let moving = flow.send_for(200);
        forwarder.signal(Signal::STOP);
        let start = Instant::now();
        // The first packets may have been on their way.
        let is_late = |flow: &Flow| {
            start.elapsed() > Duration::from_millis(100) && flow.arrived.contains(&(flow.sent - 1))
        };
        let stuck =
            flow.send_until(|flow| is_late(flow) || start.elapsed() > Duration::from_secs(5));
        assert!(is_late(&flow), "{mode}: no packets for {:?}", start.elapsed());
        let by_kernel = flow.send_for(1000);
        assert_eq!(flow.lost(by_kernel.clone()), [0; 0], "{mode}: not all by the kernel");
        // The packets in the rings, fewer than these hold.
        let waiting = flow.missing(moving.start..stuck.end).len();
        assert!((100..=2048).contains(&waiting), "{mode}: {waiting} of {stuck:?}");
        forwarder.signal(Signal::CONT);
        let again = flow.send_for(500);
        assert_eq!(flow.lost(moving.start..again.end), [0; 0], "{mode}");
        let counts = forwarder.finish().counts;
        // With packets from the time before and after.
        let least = moving.len() + waiting + again.len() / 2;
        let most = (again.end - moving.start) as usize - by_kernel.len();
        let forwarded = counts["forwarded"].as_u64().unwrap() as usize;
        assert!((least..=most).contains(&forwarded), "{mode}: {least} to {most}: {counts}");
    }
}

#[test]
fn no_packet_is_lost_when_the_forwarder_ends() {
    let Some(net) = Net::new("no_packet_is_lost_when_the_forwarder_ends") else { return };
    // Some 10,000 a second, so that a gap of a millisecond is seen.
    let mut flow = Flow::new(&net, Duration::from_micros(30));
    for (round, mode) in
        ["native", "generic", "native", "generic", "native"].into_iter().enumerate()
    {
        for signal in [Signal::INT, Signal::TERM] {
            let mut forwarder = Forwarder::start(&net, &["--xdp-mode", mode]);
            let first = flow.send_for(100).start;
            forwarder.signal(signal);
            flow.send_until(|_| forwarder.has_ended());
            let last = flow.send_for(100).end;
            assert_eq!(flow.lost(first..last), [0; 0], "{mode} {signal:?} {round}");
            let stopped = forwarder.stop(signal);
            assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
            let forwarded = stopped.counts["forwarded"].as_u64();
            assert!((1..u64::from(last - first)).contains(&forwarded.unwrap()), "{stopped:?}");
        }
    }
}
