//! A packet forwarder in front of longmatch's tables.
//!
//! The design is that of `lpmtest` in the Spider paper (section V-C): each thread owns one queue of
//! every interface and takes a batch of packets from its arrival to its departure (run to
//! completion), and the lookup is one batched call into any of the engines.
//!
//! - [`packet`] parses and rewrites frames: pure functions over bytes.
//! - [`Forwarder`] decides the fate of each packet of a batch.
//! - [`io`] receives and sends frames behind one trait: captures and memory; AF_XDP on Linux; DPDK
//!   with the feature `dpdk`.
//! - `kernel` (on Linux) follows routes, next hops and neighbours of the kernel by rtnetlink.

mod cause;
mod count;
mod forwarder;
pub mod io;
#[cfg(target_os = "linux")]
pub mod kernel;
pub mod packet;
mod run;
mod spread;
#[cfg(target_os = "linux")]
mod sysctl;
mod target;

pub use cause::{Cause, Disposition, Fate, PacketCounts, PortCounts};
pub use count::Count;
pub use forwarder::{Forwarder, MAX_BATCH};
pub use run::{Control, run};
pub use spread::spread;
pub use target::{Group, Hop, Mac, Neighbour, Port, PortId, Target};
