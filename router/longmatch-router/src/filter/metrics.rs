//! The counts as metrics of Prometheus.

use std::fmt;

use longmatch_filter::{Counts, ListCounts, Policy, Running};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, prometheus_text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::Registry;

use super::print::{action, others};

/// The metrics in Prometheus's text format.
///
/// # Errors
/// Never: texts are written to memory.
pub fn text(running: &Running, counts: Counts) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("longmatch_filter");
    let interface = running.about().interface.clone();
    let hook = running.about().setup.hook.name();
    let policy = running.filter().setup().policy.clone();
    registry.register_collector(Box::new(Metrics { interface, hook, policy, counts }));
    let mut text = String::new();
    prometheus_text::encode(&mut text, &registry)?;
    Ok(text)
}

/// The counts of a time.
#[derive(Debug)]
struct Metrics {
    interface: String,
    hook: &'static str,
    policy: Policy,
    counts: Counts,
}

/// A metric of lists: its name, its description and the count.
type ListMetric = (&'static str, &'static str, fn(&ListCounts) -> u64);

const LISTS: [ListMetric; 4] = [
    ("list_packets", "Packets with an address in the list", |list| list.matched.packets),
    ("list_bytes", "Bytes with an address in the list", |list| list.matched.bytes),
    ("list_decided_packets", "Packets that the list decided about", |list| list.decided.packets),
    ("list_over_packets", "Packets above the rate of the list", |list| list.over.packets),
];

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        const NO_EXEMPLAR: Option<&Exemplar<[(&str, &str); 0], u64>> = None;
        let place = [("interface", &*self.interface), ("hook", self.hook)];
        for (name, help, count) in LISTS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (list, counts) in self.policy.lists.iter().zip(&self.counts.lists) {
                let action = action(list.action);
                let labels = [place[0], place[1], ("list", &*list.name), ("action", &*action)];
                metric.encode_family(&labels)?.encode_counter(&count(counts), NO_EXEMPLAR)?;
            }
        }
        for (name, help, is_bytes) in [
            ("packets", "All packets, by what happened and why", false),
            ("bytes", "All bytes, by what happened and why", true),
        ] {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (kind, total) in others(&self.counts) {
                let labels = [place[0], place[1], ("kind", kind)];
                let count = if is_bytes { total.bytes } else { total.packets };
                metric.encode_family(&labels)?.encode_counter(&count, NO_EXEMPLAR)?;
            }
        }
        Ok(())
    }
}
