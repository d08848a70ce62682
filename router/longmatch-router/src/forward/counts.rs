//! The counts of forwarded packets and of followed routes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use longmatch_forward::{Cause, Disposition, PacketCounts, Port, PortCounts};
use serde_json::{Map, Value, json};

/// The counts of all packets, with those of ports by name: numbers of ports change when interfaces come and go.
#[derive(Clone, Debug, Default)]
pub(super) struct TrafficCounts {
    pub tally: PacketCounts,
    pub ports: Vec<(String, PortCounts)>,
}

impl TrafficCounts {
    /// Adds the counts of threads that forward between these ports.
    pub(super) fn add(&mut self, tally: &PacketCounts, ports: &[Arc<Port>]) {
        self.tally.add(tally);
        for port in ports {
            let counts = tally.port(port.id);
            match self.ports.iter_mut().find(|(name, _)| *name == port.name) {
                Some((_, sum)) => sum.add(&counts),
                None => self.ports.push((port.name.clone(), counts)),
            }
        }
    }

    /// The counts of a port.
    pub(super) fn port(&self, name: &str) -> PortCounts {
        let port = self.ports.iter().find(|(port, _)| port == name);
        port.map(|(_, counts)| *counts).unwrap_or_default()
    }
}

/// The routes, and the work of following them since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RouteCounts {
    /// Prefixes with routes.
    pub ipv4: usize,
    pub ipv6: usize,
    /// Next-hop objects.
    pub next_hops: usize,
    /// Neighbours whose Ethernet addresses are known.
    pub neighbours: usize,
    /// Messages of the kernel.
    pub messages: usize,
    /// Times that messages were lost.
    pub losses: usize,
    /// Times that all was read again.
    pub resyncs: usize,
}

/// All counts at a time.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub started: Instant,
    pub at: Instant,
    pub counts: TrafficCounts,
    pub routes: RouteCounts,
    /// Lines of output that were not written, because earlier ones were not read.
    pub left_out: u64,
}

impl Sample {
    pub(super) fn elapsed(&self) -> Duration {
        self.at - self.started
    }

    /// The counts since the start, as an object of JSON.
    pub(super) fn object(&self, end: bool) -> Value {
        let Self { counts: TrafficCounts { tally, ports }, routes, left_out, .. } = self;
        let by_cause = |outcome: Disposition, count: fn(&PacketCounts, Cause) -> u64| {
            let causes = Cause::ALL.into_iter().filter(|cause| cause.outcome() == outcome);
            let counts = causes.map(|cause| (cause.name().to_owned(), count(tally, cause).into()));
            Value::Object(counts.collect::<Map<_, _>>())
        };
        let bytes = |tally: &PacketCounts, cause| tally.stopped_count(cause).bytes;
        let all = tally.ports();
        let port = |counts: &PortCounts| {
            json!({
                "received": counts.received.packets,
                "received_bytes": counts.received.bytes,
                "sent": counts.sent.packets,
                "sent_bytes": counts.sent.bytes,
                "missed": counts.missed,
            })
        };
        let ports: Map<_, _> =
            ports.iter().map(|(name, counts)| (name.clone(), port(counts))).collect();
        json!({
            "seconds": (self.elapsed().as_secs_f64() * 1e6).round() / 1e6,
            "end": end,
            "received": tally.received,
            "received_bytes": all.received.bytes,
            "forwarded": tally.forwarded,
            "forwarded_bytes": all.sent.bytes,
            "kernel": tally.with(Disposition::Kernel),
            "dropped": tally.with(Disposition::Dropped),
            "missed": all.missed,
            "kernel_by_cause": by_cause(Disposition::Kernel, PacketCounts::stopped),
            "dropped_by_cause": by_cause(Disposition::Dropped, PacketCounts::stopped),
            "kernel_bytes_by_cause": by_cause(Disposition::Kernel, bytes),
            "dropped_bytes_by_cause": by_cause(Disposition::Dropped, bytes),
            "ports": ports,
            "routes": {
                "ipv4": routes.ipv4,
                "ipv6": routes.ipv6,
                "next_hop_objects": routes.next_hops,
                "neighbours": routes.neighbours,
            },
            "route_messages": routes.messages,
            "route_losses": routes.losses,
            "route_resyncs": routes.resyncs,
            "lines_left_out": left_out,
        })
    }
}
