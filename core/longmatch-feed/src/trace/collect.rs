//! The receiver of packets and addresses from every format.

use std::net::IpAddr;
use std::time::Duration;

use super::link::Link;
use super::report::TraceReport;
use crate::error::{FeedError, Problem};

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

/// The content of a trace.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Packet(Captured<'a>),
    /// A line of a list.
    Address(IpAddr),
}

/// Takes packets or addresses, and counts them.
pub(super) trait Take: FnMut(Item<'_>, &mut TraceReport) -> Result<(), Problem> {}

impl<F: FnMut(Item<'_>, &mut TraceReport) -> Result<(), Problem>> Take for F {}

/// The receiver of a trace.
pub(super) struct Receiver<F> {
    pub(super) take: F,
    pub(super) report: TraceReport,
    pub(super) lenient: bool,
}

impl<F: Take> Receiver<F> {
    #[inline]
    pub(super) fn packet(&mut self, packet: Captured<'_>) -> Result<(), Problem> {
        (self.take)(Item::Packet(packet), &mut self.report)
    }

    #[inline]
    pub(super) fn address(&mut self, address: IpAddr) -> Result<(), Problem> {
        (self.take)(Item::Address(address), &mut self.report)
    }

    /// Returns an error, or records it in the report if the load is lenient and can continue.
    pub(super) fn pass(&mut self, result: Result<(), FeedError>) -> Result<(), FeedError> {
        match result {
            Err(error) if self.lenient && error.is_local() => {
                self.report.note_damage(error);
                Ok(())
            }
            result => result,
        }
    }
}
