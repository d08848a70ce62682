//! Measurement and verification of the engines of [`longmatch`].
//!
//! - [`Traffic`] generates the addresses to look up: the patterns of the papers, addresses drawn
//!   from the table, or the destinations of a file.
//! - [`Oracle`] returns the right answers, computed from the ranges of the RIB.
//! - [`Verifier`] compares an engine with them on every IPv4 address and in every IPv6 range.
//! - [`record`] is the form in which measurements are stored.
//! - [`Comparison`] measures engines side by side, after checking their answers.
//! - [`Replay`] measures the updates of a table and their effect on its readers.
//! - [`Peer`] is another implementation, which runs in its own process.
//! - [`Machine`] describes where and when a measurement ran.
//!
//! A rate is shown only if the answers were right, and no test depends on a rate.
#![deny(unsafe_code)]

mod aligned;
mod available;
mod comparison;
mod destinations;
mod encoded_keys;
mod engine_loops;
mod engine_under_test;
mod family;
mod generator;
mod kernel;
mod key_stream;
pub mod machine;
mod measurement;
mod mismatches;
mod mode;
mod noise;
mod oracle;
mod passes;
mod peer;
pub mod pin;
mod random;
pub mod record;
mod replay;
#[allow(unsafe_code, reason = "vector instructions, on x86-64")]
mod roofline;
mod run_config;
mod runner;
mod single;
mod sorted;
mod stats;
mod syn_tables;
mod target;
mod test_addresses;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod threads;
#[allow(unsafe_code, reason = "two instructions of x86-64 without effect on memory")]
pub mod ticks;
mod traffic;
mod verifier;
mod workload;
mod zipf;

pub use available::available_memory;
pub use comparison::Comparison;
pub use destinations::Destinations;
pub use engine_loops::BenchFamily;
pub use family::TrafficFamily;
pub use generator::{KeyRule, KeySource};
pub use kernel::Kernel;
pub use key_stream::{KeyStream, pass_sum};
pub use machine::Machine;
pub use measurement::{AutoChoice, Measurement, ROOFLINE, WRONG};
pub use mismatches::Mismatch;
pub use mode::Mode;
pub use noise::gigahertz;
pub use oracle::Oracle;
pub use passes::{Done, Part, PassResults, TimedWork, measure};
pub use peer::{
    KnownPeer, PEER_LIMIT, Peer, PeerCommand, PeerEngine, PeerError, PeerFault, PeerHello,
    PeerLoaded, known_peers, peer_directory_name, remove_stale_directories,
};
pub use random::{SplitMix64, Xorshift};
pub use replay::{
    READER_BATCH, READER_COST_BATCH, Replay, ReplayError, ReplayRecord, ReplayStep, UpdateCounts,
    in_random_order, reader_keys,
};
pub use run_config::RunConfig;
pub use sorted::{RangeSource, RibEngine, SortedRoutes};
pub use stats::Stats;
pub use syn_tables::{syn1, syn2};
pub use target::{BenchTarget, Iteration, Pass, Timed};
pub use test_addresses::Coverage;
pub use threads::ThreadError;
pub use traffic::{DXR_REPEATS, REPEATS, RoutedSampler, Traffic, ZIPF_DESTINATIONS};
pub use verifier::{EngineResult, KernelResult, OnStep, Verifier, VerifyError, VerifyStep};
pub use workload::Workload;

/// Shows values by their names in reports.
macro_rules! display_names {
    ($($named:ty),*) => {$(
        impl core::fmt::Display for $named {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }
    )*};
}

display_names!(Coverage, Kernel, KeySource, Mode, Traffic);
