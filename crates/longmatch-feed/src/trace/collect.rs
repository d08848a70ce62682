//! Where destinations go, whatever they are read from.

use std::net::IpAddr;

use super::link::{Found, Link};
use super::report::TraceReport;
use crate::error::FeedError;
use crate::options::Options;

/// Destinations in the order of their packets or lines, sorted apart by family.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Trace {
    /// IPv4 addresses in host order.
    pub ipv4: Vec<u32>,
    /// IPv6 addresses in host order.
    pub ipv6: Vec<u128>,
    /// What was read, and what was left out.
    pub report: TraceReport,
}

impl Trace {
    /// How many destinations there are.
    pub fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Takes destinations until there are enough, and counts what has none.
pub(super) struct Collector<'t> {
    pub(super) trace: &'t mut Trace,
    limit: usize,
    lenient: bool,
}

impl<'t> Collector<'t> {
    pub(super) fn new(trace: &'t mut Trace, options: &Options) -> Self {
        Self { trace, limit: options.limits.destinations, lenient: options.lenient }
    }

    /// Whether there was a destination more than the limit allows.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.trace.report.stopped
    }

    /// Takes a packet.
    #[inline]
    pub(super) fn packet(&mut self, link: Link, bytes: &[u8]) {
        match link.destination(bytes) {
            None => self.trace.report.truncated += 1,
            Some(Found::Other) => self.trace.report.other_protocols += 1,
            Some(found) => {
                if !self.has_room() {
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

    /// Takes an address of a list.
    #[inline]
    pub(super) fn address(&mut self, address: IpAddr) {
        if !self.has_room() {
            return;
        }
        match address.to_canonical() {
            IpAddr::V4(address) => self.trace.ipv4.push(address.to_bits()),
            IpAddr::V6(address) => self.trace.ipv6.push(address.to_bits()),
        }
    }

    /// Goes on after damage that does not stop a lenient load.
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
    fn has_room(&mut self) -> bool {
        let room = self.trace.len() < self.limit;
        self.trace.report.stopped |= !room;
        room
    }
}
