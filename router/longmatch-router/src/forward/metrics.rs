//! The counts as metrics of Prometheus.

use std::fmt;
use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;

use longmatch_cli::error::CliError;
use longmatch_forward::{Cause, Disposition, PortCounts};
use longmatch_router::http;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, prometheus_text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::Registry;

use super::counts::Sample;
use super::questions::{Question, ask};

/// Serves the metrics at an address, in a separate thread.
///
/// # Errors
/// If the address cannot be used.
pub(super) fn serve(address: SocketAddr, questions: SyncSender<Question>) -> Result<(), CliError> {
    http::serve(address, move || ask(&questions, Question::Counts).and_then(|it| text(it).ok()))
}

/// The metrics in Prometheus's text format.
fn text(sample: Sample) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("longmatch");
    registry.register_collector(Box::new(Metrics(sample)));
    let mut text = String::new();
    prometheus_text::encode(&mut text, &registry)?;
    Ok(text)
}

/// The metrics of a time.
#[derive(Debug)]
struct Metrics(Sample);

/// A metric without labels: its name, its description, its kind and its value.
type Single = (&'static str, &'static str, MetricType, u64);

/// A metric with a value for each port: its name, its description and the count.
type PortMetric = (&'static str, &'static str, fn(&PortCounts) -> u64);

impl Metrics {
    fn singles(&self) -> [Single; 8] {
        use MetricType::{Counter, Gauge};
        let Sample { counts, routes, left_out, .. } = &self.0;
        let seconds = self.0.elapsed().as_secs();
        let number = |number: usize| number as u64;
        [
            ("uptime_seconds", "Seconds since the start", Gauge, seconds),
            ("forwarded_packets", "Forwarded packets", Counter, counts.tally.forwarded),
            ("next_hop_objects", "Next-hop objects of the kernel", Gauge, number(routes.next_hops)),
            (
                "neighbours",
                "Neighbours with a known Ethernet address",
                Gauge,
                number(routes.neighbours),
            ),
            ("route_messages", "Messages about routes", Counter, number(routes.messages)),
            ("route_losses", "Times that messages were lost", Counter, number(routes.losses)),
            ("route_resyncs", "Times that all was read again", Counter, number(routes.resyncs)),
            ("output_lines_left_out", "Lines of output that were not written", Counter, *left_out),
        ]
    }

    const PORTS: [PortMetric; 5] = [
        ("received_packets", "Received packets", |port| port.received.packets),
        ("received_bytes", "Received bytes", |port| port.received.bytes),
        ("sent_packets", "Sent packets", |port| port.sent.packets),
        ("sent_bytes", "Sent bytes", |port| port.sent.bytes),
        ("missed_packets", "Packets that found the receive queue full", |port| port.missed),
    ];
}

fn value(encoder: &mut MetricEncoder<'_>, kind: MetricType, value: u64) -> fmt::Result {
    match kind {
        MetricType::Gauge => encoder.encode_gauge(&value),
        _ => encoder.encode_counter(&value, None::<&Exemplar<[(&str, &str); 0], u64>>),
    }
}

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        use MetricType::{Counter, Gauge};
        for (name, help, kind, number) in self.singles() {
            value(&mut encoder.encode_descriptor(name, help, None, kind)?, kind, number)?;
        }
        let (help, routes) = ("Prefixes with routes", &self.0.routes);
        let mut metric = encoder.encode_descriptor("routes", help, None, Gauge)?;
        for (family, number) in [("ipv4", routes.ipv4), ("ipv6", routes.ipv6)] {
            value(&mut metric.encode_family(&[("family", family)])?, Gauge, number as u64)?;
        }
        for (name, help, count) in Self::PORTS {
            let mut metric = encoder.encode_descriptor(name, help, None, Counter)?;
            for (port, counts) in &self.0.counts.ports {
                let labels = [("port", port.as_str())];
                value(&mut metric.encode_family(&labels)?, Counter, count(counts))?;
            }
        }
        let tally = &self.0.counts.tally;
        for (name, help, is_bytes) in [
            ("stopped_packets", "Packets that were not forwarded, by cause", false),
            ("stopped_bytes", "Bytes that were not forwarded, by cause", true),
        ] {
            let mut metric = encoder.encode_descriptor(name, help, None, Counter)?;
            for cause in Cause::ALL {
                let outcome = match cause.outcome() {
                    Disposition::Kernel => "kernel",
                    Disposition::Dropped => "dropped",
                };
                let labels = [("cause", cause.name()), ("outcome", outcome)];
                let count = tally.stopped_count(cause);
                let count = if is_bytes { count.bytes } else { count.packets };
                value(&mut metric.encode_family(&labels)?, Counter, count)?;
            }
        }
        Ok(())
    }
}
