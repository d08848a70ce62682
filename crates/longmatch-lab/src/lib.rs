//! Measures and verifies the engines of [`longmatch`].
//!
//! - [`Traffic`] makes the addresses that are looked up: the patterns of the papers, addresses
//!   drawn from the table, or those of a file.
//! - [`Oracle`] knows the right answers; it comes from the ranges of the RIB.
//! - [`Verifier`] compares an engine with them on every IPv4 address, and in every range of IPv6.
//! - [`Race`] measures engines side by side, after it has checked their answers.
//! - [`Replay`] measures how long a table takes to change, and what its readers notice.
//! - [`Peer`] is somebody else's implementation, asked and timed in a process of its own.
//! - [`Machine`] says where all this happened.
//!
//! A rate is printed only beside answers that were right, and never decides whether a test passes.
#![deny(unsafe_code)]

mod aligned;
mod available;
mod choice;
mod contestant;
mod depths;
mod family;
mod grow;
mod heat;
mod held;
#[allow(unsafe_code, reason = "advice on memory, on Linux")]
mod huge;
mod instances;
mod kernel;
#[allow(unsafe_code, reason = "vector instructions, on x86-64")]
mod limit;
mod machine;
mod made;
mod oracle;
mod peer;
mod pin;
mod probes;
mod pulse;
mod race;
mod random;
mod record;
mod replay;
pub mod report;
mod runner;
mod seen;
mod sorted;
mod spread;
mod synthetic;
#[cfg(test)]
mod testing;
mod threads;
#[allow(unsafe_code, reason = "two instructions of x86-64 without effect on memory")]
mod ticks;
mod traffic;
mod verdict;
mod verify;
mod walk;
mod zipf;

pub use available::available_memory;
pub use choice::Choice;
pub use contestant::{Contestant, Iteration, Mode, Pass};
pub use family::LabFamily;
pub use heat::Heat;
pub use kernel::Kernel;
pub use machine::Machine;
pub use oracle::{Oracle, Sweep};
pub use peer::{
    Availability, BadPeerCommand, KnownPeer, PEER_LIMIT, Peer, PeerCommand, PeerError, PeerFault,
    PeerHello, PeerLoaded, PeerTime, known_peers, pass_sum,
};
pub use probes::{Coverage, Probes};
pub use pulse::gigahertz;
pub use race::{Race, Setup};
pub use random::{SplitMix64, Xorshift};
pub use record::{KeySource, LIMIT, Record};
pub use replay::{
    ENTERING_BATCH, Kinds, READER_BATCH, Replay, ReplayError, ReplayRecord, ReplayStep,
    in_random_order, reader_keys,
};
pub use sorted::{RangeSource, RibEngine, SortedRoutes};
pub use spread::Spread;
pub use synthetic::{syn1, syn2};
pub use threads::ThreadError;
pub use traffic::{Destinations, REPEATS, Traffic, UnknownTraffic, ZIPF_DESTINATIONS};
pub use verdict::{Agreement, Mismatch, Verdict};
pub use verify::{OnStep, Step, Verifier, VerifyError};
pub use walk::Walk;
