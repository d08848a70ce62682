//! Destinations, and their collection from every format.

use std::net::IpAddr;

use super::link::{Found, Link};
use super::report::TraceReport;
use crate::error::FeedError;
use crate::options::Options;

/// Destinations of each family, in the order of their packets or lines.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Trace {
    /// IPv4 addresses in host order.
    pub ipv4: Vec<u32>,
    /// IPv6 addresses in host order.
    pub ipv6: Vec<u128>,
    /// Counts of packets, lines and damage.
    pub report: TraceReport,
}

impl Trace {
    /// Number of destinations.
    pub fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    /// Whether the trace has no destinations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Collector of destinations up to a limit. Counts packets without a destination.
pub(super) struct Collector<'t> {
    pub(super) trace: &'t mut Trace,
    limit: usize,
    lenient: bool,
}

impl<'t> Collector<'t> {
    pub(super) fn new(trace: &'t mut Trace, options: &Options) -> Self {
        Self { trace, limit: options.limits.destinations, lenient: options.lenient }
    }

    /// Whether the input has more destinations than the limit.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.trace.report.stopped
    }

    /// Adds the destination of a packet.
    #[inline]
    pub(super) fn packet(&mut self, link: Link, bytes: &[u8]) {
        match link.destination(bytes) {
            None => self.trace.report.truncated += 1,
            Some(Found::Other) => self.trace.report.other_protocols += 1,
            Some(found) => {
                if !self.has_capacity() {
                    return;
                }
                match found {
                    Found::Ipv4(address) => self.trace.ipv4.push(address),
                    Found::Ipv6(address) => self.trace.ipv6.push(address),
                    Found::Other => {}
                }
            }
        }
        self.trace.report.packets += 1;
    }

    /// Adds an address of a list.
    #[inline]
    pub(super) fn address(&mut self, address: IpAddr) {
        if !self.has_capacity() {
            return;
        }
        match address.to_canonical() {
            IpAddr::V4(address) => self.trace.ipv4.push(address.to_bits()),
            IpAddr::V6(address) => self.trace.ipv6.push(address.to_bits()),
        }
    }

    /// Returns an error, or records it in the report if the load is lenient and can continue.
    pub(super) fn pass(&mut self, result: Result<(), FeedError>) -> Result<(), FeedError> {
        match result {
            Err(error) if self.lenient && error.is_local() => {
                self.trace.report.note_damage(error);
                Ok(())
            }
            result => result,
        }
    }

    #[inline]
    fn has_capacity(&mut self) -> bool {
        let has_capacity = self.trace.len() < self.limit;
        self.trace.report.stopped |= !has_capacity;
        has_capacity
    }
}
