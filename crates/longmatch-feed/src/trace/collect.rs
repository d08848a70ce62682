//! Receivers of packets, and the collection of destinations from every format.

use std::net::IpAddr;
use std::time::Duration;

use super::link::{Found, Link};
use super::report::TraceReport;
use crate::error::{FeedError, Problem};
use crate::options::Options;

/// A packet of a capture.
#[derive(Clone, Copy)]
pub(super) struct Captured<'a> {
    pub(super) link: Link,
    /// Time since 1970.
    pub(super) time: Duration,
    /// Bytes of the packet before the snap length cut it.
    pub(super) original_len: u32,
    pub(super) bytes: &'a [u8],
}

/// The receiver of a capture's packets.
pub(super) trait PacketSink {
    fn packet(&mut self, packet: Captured<'_>) -> Result<(), Problem>;

    /// Whether it takes no more packets.
    fn is_stopped(&self) -> bool;

    fn report(&mut self) -> &mut TraceReport;

    fn is_lenient(&self) -> bool;

    /// Returns an error, or records it in the report if the load is lenient and can continue.
    fn pass(&mut self, result: Result<(), FeedError>) -> Result<(), FeedError> {
        match result {
            Err(error) if self.is_lenient() && error.is_local() => {
                self.report().note_damage(error);
                Ok(())
            }
            result => result,
        }
    }
}

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

    #[inline]
    fn has_capacity(&mut self) -> bool {
        let has_capacity = self.trace.len() < self.limit;
        self.trace.report.stopped |= !has_capacity;
        has_capacity
    }
}

impl PacketSink for Collector<'_> {
    /// Adds the destination of a packet.
    #[inline]
    fn packet(&mut self, packet: Captured<'_>) -> Result<(), Problem> {
        match packet.link.addresses(packet.bytes) {
            None => self.trace.report.truncated += 1,
            Some(Found::Other) => self.trace.report.other_protocols += 1,
            Some(found) => {
                if !self.has_capacity() {
                    return Ok(());
                }
                match found {
                    Found::Ipv4(_, address) => self.trace.ipv4.push(address),
                    Found::Ipv6(_, address) => self.trace.ipv6.push(address),
                    Found::Other => {}
                }
            }
        }
        self.trace.report.packets += 1;
        Ok(())
    }

    /// Whether the input has more destinations than the limit.
    #[inline]
    fn is_stopped(&self) -> bool {
        self.trace.report.stopped
    }

    fn report(&mut self) -> &mut TraceReport {
        &mut self.trace.report
    }

    fn is_lenient(&self) -> bool {
        self.lenient
    }
}
