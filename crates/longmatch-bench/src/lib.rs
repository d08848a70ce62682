//! Measures and verifies the engines of [`longmatch`].
//!
//! - [`Traffic`] makes the addresses that are looked up: the patterns of the papers, addresses
//!   drawn from the table, or those of a file.
//! - [`Oracle`] knows the right answers; it comes from the ranges of the RIB.
//! - [`Verifier`] compares an engine with them on every IPv4 address, and in every range of IPv6.
//! - [`Comparison`] measures engines side by side, after it has checked their answers.
//! - [`Replay`] measures how long a table takes to change, and what its readers notice.
//! - [`Peer`] is somebody else's implementation, asked and timed in a process of its own.
//! - [`Machine`] says where all this happened.
//!
//! A rate is printed only beside answers that were right, and never decides whether a test passes.
#![deny(unsafe_code)]

mod aligned;
mod available;
mod choice;
mod comparison;
mod encoded_keys;
mod family;
mod instances;
mod kernel;
mod key_stream;
pub mod machine;
mod noise;
mod oracle;
mod peer;
pub mod pin;
mod probes;
mod random;
mod record;
mod replay;
#[allow(unsafe_code, reason = "vector instructions, on x86-64")]
mod roofline;
mod runner;
mod sorted;
mod stats;
mod syn_tables;
mod tally;
mod target;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod threads;
#[allow(unsafe_code, reason = "two instructions of x86-64 without effect on memory")]
pub mod ticks;
mod traffic;
mod verdict;
mod verify;
mod workload;
mod zipf;

pub use available::available_memory;
pub use choice::Choice;
pub use comparison::{Comparison, Setup};
pub use family::BenchFamily;
pub use kernel::Kernel;
pub use key_stream::KeyStream;
pub use machine::Machine;
pub use noise::gigahertz;
pub use oracle::{Oracle, Sweep};
pub use peer::{
    Availability, BadPeerCommand, KnownPeer, PEER_LIMIT, Peer, PeerCommand, PeerEngine, PeerError,
    PeerFault, PeerHello, PeerLoaded, PeerTime, directory_name, known_peers, pass_sum,
    remove_abandoned,
};
pub use probes::{Coverage, Probes};
pub use random::{SplitMix64, Xorshift};
pub use record::{KeySource, ROOFLINE, Record};
pub use replay::{
    ENTERING_BATCH, Kinds, READER_BATCH, Replay, ReplayError, ReplayRecord, ReplayStep,
    in_random_order, reader_keys,
};
pub use sorted::{RangeSource, RibEngine, SortedRoutes};
pub use stats::Stats;
pub use syn_tables::{syn1, syn2};
pub use target::{BenchTarget, Iteration, Mode, Pass};
pub use threads::ThreadError;
pub use traffic::{
    Destinations, REPEATS, Routed, Traffic, UnknownTraffic, ZIPF_DESTINATIONS, repeated,
};
pub use verdict::{Agreement, Mismatch, Verdict};
pub use verify::{OnStep, Step, Verifier, VerifyError};
pub use workload::Workload;
