//! `longmatch forward` from end to end.
//!
//! The tests of interfaces run the binary as a router between two hosts, each machine a network
//! namespace. They need root, `ip` and AF_XDP; without them they say `skipped` and succeed.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod answers;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod child;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod churn;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod ends;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod events;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod flow;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod frames;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod identical;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod net;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod offload;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod streams;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod table;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[path = "../../../../longmatch-forward/tests/network/wire.rs"]
mod wire;
