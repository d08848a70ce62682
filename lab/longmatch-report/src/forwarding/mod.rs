//! Packets through the forwarder of [`longmatch_forward`]: tables, checks, rates, times of batches.
//!
//! A packet is generated in memory or comes from a capture in memory; nothing leaves the process. So the rates show the
//! cost of everything but a network card.

mod capture;
mod check;
mod family;
mod table;
mod work;

pub(crate) use capture::CapturedFrames;
pub(crate) use family::ForwardFamily;
pub(crate) use table::{ForwardingTable, PORTS, forwarding_tables, with_default};
pub(crate) use work::{Batches, ForwardedPackets, FrameSource};

#[cfg(test)]
mod tests;
